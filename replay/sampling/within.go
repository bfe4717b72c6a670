package sampling

import "math"

// within is what the steps inside the windows show. Deviations are from the mean of
// the window, with the trend taken off, relative to that mean.
type within struct {
	windows  int
	noise    float64 // standard deviation of a step
	first    float64 // mean deviation of the first step that counts
	error    float64 // standard error of first
	drift    float64 // by which the last rank falls behind the mean, per second
	unsure   float64 // standard error of drift
	outliers int
}

// within compares the steps of each window, but the first window, which begins as
// the run does, with their mean.
func (s *sampler) within(p *fit) within {
	in := within{}
	var first, squares, lags, times []float64
	sum, degreesOfFreedom := 0.0, 0
	for i := range s.done[1:] {
		w := &s.done[i+1]
		mean, residual := math.Max(w.mean(w.refFrom, w.refTo), p.floor), p.residual(w)
		for k := w.refFrom; k < w.refTo; k++ {
			d := (w.Cost(k) - p.trend.at(k) - residual) / mean
			if k == w.refFrom {
				first = append(first, d)
			}
			sum += float64(d * d)
			squares = append(squares, d*d)
		}
		degreesOfFreedom += w.refTo - w.refFrom - 1
		lags = append(lags, w.lag(w.refTo)-w.lag(w.refFrom))
		times = append(times, w.start(w.refTo)-w.start(w.refFrom))
	}
	if len(first) < 2 || degreesOfFreedom == 0 {
		return in
	}
	in.windows = len(first)
	in.noise = math.Sqrt(sum / float64(degreesOfFreedom))

	// The mean of the first deviations, and the ratio of the sums of lags and times, with their standard errors.
	n := float64(len(first))
	behind, whole := 0.0, 0.0
	for i, v := range first {
		in.first += v / n
		behind += lags[i]
		whole += times[i]
	}
	for _, v := range first {
		in.error += float64((v - in.first) * (v - in.first))
	}
	in.error = math.Sqrt(in.error / (n - 1) / n)
	if whole != 0 {
		in.drift = behind / whole
		for i := range lags {
			d := lags[i] - float64(in.drift*times[i])
			in.unsure += float64(d * d)
		}
		in.unsure = math.Sqrt(in.unsure*n/(n-1)) / math.Abs(whole)
	}
	usual := math.Sqrt(trimmedMean(squares) / trimmedMeanChi2)
	average := p.seconds / float64(s.o.End-s.o.First)
	for i := range s.done {
		in.outliers += s.done[i].outliers(far*math.Max(usual, leastNoise), average)
	}
	return in
}

const (
	// far is how many times the usual noise an outlier stands out. Of normal noise
	// not one step in a million does.
	far = 8
	// leastNoise is the relative noise below which nothing is far.
	leastNoise = 0.01
)

// outliers counts the steps that cost more than both of their neighbours by the
// given part of the costlier one, and of an average step. Where a run changes for
// good there are none.
func (w *Window) outliers(part, average float64) int {
	n := 0
	for k := max(w.refFrom, w.From+1); k < w.refTo && k+1 < w.To; k++ {
		beside := math.Max(w.Cost(k-1), w.Cost(k+1))
		if w.Cost(k)-beside > part*math.Max(beside, average) {
			n++
		}
	}
	return n
}

// small is a relative bias or drift that may be noise however sure it looks.
const small = 1e-3

// biased reports whether the cold start still shows in the first step that counts.
func (in *within) biased() bool {
	return math.Abs(in.first) > math.Max(small, 3*in.error)
}

// bias returns the relative error of the mean cost of a window that the cold start
// may still cause. It halves with each step at least, if the pilots saw it forgotten.
// Else what is not seen in the first step that counts is taken to be as
// large there as its standard error, or as its mean, and to halve with each step.
// What is seen, because no warm-up was long enough, may be as large in all steps.
func (s *sampler) bias(in *within) (unseen, seen float64) {
	switch {
	case s.shape.coupled:
		return 2 * s.memory / float64(s.shape.length), 0
	case in.windows == 0:
		return 0, 0
	case in.biased():
		return 0, math.Abs(in.first)
	}
	first := math.Max(math.Abs(in.first), in.noise/math.Sqrt(float64(in.windows)))
	return 2 * first / float64(s.shape.length), 0
}

// pattern is the relative deviation of the costs of a run that polls and does not forget from
// those of its windows. Who waits for whom settles into one of several patterns, which then lasts; a run
// may be in another one than all windows, however long their warm-up. So a sum in another
// order is enough to move such a run by some tenths of a percent (docs/validation.md).
const pattern = 1.5e-3

// patterns returns the seconds by which the run may differ from its windows for that reason.
func (s *sampler) patterns(p *fit) float64 {
	if s.shape.coupled || !s.o.Scatters {
		return 0
	}
	return pattern * p.seconds
}
