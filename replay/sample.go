package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reprise/internal/textutil"
	"reprise/replay/sampling"
	"reprise/trace"
	"reprise/trace/warning"
)

// Sample estimates the makespan of a trace from windows of its steps. Package sampling chooses the windows and computes
// the estimate. This file replays each window by an engine of its own (sample.play), names what it measures, and shares
// windows among several processes.

// SampleOptions says how well to estimate. Without a Tolerance the context of Sample must have a deadline: the estimate
// is then as good as the time allows. With both, whatever is reached first ends it.
type SampleOptions struct {
	Tolerance float64 // half-width of the interval, relative to the estimate; 0: none
	Workers   int     // windows simulated at once
	// Progress, if set, is called with the estimate so far: sampling.Options.Progress.
	Progress func(*sampling.Estimate)
	// Ended, if set, is called with the number of windows that have ended, of each draw, and of all that are expected, one
	// call at a time: sampling.Options.Ended.
	Ended func(windows, expected int)
	// Observe, if set, returns the observers of a replay of the steps [from, to), and a function that is called when it
	// has ended. It is called from several goroutines, once for each window, also for those that serve to choose the
	// warm-up and are not among Estimate.Windows. The steps before Window.Start are warm-up.
	Observe func(from, to int) (list []Observer, ended func())
	// Share, if set, shares the windows with other processes that estimate the same; it excludes
	// a deadline, and Observe.
	Share Sharer
}

// Estimate is the makespan of a trace, estimated from windows of its steps.
type Estimate struct {
	*sampling.Estimate
	Header   *trace.Header `json:"-"`
	Complete bool          `json:"complete"` // the steps are all of the program
	// by the program's own count of flop; 0: it has none, or not all steps were meant
	Gflops         float64 `json:"gflops"`
	GflopsInterval float64 `json:"gflops_interval"` // half-width
	First          int     `json:"first_step"`      // the steps whose makespan is estimated
	Last           int     `json:"last_step"`
	Messages       int64   `json:"simulated_messages"` // those of warm-ups too
	*Energy                // nil: the platform does not say what anything draws
	EnergyInterval float64 `json:"energy_interval_j,omitempty"` // half-width of the energy of hosts and links together
	Workers        int     `json:"workers"`
	Seed           *uint64 `json:"seed,omitempty"` // of the noise; nil if the models have none

	Kinds   []EstimatedShare `json:"time_by_kind"`   // what the mean rank's time is spent on; they add up to MeanEnd
	Phases  []EstimatedShare `json:"time_by_phase"`  // from begin to end; phases may lie inside each other
	Kernels []EstimatedShare `json:"time_by_kernel"` // parts of the kind compute, without free ones
	// as those of Result
	DeviceStates []EstimatedShare `json:"device_by_state,omitempty"`
	Devices      []EstimatedShare `json:"device_time,omitempty"`

	Warnings []warning.Warning `json:"warnings"` // what makes the interval doubtful

	// WindowSteps are how many steps each window stands for, where steps are of few kinds; see WindowWeight.
	WindowSteps []float64 `json:"-"`
}

// EstimatedShare is how much of the mean rank's time one thing takes, in seconds.
type EstimatedShare struct {
	Name     string  `json:"name"`
	Mean     float64 `json:"mean_s"`
	Interval float64 `json:"interval_s"` // half-width: the exact result is inside in about 95 % of cases
}

// Sample estimates from windows of the steps which makespan Run would return. Each worker opens the trace, which must
// be a file, for itself. The estimate is the same bits for any number of workers, unless ctx ends: then it is made from
// the windows that there are. An error that wraps sampling.ErrExact says that Run is the better choice.
//
// The progress function of o is not called; observers in it are an error, see SampleOptions.Observe.
func Sample(ctx context.Context, open func() (*trace.Trace, error), m Machine, o Options,
	so SampleOptions) (*Estimate, error) {
	list, err := SampleDraws(ctx, open, []Draw{{m, o}}, so)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Draw is a machine, and the options that a trace is played on it with.
type Draw struct {
	Machine Machine
	Options Options
}

// SampleDraws is Sample for several draws of a machine at once: windows are chosen for the mean of the draws, and all
// draws play each of them. The interval of each estimate is that of the mean: what differs from draw to draw is seen in
// how these scatter. The tolerance is that of the mean, too, or what its error adds to how the draws scatter: where
// these differ by a third, a mean that is known to 5 % is as good as one to 1 %.
func SampleDraws(ctx context.Context, open func() (*trace.Trace, error), draws []Draw,
	so SampleOptions) ([]*Estimate, error) {
	if len(draws[0].Options.Observers) > 0 {
		return nil, errors.New("windows of an estimate are played side by side: SampleOptions.Observe gives each its observers")
	}
	s := &sample{SampleOptions: so, open: open, Draw: draws[0], draws: draws, measured: map[[2]int][][]sampling.StartTimes{},
		workers: make([]*trace.Trace, max(so.Workers, 0))}
	defer func() {
		for _, t := range s.workers {
			if t != nil {
				t.Close()
			}
		}
	}()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	var left func() float64
	if end, limited := ctx.Deadline(); limited {
		left = func() float64 { return time.Until(end).Seconds() }
	}
	measure, ended, workers := s.measure, so.Ended, so.Workers
	var enough func(*sampling.Estimate) bool
	if len(draws) > 1 {
		measure, enough = s.measureDraws, s.enough
		if ended != nil { // measureDraws tells what has ended
			ended = func(_, expected int) {
				s.drawn.Lock()
				defer s.drawn.Unlock()
				s.expected = expected * len(draws)
				so.Ended(s.ended, s.expected)
			}
		}
	}
	if so.Share != nil {
		if limited := left != nil; limited || so.Observe != nil || len(draws) > 1 {
			return nil, errors.New("windows that processes share are of one machine, without a deadline or anybody who observes them")
		}
		measure, workers = s.measureShared, min(so.Workers, 1)*sharedAtOnce
		s.idle = make(chan int, max(so.Workers, 0))
		for i := range so.Workers {
			s.idle <- i
		}
	}
	period, cycles := turns(s.header)
	memory := 0
	if s.polls && len(cycles) > 0 && cycles[0] > longestPeriod {
		// Behind a cold start ranks that poll drift apart for about as many steps as the grid has columns (docs/sampling.md,
		// When it fails).
		memory = cycles[0]
	}
	e, err := sampling.Run(ctx, sampling.Options{
		First: s.first, End: s.end, Tolerance: so.Tolerance, Left: left, Workers: workers, Parts: s.parts,
		Scatters: s.noisy || s.polls, Period: period, Memory: memory, Cycles: cycles, Work: s.work,
		Measure: measure, Enough: enough, Progress: so.Progress, Ended: ended,
	})
	if err != nil {
		return nil, err
	}

	if len(draws) == 1 {
		return []*Estimate{s.result(e, doubts(e, so.Tolerance), &draws[0].Options)}, nil
	}
	tolerance := so.Tolerance
	if s.enough(e) {
		tolerance = 0
	}
	var list []*Estimate
	for i, of := range s.ofDraws(e) {
		of.Interval = e.Interval
		list = append(list, s.result(of, doubts(e, tolerance), &draws[i].Options))
	}
	return list, nil
}

// ofDraws returns the estimates of draws by the windows of their mean.
func (s *sample) ofDraws(mean *sampling.Estimate) (list []*sampling.Estimate) {
	for i := range s.draws {
		list = append(list, mean.Of(func(from, to int) []sampling.StartTimes { return s.measured[[2]int{from, to}][i] }))
	}
	return list
}

// enough reports whether the error of the mean of draws adds no more to their spread than the tolerance.
func (s *sample) enough(mean *sampling.Estimate) bool {
	var seconds []float64
	for _, e := range s.ofDraws(mean) {
		seconds = append(seconds, e.Seconds)
	}
	spread, sd := summary(seconds).SD, mean.Interval/normal95
	return math.Sqrt(float64(spread*spread)+float64(sd*sd)) <= (1+s.Tolerance)*spread
}

// result adds what sampling does not know to an estimate: names, counts, and what the figures are of.
func (s *sample) result(e *sampling.Estimate, doubts []warning.Warning, o *Options) *Estimate {
	est := &Estimate{
		Estimate: e, Header: s.header, Complete: o.allSteps(s.header) && s.end-s.first >= s.header.Steps,
		First: s.first, Last: s.end - 1, Messages: s.messages.Load() / int64(len(s.draws)), Workers: len(s.workers),
		Warnings: doubts,
	}
	if s.noisy {
		est.Seed = &o.Seed
	}
	for i := range e.Windows {
		if w := &e.Windows[i]; s.longer != nil {
			w.Seconds += (s.longer[w.To-s.first] - s.longer[w.Start-s.first]) / float64(w.To-w.Start)
		}
	}
	// The parts are those of the kinds, then of the kernels, the phases and devices. Parts of no time are left out.
	first := 0
	next := func(names []string) []EstimatedShare {
		shares := []EstimatedShare{}
		for i, p := range e.Parts[first:][:len(names)] {
			if p.Seconds > 0 {
				shares = append(shares, EstimatedShare{names[i], p.Seconds, p.Interval})
			}
		}
		first += len(names)
		return shares
	}
	est.Kinds, est.Kernels, est.Phases = next(kindNames[:]), next(KernelNames(s.header)), next(s.header.Phases)
	if len(s.header.Queues) > 0 {
		est.DeviceStates, est.Devices = next(deviceStates[:]), next(KernelNames(s.header))
	}
	for _, k := range est.Kinds {
		if k.Name == kindNames[TimeCollective] && e.MeanEnd > 0 {
			est.Warnings = warnLinear(est.Warnings, s.linear, k.Mean/e.MeanEnd)
		}
	}
	if est.Complete && e.Seconds > 0 {
		est.Gflops = s.header.Flops / e.Seconds / 1e9
		est.GflopsInterval = est.Gflops * e.Relative()
	}
	if s.meter != nil { // its parts come last
		joules := e.Parts[len(e.Parts)-energyParts:]
		est.Energy = s.meter.estimate([]float64{joules[0].Seconds, joules[1].Seconds}, e.Seconds, est.Gflops)
		est.EnergyInterval = float64((joules[0].Interval+joules[1].Interval)*float64(s.header.Ranks)) + float64(s.meter.idleWatts()*e.Interval)
	}
	if s.work != nil {
		est.WindowSteps = est.byKind(s.work, est.secondsOfKinds(s.work))
	}
	return est
}

// doubts returns what makes the interval of an estimate doubtful. tolerance is that which was asked for, 0 for none.
func doubts(e *sampling.Estimate, tolerance float64) []warning.Warning {
	list := []warning.Warning{}
	if e.Outliers > 0 {
		list = append(list, warning.New("%d of the steps cost far more than those beside them; the interval is doubled, since there may be rarer ones", e.Outliers))
	}
	if tolerance > 0 && e.Relative() > tolerance {
		list = append(list, warning.New("the tolerance of %.6g %% was not reached", 100*tolerance))
	}
	return list
}

// sample is a trace that is being sampled.
type sample struct {
	SampleOptions
	Draw       // the first, by which steps and windows are told
	draws      []Draw
	open       func() (*trace.Trace, error)
	header     *trace.Header
	first, end int // steps [first, end)
	opening    sync.Mutex
	workers    []*trace.Trace // nil until the worker begins
	messages   atomic.Int64
	noisy      bool
	linear     int64     // bits of the operations that are called by linear algorithms
	polls      bool      // ranks poll for messages while they work
	parts      int       // accounts of a rank
	meter      *meter    // of the machine; nil: nothing has a power
	work       []int32   // by step from first: which work it is, where steps repeat
	longer     []float64 // by step from first: by how much the steps before compute longer than the usual step, seconds
	idle       chan int  // numbers of workers that play nothing, where windows are shared

	// Of several draws: guarded by drawn.
	drawn           sync.Mutex
	measured        map[[2]int][][]sampling.StartTimes // by window: of each draw
	ended, expected int                                // windows of draws
}

// begin finds out which steps there are, and whether they can be played.
func (s *sample) begin(ctx context.Context) (err error) {
	defer textutil.Stopped(&err)
	t := textutil.Must(s.open())
	defer t.Close()
	if _, file := t.Totals(); !file {
		return errors.New("sampling reads the steps in any order: it needs a trace file, not a pipe")
	}
	e := textutil.Must(newEngine(t.Header(), s.Machine, s.Options))
	textutil.Check(e.checkDeclared(t, &s.Options))
	// Processes may share windows only if all that these depend on is the same: it is what a checkpoint would name.
	if s.Share != nil {
		e.trace = t
		textutil.Check(s.Share.Begin((&Pause{engine: e, header: t.Header(), options: &s.Options}).identity()))
	}
	if _, called := t.Program().Called(len(t.Header().Kernels)); t.Header().Ranks > fewRanks {
		s.linear = linear(e.collectives.selector, called[:])
	}
	s.parts, s.noisy, s.meter = e.numParts(), e.costs.random != nil, e.meter
	s.header, s.polls = t.Header(), t.Program().PollsAhead()
	if s.first, s.end = s.Options.steps(t); s.end <= s.first {
		return fmt.Errorf("the trace has no steps from %d on", s.Options.From)
	}
	s.work = textutil.Must(workOfSteps(t, s.first, s.end, false))
	return s.compute(ctx, t, e)
}

// mostLevelled bounds the steps of a run of which compute reads all computations. Windows of longer runs are few beside
// the run, and reading all of it would take longer than they do.
const mostLevelled = 1000

// compute reads from the trace how long the busiest rank computes in each step, without a replay. Steps that have
// several forms, or sizes that depend on data, differ mostly in that; windows then measure the rest of their time (level).
// With a deadline it reads nothing, as the time it takes goes by the length of the trace.
func (s *sample) compute(ctx context.Context, t *trace.Trace, e *engine) error {
	n, flops := s.end-s.first, false
	t.Program().Visit(func(item *trace.Item) { flops = flops || item.Op == trace.OpFlops })
	if _, limited := ctx.Deadline(); limited || !flops || !e.options.SimulateComputation || n < 3 || n > mostLevelled {
		return nil
	}
	seconds, usual := make([]float64, n), 0.0 // of the rank that computes longest in the step
	of, own := make([]int, s.header.Ranks), make([]float64, s.header.Ranks)
	w := trace.Walk{Options: trace.CursorOptions{From: s.first, To: s.end}}
	w.Passed = func(*trace.Chunk, int) error { return context.Cause(ctx) }
	w.See = func(r *trace.ActionReader, a *trace.Action) (bool, error) {
		if a.Kind == trace.KindFlops {
			rank, step := r.Cursor().Rank(), r.Step()-s.first
			if of[rank] != step {
				of[rank], own[rank] = step, 0
			}
			own[rank] += a.Flops() * e.costs.scale / e.speed(e.machine.Hosts[rank])
			seconds[step] = max(seconds[step], own[rank])
		}
		return true, nil
	}
	err := t.Walk(w)
	// The ends of the run are in windows, as they are.
	inner := seconds[1 : n-1]
	for _, v := range inner {
		usual += v / float64(len(inner))
	}
	s.longer = make([]float64, n+1)
	for k, v := range inner {
		s.longer[k+2] = s.longer[k+1] + v - usual
	}
	s.longer[n] = s.longer[n-1]
	return err
}

// level takes off by how much the steps of a window compute longer than the usual step. Over the run that adds up to 0.
func (s *sample) level(starts []sampling.StartTimes, from int) []sampling.StartTimes {
	if s.longer == nil {
		return starts
	}
	list := slices.Clone(starts)
	for k := range list {
		off := s.longer[from-s.first+k] - s.longer[from-s.first]
		parts := slices.Clone(list[k].Parts)
		parts[TimeCompute] -= off
		list[k] = sampling.StartTimes{Mean: list[k].Mean - off, Last: list[k].Last - off, Parts: parts}
	}
	return list
}

// longestPeriod bounds the steps of a window: what longer ones gain by being whole periods they lose by being few.
const longestPeriod = 64

// turns returns after how many steps the same ranks of a process grid have the same part again, if they take turns
// within its rows and columns. The period is as many as have both begin anew or, if those are too many, the larger one,
// or else the smaller; the cycles are those of both, of the columns first. 0, nil: not known.
func turns(h *trace.Header) (period int, cycles []int) {
	if h.Communicators || len(h.CommFamilies) != 2 {
		return 0, nil
	}
	p, q := h.CommFamilies[0].Groups[0].Len(), h.CommFamilies[1].Groups[0].Len()
	if p*q != h.Ranks {
		return 0, nil
	}
	both := p
	for both%q != 0 {
		both += p
	}
	for _, steps := range []int{both, max(p, q), min(p, q)} {
		if steps <= longestPeriod {
			period = steps
			break
		}
	}
	return period, []int{p, q}
}

// measure is the sampling.Measure of the trace.
func (s *sample) measure(ctx context.Context, worker, from, to int) ([]sampling.StartTimes, error) {
	w, err := s.play(ctx, worker, &s.Draw, from, to)
	if err != nil {
		return nil, err
	}
	s.messages.Add(w.Messages)
	return s.level(w.Starts, from), nil
}

// measureDraws is the sampling.Measure of the mean of several draws.
func (s *sample) measureDraws(ctx context.Context, worker, from, to int) ([]sampling.StartTimes, error) {
	mean, share := make([]sampling.StartTimes, to-from+1), 1/float64(len(s.draws))
	var each [][]sampling.StartTimes
	for i := range s.draws {
		w, err := s.play(ctx, worker, &s.draws[i], from, to)
		if err != nil {
			return nil, err
		}
		s.messages.Add(w.Messages)
		each = append(each, s.level(w.Starts, from))
		for k, t := range each[i] {
			m := &mean[k]
			m.Mean += float64(share * t.Mean)
			m.Last += float64(share * t.Last)
			m.Parts = append(m.Parts, make([]float64, len(t.Parts)-len(m.Parts))...)
			for part, v := range t.Parts {
				m.Parts[part] += float64(share * v)
			}
		}
		s.drawn.Lock()
		if s.ended++; s.Ended != nil {
			s.Ended(s.ended, s.expected)
		}
		s.drawn.Unlock()
	}
	s.drawn.Lock()
	defer s.drawn.Unlock()
	s.measured[[2]int{from, to}] = each
	return mean, nil
}

// play plays a window. The barrier at the end of the program is only in the last window.
func (s *sample) play(ctx context.Context, worker int, d *Draw, from, to int) (_ *WindowTimes, err error) {
	defer textutil.Stopped(&err)
	t := s.workers[worker]
	if t == nil { // its first window
		s.opening.Lock()
		t, err = s.open()
		s.workers[worker] = t
		s.opening.Unlock()
		textutil.Check(err)
	}
	// A window is a replay of its steps alone, with the options of the whole but for what concerns the run as
	// one: progress, checkpoints, and the barrier at the end.
	o := d.Options
	o.From, o.To, o.StepStarts = from, to, true
	o.Progress, o.Resume, o.Checkpoints = nil, nil, nil
	ended := func() {}
	if s.Observe != nil {
		o.Observers, ended = s.Observe(from, to)
	}
	o.Network.FinalizationBarrier = o.Network.FinalizationBarrier && to == s.end
	e := textutil.Must(newEngine(t.Header(), d.Machine, o))
	list := textutil.Must(t.Cursors(nil, trace.CursorOptions{From: from, To: to, Omit: e.costs.freeKernels()}))
	res := textutil.Must(e.play(ctx, t.Header(), cursors(list), &o))
	ended()
	return &WindowTimes{Messages: res.Messages, Starts: res.StepStarts}, nil
}

// WindowTimes is the result of a window of an estimate.
type WindowTimes struct {
	Messages int64                 `json:"messages"` // that were simulated
	Starts   []sampling.StartTimes `json:"starts"`   // of each step, and of the end
}

// A Sharer shares the windows of an estimate among processes, each of which makes it (package
// study/estimates). Its methods may be called by several goroutines.
type Sharer interface {
	// Begin is told all that windows depend on, before the first.
	Begin(run []Property) error
	// Window returns the result of the steps [from, to). If no process has it, Window calls play; if another process is
	// playing them, it returns nil.
	Window(from, to int, play func() (*WindowTimes, error)) (*WindowTimes, error)
}

const (
	// sharedAtOnce is how many windows a process handles at once if several share them: all of a round, so that windows
	// which others play keep no worker from playing the rest.
	sharedAtOnce = 1 << 10
	// lookEvery is how long a process waits before it looks again for what another one plays.
	lookEvery = 200 * time.Millisecond
)

// measureShared is the sampling.Measure of windows that processes share. It looks for the window until it is there, and
// plays it itself once one of the workers is idle and no other process has begun it.
func (s *sample) measureShared(ctx context.Context, _, from, to int) ([]sampling.StartTimes, error) {
	for {
		var worker int
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case worker = <-s.idle:
		}
		// The worker is held while the window is looked for: another process may leave it to this one.
		w, err := s.Share.Window(from, to, func() (*WindowTimes, error) { return s.play(ctx, worker, &s.Draw, from, to) })
		s.idle <- worker
		if err != nil {
			return nil, err
		}
		if w != nil {
			s.messages.Add(w.Messages)
			return s.level(w.Starts, from), nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lookEvery):
		}
	}
}
