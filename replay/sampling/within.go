package sampling

import (
	"math"
	"slices"
)

// This file derives from the steps inside the windows what the means of windows do not show: noise, what is left of the
// cold start, and outliers (sampler.within), and how windows scatter (commonScatter). estimate.go uses it.

// within has the statistics of the steps inside the windows. Deviations are from the mean of the window, with the trend
// taken off, relative to that mean.
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
			d := (w.Cost(k) - p.expected(k, k+1) - residual) / mean
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

// bias returns the relative error of the mean cost of a window that the cold start may still cause. If the pilots saw
// the cold start forgotten, its effect at least halves with each step. Else an effect that is not seen is taken to be
// as large in the first step that counts as the mean deviation there or its standard error, and to halve with each
// step. An effect that is seen, as no warm-up was long enough, may be as large in all steps.
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

// pattern is the relative deviation of the costs of a run from those of its windows, if it polls and does not forget
// the cold start. Such a run settles into one of several patterns of which rank waits for which, and may be in another
// pattern than all its windows, however long their warm-up: a sum in another order is enough to move it by some tenths
// of a percent (docs/validation.md).
const pattern = 1.5e-3

// patterns returns the seconds by which the run may differ from its windows for that reason.
func (s *sampler) patterns(p *fit) float64 {
	if s.shape.coupled || !s.o.Scatters {
		return 0
	}
	return pattern * p.seconds
}

// scatter is the variance of a window's mean cost, relative to the square of its scale, that is common to all windows:
// by scatter, not by changes in the run.
type scatter struct {
	variance         float64
	degreesOfFreedom float64 // degrees of freedom of the variance
}

const (
	// shared is what is left of the degrees of freedom of differences of neighbouring
	// windows, as each window but the first and the last is in two of them.
	shared = 2. / 3
	// trimmed is what is left where the largest sixth of the squares is left out.
	trimmed = 0.65
	// alike is how many times the variance between windows that inside of them may be if
	// both are the same. In one of twenty cases it is more: the 95 % quantile of F with 11
	// and 7.4 degrees of freedom, those of a first round of 16.
	alike = 3.6
	// changes is how many times more than that the square of a difference must be, three times over, to
	// be that of a change.
	changes = 4
)

// pair is two windows that are compared.
type pair struct {
	square float64 // of their difference, as the variance of one of them relative to the square of the scale
	scale  float64 // seconds
	change float64 // the part of square that is a change of costs
}

// commonScatter returns the scatter by the differences between windows, and by those between
// the halves of windows.
func commonScatter(pairs []pair, halves []float64) scatter {
	between := make([]float64, len(pairs))
	for i, c := range pairs {
		between[i] = c.square
	}
	n := scatter{trimmedMean(between) / trimmedMeanChi2, float64(shared * trimmed * float64(len(between)))}

	// The mean of the squares, that of costlier steps counting more, but for those across a change: more than the
	// smaller of them tell if few windows have rare dear steps. How uncertain it is depends on how few.
	limit := alike * n.variance
	var weight, sum, squares float64
	for _, c := range pairs {
		if c.change > changes*limit {
			continue
		}
		v := float64(c.scale * c.square)
		weight, sum, squares = weight+c.scale, sum+v, squares+float64(v*v)
	}
	if squares > 0 && sum/weight > limit {
		return scatter{sum / weight, 2 * shared * sum * sum / squares}
	}

	// Halves are more than the windows. But they are not independent where a period of the run fits into a window,
	// whose halves then differ more than windows do; then they tell nothing, and neither do they where windows
	// differ more than their halves.
	if len(halves) == 0 {
		return n
	}
	h := scatter{trimmedMean(halves) / trimmedMeanChi2, float64(trimmed * float64(len(halves)))}
	if h.variance < n.variance || h.variance > limit {
		return n
	}
	all := n.degreesOfFreedom + h.degreesOfFreedom
	return scatter{(float64(n.variance*n.degreesOfFreedom) + float64(h.variance*h.degreesOfFreedom)) / all, all}
}

// halves returns the square of the difference between the first and the last steps of each
// window that stand for others, relative to its scale, and brought to the variance of the
// mean of a window of the given length.
func (p *fit) halves(windows []Window, length float64) []float64 {
	var squares []float64
	for i := range windows {
		w := &windows[i]
		h := (w.refTo - w.refFrom) / 2
		if h == 0 {
			continue
		}
		d := (p.excess(w, w.refFrom, w.refFrom+h) - p.excess(w, w.refTo-h, w.refTo)) / p.scale(w.mean(w.refFrom, w.refTo))
		squares = append(squares, d*d*float64(h)/2/length)
	}
	return squares
}

// trimmedMeanChi2 is the mean of the lower five sixths of chi-squared with one degree of
// freedom, the distribution of half the square of a difference over the variance:
// 1 - 2*z*phi(z)/(5/6), where z = 1.383 is exceeded by |z| in one of six cases.
const trimmedMeanChi2 = 0.491

// trimmedMean returns the mean of the lower five sixths of a.
func trimmedMean(a []float64) float64 {
	b := slices.Sorted(slices.Values(a))
	b = b[:len(b)-len(b)/6]
	sum := 0.0
	for _, v := range b {
		sum += v
	}
	return sum / float64(len(b))
}
