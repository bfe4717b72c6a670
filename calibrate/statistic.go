package calibrate

import (
	"fmt"
	"math"
	"slices"
)

// Statistic is what stands for the timings of a size. It is the same for all operations,
// since overheads are subtracted from the times of ping-pongs.
type Statistic string

// The statistics. What disturbs a timing makes it longer, often many times: the mean is moved by
// each such one, the median, which is of the others, not at all, unless they are half of a size.
const (
	Median Statistic = "median"
	Mean   Statistic = "mean"
	Min    Statistic = "min"
)

// check reports what is wrong with a statistic, of which trim is left out on both sides.
func (s Statistic) check(trim float64) error {
	switch {
	case !slices.Contains([]Statistic{Median, Mean, Min}, s):
		return fmt.Errorf("statistic %q, want median, mean or min", s)
	case !(trim >= 0 && trim < 0.5):
		return fmt.Errorf("trim %g, want at least 0 and less than 0.5", trim)
	case trim > 0 && s != Mean:
		return fmt.Errorf("trim %g of the %s: only a mean is trimmed", trim, s)
	}
	return nil
}

// of returns the statistic of sorted times, of which there is one at least, its standard error, and how many of
// them it is of. That of a minimum is how far the next one is off: for an exponential tail it is that in the mean. Of
// one time there is none, 0.
func (s Statistic) of(sorted []float64, trim float64) (value, deviation float64, number int) {
	switch s {
	case Median:
		sorted = withoutStrays(sorted)
		return median(sorted), medianError(sorted), len(sorted)
	case Min:
		return sorted[0], sorted[min(1, len(sorted)-1)] - sorted[0], len(sorted)
	}
	var m moments
	for _, x := range trimmed(sorted, trim) {
		m.add(x)
	}
	if m.n > 1 {
		deviation = m.sd() / math.Sqrt(float64(m.n))
	}
	return m.mean, deviation, int(m.n)
}

// trimmed returns the times without a part of them, rounded up, on both sides; what is in
// the middle remains.
func trimmed(sorted []float64, part float64) []float64 {
	n := len(sorted)
	out := min(int(math.Ceil(part*float64(n)-1e-9)), (n-1)/2) // 0.07 of 100 are 7, not 7.000000000000001
	return sorted[out : n-out]
}

func median(sorted []float64) float64 { return quantile(sorted, 0.5) }

// farOff is how many times longer or shorter than the median of its size a timing is that
// a report warns of. Noise of messages is not that large, but a first call may be.
const farOff = 10

// strays returns the number of sorted times that are far off their median.
func strays(sorted []float64) int { return len(sorted) - len(withoutStrays(sorted)) }

// withoutStrays returns those of sorted times that are not far off their median, of an even
// number the lower one: what disturbs makes longer.
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

// spikeWindow is how many points on each side tell whether one is far off.
const spikeWindow = 4

// spikes returns the indices of points that are far off the median of those around them, as many
// on each side, or, of the first and the last, off what the one beside them allows for, at the same time for each
// message or for each byte. They are outliers that were timed too seldom for a median. A step of the
// times is none: a point on one side of it is among more of that side.
func spikes(x, y []float64) (list []int) {
	last := len(y) - 1
	for i := range y {
		var least, most float64
		switch half := min(spikeWindow, i, last-i); {
		case last == 0:
			return nil
		case i == 0:
			least, most = y[1]*x[0]/x[1], y[1]
		case i == last:
			least, most = y[i-1], y[i-1]*x[i]/x[i-1]
		default:
			least = median(slices.Sorted(slices.Values(y[i-half : i+half+1])))
			most = least
		}
		if y[i] >= farOff*most || y[i] <= least/farOff {
			list = append(list, i)
		}
	}
	return list
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
