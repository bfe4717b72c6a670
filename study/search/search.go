// Package search finds the quickest of many points, each of which has a level of every factor, by
// measuring few of them.
//
//	found, err := search.Run(ctx, &search.Space{Factors: factors, Points: points}, search.Options{
//		Tolerances: []float64{0.03, 0.01, 0}, Indifference: 0.005, Measure: replay})
//	best := found[0]
//
// The search begins with a few points in which all levels, and pairs of levels, occur about equally often. From the
// measured points a model of effects predicts the time of each other point, with an interval. Points are discarded
// by these intervals, as many as the chance allows that at most 5 % of all searches discard a point which is better
// than the best by more than the indifference. Of the other points those are measured next, a few at a time, that
// promise most. When none is left, those neighbours of the best that were never measured are measured, whatever the
// model predicts.
//
// All of that is done with each tolerance in turn; with a finer tolerance the points that are left are measured
// again. No point is left out for good: each step uses the model's predictions of all points.
//
// The package knows neither programs nor replays: package tune makes the points and measures them.
//
// # Units
//
// Times are in seconds; tolerances and the indifference are shares of a time.
//
// # Errors
//
// Errors are those of Measure, and of a space or options that make no sense.
//
// # Source
//
// The model: Joseph and Delaney, Functionally induced priors for the analysis of experiments, Technometrics 49, 2007.
// Points that promise most, by their expected improvement: Jones, Schonlau and Welch, Efficient global optimization of
// expensive black-box functions, Journal of Global Optimization 13, 1998. Discarding by intervals, up to a difference
// that does not matter: Even-Dar, Mannor and Mansour, Action elimination and stopping conditions, JMLR 7, 2006.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"reprise/internal/portable"
)

const (
	// batch is how many points are measured before the next are chosen. Of 504 configurations of
	// HPL on 60 and 64 ranks of Dahu, with 20 designs, batches of 2, 4 and 8 measured 49, 54 and
	// 58 points on average, and found the best 16, 20 and 19 times.
	batch = 4
	// risk is the probability that a discarded point is better than the best by more than the indifference.
	risk = 0.05
	// golden is SplitMix64's increment: portable.Mix of its multiples are that generator's numbers.
	golden = 0x9e3779b97f4a7c15
)

// Space is what is searched: points, each of which has a level of each factor.
type Space struct {
	Factors []Factor
	Points  [][]int
}

// Factor is one of the things in which points differ.
type Factor struct {
	Levels  int
	Ordered bool // levels that are nearer to each other are more alike
}

// Value is the result of a measurement.
type Value struct {
	Seconds  float64
	Interval float64 // half-width, with 95 % confidence; 0: it is exact
}

// Options say how to search.
type Options struct {
	// Tolerances are those of the measurements, each less than the one before; 0: exact.
	Tolerances []float64
	// Indifference is a difference that does not matter: points that are better than the best by less are not sought.
	Indifference float64
	// Measure measures points, numbers in Space.Points, to a tolerance.
	Measure func(ctx context.Context, points []int, tolerance float64) ([]Value, error)
	// Progress, if set, is called before the first batch of measurements and after each with the number of points that
	// are still to be measured to each tolerance, by the current predictions. It may grow.
	Progress func(left []int)
}

// Point is a point that was measured.
type Point struct {
	Index     int // in Space.Points
	Value     Value
	Tolerance float64 // to which it was measured last
}

// Run searches for the point that takes the least time. It returns the points that were measured
// to the last tolerance, the best first, and then the others, which were discarded before. The
// result depends on nothing but the space, the options, and the measured values.
func Run(ctx context.Context, space *Space, o Options) ([]Point, error) {
	for i, x := range space.Points {
		if len(x) != len(space.Factors) {
			return nil, fmt.Errorf("search: point %d has %d levels of %d factors", i, len(x), len(space.Factors))
		}
	}
	for i, t := range o.Tolerances {
		if !(t >= 0 && t < 1) || i > 0 && t >= o.Tolerances[i-1] {
			return nil, fmt.Errorf("search: tolerances %v, want shares of at least 0, each less than the one before", o.Tolerances)
		}
	}
	switch {
	case len(space.Points) == 0:
		return nil, errors.New("search: no points")
	case len(o.Tolerances) == 0:
		return nil, errors.New("search: no tolerance")
	case !(o.Indifference >= 0) || math.IsInf(o.Indifference, 1):
		return nil, fmt.Errorf("search: indifference %v, want a share of at least 0", o.Indifference)
	case o.Measure == nil:
		return nil, errors.New("search: no measure")
	}
	// A coarser tolerance discards most points at a small part of the cost; the model carries over what it has learnt.
	s := &search{Space: space, Options: o, found: map[int]*Point{}, model: &model{space: space}}
	for i, tolerance := range o.Tolerances {
		next := space.design()
		if i > 0 {
			next = s.next(tolerance)
		} else if s.Progress != nil {
			s.Progress(space.Usual(len(o.Tolerances)))
		}
		for len(next) > 0 {
			values, err := s.Measure(ctx, next, tolerance)
			if err != nil {
				return nil, err
			}
			for i, p := range next {
				v := values[i]
				if !(v.Seconds > 0) || !(v.Interval >= 0) {
					return nil, fmt.Errorf("search: point %d takes %v s, give or take %v s", p, v.Seconds, v.Interval)
				}
				s.found[p] = &Point{p, v, tolerance}
			}

			// The model is fitted to all points that were measured, to whatever tolerance. A point's noise is the
			// variance of the logarithm of its time: the relative half-width over the quantile of 95 %.
			m := s.model
			m.at, m.values, m.noise = nil, nil, nil
			for i := range s.Points {
				if p := s.found[i]; p != nil {
					deviation := p.Value.Interval / p.Value.Seconds / distuv.UnitNormal.Quantile(0.975)
					m.at, m.values = append(m.at, i), append(m.values, math.Log(p.Value.Seconds))
					m.noise = append(m.noise, max(float64(deviation*deviation), leastNoise))
				}
			}
			m.fit()
			if next = s.next(tolerance); len(next) == 0 {
				next = s.neighbours()
			}
			if s.Progress != nil {
				left := space.Usual(len(o.Tolerances))
				clear(left[:i])
				left[i] = max(min(len(s.open(tolerance)), max(left[i]-len(s.found), 2*batch)), len(next))
				for j := i + 1; j < len(left); j++ {
					left[j] = min(len(s.open(o.Tolerances[j])), batch)
				}
				s.Progress(left)
			}
		}
	}

	// Points that were measured to the last tolerance come before the others.
	var list []Point
	for i := range s.Points {
		if p := s.found[i]; p != nil {
			list = append(list, *p)
		}
	}
	last := s.Tolerances[len(s.Tolerances)-1]
	coarse := func(p *Point) int {
		if p.measured(last) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Point) int {
		return cmp.Or(cmp.Compare(coarse(&a), coarse(&b)), cmp.Compare(a.Value.Seconds, b.Value.Seconds))
	})
	return list, nil
}

// search is a search under way.
type search struct {
	*Space
	Options
	found map[int]*Point // by index
	model *model
}

// Usual returns about how many points are measured to each of so many tolerances: a tenth of all, of which few are left
// for the others.
func (s *Space) Usual(tolerances int) []int {
	list := slices.Repeat([]int{min(batch, len(s.Points))}, tolerances)
	list[0] = max(len(s.design()), len(s.Points)/10)
	return list
}

// neighbours returns those points that were not measured and differ from the best in one factor, an ordered one by one
// level.
func (s *search) neighbours() (list []int) {
	best, _ := s.best()
	for i, x := range s.Points {
		if s.found[i] == nil && s.apart(x, s.Points[best]) == 1 {
			list = append(list, i)
		}
	}
	return list
}

// measured reports whether a measurement is as good as a tolerance wants.
func (p *Point) measured(tolerance float64) bool {
	return p.Tolerance <= tolerance || p.Value.Interval == 0
}

// next returns the points to measure next, at most a batch.
func (s *search) next(tolerance float64) []int {
	list := s.open(tolerance)
	return list[:min(len(list), batch)]
}

// open returns the points that are not measured to the tolerance and are not discarded, the one with the largest
// expected improvement first.
func (s *search) open(tolerance float64) []int {
	type candidate struct {
		point  int
		chance float64 // that it is better than the best by more than the indifference
		gain   float64 // its expected improvement, as a difference of logarithms
	}
	_, best := s.best()
	// A point counts as better only if it is so by more than the indifference.
	limit := best - math.Log1p(s.Indifference)
	var list []candidate
	for i := range s.Points {
		if p := s.found[i]; p != nil && p.measured(tolerance) {
			continue
		}
		c := candidate{point: i}
		if value, deviation := s.model.predict(i); deviation > 0 {
			c.chance = distuv.UnitNormal.CDF((limit - value) / deviation)
			z := (best - value) / deviation
			c.gain = float64((best-value)*distuv.UnitNormal.CDF(z)) + float64(deviation*distuv.UnitNormal.Prob(z))
		}
		list = append(list, c)
	}

	// Discard the least likely ones as long as their chances together are within the risk.
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.chance, b.chance) })
	sum, discarded := 0.0, 0
	for discarded < len(list) && sum+list[discarded].chance <= risk {
		sum += list[discarded].chance
		discarded++
	}
	list = list[discarded:]
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.gain, a.gain) })
	var points []int
	for _, c := range list {
		points = append(points, c.point)
	}
	return points
}

// best returns the measured point that the model holds for the best, and the logarithm of its time.
func (s *search) best() (point int, value float64) {
	value = math.Inf(1)
	for i := range s.Points {
		if s.found[i] != nil {
			if v, _ := s.model.predict(i); v < value {
				point, value = i, v
			}
		}
	}
	return point, value
}

// design returns the points to begin with, at least as many as the model has main effects: each
// level, and each pair of levels of two factors, occurs about as often as others. It is greedy:
// the next point is the one whose levels and pairs have been taken least often; among equals, the
// first in an order by hashes, which has nothing to do with their levels.
func (s *Space) design() []int {
	n := 1
	for _, f := range s.Factors {
		n += f.Levels - 1
	}
	n = min(len(s.Points), (n+batch-1)/batch*batch)
	count := map[[4]int]int{} // by factor, level, factor, level; of one factor twice: that level
	var list []int
	used := make([]bool, len(s.Points))
	for len(list) < n {
		next, least := -1, math.Inf(1)
		for i, x := range s.Points {
			if used[i] {
				continue
			}
			often := 0
			for a := range x {
				often += 2 * count[[4]int{a, x[a], a, x[a]}] // levels count twice
				for b := range a {
					often += count[[4]int{a, x[a], b, x[b]}]
				}
			}
			if c := float64(often) + float64(portable.Mix(uint64(i)*golden)>>11)/(1<<53); c < least {
				next, least = i, c
			}
		}
		used[next] = true
		list = append(list, next)
		for a, x := range s.Points[next] {
			for b := range a + 1 {
				count[[4]int{a, x, b, s.Points[next][b]}]++
			}
		}
	}
	return list
}

// apart returns how many steps there are between two points.
func (s *Space) apart(a, b []int) int {
	steps := 0
	for f := range a {
		switch d := a[f] - b[f]; {
		case d == 0:
		case s.Factors[f].Ordered:
			steps += max(d, -d)
		default:
			steps++
		}
	}
	return steps
}
