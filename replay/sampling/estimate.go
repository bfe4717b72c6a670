package sampling

import (
	"math"
	"slices"
)

// Estimate is the length of a run as far as windows of it tell. It is never exact.
type Estimate struct {
	Seconds  float64 `json:"makespan_s"`
	Interval float64 `json:"interval_s"` // half-width: the exact result is inside in about 95 % of cases

	Steps     int      `json:"steps"`           // of the run
	Simulated int      `json:"simulated_steps"` // with warm-ups, and what served to choose their length
	Warmup    int      `json:"warmup_steps"`
	Coupled   bool     `json:"coupled"`  // the warm-up was seen to lose nearly all memory of the cold start
	Outliers  int      `json:"outliers"` // steps seen that cost far more than those before and after them
	Rounds    int      `json:"rounds"`
	Windows   []Window `json:"windows"` // those that count, in order
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
	scale    float64 // cost of a step, at least the floor, seconds
	jump     float64 // variance of a window's mean cost, as far as the difference of the windows beside tells, s^2
	spread   float64 // the same with what the other gaps tell
}

func (g *gap) steps() float64 { return float64(g.to - g.from) }

// stretch is one or more windows without a gap between them.
type stretch struct {
	from, to int
	steps    float64 // that stand for those around them
	residual float64 // their mean cost above the trend, seconds
}

// picture is what the windows say about the run.
type picture struct {
	seconds   float64
	stretches []stretch
	gaps      []gap
	bridged   float64 // seconds in the gaps
	trend     trend
	floor     float64 // seconds
	noise     float64 // variance of a window's mean cost, relative to its square
}

// lowest is the floor of costs, relative to the largest cost of a window.
const lowest = 0.05

// look adds up the run: what was measured, and for the gaps the trend with the
// residuals of the stretches on both sides.
func (s *sampler) look() picture {
	s.arrange()
	p := picture{}
	for i := range s.done {
		p.floor = math.Max(p.floor, lowest*s.done[i].Seconds)
	}
	p.floor = math.Max(p.floor, math.SmallestNonzeroFloat64)
	p.trend = fitTrend(s.o.First, s.o.End, s.done, p.floor)
	for i := range s.done {
		w := &s.done[i]
		p.seconds += w.date(w.To) - w.date(w.Start)
		p.append(w)
	}
	p.seconds += s.done[0].date(s.o.First) // what comes before the first step
	for i := range p.stretches[1:] {
		p.bridge(&p.stretches[i], &p.stretches[i+1], float64(s.shape.length))
	}
	last := &s.done[len(s.done)-1]
	p.seconds += p.bridged + last.lag(last.To)
	p.spreads()
	return p
}

// append appends a window to the last stretch or begins another.
func (p *picture) append(w *Window) {
	steps := float64(w.refTo - w.refFrom)
	residual := p.residual(w)
	if n := len(p.stretches); n > 0 && p.stretches[n-1].to == w.Start {
		last := &p.stretches[n-1]
		last.residual = (float64(last.residual*last.steps) + float64(residual*steps)) / (last.steps + steps)
		last.steps += steps
		last.to = w.To
		return
	}
	p.stretches = append(p.stretches, stretch{from: w.Start, to: w.To, steps: steps, residual: residual})
}

// residual returns the mean cost of a window above the trend.
func (p *picture) residual(w *Window) float64 {
	return w.mean(w.refFrom, w.refTo) - p.trend.sum(w.refFrom, w.refTo)/float64(w.refTo-w.refFrom)
}

// bridge adds the gap between two stretches. Their residuals count as their steps;
// the square of the difference, whose mean is the sum of two variances, is brought to
// windows of the given length.
func (p *picture) bridge(a, b *stretch, length float64) {
	g := gap{from: a.to, to: b.from}
	sum := p.trend.sum(g.from, g.to)
	residual := (float64(a.residual*a.steps) + float64(b.residual*b.steps)) / (a.steps + b.steps)
	p.bridged += sum + float64(g.steps()*residual)
	g.scale = math.Max(sum/g.steps(), p.floor)
	difference := a.residual - b.residual
	g.jump = difference * difference / (length/a.steps + length/b.steps)
	p.gaps = append(p.gaps, g)
}

// prior is how many differences the common noise counts for in the spread of a gap,
// whose own is one.
const prior = 4

// spreads sets the spreads of the gaps. The common relative noise comes from the
// smaller differences, so that a few jumps do not move it but stand out.
func (p *picture) spreads() {
	if len(p.gaps) == 0 {
		return
	}
	relative := make([]float64, len(p.gaps))
	for i, g := range p.gaps {
		relative[i] = g.jump / (g.scale * g.scale)
	}
	p.noise = smaller(relative) / smallerChi2
	for i := range p.gaps {
		g := &p.gaps[i]
		g.spread = (float64(prior*p.noise*g.scale*g.scale) + g.jump) / (prior + 1)
	}
}

// smallerChi2 is the mean of the lower five sixths of chi-squared with one degree of
// freedom, the distribution of half the square of a difference over the variance:
// 1 - 2*z*phi(z)/(5/6), where z = 1.383 is exceeded by |z| in one of six cases.
const smallerChi2 = 0.491

// smaller returns the mean of the lower five sixths of a.
func smaller(a []float64) float64 {
	b := slices.Sorted(slices.Values(a))
	b = b[:len(b)-len(b)/6]
	sum := 0.0
	for _, v := range b {
		sum += v
	}
	return sum / float64(len(b))
}

// variance returns the variance of the cost of a gap if n windows are put into it,
// which leaves n+1 gaps of G steps. Each of them brings G^2*spread, the error of what
// stands for it, and G*length*spread, its own noise.
//
// A run that does not forget a cold start is chaotic: what the windows measure is not
// what the run does in these steps, but another draw. So their own noise counts twice,
// length^2*spread each, and G*length*spread for that of the two in which they stand for
// the gaps as well.
func (g *gap) variance(n int, shape shape) float64 {
	length, chaos := float64(shape.length), 2.
	if shape.coupled {
		chaos = 0
	}
	if n > 0 && n*shape.steps() >= g.to-g.from { // measured from end to end
		return float64(chaos*g.steps()) * length * g.spread
	}
	parts := float64(n + 1)
	each := (g.steps() - float64(n)*length) / parts
	v := parts*(float64(each*each)+float64((1+chaos)*each*length)) + float64(chaos*float64(n)*length*length)
	return v * g.spread
}

// redrawn returns the variance that chaos brings into the windows there are.
func (p *picture) redrawn(shape shape) float64 {
	if shape.coupled {
		return 0
	}
	sum := 0.0
	for _, t := range p.stretches {
		cost := math.Max(p.trend.sum(t.from, t.to)/float64(t.to-t.from), p.floor)
		sum += 2 * float64(t.to-t.from) * float64(shape.length) * p.noise * cost * cost
	}
	return sum
}

// variance returns the variance of the run's cost.
func (p *picture) variance(shape shape) float64 {
	sum := p.redrawn(shape)
	for i := range p.gaps {
		sum += p.gaps[i].variance(0, shape)
	}
	return sum
}

// estimate returns the estimate of the windows so far. It lengthens the warm-up
// while the first steps that count differ from the others.
func (s *sampler) estimate() (*Estimate, picture) {
	p := s.look()
	in := s.within(&p)
	for !s.shape.coupled && in.biased() && s.shape.length > s.shape.warmup {
		s.shape.warmup++
		s.shape.length--
		p = s.look()
		in = s.within(&p)
	}
	e := &Estimate{
		Seconds: p.seconds, Interval: s.interval(&p, &in), Outliers: in.outliers,
		Steps: s.o.End - s.o.First, Simulated: s.spent, Warmup: s.shape.warmup, Coupled: s.shape.coupled, Rounds: s.rounds,
		Windows: slices.Clone(s.done),
	}
	return e, p
}

// caution widens the interval where outliers were seen: rare as they are, those that
// were seen say little about those that were not.
const caution = 2

// interval returns the half-width of the 95 % interval.
func (s *sampler) interval(p *picture, in *within) float64 {
	if len(p.gaps) == 0 {
		return 0
	}
	pooled, raw, squares := p.variance(s.shape), p.redrawn(s.shape), 0.0
	for _, g := range p.gaps {
		g.spread = g.jump
		v := g.variance(0, s.shape)
		raw += v
		squares += float64(v * v)
	}
	n := float64(len(s.done))
	unseen, seen := s.bias(in)
	unseen, seen = unseen*p.seconds, (seen+in.apart())*p.seconds+s.lost()
	v := math.Max(pooled, raw)*n/(n-terms) + float64(unseen*unseen)
	half := student(freedom(len(p.gaps), raw, squares))*math.Sqrt(v) + seen
	if in.outliers > 0 {
		half *= caution
	}
	return half
}

// freedom returns the degrees of freedom of the pooled variance of so many gaps, of
// which the part prior/(prior+1) comes from the common noise, and the rest from the
// gaps' own differences, whose contributions have the given sum and sum of squares.
func freedom(gaps int, sum, squares float64) float64 {
	const (
		shared  = 2. / 3 // neighbouring differences share a window
		trimmed = 0.65   // the larger ones are left out
		common  = float64(prior) / (prior + 1)
	)
	inverse := common * common / (shared * trimmed * float64(gaps))
	if squares > 0 {
		inverse += (1 - common) * (1 - common) / (shared * sum * sum / squares)
	}
	return 1 / inverse
}

// student returns the 97.5 % quantile of Student's distribution: the expansion of
// Cornish and Fisher (Abramowitz and Stegun 26.7.5), good to 1 % from 3 degrees of
// freedom on.
func student(freedom float64) float64 {
	const z = 1.959963984540054
	f := math.Max(freedom, 3)
	z3, z5, z7 := z*z*z, z*z*z*z*z, z*z*z*z*z*z*z
	return z + (z3+z)/(4*f) + (5*z5+16*z3+3*z)/(96*f*f) + (3*z7+19*z5+17*z3-15*z)/(384*f*f*f)
}
