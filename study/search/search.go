package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// batch is how many points are measured before the next are chosen. Of 504 configurations of
	// HPL on 60 and 64 ranks of Dahu, with 20 designs, batches of 2, 4 and 8 measured 49, 54
	// and 58 points on average, and found the best 16, 20 and 19 times.
	batch = 4
	// risk is the probability that a point which was discarded is better than the best by more
	// than the indifference.
	risk = 0.05
)

// search is a search under way.
type search struct {
	*Space
	Options
	found map[int]*Point
	model *model
	open  int // points that are not discarded and are to be measured
}

// Run searches for the point that takes the least time. The result depends on nothing but the
// space, the options, and what is measured.
func Run(ctx context.Context, space *Space, o Options) (*Found, error) {
	if err := validate(space, &o); err != nil {
		return nil, err
	}
	s := &search{Space: space, Options: o, found: map[int]*Point{}, model: &model{space: space}}
	for i, tolerance := range o.Tolerances {
		next := space.design()
		if i > 0 {
			next = s.next(tolerance)
		}
		for len(next) > 0 {
			if err := s.measure(ctx, next, tolerance); err != nil {
				return nil, err
			}
			if next = s.next(tolerance); len(next) == 0 {
				next = s.neighbours()
			}
			s.tell(tolerance)
		}
	}
	return &Found{s.ranking()}, nil
}

// measure measures points, and tells the model.
func (s *search) measure(ctx context.Context, points []int, tolerance float64) error {
	values, err := s.Measure(ctx, points, tolerance)
	if err != nil {
		return err
	}
	for i, p := range points {
		if v := values[i]; !(v.Seconds > 0) || !(v.Interval >= 0) {
			return fmt.Errorf("search: point %d takes %v s, give or take %v s", p, v.Seconds, v.Interval)
		}
		s.found[p] = &Point{p, values[i], tolerance}
	}
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
	return nil
}

// candidate is a point that could be measured.
type candidate struct {
	point  int
	chance float64 // that it is better than the best by more than the indifference
	gain   float64 // by how much it is expected to be better
}

// next returns the points to measure next: of those that are not discarded, the ones that promise
// most.
func (s *search) next(tolerance float64) []int {
	list := s.candidates(tolerance)
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.chance, b.chance) })
	sum, discarded := 0.0, 0
	for discarded < len(list) && sum+list[discarded].chance <= risk {
		sum += list[discarded].chance
		discarded++
	}
	list = list[discarded:]
	s.open = len(list)
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.gain, a.gain) })
	var points []int
	for _, c := range list[:min(len(list), batch)] {
		points = append(points, c.point)
	}
	return points
}

// candidates returns the points that are not measured to a tolerance.
func (s *search) candidates(tolerance float64) []candidate {
	_, best := s.best()
	limit := best - math.Log1p(s.Indifference)
	var list []candidate
	for i := range s.Points {
		if p := s.found[i]; p != nil && (p.Tolerance <= tolerance || p.Value.Interval == 0) {
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
	return list
}

// best returns the point that was measured and is the best by what is known, and the logarithm of
// its time.
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

// neighbours returns the points that differ from the best in one factor, of ordered ones by one
// level, and were never measured.
func (s *search) neighbours() []int {
	best, _ := s.best()
	var list []int
	for i, x := range s.Points {
		if s.found[i] == nil && s.apart(x, s.Points[best]) == 1 {
			list = append(list, i)
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

func (s *search) tell(tolerance float64) {
	if s.Progress != nil {
		best, _ := s.best()
		s.Progress(Progress{tolerance, len(s.found), s.open, *s.found[best]})
	}
}

// ranking sorts the points that were measured, those that were measured to the last tolerance
// before the others.
func (s *search) ranking() []Point {
	var list []Point
	for i := range s.Points {
		if p := s.found[i]; p != nil {
			list = append(list, *p)
		}
	}
	last := s.Tolerances[len(s.Tolerances)-1]
	coarse := func(p *Point) int {
		if p.Tolerance <= last || p.Value.Interval == 0 {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Point) int {
		return cmp.Or(cmp.Compare(coarse(&a), coarse(&b)), cmp.Compare(a.Value.Seconds, b.Value.Seconds))
	})
	return list
}
