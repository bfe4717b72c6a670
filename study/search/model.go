package search

import (
	"math"

	"reprise/internal/portable"
)

// This file predicts the times of points that were not measured: model.fit, then model.predict.

// model predicts the times of points from those that were measured: a Gaussian process over the logarithm of the
// time. The logarithm is a constant plus a deviation; the deviations of two points are the more alike the fewer
// factors differ between them, and the less these factors matter:
//
//	covariance = variance * product over factors of exp(-weight * distance)
//
// The distance of two levels is 1 if they differ, of ordered factors how many levels they are apart. Such a model
// holds main effects for larger than interactions of two factors, and these for larger than those of three, as
// effects mostly are (Joseph and Delaney, Technometrics 49, 2007).
type model struct {
	space *Space

	// The measurements, in the order of the points.
	at     []int
	values []float64 // logarithms of times
	noise  []float64 // variances of these

	// The parameters, which fit keeps from one call to the next as a place to begin.
	variance float64
	weights  []float64 // of the factors

	// What predictions need, by likelihood and fit.
	mean   float64
	factor [][]float64 // Cholesky factor of the covariance of the values: lower half, by rows
	solved []float64   // inverse of the covariance times (values - mean)
	spread float64     // by how much deviations are wider than the model predicts
}

const (
	// leastNoise is the variance of an exact time: two replays that differ in what hardly matters
	// differ by some tenth of a percent, since polls fall elsewhere.
	leastNoise = 1e-6

	// Parameters are sought one after the other in factors, first wide ones.
	fitRounds    = 20
	fitPrecision = 1e-3 // of the logarithm of the likelihood
	widestStep   = 4.
	finestStep   = 1.1

	leastWeight, mostWeight     = 1e-5, 3.
	leastVariance, mostVariance = 1e-6, 4.

	// priorWeight is the weight of a factor before anything is measured, to within a factor of e:
	// weights without a prior have no bounds that a few values would set.
	priorWeight = 0.05
)

// fit finds the parameters under which the values are likeliest, and prepares the predictions.
func (m *model) fit() {
	if m.weights == nil {
		m.weights = make([]float64, len(m.space.Factors))
		for i := range m.weights {
			m.weights[i] = priorWeight
		}
		mean, sum := 0.0, 0.0
		for _, v := range m.values {
			mean += v / float64(len(m.values))
		}
		for _, v := range m.values {
			sum += float64((v - mean) * (v - mean))
		}
		m.variance = min(max(2*sum/float64(len(m.values)), leastVariance), mostVariance)
	}
	best := m.likelihood()
	for range fitRounds {
		before := best
		for i := range m.weights {
			best = m.improve(&m.weights[i], best, leastWeight, mostWeight)
		}
		best = m.improve(&m.variance, best, leastVariance, mostVariance)
		if best-before < fitPrecision {
			break
		}
	}
	m.likelihood()

	// Leave one out: the root of the mean square of how far each value is from the prediction by the others, in the
	// deviations that the model gives these predictions. The diagonal of the inverse gives all of them at once.
	n := len(m.at)
	sum := 0.0
	for i := range n {
		unit := make([]float64, n)
		unit[i] = 1
		inverse := 0.0 // an element of the diagonal
		for _, h := range portable.Forward(m.factor, unit) {
			inverse += float64(h * h)
		}
		sum += float64(m.solved[i]*m.solved[i]) / inverse
	}
	m.spread = max(1, math.Sqrt(sum/float64(n)))
}

// improve changes a parameter in smaller and smaller steps as long as the values become likelier,
// and returns the likelihood that it has reached.
func (m *model) improve(p *float64, best, low, high float64) float64 {
	for step := widestStep; step > finestStep; step = math.Sqrt(step) {
		for _, by := range []float64{step, 1 / step} {
			for {
				old := *p
				*p = min(max(old*by, low), high)
				l := m.likelihood()
				if *p == old || l <= best {
					*p = old
					break
				}
				best = l
			}
		}
	}
	return best
}

// covariance is that of the deviations of two points.
func (m *model) covariance(a, b []int) float64 {
	exponent := 0.0
	for f, w := range m.weights {
		d := a[f] - b[f]
		switch {
		case d == 0:
		case m.space.Factors[f].Ordered:
			exponent += float64(w * math.Abs(float64(d)))
		default:
			exponent += w
		}
	}
	return m.variance * math.Exp(-exponent)
}

// likelihood returns the logarithm of the likelihood of the parameters, times their prior, with
// the mean that makes it greatest, and keeps the factor and the solution that predictions need.
// It takes time of the third power of the number of measurements.
func (m *model) likelihood() float64 {
	n := len(m.at)
	m.factor = make([][]float64, n)
	for i := range n {
		m.factor[i] = make([]float64, i+1)
		for j := range i + 1 {
			m.factor[i][j] = m.covariance(m.space.Points[m.at[i]], m.space.Points[m.at[j]])
		}
		m.factor[i][i] += m.noise[i]
	}
	portable.Cholesky(m.factor, leastNoise/2)

	// The mean by generalised least squares: weights are the inverse of the covariance times ones.
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	ones = portable.Backward(m.factor, portable.Forward(m.factor, ones))
	sum, weight := 0.0, 0.0
	for i, v := range m.values {
		sum += float64(v * ones[i])
		weight += ones[i]
	}
	m.mean = sum / weight
	rest := make([]float64, n)
	for i, v := range m.values {
		rest[i] = v - m.mean
	}
	half := portable.Forward(m.factor, rest)
	l := 0.0
	for i := range n {
		l -= float64(half[i]*half[i])/2 + math.Log(m.factor[i][i])
	}
	m.solved = portable.Backward(m.factor, half)
	for _, w := range m.weights {
		d := math.Log(w / priorWeight)
		l -= float64(d*d) / 2
	}
	return l
}

// predict returns the logarithm of the time of a point, with its standard deviation.
func (m *model) predict(point int) (value, deviation float64) {
	x := m.space.Points[point]
	with := make([]float64, len(m.at)) // covariances with the measured points
	value = m.mean
	for i, at := range m.at {
		with[i] = m.covariance(x, m.space.Points[at])
		value += float64(with[i] * m.solved[i])
	}
	variance := m.variance
	for _, h := range portable.Forward(m.factor, with) {
		variance -= float64(h * h)
	}
	return value, m.spread * math.Sqrt(max(variance, 0))
}
