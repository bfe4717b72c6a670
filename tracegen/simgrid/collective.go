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

// following returns no lists, numbered from behind these.
func (l *sumLists) following() sumLists {
	next := l.first + int64(len(l.lists))
	return sumLists{first: next, given: next}
}

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

// call parses the arguments of one collective operation, in their order.
type call struct {
	trace.Collective
	f    *fields
	t    *Trace
	list *sumLists
}

// collective parses the arguments of a collective operation.
func (s *stream) collective(f *fields, t *Trace, verb string, a *trace.Action) {
	kind, ok := collectives[verb]
	if !ok {
		f.unsupported(verb)
		return
	}
	if (kind == trace.CollScan || kind == trace.CollExscan) && s.old(t) {
		f.failf("action %q is not one of SimGrid before 3.20; %s", verb, t.otherForm())
		return
	}
	c := call{Collective: trace.Collective{Kind: kind, SendSize: t.defaultSize, RecvSize: t.defaultSize}, f: f, t: t,
		list: &s.lists}
	c.arguments()
	if f.err == nil {
		c.empty()
	}
	a.SetCollective(&c.Collective)
}

// empty makes what has a derived datatype, of no known size, a count of 0.
func (c *call) empty() {
	if c.SendSize == 0 {
		c.SendSize, c.Send = 1, c.nothing(c.Kind.SendsPerRank(), c.Send)
	}
	if c.RecvSize == 0 {
		c.RecvSize, c.Recv, c.Span = 1, c.nothing(c.Kind.RecvsPerRank(), c.Recv), 0
	}
}

// nothing returns a count of 0, or the number of the list, which has only such from now on.
func (c *call) nothing(perRank bool, list int64) int64 {
	if !perRank {
		return 0
	}
	c.list.lists[list-c.list.first] = c.t.recent.none(c.t.ranks)
	return list
}

func (c *call) arguments() {
	switch c.Kind {
	case trace.CollBcast:
		c.count("count", &c.Send)
		c.root()
		c.types(&c.SendSize)
	case trace.CollReduce:
		c.count("count", &c.Send)
		c.flops()
		c.root()
		c.types(&c.SendSize)
	case trace.CollAllreduce, trace.CollScan, trace.CollExscan:
		c.count("count", &c.Send)
		c.flops()
		c.types(&c.SendSize)
	case trace.CollAlltoall, trace.CollAllgather:
		c.count("sent count", &c.Send)
		c.count("received count", &c.Recv)
		c.types(&c.SendSize, &c.RecvSize)
	case trace.CollGather, trace.CollScatter:
		c.count("sent count", &c.Send)
		c.count("received count", &c.Recv)
		c.root()
		c.types(&c.SendSize, &c.RecvSize)
	default:
		c.vectors()
	}
}

// vectors parses the arguments of operations that count rank by rank.
func (c *call) vectors() {
	switch c.Kind {
	case trace.CollAlltoallv:
		var buffer int64
		c.count("size of the send buffer", &buffer)
		c.counts(0, "sent count", &c.Send)
		c.count("size of the receive buffer", &buffer)
		c.counts(1, "received count", &c.Recv)
		c.types(&c.SendSize, &c.RecvSize)
	case trace.CollGatherv:
		c.count("sent count", &c.Send)
		c.counts(1, "received count", &c.Recv)
		c.root()
		c.types(&c.SendSize, &c.RecvSize)
	case trace.CollAllgatherv:
		c.count("sent count", &c.Send)
		c.counts(1, "received count", &c.Recv)
		c.displacements()
	case trace.CollScatterv:
		c.counts(0, "sent count", &c.Send)
		c.count("received count", &c.Recv)
		c.root()
		c.types(&c.SendSize, &c.RecvSize)
	case trace.CollReduceScatter:
		c.counts(1, "received count", &c.Recv)
		c.flops()
		c.types(&c.RecvSize)
	}
}

func (c *call) count(what string, v *int64) { *v = c.f.integer(what, 0, trace.MaxCount) }

// counts parses a count for each rank into the number of their sums.
func (c *call) counts(side int, what string, list *int64) {
	if s := c.t.recent.read(c.f, c.t.ranks, side, what); c.f.err == nil {
		*list = c.list.add(s)
	}
}

func (c *call) flops() { c.Flops = c.f.amount("amount of flop") }

// root parses the root, 0 if it is left out.
func (c *call) root() {
	if c.f.left() > 0 {
		c.Root = c.t.rank(c.f, "root")
	}
}

// types parses as many datatypes as there are.
func (c *call) types(sizes ...*int64) {
	for _, size := range sizes {
		*size = c.t.itemSize(c.f)
	}
}

// displacements parses the end of an allgatherv: two datatypes, or a displacement for
// each rank, or both. SimGrid puts all blocks at the beginning of the receive
// buffer if it is not told where they are.
func (c *call) displacements() {
	if c.f.err != nil {
		return
	}
	left, ranks := c.f.left(), c.t.ranks
	if left <= 2 || left > ranks {
		c.types(&c.SendSize, &c.RecvSize)
		left -= 2
	}
	counts := c.list.at(c.Recv)
	for r := range ranks {
		var at int64
		if left > 0 {
			c.count("displacement", &at)
		}
		c.Span = max(c.Span, at+counts[r+1]-counts[r])
	}
}
