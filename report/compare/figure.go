package compare

import (
	"math"

	"reprise/replay/sampling"
)

// Figure is a number with how sure it is.
type Figure struct {
	mean     float64
	variance float64 // of the mean; 0: it is exact
	freedom  float64 // of the variance; +Inf: it is known
	// values are those of the seeds. each is the variance of mean for a variance of one of
	// them: 1/n of a mean, 1+1/n of the next run.
	// further is what the variance has beyond that.
	values  []float64
	each    float64
	further float64
	// unsure: how sure the number is, is not known, as of one draw of noise.
	unsure bool
}

// ExactFigure is a number without any doubt.
func ExactFigure(value float64) Figure { return Figure{mean: value, freedom: math.Inf(1)} }

// EstimatedFigure is the figure of an estimate whose interval of 95 % has a half-width.
func EstimatedFigure(value, interval float64) Figure {
	deviation := interval / sampling.Student(math.Inf(1), 0.025)
	return Figure{mean: value, variance: deviation * deviation, freedom: math.Inf(1)}
}

// MeanFigure is the mean of at least two seeds.
func MeanFigure(values []float64) Figure {
	mean, variance := moments(values)
	n := float64(len(values))
	return Figure{mean: mean, variance: variance / n, freedom: n - 1, values: values, each: 1 / n}
}

// nextOf is that of one more run on a machine that is drawn as those of the values are, where
// each has a further variance that they do not show.
func nextOf(values []float64, further float64) Figure {
	mean, variance := moments(values)
	n := float64(len(values))
	each := 1 + 1/n
	return Figure{mean: mean, variance: (variance + further) * each, freedom: n - 1, values: values, each: each, further: further * each}
}

// moments returns the mean and the variance (by n-1) of at least two values.
func moments(values []float64) (mean, variance float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		variance += float64((v-mean)*(v-mean)) / (n - 1)
	}
	return mean, variance
}

// covariance is that of values which belong together one by one, by n-1.
func covariance(a, b []float64) float64 {
	meanA, _ := moments(a)
	meanB, _ := moments(b)
	sum := 0.0
	for i := range a {
		sum += float64((a[i]-meanA)*(b[i]-meanB)) / float64(len(a)-1)
	}
	return sum
}

// OneDraw is one value with noise, of which nothing else is known.
func OneDraw(value float64) Figure {
	return Figure{mean: value, freedom: math.Inf(1), unsure: true}
}

// Value is the number.
func (f Figure) Value() float64 { return f.mean }

// Interval is the half-width of the interval of 95 %; +Inf where it is not known how sure the
// number is.
func (f Figure) Interval() float64 {
	switch {
	case f.unsure:
		return math.Inf(1)
	case f.variance == 0:
		return 0
	}
	return sampling.Student(f.freedom, 0.025) * math.Sqrt(f.variance)
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
		a, b := pairs[i].A, pairs[i].B
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
func (f Figure) times(factor float64) Figure {
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
