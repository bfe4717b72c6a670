package compare

import "math"

// pair is a figure of two results.
type pair struct {
	a, b       figure
	covariance float64 // of the means; 0: they have nothing in common
	variance   float64 // of the difference
	freedom    float64 // of the difference
	paired     bool    // the values belong together one by one
	least      float64 // what is smaller is no difference: sums are rounded
	// arrangements, if there are any, test the values in place of Student's t.
	arrangements arrangements
}

// newPair pairs two figures.
func newPair(a, b figure, paired bool) pair {
	p := pair{a: a, b: b, freedom: a.freedom, paired: paired, least: rounding * max(a.mean, b.mean)}
	if paired {
		p.covariance = covariance(a.values, b.values) * a.each
		p.variance = differing(a.values, b.values)*a.each + a.further + b.further
	} else {
		p.variance = a.variance + b.variance
		p.freedom = welchFreedom(&a, &b)
	}
	return p
}

// differing is the variance, by n-1, of the differences of values that belong together: as sums of
// variances what they have in common would leave its rounding.
func differing(a, b []float64) float64 {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = b[i] - a[i]
	}
	_, variance := moments(differences)
	return variance
}

// welchFreedom is the number of degrees of freedom by Welch and Satterthwaite.
func welchFreedom(a, b *figure) float64 {
	sum := a.variance + b.variance
	parts := float64(a.variance/a.freedom*a.variance) + float64(b.variance/b.freedom*b.variance)
	if parts == 0 {
		return math.Inf(1)
	}
	return max(1, sum*sum/parts) // it is that of a or b at least
}

// known reports whether it is known how sure the difference is.
func (p *pair) known() bool { return !p.a.unsure && !p.b.unsure }

// exact reports whether the difference is a number without any doubt.
func (p *pair) exact() bool {
	return p.known() && math.Sqrt(p.variance) <= p.least
}

// rounding is what sums may be off by, relatively.
const rounding = 1e-12

// equal reports whether there is no difference but for rounding.
func (p *pair) equal() bool {
	return math.Abs(p.b.mean-p.a.mean) <= p.least
}

// pValue returns the probability of a difference at least as large as this one, to either side,
// if there is none.
func (p *pair) pValue() float64 {
	if p.arrangements != nil {
		return min(1, 2*min(p.rearranged(identity, true), p.rearranged(identity, false)))
	}
	t := math.Abs(p.b.mean-p.a.mean) / math.Sqrt(p.variance)
	return 2 * upperTail(t, p.freedom)
}

// difference returns the limits of mean(B) - mean(A), each of which is passed with the
// probability tail.
func (p *pair) difference(tail float64) (Interval, bool) {
	d := p.b.mean - p.a.mean
	half := float64(quantile(tail, p.freedom) * math.Sqrt(p.variance))
	if p.arrangements != nil {
		return p.invert(shifted, d, 4*half, tail)
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
		return p.invert(scaled, b/a, 4*(limits.High-limits.Low), tail)
	}
	return limits, true
}
