package simgrid

import (
	"slices"
	"sync"

	"reprise/trace"
)

// sums are running sums, from 0, of counts for ranks 0, 1, ... They never change, so
// that ranks which say the same share them.
type sums []int64

// recentSums are the last sums that were read, which the next rank often has too. With a
// reader ahead, two goroutines read.
type recentSums struct {
	mu      sync.Mutex
	bySide  [2]sums
	scratch sums
	zero    sums
}

// none returns the sums of no counts but 0.
func (c *recentSums) none(ranks int) sums {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.zero == nil {
		c.zero = make(sums, ranks+1)
	}
	return c.zero
}

// read parses a count for each of the ranks and returns their sums, or leaves a mistake
// in f.
func (c *recentSums) read(f *fields, ranks, side int, what string) sums {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := append(c.scratch[:0], 0)
	for range ranks {
		s = append(s, s[len(s)-1]+f.integer(what, 0, trace.MaxCount))
	}
	c.scratch = s
	if f.err == nil && !slices.Equal(s, c.bySide[side]) {
		c.bySide[side] = slices.Clone(s)
	}
	return c.bySide[side]
}

// sumLists are the sums that the actions of a rank name by number. Those given out
// with one Fill are forgotten with the next.
type sumLists struct {
	lists []sums
	first int64 // number of lists[0]
	given int64 // numbers below it were given out
}

// some reports whether there are sums that have not been forgotten.
func (l *sumLists) some() bool { return len(l.lists) > 0 }

// add keeps sums and returns their number.
func (l *sumLists) add(s sums) int64 {
	l.lists = append(l.lists, s)
	return l.first + int64(len(l.lists)) - 1
}

// at returns sums by their number, nil if there are none.
func (l *sumLists) at(list int64) sums {
	if i := list - l.first; uint64(i) < uint64(len(l.lists)) {
		return l.lists[i]
	}
	return nil
}

// give notes that actions are given out.
func (l *sumLists) give(actions []trace.Action) {
	if len(l.lists) == 0 {
		return
	}
	for i := range actions {
		a := &actions[i]
		if a.Kind != trace.KindCollective {
			continue
		}
		kind := trace.CollectiveKind(a.Sym)
		if kind.SendsPerRank() {
			l.given = max(l.given, a.X[0]+1)
		}
		if kind.RecvsPerRank() {
			l.given = max(l.given, a.X[1]+1)
		}
	}
}

// forget lets go of the sums that were given out.
func (l *sumLists) forget() {
	if n := l.given - l.first; n > 0 {
		l.lists = slices.Delete(l.lists, 0, int(n))
		l.first = l.given
	}
}

// collectives are the verbs of collective operations.
var collectives = func() map[string]trace.CollectiveKind {
	verbs := map[string]trace.CollectiveKind{}
	for k := range trace.CollectiveKind(trace.NumCollectives) {
		verbs[k.String()] = k
	}
	return verbs
}()

// collectiveForm says which arguments the line of a collective has, in this order: the size of
// the send buffer, counts that are sent, the size of the receive buffer, counts that are
// received, flop, root, the types of both sides, displacements. Both sizes and all counts are
// in elements.
type collectiveForm struct{ buffers, send, recv, flops, span bool }

// collectiveForms are the forms of all operations of SimGrid's text, for reading and for writing.
var collectiveForms = map[trace.CollectiveKind]collectiveForm{
	trace.CollBarrier:       {},
	trace.CollBcast:         {send: true},
	trace.CollReduce:        {send: true, flops: true},
	trace.CollAllreduce:     {send: true, flops: true},
	trace.CollAlltoall:      {send: true, recv: true},
	trace.CollAlltoallv:     {send: true, recv: true, buffers: true},
	trace.CollGather:        {send: true, recv: true},
	trace.CollGatherv:       {send: true, recv: true},
	trace.CollAllgather:     {send: true, recv: true},
	trace.CollAllgatherv:    {send: true, recv: true, span: true},
	trace.CollScatter:       {send: true, recv: true},
	trace.CollScatterv:      {send: true, recv: true},
	trace.CollReduceScatter: {recv: true, flops: true},
	trace.CollScan:          {send: true, flops: true},
	trace.CollExscan:        {send: true, flops: true},
}

// untraceable are actions that SMPI writes but that its replay does not know, by reason.
var untraceable = map[string]string{
	"waitAny": "which request ended is not in the text", "waitany": "which request ended is not in the text",
	"testany":  "which requests are tested is not in the text",
	"testall":  "which requests are tested is not in the text",
	"testsome": "which requests are tested is not in the text",
	"Start":    "persistent requests are not in the text", "Startall": "persistent requests are not in the text",
}

// collective parses the arguments of a collective operation.
func (s *stream) collective(f *fields, t *Trace, verb string, a *trace.Action) {
	kind, ok := collectives[verb]
	if !ok {
		if why := untraceable[verb]; why != "" {
			f.failf("action %q is not supported, by SimGrid's replay neither: %s", verb, why)
		} else {
			f.failf("action %q is not supported", verb)
		}
		return
	}
	if (kind == trace.CollScan || kind == trace.CollExscan) && s.old(t) {
		f.failf("action %q is not one of SimGrid before 3.20; %s", verb, t.otherForm())
		return
	}
	form := collectiveForms[kind]
	c := trace.Collective{Kind: kind, SendSize: t.defaultSize, RecvSize: t.defaultSize}

	// side parses what goes one way: one count, or one for each rank, of which the number of
	// their sums is kept. The sizes of buffers say nothing that the counts do not.
	side := func(i int, perRank bool, buffer, what string, v *int64) {
		if form.buffers {
			f.integer(buffer, 0, trace.MaxCount)
		}
		if !perRank {
			*v = f.integer(what, 0, trace.MaxCount)
		} else if sums := t.recent.read(f, t.ranks, i, what); f.err == nil {
			*v = s.lists.add(sums)
		}
	}
	if form.send {
		what := "count"
		if form.recv {
			what = "sent count"
		}
		side(0, kind.SendsPerRank(), "size of the send buffer", what, &c.Send)
	}
	if form.recv {
		side(1, kind.RecvsPerRank(), "size of the receive buffer", "received count", &c.Recv)
	}
	if form.flops {
		c.Flops = f.amount("amount of flop")
	}
	if kind.Rooted() && f.left() > 0 { // else 0
		c.Root = t.rank(f, "root")
	}
	left := 2
	if form.span {
		left = f.left()
	}
	if !form.span || left <= 2 || left > t.ranks { // else displacements alone
		if form.send {
			c.SendSize = t.itemSize(f)
		}
		if form.recv {
			c.RecvSize = t.itemSize(f)
		}
		left -= 2
	}

	// An allgatherv ends with two datatypes, or a displacement for each rank, or both. SimGrid
	// puts all blocks at the beginning of the receive buffer if it is not told where they are.
	if form.span && f.err == nil {
		counts := s.lists.at(c.Recv)
		for r := range t.ranks {
			at := int64(0)
			if left > 0 {
				at = f.integer("displacement", 0, trace.MaxCount)
			}
			c.Span = max(c.Span, at+counts[r+1]-counts[r])
		}
	}

	// What has a derived datatype, of no known size, gets a count of 0: a list has only such
	// from now on.
	none := func(perRank bool, count int64) int64 {
		if !perRank {
			return 0
		}
		s.lists.lists[count-s.lists.first] = t.recent.none(t.ranks)
		return count
	}
	if f.err == nil && c.SendSize == 0 {
		c.SendSize, c.Send = 1, none(kind.SendsPerRank(), c.Send)
	}
	if f.err == nil && c.RecvSize == 0 {
		c.RecvSize, c.Recv, c.Span = 1, none(kind.RecvsPerRank(), c.Recv), 0
	}
	a.SetCollective(&c)
}
