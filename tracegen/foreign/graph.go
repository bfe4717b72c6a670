package foreign

import (
	"errors"
	"slices"

	"reprise/internal/keyheap"
	"reprise/internal/textutil"
	"reprise/trace"
)

// This file turns the operations of a rank, which a format orders by dependencies alone, into actions (graph.play).
//
// An action begins when the one before it has begun, or has ended if it computes, and when what the rank has waited for has
// ended. So messages begin as soon as they may, as requests. Then there is one thing that all the rest depends on: a
// computation, or messages to wait for (graph.inOrder). If there are two, and each has something that depends on it alone,
// which comes first depends on the machine. Then all operations of the rank become actions beside it (graph.beside).

// node is an operation of a graph.
type node struct {
	kind   trace.Kind // KindFlops, KindSend, KindRecv or KindIcollective
	on     uint8      // processor of a computation or message, 0: none
	state  uint8
	peer   int32
	tag    int32
	place  int32 // line, or number
	amount int64 // bytes, or nanoseconds; the index in calls
	// How many of the operations that it depends on have not begun, and of those it requires, have begun and not ended.
	unbegun, open int32
}

// States of a node.
const (
	waiting = iota
	begun
	ended
)

// edge says that an operation may begin when another one has ended, or has begun.
type edge struct {
	of, on int32
	start  bool // it need only have begun
}

// graph has the operations of a rank.
type graph struct {
	nodes []node
	edges []edge
	calls []call        // of collective operations
	at    func(n *node) // says where an error is, before it
	// Sends need no receive to end: nothing waits for them, and their requests are let go of.
	buffered bool

	k        *rank
	needs    [][]edge // by node
	needed   [][]edge
	ready    keyheap.Heap   // messages, and computations that take no time
	compute  keyheap.Heap   // others
	blocked  map[int32]bool // operations that wait for messages which have begun
	last     int32          // the message that has begun last and is not in the trace yet; -1: none
	left     int
	overlaps bool // a collective operation, with others
}

// play hands the operations on to a rank that has no others.
func (g *graph) play(k *rank) {
	if !g.inOrder(k) {
		g.beside(k)
	}
}

// begins prepares for the first operation.
func (g *graph) begins(k *rank) {
	g.k, g.last, g.left, g.blocked = k, -1, len(g.nodes), map[int32]bool{}
	g.ready, g.compute = nil, nil
	g.needs, g.needed = grouped(len(g.nodes), g.edges, func(e edge) int32 { return e.of }), grouped(len(g.nodes), g.edges, func(e edge) int32 { return e.on })
	for i := range g.nodes {
		g.nodes[i].state, g.nodes[i].open, g.nodes[i].unbegun = waiting, 0, int32(len(g.needs[i]))
	}
}

// inOrder hands the operations on in the order in which they begin on any machine. It is false if there is none, or if a
// collective operation overlaps with others.
func (g *graph) inOrder(k *rank) bool {
	g.begins(k)
	for i := range g.nodes {
		g.settle(int32(i))
	}
	for g.left > 0 {
		switch {
		case len(g.ready) > 0:
			n := g.ready.Pop().ID
			g.begin(n)
			if g.nodes[n].kind == trace.KindFlops {
				g.end(n)
				break
			}
			g.post()
			g.last = n
		case len(g.compute) > 0:
			n := g.compute.Pop().ID
			g.begin(n)
			// What begins with the computation comes before it.
			for len(g.ready) > 0 && g.nodes[g.ready[0].ID].kind != trace.KindFlops {
				m := g.ready.Pop().ID
				g.begin(m)
				g.post()
				g.last = m
			}
			if len(g.compute) > 0 && g.nodes[g.compute[0].ID].on != g.nodes[n].on {
				return false // both compute at once
			}
			for i := range g.blocked {
				if !slices.Contains(g.pending(i), n) {
					return false // one computes while the other waits for a message
				}
			}
			g.post()
			k.compute(float64(g.nodes[n].amount))
			g.end(n)
		case len(g.blocked) > 0:
			if !g.wait() {
				return false
			}
		default:
			g.depends()
		}
	}
	if g.last >= 0 && int(k.used) == len(k.free) { // it is all that the end of the rank waits for
		g.block()
	}
	g.post()
	return !g.overlaps
}

// depends ends the reading at an operation that depends on itself.
func (g *graph) depends() {
	g.at(&g.nodes[slices.IndexFunc(g.nodes, func(n node) bool { return n.state == waiting })])
	textutil.Stop(errors.New("the operation depends on itself"))
}

// beside hands the operations on as actions beside the rank, each behind those that it depends on, in place of what the
// rank has.
func (g *graph) beside(k *rank) {
	k.restart()
	g.begins(k)
	for i := range g.nodes {
		if g.nodes[i].unbegun == 0 {
			g.ready.Push(keyheap.Item{ID: int32(i)})
		}
	}
	orders, count := make([]int64, len(g.nodes)), int64(0)
	for ; len(g.ready) > 0; count++ {
		i := g.ready.Pop().ID
		n := &g.nodes[i]
		n.state, orders[i] = begun, count
		for _, e := range g.needs[i] {
			after := call{kind: int64(trace.KindAfter), bytes: count - orders[e.on]}
			if e.start {
				after.tag = 1
			}
			g.k.put(after)
		}
		g.k.put(call{kind: int64(trace.KindBeside), tag: int64(n.on)})
		if n.kind == trace.KindFlops {
			g.k.put(call{kind: int64(trace.KindFlops), ns: trace.FloatArg(float64(n.amount))})
		} else {
			g.k.put(g.blocking(i))
		}
		for _, e := range g.needed[i] {
			if g.nodes[e.of].unbegun--; g.nodes[e.of].unbegun == 0 {
				g.ready.Push(keyheap.Item{ID: e.of})
			}
		}
	}
	if count < int64(len(g.nodes)) {
		g.depends()
	}
	g.k.put(call{kind: int64(trace.KindWaitAll)})
}

// grouped returns edges by a node of theirs.
func grouped(nodes int, edges []edge, by func(edge) int32) [][]edge {
	counts := make([]int, nodes)
	for _, e := range edges {
		counts[by(e)]++
	}
	all, groups := make([]edge, len(edges)), make([][]edge, nodes)
	for i, n := range counts {
		groups[i], all = all[:0:n], all[n:]
	}
	for _, e := range edges {
		groups[by(e)] = append(groups[by(e)], e)
	}
	return groups
}

// settle puts an operation whose predecessors have begun where it belongs now: among the blocked ones, the computations,
// or those that are ready.
func (g *graph) settle(i int32) {
	n := &g.nodes[i]
	switch {
	case n.state != waiting || n.unbegun > 0:
	case n.open > 0:
		g.blocked[i] = true
	case n.kind == trace.KindFlops && n.amount > 0:
		delete(g.blocked, i)
		g.compute.Push(keyheap.Item{ID: i})
	default:
		delete(g.blocked, i)
		g.ready.Push(keyheap.Item{ID: i})
	}
}

// begin begins an operation.
func (g *graph) begin(i int32) {
	g.nodes[i].state = begun
	g.left--
	for _, e := range g.needed[i] {
		n := &g.nodes[e.of]
		if n.unbegun--; !e.start {
			n.open++
		}
		g.settle(e.of)
	}
}

// end ends an operation.
func (g *graph) end(i int32) {
	g.nodes[i].state = ended
	for _, e := range g.needed[i] {
		if !e.start {
			g.nodes[e.of].open--
			g.settle(e.of)
		}
	}
}

// wait waits for the messages that the operation needs which comes next; it is false unless all others need them, too.
func (g *graph) wait() bool {
	next, fewest := int32(-1), 0
	for i := range g.blocked {
		n := len(g.pending(i))
		if next < 0 || n < fewest || n == fewest && i < next {
			next, fewest = i, n
		}
	}
	messages := g.pending(next)
	for i := range g.blocked {
		for _, m := range messages {
			if !slices.ContainsFunc(g.needs[i], func(e edge) bool { return e.on == m && !e.start }) {
				return false
			}
		}
	}
	// A message that the rank waits for at once blocks.
	if len(messages) == 1 && messages[0] == g.last {
		g.block()
	} else {
		g.post()
		var handles []int64
		for _, m := range messages {
			handles = append(handles, int64(m))
		}
		g.k.complete(handles...)
	}
	for _, m := range messages {
		g.end(m)
	}
	return true
}

// pending returns what an operation requires and has begun, in its order: messages, or a computation.
func (g *graph) pending(i int32) (list []int32) {
	for _, e := range g.needs[i] {
		if !e.start && g.nodes[e.on].state == begun {
			list = append(list, e.on)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// post adds the message that has begun last.
func (g *graph) post() {
	if g.last < 0 {
		return
	}
	g.overlaps = g.overlaps || g.nodes[g.last].kind == trace.KindIcollective
	g.k.post(int64(g.last), g.call(g.last), false)
	if g.buffered && g.nodes[g.last].kind == trace.KindSend {
		g.k.release(int64(g.last))
	}
	g.last = -1
}

// block adds the message that has begun last, and waits for it.
func (g *graph) block() {
	g.k.add(g.blocking(g.last))
	g.last = -1
}

// blocking returns the blocking call of a message.
func (g *graph) blocking(i int32) call {
	c := g.call(i)
	switch trace.Kind(c.kind) {
	case trace.KindIcollective:
		c.kind = int64(trace.KindCollective)
	case trace.KindIsend:
		c.kind = int64(trace.KindSend)
	default:
		c.kind = int64(trace.KindRecv)
	}
	return c
}

// call returns the nonblocking call of a message.
func (g *graph) call(i int32) call {
	n := &g.nodes[i]
	switch n.kind {
	case trace.KindSend:
		return message(trace.KindIsend, world, int64(n.peer), int64(n.tag), n.amount)
	case trace.KindRecv:
		return message(trace.KindIrecv, world, int64(n.peer), int64(n.tag), n.amount)
	}
	return g.calls[n.amount]
}
