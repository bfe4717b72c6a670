package extrapolate

import (
	"math"

	"reprise/trace"
)

// This file says how computations follow from the size (family.fitGaps).

// fitGaps fits the computation before a place: its mean over the ranks, as a constant or the monomial of the extents
// with the least error. This is how much the smaller recordings differ from what the fit says of them, at most.
func (f *family) fitGaps(l *leaf) {
	var means, spreads []float64
	var grids []grid
	for of, r := range f.list {
		n, sum, squares, variance := 0.0, 0.0, 0.0, 0.0
		for rank, at := range l.at[of] {
			for _, event := range at {
				g := r.gaps[r.streams[rank].gaps[event]]
				n++
				sum += g.mean
				squares += float64(g.mean * g.mean)
				variance += float64(g.spread * g.spread)
			}
		}
		if n == 0 {
			continue
		}
		mean := sum / n
		grids, means = append(grids, r.grid), append(means, mean)
		spreads = append(spreads, math.Sqrt(math.Max(0, (variance+squares)/n-float64(mean*mean))))
	}
	if len(means) == 0 || means[len(means)-1] == 0 {
		l.compute = func(grid) gap { return gap{} }
		return
	}
	// The last recording is the nearest to what is wanted: the fit goes through it, and the others choose the power.
	last := len(means) - 1
	worst := func(m monomial) float64 {
		e := 0.0
		for i := range last {
			if means[i] > 0 {
				r := means[last] / means[i] * m.ratio(grids[i], grids[last])
				e = math.Max(e, math.Max(r, 1/r)-1)
			} else {
				e = math.Inf(1)
			}
		}
		return e
	}
	best, least := monomial{}, worst(monomial{})
	for _, m := range f.monomials {
		if e := worst(m); e < 0.8*least { // clearly better than a simpler one
			best, least = m, e
		}
	}
	f.weigh(means[last], least)
	l.compute = func(g grid) gap {
		mean := math.Round(means[last] * best.ratio(g, grids[last]))
		spread := spreads[last] / means[last]
		if !math.IsInf(least, 0) { // a replay with noise has the error of the fit, too
			spread = math.Sqrt(float64(spread*spread) + float64(least*least))
		}
		return gap{mean, math.Round(mean * spread)}
	}
}

// weigh notes the error of a fit, weighted by the time.
func (f *family) weigh(mean, e float64) {
	if !math.IsInf(e, 0) {
		f.computed += mean
		f.missed += float64(mean * e)
	}
}

// pause adds the computation before an action.
func (o *output) pause(s *shape, items *[]trace.Item, l *leaf) {
	c := l.compute(o.g)
	if c.mean <= 0 {
		return
	}
	it := trace.Item{Op: trace.OpFlops, Args: []trace.Operand{trace.Const(trace.FloatArg(c.mean))}}
	if c.spread >= 1 {
		it.Args = append(it.Args, trace.Const(trace.FloatArg(c.spread)))
	}
	*items = append(*items, it)
}
