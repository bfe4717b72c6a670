package measure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// This file holds the calls of runs (RunCalls) and chooses of them the sizes that are timed (kernelCalls.choose).

// RunCalls holds the calls that a run makes: of each kernel its sizes, how often each is called,
// and a first guess of how long it takes, by which the run's time is divided among them. The zero
// value is empty:
// [RunCalls.Kernel] and [RunCalls.Add] fill it for one run, [RunCalls.AddRun] for several that count alike.
type RunCalls struct {
	Ranks int      // of the run; 0: not known
	Plane [2]int64 // of a run of HPCG: points of a rank's box in x and y

	kernels  []*kernelCalls
	sizes    int     // number of different calls
	shapes   []shape // of the runs that were added
	runBoxes []box   // of the runs of HPCG that were added, each once
}

// Kernel adds a kernel, with a first guess of the seconds of a call, and returns its number.
func (r *RunCalls) Kernel(k Kernel, guess func(d *[4]int64) float64) int {
	r.kernels = append(r.kernels, &kernelCalls{kernel: k, guess: guess, calls: map[[4]int64]*sizeCalls{}})
	return len(r.kernels) - 1
}

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

// AddRun adds the calls of another run, weighed so that each run that is added has the same time:
// sizes of short runs count as those of long ones do. Calls are timed in the shape of their run:
// those of a size that several runs have, in that of the one that spends most of its time on it.
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

// maxRunSizes bounds the number of different calls of a run.
const maxRunSizes = 1 << 20

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

// Only has the kernels of these names timed and no others, whose calls still give the run its shape.
func (r *RunCalls) Only(names []string) {
	for _, k := range r.kernels {
		k.omit = !slices.Contains(names, k.kernel.Name)
	}
}

// maybeZero are the dimensions that may be 0 in calls that do something: labels, and M0 or M1, the
// rows of one of two kinds.
var maybeZero = []string{"ROLE", "M0", "M1", "LEVEL", "VECTORS", "BRANCH", "ALIAS"}

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

// Each calls f with each different call of the runs, kernel by kernel, and how often it is made; of
// several runs, in a unit of its own.
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

// choose returns n sizes, or all if there are fewer. Half of them are spread so that the run spends
// equally much time between them, as predictions are sums of time, and half so that it makes
// equally many calls between them, as short calls show the constant cost.
func (k *kernelCalls) choose(n int) [][4]int64 {
	all := k.sorted()
	if len(all) <= n {
		return all
	}
	// An odd size goes to those by time. The sizes are in the order of their times, so that both
	// halves are quantiles of the same list.
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

// spread chooses the sizes at n quantiles of a weight, in the middle of equal parts of it. A size
// may be at several of them, and chosen before.
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
