package regress

import (
	"math"
	"slices"
)

// What a term, and a split, must lower the root mean square of relative residuals by at least, beside what
// the Bayesian criterion asks for.
const (
	gainOfTerm  = 0.05
	gainOfSplit = 0.15
)

// maxTerms bounds the terms that are chosen.
const maxTerms = 5

// score is what is minimised in the choice among models: n log(mean loss) and a penalty.
func score(n int, loss, penalty float64) float64 {
	return float64(float64(n)*math.Log(loss/float64(n)+precise*precise)) + penalty
}

func penaltyOfTerm(n int) float64 {
	return max(2*math.Log(float64(n)), -2*float64(n)*math.Log1p(-gainOfTerm))
}

func penaltyOfSplit(n int) float64 {
	return max(2*math.Log(float64(n)), -2*float64(n)*math.Log1p(-gainOfSplit))
}

// Select chooses terms one after the other, each time the one that lowers the loss most, as long as that is worth the penalty
// of a term. The first one is the earliest of all that are worse by no more than a penalty, so that what is
// expected stands first. It returns nil if no term alone fits.
func (s *Sample) Select() *Relative {
	best := s.first()
	n := len(s.Y)
	for best != nil {
		var next *Relative
		for t := range s.P {
			if slices.Contains(best.Terms, t) {
				continue
			}
			terms := slices.Sorted(slices.Values(append(slices.Clone(best.Terms), t)))
			if r := s.Fit(terms); r != nil && (next == nil || r.Loss < next.Loss*(1-1e-9)) {
				next = r
			}
		}
		if next == nil || score(n, next.Loss, penaltyOfTerm(n)) >= score(n, best.Loss, 0) {
			return best
		}
		if best = next; len(best.Terms) == maxTerms {
			break
		}
	}
	return best
}

// first returns the fit of one term, nil if none fits.
func (s *Sample) first() (first *Relative) {
	n, least := len(s.Y), math.Inf(1)
	var fits []*Relative
	for t := range s.P {
		if r := s.Fit([]int{t}); r != nil {
			fits = append(fits, r)
			least = min(least, score(n, r.Loss, 0))
		}
	}
	for _, r := range fits {
		if score(n, r.Loss, 0) <= least+penaltyOfTerm(n) {
			return r
		}
	}
	return nil
}

// Part is a part of the points with a fit of its own: those whose coordinates are above Lo and up to Hi.
type Part struct {
	Lo, Hi []float64
	Fit    *Relative
	Points []int
}

// Has reports whether a part holds at a place.
func (p *Part) Has(at []float64) bool {
	for d := range at {
		if !(at[d] > p.Lo[d] && at[d] <= p.Hi[d]) {
			return false
		}
	}
	return true
}

// fewestPoints is the number of points that a part has at least.
const fewestPoints = 6

// mostCuts is the number of places at which a part is tried to be split in a coordinate.
const mostCuts = 12

// goodEnough is the relative error of a part below which it is not split: a threshold would be of the timings' noise, not of
// the kernel.
const goodEnough = 0.02

// Partition fits the sample in parts, at most so many, which are boxes in the coordinates of the points. It splits the
// part that gains most by it, each side with terms of its own, as long as a part errs by goodEnough or more, and
// returns the parts with the smallest score on the way: a curve may need two thresholds before one is worth its
// penalty and that of its terms. fit fits one part. It returns nil if there is no fit of all points.
func (s *Sample) Partition(at [][]float64, most int, fit func(*Sample) *Relative) []Part {
	dims, all := len(at[0]), make([]int, len(s.Y))
	for i := range all {
		all[i] = i
	}
	first := Part{Fit: fit(s), Points: all}
	for range dims {
		first.Lo, first.Hi = append(first.Lo, math.Inf(-1)), append(first.Hi, math.Inf(1))
	}
	if first.Fit == nil {
		return nil
	}
	parts := []Part{first}
	best := parts
	for len(parts) < most {
		if parts = s.split(parts, at, fit); parts == nil {
			break
		}
		if s.total(parts) < s.total(best) {
			best = parts
		}
	}
	return best
}

// total is the score of all parts together.
func (s *Sample) total(parts []Part) float64 {
	n, loss, penalty := len(s.Y), 0.0, float64(len(parts)-1)*penaltyOfSplit(len(s.Y))
	for i := range parts {
		loss += parts[i].Fit.Loss
		penalty += float64(float64(len(parts[i].Fit.Terms)) * penaltyOfTerm(n))
	}
	return score(n, loss, penalty)
}

// split returns the parts with the one split that leaves the smallest score, nil if none can be: the best of some places in
// each coordinate, and then of all between that and those beside it.
func (s *Sample) split(parts []Part, at [][]float64, fit func(*Sample) *Relative) (best []Part) {
	for i := range parts {
		if s.errorOf(&parts[i]) < goodEnough {
			continue
		}
		for d := range at[0] {
			values := coordinates(parts[i].Points, at, d)
			step := max(1, len(values)/mostCuts)
			rough, here := -1, []Part(nil)
			try := func(k int) {
				if next := s.splitAt(parts, i, at, d, values[k], fit); next != nil && (here == nil || s.total(next) < s.total(here)) {
					rough, here = k, next
				}
			}
			for k := step - 1; k < len(values)-1; k += step {
				try(k)
			}
			for middle, k := rough, max(0, rough-step+1); middle >= 0 && k < min(middle+step, len(values)-1); k++ {
				try(k)
			}
			if here != nil && (best == nil || s.total(here) < s.total(best)) {
				best = here
			}
		}
	}
	return best
}

// errorOf returns the root mean square of the relative residuals of a part.
func (s *Sample) errorOf(p *Part) float64 {
	weight := 0.0
	for _, i := range p.Points {
		weight += s.W[i]
	}
	return math.Sqrt(p.Fit.Loss / weight)
}

// splitAt returns the parts with part i split, nil if a side has too few points or no fit.
func (s *Sample) splitAt(parts []Part, i int, at [][]float64, d int, cut float64, fit func(*Sample) *Relative) []Part {
	low, high := parts[i].divide(at, d, cut)
	if len(low.Points) < fewestPoints || len(high.Points) < fewestPoints {
		return nil
	}
	if low.Fit, high.Fit = fit(s.Points(low.Points)), fit(s.Points(high.Points)); low.Fit == nil || high.Fit == nil {
		return nil
	}
	return slices.Replace(slices.Clone(parts), i, i+1, low, high)
}

// coordinates returns the different coordinates of points, ascending.
func coordinates(points []int, at [][]float64, d int) (values []float64) {
	for _, i := range points {
		values = append(values, at[i][d])
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func (p *Part) divide(at [][]float64, d int, cut float64) (low, high Part) {
	low, high = Part{Lo: slices.Clone(p.Lo), Hi: slices.Clone(p.Hi)}, Part{Lo: slices.Clone(p.Lo), Hi: slices.Clone(p.Hi)}
	low.Hi[d], high.Lo[d] = cut, cut
	for _, i := range p.Points {
		if at[i][d] <= cut {
			low.Points = append(low.Points, i)
		} else {
			high.Points = append(high.Points, i)
		}
	}
	return low, high
}
