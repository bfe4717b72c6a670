package capture_test

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/verify"
	"reprise/tracegen/capture"
)

// mpi is a library of MPI: how to compile for it, and to start programs.
type mpi struct {
	name, compiler string
	launcher       []string
}

var libraries = []mpi{
	{"openmpi", "mpicc.openmpi", []string{"mpirun.openmpi", "--oversubscribe", "-np"}},
	{"mpich", "mpicc.mpich", []string{"mpirun.mpich", "-np"}},
}

// eachMPI runs a test with each library that is installed.
func eachMPI(t *testing.T, test func(t *testing.T, m mpi)) {
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	for _, m := range libraries {
		t.Run(m.name, func(t *testing.T) {
			if _, err := exec.LookPath(m.compiler); err != nil {
				t.Skip(err)
			}
			test(t, m)
		})
	}
}

// compile returns the program of a file in testdata.
func (m mpi) compile(t *testing.T, source string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(source, ".c"))
	if out, err := exec.Command(m.compiler, "-O1", "-o", program, filepath.Join("testdata", source)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// record runs a program and returns the directory of recordings and what it printed.
func (m mpi) record(t *testing.T, ranks string, program ...string) (dir, out string, err error) {
	t.Helper()
	dir = t.TempDir()
	var text bytes.Buffer
	err = capture.Record(context.Background(), dir, capture.Command{
		Args: append(append(m.launcher[:len(m.launcher):len(m.launcher)], ranks), program...), Stdout: &text, Stderr: &text})
	return dir, text.String(), err
}

// merged merges recordings, and opens and verifies the trace.
func merged(t *testing.T, dir string, o capture.Options) *trace.Trace {
	t.Helper()
	var file bytes.Buffer
	o.Rate = 1e9
	if _, err := capture.Merge(dir, &file, o); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "recorded")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	if _, err := verify.Trace(tr, nil); err != nil {
		t.Fatal(err)
	}
	return tr
}

// actions returns what each rank does, without computations.
func actions(t *testing.T, tr *trace.Trace) (ranks [][]trace.Action) {
	t.Helper()
	cursors, err := tr.Cursors(nil, trace.CursorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]trace.Action, 64)
	for _, c := range cursors {
		var list []trace.Action
		for {
			n, err := c.Fill(buf)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			for _, a := range buf[:n] {
				if a.Kind != trace.KindFlops && a.Kind != trace.KindStep {
					list = append(list, a)
				}
			}
		}
		ranks = append(ranks, list)
	}
	return ranks
}

// TestRing: testdata/ring.c, whose rank sends 50 to 69 doubles in each of 20 turns; rank 1
// receives 12 bytes from rank 0 in each.
func TestRing(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "3", m.compile(t, "ring.c"))
		if err != nil || strings.Count(out, "of 3\n") != 3 {
			t.Fatalf("%v, printed %q", err, out)
		}
		for rank, list := range actions(t, merged(t, dir, capture.Options{})) {
			turn := 4 // irecv, isend, waitall, allreduce
			if rank < 2 {
				turn = 5
			}
			if len(list) != 20*turn {
				t.Fatalf("rank %d: %d actions, want %d", rank, len(list), 20*turn)
			}
			for i := range 20 {
				bytes := int64(8 * (50 + i))
				at := list[i*turn:]
				if a := at[0]; a.Kind != trace.KindIrecv || int(a.Peer) != (rank+2)%3 || a.Tag != 7 || a.X[0] != bytes {
					t.Errorf("rank %d, turn %d: %+v", rank, i, a)
				}
				if a := at[1]; a.Kind != trace.KindIsend || int(a.Peer) != (rank+1)%3 || a.Tag != 7 || a.X[0] != bytes {
					t.Errorf("rank %d, turn %d: %+v", rank, i, a)
				}
				if a := at[turn-1]; rank == 1 && (a.Kind != trace.KindRecv || a.Peer != 0 || a.Tag != 1 || a.X[0] != 12) {
					t.Errorf("rank %d, turn %d: %+v", rank, i, a)
				}
			}
		}
	})
}
