// Package replay plays a trace on a model of a machine and says when everything would have happened.
//
//	machine, options, warnings, err := replay.LoadMachine(replay.MachineSpec{Platform: "dahu"}, t)
//	...
//	result, err := replay.Run(ctx, t, machine, options)
//	...
//	fmt.Println(result.Makespan, result.Gflops)
//
// # Functions
//
// [Run] takes a trace (package trace), a [Machine] and [Options], and returns a [Result]: the
// makespan, the end of each rank, and where the time went by kind, kernel and phase. Its
// siblings take the same: [RunSource] plays actions that come from elsewhere, which [Lists]
// holds in memory; [Runs] replays with many seeds; [Sample] estimates from windows of steps.
// All of them end with their context, a few milliseconds after it.
//
// [LoadMachine] loads a machine by the names of files and of what is built in, with the
// options that its platform's file sets, and says what is odd about it. A [Machine] may also
// be put together from its parts: see the example of Run.
//
// [NewReport], [NewEnsembleReport] and [NewEstimateReport] print a result for people or as
// JSON. [Checkpoints] and [Options].Resume save the state of a replay and go on from there. An
// [Observer] has functions that a replay calls as actions, messages and waits begin and end.
//
// # Units
//
// Times are in seconds from the entry of all ranks, sizes in bytes, speeds in flop/s. Ranks,
// hosts, steps, kernels and phases are numbers from 0.
//
// # Errors
//
// An error of a file names it and the line. A replay that fails says which rank was in which
// action; a deadlock, what each rank waits for. Errors to tell apart are [ErrOtherRun],
// [ErrTooManyRanks], [SettingError], sampling.ErrExact and the causes of contexts. What is odd but no error
// is a list of [warning.Warning], in results and, of what came before an error, in that
// ([warning.Of]).
//
// # Engine
//
// The engine is one event loop without goroutines. Each rank runs ahead on its own clock, through computations,
// overheads and posts, until it must wait for a transfer; the loop knows only the times at which transfers begin and
// end to share links (package netmodel), and those of the ranks that must look at what others have done: polls, tests,
// receives from any source, and computations on processors that several ranks share. A message costs two events, a
// computation none.
//
// Polls are decided at simulated time: a KindPoll of the trace asks whether its message has been posted by then, and
// the trace goes on with what the program would have done.
//
// Results are the same bits in every run, whatever GOMAXPROCS. One replay is for one
// goroutine; a Machine may be shared by several, a trace may not.
//
// # Source
//
// The semantics are those of SMPI in SimGrid 3.32, stated in docs/replay.md; the sharing of
// links is that of its max-min solver, and the protocol LogGPS (docs/network-model.md).
package replay

import (
	"context"
	"errors"
	"fmt"

	"reprise/internal/textutil"
	"reprise/smpi"
	"reprise/trace"
)

// Options says how to replay. Use DefaultOptions, not the zero value.
type Options struct {
	// Network holds everything that SimGrid's options can set: the network
	// model, the protocol, what probes and tests cost.
	Network smpi.Options
	// Steps [From, To) of the trace are played; To = 0: all from From on.
	From, To int
	// Progress, if set, is called whenever the ranks have come one step
	// further on average, with the number of steps begun since From.
	Progress func(steps int)
	// ComputeScale is how many times as long amounts of flop take as they do on their hosts.
	ComputeScale float64
	// FileBandwidth is how many byte/s of files a rank reads or writes; 0: as many as it wants, in no time.
	FileBandwidth float64
	// ComputeNoise has those amounts drawn whose spread the trace states: each is its mean otherwise.
	ComputeNoise bool
	// Seed names the random numbers of models that have noise.
	Seed uint64
	// StepStarts asks for Result.StepStarts; To must be set then.
	StepStarts bool
	// Checkpoints, if set, says when the state of the replay is saved.
	Checkpoints *Checkpoints
	// Resume, if set, is where to go on. Trace, machine and options must be those of
	// the run that was saved, or the error wraps ErrOtherRun.
	Resume *Checkpoint
	// Observers are called as things happen. For windows of an estimate see SampleOptions.Observe.
	Observers []Observer
	// Identity names what else the run depends on, such as the kernel models and the version of the program.
	Identity []Property
}

// DefaultOptions returns SMPI's defaults, for all steps and seed 1.
func DefaultOptions() Options {
	return Options{Network: smpi.DefaultOptions(), ComputeScale: 1, Seed: 1}
}

// allSteps reports whether the options leave out no step of a program, of which the trace is not a part.
func (o *Options) allSteps(h *trace.Header) bool {
	return h.Part() == "" && o.From <= 0 && (o.To <= 0 || o.To >= h.Steps)
}

// steps returns the steps [first, end) that a trace has of those that the options ask for. One without chunks has one.
func (o *Options) steps(t *trace.Trace) (first, end int) {
	first, end = o.From, o.From+1
	if w := t.ChunkInfos(); len(w) > 0 {
		first, end = max(first, w[0].First), w[len(w)-1].Last+1
	}
	if o.To > 0 {
		end = min(end, o.To)
	}
	return first, end
}

// errUnsupported is the error of an action that this version cannot play.
var errUnsupported = errors.New("this action is not supported")

// Run plays a trace on a machine: all ranks enter at time 0. If ctx ends first, the error is its cause, a few
// milliseconds later, and the result says how far the replay has come (Result.StoppedAt).
func Run(ctx context.Context, t *trace.Trace, m Machine, o Options) (_ *Result, err error) {
	defer textutil.Stopped(&err)
	e := textutil.Must(newEngine(t.Header(), m, o))
	textutil.Check(e.checkDeclared(t, &o))
	co := trace.CursorOptions{From: o.From, To: o.To, Omit: e.costs.freeKernels(), Idle: true}
	list := textutil.Must(t.Cursors(nil, co))
	e.trace = t
	textutil.Check(e.lookForRepeats(list, co, &o))
	return e.play(ctx, t.Header(), cursors(list), &o)
}

// RunSource is Run for the actions of a source. The header gives the number of ranks
// and the names of kernels and phases that the actions refer to. A source that waits for
// its actions should fail with context.Cause(ctx) when ctx ends.
func RunSource(ctx context.Context, h *trace.Header, s Source, m Machine, o Options) (*Result, error) {
	e, err := newEngine(h, m, o)
	if err != nil {
		return nil, err
	}
	return e.play(ctx, h, s, &o)
}

// play plays the actions of s until ctx ends.
func (e *engine) play(ctx context.Context, h *trace.Header, s Source, o *Options) (*Result, error) {
	if o.Network.FinalizationBarrier {
		s = &barrierSource{s, make([]bool, h.Ranks)}
	}
	e.source, e.collectives.sums.source = s, s
	p := &Pause{engine: e, header: h, options: o}
	if o.Resume != nil {
		if err := p.resume(o.Resume); err != nil {
			return nil, err
		}
	} else {
		for r := range e.ranks {
			e.wake(int32(r))
		}
	}
	defer p.stopWith(ctx)()
	if err := e.observe(o); err != nil {
		return nil, err
	}
	err := e.loop()
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		p.stopped = true // by its source, too
	}
	if err != nil && !p.stopped {
		return nil, err
	}
	res := e.result(h, o)
	res.WallBefore = p.before
	res.Warnings = warnLinear(e.warnings(!p.stopped), e.collectives.linear, res.collectiveShare())
	if p.stopped {
		// No rank may have come to the time of the stop: they wait for transfers that go on.
		res.StoppedAt, res.Makespan = new(e.now), max(res.Makespan, e.now)
		res.Complete, res.Gflops = false, 0
	}
	var parts []float64 // of energy at the end
	if e.meter != nil {
		// SimGrid's run ends with its last event, which may be that of a message that nobody has received.
		res.Energy = e.meter.energy(max(res.Makespan, e.now), res.Gflops)
		parts = e.meter.parts()
	}
	if p.stopped {
		return res, err
	}

	// The begins of steps, if they were asked for, and the end by the accounts of ranks that have ended. All
	// ranks must begin all steps.
	for i, b := range e.progress.starts {
		if b.ranks != len(e.ranks) {
			return nil, fmt.Errorf("%d of %d ranks begin step %d", b.ranks, len(e.ranks), o.From+i)
		}
		res.StepStarts = append(res.StepStarts, StepStart{
			Mean: b.sum / float64(b.ranks), Last: b.last, Parts: averages(b.parts, b.ranks),
		})
	}
	if res.StepStarts != nil {
		res.StepStarts = append(res.StepStarts, StepStart{
			Mean: res.meanEnd(), Last: res.Makespan, Parts: append(e.accounts.means(), parts...),
		})
	}
	return res, nil
}

// checkDeclared checks, before the first action of a trace is played, that all kernels that it calls have a model, and
// all its collective operations an algorithm. Of a stream these are not known before its end, and of some steps only
// not which are called in them: there it is an error where the first is called.
func (e *engine) checkDeclared(t *trace.Trace, o *Options) error {
	h := t.Header()
	if _, file := t.Totals(); !file || o.From > 0 || o.To > 0 && o.To < h.Steps {
		return nil
	}
	kernels, collectives := t.Program().Called(len(h.Kernels))
	for k, called := range kernels {
		// Where only some ranks have a model, these may be those that call the kernel.
		nowhere := called
		for row := k; row < len(e.costs.models); row += len(e.costs.kernelNames) {
			nowhere = nowhere && e.costs.models[row].err != nil
		}
		if nowhere {
			return fmt.Errorf("the trace calls what cannot be played: %w", e.costs.noModel(0, uint16(k)))
		}
	}
	// A rank alone carries out every collective operation without a message.
	for kind, called := range collectives {
		if !called || h.Ranks == 1 {
			continue
		}
		if err := e.collectives.selector.Check(trace.CollectiveKind(kind)); err != nil {
			return fmt.Errorf("the trace calls what cannot be played: %w", err)
		}
	}
	return nil
}

// A Source yields the flat actions of each rank, in program order. It is asked
// in batches; nothing is called per action.
type Source interface {
	// Fill stores the next actions of rank in buf and returns how many, 0 at
	// the end of the rank's stream. A KindPoll is the last of its batch.
	Fill(rank int32, buf []trace.Action) (int, error)
	// Answer tells whether the KindPoll that ended the last batch of rank is a hit: a
	// probe sees its message. It comes before the next Fill of that rank.
	Answer(rank int32, hit bool)
	// Sums returns the running sums, from 0, of the counts per rank that a KindCollective of the last batch of rank
	// names by their number, nil if there are none. They stay as they are until the next Fill of that rank.
	Sums(rank int32, list int64) []int64
}

// A Requester is a Source of actions that complete several requests.
type Requester interface {
	// Requests returns the request slots that a KindComplete of the last batch of rank names
	// by their number, nil if there are none.
	Requests(rank int32, list int64) []int32
}

// cursors is the Source of a trace.
type cursors []trace.Cursor

// Fill implements Source.
func (c cursors) Fill(rank int32, buf []trace.Action) (int, error) { return c[rank].Fill(buf) }

// Answer implements Source.
func (c cursors) Answer(rank int32, arrived bool) { c[rank].Answer(arrived) }

// Sums implements Source.
func (c cursors) Sums(rank int32, list int64) []int64 { return c[rank].Sums(list) }

// Requests implements Requester.
func (c cursors) Requests(rank int32, list int64) []int32 { return c[rank].Requests(list) }

// Lists is a Source that holds the actions of each rank in memory. A KindPoll with trace.FlagSpin is repeated until it
// is answered with true; the outcome of other polls changes nothing.
type Lists struct {
	// Counts are the running sums that collective operations name, by their index.
	Counts [][]int64
	// Slots are the request slots that completions name, by their index.
	Slots [][]int32

	actions [][]trace.Action
	next    []int
}

// NewLists returns the source of the given lists, one per rank, which it keeps.
func NewLists(actions [][]trace.Action) *Lists {
	return &Lists{actions: actions, next: make([]int, len(actions))}
}

// Fill implements Source.
func (l *Lists) Fill(rank int32, buf []trace.Action) (int, error) {
	n := 0
	for _, a := range l.actions[rank][l.next[rank]:] {
		if n == len(buf) {
			break
		}
		buf[n] = a
		n++
		if a.Kind == trace.KindPoll {
			break
		}
	}
	l.next[rank] += n
	return n, nil
}

// Answer implements Source.
func (l *Lists) Answer(rank int32, arrived bool) {
	if last := l.next[rank] - 1; !arrived && l.actions[rank][last].Flags&trace.FlagSpin != 0 {
		l.next[rank] = last
	}
}

// Sums implements Source.
func (l *Lists) Sums(_ int32, list int64) []int64 {
	if uint64(list) >= uint64(len(l.Counts)) {
		return nil
	}
	return l.Counts[list]
}

// Requests implements Requester.
func (l *Lists) Requests(_ int32, list int64) []int32 {
	if uint64(list) >= uint64(len(l.Slots)) {
		return nil
	}
	return l.Slots[list]
}

// barrierSource appends to the actions of each rank a wait for what is pending and the barrier in MPI_Finalize
// that smpi/finalization-barrier asks for.
type barrierSource struct {
	Source
	over []bool // the end of a rank's actions was met
}

// Fill implements Source; the engine asks for more than two actions at a time.
func (b *barrierSource) Fill(rank int32, buf []trace.Action) (int, error) {
	if b.over[rank] {
		return 0, nil
	}
	n, err := b.Source.Fill(rank, buf)
	if n > 0 || err != nil {
		return n, err
	}
	// The actions of the program are over. The wait comes first: SMPI's barrier is in MPI_Finalize.
	b.over[rank] = true
	var last [2]trace.Action
	last[0].Kind = trace.KindWaitAll
	last[1].SetCollective(&trace.Collective{Kind: trace.CollBarrier})
	return copy(buf, last[:]), nil
}

// Requests implements Requester, if the source does.
func (b *barrierSource) Requests(rank int32, list int64) []int32 {
	if s, ok := b.Source.(Requester); ok {
		return s.Requests(rank, list)
	}
	return nil
}
