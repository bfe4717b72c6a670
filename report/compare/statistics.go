package compare

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// This file compares two figures (tester.compare) and judges many pairs of them (Many).

// Figure is a number that results tell, with how sure it is.
type Figure struct {
	mean     float64
	variance float64 // of the mean; 0: it is exact
	freedom  float64 // of the variance; +Inf: it is known
	// values are those of the seeds. each is the variance of mean for a variance of one of them: 1/n of a mean,
	// 1+1/n of the next run. further is the part of variance beyond that.
	values  []float64
	each    float64
	further float64
	// unsure: nothing is known of the variance, as of one draw of noise.
	unsure bool
}

// ExactFigure is a number without any doubt.
func ExactFigure(value float64) Figure { return Figure{mean: value, freedom: math.Inf(1)} }

// EstimatedFigure is an estimate whose interval of 95 % has a half-width.
func EstimatedFigure(value, interval float64) Figure {
	deviation := interval / quantile(0.025, math.Inf(1))
	return Figure{mean: value, variance: deviation * deviation, freedom: math.Inf(1)}
}

// MeanFigure is the mean of at least two values with noise, as of seeds.
func MeanFigure(values []float64) Figure {
	mean, variance := moments(values)
	n := float64(len(values))
	return Figure{mean: mean, variance: variance / n, freedom: n - 1, values: values, each: 1 / n}
}

// OneDraw is one value with noise, of which nothing else is known.
func OneDraw(value float64) Figure { return Figure{mean: value, freedom: math.Inf(1), unsure: true} }

// nextOf is that of one more run on a machine that is drawn as those of the values are, where
// each has a further variance that they do not show.
func nextOf(values []float64, further float64) Figure {
	mean, variance := moments(values)
	n := float64(len(values))
	each := 1 + 1/n
	return Figure{mean: mean, variance: (variance + further) * each, freedom: n - 1, values: values, each: each,
		further: further * each}
}

// Value is the number.
func (f Figure) Value() float64 { return f.mean }

// Interval is the half-width of the interval of 95 %; +Inf where nothing is known of it.
func (f Figure) Interval() float64 {
	switch {
	case f.unsure:
		return math.Inf(1)
	case f.variance == 0:
		return 0
	}
	return quantile(0.025, f.freedom) * math.Sqrt(f.variance)
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

// pair is a figure of two results. Its difference is that of B from A. Three cases are told apart before any test: a
// figure of which nothing is known (unsure), figures without any variance (exact), and the others, which are tested by
// Student's t or by arrangements.
type pair struct {
	a, b       Figure
	covariance float64 // of the means; 0: they have nothing in common
	variance   float64 // of the difference
	freedom    float64 // of the difference
	paired     bool    // the values belong together one by one
	least      float64 // a smaller difference is none: sums are rounded
	// arrangements, if there are any, test the values in place of Student's t.
	arrangements arrangements
}

// newPair pairs two figures. Paired ones have values of the same seeds in the same order.
func newPair(a, b Figure, paired bool) pair {
	p := pair{a: a, b: b, paired: paired, least: rounding * max(a.mean, b.mean)}
	if !paired {
		// The degrees of freedom by Welch and Satterthwaite: those of a or b at least.
		p.variance, p.freedom = a.variance+b.variance, math.Inf(1)
		parts := float64(a.variance/a.freedom*a.variance) + float64(b.variance/b.freedom*b.variance)
		if parts != 0 {
			p.freedom = max(1, p.variance*p.variance/parts)
		}
		return p
	}
	// The variance is that of the differences: as a sum of variances and the covariance, the rounding of the part
	// that values have in common would be left in it.
	n := len(a.values)
	meanA, _ := moments(a.values)
	meanB, _ := moments(b.values)
	sum, differences := 0.0, make([]float64, n)
	for i := range n {
		sum += float64((a.values[i]-meanA)*(b.values[i]-meanB)) / float64(n-1)
		differences[i] = b.values[i] - a.values[i]
	}
	_, variance := moments(differences)
	p.covariance, p.freedom = sum*a.each, a.freedom
	p.variance = variance*a.each + a.further + b.further
	return p
}

// known reports whether the variance of the difference is known.
func (p *pair) known() bool { return !p.a.unsure && !p.b.unsure }

// exact reports whether the difference is a number without any doubt: its deviation is within the rounding of sums.
func (p *pair) exact() bool { return p.known() && math.Sqrt(p.variance) <= p.least }

// rounding bounds the relative error of sums.
const rounding = 1e-12

// equal reports whether there is no difference but for rounding.
func (p *pair) equal() bool { return math.Abs(p.b.mean-p.a.mean) <= p.least }

// pValue returns the probability of a difference at least as large as this one, to either side, if there is none.
func (p *pair) pValue() float64 {
	if p.arrangements != nil {
		return min(1, 2*min(p.rearranged(identity, true), p.rearranged(identity, false)))
	}
	t := math.Abs(p.b.mean-p.a.mean) / math.Sqrt(p.variance)
	return 2 * upperTail(t, p.freedom)
}

// difference returns the limits of mean(B) - mean(A), each of which is passed with the probability tail.
func (p *pair) difference(tail float64) (Interval, bool) {
	d := p.b.mean - p.a.mean
	half := float64(quantile(tail, p.freedom) * math.Sqrt(p.variance))
	if p.arrangements != nil {
		return p.invert(func(x float64) change { return change{1, x} }, d, 4*half, tail)
	}
	return Interval{d - half, d + half}, true
}

// ratio returns such limits of mean(B)/mean(A); there are none if mean(A) may as well be 0.
// They are those k for which B - kA is not told from 0 (Fieller).
func (p *pair) ratio(tail float64) (Interval, bool) {
	t := quantile(tail, p.freedom)
	a, b := p.a.mean, p.b.mean
	va, vb, c := float64(t*t*p.a.variance), float64(t*t*p.b.variance), float64(t*t*p.covariance)
	square, middle := float64(a*a)-va, float64(a*b)-c
	if square <= 0 {
		return Interval{}, false
	}
	// The root of middle^2 - square*(b^2-vb), without what cancels.
	root := math.Sqrt(max(0, float64(a*a*vb)+float64(b*b*va)-float64(2*a*b*c)-float64(va*vb)+float64(c*c)))
	limits := Interval{(middle - root) / square, (middle + root) / square}
	if p.arrangements != nil {
		return p.invert(func(x float64) change { return change{factor: x} }, b/a, 4*(limits.High-limits.Low), tail)
	}
	return limits, true
}

// upperTail returns the probability that Student's t with so many degrees of freedom (more
// than 0; +Inf: the normal distribution) is at least t. Source: Abramowitz and Stegun, 26.7.1
// and 6.5.17: both distributions by incomplete functions.
func upperTail(t, freedom float64) float64 {
	half := 0.0 // beyond |t|
	switch square := float64(t * t); {
	case math.IsInf(square, 1):
	case math.IsInf(freedom, 1):
		half = mathext.GammaIncRegComp(0.5, square/2) / 2
	default:
		half = mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+square)) / 2
	}
	if t < 0 {
		return 1 - half
	}
	return half
}

// quantile returns the value that Student's t exceeds with a probability of at most a half. Source: Abramowitz and
// Stegun, 26.7.1, inverted.
func quantile(tail, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return mathext.NormalQuantile(1 - tail)
	}
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 2*tail)
	return math.Sqrt(freedom * (1 - x) / x)
}

// tester tests differences of the same two results.
type tester struct {
	paired       bool
	arrangements arrangements
	makespan     float64 // the longer one: times of parts may be off by its rounding
	told         func()  // called after each figure; nil: nobody asks
}

// pair pairs two figures of the results, by the test of the tester.
func (t *tester) pair(a, b Figure) *pair {
	p := newPair(a, b, t.paired)
	p.arrangements, p.least = t.arrangements, max(p.least, rounding*t.makespan)
	return &p
}

// Verdict says what is known of a difference.
type Verdict string

// Verdicts.
const (
	Equal   Verdict = "equal"
	More    Verdict = "more" // B is more than A: without noise, or by a test at 5 %
	Less    Verdict = "less"
	Unclear Verdict = "unclear" // they differ by no more than noise may
)

// Interval is that of a difference, or of a relative one.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Difference is that of a figure from A, the base, to B. Intervals and probabilities are nil
// where nothing scatters, and where it is not known how much.
type Difference struct {
	Name       string    `json:"name"`
	A          float64   `json:"a"`
	B          float64   `json:"b"`
	Difference float64   `json:"difference"` // B - A
	Interval   *Interval `json:"interval,omitempty"`
	// Relative is B/A - 1, nil where A is 0.
	Relative         *float64  `json:"relative,omitempty"`
	RelativeInterval *Interval `json:"relative_interval,omitempty"`
	// AtLeast, of the makespan, is what Relative is above with 95 % confidence: one limit, to be
	// held against a threshold.
	AtLeast *float64 `json:"relative_at_least,omitempty"`
	P       *float64 `json:"p,omitempty"`
	Holm    *float64 `json:"p_holm,omitempty"` // of parts: P corrected for their number
	Verdict Verdict  `json:"verdict"`
}

// compare compares a figure of A with that of B. Intervals have 2.5 % on either side, so that they and the verdict,
// which is two-sided, agree but for the rounding of permutations.
func (t *tester) compare(name string, a, b Figure) Difference {
	if t.told != nil {
		defer t.told()
	}
	p := t.pair(a, b)
	d := Difference{Name: name, A: a.mean, B: b.mean, Difference: b.mean - a.mean}
	if a.mean > 0 {
		d.Relative = new(b.mean/a.mean - 1)
	}
	switch {
	case p.exact() && p.equal():
		d.Verdict = Equal
	case p.exact():
		d.judge(0)
	case !p.known():
		d.Verdict = Unclear
	default:
		if i, ok := p.difference(significance / 2); ok {
			d.Interval = &i
		}
		if i, ok := p.ratio(significance / 2); ok {
			d.RelativeInterval = &Interval{i.Low - 1, i.High - 1}
		}
		probability := p.pValue()
		d.P = &probability
		d.judge(probability)
	}
	return d
}

// judge says what follows from the probability that a difference is none.
func (d *Difference) judge(p float64) {
	switch {
	case p > significance:
		d.Verdict = Unclear
	case d.Difference > 0:
		d.Verdict = More
	default:
		d.Verdict = Less
	}
}

// atLeast returns what the relative slowdown is above with 95 % confidence; nil where A takes no time, or may.
func (t *tester) atLeast(a, b Figure) *float64 {
	p := t.pair(a, b)
	if a.mean <= 0 {
		return nil
	}
	limit := b.mean/a.mean - 1
	switch {
	case !p.known(), p.exact() && !p.equal():
	case p.exact():
		limit = 0
	default:
		i, ok := p.ratio(significance)
		if !ok {
			return nil
		}
		limit = i.Low - 1
	}
	return &limit
}

// correct corrects the probabilities of parts for their number, and judges them again. Exact and unknown ones have
// none.
func correct(parts []*Difference) {
	var tested []*Difference
	var p []float64
	for _, d := range parts {
		if d.P != nil {
			tested, p = append(tested, d), append(p, *d.P)
		}
	}
	for i, adjusted := range holm(p) {
		tested[i].Holm = &adjusted
		tested[i].judge(adjusted)
	}
}

// holm returns the p-values of several tests, corrected for their number: where the one of a test
// is at most 5 %, so is the probability that any test which says so is wrong.
func holm(p []float64) []float64 {
	// From the least on: the k-th of n counts n-k times, and none less than the one before it.
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted, largest := make([]float64, len(p)), 0.0
	for k, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(p)-k)))
		adjusted[i] = largest
	}
	return adjusted
}

// Pair is a figure of A, the base, and of B, under a name.
type Pair struct {
	Name string
	A, B Figure
	// Paired: the values of both belong together one by one, as those of the same seeds.
	Paired bool
}

// Judged is what is known of a pair among many: whether it differs at all, and whether by more than a threshold.
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
		// Worse is a test of its own, one-sided, against A with the threshold on top.
		limit := newPair(a.times(1+threshold), b, pairs[i].Paired)
		switch {
		case !limit.known():
		case limit.exact():
			list[i].Worse = b.mean > a.mean && b.mean-limit.a.mean > limit.least
		default:
			// The probability that B is as far above the limit as it is, or further, if it is on the limit.
			above := limit.pValue() / 2
			if limit.b.mean <= limit.a.mean {
				above = 1 - above
			}
			noisy, p = append(noisy, i), append(p, above)
		}
	}
	correct(differences)
	for k, adjusted := range holm(p) {
		list[noisy[k]].Worse = adjusted <= significance
	}
	return list
}

// times is a Figure of so many times the value.
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
