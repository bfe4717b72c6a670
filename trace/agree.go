package trace

import (
	"fmt"

	"reprise/internal/portable"
)

// What ranks say in a collective operation must agree, as MPI has it: the operation and its
// root; what a rank sends another is what that receives from it (but what a root gathers
// from itself, or scatters to itself, where it may say MPI_IN_PLACE); and all reduce,
// or scan, as much. Compared are bytes.

// Agreement is what one rank adds to a sum over all ranks that is 0, modulo 2^64, if they
// agree in a call of a collective operation, the rank's of that number on the communicator,
// and with near certainty only then. Group is that of the communicator in its family, ranks
// are those of it. The call must have been checked.
func (c *Collective) Agreement(group int32, call int64, rank, ranks int) uint64 {
	sum := alike(rank, ranks, portable.Mix(uint64(c.Kind)<<32|uint64(uint32(c.Root))))
	if c.Nonblocking {
		sum += alike(rank, ranks, uint64(c.Kind))
	}
	name := portable.Mix(uint64(call))
	if c.Comm > 0 {
		name = portable.Mix(name + uint64(c.Comm)<<32 + uint64(group))
	}
	switch c.Kind {
	case CollBarrier:
	case CollBcast, CollReduce, CollAllreduce, CollScan, CollExscan:
		sum += alike(rank, ranks, c.sends(0))
	case CollReduceScatter:
		sum += alike(rank, ranks, c.receivesAll(ranks))
	case CollAllgather, CollAllgatherv, CollAlltoall:
		sum += alike(rank, ranks, c.receivesAll(ranks))
		if c.sends(rank) != c.receives(rank) {
			sum += portable.Mix(uint64(c.sends(rank) + 1))
		}
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
func alike[T int64 | uint64](rank, ranks int, value T) uint64 {
	return portable.Mix(portable.Mix(uint64(rank))+uint64(value)) - portable.Mix(portable.Mix(uint64((rank+1)%ranks))+uint64(value))
}

func transfer(from, to int, bytes int64) uint64 {
	return portable.Mix(portable.Mix(uint64(from)<<32|uint64(to)) + uint64(bytes))
}

// exchange reports whether from sends to something, in an operation that has senders and
// receivers, that both of them count.
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

// receivesAll stands for all of receives.
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

// Disagreement finds a rank that disagrees with another one in a call of an operation of
// one kind and root, and says how; text is "" if there is none. A receiver is not to blame for
// what it gets.
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
