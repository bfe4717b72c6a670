package collective

import (
	"errors"
	"slices"
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
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(trace.CollBcast); err == nil || !strings.Contains(err.Error(), "want default, ompi or mpich") {
			t.Errorf("error %v", err)
		}
		if err := errors.Join(s.Set("bcast", "ompi"), s.Check(trace.CollBcast), s.Check(trace.CollScan)); err != nil {
			t.Errorf("operations with an algorithm: %v", err)
		}
	}
	s, err := NewSelector("default")
	if err != nil {
		t.Fatal(err)
	}
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

// TestTablesAreComplete: each ends with a row for any number of ranks, each row with an
// entry for any size, and limits increase.
func TestTablesAreComplete(t *testing.T) {
	for name, tab := range map[string]table{"allgather": ompiAllgather, "allgatherv": ompiAllgatherv, "allreduce": ompiAllreduce,
		"alltoall": ompiAlltoall, "alltoallv": ompiAlltoallv, "barrier": ompiBarrier, "bcast": ompiBcast, "gather": ompiGather,
		"reduce": ompiReduce, "reduce_scatter": ompiReduceScatter, "scatter": ompiScatter} {
		if !slices.IsSortedFunc(tab, func(a, b ranksRow) int { return a.below - b.below }) || tab[len(tab)-1].below != more {
			t.Errorf("%s: limits of ranks", name)
		}
		for _, row := range tab {
			last := int64(0)
			for _, s := range row.sizes {
				if s.below <= last {
					t.Errorf("%s below %d ranks: %d bytes after %d", name, row.below, s.below, last)
				}
				last = s.below
			}
			if last != rest {
				t.Errorf("%s below %d ranks: limited to %d bytes", name, row.below, last)
			}
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
		if err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
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
