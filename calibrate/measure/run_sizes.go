package measure

import (
	"cmp"
	"fmt"
	"slices"
)

// maxRunSizes bounds the number of different sizes of a run.
const maxRunSizes = 1 << 20

// RunSizes holds the sizes of the calls that a run makes, with their numbers.
type RunSizes struct{ calls map[Size]int64 }

// NewRunSizes returns an empty set.
func NewRunSizes() *RunSizes { return &RunSizes{map[Size]int64{}} }

// Add counts a call, unless one of its dimensions is 0: there is nothing to do in it.
func (r *RunSizes) Add(s Size) error {
	if min(s.M, s.N, s.K) < 1 {
		return nil
	}
	if _, ok := r.calls[s]; !ok && len(r.calls) == maxRunSizes {
		return fmt.Errorf("more than %d different sizes", maxRunSizes)
	}
	r.calls[s]++
	return nil
}

// Different returns the number of different sizes.
func (r *RunSizes) Different() int { return len(r.calls) }

// Choose returns n sizes, or all if there are fewer, by their operations: every other one so that
// the run spends equally much work between them, which is where its time goes, and the others
// so that it makes equally many calls between them, which says what a short one costs.
func (r *RunSizes) Choose(n int) []Size {
	var all []Size
	for s := range r.calls {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Size) int {
		return cmp.Or(cmp.Compare(a.Flop(), b.Flop()), cmp.Compare(a.M, b.M), cmp.Compare(a.N, b.N), cmp.Compare(a.K, b.K))
	})
	if len(all) <= n {
		return all
	}
	chosen := make([]bool, len(all))
	number := 0
	work := func(s Size) float64 { return float64(r.calls[s]) * s.Flop() }
	calls := func(s Size) float64 { return float64(r.calls[s]) }
	number += spread(all, work, (n+1)/2, chosen)
	number += spread(all, calls, n-number, chosen)
	for i := len(all) - 1; number < n; i-- { // what both had chosen leaves room
		if !chosen[i] {
			chosen[i] = true
			number++
		}
	}
	var list []Size
	for i, s := range all {
		if chosen[i] {
			list = append(list, s)
		}
	}
	return list
}

// spread chooses the sizes at n quantiles of a weight, in the middle of equal parts of it,
// and returns how many of them were not chosen yet.
func spread(all []Size, weight func(Size) float64, n int, chosen []bool) (more int) {
	total := 0.0
	for _, s := range all {
		total += weight(s)
	}
	sum, next := 0.0, 0
	for i, s := range all {
		sum += weight(s)
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
