package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"reprise/internal/portable"
)

// This file tests the difference of two lists of values by permutations: pair.rearranged.

// arrangements are the ways in which the values of two results are handed out anew: a list of those that become B's, in
// A's values and behind them B's, or, of values in pairs, of the pairs that change sides. The first is the true one.
type arrangements [][]int32

// mostArrangements is how many are looked at: all, if there are no more, else so many drawn ones.
const mostArrangements = 10000

// mostPermuted is how many values can be permuted: a test looks at each in each arrangement.
const mostPermuted = 200

// unpaired returns arrangements of a and b values without order: all of them where they are few, else drawn ones, of
// which the true one is the first, so that no probability is 0.
func unpaired(a, b int, seed uint64) arrangements {
	identity := make([]int32, b)
	for i := range identity {
		identity[i] = int32(a + i)
	}
	count := 1 // of combinations of i among a+i values, which grows with i up to b
	for i := 1; i <= b && count <= mostArrangements; i++ {
		count = count * (a + i) / i
	}
	if count <= mostArrangements {
		list := arrangements{identity}
		for _, chosen := range combin.Combinations(a+b, b) {
			c := make([]int32, b)
			for i, v := range chosen {
				c[i] = int32(v)
			}
			if !slices.Equal(c, identity) {
				list = append(list, c)
			}
		}
		return list
	}
	list, r := arrangements{identity}, stream{seed: seed}
	order := make([]int32, a+b)
	for len(list) < mostArrangements {
		for i := range order {
			order[i] = int32(i)
		}
		for i := range b { // the first b of a shuffle
			k := i + r.below(a+b-i)
			order[i], order[k] = order[k], order[i]
		}
		list = append(list, slices.Clone(order[:b]))
	}
	return list
}

// paired returns arrangements of n pairs, likewise: bit k of i says whether pair k changes sides.
func paired(n int, seed uint64) arrangements {
	list := arrangements{{}}
	all := n < 14 // 2^13 < mostArrangements < 2^14
	r := stream{seed: seed}
	for i := uint64(1); all && i < 1<<n || !all && len(list) < mostArrangements; i++ {
		var swapped []int32
		for k := range n {
			if all && i>>k&1 == 1 || !all && r.below(2) == 1 {
				swapped = append(swapped, int32(k))
			}
		}
		list = append(list, swapped)
	}
	return list
}

// stream is a sequence of random numbers. It is the same on every machine and for every version of Go, as the verdict
// of a gate must be.
type stream struct{ seed, drawn uint64 }

// below returns a number from 0 to n-1. As n is small against 2^64, none is likelier than others.
func (s *stream) below(n int) int {
	s.drawn++
	return int(portable.Mix(portable.Mix(s.seed)+s.drawn) % uint64(n))
}

// change is what is done to the values of A before they are compared with those of B: value*factor + shift.
type change struct{ factor, shift float64 }

var identity = change{factor: 1}

// rearranged returns how likely chance alone makes the lead, if above of B over A, else of A over B, as large as it
// is, if the values of both, A's changed by c, have one distribution: the share of arrangements with a lead at
// least as large.
func (p *pair) rearranged(c change, above bool) float64 {
	// Values are taken relative to their mean: sums of squares lose no digits then.
	values := make([]float64, len(p.a.values)+len(p.b.values))
	for i, v := range p.a.values {
		values[i] = float64(v*c.factor) + c.shift
	}
	copy(values[len(p.a.values):], p.b.values)
	mean, _ := moments(values)
	for i := range values {
		values[i] -= mean
	}
	statistic := p.statistic(values)
	observed := statistic(p.arrangements[0])
	if !above {
		observed = -observed
	}
	least := observed - float64(1e-9*math.Abs(observed)) // sums in another order are as large
	count := 0
	for _, chosen := range p.arrangements {
		s := statistic(chosen)
		if !above {
			s = -s
		}
		if s >= least {
			count++
		}
	}
	return float64(count) / float64(len(p.arrangements))
}

// statistic returns the function that studentizes the difference of an arrangement of values.
func (p *pair) statistic(values []float64) func([]int32) float64 {
	a, b := len(p.a.values), len(p.b.values)
	if p.paired {
		// That of the differences, some of which change their signs.
		return func(swapped []int32) float64 {
			sum, squares := 0.0, 0.0
			for i := range a {
				d := values[a+i] - values[i]
				sum += d
				squares += float64(d * d)
			}
			for _, i := range swapped {
				sum -= 2 * (values[a+int(i)] - values[i])
			}
			return studentized(meanVariance(sum, squares, float64(a)))
		}
	}
	// Of values without order A's sums are what B's leave of those of all, so that an arrangement costs b terms.
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
		squares += float64(v * v)
	}
	return func(chosen []int32) float64 {
		sumB, squaresB := 0.0, 0.0
		for _, i := range chosen {
			sumB += values[i]
			squaresB += float64(values[i] * values[i])
		}
		meanA, varA := meanVariance(sum-sumB, squares-squaresB, float64(a))
		meanB, varB := meanVariance(sumB, squaresB, float64(b))
		return studentized(meanB-meanA, varA+varB)
	}
}

// meanVariance returns the mean of n values and its variance.
func meanVariance(sum, squares, n float64) (mean, variance float64) {
	mean = sum / n
	return mean, max(0, squares/n-float64(mean*mean)) / (n - 1)
}

// studentized returns a difference in standard errors; without any variance the sign of infinity.
func studentized(difference, variance float64) float64 {
	switch {
	case difference == 0:
		return 0
	case variance == 0:
		return math.Inf(1) * difference
	}
	return difference / math.Sqrt(variance)
}

// invert returns the limits of a change of A that the arrangements allow, to either side with
// the probability tail; there are none where the values are too few for that. The true change is
// about best, the limits not much further from it than step.
func (p *pair) invert(of func(float64) change, best, step, tail float64) (Interval, bool) {
	low, ok := p.limit(func(x float64) bool { return p.rearranged(of(best-x), true) <= tail }, step)
	high, ok2 := p.limit(func(x float64) bool { return p.rearranged(of(best+x), false) <= tail }, step)
	return Interval{best - low, best + high}, ok && ok2
}

// limit returns the least distance that is told from none: it doubles the distance until one is, and halves the
// interval 30 times, to 1e-9 of it.
func (p *pair) limit(told func(float64) bool, step float64) (float64, bool) {
	near, far := 0.0, step
	for tries := 0; !told(far); tries++ {
		if tries == 10 {
			return 0, false
		}
		near, far = far, 2*far
	}
	for range 30 {
		if middle := (near + far) / 2; told(middle) {
			far = middle
		} else {
			near = middle
		}
	}
	return far, true
}
