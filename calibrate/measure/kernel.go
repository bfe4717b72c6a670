package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kernel is a kernel as a trace names it.
type Kernel struct {
	Name  string
	Attrs []Attr
	Dims  []string // those that decide how long a call takes, in the order of the trace
}

// Attr is an attribute of a kernel, as side=L.
type Attr struct{ Name, Value string }

// String returns "dtrsm side=L uplo=L".
func (k *Kernel) String() string {
	text := k.Name
	for _, a := range k.Attrs {
		text += " " + a.Name + "=" + a.Value
	}
	return text
}

// attr returns the value of an attribute, "" for none.
func (k *Kernel) attr(name string) string {
	for _, a := range k.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// letters returns the attributes in the order in which BLAS has them, "-" for none.
func (k *Kernel) letters() string {
	var b strings.Builder
	for _, name := range forms[k.Name].attrs {
		b.WriteString(k.attr(name))
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}

// CanTime reports whether there is a way to time the kernel: it has the dimensions and
// attributes of one of HPL's or HPCG's.
func (k *Kernel) CanTime() bool { return k.isHPL() || k.isLoop() }

// isHPL reports whether a kernel is one of HPL's.
func (k *Kernel) isHPL() bool {
	f, ok := forms[k.Name]
	if !ok || !slices.Equal(f.dims, k.Dims) || len(k.Attrs) != len(f.attrs) {
		return false
	}
	for _, name := range f.attrs {
		if len(k.attr(name)) != 1 || !strings.Contains("LRUNT", k.attr(name)) {
			return false
		}
	}
	return true
}

// HasDim reports whether a dimension decides how long a call of the kernel takes.
func HasDim(kernel, dim string) bool {
	return slices.Contains(forms[kernel].dims, dim) || slices.Contains(loopDims[kernel], dim)
}

// form is what a kernel needs: helper/calls.h has how it is called.
type form struct {
	attrs, dims []string
	// needs returns what a call of dimensions d works on.
	needs func(k *Kernel, d *[4]int64, nb int64) needs
}

// needs are the extents of memory that a call works on, in elements.
type needs struct {
	rows, columns int64 // of the run's matrix
	order         int64 // of a triangle
	work          int64
}

var (
	attrsOfTrsm = []string{"side", "uplo", "trans", "diag"}
	attrsOfTrsv = attrsOfTrsm[1:]
	dimsMN      = []string{"M", "N"}
	dimsN       = []string{"N"}
)

// forms are the kernels of HPL that can be timed.
var forms = map[string]form{
	"dgemm":    {[]string{"transa", "transb"}, []string{"M", "N", "K"}, needsOfGemm},
	"dtrsm":    {attrsOfTrsm, dimsMN, needsOfTrsm},
	"dgemv":    {[]string{"trans"}, dimsMN, needsOfVectors},
	"dger":     {nil, dimsMN, needsOfVectors},
	"dtrsv":    {attrsOfTrsv, dimsN, func(_ *Kernel, d *[4]int64, _ int64) needs { return needs{order: d[0], work: d[0]} }},
	"dscal":    {nil, dimsN, needsOfColumn},
	"daxpy":    {nil, dimsN, needsOfColumn},
	"idamax":   {nil, dimsN, needsOfColumn},
	"dcopy":    {nil, dimsN, func(_ *Kernel, d *[4]int64, _ int64) needs { return needs{rows: 1, columns: d[0], work: d[0]} }},
	"dlacpy":   {nil, dimsMN, needsOfRows},
	"dlatcpy":  {nil, dimsMN, needsOfRows},
	"dlocmax":  {nil, []string{"M"}, needsOfColumn},
	"dlocswpN": {nil, []string{"JB", "ROLE"}, needsOfPanelRows},
	"dlocswpT": {nil, []string{"JB", "ROLE"}, needsOfPanelRows},

	"dlaswp00N": {nil, dimsMN, needsOfRows}, "dlaswp10N": {nil, dimsMN, needsOfRows},
	"dlaswp01N": {nil, dimsMN, needsOfRows}, "dlaswp01T": {nil, dimsMN, needsOfRows}, "dlaswp02N": {nil, dimsMN, needsOfRows},
	"dlaswp03N": {nil, dimsMN, needsOfRows}, "dlaswp03T": {nil, dimsMN, needsOfRows},
	"dlaswp04N": {nil, []string{"M0", "M1", "N"}, needsOfRows}, "dlaswp04T": {nil, []string{"M0", "M1", "N"}, needsOfRows},
	"dlaswp05N": {nil, dimsMN, needsOfRows}, "dlaswp05T": {nil, dimsMN, needsOfRows},
	"dlaswp06N": {nil, dimsMN, needsOfRows}, "dlaswp06T": {nil, dimsMN, needsOfRows},
}

func needsOfGemm(k *Kernel, d *[4]int64, nb int64) needs {
	n := needs{rows: d[0], columns: d[1], work: times(d[0], d[2]) + times(d[2], d[1])}
	n.columns += d[2] // the panel beside it

	if d[2] < nb && d[1] <= nb && k.attr("transa") == "N" { // within a panel
		n.order = max(d[1], d[2])
	} else {
		n.rows += d[2] // the block above it
	}
	return n
}

func needsOfTrsm(k *Kernel, d *[4]int64, _ int64) needs {
	if k.attr("side") == "R" { // of U alone
		return needs{order: d[1], work: times(d[0], d[1])}
	}
	return needs{rows: d[0], columns: d[1], order: d[0], work: times(d[0], d[1])}
}

func needsOfVectors(_ *Kernel, d *[4]int64, _ int64) needs {
	return needs{rows: d[0], columns: d[1] + 1, work: d[0] + d[1]}
}

func needsOfColumn(_ *Kernel, d *[4]int64, _ int64) needs { return needs{rows: d[0], columns: 2} }

func needsOfPanelRows(_ *Kernel, d *[4]int64, _ int64) needs {
	return needs{rows: 1, columns: d[0], work: times(d[0], d[0]) + 2*d[0]}
}

// needsOfRows: the last dimension is the length of rows, the others say how many there are,
// each of which is in U, in a message or both.
func needsOfRows(k *Kernel, d *[4]int64, nb int64) needs {
	last := len(k.Dims) - 1
	rows := slices.Max(d[:last])
	if k.Name == "dlaswp10N" { // columns of a transposed U, whose number is the order
		return needs{order: d[last], work: times(rows, d[last])}
	}
	return needs{rows: rows, columns: d[last], work: times(2*max(rows, nb), d[last]+1)}
}

// times is a product that does not overflow.
func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/4/a {
		return math.MaxInt64 / 4
	}
	return a * b
}

// sizeText returns 100x20.
func sizeText(k *Kernel, d *[4]int64) string {
	var list []string
	for i := range k.Dims {
		list = append(list, fmt.Sprint(d[i]))
	}
	return strings.Join(list, "x")
}
