package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
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

// CanTime reports whether there is a way to time the kernel: it has the dimensions and
// attributes of one of HPL's or HPCG's.
func (k *Kernel) CanTime() bool { return k.isHPL() || k.isLoop() }

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

// form describes a kernel of HPL: its attributes and dimensions, and the memory that a call of dimensions d works on,
// in a run with panels of nb columns. helper/calls.h has the call itself.
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
		// The columns include the panel beside the product. Within a panel, B is in the triangle's block; elsewhere
		// it is above the product.
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

// needsOfRows: the last dimension is the length of rows, the others are their numbers. Each row is in U, in a
// message or both.
func needsOfRows(k *Kernel, d *[4]int64, nb int64) needs {
	last := len(k.Dims) - 1
	rows := slices.Max(d[:last])
	return needs{rows: rows, columns: d[last], work: times(2*max(rows, nb), d[last]+1)}
}

// times is a product of numbers not below zero that stops at a quarter of the largest number, so that sums of a few
// products do not overflow either.
func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/4/a {
		return math.MaxInt64 / 4
	}
	return a * b
}

// maxRunSizes bounds the number of different calls of a run.
const maxRunSizes = 1 << 20

// RunCalls holds the calls that a run makes: of each kernel its sizes, how often each is called, and a first
// guess of how long it takes, by which the run's time is divided among them. The zero value is empty:
// [RunCalls.Kernel] and [RunCalls.Add] fill it for one run, [RunCalls.AddRun] for several that count alike.
type RunCalls struct {
	Ranks int      // of the run; 0: not known
	Plane [2]int64 // of a run of HPCG: points of a rank's box in x and y

	kernels  []*kernelCalls
	sizes    int     // number of different calls
	shapes   []shape // of the runs that were added
	runBoxes []box   // of the runs of HPCG that were added, each once
}

// kernelCalls are the calls of a kernel, by their dimensions.
type kernelCalls struct {
	kernel Kernel
	guess  func(d *[4]int64) float64 // seconds
	calls  map[[4]int64]*sizeCalls
	omit   bool // it is not to be timed
}

// sizeCalls are the calls of a size.
type sizeCalls struct {
	number float64 // of calls; of several runs, in a unit in which each run takes the same time
	run    int     // the run that calls it most, of those that were added
	most   float64 // number of the calls of that run
}

// Kernel adds a kernel, with a first guess of the seconds of a call, and returns its number.
func (r *RunCalls) Kernel(k Kernel, guess func(d *[4]int64) float64) int {
	r.kernels = append(r.kernels, &kernelCalls{kernel: k, guess: guess, calls: map[[4]int64]*sizeCalls{}})
	return len(r.kernels) - 1
}

// Only has the kernels of these names timed and no others, whose calls still give the run its shape.
func (r *RunCalls) Only(names []string) {
	for _, k := range r.kernels {
		k.omit = !slices.Contains(names, k.kernel.Name)
	}
}

// maybeZero are the dimensions that calls with something to do may have of zero: labels, and rows of one kind of two.
var maybeZero = []string{"ROLE", "M0", "M1", "LEVEL", "VECTORS", "BRANCH", "ALIAS"}

// Add counts a call of a kernel, unless there is nothing to do in it.
func (r *RunCalls) Add(kernel int, d [4]int64) error {
	k := r.kernels[kernel]
	for i, name := range k.kernel.Dims {
		if d[i] < 1 && !slices.Contains(maybeZero, name) {
			return nil
		}
	}
	if strings.HasPrefix(k.kernel.Name, "dlaswp04") && d[0]+d[1] == 0 {
		return nil
	}
	return r.count(k, d, 1, 0)
}

// AddRun adds the calls of another run, weighed so that each run that is added has the same
// time: sizes of short runs count as those of long ones do. Calls are timed in the shape of their
// run: those of a size that several runs have, in that of the one that spends most of its time on it.
func (r *RunCalls) AddRun(run *RunCalls) error {
	// Numbers of calls are divided by the time of their run.
	total := 0.0
	for _, k := range run.kernels {
		total += k.seconds()
	}
	if !(total > 0) {
		total = 1
	}
	for _, k := range run.kernels {
		to := slices.IndexFunc(r.kernels, func(own *kernelCalls) bool {
			return own.kernel.String() == k.kernel.String() && slices.Equal(own.kernel.Dims, k.kernel.Dims)
		})
		if to < 0 { // it is new
			to = r.Kernel(k.kernel, k.guess)
			r.kernels[to].omit = k.omit
		}
		// The order of the sizes does not matter: each is added to a sum of its own.
		for d, calls := range k.calls {
			if err := r.count(r.kernels[to], d, calls.number/total, len(r.shapes)); err != nil {
				return err
			}
		}
	}
	// The shape and the boxes are looked at as long as the run is by itself.
	r.shapes = append(r.shapes, run.shape())
	boxes, err := run.boxes()
	for _, b := range boxes {
		if !slices.Contains(r.runBoxes, b) {
			r.runBoxes = append(r.runBoxes, b)
		}
	}
	return err
}

// count adds calls that a run makes, all of a size at once or one by one.
func (r *RunCalls) count(k *kernelCalls, d [4]int64, number float64, run int) error {
	c := k.calls[d]
	if c == nil {
		if r.sizes++; r.sizes > maxRunSizes {
			return fmt.Errorf("more than %d different calls", maxRunSizes)
		}
		c = &sizeCalls{}
		k.calls[d] = c
	}
	// Of a single run the unit of the number is a call.
	c.number += number
	if number > c.most {
		c.most, c.run = number, run
	}
	return nil
}

// Sizes returns the number of different calls.
func (r *RunCalls) Sizes() int { return r.sizes }

// Each calls f with each different call of the runs, kernel by kernel, and how often it is made; of several
// runs, in a unit of its own.
func (r *RunCalls) Each(f func(k *Kernel, d [4]int64, calls float64)) {
	for _, k := range r.kernels {
		for _, d := range k.sorted() {
			f(&k.kernel, d, k.calls[d].number)
		}
	}
}

// seconds returns the guess of the time of all calls of a kernel that is to be timed.
func (k *kernelCalls) seconds() (sum float64) {
	if k.omit {
		return 0
	}
	for _, d := range k.sorted() {
		sum += float64(k.calls[d].number * k.guess(&d))
	}
	return sum
}

// sorted returns the sizes by the guess of their times.
func (k *kernelCalls) sorted() []([4]int64) {
	return slices.SortedFunc(maps.Keys(k.calls), func(a, b [4]int64) int {
		return cmp.Or(cmp.Compare(k.guess(&a), k.guess(&b)), slices.Compare(a[:], b[:]))
	})
}

// choose returns n sizes, or all if there are fewer. Half of them are spread so that the run spends equally much time
// between them, as predictions are sums of time, and half so that it makes equally many calls between them, as
// short calls show the constant cost.
func (k *kernelCalls) choose(n int) [][4]int64 {
	all := k.sorted()
	if len(all) <= n {
		return all
	}
	// An odd size goes to those by time.
	// The sizes are in the order of their times, so that both halves are quantiles of the same list.
	chosen := map[int]bool{} // places in all
	spread(all, chosen, (n+1)/2, func(d [4]int64) float64 { return k.calls[d].number * k.guess(&d) })
	spread(all, chosen, n-len(chosen), func(d [4]int64) float64 { return k.calls[d].number })
	for i := len(all) - 1; len(chosen) < n; i-- { // the largest ones, in place of sizes that both had chosen
		chosen[i] = true
	}
	var list [][4]int64
	for _, i := range slices.Sorted(maps.Keys(chosen)) {
		list = append(list, all[i])
	}
	return list
}

// spread chooses the sizes at n quantiles of a weight, in the middle of equal parts of it. A size may be at several
// of them, and chosen before.
func spread(all [][4]int64, chosen map[int]bool, n int, weight func([4]int64) float64) {
	sum, sums := 0.0, make([]float64, len(all))
	for i, d := range all {
		sum += weight(d)
		sums[i] = sum
	}
	for part := range n {
		// The first size with which the sum reaches the quantile.
		if i := sort.SearchFloat64s(sums, (float64(part)+0.5)*sum/float64(n)); i < len(all) {
			chosen[i] = true
		}
	}
}
