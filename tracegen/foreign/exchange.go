package foreign

import (
	"fmt"
	"math/bits"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file completes collective operations of which a format tells what each rank has of them: the root is known to
// itself alone, and the counts of others to them. The calls of the ranks of a communicator meet in their order.

// exchanged is what a rank has of a collective operation: whether it is the root, or who is, and the bytes of its part.
type exchanged struct {
	root           int64 // rank of the communicator; -1: not known to this rank
	sent, received int64 // received is for an alltoallv, all that the rank receives
}

// exchange is a collective operation of all ranks of a communicator.
type exchange struct {
	kind           int64
	root           int64
	sent, received []int64 // by rank of the communicator, where ranks need those of others
	totals         [2]int64
}

// exchangeRoom marks a call that other ranks complete.
const exchangeRoom = 2

// exchange returns a collective operation that other ranks complete.
func (k *rank) exchange(kind trace.CollectiveKind, comm int64, x exchanged) call {
	if max(x.sent, x.received) > maxBytes || min(x.sent, x.received) < 0 {
		textutil.Stop(fmt.Errorf("%v of %d and %d bytes, want 0 to %d", kind, x.sent, x.received, int64(maxBytes)))
	}
	return call{kind: int64(trace.KindCollective), comm: comm, collective: int64(kind), peer: x.root, bytes: x.sent,
		received: x.received, sendSize: 1, recvSize: 1, room: exchangeRoom}
}

// meet returns the operation of the next call of a rank on a communicator.
func (k *rank) meet(comm int, kind int64) *exchange {
	key := [2]int{comm}
	if comm == self {
		key[1] = int(k.number)
	}
	list := k.of.exchanges[key]
	n := k.met[key]
	if k.met[key]++; n == len(list) {
		list = append(list, &exchange{kind: kind, root: -1})
		k.of.exchanges[key] = list
	}
	if list[n].kind != kind {
		textutil.Stop(fmt.Errorf("%s: rank %d calls %v where other ranks of the communicator call %v", k.of.name, k.number,
			trace.CollectiveKind(kind), trace.CollectiveKind(list[n].kind)))
	}
	return list[n]
}

// gather adds what a rank has of an operation.
func (x *exchange) gather(k *rank, comm int, c *call) {
	if x.root < 0 {
		x.root = c.peer
	}
	kind := trace.CollectiveKind(c.collective)
	if !kind.SendsPerRank() && !kind.RecvsPerRank() {
		return
	}
	members := k.members(comm)
	if x.sent == nil {
		x.sent, x.received = make([]int64, len(members)), make([]int64, len(members))
	}
	i := slices.Index(members, k.number)
	if i < 0 {
		return // an error of the writing
	}
	x.sent[i], x.received[i] = c.bytes, c.received
	x.totals[sends], x.totals[receives] = x.totals[sends]+c.bytes, x.totals[receives]+c.received
	if max(x.totals[sends], x.totals[receives]) > maxBytes {
		textutil.Stop(fmt.Errorf("%s: %v of more than %d bytes", k.of.name, kind, int64(maxBytes)))
	}
}

// complete gives a call of a rank what it has from the others.
func (x *exchange) complete(k *rank, comm int, c *call) {
	kind := trace.CollectiveKind(c.collective)
	if c.peer = 0; kind.Rooted() {
		if c.peer = x.root; c.peer < 0 {
			k.of.odd(k.of.name, 0, "the root of a collective operation is not in the file: taken for rank 0")
			c.peer = 0
		}
	}
	own := c.bytes
	c.bytes, c.received = 0, 0
	if kind.Sends() && !kind.SendsPerRank() {
		c.bytes = own
	}
	if kind.Receives() && !kind.RecvsPerRank() {
		c.received = own
	}
	if kind == trace.CollAlltoallv {
		k.of.odd(k.of.name, 0, "the file does not say to whom the bytes of MPI_Alltoallv go: they are divided in proportion to the others'")
		i := slices.Index(k.members(comm), k.number)
		share := func(sent, received int64) int64 { // both are at most the greater total
			high, low := bits.Mul64(uint64(sent), uint64(received))
			n, _ := bits.Div64(high, low, uint64(max(x.totals[sends], x.totals[receives], 1)))
			return int64(n)
		}
		for j := range x.sent {
			c.sends = append(c.sends, share(x.sent[i], x.received[j]))
			c.receives = append(c.receives, share(x.sent[j], x.received[i]))
		}
		return
	}
	if kind.SendsPerRank() {
		c.sends = slices.Clone(x.sent)
	}
	if c.receives = nil; kind.RecvsPerRank() {
		c.receives = slices.Clone(x.sent)
		if kind.Spans() {
			for _, n := range c.receives {
				c.span += n
			}
		}
	}
}
