package hpl

import (
	"slices"

	"reprise/trace"
)

// swapTag is the tag of pivot exchanges and row swaps.
const swapTag = 1001

// doubleBytes is the size of a matrix element in a message.
const doubleBytes = 8

// treePeer returns whom member x of n talks to at level bit of the binomial tree
// from member 0, whether it receives, and whether it talks at all. Levels run
// from hi(n-1) down to 1.
func treePeer(x, bit, n int) (peer int, receives, ok bool) {
	switch {
	case n < 2 || x%bit != 0:
		return 0, false, false
	case x&bit != 0:
		return x - bit, true, true
	}
	return x + bit, false, x+bit < n
}

// payload is what a message of a pivot exchange carries.
type payload uint8

const (
	nothing   payload = iota
	row               // a row of the panel
	candidate         // value, place and row
	both              // the same with the current row
)

// hop is a pair of messages of a pivot exchange; an empty side is left out. Peer
// counts the process rows that one talks to, in order of their first hop.
type hop struct {
	peer    int
	out, in payload
}

// pivotExchange emits the search of the maximum of a column over the process
// column together with the exchange of the two rows: full panel rows, whatever
// the recursion level. Copies made after a message depend on who held the
// larger value and are left out. Source: HPL 2.3 control flow, pivot exchange.
func (f *factor) pivotExchange(b *trace.Builder, m, col trace.Operand, peers []trace.Operand) {
	w := int64(f.w)
	bytes := map[payload]trace.Operand{nothing: trace.Const(0), row: trace.Const(doubleBytes * w),
		candidate: trace.Const(doubleBytes * (w + 4)), both: trace.Const(doubleBytes * (2*w + 4))}
	b.Mark(beginPivot, m, col)
	b.If(m, func() {
		b.Compute(dcopy, trace.Const(w)) // own candidate
		if f.current {
			b.Compute(dcopy, trace.Const(w)) // current row
		}
	})
	for _, h := range f.hops {
		b.Exchange(colFamily, peers[h.peer], trace.Const(swapTag), bytes[h.out], bytes[h.in])
	}
	b.Mark(endPivot)
}

// pivotHops lists the hops of a pivot exchange of the process row at distance d
// of n from the current one, and the distances of its peers: its partner among
// the extra processes, its neighbours in the hypercube, its neighbours in the
// tree of the extra processes. There are few lists of hops, about 4 log(n), and n of peers.
func pivotHops(n, d int) (hops []hop, peers []int) {
	x := &exchange{d: d, n: n}
	x.foldIn()
	x.hypercube()
	x.extraTree()
	x.foldOut()
	return x.hops, x.peers
}

// exchange collects the hops of the process row at distance d of n.
type exchange struct {
	d, n  int
	hops  []hop
	peers []int // distances
}

// swap exchanges messages with the process row at a distance.
func (x *exchange) swap(peer int, out, in payload) {
	i := slices.Index(x.peers, peer)
	if i < 0 {
		i = len(x.peers)
		x.peers = append(x.peers, peer)
	}
	x.hops = append(x.hops, hop{i, out, in})
}

// partner returns the other side between the hypercube and the extra processes.
func (x *exchange) partner() (int, bool) {
	p := x.d ^ hi(x.n)
	return p, p < x.n
}

func (x *exchange) foldIn() {
	p, ok := x.partner()
	switch {
	case !ok:
	case x.d == 0:
		x.swap(p, row, candidate)
	case p == 0:
		x.swap(p, candidate, row)
	case x.d < p:
		x.swap(p, nothing, candidate)
	default:
		x.swap(p, candidate, nothing)
	}
}

func (x *exchange) hypercube() {
	cube := hi(x.n)
	if x.d >= cube {
		return
	}
	for bit := 1; bit < cube; bit *= 2 {
		out, in := candidate, candidate
		switch {
		case x.d < bit:
			out = both
		case x.d < 2*bit:
			in = both
		}
		x.swap(x.d^bit, out, in)
	}
}

func (x *exchange) extraTree() {
	cube := hi(x.n)
	extra := x.n - cube
	if x.d < cube || extra < 2 {
		return
	}
	for bit := hi(extra - 1); bit >= 1; bit /= 2 {
		peer, receives, ok := treePeer(x.d-cube, bit, extra)
		switch {
		case !ok:
		case receives:
			x.swap(peer+cube, nothing, row)
		default:
			x.swap(peer+cube, row, nothing)
		}
	}
}

func (x *exchange) foldOut() {
	p, ok := x.partner()
	switch {
	case !ok:
	case x.d < p:
		x.swap(p, candidate, nothing)
	default:
		x.swap(p, nothing, candidate)
	}
}
