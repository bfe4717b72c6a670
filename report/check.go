package report

import (
	"fmt"

	"reprise/report/packed"
	"reprise/report/path"
	"reprise/report/record"
	"reprise/report/timeline"
)

// check reports whether what a page carries fits together: Read's callers, and the page,
// index columns by the numbers beside them.
func (d *Data) check() error {
	var c checker
	c.result(d.Result)
	if d.Record != nil {
		c.record(d.Record)
	}
	for i, w := range d.Timelines {
		c.timeline(fmt.Sprintf("timelines %d", i), w)
	}
	if d.Path != nil {
		c.hops(&d.Path.Hops)
	}
	return c.err
}

// checker keeps the first contradiction.
type checker struct{ err error }

// column checks that a column holds as many numbers of so many bytes as dims say.
func (c *checker) column(name string, column packed.Bytes, size int, dims ...int) {
	want := size
	for _, n := range dims {
		if n < 0 || n > packed.MaxSize || n > 0 && want > packed.MaxSize/n {
			c.fail("%s of %d", name, dims)
			return
		}
		want *= n
	}
	if len(column) != want {
		c.fail("%s of %d bytes, want %d", name, len(column), want)
	}
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checker) record(r *record.Data) {
	n := r.Columns.Count
	c.columns(&r.Columns)
	if n > 1 && len(r.Series.Kinds) == 0 || n > 0 && len(r.States) == 0 {
		c.fail("a record of no kinds of time")
	}
	c.column("starts", r.Columns.Starts, 8, n+1)
	c.column("longest", r.Columns.Longest, 4, n)
	c.column("series", r.Series.Values, 4, len(r.Series.Kinds)+len(r.Series.Kernels)+len(r.Series.Phases), 3, n)
	c.matrix(&r.Matrix, n, len(r.States))
	for _, m := range r.Communication {
		if m.Size < 1 {
			c.fail("communication by %s of %d rows", m.By, m.Size)
		}
		c.column("bytes by "+m.By, m.Bytes, 4, m.Size, m.Size)
		c.column("messages by "+m.By, m.Number, 4, m.Size, m.Size)
		if len(m.Labels) != 0 && len(m.Labels) != m.Size {
			c.fail("%d labels by %s, want %d", len(m.Labels), m.By, m.Size)
		}
	}
	c.links(&r.Links)
}

func (c *checker) matrix(m *record.Matrix, columns, states int) {
	c.column("mean", m.Mean, 1, states, m.Rows, m.Cols)
	if len(m.Most) > 0 {
		c.column("most", m.Most, 1, states, m.Rows, m.Cols)
	}
	c.column("length", m.Length, 1, m.Rows, m.Cols)
	if c.err == nil && (cells(m.Ranks, m.RanksPerRow) != m.Rows || cells(columns, m.ColumnsPerCell) != m.Cols) {
		c.fail("matrix of %d by %d for %d ranks and %d columns", m.Rows, m.Cols, m.Ranks, columns)
	}
	if columns > 0 && (len(m.Orders) == 0 || m.Rows < 1) {
		c.fail("a matrix of %d rows in %d orders", m.Rows, len(m.Orders))
	}
	for _, o := range m.Orders {
		if len(o.Rows) > 0 {
			c.column("order by "+o.Name, o.Rows, 4, m.Rows)
			c.below("order by "+o.Name, o.Rows, 4, 0, m.Rows)
		}
	}
}

// cells returns how many cells n things make, per in each; -1 if that cannot be.
func cells(n, per int) int {
	if n < 0 || n > packed.MaxSize || per < 1 || per > packed.MaxSize {
		return -1
	}
	return (n + per - 1) / per
}

func (c *checker) links(l *record.Links) {
	if len(l.Number) != len(l.Levels) {
		c.fail("%d numbers of links, want %d", len(l.Number), len(l.Levels))
	}
	c.column("use of links", l.Use, 4, len(l.Levels), 2, l.Slices)
	c.column("time lost on links", l.Bound, 4, len(l.Levels), l.Slices)
	for _, hot := range l.Hottest {
		c.column("use of "+hot.Name, hot.Over, 4, l.Slices)
		if hot.Level < 0 || hot.Level >= len(l.Levels) {
			c.fail("link %s of level %d", hot.Name, hot.Level)
		}
	}
}

func (c *checker) timeline(name string, w *timeline.Window) {
	if w == nil {
		c.fail("%s: none", name)
		return
	}
	for _, column := range []struct {
		name string
		of   packed.Bytes
		size int
		n    int
	}{
		{"rank", w.Rank, 4, w.Slices}, {"begin", w.Begin, 8, w.Slices}, {"end", w.End, 8, w.Slices},
		{"name", w.Name, 2, w.Slices}, {"state", w.State, 2, w.Slices}, {"arg", w.Arg, 4, w.Slices},
		{"source", w.Source, 4, w.Arrows}, {"target", w.Target, 4, w.Arrows}, {"sent", w.Sent, 8, w.Arrows},
		{"arrived", w.Arrived, 8, w.Arrows}, {"bytes", w.Bytes, 8, w.Arrows}, {"tag", w.Tag, 4, w.Arrows},
	} {
		c.column(name+": "+column.name, column.of, column.size, column.n)
	}
	c.below(name+": name", w.Name, 2, 0, len(w.Names))
	c.below(name+": state", w.State, 2, 0, len(w.States))
	c.below(name+": arg", w.Arg, 4, 0, len(w.Args))
	c.below(name+": rank", w.Rank, 4, w.First, w.First+w.Ranks)
}

func (c *checker) hops(h *path.Hops) {
	c.column("ranks of the path", h.Ranks, 4, h.Number)
	c.column("times of the path", h.Times, 8, h.Number)
}
