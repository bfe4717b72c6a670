package extrapolate

import (
	"math"

	"reprise/trace"
)

// This file says how computations follow from the size (family.fitGaps), and numbers without a rule (family.mean).

// fitGaps fits the computation before a place: its mean over the ranks, as the monomial of the extents with the least
// error, or that of the scaling. The error is how much the smaller recordings differ from what the fit says of them, at
// most.
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
	last := len(means) - 1
	r := f.list[len(f.list)-1]
	for rank, at := range l.at[len(f.list)-1] {
		for _, event := range at {
			f.load[rank].own += r.gaps[r.streams[rank].gaps[event]].mean
			f.load[rank].mean += means[last]
		}
	}
	among := append([]monomial{{}}, f.monomials...)
	switch f.scaling {
	case Weak:
		among = among[:1]
	case Strong:
		for k := range grids[last] {
			among[0][k] = -1
		}
		among = among[:1]
	}
	fn, e := scaled(grids, means, among)
	f.weigh(means[last], e)
	l.compute = func(g grid) gap {
		mean := math.Round(fn(g))
		spread := spreads[last] / means[last]
		if !math.IsInf(e, 0) { // a replay with noise has the error of the fit, too
			spread = math.Sqrt(float64(spread*spread) + float64(e*e))
		}
		return gap{mean, math.Round(mean * spread)}
	}
}

// scaled returns the last of some means, that of the recording nearest to what is wanted, times the monomial that the
// others follow best, and by how much they differ from it at most.
func scaled(grids []grid, means []float64, among []monomial) (fn func(g grid) float64, e float64) {
	last := len(means) - 1
	var best monomial
	e = math.Inf(1)
	for _, m := range among {
		worst := 0.0
		for i := range last {
			r := means[last] / means[i] * m.ratio(grids[i], grids[last])
			worst = math.Max(worst, math.Max(r, 1/r)-1)
		}
		if worst < 0.8*e { // clearly better than a simpler one
			best, e = m, worst
		}
	}
	return func(g grid) float64 { return means[last] * best.ratio(g, grids[last]) }, e
}

// mean returns a value near numbers that no rule gives, the same for all ranks: their mean, scaled. It warns of the
// range.
func (f *family) mean(what string, data [][][]int64) value {
	var grids []grid
	var means []float64
	var low, high int64
	for of, r := range f.list {
		sum, n := 0.0, 0.0
		low, high = math.MaxInt64, math.MinInt64
		for _, list := range data[of] {
			for _, v := range list {
				sum, n = sum+float64(v), n+1
				low, high = min(low, v), max(high, v)
			}
		}
		if n > 0 {
			grids, means = append(grids, r.grid), append(means, sum/n)
		}
	}
	last := len(means) - 1
	fn, _ := scaled(grids, means, append([]monomial{{}}, f.all...))
	f.warn("%s: by the mean, %.6g on %v ranks, where numbers are %d to %d", what, means[last], grids[last].ranks(), low, high)
	return func(g grid, _ int, _ []int) (int64, bool) { return int64(math.Round(fn(g))), true }
}

// weigh notes the error of a fit, weighted by the time.
func (f *family) weigh(mean, e float64) {
	if !math.IsInf(e, 0) {
		f.computed += mean
		f.missed += float64(mean * e)
	}
}

// load is the computation of a rank of the largest recording, and that of the mean rank in the same places.
type load struct{ own, mean float64 }

// factors returns by how much longer than the mean each rank computes: as the rank of the largest recording at its place
// in the grid, at an end or in proportion inside. Factors are of classes, as each has blocks of its own.
func (o *output) factors() []float64 {
	from := o.list[len(o.list)-1].grid
	list := make([]float64, o.g.ranks())
	for rank := range list {
		at := o.g.place(rank)
		for k, n := range o.g {
			// An end has another load than what is beside it, so that only ends are at ends, where there is an inside.
			first, last := 0, from[k]-1
			if last > 1 && at[k] > 0 && at[k] < n-1 {
				first, last = 1, last-1
			}
			at[k] = first + int(math.Round(float64((at[k]-first)*(last-first))/float64(max(1, n-1-2*first))))
		}
		factor := 1.0
		if l := o.load[from.rank(at)]; l.own > 0 && l.mean > 0 {
			factor = l.own / l.mean
		}
		list[rank] = math.Max(1, math.Round(factor*classes)) / classes
	}
	return list
}

// classes is the number of classes of factors up to 1.
const classes = 50

// pause adds the computation before an action. All ranks of a shape have one factor.
func (o *output) pause(s *shape, items *[]trace.Item, l *leaf) {
	c := l.compute(o.g)
	c.mean = math.Round(c.mean * o.factor[s.ranks[0]])
	if c.mean <= 0 {
		return
	}
	it := trace.Item{Op: trace.OpFlops, Args: []trace.Operand{trace.Const(trace.FloatArg(c.mean))}}
	if c.spread >= 1 {
		it.Args = append(it.Args, trace.Const(trace.FloatArg(c.spread)))
	}
	*items = append(*items, it)
}
