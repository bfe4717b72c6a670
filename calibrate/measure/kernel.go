package measure

import (
	"math"
	"slices"
	"strings"
)

// This file says which kernels can be timed, and the memory that a call of HPL's works on (forms).
// HPCG's are in loops.go.

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

// isHPL reports whether a kernel is one of HPL's.
func (k *Kernel) isHPL() bool {
	f, ok := forms[k.Name]
	if !ok || !slices.Equal(f.dims, k.Dims) || len(k.Attrs) != len(f.attrs) {
		return false
	}
	// Values of attributes are letters of BLAS: a kernel of another program may have the name and other values.
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

// form describes a kernel of HPL: its attributes and dimensions, and the memory that a call of
// dimensions d works on, in a run with panels of nb columns. helper/calls.h has the call itself.
type form struct {
	attrs, dims []string
	needs       func(k *Kernel, d *[4]int64, nb int64) needs
}

// needs are the extents of memory that a call works on, in elements.
type needs struct {
	rows, columns int64 // of the run's matrix
	order         int64 // of a triangle
	work          int64 // outside of these
}

var (
	attrsOfTrsm = []string{"side", "uplo", "trans", "diag"}
	attrsOfTrsv = attrsOfTrsm[1:]
	dimsMN      = []string{"M", "N"}
	dimsN       = []string{"N"}
	// Rows of a panel that are swapped, and the role of the process in it.
	dimsOfPanel = []string{"JB", "ROLE"}
)

// forms are the kernels of HPL that can be timed.
var forms = map[string]form{
	// Products, solves and updates of BLAS.
	"dgemm": {[]string{"transa", "transb"}, []string{"M", "N", "K"}, func(k *Kernel, d *[4]int64, nb int64) needs {
		// The columns include the panel beside the product. Within a panel, B is in the triangle's
		// block; elsewhere it is above the product.
		n := needs{rows: d[0], columns: d[1] + d[2], work: times(d[0], d[2]) + times(d[2], d[1])}
		if d[2] < nb && d[1] <= nb && k.attr("transa") == "N" {
			n.order = max(d[1], d[2])
		} else {
			n.rows += d[2]
		}
		return n
	}},
	"dtrsm": {attrsOfTrsm, dimsMN, func(k *Kernel, d *[4]int64, _ int64) needs {
		if k.attr("side") == "R" { // works on U alone
			return needs{order: d[1], work: times(d[0], d[1])}
		}
		return needs{rows: d[0], columns: d[1], order: d[0], work: times(d[0], d[1])}
	}},
	"dgemv": {[]string{"trans"}, dimsMN, needsOfVectors},
	"dger":  {nil, dimsMN, needsOfVectors},
	"dtrsv": {attrsOfTrsv, dimsN, func(_ *Kernel, d *[4]int64, _ int64) needs {
		return needs{order: d[0], work: d[0]}
	}},
	"dscal":  {nil, dimsN, needsOfColumn},
	"daxpy":  {nil, dimsN, needsOfColumn},
	"idamax": {nil, dimsN, needsOfColumn},
	"dcopy": {nil, dimsN, func(_ *Kernel, d *[4]int64, _ int64) needs {
		return needs{rows: 1, columns: d[0], work: d[0]}
	}},
	// Parts of HPL's search for pivots, and its own copies and row swaps, but for those of init.
	"dlocmax":  {nil, []string{"M"}, needsOfColumn},
	"dlocswpN": {nil, dimsOfPanel, needsOfPanelRows},
	"dlocswpT": {nil, dimsOfPanel, needsOfPanelRows},
	"dlaswp10N": {nil, dimsMN, func(_ *Kernel, d *[4]int64, _ int64) needs {
		return needs{order: d[1], work: times(d[0], d[1])} // columns of a transposed U, whose number is the order
	}},
}

// HPL's own copies and row swaps: of the matrix, of U and of messages, U being stored as it is (N) or transposed (T).
func init() {
	for name := range strings.FieldsSeq("dlacpy dlatcpy dlaswp00N dlaswp01N dlaswp01T dlaswp02N dlaswp03N dlaswp03T " +
		"dlaswp04N dlaswp04T dlaswp05N dlaswp05T dlaswp06N dlaswp06T") {
		forms[name] = form{nil, dimsMN, needsOfRows}
		if strings.HasPrefix(name, "dlaswp04") { // with two kinds of rows
			forms[name] = form{nil, []string{"M0", "M1", "N"}, needsOfRows}
		}
	}
}

func needsOfVectors(_ *Kernel, d *[4]int64, _ int64) needs {
	return needs{rows: d[0], columns: d[1] + 1, work: d[0] + d[1]}
}

func needsOfColumn(_ *Kernel, d *[4]int64, _ int64) needs { return needs{rows: d[0], columns: 2} }

func needsOfPanelRows(_ *Kernel, d *[4]int64, _ int64) needs {
	return needs{rows: 1, columns: d[0], work: times(d[0], d[0]) + 2*d[0]}
}

// needsOfRows: the last dimension is the length of rows, the others are their numbers. Each row is
// in U, in a message or both.
func needsOfRows(k *Kernel, d *[4]int64, nb int64) needs {
	last := len(k.Dims) - 1
	rows := slices.Max(d[:last])
	return needs{rows: rows, columns: d[last], work: times(2*max(rows, nb), d[last]+1)}
}

// times is a product of numbers not below zero that stops at a quarter of the largest number, so
// that sums of a few products do not overflow either.
func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/4/a {
		return math.MaxInt64 / 4
	}
	return a * b
}
