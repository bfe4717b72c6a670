// Package cut takes a part of a trace, from one mark to another: `trace cut`.
//
// A [Mark] is a place in the program that each rank comes to: the begin of a step, the begin or end of a phase, the
// first or last use of a communicator, a collective operation of all ranks. The part is a trace of its own:
//
//	from, err := cut.Parse("comm:comm3")
//	to, err := cut.Parse("end-of-comm:comm3")
//	summary, err := cut.Write(w, t, from, to, cut.Options{})
//
// Between two steps the calls of the trace are copied as they are. Between other marks the part is written action by
// action, which is refused where ranks poll, as the outcome of a poll is not in the trace.
//
// # Units
//
// Sizes of messages are in bytes.
//
// # Errors
//
// A mark that is not there, or not for all ranks, is an error that names it and the rank. Messages, requests and
// operations that are under way at a mark are errors that name them, as the part would lack their other half.
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
	"slices"

	"reprise/internal/textutil"
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
	case (from.Kind == Begin || from.Kind == Step) && (to.Kind == End || to.Kind == Step):
		return c.units()
	case polls(t):
		return nil, fmt.Errorf("ranks poll in this trace, and what they do is decided where it is played: cut from step:N to step:N, not from %v to %v", from, to)
	}
	return c.actions()
}

// polls reports whether what ranks do depends on when messages arrive.
func polls(t *trace.Trace) (yes bool) {
	t.Program().Visit(func(it *trace.Item) { yes = yes || it.Op == trace.OpDefine && len(it.Guard) > 0 || it.Op.Relays() })
	return yes
}

// cutter cuts a part out of a trace.
type cutter struct {
	// What is cut, where to, and what is told of it.
	t        *trace.Trace
	from, to Mark
	o        Options
	w        io.Writer
	sum      Summary
	ways     int // that were gone
}

// The most ways through a trace: to find the marks, to what is before the part, through it, and to write it.
const mostWays = 4

// turn is how many actions of a rank are looked at before those of the next: ranks are kept
// close to each other, so that few chunks are held.
const turn = 4096

// walk goes through the trace once more. Progress counts the steps of all walks together; a file with more steps
// than its header says is told as having the header's number.
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

// actions writes the part action by action. The marks of ranks may be in different steps.
func (c *cutter) actions() (_ *Summary, err error) {
	defer textutil.Stopped(&err)
	// First way: where the marks are for each rank.
	first := textutil.Must(newFinder(c.t.Header(), c.from))
	last := textutil.Must(newFinder(c.t.Header(), c.to))
	textutil.Check(c.walk(trace.Walk{
		See: func(r *trace.ActionReader, a *trace.Action) (bool, error) {
			first.see(r, a)
			last.see(r, a)
			return true, nil
		},
		End: func(r *trace.ActionReader) error {
			return cmp.Or(r.Err(), first.close(r), last.close(r))
		},
	}))
	from, to, empty := first.places, last.places, true
	for rank, at := range from {
		if at > to[rank] {
			return nil, fmt.Errorf("rank %d comes to mark %v before it comes to %v", rank, c.to, c.from)
		}
		empty = empty && at == to[rank]
	}
	if empty {
		return nil, fmt.Errorf("there is nothing from %v to %v", c.from, c.to)
	}

	// Second and third way: that nothing is under way at them.
	u := newUnderWay(c.t)
	for _, m := range []struct {
		mark  Mark
		after []int64
		until []int64
	}{{c.from, make([]int64, len(from)), from}, {c.to, from, to}} {
		textutil.Check(c.walk(trace.Walk{See: func(r *trace.ActionReader, a *trace.Action) (bool, error) {
			rank, at := r.Cursor().Rank(), r.Index()
			if at >= m.after[rank] && at < m.until[rank] {
				u.see(rank, a, r.Cursor())
			}
			return at < m.until[rank], nil
		}}))
		textutil.Check(u.check(m.mark))
	}
	return c.writeActions(from, to)
}

// units writes the calls of steps as they are. It keeps the structure of the trace, its blocks included: the part
// is as small as its share of the whole.
func (c *cutter) units() (_ *Summary, err error) {
	defer textutil.Stopped(&err)
	// The steps [from, to) of the part must be there.
	infos := c.t.ChunkInfos()
	if len(infos) == 0 {
		return nil, fmt.Errorf("the trace has no steps")
	}
	first, end := infos[0].First, infos[len(infos)-1].Last+1
	from, to := first, end
	for _, m := range []struct {
		mark Mark
		step *int
	}{{c.from, &from}, {c.to, &to}} {
		if m.mark.Kind != Step {
			continue
		}
		if *m.step = m.mark.Number; *m.step < first || *m.step > end {
			return nil, fmt.Errorf("mark %v: the trace has steps %d to %d", m.mark, first, end-1)
		}
	}
	if from >= to {
		return nil, fmt.Errorf("there is nothing from %v to %v", c.from, c.to)
	}

	// Nothing may be under way at the marks. Before the first step nothing can be under way.
	if from > 0 {
		textutil.Check(c.together(c.from, trace.CursorOptions{To: from}))
	}
	c.sum.Actions = 0 // the second way counts those of the part
	textutil.Check(c.together(c.to, trace.CursorOptions{From: from, To: to}))

	// All blocks and the chunks are copied.
	w := textutil.Must(trace.NewWriter(c.w, c.header(), trace.WriterOptions{}))
	for i := range c.t.Program().NumBlocks() {
		textutil.Must(w.Program().AddBlock(*c.t.Program().Block(i)))
	}
	for chunk, err := range c.t.Chunks(from, to) {
		textutil.Check(err)
		// Handles of vectors are those of the chunk, so that its vectors get new ones, which are forgotten behind it.
		handles, last := map[int64]int64{}, int64(-1)
		for _, unit := range chunk.Units() {
			if unit.Step < from || unit.Step >= to {
				continue
			}
			textutil.Check(w.Step(unit.Step))
			for i := range unit.Calls {
				cols := &unit.Calls[i]
				// A Call states counts where CallColumns have their running sums, and blocks as 64-bit
				// numbers. Columns that need no change are shared with the chunk.
				call := &trace.Call{Site: int(cols.Site), Masks: cols.Masks, Args: slices.Clone(cols.Args)}
				for i := range max(0, len(cols.Starts)-1) {
					call.Counts = append(call.Counts, int64(cols.Starts[i+1]-cols.Starts[i]))
				}
				for _, b := range cols.Blocks {
					call.Blocks = append(call.Blocks, int64(b))
				}
				for i, p := range c.t.Header().CallSites[cols.Site].Params {
					if !p.Vector {
						continue
					}
					call.Args[i] = make([]int64, len(cols.Args[i]))
					for j, v := range cols.Args[i] {
						h, ok := handles[v]
						if !ok {
							h = w.Vector(trace.VectorOf(chunk.Sums(v)))
							handles[v], last = h, h
						}
						call.Args[i][j] = h
					}
				}
				textutil.Check(w.Call(call))
			}
		}
		if last >= 0 {
			w.ForgetVectors(last + 1)
		}
	}
	c.sum.Ranks, c.sum.Steps = c.t.Header().Ranks, to-from
	return &c.sum, w.Close()
}

// phaseKey names a phase of a rank.
type phaseKey struct {
	rank  int32
	phase uint16
}

// together checks that nothing is under way at mark m at the end of the steps that the options select. It leaves
// in c.sum.Actions how many actions they have.
func (c *cutter) together(m Mark, o trace.CursorOptions) error {
	u, h := newUnderWay(c.t), c.t.Header()
	phases := map[phaseKey]int{} // that have begun, and not ended
	see := func(r *trace.ActionReader, a *trace.Action) (bool, error) {
		rank := r.Cursor().Rank()
		u.see(rank, a, r.Cursor())
		c.sum.Actions += a.Lines()
		if phase := (phaseKey{rank, a.Sym}); a.Kind == trace.KindPhase {
			if a.Flags&trace.FlagEnd == 0 {
				phases[phase]++
			} else if phases[phase]--; phases[phase] < 0 {
				return false, fmt.Errorf("mark %v: phase %s of rank %d, which has begun before, ends in step %d: cut elsewhere",
					c.from, h.Phases[a.Sym], rank, r.Step())
			}
		}
		return true, nil
	}
	end := func(r *trace.ActionReader) error {
		for slot := range h.Pollables {
			if r.Err() == nil && r.Cursor().Pending(slot) {
				return fmt.Errorf("mark %v: rank %d polls there for what it began before, as with look-ahead: cut elsewhere", m,
					r.Cursor().Rank())
			}
		}
		return r.Err()
	}
	if err := c.walk(trace.Walk{Options: o, See: see, End: end}); err != nil {
		return err
	}
	return u.check(m)
}
