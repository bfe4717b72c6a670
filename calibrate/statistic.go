package calibrate

import "math"

// This file sums up timings of one size: by a Statistic, which stands for them in a fit, and by moments.

// Statistic is the number that stands for the timings of a size. It is the same for all
// operations, since overheads are subtracted from the times of ping-pongs.
type Statistic string

// The statistics. A disturbance makes a timing longer, often many times. Each disturbed timing
// moves the mean; the median stays, unless half of the timings of a size are disturbed.
const (
	Median Statistic = "median"
	Mean   Statistic = "mean"
	Min    Statistic = "min"
)

// of returns the statistic of sorted times, at least one; its standard error; and how many of the times it is of. The
// error of a minimum is the distance of the next time, which is right in the mean for an exponential tail; of one time
// it is 0. trim is the part of the times that a mean leaves out on each side.
func (s Statistic) of(sorted []float64, trim float64) (value, deviation float64, number int) {
	switch s {
	case Median:
		sorted = withoutStrays(sorted)
		return median(sorted), medianError(sorted), len(sorted)
	case Min:
		return sorted[0], sorted[min(1, len(sorted)-1)] - sorted[0], len(sorted)
	}
	// A part of the times, rounded up, is left out on both sides; at least the middle remains.
	n := len(sorted)
	out := min(int(math.Ceil(trim*float64(n)-1e-9)), (n-1)/2) // 0.07 of 100 are 7, not 7.000000000000001
	m := momentsOf(sorted[out : n-out])
	if m.n > 1 {
		deviation = m.sd() / math.Sqrt(float64(m.n))
	}
	return m.mean, deviation, int(m.n)
}

// median returns the middle of sorted values, of an even number the mean of both.
func median(sorted []float64) float64 { return quantile(sorted, 0.5) }

// farOff is how many times longer or shorter than the median of its size a timing is
// that a report warns of. Noise of messages is not that large, but a first call may be.
const farOff = 10

// withoutStrays returns those of sorted times that are not far off their median, of an
// even number the lower one, as disturbances make timings longer.
func withoutStrays(sorted []float64) []float64 {
	m := sorted[(len(sorted)-1)/2]
	first, last := 0, len(sorted)
	for sorted[first] <= m/farOff {
		first++
	}
	for sorted[last-1] >= farOff*m {
		last--
	}
	return sorted[first:last]
}

// quantile interpolates between the order statistics of sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

// moments gathers a sample in one pass: its number, mean, and central sums of second
// and third power (Welford's and Terriberry's updates).
type moments struct {
	n      int64
	mean   float64
	m2, m3 float64 // sums of (x-mean)² and (x-mean)³
}

// momentsOf returns the moments of some values.
func momentsOf(values []float64) (m moments) {
	for _, x := range values {
		m.add(x)
	}
	return m
}

func (m *moments) add(x float64) {
	before := float64(m.n)
	m.n++
	n := float64(m.n)
	delta := x - m.mean
	step := delta / n
	term := float64(delta*step) * before
	m.mean += step
	m.m3 += float64(float64(term*step)*(n-2)) - float64(3*step*m.m2)
	m.m2 += term
}

// sd returns the sample's standard deviation, with n-1 degrees of freedom; it needs two values.
func (m *moments) sd() float64 { return math.Sqrt(max(m.m2, 0) / float64(m.n-1)) }

// skewness returns the adjusted Fisher-Pearson coefficient, which has no bias for
// normal samples; it needs three values, not all the same.
func (m *moments) skewness() float64 {
	n := float64(m.n)
	return math.Sqrt(n) * m.m3 / math.Pow(m.m2, 1.5) * math.Sqrt(n*(n-1)) / (n - 2)
}

// skewnessSeen returns the part of the skewness of half-normal noise that the coefficient of n values, at least three,
// has in the mean; all of it for many values. The formula is that of simulations to within 0.02.
func skewnessSeen(n int64) float64 { return 1 - 3.6/(float64(n)+2.2) }
