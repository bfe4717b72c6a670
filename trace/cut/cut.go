// Package cut takes a part of a trace, from one mark to another: `trace cut`.
//
// A [Mark] is a place in the program that each rank comes to: the begin of a step, the begin or
// end of a phase, the first or last use of a communicator, a collective operation of all ranks.
// The part is a trace of its own:
//
//	from, err := cut.Parse("comm:comm3")
//	to, err := cut.Parse("end-of-comm:comm3")
//	summary, err := cut.Write(w, t, from, to, cut.Options{})
//
// From step to step its calls are copied as they are. Between other marks what ranks do is
// written action by action; that cannot be where ranks poll, as a poll has no outcome yet.
//
// # Units
//
// Sizes of messages are in bytes.
//
// # Errors
//
// A mark that is not there, or not for all ranks, is an error that names it and the rank. So are
// messages, requests and operations that are under way at a mark, as the part would lack their
// other half: the error names them.
//
// # Source
//
// None: it follows from what a trace is (docs/trace-format.md).
package cut

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"reprise/trace"
)

// Options of a cut.
type Options struct {
	Tool, Command string             // for the header
	Progress      func(done, of int) // of the steps, each as often as it is looked at; may be nil
}

// Summary is what a part holds.
type Summary struct {
	Ranks   int   `json:"ranks"`
	Actions int64 `json:"actions"` // of all ranks, polls answered as trace.Hit does
	Steps   int   `json:"steps"`   // first to last
}

// errStream is the error of a trace that can be read once.
var errStream = errors.New("a part is cut out of a file, which is read several times")

// Write writes to w what each rank does from one mark to another.
func Write(w io.Writer, t *trace.Trace, from, to Mark, o Options) (*Summary, error) {
	c := &cutter{t: t, from: from, to: to, o: o, w: w}
	switch {
	case t.IsStream():
		return nil, errStream
	case c.ofSteps():
		return c.units()
	case polls(t):
		return nil, fmt.Errorf("ranks poll in this trace, and what they do is decided where it is played: cut from step:N to step:N, not from %v to %v", from, to)
	}
	return c.actions()
}

// polls reports whether what ranks do depends on when messages arrive.
func polls(t *trace.Trace) (yes bool) {
	t.Program().Visit(func(it *trace.Item) { yes = yes || it.Op == trace.OpDefine && len(it.Guard) > 0 })
	return yes
}

// cutter cuts a part out of a trace.
type cutter struct {
	t        *trace.Trace
	from, to Mark
	o        Options
	w        io.Writer
	sum      Summary
	ways     int // that were gone
}

// The most ways through a trace: to find the marks, to what is before the part, through it, and to
// write it.
const mostWays = 4

// turn is how many actions of a rank are looked at before those of the next: ranks are kept
// close to each other, so that few chunks are held.
const turn = 4096

// walk goes another way through the trace.
func (c *cutter) walk(w trace.Walk) error {
	steps, done := c.t.Header().Steps, c.ways
	c.ways++
	w.Passed = func(chunk *trace.Chunk, ranks int) error {
		if c.o.Progress != nil {
			units := chunk.Units()
			c.o.Progress(done*steps+min(units[len(units)-1].Step, steps), mostWays*steps)
		}
		return nil
	}
	return c.t.Walk(w)
}

// header returns that of the part.
func (c *cutter) header() *trace.Header {
	h := *c.t.Header()
	h.Tool, h.Command = c.o.Tool, c.o.Command
	h.SetPart(fmt.Sprintf("%v to %v", c.from, c.to))
	return &h
}

// actions writes the part action by action.
func (c *cutter) actions() (*Summary, error) {
	from, to, err := c.places()
	if err != nil {
		return nil, err
	}
	u := newUnderWay(c.t)
	for _, m := range []struct {
		mark  Mark
		after []int64
		until []int64
	}{{c.from, make([]int64, len(from)), from}, {c.to, from, to}} {
		err := c.walk(trace.Walk{See: func(r *trace.ActionReader, a *trace.Action) (bool, error) {
			rank, at := r.Cursor().Rank(), r.Index()
			if at >= m.after[rank] && at < m.until[rank] {
				u.see(rank, a, r.Cursor())
			}
			return at < m.until[rank], nil
		}})
		if err != nil {
			return nil, err
		}
		if err := u.check(m.mark); err != nil {
			return nil, err
		}
	}
	return c.writeActions(from, to)
}

// places finds where the marks are for each rank.
func (c *cutter) places() (from, to []int64, err error) {
	first, err := newFinder(c.t.Header(), c.from)
	if err != nil {
		return nil, nil, err
	}
	last, err := newFinder(c.t.Header(), c.to)
	if err != nil {
		return nil, nil, err
	}
	err = c.walk(trace.Walk{
		See: func(r *trace.ActionReader, a *trace.Action) (bool, error) {
			first.see(r, a)
			last.see(r, a)
			return true, nil
		},
		End: func(r *trace.ActionReader) error {
			if err := cmp.Or(r.Err(), first.close(r)); err != nil {
				return err
			}
			return last.close(r)
		},
	})
	if err != nil {
		return nil, nil, err
	}
	empty := true
	for rank, at := range first.places {
		if at > last.places[rank] {
			return nil, nil, fmt.Errorf("rank %d comes to mark %v before it comes to %v", rank, c.to, c.from)
		}
		empty = empty && at == last.places[rank]
	}
	if empty {
		return nil, nil, fmt.Errorf("there is nothing from %v to %v", c.from, c.to)
	}
	return first.places, last.places, nil
}
