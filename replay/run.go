package replay

import (
	"context"
	"errors"
	"fmt"

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
	// Identity names what else the run depends on, such as the kernel models and
	// the version of the program.
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

// errUnsupported is the error of an action that this version cannot play.
var errUnsupported = errors.New("this action is not supported")

// Run plays a trace on a machine: all ranks enter at time 0. If ctx ends first, the error is
// its cause, a few milliseconds later, and the result says how far the replay has come
// (Result.StoppedAt).
func Run(ctx context.Context, t *trace.Trace, m Machine, o Options) (*Result, error) {
	e, err := newEngine(t.Header(), m, o)
	if err != nil {
		return nil, err
	}
	if err := e.checkDeclared(t, &o); err != nil {
		return nil, err
	}
	co := trace.CursorOptions{From: o.From, To: o.To, Omit: e.costs.freeKernels(), Idle: true}
	list, err := t.Cursors(nil, co)
	if err != nil {
		return nil, err
	}
	e.trace = t
	e.expectCrowds(t, &o)
	if err := e.lookForRepeats(list, co, &o); err != nil {
		return nil, err
	}
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
		s = withBarrier(s, h.Ranks)
	}
	e.source, e.collectives.sums.source = s, s
	p := &Pause{engine: e, header: h, options: o}
	if err := p.begin(); err != nil {
		return nil, err
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
	res.WallBefore, res.Warnings = p.before, e.warnings(!p.stopped)
	if p.stopped {
		res.stop(e.now)
		return res, err
	}
	return res, e.progress.addTo(res, &e.accounts)
}

// checkDeclared checks, before the first action of a trace is played, that all kernels
// that it calls have a model, and all its collective operations an algorithm. Of a stream
// these are not known before its end, and of some steps only not which are called in them:
// there it is an error where the first is called.
func (e *engine) checkDeclared(t *trace.Trace, o *Options) error {
	h := t.Header()
	if _, file := t.Totals(); !file || o.From > 0 || o.To > 0 && o.To < h.Steps {
		return nil
	}
	kernels, collectives := t.Program().Called(len(h.Kernels))
	for k, called := range kernels {
		if called && e.nowhere(k) {
			return fmt.Errorf("the trace calls what cannot be played: %w", e.costs.noModel(0, uint16(k)))
		}
	}
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

// nowhere reports whether no rank has a model of a kernel. Where only some have one, these
// may be those that call it.
func (e *engine) nowhere(kernel int) bool {
	for row := kernel; row < len(e.costs.models); row += len(e.costs.kernelNames) {
		if e.costs.models[row].err == nil {
			return false
		}
	}
	return true
}
