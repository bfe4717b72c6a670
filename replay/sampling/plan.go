package sampling

import (
	"context"
	"fmt"
	"math"

	"reprise/internal/portable"
)

// This file decides which windows to simulate: how they look (pilot), those of the first round (begin), and those of
// each further round (refine). run.go calls these.

const (
	// firstWindows is the number of windows of the first round, besides head and tail. A run of less than 640 steps has
	// fewer of them. A long run that scatters has up to twice as many, if windows are short: more windows miss fewer of the
	// dear steps, and show better how much steps scatter.
	firstWindows = 16
	// cheap is the part of the run up to which the first round has more windows than the fewest.
	cheap = 1. / 8
	// fewestWindows is the number without which there is no estimate. The first round has no more
	// of them where they have long warm-ups and the run has few steps, or if the time is too short for more.
	fewestWindows = firstWindows / 2
	// dear is the part of the run up to which windows with long warm-ups are added to the first round.
	dear = 1. / 4
	// maxSimulatedShare is the part of the run, or of its time, above which simulating it all is
	// the better choice: that is one simulation without warm-ups, and exact.
	maxSimulatedShare = 0.75
	// forecastSlack is the factor by which a forecast may be too high.
	forecastSlack = 2
	// margin is the part of the allowed variance at which refinement aims.
	margin = 0.95
	// mostWindows bounds the forecast of how many windows will be needed.
	mostWindows = 1 << 14
	// reserve is the part of the time left that is planned for: windows end at different
	// times, and what a step costs is known from a few.
	reserve = 0.9
	// exactShare is the part of the time that simulating all of the run may take where there
	// could be an estimate: that is in time even if the steps take longer than expected.
	exactShare = 0.5
)

// begin plans the first round, around the windows that there are already: the ends
// of the run, and windows in the gaps between them.
func (s *sampler) begin() ([]span, error) {
	windows, err := s.firstRound()
	if err != nil {
		return nil, err
	}
	spans := []span{s.head(), s.tail()}
	last := s.head().to
	var gaps []gap
	for _, w := range s.done {
		gaps = append(gaps, gap{from: last, to: w.From + s.shape.warmup, spread: 1})
		last = w.To
	}
	gaps = append(gaps, gap{from: last, to: s.tail().from + s.shape.warmup, spread: 1})
	numbers, _, _ := s.allocate(gaps, 0, windows)
	return append(spans, s.place(gaps, numbers)...), nil
}

// firstRound returns how many windows to put between the ends of the run. With a time limit these are as many as the
// time allows and are worth it. If there is no room for the fewest windows that make an estimate, or if they take
// nearly the time of the whole run, the error wraps ErrExact, provided the whole run fits into the time. If neither
// fits the error wraps ErrTime.
func (s *sampler) firstRound() (int, error) {
	ends, most := s.head().steps()+s.tail().steps(), s.windows()-len(s.done)
	if s.o.Left == nil {
		return most, s.worth(s.spent + ends + most*s.shape.steps())
	}
	fewest, room := fewestWindows-len(s.done), (s.o.End-s.o.First-ends)/s.shape.steps()
	need := float64(s.perStep / reserve * max(float64(ends+fewest*s.shape.steps())/float64(s.o.Workers),
		float64(s.tail().steps())))
	if room < fewest || s.worthwhile(ends) < fewest && need > maxSimulatedShare*s.all() {
		if err := s.fits(reserve); err != nil {
			return 0, err
		}
	}
	if room < fewest {
		return 0, s.tooShort()
	}
	if left := s.o.Left(); need > left {
		return 0, fmt.Errorf("%w: one would take about %.0f s, all of the run %.0f s", ErrTime, max(1, s.limit-left+need),
			max(1, s.all()))
	}
	return max(fewest, min(most, s.worthwhile(ends), s.affordable(ends))), nil
}

// windows returns how many windows the first round has between the ends of the run if time
// does not matter.
func (s *sampler) windows() int {
	switch n := int(cheap*float64(s.o.End-s.o.First)) / s.shape.steps(); {
	case !s.o.Scatters && s.o.Left == nil:
		return min(max(n, fewestWindows), firstWindows)
	case !s.o.Scatters:
		return firstWindows
	}
	part, least := cheap, firstWindows
	if !s.shape.coupled {
		part, least = dear, fewestWindows
	}
	n := int(part*float64(s.o.End-s.o.First)) / s.shape.steps()
	return min(max(n, least), 2*least)
}

// all returns the seconds that simulating all of the run is expected to take, if there
// is a time limit. It is done by one worker.
func (s *sampler) all() float64 { return float64(s.o.End-s.o.First) * s.perStep }

// tooShort returns ErrTime, with the time that is needed if a step's is known.
func (s *sampler) tooShort() error {
	if s.perStep == 0 {
		return ErrTime
	}
	return fmt.Errorf("%w: all of the run would take about %.0f s", ErrTime, max(1, s.all()))
}

func (p span) steps() int { return p.to - p.from }

// worth returns ErrExact if simulating so many steps is not worth it.
func (s *sampler) worth(steps int) error {
	if all := s.o.End - s.o.First; float64(steps) > maxSimulatedShare*float64(all) {
		return fmt.Errorf("%w: it would simulate some %d steps where the run has %d", ErrExact, steps, all)
	}
	return nil
}

// worthwhile returns how many windows are worth simulating besides so many steps.
func (s *sampler) worthwhile(others int) int {
	return int(float64(maxSimulatedShare*float64(s.o.End-s.o.First))-float64(s.spent+others)) / s.shape.steps()
}

// refine plans the next round: nothing if the estimate is good enough or the time
// is over, or if more windows would leave no gaps, by which the interval is told.
func (s *sampler) refine(e *Estimate, p *fit) ([]span, error) {
	limit := len(s.done)
	if s.o.Left != nil {
		limit = min(limit, s.affordable(0), s.worthwhile(0))
	}
	if limit < 1 {
		return nil, nil
	}
	target, total := 0.0, 0
	if s.o.Tolerance > 0 {
		if e.Interval <= s.o.Tolerance*e.Seconds {
			return nil, nil
		}
		var err error
		if target, total, err = s.aim(e, p); err != nil {
			return nil, err
		}
	}
	numbers, next, _ := s.allocate(p.gaps, target, limit)
	if err := s.forecast(next * forecastSlack); err != nil {
		return nil, err
	}
	s.ahead = max(0, total-next)
	return s.place(p.gaps, numbers), nil
}

// aim returns the pooled variance of the gaps with which the next interval is expected to be good
// enough, and how many more windows that takes, or ErrExact if no number of windows will do that is worth it.
func (s *sampler) aim(e *Estimate, p *fit) (target float64, total int, err error) {
	patterns := float64(laterLook * laterLook * p.patterns * p.patterns)
	if e.Outliers > 0 {
		patterns *= caution * caution
	}
	allowed, now := s.allowed(e.Seconds)-patterns, float64(e.Interval*e.Interval)-patterns
	if allowed <= 0 {
		if s.o.Left != nil {
			return 0, 0, nil
		}
		return 0, 0, s.tooChaotic()
	}
	target = p.target(margin*allowed/now, s.shape)
	_, total, left := s.allocate(p.gaps, target, mostWindows)
	if left > forecastSlack*target && total < mostWindows && s.o.Left == nil {
		return 0, 0, s.tooChaotic()
	}
	return target, total, s.forecast(total)
}

// allowed returns the square of the half-width that the tolerance allows.
func (s *sampler) allowed(seconds float64) float64 {
	half := s.o.Tolerance * seconds
	return float64(half * half)
}

// tooChaotic is the ErrExact of a run that no estimate is good enough for.
func (s *sampler) tooChaotic() error {
	return fmt.Errorf("%w: the run is too chaotic for a tolerance of %.6g %%", ErrExact, 100*s.o.Tolerance)
}

// target returns the pooled variance of the gaps with which the variance of the run would be the given part of what it
// is now, if the variance by the gaps' own differences shrinks with it.
func (p *fit) target(part float64, shape shape) float64 {
	fixed, pooled := p.redrawn(shape), p.pooled(shape)
	raw, _ := p.raw(shape)
	greater := math.Max(pooled, raw)
	left := float64(part*(fixed+greater)) - fixed
	if pooled == 0 || greater == 0 {
		return left
	}
	return left * pooled / greater
}

// forecast returns ErrExact if so many more windows are not worth it. The number is
// rough, and gets the benefit of the doubt. With a time limit there is no exact run
// to turn to: it did not fit into the time at the beginning.
func (s *sampler) forecast(windows int) error {
	if s.o.Left != nil {
		return nil
	}
	return s.worth(s.spent + windows*s.shape.steps()/forecastSlack)
}

// affordable returns how many windows the time left allows besides so many steps.
func (s *sampler) affordable(others int) int {
	steps := reserve*s.o.Left()*float64(s.o.Workers)/s.perStep - float64(others)
	return int(min(max(steps/float64(s.shape.steps()), 0), mostWindows))
}

// allocate distributes windows over the gaps, each to where it lowers the variance
// most, until the variance of all gaps is at most target, or the limit is reached,
// or nothing is left to gain. It returns the number for each gap, their sum, and the
// variance that is left.
func (s *sampler) allocate(gaps []gap, target float64, limit int) (numbers []int, total int, left float64) {
	numbers = make([]int, len(gaps))
	gains := make([]float64, len(gaps))
	for i := range gaps {
		left += gaps[i].variance(0, s.shape)
		gains[i] = gaps[i].gain(0, s.shape)
	}
	for ; total < limit && left > target; total++ {
		best := 0
		for i, gain := range gains {
			if gain > gains[best] {
				best = i
			}
		}
		if gains[best] <= 0 {
			break
		}
		left -= gains[best]
		numbers[best]++
		gains[best] = gaps[best].gain(numbers[best], s.shape)
	}
	return numbers, total, left
}

// gain returns by how much one window more than n lowers the variance of a gap.
func (g *gap) gain(n int, shape shape) float64 {
	return g.variance(n, shape) - g.variance(n+1, shape)
}

// place puts windows into the gaps: one into each of parts that are worth the same, at a random place in the middle
// half of the room, so that no period of the run can hide from them. A gap that they would fill is measured from end to
// end.
func (s *sampler) place(gaps []gap, numbers []int) []span {
	var spans []span
	taken := s.taken()
	for i, n := range numbers {
		if n == 0 {
			continue
		}
		g := &gaps[i]
		length := g.to - g.from
		if n*s.shape.steps() >= length {
			spans = append(spans, span{g.from - s.shape.warmup, g.to})
			continue
		}
		ends := s.rough.divide(g.from, g.to, n, s.shape.steps())
		for j := range n {
			lo, hi := ends[j], ends[j+1]
			room := float64(hi - lo - s.shape.length)
			start := lo + int(room*(0.25+float64(0.5*uniform(uint64(lo), uint64(hi)))))
			if cycles := s.cycles(); len(cycles) > 0 {
				start = evenly(cycles, lo+int(room/4), start, lo+int(room*3/4), taken)
				taken = append(taken, start)
			}
			spans = append(spans, span{start - s.shape.warmup, start + s.shape.length})
		}
	}
	return spans
}

// uniform returns a number in [0, 1) that looks random but is the same whenever a
// and b are: splitmix64.
func uniform(a, b uint64) float64 {
	return float64(portable.Mix(portable.Mix(a*0x9e3779b97f4a7c15+b))>>11) / (1 << 53)
}

// Shapes of windows. If a run loses nearly all memory of the cold start in one step, as programs do that synchronise in
// each step, windows are short. Else single steps tell nothing, since every later step differs by what the cold start
// has changed; only the mean over many windows shows how much of that is left. With noise or polls the memory lasts too
// long even for that: on Dahu the first twenty to forty steps cost 2 % less, too little to be seen in each; elsewhere
// 10 %. Late windows leave these steps out.
var (
	shortWindows = shape{warmup: 1, length: 4, coupled: true}
	longWindows  = shape{warmup: 4, length: 16}
	lateWindows  = shape{warmup: 32, length: 16}
)

const (
	// pilots is the number of places at which the memory of the cold start is tested.
	pilots = 3
	// forgotten is the relative difference of two costs of a step, as a root mean
	// square over the pilots, up to which a cold start counts as forgotten.
	forgotten = 3e-3
)

// pilot decides on the shape of windows: at some places it simulates a short window
// twice, once beginning two steps later. If the second step of the later one, the
// first after a warm-up of one, costs what it costs in the other, and leaves the last
// rank as far behind, the one step was enough. The windows then count like others.
func (s *sampler) pilot(ctx context.Context) error {
	s.shape = shortWindows
	steps := s.o.End - s.o.First
	switch {
	case steps == 1:
		return fmt.Errorf("%w: there is one step", ErrExact)
	case s.short():
		return fmt.Errorf("%w: %d steps are too few", ErrExact, steps)
	}
	var spans []span
	for i := range pilots {
		from := s.o.First + (2*i+1)*steps/(2*pilots)
		to := from + s.shape.steps()
		spans = append(spans, span{from, to}, span{from + 2, to})
	}
	s.ahead = 2 * (2 + firstWindows - pilots)
	windows, err := s.simulate(ctx, spans)
	s.ahead = 0
	if err != nil {
		return err
	}
	if len(windows) < len(spans) {
		return ErrTime
	}
	s.pairs = windows
	floor := least
	for i := 0; i < len(windows); i += 2 {
		w := &windows[i]
		d := w.difference(&windows[i+1])
		s.memory += float64(d * d / pilots)
		w.refFrom, w.refTo = w.From+shortWindows.warmup, w.To
		floor = math.Max(floor, lowest*w.mean(w.refFrom, w.refTo))
		s.done = append(s.done, *w)
	}
	// The first window of each pair gives the costs of some steps at its place; a trend through these roughly gives those
	// of all steps.
	rough := roughCosts{fitTrend(s.o.First, s.o.End, s.done, weightsOf(s.done, floor)), floor}
	if s.o.Progress != nil {
		s.o.Progress(&Estimate{Seconds: rough.trend.sum(s.o.First, s.o.End), Interval: math.Inf(1)})
	}
	if s.memory = math.Sqrt(s.memory); !(s.memory <= forgotten) {
		s.shape, s.memory, s.done, s.pairs = longWindows, 0, nil, nil
		if s.o.Scatters {
			s.rough = &rough
			s.shape = lateShape(s.o.Period, s.o.Memory)
		}
	}
	return nil
}

// lateShape returns late windows of whole periods, about as long as usual late windows: the steps of a period differ in
// cost by the ranks whose turn it is, so that the cost of a shorter window would depend on where it begins. In longer
// windows the rest of the cold start counts less, so the warm-up may be shorter: the middle of the steps that count
// stays where it is. A warm-up has at least the steps of memory.
func lateShape(period, memory int) shape {
	late := lateWindows
	if period > 0 {
		late.length = period * max(1, (late.length+period/2)/period)
		late.warmup = max(late.warmup/2, late.warmup+(lateWindows.length-late.length)/2)
	}
	late.warmup = max(late.warmup, memory)
	return late
}

// short reports whether the run has too few steps for windows among them.
func (s *sampler) short() bool {
	least := (2*pilots + firstWindows) * shortWindows.steps()
	return 2*least > s.o.End-s.o.First
}

// difference returns the difference that two windows see in the second step of the
// later one, in its cost or in the lag after it, relative to the cost.
func (w *Window) difference(later *Window) float64 {
	step := later.From + 1
	a, b := w.Cost(step), later.Cost(step)
	d := math.Max(math.Abs(a-b), math.Abs(w.lag(step+1)-later.lag(step+1)))
	if d == 0 {
		return 0
	}
	return d / math.Max(math.Abs(a), math.Abs(b))
}
