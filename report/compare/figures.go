package compare

import "math"

// Figure is a number with how sure it is, for those who compare other things than results of
// replays by the same tests.
type Figure struct{ of figure }

// ExactFigure is a number without any doubt.
func ExactFigure(value float64) Figure { return Figure{exact(value)} }

// EstimatedFigure is an estimate whose interval of 95 % has a half-width.
func EstimatedFigure(value, interval float64) Figure { return Figure{estimated(value, interval)} }

// MeanFigure is the mean of at least two values with noise.
func MeanFigure(values []float64) Figure { return Figure{meanOf(values)} }

// OneDraw is one value with noise, of which nothing else is known.
func OneDraw(value float64) Figure {
	return Figure{figure{mean: value, freedom: math.Inf(1), unsure: true}}
}

// Value is the number.
func (f Figure) Value() float64 { return f.of.mean }

// Interval is the half-width of the interval of 95 %; +Inf where it is not known how sure the
// number is.
func (f Figure) Interval() float64 {
	switch {
	case f.of.unsure:
		return math.Inf(1)
	case f.of.variance == 0:
		return 0
	}
	return quantile(0.025, f.of.freedom) * math.Sqrt(f.of.variance)
}

// Pair is a figure of A, the base, and of B, under a name.
type Pair struct {
	Name string
	A, B Figure
	// Paired: the values of both belong together one by one, as those of the same seeds.
	Paired bool
}

// Judged is what is known of a pair among many.
type Judged struct {
	Difference
	Worse bool `json:"worse"` // B is more than A by more than the threshold
}

// Many compares pairs, of times, say, and judges each by its probability corrected for their number:
// where all are alike, the probability that any is called different, or worse, is 5 % at most.
func Many(pairs []Pair, threshold float64) []Judged {
	list, differences := make([]Judged, len(pairs)), make([]*Difference, len(pairs))
	var noisy []int
	var p []float64
	for i := range pairs {
		t := tester{paired: pairs[i].Paired}
		a, b := pairs[i].A.of, pairs[i].B.of
		list[i].Difference = t.compare(pairs[i].Name, a, b)
		differences[i] = &list[i].Difference
		limit := newPair(a.times(1+threshold), b, pairs[i].Paired)
		switch {
		case !limit.known():
		case limit.exact():
			list[i].Worse = b.mean > a.mean && b.mean-limit.a.mean > limit.least
		default:
			noisy, p = append(noisy, i), append(p, limit.above())
		}
	}
	correct(differences)
	for k, adjusted := range holm(p) {
		list[noisy[k]].Worse = adjusted <= significance
	}
	return list
}

// times is so many times a figure.
func (f figure) times(factor float64) figure {
	f.mean *= factor
	f.variance *= float64(factor * factor)
	f.further *= float64(factor * factor)
	values := make([]float64, len(f.values))
	for i, v := range f.values {
		values[i] = v * factor
	}
	f.values = values
	return f
}

// above returns the probability that B is as far above A as it is, or further, if both are alike.
func (p *pair) above() float64 {
	half := p.pValue() / 2
	if p.b.mean > p.a.mean {
		return half
	}
	return 1 - half
}
