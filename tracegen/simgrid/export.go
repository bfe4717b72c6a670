package simgrid

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen"
)

// ExportOptions says how a trace becomes text.
type ExportOptions struct {
	// Polls answers polls, of which the text has none. It must not depend on the
	// rank.
	Polls trace.PollAnswers
	// Flops is what a compute line says for a call of a kernel; nil: what the
	// trace declares.
	Flops tracegen.FlopsFunc
	// Note is a line of comment at the beginning of each file; "": none.
	Note string
	// Progress, if set, is called with the number of the step that the last rank has come to.
	Progress func(step int)
}

// Exported says what the text lacks.
type Exported struct {
	Polls int64 // polls answered by the rule
	// Synchronous counts synchronous sends of less than DetachedBelow bytes: as
	// ordinary sends they do not wait for their receive.
	Synchronous int64
	Probes      int64 // recorded probes, left out
	// Reordered counts waits whose line means another request: of equal source,
	// destination and tag, and older.
	Reordered int64
	// Freed counts requests that stay pending in the text, where the trace lets go of
	// them.
	Freed int64
	// Spread counts computations of an amount with a standard deviation, which is left out.
	Spread int64
}

// DetachedBelow is SMPI's default for smpi/send-is-detached-thresh, in bytes.
const DetachedBelow = 65536

// Warnings returns what is lost, in words.
func (e *Exported) Warnings() []warning.Warning {
	var list []warning.Warning
	for _, w := range []struct {
		count      int64
		noun, what string
	}{
		{e.Synchronous, "synchronous send", "of less than 64 KiB written as ordinary, without a wait for the receive"},
		{e.Probes, "recorded probe", "left out: the format has none"},
		{e.Reordered, "wait", "written that will be for an older request of equal source, destination and tag"},
		{e.Freed, "request", "left pending that the trace lets go of: the format has no word for it"},
		{e.Spread, "computation", "written by the mean amount alone: the format has no standard deviations"},
	} {
		if w.count > 0 {
			list = append(list, warning.New("%s %s", textutil.Count(w.count, w.noun), w.what))
		}
	}
	return list
}

// Export writes all ranks of a trace as the one file that they share, line by
// line in turn. The trace may be a stream.
func Export(ctx context.Context, w io.Writer, t *trace.Trace, o ExportOptions) (*Exported, error) {
	x := newExporter(t, &o)
	x.flush = func(_ int32, text []byte) error {
		_, err := w.Write(text)
		return err
	}
	if _, err := io.WriteString(w, o.comment()); err != nil {
		return nil, err
	}
	return x.run(ctx, t)
}

func (o *ExportOptions) comment() string {
	if o.Note == "" {
		return ""
	}
	return "# " + strings.Join(strings.Fields(o.Note), " ") + "\n"
}

// exporter writes the text of all ranks, in turns.
type exporter struct {
	plain    tracegen.Plain
	progress func(step int)
	ranks    []rankWriter
	expand   []*tracegen.Expander // by rank
	sum      Exported
	flush    func(rank int32, text []byte) error
	hold     int // bytes of text that a rank may keep between turns
	buf      [turnActions]trace.Action
}

// turnActions is how many actions a rank writes in its turn.
const turnActions = 64

func newExporter(t *trace.Trace, o *ExportOptions) *exporter {
	x := &exporter{plain: tracegen.Plain{Polls: o.Polls, Flops: o.Flops}, progress: o.Progress}
	if o.Flops == nil {
		x.plain.Flops = tracegen.KernelFlops(t.Header())
	}
	x.ranks = make([]rankWriter, t.Header().Ranks)
	for r := range x.ranks {
		x.ranks[r] = rankWriter{rank: int32(r), sum: &x.sum}
		x.expand = append(x.expand, tracegen.NewExpander(t.Program(), int32(r), func(*trace.Collective) bool { return true }))
	}
	return x
}

// run writes all ranks, those first that are behind in steps: a window of the
// trace is needed as long as a rank is in it.
func (x *exporter) run(ctx context.Context, t *trace.Trace) (*Exported, error) {
	cursors, err := t.Cursors(nil, trace.CursorOptions{})
	if err != nil {
		return nil, err
	}
	live := make([]int32, len(cursors))
	for r := range live {
		live[r] = int32(r)
		x.ranks[r].line("init")
	}
	told := 0
	for len(live) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		front := cursors[live[0]].Step()
		for _, r := range live {
			front = min(front, cursors[r].Step())
		}
		if x.progress != nil && front > told {
			told = front
			x.progress(front)
		}
		live = slices.DeleteFunc(live, func(r int32) bool {
			if err != nil || cursors[r].Step() > front {
				return false
			}
			var more bool
			more, err = x.turn(&cursors[r])
			return !more
		})
		if err != nil {
			return nil, err
		}
	}
	x.sum.Polls, x.sum.Spread = x.plain.Polled, x.plain.Spread
	return &x.sum, nil
}

// turn writes the next actions of a rank; it is false after the last ones.
func (x *exporter) turn(c *trace.Cursor) (bool, error) {
	r := &x.ranks[c.Rank()]
	n, err := x.plain.Fill(c, x.buf[:])
	for i := range x.buf[:n] {
		if err == nil {
			if err = x.expand[c.Rank()].Expand(&x.buf[i], c, func(a *trace.Action) error { return r.action(a, c) }); err != nil {
				err = fmt.Errorf("rank %d step %d: %w", c.Rank(), c.Step(), err)
			}
		}
	}
	if err != nil {
		return false, err
	}
	if n == 0 {
		r.end()
	}
	if n == 0 || len(r.text) > x.hold {
		err = x.flush(r.rank, r.text)
		r.text = r.text[:0]
	}
	if n == 0 {
		*r, *c = rankWriter{}, trace.Cursor{}
	}
	return n > 0, err
}
