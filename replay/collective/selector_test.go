package collective

import (
	"errors"
	"math"
	"strings"
	"testing"

	"reprise/trace"
)

// TestUnknownNames: errors list what is known.
func TestUnknownNames(t *testing.T) {
	if _, err := NewSelector("mvapich"); err == nil || !strings.Contains(err.Error(), "want default, ompi or mpich") {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"mvapich2", "impi"} { // selections of SimGrid
		s, err := NewSelector(name)
		noError(t, err)
		if err := s.Check(trace.CollBcast); err == nil || !strings.Contains(err.Error(), "want default, ompi or mpich") {
			t.Errorf("error %v", err)
		}
		if err := errors.Join(s.Set("bcast", "ompi"), s.Check(trace.CollBcast), s.Check(trace.CollScan)); err != nil {
			t.Errorf("operations with an algorithm: %v", err)
		}
	}
	s, err := NewSelector("default")
	noError(t, err)
	for _, c := range []struct{ operation, algorithm, want string }{
		{"scan", "default", `collective operation "scan", known are allgather, allgatherv, allreduce, alltoall,`},
		{"barrier", "mvapich2_pair", `algorithm "mvapich2_pair" of barrier, known are default, ompi, mpich, ompi_basic_linear,`},
	} {
		err := s.Set(c.operation, c.algorithm)
		if err == nil {
			err = s.Check(trace.CollBarrier)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:%s: error %v, want %q", c.operation, c.algorithm, err, c.want)
		}
	}
	if Algorithms("scan") != nil {
		t.Errorf("scan has algorithms %v", Algorithms("scan"))
	}
}

// TestTablesAreComplete: limits increase, and each row ends with an entry for any size, each table with a row for any
// number of ranks.
func TestTablesAreComplete(t *testing.T) {
	for _, f := range families {
		last := decision{bytes: math.MaxInt64}
		for _, d := range tuned()[f.kind] {
			if next := last.bytes == math.MaxInt64; d.ranks < last.ranks || next == (d.ranks == last.ranks) ||
				!next && d.bytes <= last.bytes {
				t.Errorf("%s: below %d ranks and %d bytes after %d and %d", f.name, d.ranks, d.bytes, last.ranks, last.bytes)
			}
			last = d
		}
		if last.ranks != math.MaxInt || last.bytes != math.MaxInt64 {
			t.Errorf("%s: limited to %d ranks and %d bytes", f.name, last.ranks, last.bytes)
		}
	}
}

// TestDecisions compares decisions with what Open MPI 4.1 and MPICH 3 document, by the
// first step of rank 1.
func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		selection string
		kind      trace.CollectiveKind
		ranks     int
		count     int64 // of elements of 1 byte
		want      Step
	}{
		// Recursive doubling below 8 KiB from 4 to 15 ranks, then Rabenseifner's: 1 KiB
		// to rank 0, or the half of 8 KiB.
		{"ompi", trace.CollAllreduce, 8, 1024, Step{Isend, 0, 0, 1024, 0}},
		{"ompi", trace.CollAllreduce, 8, 8192, Step{Isend, 0, 0, 4096, 0}},
		// A binary tree below 64 bytes from 8 to 15 ranks; from 32 KiB on segments of 8 KiB
		// along the ranks.
		{"ompi", trace.CollBcast, 8, 63, Step{Recv, 0, 0, 63, 0}},
		{"ompi", trace.CollBcast, 8, 32768, Step{Irecv, 0, 0, 8192, 0}},
		// MPICH in SMPI: a binomial tree where all nodes have as many ranks. It has its own
		// thresholds where they differ (TestUnevenNodes).
		{"mpich", trace.CollBcast, 16, 16384, Step{Recv, 0, 0, 16384, 0}},
		// MPICH: recursive doubling below 512 KiB in all for powers of two, then a ring.
		{"mpich", trace.CollAllgather, 8, 65535, Step{Isend, 0, 0, 65535, 65535}},
		{"mpich", trace.CollAllgather, 8, 65536, Step{Isend, 0, 2, 65536, 65536}},
		// MPICH: Bruck's below 256 bytes from 8 ranks on.
		{"mpich", trace.CollAlltoall, 8, 255, Step{Isend, 0, 2, 4 * 255, -1}},
		{"mpich", trace.CollAlltoall, 7, 255, Step{Irecv, 0, 1, 255, 0}},
	} {
		sel, err := NewSelector(c.selection)
		noError(t, err)
		var s Schedule
		s.Start(sel, &trace.Collective{Kind: c.kind, Send: c.count, Recv: c.count, SendSize: 1, RecvSize: 1}, c.ranks, 1, nil)
		if steps := s.Next(); len(steps) == 0 || steps[0] != c.want {
			t.Errorf("%s: %v of %d bytes by %d ranks begins with %+v, want %+v", c.selection, c.kind, c.count, c.ranks, steps, c.want)
		}
	}
}

// TestNoAllocations: schedules are started and run through without.
func TestNoAllocations(t *testing.T) {
	sel, err := NewSelector("ompi")
	noError(t, err)
	sums := counts(1, 64, 9)
	var s Schedule
	for kind := range trace.CollectiveKind(trace.NumCollectives) {
		call := oneSided(trace.Collective{Kind: kind, Send: 3000, Recv: 3000, SendSize: 8, RecvSize: 8, SendSums: sums, RecvSums: sums, Span: sums[64]})
		allocations := testing.AllocsPerRun(10, func() {
			s.Start(sel, &call, 64, 5, nil)
			for len(s.Next()) > 0 {
			}
		})
		if allocations > 0 {
			t.Errorf("%v: %v allocations", kind, allocations)
		}
	}
}

// TestTreesAreTrees: each rank but the root is the child of its parent, and no other's.
func TestTreesAreTrees(t *testing.T) {
	for p := 2; p <= 33; p++ {
		for _, sh := range []shape{chains, binary, binomial, inOrder} {
			for _, root := range []int{0, p / 2} {
				checkTree(t, p, sh, root)
			}
		}
	}
}

func checkTree(t *testing.T, p int, sh shape, root int) {
	t.Helper()
	parents := make([]int, p)
	for r := range parents {
		parents[r] = -1
	}
	tops := 0
	for r := range p {
		s := Schedule{p: p, rank: r}
		tr := s.newTree(sh, root, p/2)
		if tr.top {
			tops++
		}
		for i := range tr.children {
			kid := tr.child(i)
			if parents[kid] >= 0 {
				t.Fatalf("shape %d, %d ranks, root %d: rank %d has parents %d and %d", sh, p, root, kid, parents[kid], r)
			}
			parents[kid] = r
		}
	}
	for r, parent := range parents {
		s := Schedule{p: p, rank: r}
		if tr := s.newTree(sh, root, p/2); !tr.top && tr.up() != parent {
			t.Errorf("shape %d, %d ranks, root %d: rank %d has parent %d, is a child of %d", sh, p, root, r, tr.up(), parent)
		}
	}
	if tops != 1 {
		t.Errorf("shape %d, %d ranks, root %d: %d roots", sh, p, root, tops)
	}
}

// TestInOrderTree: the trees that Open MPI draws in coll_base_topo.c, parents of ranks 0
// to p-1 (-1: the root).
func TestInOrderTree(t *testing.T) {
	for _, want := range [][]int{{1, -1}, {2, 2, -1}, {1, 3, 3, -1}, {1, 3, 3, 8, 5, 7, 7, 8, -1}} {
		for r, parent := range want {
			s := Schedule{p: len(want), rank: r}
			tr := s.newTree(inOrder, 0, 2)
			if tr.top != (parent < 0) || parent >= 0 && tr.up() != parent {
				t.Errorf("%d ranks: rank %d has parent %d, want %d", len(want), r, tr.up(), parent)
			}
		}
	}
}
