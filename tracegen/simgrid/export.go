package simgrid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/atomicfile"
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
	var list tracegen.Losses
	list.Add(e.Synchronous, "synchronous send", "of less than 64 KiB written as ordinary, without a wait for the receive")
	list.Add(e.Probes, "recorded probe", "left out: the format has none")
	list.Add(e.Reordered, "wait", "written that will be for an older request of equal source, destination and tag")
	list.Add(e.Freed, "request", "left pending that the trace lets go of: the format has no word for it")
	list.Add(e.Spread, "computation", "written by the mean amount alone: the format has no standard deviations")
	return list
}

// Export writes all ranks of a trace as the one file that they share, line by
// line in turn. The trace may be a stream.
func Export(ctx context.Context, w io.Writer, t *trace.Trace, o ExportOptions) (*Exported, error) {
	if _, err := io.WriteString(w, o.comment()); err != nil {
		return nil, err
	}
	return export(ctx, t, &o, 0, "", func(_ int32, text []byte) error {
		_, err := w.Write(text)
		return err
	})
}

// comment returns the line of the note, on which line breaks become blanks.
func (o *ExportOptions) comment() string {
	if o.Note == "" {
		return ""
	}
	return "# " + strings.Join(strings.Fields(o.Note), " ") + "\n"
}

// turnActions is how many actions a rank writes in its turn.
const turnActions = 64

// export writes the text of all ranks in turns, each behind the given head. Those go first that
// are behind in steps: a window of the trace is needed as long as a rank is in it. A rank may
// keep hold bytes of its text between turns; flush writes them.
func export(ctx context.Context, t *trace.Trace, o *ExportOptions, hold int, head string,
	flush func(rank int32, text []byte) error) (*Exported, error) {
	sum := &Exported{}
	plain := tracegen.Plain{Polls: o.Polls, Flops: o.Flops}
	cursors, err := t.Cursors(nil, trace.CursorOptions{})
	if err != nil {
		return nil, err
	}
	ranks := make([]rankWriter, len(cursors))
	expand := make([]*tracegen.Expander, len(cursors))
	live := make([]int32, len(cursors)) // the ranks that have actions left
	for r := range live {
		live[r] = int32(r)
		ranks[r] = rankWriter{rank: int32(r), sum: sum, text: []byte(head)}
		ranks[r].line("init")
		expand[r] = tracegen.NewExpander(t.Program(), int32(r), func(*trace.Collective) bool { return true })
	}

	// turn writes the next actions of a rank; it is false after the last ones.
	buf := make([]trace.Action, turnActions)
	turn := func(c *trace.Cursor) (bool, error) {
		r, x := &ranks[c.Rank()], expand[c.Rank()]
		n, err := plain.Fill(c, buf)
		if err != nil {
			return false, err
		}
		for i := range buf[:n] {
			if err := x.Expand(&buf[i], c, func(a *trace.Action) error { return r.action(a, c) }); err != nil {
				return false, fmt.Errorf("rank %d step %d: %w", c.Rank(), c.Step(), err)
			}
		}
		if n == 0 {
			r.end()
		}
		if n == 0 || len(r.text) > hold {
			err = flush(r.rank, r.text)
			r.text = r.text[:0]
		}
		if n == 0 { // their memory is of no more use
			*r, *c = rankWriter{}, trace.Cursor{}
		}
		return n > 0, err
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
		if o.Progress != nil && front > told {
			told = front
			o.Progress(front)
		}
		live = slices.DeleteFunc(live, func(r int32) bool {
			if err != nil || cursors[r].Step() > front {
				return false
			}
			var more bool
			more, err = turn(&cursors[r])
			return !more
		})
		if err != nil {
			return nil, err
		}
	}
	sum.Polls, sum.Spread = plain.Polled, plain.Spread
	return sum, nil
}

// IndexOf returns the name of the index that ExportFile writes beside the file at path.
func IndexOf(path string) string { return path + ".index" }

// ExportFile writes all ranks as one file, and beside it the index that names it,
// [IndexOf] path. Each appears whole or not at all. What is no regular
// file, such as a named pipe, gets no index. The trace may be a stream.
func ExportFile(ctx context.Context, path string, t *trace.Trace, o ExportOptions) (*Exported, error) {
	if err := checkName(path); err != nil {
		return nil, err
	}
	indexed := true
	if info, err := os.Stat(path); err == nil {
		indexed = info.Mode().IsRegular()
	}
	if indexed { // a name that has room for no .index is refused before the work
		if err := atomicfile.Check(IndexOf(path)); err != nil {
			return nil, err
		}
	}
	var sum *Exported
	err := atomicfile.Write(path, func(w io.Writer) (err error) {
		sum, err = Export(ctx, w, t, o)
		return err
	})
	if err != nil || !indexed {
		return sum, err
	}
	return sum, atomicfile.Write(IndexOf(path), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, path)
		return err
	})
}

// checkName refuses names that a line of an index cannot hold.
func checkName(path string) error {
	if strings.TrimSpace(path) != path || strings.ContainsAny(path, "\r\n") {
		return fmt.Errorf("%q: an index cannot hold a name with blanks around it or line breaks", path)
	}
	return nil
}

// indexName is the name of the index in a directory.
const indexName = "trace.index"

// exportMemory bounds the text held for all ranks together, if their number does
// not make it more.
const exportMemory = 64 << 20 // bytes

// Bytes of text that a rank may hold.
const (
	leastHeld = 1 << 10
	mostHeld  = 64 << 10
)

// ExportDir writes a file per rank and their index, "trace.index", into the
// directory dir, which is made, or was empty. It appears whole or not at all. The
// index names the files by way of dir, as SimGrid takes relative names to begin
// at its working directory. The trace may be a stream.
func ExportDir(ctx context.Context, dir string, t *trace.Trace, o ExportOptions) (*Exported, error) {
	if err := checkName(dir); err != nil {
		return nil, err
	}
	ranks := t.Header().Ranks
	file := func(rank int32) string { return fmt.Sprintf("rank-%d.ti", rank) }
	var sum *Exported
	err := atomicfile.WriteDir(dir, func(temp string) (err error) {
		// A file is open no longer than text is added to it: there may be more ranks than descriptors.
		hold := min(mostHeld, max(leastHeld, exportMemory/ranks))
		sum, err = export(ctx, t, &o, hold, o.comment(), func(rank int32, text []byte) error {
			f, err := os.OpenFile(filepath.Join(temp, file(rank)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
			if err != nil {
				return err
			}
			_, err = f.Write(text)
			return errors.Join(err, f.Close())
		})
		if err != nil {
			return err
		}
		return atomicfile.Write(filepath.Join(temp, indexName), func(w io.Writer) error {
			for r := range ranks {
				if _, err := fmt.Fprintln(w, filepath.Join(dir, file(int32(r)))); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return sum, err
}
