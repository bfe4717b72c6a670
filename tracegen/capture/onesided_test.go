package capture_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/text"
)

// listed returns what a rank does, a line each, without computations.
func listed(t *testing.T, tr *trace.Trace, rank int32) (lines []string) {
	t.Helper()
	var out bytes.Buffer
	if err := text.WriteListings(&out, tr, []int32{rank}, trace.CursorOptions{}, trace.Hit{}, text.Words{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSpace(line); line[0] != '#' && !strings.HasPrefix(line, "flops ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestOneSided: the accesses and synchronisations of testdata/onesided.c, as its text has them: of
// rank 1 of 4, whose next rank is 2, and rank 3 and itself in its half.
func TestOneSided(t *testing.T) {
	fences := func(window string, next int) []string {
		return []string{
			"win_fence window " + window + " assert 8",
			fmt.Sprint("put ", next, " 80 window ", window),
			fmt.Sprint("get ", next, " 40 window ", window),
			"win_fence window " + window + " assert 16",
		}
	}
	epoch := func(window string, before, next int) []string {
		return []string{
			fmt.Sprint("win_post ", before, " window ", window),
			fmt.Sprint("win_start ", next, " window ", window),
			fmt.Sprint("accumulate ", next, " 24 window ", window),
			fmt.Sprint("win_complete ", next, " window ", window),
			fmt.Sprint("win_wait ", before, " window ", window),
		}
	}
	locks := []string{
		"win_lock_exclusive 1 window 0 comm1",
		"get_accumulate 1 8 8 window 0 comm1",
		"win_flush 1 window 0 comm1",
		"get_accumulate 1 0 8 window 0 comm1",
		"win_unlock 1 window 0 comm1",
		"win_lock_all window 0 comm1 assert 1",
		"fetch_and_op 1 8 8 window 0 comm1",
		"compare_and_swap 1 8 8 window 0 comm1",
		"win_flush_local all window 0 comm1",
		"rget 1 16 window 0 comm1",
		"wait rget",
		"win_unlock_all window 0 comm1",
	}
	eachMPI(t, func(t *testing.T, m mpi) {
		want := []string{"win_create window 0 world"}
		if m.name == "mpich" {
			want = slices.Concat(want, []string{"win_create window 0 self"}, fences("0 self", 1), []string{"win_free window 0 self", "win_create window 0 comm1"})
		}
		for range 20 {
			want = append(want, fences("0 world", 2)...)
			if m.name == "mpich" {
				want = slices.Concat(want, epoch("0 comm1", 3, 3), locks)
			} else {
				want = append(want, epoch("0 world", 0, 2)...)
			}
		}
		if m.name == "mpich" {
			want = slices.Concat(want, []string{"win_create window 1 world"}, fences("1 world", 0), []string{"win_free window 1 world",
				"win_create window 1 world", "win_fence window 1 world", "win_free window 1 world", "win_free window 0 comm1"})
		}
		want = append(want, "win_free window 0 world", "file_write 512 world", "file_write_all 256 world")
		if m.name == "mpich" {
			want = append(want, "file_write 128 world")
		}
		want = append(want, "barrier", "file_read_all 64 world")
		tr := m.traced(t, "4", m.compile(t, "onesided.c"), filepath.Join(t.TempDir(), "file"))
		got := listed(t, tr, 1)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("line %d: %q, want %q", i, got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
			}
		}
		// The last rank asks for 512 bytes at the end of the file, where 256 are.
		if got := listed(t, tr, 3); !slices.Contains(got, "file_read 256 world") {
			t.Errorf("no read of what is there: %q", got[len(got)-4:])
		}
		if n := tr.Header().Steps; n < 19 {
			t.Errorf("%d steps, want 19 at least of 20 turns", n)
		}
	})
}

// TestTwoGroups: the operations of testdata/twogroups.c, with rank 0 in a group of its own, move
// what their counts say: from one group to the other.
func TestTwoGroups(t *testing.T) {
	want := [][]string{{
		"barrier comm comm2",
		"bcast root 0 send 10x4 comm comm3",
		"bcast root 0 send 11x4 comm comm4",
		"reduce root 0 send 5x4 flops 0 comm comm3 sum",
		"gather root 0 send 0x1 recv 2x4 comm comm3",
		"scatter root 0 send 2x4 recv 2x4 comm comm4",
		"gatherv root 0 send 0x1 recv 0,3,4x4 comm comm3",
		"scatterv root 0 send 0,3,4x4 recv 0x1 comm comm3",
		"allreduce send 7x4 flops 0 comm comm2 max",
		"alltoallv send 0,1,1x4 recv 0,1,1x4 comm comm2", // allgather
		"alltoallv send 0,2,2x4 recv 0,3,4x4 comm comm2", // allgatherv
		"alltoallv send 0,2,2x4 recv 0,2,2x4 comm comm2",
		"alltoallv send 0,3,4x4 recv 0,3,4x4 comm comm2",
		"alltoallv send 0,12,16x1 recv 0,12,16x1 comm comm2", // alltoallw
		"allreduce send 6x4 flops 0 comm comm2 sum",          // reduce_scatter: six elements in all
		"allreduce send 4x4 flops 0 comm comm2 sum",          // of blocks: four
		"ibarrier comm comm2",
		"wait ibarrier",
	}, {
		"barrier comm comm2",
		"bcast root 0 send 10x4 comm comm3",
		"reduce root 0 send 5x4 flops 0 comm comm3 sum",
		"gather root 0 send 2x4 recv 2x4 comm comm3",
		"gatherv root 0 send 3x4 recv 0,0,0x4 comm comm3",
		"scatterv root 0 send 0,0,0x4 recv 3x4 comm comm3",
		"allreduce send 7x4 flops 0 comm comm2 max",
		"alltoallv send 1,0,0x4 recv 1,0,0x4 comm comm2",
		"alltoallv send 3,0,0x4 recv 2,0,0x4 comm comm2",
		"alltoallv send 2,0,0x4 recv 2,0,0x4 comm comm2",
		"alltoallv send 3,0,0x4 recv 3,0,0x4 comm comm2",
		"alltoallv send 12,0,0x1 recv 12,0,0x1 comm comm2",
		"allreduce send 6x4 flops 0 comm comm2 sum",
		"allreduce send 4x4 flops 0 comm comm2 sum",
		"ibarrier comm comm2",
		"wait ibarrier",
	}}
	eachMPI(t, func(t *testing.T, m mpi) {
		tr := m.traced(t, "3", m.compile(t, "twogroups.c"))
		for rank := range want {
			if got := listed(t, tr, int32(rank)); !slices.Equal(got, want[rank]) {
				t.Errorf("rank %d:\n%s\nwant\n%s", rank, strings.Join(got, "\n"), strings.Join(want[rank], "\n"))
			}
		}
	})
}

// TestPartitioned: each of the ten messages of testdata/partitioned.c is sent once, with all of its
// eight partitions of 16 bytes, and so it is within a session.
func TestPartitioned(t *testing.T) {
	if testing.Short() {
		t.Skip("in make nightly")
	}
	m := libraries[1]
	for _, how := range []string{"world", "session"} {
		t.Run(how, func(t *testing.T) {
			tr := m.traced(t, "3", m.compile(t, "partitioned.c"), how)
			for rank := range int32(3) {
				sent := 0
				for _, line := range listed(t, tr, rank) {
					var to, bytes int
					if n, _ := fmt.Sscanf(line, "start %d %d", &to, &bytes); n == 2 {
						if sent++; to != int(rank+1)%3 || bytes != 128 {
							t.Errorf("rank %d: %s", rank, line)
						}
					}
				}
				if sent != 10 {
					t.Errorf("rank %d: %d messages, want 10", rank, sent)
				}
			}
		})
	}
}

// TestIsendrecv: one request is of a send and a receive, from whomever it came, with the 12 bytes
// that came; each side may be MPI_PROC_NULL.
func TestIsendrecv(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir := t.TempDir()
		library := filepath.Join(dir, "mca_library.so") // a name of parts of MPI, to the recorder
		program := filepath.Join(dir, "program")
		build(t, m.compiler, "-shared", "-fPIC", "-DLIBRARY", "-o", library, "testdata/isendrecv.c")
		build(t, m.compiler, "-o", program, "testdata/isendrecv.c", library)
		t.Setenv("LD_LIBRARY_PATH", dir)
		want := [][]string{
			{"irecv 2 12 7 world", "isend 1 12 7 world", "wait recv 2 12 7", "wait send 1 12 7", "isend 1 12 8 world", "wait send 1 12 8"},
			{"irecv 0 12 7 world", "isend 2 12 7 world", "wait recv 0 12 7", "wait send 2 12 7", "irecv 0 12 8 world", "wait recv 0 12 8"},
			{"irecv 1 12 7 world", "isend 0 12 7 world", "wait recv 1 12 7", "wait send 0 12 7"},
		}
		tr := m.traced(t, "3", "env", "LD_PRELOAD="+library, program)
		for rank := range want {
			if got := listed(t, tr, int32(rank)); len(got) < len(want[rank]) || !slices.Equal(got[:len(want[rank])], want[rank]) || len(got) != 10*len(want[rank]) {
				t.Errorf("rank %d:\n%s\nwant ten times\n%s", rank, strings.Join(got, "\n"), strings.Join(want[rank], "\n"))
			}
		}
	})
}
