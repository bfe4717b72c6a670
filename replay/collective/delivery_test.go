package collective

import (
	"fmt"
	"slices"
	"testing"

	"reprise/trace"
)

// everyAlgorithm calls f for each algorithm of an operation, with a selector that
// takes it.
func everyAlgorithm(t *testing.T, operation string, f func(name string, sel *Selector)) {
	t.Helper()
	for _, algorithm := range Algorithms(operation) {
		sel, err := NewSelector("ompi") // what operations fall into
		if err == nil {
			err = sel.Set(operation, algorithm)
		}
		noError(t, err)
		f(operation+":"+algorithm, sel)
	}
}

// ranks are the numbers of ranks to test.
func ranks(t *testing.T) []int {
	var list []int
	for p := 1; p <= 33; p++ {
		if !testing.Short() || p <= 9 || p%8 <= 1 {
			list = append(list, p)
		}
	}
	return list
}

// TestEveryRankGetsItsData: whatever the algorithm, the number of ranks, the root and
// the size, and whether sends wait for their receives or not.
func TestEveryRankGetsItsData(t *testing.T) {
	// Elements of 3000 bytes make many segments of few elements.
	sizes := []struct{ count, size int64 }{{0, 8}, {1, 8}, {7, 1}, {100, 1}, {65, 3000}, {3, 100000}}
	for _, c := range []struct {
		operation string
		kind      trace.CollectiveKind
	}{
		{"bcast", trace.CollBcast}, {"reduce", trace.CollReduce}, {"allreduce", trace.CollAllreduce}, {"gather", trace.CollGather},
		{"scatter", trace.CollScatter}, {"allgather", trace.CollAllgather},
	} {
		everyAlgorithm(t, c.operation, func(name string, sel *Selector) {
			for _, p := range ranks(t) {
				for i, n := range sizes {
					if skip(name, n.count, n.size, p) {
						continue
					}
					root := (p * 2 / 3) * (i % 2)
					s := uniform(c.kind, p, root, n.count, n.size)
					if n.count == 0 {
						s.want = func(int, int) uint64 { return 0 } // of no data
					}
					s.check(t, fmt.Sprintf("%s, %d ranks, root %d, %d elements of %d bytes", name, p, root, n.count, n.size), sel, p, i%3 == 0)
				}
			}
		})
	}
}

// skip tells what the test cannot follow: parts of elements, and elements that only
// the algorithm makes up.
func skip(name string, count, size int64, p int) bool {
	switch name {
	case "bcast:scatter_LR_allgather", "bcast:scatter_rdb_allgather", "bcast:mpich", "bcast:ompi":
		return size > 1
	case "reduce:scatter_gather":
		return count > 0 && count < int64(p)
	}
	return false
}

func TestEveryRankGetsItsPart(t *testing.T) {
	for _, c := range []struct {
		operation string
		kind      trace.CollectiveKind
	}{
		{"allgatherv", trace.CollAllgatherv}, {"reduce_scatter", trace.CollReduceScatter},
	} {
		everyAlgorithm(t, c.operation, func(name string, sel *Selector) {
			for _, p := range ranks(t) {
				for i, most := range []int64{1, 5, 9} {
					size := []int64{8, 1, 40000}[i]
					s := perRank(c.kind, p, 0, most, size)
					s.check(t, fmt.Sprintf("%s, %d ranks, up to %d elements of %d bytes", name, p, most, size), sel, p, i%2 == 0)
				}
			}
		})
	}
	sel, err := NewSelector("default")
	noError(t, err)
	for _, kind := range []trace.CollectiveKind{trace.CollGatherv, trace.CollScatterv} {
		for _, p := range ranks(t) {
			s := perRank(kind, p, p/2, 7, 8)
			s.check(t, fmt.Sprintf("%v, %d ranks", kind, p), sel, p, false)
		}
	}
}

// TestNodes: whatever the hosts of the ranks and their order in MPI_COMM_WORLD.
func TestNodes(t *testing.T) {
	hosts := map[string]func(rank int) int32{
		"one":    func(int) int32 { return 0 },
		"pairs":  func(r int) int32 { return int32(r / 2) },
		"cyclic": func(r int) int32 { return int32(r % 3) },
		"uneven": func(r int) int32 { return int32(r * r / 7) },
		"own":    func(r int) int32 { return int32(r) },
	}
	for operation, kind := range map[string]trace.CollectiveKind{"bcast": trace.CollBcast, "reduce": trace.CollReduce, "allreduce": trace.CollAllreduce} {
		everyAlgorithm(t, operation, func(name string, sel *Selector) {
			for at, host := range hosts {
				for p := 2; p <= 17; p++ {
					for i, count := range []int64{1, 300, 3000, 20000} {
						for order, world := range map[string]func(rank int) int32{
							"in order": func(r int) int32 { return int32(r) },
							"reversed": func(r int) int32 { return int32(p - r) },
							"mixed":    func(r int) int32 { return int32(r * 5 % 19) },
						} {
							if skip(name, count, 1, p) || count > 300 && (p%4 > 1 || testing.Short()) {
								continue
							}
							s := uniform(kind, p, p*i/4, count, 1)
							s.nodes = NewNodes(p, world, host)
							s.check(t, fmt.Sprintf("%s, %d ranks, %s, %s, %d bytes", name, p, at, order, count), sel, p, i%2 == 0)
						}
					}
				}
			}
		})
	}
}

// TestUnevenNodes: MPICH's thresholds of a broadcast, where nodes have different numbers of
// ranks: a binomial tree below 12 KiB; a scatter and recursive doubling from there on with an
// even number of ranks: a 16th of 16 KiB.
func TestUnevenNodes(t *testing.T) {
	sel, err := NewSelector("mpich")
	noError(t, err)
	nodes := NewNodes(16, func(r int) int32 { return int32(r) }, func(r int) int32 { return int32(max(r-1, 0)) })
	for bytes, want := range map[int64]int64{12287: 12287, 16384: 1024} {
		var s Schedule
		s.Start(sel, &trace.Collective{Kind: trace.CollBcast, Send: bytes, SendSize: 1}, 16, 1, nodes)
		if steps := s.Next(); len(steps) == 0 || steps[0] != (Step{Recv, 0, 0, want, 0}) {
			t.Errorf("%d bytes: %+v, want %d from rank 0", bytes, steps, want)
		}
	}
}

// TestBarriers: after a barrier each rank has heard, directly or not, of all; in a scan, of all before it.
func TestBarriers(t *testing.T) {
	everyAlgorithm(t, "barrier", func(name string, sel *Selector) {
		for _, p := range ranks(t) {
			s := uniform(trace.CollBarrier, p, 0, 0, 0)
			s.check(t, fmt.Sprintf("%s, %d ranks", name, p), sel, p, p%2 == 0)
			s = uniform(trace.CollScan, p, 0, 3, 8)
			s.check(t, fmt.Sprintf("scan, %d ranks", p), sel, p, false)
		}
	})
}

// TestEveryPairExchanges: each rank sends each other one its block, once. Bruck's
// algorithm, which sends blocks over others, has a test of its own.
func TestEveryPairExchanges(t *testing.T) {
	for operation, kind := range map[string]trace.CollectiveKind{"alltoall": trace.CollAlltoall, "alltoallv": trace.CollAlltoallv} {
		everyAlgorithm(t, operation, func(name string, sel *Selector) {
			for _, p := range ranks(t) {
				for _, size := range []int64{8, 700, 60000} {
					if kind == trace.CollAlltoall && byBruck(sel, p, 5*size) {
						continue
					}
					exchangeAll(t, fmt.Sprintf("%s, %d ranks", name, p), sel, kind, p, size)
				}
			}
		})
	}
}

// byBruck reports whether an alltoall of blocks of so many bytes goes by Bruck's
// algorithm.
func byBruck(sel *Selector, p int, bytes int64) bool {
	var s Schedule
	s.Start(sel, &trace.Collective{Kind: trace.CollAlltoall, Send: bytes, Recv: bytes, SendSize: 1, RecvSize: 1}, p, 0, nil)
	first := s.Next()
	return len(first) > 0 && first[0].Offset < 0
}

// exchangeAll plays an alltoall in which rank i sends rank j 1 + (i+2j) mod 5 elements.
func exchangeAll(t *testing.T, name string, sel *Selector, kind trace.CollectiveKind, p int, size int64) {
	t.Helper()
	n := func(i, j int) int64 {
		if kind == trace.CollAlltoall {
			return 5
		}
		return 1 + int64(i+2*j)%5
	}
	s := setting{pieces: 1, start: func(int, int) uint64 { return 0 }, want: func(int, int) uint64 { return 0 }}
	s.call = func(rank int) trace.Collective {
		c := trace.Collective{Kind: kind, Send: 5, Recv: 5, SendSize: size, RecvSize: size, SendSums: []int64{0}, RecvSums: []int64{0}}
		for other := range p {
			c.SendSums = append(c.SendSums, c.SendSums[other]+n(rank, other))
			c.RecvSums = append(c.RecvSums, c.RecvSums[other]+n(other, rank))
		}
		return c
	}
	got := map[[2]int]int64{}
	for _, m := range s.check(t, name, sel, p, false) {
		if m.from == m.to {
			continue
		}
		if _, twice := got[[2]int{m.from, m.to}]; twice {
			t.Fatalf("%s: rank %d sends to %d twice", name, m.from, m.to)
		}
		got[[2]int{m.from, m.to}] = m.bytes
		c := s.call(m.from)
		if m.offset != c.SendSums[m.to]*size {
			t.Fatalf("%s: rank %d sends to %d from %d on, want %d", name, m.from, m.to, m.offset, c.SendSums[m.to]*size)
		}
	}
	for i := range p {
		for j := range p {
			if i != j && got[[2]int{i, j}] != n(i, j)*size {
				t.Fatalf("%s: rank %d sends %d bytes to %d, want %d", name, i, got[[2]int{i, j}], j, n(i, j)*size)
			}
		}
	}
}

// TestBruck moves blocks as Bruck's algorithm does, and compares where they end and
// how large the messages are.
func TestBruck(t *testing.T) {
	sel, err := NewSelector("default")
	if err == nil {
		err = sel.Set("alltoall", "bruck")
	}
	noError(t, err)
	for p := 2; p <= 33; p++ {
		at := make([][]int, p) // of block d of rank s: the rank that has it
		for s := range at {
			at[s] = slices.Repeat([]int{s}, p)
		}
		var schedule Schedule
		schedule.Start(sel, &trace.Collective{Kind: trace.CollAlltoall, Send: 3, Recv: 3, SendSize: 8, RecvSize: 8}, p, 0, nil)
		for bit := 1; bit < p; bit *= 2 {
			steps := schedule.Next()
			if len(steps) != 3 || steps[0].Peer != int32(bit) || steps[1].Peer != int32(p-bit) {
				t.Fatalf("%d ranks, distance %d: %+v", p, bit, steps)
			}
			sent := int64(0)
			for s := range at {
				for d, r := range at[s] {
					if (d-r+p)%p&bit != 0 {
						at[s][d] = (r + bit) % p
						if r == 0 {
							sent += 24
						}
					}
				}
			}
			if steps[0].Bytes != sent || steps[1].Bytes != sent {
				t.Errorf("%d ranks, distance %d: %d bytes, want %d", p, bit, steps[0].Bytes, sent)
			}
		}
		for s := range at {
			for d, r := range at[s] {
				if r != d {
					t.Errorf("%d ranks: block of %d for %d ends at %d", p, s, d, r)
				}
			}
		}
	}
}
