package sampling

import "slices"

// scatter is the variance of a window's mean cost, relative to the square of its scale, that is common
// to all windows: what scatters, not what changes.
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

// commonScatter returns what the differences between windows tell, relative to their scales, and
// those between the halves of windows.
func commonScatter(gaps []gap, halves []float64) scatter {
	between := make([]float64, len(gaps))
	for i, g := range gaps {
		between[i] = g.jump / (g.scale * g.scale)
	}
	n := scatter{trimmedMean(between) / trimmedMeanChi2, float64(shared * trimmed * float64(len(between)))}

	// The mean of the squares, that of costlier steps counting more, but for those across a change: more than the
	// smaller of them tell if few windows have rare dear steps. How uncertain it is depends on how few.
	limit := alike * n.variance
	var weight, sum, squares float64
	for i, g := range gaps {
		if g.change > changes*limit*g.scale*g.scale {
			continue
		}
		v := float64(g.scale * between[i])
		weight, sum, squares = weight+g.scale, sum+v, squares+float64(v*v)
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
