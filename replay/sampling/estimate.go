package sampling

import (
	"math"
	"slices"

	"reprise/internal/portable"
)

// This file computes an Estimate from the windows that were simulated (sampler.estimate). run.go simulates the windows,
// plan.go chooses them.

// Estimate is the length of a run, estimated from windows of it. It is never exact.
type Estimate struct {
	Seconds  float64 `json:"makespan_s"`
	Interval float64 `json:"interval_s"` // half-width: the exact result is inside in about 95 % of cases
	MeanEnd  float64 `json:"mean_end_s"` // end of the mean rank

	// Parts are how much of its time the mean rank spends on each of StartTimes.Parts. They are
	// estimated as the whole is, so that those which add up to the whole in the windows add up to
	// MeanEnd.
	Parts []Part `json:"-"`

	Steps     int      `json:"steps"`           // of the run
	Simulated int      `json:"simulated_steps"` // with warm-ups, and what served to choose their length
	Warmup    int      `json:"warmup_steps"`
	Coupled   bool     `json:"coupled"`  // the warm-up was seen to lose nearly all memory of the cold start
	Outliers  int      `json:"outliers"` // steps seen that cost far more than those before and after them
	Rounds    int      `json:"rounds"`
	Windows   []Window `json:"windows"` // those that count, in order

	from *sampler // that made it
}

// Of returns the estimate of another run by the same windows, of which measured returns what Measure would: of one of
// several runs whose mean e is of. Its interval is that of the windows of this run alone.
func (e *Estimate) Of(measured func(from, to int) []StartTimes) *Estimate {
	s := *e.from
	s.done, s.pairs = slices.Clone(s.done), slices.Clone(s.pairs)
	for _, list := range [][]Window{s.done, s.pairs} {
		for i := range list {
			list[i].starts = measured(list[i].From, list[i].To)
		}
	}
	if s.repeats {
		s.arrange()
		return s.repeatEstimate()
	}
	of, _ := s.estimate()
	return of
}

// Part is how much of its time the mean rank spends on something, in seconds.
type Part struct {
	Seconds  float64
	Interval float64 // half-width: the exact result is inside in about 95 % of cases
}

// Relative returns the half-width of the interval relative to the estimate.
func (e *Estimate) Relative() float64 {
	if e.Seconds <= 0 {
		return 0
	}
	return e.Interval / e.Seconds
}

// gap is the steps [from, to) between two windows that count.
type gap struct {
	from, to int
	scale    float64 // seconds relative to which its costs scatter, see fit.scale
	jump     float64 // variance of a window's mean cost by the difference of the two windows beside the gap, s^2; see byTurn
	seen     float64 // the same of these two in any case, s^2
	change   float64 // the part of it that the windows next to these two show as well, s^2
	spread   float64 // the variance by its own jump and the other gaps
}

func (g *gap) steps() float64 { return float64(g.to - g.from) }

// stretch is one or more windows without a gap between them.
type stretch struct {
	from, to int
	steps    float64 // number of its steps that stand for those around them
	residual float64 // their mean cost above the trend, seconds
}

// fit is what the windows say about the run.
type fit struct {
	seconds   float64
	weights   []float64 // of the windows
	stretches []stretch
	gaps      []gap
	bridged   float64 // seconds in the gaps
	trend     trend
	floor     float64 // seconds
	meanCost  float64 // of a step, at least the floor, seconds; 0: scatter is relative to the cost
	scatter   scatter
	whole     *fit      // of which this is a part; nil: it is the whole
	cycle     int       // after which turns begin anew that make a difference; 0: none
	ratio     float64   // of the variance that is left to that by turns
	turns     []float64 // how much more than expected steps cost by their place in the cycle, in scales; nil: not known
	patterns  float64   // seconds
}

const (
	// lowest is the floor of costs, relative to the largest cost of a window.
	lowest = 0.05
	// least is the floor of all costs, in seconds. Its square is still a number.
	least = 1e-150
)

// look adds up the run.
func (s *sampler) look() fit {
	s.arrange()
	floor := s.floor(least)
	s.root = !s.shape.coupled
	weights := weightsOf(s.done, floor)
	p := s.add(weights, floor, nil)
	evidence := strong
	if len(s.cycles()) > 0 { // costs on process grids are known to scatter so; the differences may decide
		evidence = 0
	}
	if s.shape.coupled && p.rootIsBetter() > evidence {
		s.root = true
		for i, w := range weights {
			weights[i] = math.Sqrt(w)
		}
		p = s.add(weights, floor, nil)
	}
	return p
}

// strong is twice the logarithm of a likelihood ratio that counts as strong evidence (Kass and Raftery, Bayes
// Factors, 1995).
const strong = 6.0

// rootIsBetter returns by how much more likely it is that differences between windows grow with the root of the cost
// than that they grow with the cost: twice the logarithm of the ratio. For normal differences d of any variance twice
// the logarithm of the likelihood is -n*log(mean of d^2/scale^2) - sum of log(scale^2).
func (p *fit) rootIsBetter() float64 {
	var byCost, byRoot, logs float64
	n := float64(len(p.gaps))
	for _, g := range p.gaps {
		cost := math.Max(p.trend.sum(g.from, g.to)/g.steps(), p.floor)
		byCost += g.seen / (cost * cost) / n
		byRoot += g.seen / cost / n
		logs += portable.Log(cost) / n
	}
	if byRoot == 0 {
		return 0
	}
	return n * (portable.Log(byCost/byRoot) + logs)
}

// floor returns the smallest cost of a step that counts as one, at least so many seconds.
func (s *sampler) floor(least float64) float64 {
	for i := range s.done {
		least = math.Max(least, lowest*s.done[i].Seconds)
	}
	return least
}

// add adds up the run, or a part of it: what was measured, and for the gaps the trend with
// the residuals of the stretches on both sides.
func (s *sampler) add(weights []float64, floor float64, whole *fit) fit {
	p := fit{whole: whole, weights: weights, floor: floor, trend: fitTrend(s.o.First, s.o.End, s.done, weights)}
	if s.root {
		p.meanCost = math.Max(p.trend.sum(s.o.First, s.o.End)/float64(s.o.End-s.o.First), floor)
	}
	p.bridgeAll(s)
	if len(p.gaps) == 0 {
		return p
	}
	// The common relative noise comes from the smaller differences, so that a few jumps do not move it but stand
	// out. What one window alone tells does not count for the gaps beside it: they decide where the next windows
	// are put, and if that were beside a window since steps were dear in it, these would soon stand for fewer
	// others than the cheap ones do.
	pairs, halves := make([]pair, len(p.gaps)), p.halves(s.done, float64(s.shape.length))
	for i, g := range p.gaps {
		pairs[i] = pair{g.jump / (g.scale * g.scale), g.scale, g.change / (g.scale * g.scale)}
	}
	p.scatter = commonScatter(pairs, halves)
	// Parts are compared with their neighbours only: many do not depend on turns.
	if cycles := s.cycles(); whole == nil && len(cycles) > 0 && !p.changes() {
		p.takeTurns(s, cycles)
	}
	p.learnTurns(s)
	for i := range p.gaps {
		g := &p.gaps[i]
		usual := p.scatter.variance * g.scale * g.scale
		g.spread = math.Max(usual, (float64(prior*usual)+g.change)/(prior+1))
	}
	return p
}

// bridgeAll adds up the windows and the gaps.
func (p *fit) bridgeAll(s *sampler) {
	p.stretches, p.gaps, p.seconds, p.bridged = nil, nil, 0, 0
	for i := range s.done {
		w := &s.done[i]
		p.seconds += w.start(w.To) - w.start(w.Start)
		// A window goes on with the last stretch or begins another.
		steps, residual := float64(w.refTo-w.refFrom), p.residual(w)
		if n := len(p.stretches); n == 0 || p.stretches[n-1].to != w.Start {
			p.stretches = append(p.stretches, stretch{from: w.Start, to: w.To, steps: steps, residual: residual})
			continue
		}
		last := &p.stretches[len(p.stretches)-1]
		last.residual = (float64(last.residual*last.steps) + float64(residual*steps)) / (last.steps + steps)
		last.steps += steps
		last.to = w.To
	}
	p.seconds += s.done[0].start(s.o.First) // what comes before the first step
	for i := range p.stretches[1:] {
		p.bridge(i, float64(s.shape.length))
	}
	last := &s.done[len(s.done)-1]
	p.seconds += p.bridged + last.lag(last.To)
}

// changes reports whether the cost of steps changes at a gap.
func (p *fit) changes() bool {
	return slices.ContainsFunc(p.gaps, func(g gap) bool {
		return g.change > changes*alike*p.scatter.variance*g.scale*g.scale
	})
}

// scaleAt returns the scale of a stretch.
func (p *fit) scaleAt(t *stretch) float64 {
	return p.scale(p.trend.sum(t.from, t.to) / float64(t.to-t.from))
}

// residual returns the mean cost of a window above the trend.
func (p *fit) residual(w *Window) float64 { return p.excess(w, w.refFrom, w.refTo) }

// excess returns the mean cost of the steps [a, b) above the trend.
func (p *fit) excess(w *Window, a, b int) float64 {
	return w.mean(a, b) - p.expected(a, b)/float64(b-a)
}

// bridge adds the gap between the stretches i and i+1, whose residuals count by their numbers of steps. If two windows
// differ by chance, one of them is odd and differs from its other neighbour as well. If they lie on both sides of a
// change in the run, each is like its other neighbour.
func (p *fit) bridge(i int, length float64) {
	a, b := &p.stretches[i], &p.stretches[i+1]
	g := gap{from: a.to, to: b.from}
	sum := p.trend.sum(g.from, g.to)
	residual := (float64(a.residual*a.steps) + float64(b.residual*b.steps)) / (a.steps + b.steps)
	p.bridged += p.expected(g.from, g.to) + float64(g.steps()*residual)
	g.scale = p.scale(sum / g.steps())
	g.jump = a.difference(b, length)
	g.seen, g.change = g.jump, g.jump
	if i > 0 {
		g.change = math.Min(g.change, p.stretches[i-1].difference(b, length))
	}
	if i+2 < len(p.stretches) {
		g.change = math.Min(g.change, a.difference(&p.stretches[i+2], length))
	}
	p.gaps = append(p.gaps, g)
}

// scale returns the seconds to which the scatter around steps of the given cost is relative. If a run forgets the cold
// start, that is the cost, unless look finds the root. Else it grows with the root of the cost: a part of the scatter is relative
// to the cost, as the noise of kernels, and a part is the same for all steps, as the effect of polls. So in the cheap
// steps at the end of HPL the scatter is larger relative to their cost, but smaller in seconds.
func (p *fit) scale(cost float64) float64 {
	cost = math.Max(cost, p.floor)
	if p.meanCost == 0 {
		return cost
	}
	return math.Sqrt(cost * p.meanCost)
}

// difference returns the square of the difference of two residuals, whose mean is the sum of
// two variances, brought to one of the mean of a window of the given length.
func (t *stretch) difference(other *stretch, length float64) float64 {
	d := t.residual - other.residual
	return d * d / (length/t.steps + length/other.steps)
}

// prior is the weight of the common noise in the spread of a gap, in numbers of differences: its own jump counts as
// one.
const prior = 4

// variance returns the variance of the cost of a gap if n windows are put into it, which leaves n+1 gaps of G steps.
// Each of these adds G^2*spread, the error of the windows that stand for it, and G*length*spread, its own noise.
//
// A run that does not forget a cold start is chaotic: a window measures not these steps of the run, but another random
// draw of them. So the noise of windows counts twice: length^2*spread for each window, and G*length*spread for each gap
// for which windows stand.
func (g *gap) variance(n int, shape shape) float64 {
	length, chaos := float64(shape.length), 2.
	if shape.coupled {
		chaos = 0
	}
	if n > 0 && n*shape.steps() >= g.to-g.from { // measured from end to end
		return float64(chaos*g.steps()) * length * g.spread
	}
	parts := float64(n + 1)
	each := (g.steps() - float64(float64(n)*length)) / parts
	v := float64(parts*(float64(each*each)+float64((1+chaos)*each*length))) + float64(chaos*float64(n)*length*length)
	return v * g.spread
}

// redrawn returns the variance that chaos adds to the windows that were simulated.
func (p *fit) redrawn(shape shape) float64 {
	if shape.coupled {
		return 0
	}
	sum := 0.0
	for _, t := range p.stretches {
		cost := p.scaleAt(&t)
		sum += float64(2 * float64(t.to-t.from) * float64(shape.length) * p.scatter.variance * cost * cost)
	}
	return sum
}

// pooled returns the variance of the costs of the gaps by their spreads.
func (p *fit) pooled(shape shape) float64 {
	sum := 0.0
	for i := range p.gaps {
		sum += p.gaps[i].variance(0, shape)
	}
	return sum
}

// raw returns the variance of the costs of the gaps by their own differences alone, and the sum of the squares of its
// parts without changes: wherever in a gap a change is, it adds no more than the difference that is seen.
func (p *fit) raw(shape shape) (sum, squares float64) {
	for _, g := range p.gaps {
		g.spread = g.jump
		sum += g.variance(0, shape)
		g.spread = g.jump - g.change
		v := g.variance(0, shape)
		squares += float64(v * v)
	}
	return sum, squares
}

// estimate returns the estimate of the windows so far. It lengthens the warm-up
// while the first steps that count differ from the others.
func (s *sampler) estimate() (*Estimate, fit) {
	p := s.look()
	in := s.within(&p)
	for !s.shape.coupled && !s.o.Scatters && in.biased() && s.shape.length > s.shape.warmup {
		s.shape.warmup++
		s.shape.length--
		p = s.look()
		in = s.within(&p)
	}
	p.patterns = s.patterns(&p)
	last := &s.done[len(s.done)-1]
	e := &Estimate{from: s,
		Seconds: p.seconds, MeanEnd: p.seconds - last.lag(last.To), Interval: s.interval(&p, &in), Outliers: in.outliers,
		Steps: s.o.End - s.o.First, Simulated: s.spent, Warmup: s.shape.warmup, Coupled: s.shape.coupled, Rounds: s.rounds,
		Windows: slices.Clone(s.done), Parts: make([]Part, s.o.Parts),
	}
	for i := range e.Parts {
		e.Parts[i] = s.part(&p, i)
	}
	return e, p
}

// caution widens the interval where outliers were seen: rare as they are, those that
// were seen say little about those that were not.
const caution = 2

// interval returns the half-width of the 95 % interval.
func (s *sampler) interval(p *fit, in *within) float64 {
	if len(p.gaps) == 0 {
		return 0
	}
	pooled := p.pooled(s.shape)
	raw, squares := p.raw(s.shape)
	n := float64(len(s.done))
	unseen, seen := s.bias(in)
	if in.drift > math.Max(small, 3*in.unsure) {
		// Nothing makes the ranks wait for each other: the length of the run is that of the slowest, not of
		// their mean.
		seen += in.drift
	}
	// Ranks that are never made to wait may end later than in a window with a cold start: by how much the last
	// rank was behind after the beginning of the run, and is not in the next window.
	head, next := &s.done[0], &s.done[1]
	unseen, seen = unseen*p.seconds, float64(seen*p.seconds)+math.Max(0, head.lag(head.To)-next.lag(next.To))
	v := float64((p.redrawn(s.shape)+math.Max(pooled, raw))*n/(n-terms)) + float64(unseen*unseen)
	z := firstLook
	if s.rounds > 1 {
		z = laterLook
	}
	t := student(p.degreesOfFreedom(pooled, raw, squares), z)
	half := math.Sqrt(float64(t*t*v)+float64(z*z*p.patterns*p.patterns)) + seen
	if in.outliers > 0 {
		half *= caution
	}
	return half
}

// degreesOfFreedom returns those of freedom of the greater of two variances of the gaps: the
// pooled one, from the common noise, and the raw one, the sum of what the gaps' own differences tell,
// whose squares have the given sum. Of the latter only what is beyond the former counts as
// less certain.
func (p *fit) degreesOfFreedom(pooled, raw, squares float64) float64 {
	inverse := 1 / p.scatter.degreesOfFreedom
	if raw > pooled && squares > 0 {
		beyond := 1 - pooled/raw
		inverse = float64((1-beyond)*inverse) + float64(beyond*squares/(2*shared*raw*raw))
	}
	return 1 / inverse
}

// Normal quantiles. An interval that is good enough at the first look is that of 95 %. Of several
// looks the first good one is taken, which is more often one that is too narrow by chance: from
// the second on each is that of 97.5 %, so that two together miss as often as one of 95 %.
const (
	firstLook = 1.959963984540054 // 97.5 %
	laterLook = 2.241402727604945 // 98.75 %
)

// student returns the quantile of Student's distribution that corresponds to the normal one z: the
// expansion of Cornish and Fisher (Abramowitz and Stegun 26.7.5), good to 1 % from 3 degrees of
// freedom on.
func student(degreesOfFreedom, z float64) float64 {
	f := math.Max(degreesOfFreedom, 3)
	z3, z5, z7 := float64(z*z*z), float64(z*z*z*z*z), float64(z*z*z*z*z*z*z)
	return z + (z3+z)/(4*f) + (float64(5*z5)+float64(16*z3)+float64(3*z))/(96*f*f) +
		(float64(3*z7)+float64(19*z5)+float64(17*z3)-float64(15*z))/(384*f*f*f)
}

// negligible is the part of the floor of the whole below which nothing costs anything.
const negligible = 1e-9

// part estimates part i of the run as the whole, of which whole is the fit: from the same windows, with the same
// weights. What one window alone lacks of a part the others may have: as
// far as is known, each is a run of its own, with its own noise and its own memory of a cold
// start. Only the patterns of polls are known of the whole: a part that scatters less is moved
// less by them.
func (s *sampler) part(whole *fit, i int) Part {
	t := *s
	t.done = partOf(s.done, i)
	t.root = !s.shape.coupled // how a part scatters is not what the whole shows
	for j := range t.done {
		w := &t.done[j]
		w.Seconds = w.mean(w.Start, w.To)
	}
	// Memory is what pairs of windows see differently in the second step of the later one, relative to its cost
	// there: each as a root mean square.
	pairs := partOf(s.pairs, i)
	var differences, costs float64
	for j := 0; j < len(pairs); j += 2 {
		step := pairs[j+1].From + 1
		a, b := pairs[j].Cost(step), pairs[j+1].Cost(step)
		differences += float64((a - b) * (a - b))
		costs += math.Max(float64(a*a), float64(b*b))
	}
	if t.memory = 0; costs != 0 {
		t.memory = math.Sqrt(differences / costs)
	}
	p := t.add(whole.weights, t.floor(negligible*whole.floor), whole)
	in := t.within(&p)
	p.patterns = whole.patterns
	if all := whole.redrawn(s.shape) + whole.pooled(s.shape); all > 0 {
		p.patterns *= math.Sqrt((p.redrawn(s.shape) + p.pooled(s.shape)) / all)
	}
	return Part{p.seconds, t.interval(&p, &in)}
}

// partOf returns windows that know of part i alone.
func partOf(windows []Window, i int) []Window {
	list := make([]Window, len(windows))
	for j, w := range windows {
		starts := make([]StartTimes, len(w.starts))
		for k := range starts {
			spent := w.starts[k].Parts[i]
			starts[k] = StartTimes{Mean: spent, Last: spent}
		}
		w.starts = starts
		list[j] = w
	}
	return list
}
