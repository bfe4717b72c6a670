package trace

import (
	"fmt"

	"reprise/internal/portable"
)

// This file compares what ranks say in a collective operation, in bytes: Agreement for a sum over all ranks,
// Disagreement to name the rank. By MPI's rules ranks agree on the operation and its root; one receives as many
// bytes from another as that sends it (except what a root gathers from or scatters to itself, where it may say
// MPI_IN_PLACE); and all reduce, or scan, as many.

// Agreement returns the term of one rank in a sum over all ranks of a communicator. The sum is 0, modulo 2^64, if the
// ranks agree in a call, and with near certainty only then. The number of the call counts the rank's collective
// operations on the communicator; group is the communicator's in its family, rank and ranks count in it. The call must
// have been checked.
func (c *Collective) Agreement(group int32, call int64, rank, ranks int) uint64 {
	// The sum of the terms of one rank. Terms cancel out over all ranks if they agree: equal values
	// in a ring, by alike, and pairs of sender and receiver, by transfer.
	sum := alike(rank, ranks, portable.Mix(uint64(c.Kind)<<32|uint64(uint32(c.Root))))
	if c.Nonblocking {
		sum += alike(rank, ranks, uint64(c.Kind))
	}
	// The name tells calls apart, so that disagreements in two of them do not cancel out.
	name := portable.Mix(uint64(call))
	if c.Comm > 0 {
		name = portable.Mix(name + uint64(c.Comm)<<32 + uint64(group))
	}
	switch c.Kind {
	case CollBarrier:
	// All ranks say the same size (MPI 4.1, chapter 6).
	case CollBcast, CollReduce, CollAllreduce, CollScan, CollExscan:
		sum += alike(rank, ranks, c.sends(0))
	// All ranks say the same list.
	case CollReduceScatter:
		sum += alike(rank, ranks, c.receivesAll(ranks))
	// All receive the same from each, and what a rank sends is what it receives from itself.
	case CollAllgather, CollAllgatherv, CollAlltoall:
		sum += alike(rank, ranks, c.receivesAll(ranks))
		if c.sends(rank) != c.receives(rank) {
			sum += portable.Mix(uint64(c.sends(rank) + 1))
		}
	// Pairs of ranks: what one sends is what the other receives. The sum runs over all pairs,
	// so each is looked at from both its ends, by ranks that know nothing of each other.
	default:
		first, end := 0, ranks
		if c.Kind.Rooted() && rank != int(c.Root) { // it exchanges with the root only
			first, end = int(c.Root), int(c.Root)+1
		}
		for other := first; other < end; other++ {
			if c.exchange(rank, other) {
				sum -= transfer(rank, other, c.sends(other))
			}
			if c.exchange(other, rank) {
				sum += transfer(other, rank, c.receives(other))
			}
		}
	}
	return sum * (name | 1)
}

// alike is 0 when it is added up over ranks that all have the same value.
// Each rank adds the hash of its own number and value, and subtracts that of its neighbour's number
// and its own value: in a ring of equal values each hash is there once with either sign.
func alike[T int64 | uint64](rank, ranks int, value T) uint64 {
	return portable.Mix(portable.Mix(uint64(rank))+uint64(value)) - portable.Mix(portable.Mix(uint64((rank+1)%ranks))+uint64(value))
}

// transfer is a hash of so many bytes from one rank to another: the sender subtracts it, the receiver adds it.
func transfer(from, to int, bytes int64) uint64 {
	return portable.Mix(portable.Mix(uint64(from)<<32|uint64(to)) + uint64(bytes))
}

// exchange reports whether both rank from and rank to count what from sends to: in a gather or scatter only the root
// and another rank do, in a broadcast, a reduction and a scan none.
func (c *Collective) exchange(from, to int) bool {
	switch c.Kind {
	case CollGather, CollGatherv:
		return to == int(c.Root) && from != to
	case CollScatter, CollScatterv:
		return from == int(c.Root) && from != to
	}
	rule := &collectiveRules[c.Kind]
	return rule.send != noCount && rule.recv != noCount
}

// sends returns the bytes that the rank sends another, or just sends.
func (c *Collective) sends(to int) int64 {
	if c.Kind.SendsPerRank() {
		return (c.SendSums[to+1] - c.SendSums[to]) * c.SendSize
	}
	return c.Send * c.SendSize
}

// receives returns the bytes that the rank receives from another one; of a reduce-scatter
// those that the other one receives.
func (c *Collective) receives(from int) int64 {
	if c.Kind.RecvsPerRank() {
		return (c.RecvSums[from+1] - c.RecvSums[from]) * c.RecvSize
	}
	return c.Recv * c.RecvSize
}

// receivesAll is a hash of what receives returns for all ranks: a polynomial by Horner's rule, modulo 2^64.
func (c *Collective) receivesAll(ranks int) uint64 {
	if !c.Kind.RecvsPerRank() {
		return uint64(c.receives(0))
	}
	sum := uint64(0)
	for from := range ranks {
		sum = sum*0x9E3779B97F4A7C15 + uint64(c.receives(from))
	}
	return sum
}

// Disagreement finds a rank that disagrees with another one in a call of an operation of one kind and root, and says
// how; text is "" if there is none. Where sender and receiver differ, it names the sender.
func Disagreement(calls []Collective) (rank int, text string) {
	kind := calls[0].Kind
	for r := range calls {
		for other := range calls {
			if kind == CollReduceScatter {
				if a, b := calls[r].receives(other), calls[0].receives(other); a != b {
					return r, fmt.Sprintf("%v with %d bytes for rank %d where rank 0 has %d", kind, a, other, b)
				}
				continue
			}
			// Pairs that exchange something: both say how many bytes.
			if !calls[r].exchange(r, other) {
				continue
			}
			if a, b := calls[r].sends(other), calls[other].receives(r); a != b {
				return r, fmt.Sprintf("%v: it sends %d bytes to rank %d, which receives %d from it", kind, a, other, b)
			}
		}
		if rule := &collectiveRules[kind]; rule.send == oneCount && rule.recv == noCount {
			if a, b := calls[r].sends(0), calls[0].sends(0); a != b {
				return r, fmt.Sprintf("%v of %d bytes where rank 0 has %d", kind, a, b)
			}
		}
	}
	return 0, ""
}
