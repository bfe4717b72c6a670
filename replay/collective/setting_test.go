package collective

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/trace"
)

// counts draws so many counts up to most, and returns their running sums.
func counts(seed uint64, n int, most int64) []int64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	sums := []int64{0}
	for range n {
		sums = append(sums, sums[len(sums)-1]+1+rng.Int64N(most))
	}
	return sums
}

// setting is one way to test an operation: the calls of the ranks, the size of the
// data, what each knows at the start, and what it must know at the end.
type setting struct {
	call   func(rank int) trace.Collective
	pieces int   // of data
	unit   int64 // bytes of one
	start  func(rank, piece int) uint64
	want   func(rank, piece int) uint64
	nodes  *Nodes
}

// uniform are the settings of operations without counts per rank.
func uniform(kind trace.CollectiveKind, p, root int, count, size int64) setting {
	all := uint64(1)<<p - 1
	s := setting{pieces: max(1, int(count)), unit: size,
		call: func(int) trace.Collective {
			return trace.Collective{Kind: kind, Root: int32(root), Send: count, Recv: count, SendSize: size, RecvSize: size}
		},
		start: func(rank, _ int) uint64 { return 1 << rank },
		want:  func(int, int) uint64 { return all },
	}
	at := func(want func(int, int) uint64) func(int, int) uint64 {
		return func(rank, piece int) uint64 {
			if rank == root {
				return want(rank, piece)
			}
			return 0
		}
	}
	block := func(piece int) int { return piece / max(1, int(count)) }
	switch kind {
	case trace.CollBcast:
		s.start = at(s.start)
		s.want = func(int, int) uint64 { return 1 << root }
	case trace.CollReduce:
		s.want = at(s.want)
	case trace.CollScan:
		s.want = func(rank, _ int) uint64 { return 1<<(rank+1) - 1 }
	case trace.CollAllgather, trace.CollGather:
		s.pieces *= p
		s.start = func(rank, piece int) uint64 {
			if block(piece) == rank {
				return 1 << rank
			}
			return 0
		}
		s.want = func(_, piece int) uint64 { return 1 << block(piece) }
		if kind == trace.CollGather {
			s.want = at(s.want)
		}
	case trace.CollScatter:
		s.pieces *= p
		s.start = at(s.start)
		s.want = func(rank, piece int) uint64 {
			if block(piece) == rank {
				return 1 << root
			}
			return 0
		}
	}
	return s
}

// perRank are the settings of operations with counts per rank.
func perRank(kind trace.CollectiveKind, p, root int, most, size int64) setting {
	sums := counts(uint64(p), p, most)
	all := uint64(1)<<p - 1
	block := func(piece int) int { return blockOf(sums, int64(piece)) }
	own := func(rank, piece int) uint64 {
		if block(piece) == rank {
			return 1 << rank
		}
		return 0
	}
	s := setting{pieces: int(sums[p]), unit: size}
	s.call = func(rank int) trace.Collective {
		one := sums[rank+1] - sums[rank]
		return trace.Collective{Kind: kind, Root: int32(root), Send: one, Recv: one, SendSums: sums, RecvSums: sums, SendSize: size, RecvSize: size, Span: sums[p]}
	}
	switch kind {
	case trace.CollReduceScatter:
		s.start = func(rank, _ int) uint64 { return 1 << rank }
		s.want = func(rank, piece int) uint64 {
			if block(piece) == rank {
				return all
			}
			return 0
		}
	case trace.CollScatterv:
		s.start = func(rank, _ int) uint64 {
			if rank == root {
				return 1 << root
			}
			return 0
		}
		s.want = func(rank, piece int) uint64 { return min(own(rank, piece), 1) << root }
	default:
		s.start = own
		s.want = func(rank, piece int) uint64 {
			if kind == trace.CollGatherv && rank != root {
				return 0
			}
			return 1 << block(piece)
		}
	}
	return s
}

// blockOf returns the index of the block that holds piece i.
func blockOf(sums []int64, i int64) int {
	n, found := slices.BinarySearch(sums, i)
	if !found {
		n--
	}
	return n
}

// oneSided makes a call say only what its kind has.
func oneSided(c trace.Collective) trace.Collective {
	if !c.Kind.SendsPerRank() {
		c.SendSums = nil
	}
	if !c.Kind.RecvsPerRank() {
		c.RecvSums = nil
	}
	return c
}

// check plays a setting and compares what ranks know with what they must.
func (s *setting) check(t *testing.T, name string, sel *Selector, p int, sync bool) []message {
	t.Helper()
	w := &world{t: t, name: name, p: p, unit: s.unit, size: int64(s.pieces) * s.unit, nodes: s.nodes, sync: sync}
	for r := range p {
		w.known = append(w.known, make([]uint64, s.pieces))
		for i := range w.known[r] {
			w.known[r][i] = s.start(r, i)
		}
	}
	if s.unit == 0 {
		w.size = 0
	}
	w.play(sel, func(r int) trace.Collective { return oneSided(s.call(r)) })
	for r := range p {
		for i, got := range w.known[r] {
			if want := s.want(r, i); got&want != want {
				t.Fatalf("%s: rank %d knows of piece %d the parts %b, want %b", name, r, i, got, want)
			}
		}
	}
	return w.sends
}
