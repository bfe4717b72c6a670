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
	cube := hi(n)
	extra := n - cube // processes beyond the hypercube
	partner := d ^ cube
	swap := func(peer int, out, in payload) {
		i := slices.Index(peers, peer)
		if i < 0 {
			i = len(peers)
			peers = append(peers, peer)
		}
		hops = append(hops, hop{i, out, in})
	}

	// The extra processes give their candidates to their partners. The first of them receives
	// the current row at once, because its partner is the current process row.
	switch {
	case partner >= n:
	case d == 0:
		swap(partner, row, candidate)
	case partner == 0:
		swap(partner, candidate, row)
	case d < partner:
		swap(partner, nothing, candidate)
	default:
		swap(partner, candidate, nothing)
	}

	// In each round the current row reaches as many further processes of the hypercube as
	// have it already; all exchange their best candidates.
	for bit := 1; d < cube && bit < cube; bit *= 2 {
		out, in := candidate, candidate
		switch {
		case d < bit:
			out = both
		case d < 2*bit:
			in = both
		}
		swap(d^bit, out, in)
	}

	// The first extra process passes the current row on to the others.
	for bit := hi(max(1, extra-1)); d >= cube && bit >= 1; bit /= 2 {
		peer, receives, ok := treePeer(d-cube, bit, extra)
		switch {
		case !ok:
		case receives:
			swap(peer+cube, nothing, row)
		default:
			swap(peer+cube, row, nothing)
		}
	}

	// The winner goes back to the extra processes.
	switch {
	case partner >= n:
	case d < partner:
		swap(partner, candidate, nothing)
	default:
		swap(partner, nothing, candidate)
	}
	return hops, peers
}
