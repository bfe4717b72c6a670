package measure

import (
	"cmp"
	"fmt"
	"slices"
)

// maxRunSizes bounds the number of different calls of a run.
const maxRunSizes = 1 << 20

// RunCalls holds the calls that a run makes: of each kernel its sizes, how often each is called,
// and a first guess of how long it takes, by which the run's time is divided among them.
type RunCalls struct {
	Ranks int      // of the run; 0: not known
	Plane [2]int64 // of a run of HPCG: points of a rank's box in x and y

	kernels  []*kernelCalls
	sizes    int
	shapes   []shape // of the runs that were added
	runBoxes []box   // of those of HPCG
}

type kernelCalls struct {
	kernel Kernel
	guess  func(d *[4]int64) float64 // seconds
	calls  map[[4]int64]*sizeCalls
	omit   bool // it is not to be timed
}

// sizeCalls are the calls of a size.
type sizeCalls struct {
	number float64
	run    int     // that calls it most, of those that were added
	most   float64 // number of its calls
}

// NewRunCalls returns an empty set.
func NewRunCalls() *RunCalls { return &RunCalls{} }

// Kernel adds a kernel, with a first guess of the seconds of a call, and returns its number.
func (r *RunCalls) Kernel(k Kernel, guess func(d *[4]int64) float64) int {
	r.kernels = append(r.kernels, &kernelCalls{kernel: k, guess: guess, calls: map[[4]int64]*sizeCalls{}})
	return len(r.kernels) - 1
}

// Only has the kernels of these names timed and no others, whose calls still tell what the run looks like.
func (r *RunCalls) Only(names []string) {
	for _, k := range r.kernels {
		k.omit = !slices.Contains(names, k.kernel.Name)
	}
}

// maybeZero are the dimensions that calls with something to do may have of zero: labels, and rows of one kind of two.
var maybeZero = []string{"ROLE", "M0", "M1", "LEVEL", "VECTORS", "BRANCH", "ALIAS"}

// Add counts a call of a kernel, unless it is empty: there is nothing to do in it.
func (r *RunCalls) Add(kernel int, d [4]int64) error {
	k := r.kernels[kernel]
	for i, name := range k.kernel.Dims {
		if d[i] < 1 && !slices.Contains(maybeZero, name) {
			return nil
		}
	}
	if k.kernel.Name[:min(8, len(k.kernel.Name))] == "dlaswp04" && d[0]+d[1] == 0 {
		return nil
	}
	return r.count(k, d, 1, 0)
}

// AddRun adds the calls of another run, weighed so that each run that is added has the same
// time: sizes of short runs count as those of long ones do. Calls are timed in the shape of their
// run: those of a size that several runs have, in that of the one that spends most of its time on it.
func (r *RunCalls) AddRun(run *RunCalls) error {
	total := 0.0
	for _, k := range run.kernels {
		total += k.seconds()
	}
	if !(total > 0) {
		total = 1
	}
	for _, k := range run.kernels {
		to := r.kernels[r.numberOf(k)]
		for d, calls := range k.calls {
			if err := r.count(to, d, calls.number/total, len(r.shapes)); err != nil {
				return err
			}
		}
	}
	r.shapes = append(r.shapes, run.shape())
	boxes, err := run.boxes()
	for _, b := range boxes {
		if !slices.Contains(r.runBoxes, b) {
			r.runBoxes = append(r.runBoxes, b)
		}
	}
	return err
}

// timed returns the kernels that are to be timed.
func (r *RunCalls) timed() (list []*kernelCalls) {
	for _, k := range r.kernels {
		if k.kernel.CanTime() && len(k.calls) > 0 && !k.omit {
			list = append(list, k)
		}
	}
	return list
}

// count adds calls that a run makes, all at once or one by one.
func (r *RunCalls) count(k *kernelCalls, d [4]int64, number float64, run int) error {
	c := k.calls[d]
	if c == nil {
		if r.sizes++; r.sizes > maxRunSizes {
			return fmt.Errorf("more than %d different calls", maxRunSizes)
		}
		c = &sizeCalls{}
		k.calls[d] = c
	}
	c.number += number
	if number > c.most {
		c.most, c.run = number, run
	}
	return nil
}

// shapesOfRuns returns the shapes of the runs that were added, or of the only one.
func (r *RunCalls) shapesOfRuns() []shape {
	if len(r.shapes) == 0 {
		return []shape{r.shape()}
	}
	return r.shapes
}

// numberOf returns the number of a kernel of another run, which it adds if it is new.
func (r *RunCalls) numberOf(k *kernelCalls) int {
	for i, own := range r.kernels {
		if own.kernel.String() == k.kernel.String() && slices.Equal(own.kernel.Dims, k.kernel.Dims) {
			return i
		}
	}
	number := r.Kernel(k.kernel, k.guess)
	r.kernels[number].omit = k.omit
	return number
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
	list := make([][4]int64, 0, len(k.calls))
	for d := range k.calls {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b [4]int64) int {
		return cmp.Or(cmp.Compare(k.guess(&a), k.guess(&b)), slices.Compare(a[:], b[:]))
	})
	return list
}

// choose returns n sizes, or all if there are fewer: every other one so that the run spends
// equally much time between them, which is what a prediction is made of, and the others so
// that it makes equally many calls between them, which says what a short one costs.
func (k *kernelCalls) choose(n int) [][4]int64 {
	all := k.sorted()
	if len(all) <= n {
		return all
	}
	chosen := make([]bool, len(all))
	seconds := func(d [4]int64) float64 { return k.calls[d].number * k.guess(&d) }
	calls := func(d [4]int64) float64 { return k.calls[d].number }
	number := spread(all, seconds, (n+1)/2, chosen)
	number += spread(all, calls, n-number, chosen)
	for i := len(all) - 1; number < n; i-- { // what both had chosen leaves room
		if !chosen[i] {
			chosen[i] = true
			number++
		}
	}
	var list [][4]int64
	for i, d := range all {
		if chosen[i] {
			list = append(list, d)
		}
	}
	return list
}

// spread chooses the sizes at n quantiles of a weight, in the middle of equal parts of it,
// and returns how many of them were not chosen yet.
func spread(all [][4]int64, weight func([4]int64) float64, n int, chosen []bool) (more int) {
	total := 0.0
	for _, d := range all {
		total += weight(d)
	}
	sum, next := 0.0, 0
	for i, d := range all {
		sum += weight(d)
		if next == n || sum < (float64(next)+0.5)*total/float64(n) {
			continue
		}
		for next < n && sum >= (float64(next)+0.5)*total/float64(n) {
			next++
		}
		if !chosen[i] {
			chosen[i] = true
			more++
		}
	}
	return more
}
