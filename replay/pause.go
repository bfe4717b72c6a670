package replay

import (
	"context"
	"sync/atomic"
	"time"

	"reprise/trace"
)

// Checkpoints says when the state of a replay is saved, so that another one can go on from
// there (Options.Resume).
type Checkpoints struct {
	// Write is called between two events: before the first, then when Every has passed
	// since the last time, and at the end of the context. It may call Pause.Save. An error
	// ends the replay with it, and with the result so far.
	Write func(*Pause) error
	// Every is the wall time between two; 0: Write is called between any two events, some
	// hundred thousand times a second.
	Every time.Duration
}

// Pause is a replay that stands between two events, so that its state can be
// saved. It is valid until the function that got it returns.
type Pause struct {
	engine  *engine
	header  *trace.Header
	options *Options
	about   []Property // identity; nil until it is needed
	before  float64    // seconds of wall time of the parts that were resumed
	stopped bool       // the replay has ended before its end

	ctx       context.Context
	attention atomic.Bool // the event loop is to pause
	due       atomic.Bool // for a checkpoint
	timer     *time.Timer // of the next one
}

// pauser knows when the event loop is to pause, and for whom.
type pauser struct {
	call  func() error // between events; nil: nobody asks
	asked *atomic.Bool // whether to call it; nil: always
}

// due reports whether the event loop is to pause now.
func (p *pauser) due() bool { return p.call != nil && (p.asked == nil || p.asked.Load()) }

// begin makes the ranks ready to run, or goes on from a checkpoint.
func (p *Pause) begin() error {
	if p.options.Resume != nil {
		return p.resume(p.options.Resume)
	}
	for r := range p.engine.ranks {
		p.engine.wake(int32(r))
	}
	return nil
}

// stopWith has the event loop pause for checkpoints and for the end of ctx; stop frees what
// waits for these. Between them the loop looks at a flag.
func (p *Pause) stopWith(ctx context.Context) (stop func()) {
	p.ctx = ctx
	c := p.options.Checkpoints
	if c != nil || ctx.Done() != nil {
		p.engine.pauser.call = p.attend
	}
	if c != nil && c.Every <= 0 {
		return func() {}
	}
	// The first checkpoint is due at once, the next ones by a timer. The flag is set from other goroutines, and
	// the loop reads it once an event.
	p.engine.pauser.asked = &p.attention
	if c != nil {
		p.tick()
		p.timer = time.AfterFunc(c.Every, p.tick)
	}
	unwatch := context.AfterFunc(ctx, func() { p.attention.Store(true) })
	if ctx.Err() != nil {
		p.attention.Store(true)
	}
	return func() {
		unwatch()
		if p.timer != nil {
			p.timer.Stop()
		}
	}
}

// tick makes a checkpoint due.
func (p *Pause) tick() {
	p.due.Store(true)
	p.attention.Store(true)
}

// attend does what the event loop has paused for.
func (p *Pause) attend() error {
	p.attention.Store(false)
	ended := p.ctx.Err() != nil
	var err error
	if c := p.options.Checkpoints; c != nil && (p.due.Swap(false) || ended || c.Every <= 0) {
		err = c.Write(p)
		if p.timer != nil {
			p.timer.Reset(c.Every)
		}
	}
	if err == nil && ended {
		err = context.Cause(p.ctx)
	}
	p.stopped = err != nil
	return err
}

// Time returns the simulated time up to which everything has happened, in seconds.
func (p *Pause) Time() float64 { return p.engine.now }

// Messages returns the number of messages that have been sent.
func (p *Pause) Messages() int64 { return p.engine.matcher.numMessages }
