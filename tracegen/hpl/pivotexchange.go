package hpl

import "reprise/trace"

// swapTag is the tag of pivot exchanges and row swaps.
const swapTag = 1001

// doubleBytes is the size of a matrix element in a message.
const doubleBytes = 8

// peerDistances lists, without repetition, the process rows that the one at
// distance d of n talks to in a pivot exchange, as distances from the current
// process row: its partner among the extra processes, its neighbours in the
// hypercube, its neighbours in the tree of the extra processes.
func peerDistances(n, d int) []int {
	var list []int
	cube := hi(n)
	if e := d ^ cube; e < n {
		list = append(list, e)
	}
	if d < cube {
		for bit := 1; bit < cube; bit *= 2 {
			list = append(list, d^bit)
		}
		return list
	}
	for bit := hi(max(1, n-cube-1)); bit >= 1; bit /= 2 {
		if peer, _, ok := treePeer(d-cube, bit, n-cube); ok {
			list = append(list, peer+cube)
		}
	}
	return list
}

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

// pivotExchange emits the search of the maximum of a column over the process
// column together with the exchange of the two rows: full panel rows, whatever
// the recursion level. Copies made after a message depend on who held the
// larger value and are left out. Source: HPL 2.3 control flow, pivot exchange.
func (f *factor) pivotExchange(b *trace.Builder, m, col trace.Operand, peers []trace.Operand) {
	w := int64(f.w)
	x := &exchange{b: b, d: f.d, n: f.lib.p.P, peers: map[int]trace.Operand{},
		row: trace.Const(doubleBytes * w), candidate: trace.Const(doubleBytes * (w + 4)), both: trace.Const(doubleBytes * (2*w + 4))}
	for i, at := range f.distances {
		x.peers[at] = peers[i]
	}
	b.Mark(beginPivot, m, col)
	b.If(m, func() {
		b.Compute(dcopy, trace.Const(w)) // own candidate
		if f.d == 0 {
			b.Compute(dcopy, trace.Const(w)) // current row
		}
	})
	x.foldIn()
	x.hypercube()
	x.extraTree()
	x.foldOut()
	b.Mark(endPivot)
}

// exchange emits the messages of a pivot exchange of the process row at distance
// d of n. Sizes are in bytes.
type exchange struct {
	b     *trace.Builder
	d, n  int
	peers map[int]trace.Operand // world rank by distance

	row       trace.Operand // a row
	candidate trace.Operand // value, place and row
	both      trace.Operand // the same with the current row
}

// swap exchanges a message with the process row at distance peer; a side of no
// bytes is left out.
func (x *exchange) swap(peer int, out, in trace.Operand) {
	x.b.Exchange(colFamily, x.peers[peer], trace.Const(swapTag), out, in)
}

// partner returns the other side between the hypercube and the extra processes.
func (x *exchange) partner() (int, bool) {
	p := x.d ^ hi(x.n)
	return p, p < x.n
}

func (x *exchange) foldIn() {
	p, ok := x.partner()
	nothing := trace.Const(0)
	switch {
	case !ok:
	case x.d == 0:
		x.swap(p, x.row, x.candidate)
	case p == 0:
		x.swap(p, x.candidate, x.row)
	case x.d < p:
		x.swap(p, nothing, x.candidate)
	default:
		x.swap(p, x.candidate, nothing)
	}
}

func (x *exchange) hypercube() {
	cube := hi(x.n)
	if x.d >= cube {
		return
	}
	for bit := 1; bit < cube; bit *= 2 {
		out, in := x.candidate, x.candidate
		switch {
		case x.d < bit:
			out = x.both
		case x.d < 2*bit:
			in = x.both
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
			x.swap(peer+cube, trace.Const(0), x.row)
		default:
			x.swap(peer+cube, x.row, trace.Const(0))
		}
	}
}

func (x *exchange) foldOut() {
	p, ok := x.partner()
	switch {
	case !ok:
	case x.d < p:
		x.swap(p, x.candidate, trace.Const(0))
	default:
		x.swap(p, trace.Const(0), x.candidate)
	}
}
