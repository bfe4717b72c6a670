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
	first    bool // stop at the first divergence
	steps    []int
	diverged int
	progress func(chunks, all int)
	told     int // chunks
}

func newComparison(a, b *trace.Trace, o *Options) *comparison {
	c := &comparison{a: a, b: b, symbols: mapSymbols(a.Header(), b.Header()), first: !o.Actions,
		steps: make([]int, a.Header().Ranks), progress: o.Progress}
	for i := range c.steps {
		c.steps[i] = -1
	}
	return c
}

// part compares the ranks that have not diverged yet over a range of steps: the
// chunks of A one by one, and in each the ranks in turn.
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
	pairs := make([]pair, len(ranks))
	for i := range pairs {
		pairs[i] = pair{a: trace.NewActionReader(&as[i], trace.Late{}, p.from),
			b: trace.NewActionReader(&bs[i], trace.Late{}, p.from), symbols: &c.symbols}
	}
	for chunk := range len(c.a.ChunkInfos()) + 1 {
		for i := range pairs {
			if err := c.run(&pairs[i], chunk); err != nil {
				return err
			}
			if c.first && c.diverged > 0 {
				return nil
			}
		}
		c.tell(chunk)
	}
	return nil
}

// tell tells that a chunk has been compared. Each part begins anew with those before it.
func (c *comparison) tell(chunk int) {
	if all := len(c.a.ChunkInfos()); c.progress != nil && chunk < all && chunk >= c.told {
		c.told = chunk + 1
		c.progress(c.told, all)
	}
}

// run compares a rank's streams while A is in the chunk of a number, or, with that of
// chunks, is past all.
func (c *comparison) run(p *pair, chunk int) error {
	for !p.done && c.chunkOf(p.a.Cursor()) == chunk {
		same, err := p.next()
		if err != nil {
			return err
		}
		if !same {
			p.done = true
			c.diverged++
			c.steps[p.a.Cursor().Rank()] = min(p.a.Step(), p.b.Step())
			*p.a.Cursor(), *p.b.Cursor() = trace.Cursor{}, trace.Cursor{} // lets go of the chunks
		}
	}
	return nil
}

// chunkOf returns the number of the chunk that a cursor of A is in.
func (c *comparison) chunkOf(cursor *trace.Cursor) int {
	if chunk := cursor.Chunk(); chunk != nil {
		return chunk.Number()
	}
	return len(c.a.ChunkInfos())
}

// pair is a rank in both traces.
type pair struct {
	a, b    trace.ActionReader
	symbols *symbolMap
	done    bool
}

// next compares the next actions of both.
func (p *pair) next() (same bool, err error) {
	x, y := p.a.Next(), p.b.Next()
	if err := errors.Join(p.a.Err(), p.b.Err()); err != nil {
		return false, err
	}
	if x == nil || y == nil {
		p.done = true
		return x == y, nil
	}
	return p.symbols.equal(x, y, p.a.Cursor(), p.b.Cursor()), nil
}

// symbolMap translates the symbols of B to those of A, -1 where A has none.
type symbolMap struct {
	kernels, markers, families []int32
	vectors                    []uint64 // by marker of A: arguments that are vectors
}

func mapSymbols(a, b *trace.Header) symbolMap {
	m := symbolMap{
		kernels: mapEqual(a.Kernels, b.Kernels, func(x, y *trace.Kernel) bool {
			return x.Name == y.Name && slices.Equal(x.Attrs, y.Attrs) && reflect.DeepEqual(x.Dims, y.Dims)
		}),
		markers: mapEqual(a.Markers, b.Markers, func(x, y *trace.Marker) bool { return x.Text == y.Text }),
		families: mapEqual(a.CommFamilies, b.CommFamilies, func(x, y *trace.CommFamily) bool {
			return x.Name == y.Name && (!a.Communicators || sameGroups(x, y))
		}),
	}
	for i := range a.Markers {
		_, v := a.Markers[i].VectorArgs()
		m.vectors = append(m.vectors, v)
	}
	return m
}

// sameGroups reports whether families have the same communicators.
func sameGroups(x, y *trace.CommFamily) bool {
	return slices.EqualFunc(x.Groups, y.Groups, func(g, h trace.Group) bool {
		same := g.Len() == h.Len()
		for m := 0; same && m < g.Len(); m++ {
			same = g.Member(m) == h.Member(m)
		}
		return same
	})
}

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
		return int32(x.Sym) == m.markers[y.Sym] && m.equalMarks(x, y, a, b)
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
		return m.equalCollectives(x.Collective(a), y.Collective(b))
	}
	return x.Sym == y.Sym && x.X == y.X
}

func (m *symbolMap) equalCollectives(x, y trace.Collective) bool {
	if y.Comm > 0 {
		y.Comm = 1 + m.families[y.Comm-1]
		if y.Comm == 0 { // a family that only B has
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

func (m *symbolMap) equalMarks(x, y *trace.Action, a, b *trace.Cursor) bool {
	p, q := a.MarkArgs(x), b.MarkArgs(y)
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if m.vectors[x.Sym]>>min(i, 63)&1 != 0 {
			if !slices.Equal(a.Sums(p[i]), b.Sums(q[i])) {
				return false
			}
		} else if p[i] != q[i] {
			return false
		}
	}
	return true
}

// divergences returns where the ranks diverge, with context from the listings. The
// ranks that diverge in the same step are looked at together.
func (c *comparison) divergences() ([]Divergence, error) {
	var all []Divergence
	byStep := map[int][]int32{}
	var steps []int
	for r, step := range c.steps {
		if step < 0 {
			continue
		}
		if byStep[step] == nil {
			steps = append(steps, step)
		}
		byStep[step] = append(byStep[step], int32(r))
	}
	for _, step := range steps {
		found, err := c.context(step, byStep[step])
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(x, y Divergence) int { return int(x.Rank - y.Rank) })
	return all, nil
}

// context compares the listings of ranks that diverge in a step.
func (c *comparison) context(step int, ranks []int32) ([]Divergence, error) {
	o := trace.CursorOptions{From: max(0, step-1), Markers: true}
	as, err := c.a.Cursors(ranks, o)
	if err != nil {
		return nil, err
	}
	bs, err := c.b.Cursors(ranks, o)
	if err != nil {
		return nil, err
	}
	var found []Divergence
	for i, rank := range ranks {
		d := Divergence{Rank: rank, Step: step, Before: []string{}, A: []string{}, B: []string{}}
		if err := d.compareListings(&as[i], &bs[i]); err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, nil
}

const (
	contextLines = 3       // shown before a divergence, and after its first line
	maxLine      = 1 << 24 // bytes
)

// compareListings fills in the lines around the first that differs.
func (d *Divergence) compareListings(a, b *trace.Cursor) error {
	x, y := listLines(a), listLines(b)
	defer x.stop()
	defer y.stop()
	for {
		p, more := x.next()
		q, also := y.next()
		if x.err() != nil || y.err() != nil {
			return errors.Join(x.err(), y.err())
		}
		if !more && !also {
			d.Before, d.Unlisted = []string{}, true
			return nil
		}
		if more && also && p == q {
			if len(d.Before) == contextLines {
				d.Before = d.Before[1:]
			}
			d.Before = append(d.Before[:len(d.Before):len(d.Before)], p)
			continue
		}
		d.A, d.B = x.some(p, more), y.some(q, also)
		return nil
	}
}

// lineReader yields the lines of a listing that is made at the same time.
type lineReader struct {
	pipe  *io.PipeReader
	lines *bufio.Scanner
	done  chan struct{}
}

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

func (r *lineReader) err() error { return r.lines.Err() }

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
