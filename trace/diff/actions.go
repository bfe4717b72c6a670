package diff

import (
	"bufio"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"reprise/trace"
	"reprise/trace/text"
)

// comparison goes through the actions of both traces. Numbers of kernels, markers and families may
// differ between traces that mean the same, so those of B are translated to those of A first.
type comparison struct {
	a, b     *trace.Trace
	symbols  symbolMap
	first    bool  // stop at the first divergence
	steps    []int // by rank: where it diverges, -1 if it has not
	diverged int   // ranks
	progress func(chunks, all int)
	told     int // chunks
}

// part compares the ranks that have not diverged yet over a range of steps: the
// chunks of A one by one, and in each the ranks in turn, so that few chunks are held.
func (c *comparison) part(p part) error {
	var ranks []int32
	for r, step := range c.steps {
		if step < 0 {
			ranks = append(ranks, int32(r))
		}
	}
	if len(ranks) == 0 || c.first && c.diverged > 0 {
		return nil
	}
	o := trace.CursorOptions{From: p.from, To: p.to, Markers: true}
	as, err := c.a.Cursors(ranks, o)
	if err != nil {
		return err
	}
	bs, err := c.b.Cursors(ranks, o)
	if err != nil {
		return err
	}
	type pair struct { // a rank in both
		a, b trace.ActionReader
		done bool
	}
	pairs := make([]pair, len(ranks))
	for i := range pairs {
		pairs[i] = pair{a: trace.NewActionReader(&as[i], trace.Late{}, p.from),
			b: trace.NewActionReader(&bs[i], trace.Late{}, p.from)}
	}
	all := len(c.a.ChunkInfos())
	for chunk := range all + 1 { // the last one stands for the end
		for i := range pairs {
			p := &pairs[i]
			a, b := p.a.Cursor(), p.b.Cursor()
			for !p.done {
				if in := a.Chunk(); in != nil && in.Number() != chunk || in == nil && chunk < all {
					break
				}
				x, y := p.a.Next(), p.b.Next()
				if err := errors.Join(p.a.Err(), p.b.Err()); err != nil {
					return err
				}
				same := x == y // both have ended
				if p.done = x == nil || y == nil; !p.done {
					same = c.symbols.equal(x, y, a, b)
				}
				if !same {
					p.done = true
					c.diverged++
					c.steps[a.Rank()] = min(p.a.Step(), p.b.Step())
					*a, *b = trace.Cursor{}, trace.Cursor{} // lets go of the chunks
				}
			}
			if c.first && c.diverged > 0 {
				return nil
			}
		}
		// Each part begins anew with the chunks before it, which have been told.
		if c.progress != nil && chunk < all && chunk >= c.told {
			c.told = chunk + 1
			c.progress(c.told, all)
		}
	}
	return nil
}

// symbolMap translates the symbols of B to those of A, -1 where A has none.
type symbolMap struct {
	kernels, markers, families []int32
	vectors                    []uint64 // by marker of A: arguments that are vectors
}

// mapSymbols compares symbols by what actions mean: the flop of kernels do not count, and groups only where
// families are communicators.
func mapSymbols(a, b *trace.Header) symbolMap {
	m := symbolMap{
		kernels: mapEqual(a.Kernels, b.Kernels, func(x, y *trace.Kernel) bool {
			return x.Name == y.Name && slices.Equal(x.Attrs, y.Attrs) && reflect.DeepEqual(x.Dims, y.Dims)
		}),
		markers: mapEqual(a.Markers, b.Markers, func(x, y *trace.Marker) bool { return x.Text == y.Text }),
		families: mapEqual(a.CommFamilies, b.CommFamilies, func(x, y *trace.CommFamily) bool {
			return x.Name == y.Name && (!a.Communicators || slices.EqualFunc(x.Groups, y.Groups, func(g, h trace.Group) bool {
				same := g.Len() == h.Len()
				for m := 0; same && m < g.Len(); m++ {
					same = g.Member(m) == h.Member(m)
				}
				return same
			}))
		}),
	}
	for i := range a.Markers {
		_, v := a.Markers[i].VectorArgs()
		m.vectors = append(m.vectors, v)
	}
	return m
}

// mapEqual returns the index in a of each element of b, -1 if it is not there.
func mapEqual[T any](a, b []T, equal func(x, y *T) bool) []int32 {
	m := make([]int32, len(b))
	for j := range b {
		m[j] = int32(slices.IndexFunc(a, func(x T) bool { return equal(&x, &b[j]) }))
	}
	return m
}

// equal compares an action of A with one of B.
func (m *symbolMap) equal(x, y *trace.Action, a, b *trace.Cursor) bool {
	if x.Kind != y.Kind || x.Flags != y.Flags || x.Peer != y.Peer || x.Req != y.Req {
		return false
	}
	if collective := x.Kind == trace.KindCollective || x.Kind == trace.KindIcollective; !collective && x.Tag != y.Tag {
		return false
	}
	switch x.Kind {
	case trace.KindMark:
		p, q := a.MarkArgs(x), b.MarkArgs(y)
		if int32(x.Sym) != m.markers[y.Sym] || len(p) != len(q) {
			return false
		}
		for i := range p {
			same := p[i] == q[i]
			if m.vectors[x.Sym]>>min(i, 63)&1 != 0 {
				same = slices.Equal(a.Sums(p[i]), b.Sums(q[i]))
			}
			if !same {
				return false
			}
		}
		return true
	case trace.KindCompute:
		return int32(x.Sym) == m.kernels[y.Sym] && x.X == y.X
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindRecv, trace.KindIrecv,
		trace.KindExchange, trace.KindSyncExchange, trace.KindSendrecv,
		trace.KindIprobe, trace.KindProbed, trace.KindPoll, trace.KindNull, trace.KindProbe, trace.KindStart,
		trace.KindAccess, trace.KindIaccess, trace.KindSync, trace.KindFile:
		return int32(x.Sym) == m.families[y.Sym] && x.X == y.X
	case trace.KindComplete:
		return x.Sym == y.Sym && slices.Equal(a.Requests(x.X[0]), b.Requests(y.X[0]))
	case trace.KindCollective, trace.KindIcollective:
		p, q := x.Collective(a), y.Collective(b)
		if q.Comm > 0 {
			if q.Comm = 1 + m.families[q.Comm-1]; q.Comm == 0 { // a family that only B has
				return false
			}
		}
		return reflect.DeepEqual(p, q)
	}
	return x.Sym == y.Sym && x.X == y.X
}

const (
	contextLines = 3       // shown before a divergence, and after its first line
	maxLine      = 1 << 24 // bytes
)

// divergences returns where the ranks diverge, with context from the listings. The
// ranks that diverge in the same step are looked at together.
func (c *comparison) divergences() ([]Divergence, error) {
	byStep := map[int][]int32{}
	for r, step := range c.steps {
		if step >= 0 {
			byStep[step] = append(byStep[step], int32(r))
		}
	}
	var all []Divergence
	for step, ranks := range byStep {
		o := trace.CursorOptions{From: max(0, step-1), Markers: true}
		as, err := c.a.Cursors(ranks, o)
		if err != nil {
			return nil, err
		}
		bs, err := c.b.Cursors(ranks, o)
		if err != nil {
			return nil, err
		}
		for i, rank := range ranks {
			d := Divergence{Rank: rank, Step: step, Before: []string{}, A: []string{}, B: []string{}}
			x, y := listLines(&as[i]), listLines(&bs[i])
			for {
				p, more := x.next()
				q, also := y.next()
				if !more && !also {
					d.Before, d.Unlisted = []string{}, true
					break
				}
				if !more || !also || p != q {
					d.A, d.B = x.some(p, more), y.some(q, also)
					break
				}
				if len(d.Before) == contextLines {
					d.Before = d.Before[1:]
				}
				d.Before = append(d.Before[:len(d.Before):len(d.Before)], p)
			}
			x.stop()
			y.stop()
			if err := errors.Join(x.lines.Err(), y.lines.Err()); err != nil {
				return nil, err
			}
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(x, y Divergence) int { return int(x.Rank - y.Rank) })
	return all, nil
}

// lineReader yields the lines of a listing that is made at the same time.
type lineReader struct {
	pipe  *io.PipeReader
	lines *bufio.Scanner
	done  chan struct{}
}

// listLines begins a listing, in a goroutine of its own: it is written as far as it is read. Only one
// listing at a time uses the trace: the cursors of both traces are apart.
func listLines(c *trace.Cursor) *lineReader {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		w.CloseWithError(text.WriteListing(w, c, trace.Late{}, text.Words{}))
		close(done)
	}()
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	return &lineReader{r, s, done}
}

// next returns the next line; the one that names the rank does not count.
func (r *lineReader) next() (string, bool) {
	for r.lines.Scan() {
		if text := r.lines.Text(); !strings.HasPrefix(text, "#") {
			return text, true
		}
	}
	return "", false
}

// stop ends the listing; the trace is free for others then.
func (r *lineReader) stop() {
	r.pipe.Close()
	<-r.done
}

// some returns a line, if there is one, and the contextLines after it.
func (r *lineReader) some(line string, ok bool) []string {
	out := []string{}
	for ; ok && len(out) <= contextLines; line, ok = r.next() {
		out = append(out, line)
	}
	return out
}
