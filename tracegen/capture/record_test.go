package capture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestSeveralPrograms: those of a command line that are parted by colons are recorded all.
func TestSeveralPrograms(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "ring.c")
		dir, out, err := m.record(t, "1", program, ":", "-np", "1", program, ":", "-np", "1", program)
		if err != nil || strings.Count(out, "of 3\n") != 3 {
			t.Fatalf("%v, printed %q", err, out)
		}
		if tr, _ := merged(t, dir, capture.Options{}); tr.Header().Ranks != 3 {
			t.Errorf("%d ranks, want 3", tr.Header().Ranks)
		}
	})
}

// TestPreloads: what a command line preloads itself is loaded into each rank, and the recorder
// too, in whatever way it says so.
func TestPreloads(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.so")
	build(t, "cc", "-shared", "-fPIC", "-o", other, "testdata/preloaded.c")
	ways := map[string][][]string{
		"openmpi": {{"-x", "LD_PRELOAD=" + other}, {"--x", "LD_PRELOAD"}},
		"mpich":   {{"-genv", "LD_PRELOAD", other}, {"-env", "LD_PRELOAD", other}, {"-genv", "LD_PRELOAD=" + other}},
	}
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "ring.c")
		for _, way := range append(ways[m.name], []string{"env", "LD_PRELOAD=" + other}, []string{"sh", "-c", "LD_PRELOAD=" + other + " exec $0"}) {
			if way[len(way)-1] == "LD_PRELOAD" {
				t.Setenv("LD_PRELOAD", other)
			}
			dir, out, err := m.record(t, "2", append(way, program)...)
			if err != nil || strings.Count(out, "preloaded into ring\n") != 2 {
				t.Fatalf("%q: %v, printed %q", way, err, out)
			}
			merged(t, dir, capture.Options{})
		}
	})
}

// TestRecorderIsKept: the recorder is compiled once, also for users whose home is of no use, as services have it; nobody
// else's directory is trusted, and no home is made.
func TestRecorderIsKept(t *testing.T) {
	compiler := filepath.Join(t.TempDir(), "compiler")
	script := "#!/bin/sh\necho compiled >> $COMPILED\nwhile test $# -gt 1; do test $1 = -o && echo library > $2; shift; done\n"
	if err := os.WriteFile(compiler, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CC", compiler)
	home, file := t.TempDir(), compiler
	for _, c := range []struct {
		name, home, cache string
		mode              os.FileMode // of the directory beside temporary files that is there already
		compiled          int
	}{
		{"a home", home, "", 0, 1},
		{"a cache", "/nonexistent", filepath.Join(home, "cache"), 0, 1},
		{"no home", "", "", 0, 1},
		{"a home that does not exist", filepath.Join(home, "no", "home"), "", 0, 1},
		{"a home that cannot be written to", "/proc", "", 0, 1},
		{"a home that is a file", file, "", 0, 1},
		{"a cache that cannot be written to", home, "/proc/cache", 0, 1},
		{"everybody's directory", "", "", 0o777, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			compiled := filepath.Join(dir, "compiled")
			for name, value := range map[string]string{"HOME": c.home, "XDG_CACHE_HOME": c.cache, "TMPDIR": dir, "COMPILED": compiled} {
				t.Setenv(name, value)
			}
			if c.mode != 0 {
				own := filepath.Join(dir, fmt.Sprintf("reprise-%d", os.Geteuid()))
				if err := errors.Join(os.Mkdir(own, 0o700), os.Chmod(own, c.mode)); err != nil {
					t.Fatal(err)
				}
			}
			told := 0
			for range 2 {
				err := capture.Record(t.Context(), t.TempDir(), capture.Command{Args: []string{"true"}, Compiling: func() { told++ }})
				if err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(compiled)
			if n := strings.Count(string(text), "compiled"); err != nil || n != c.compiled || told != n {
				t.Errorf("compiled %d times and told of %d, want %d (%v)", n, told, c.compiled, err)
			}
			if _, err := os.Stat(filepath.Join(home, "no")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a home was made: %v", err)
			}
		})
	}
}

// TestFailure: of a launcher that fails before there is a rank, the error has its exit status, and the last line in which there are words.
func TestFailure(t *testing.T) {
	launcher := filepath.Join(t.TempDir(), "mpirun-of-mine")
	if err := os.WriteFile(launcher, []byte("#!/bin/sh\ntest \"$1\" = --version && exit\necho first >&2\necho 'no \033such option' >&2\necho '-----' >&2\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	err := capture.Record(t.Context(), t.TempDir(), capture.Command{Args: []string{launcher, "x"}, Stderr: &errs})
	var failure *capture.Failure
	if !errors.As(err, &failure) || failure.Exit.ExitCode() != 7 || errs.String() != "first\nno \033such option\n-----\n" {
		t.Fatalf("%v, printed %q", err, errs.String())
	}
	if want := launcher + `: exit status 7, before any rank recorded anything; its last line: no \x1bsuch option`; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestFortran: testdata/ring.f90 by each of the three bindings. A rank sends 10, 20, 30 and 40
// doubles in turn and receives them from the rank before it; then 5 integers.
func TestFortran(t *testing.T) {
	source := string(must(os.ReadFile("testdata/ring.f90")))
	eachMPI(t, func(t *testing.T, m mpi) {
		compiler := map[string]string{"openmpi": "mpifort.openmpi", "mpich": "mpifort.mpich"}[m.name]
		for _, b := range []struct{ module, request string }{
			{"use mpi_f08", "type(MPI_Request)"},
			{"use mpi", "integer"},
			{"include 'mpif.h'", "integer"},
		} {
			t.Run(strings.Fields(b.module)[1], func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "ring.f90")
				text := strings.NewReplacer("! A ring in Fortran. REQUEST and MODULE are", "! These were", "MODULE", b.module, "REQUEST", b.request).Replace(source)
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				program := strings.TrimSuffix(file, ".f90")
				build(t, compiler, "-fallow-argument-mismatch", "-o", program, file)
				for rank, list := range actions(t, m.traced(t, "3", program)) {
					to, from := (rank+1)%3, (rank+2)%3
					var got, want []string
					for i := int64(1); i <= 4; i++ {
						want = append(want, fmt.Sprint("irecv ", from, 7, 80*i), fmt.Sprint("isend ", to, 7, 80*i), "waitall", "allreduce 3x8")
					}
					want = append(want, fmt.Sprint("sendrecv ", to, 1, 20))
					for _, a := range list {
						switch a.Kind {
						case trace.KindCollective:
							got = append(got, fmt.Sprintf("%v %dx%d", trace.CollectiveKind(a.Sym), a.X[0], a.X[3]&0xffffffff))
						case trace.KindWaitAll:
							got = append(got, "waitall")
						default:
							got = append(got, fmt.Sprint(a.Kind.String()+" ", a.Peer, a.Tag, a.X[0]))
						}
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("rank %d (-want +got):\n%s", rank, diff)
					}
				}
			})
		}
	})
}

// TestBLAS: testdata/blas.c calls kernels by their names in Fortran and in C. A product of
// matrices in rows, C = A'B with M = 7, N = 5, K = 3, is C' = B'A of 5 by 7 in columns; the
// solution from the left with a lower triangle is one from the right with an upper one. What
// a factorization calls itself is not seen, nor that one is asked for its work space; a plan
// with 100 sums, 30 products and 7 of both in one is 144 flop.
func TestBLAS(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir := t.TempDir()
		library, program := filepath.Join(dir, "libfake.so"), filepath.Join(dir, "program")
		build(t, m.compiler, "-shared", "-fPIC", "-o", library, "testdata/libblas.c")
		build(t, m.compiler, "-o", program, "testdata/blas.c", library, "-Wl,-rpath,"+dir)
		recordings := t.TempDir()
		var text bytes.Buffer
		err := capture.Record(context.Background(), recordings, capture.Command{
			Args: append(m.launcher[:len(m.launcher):len(m.launcher)], "2", program), Stdout: &text, Stderr: &text, BLAS: true})
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		tr, _ := merged(t, recordings, capture.Options{})
		var got []string
		for _, a := range actions(t, tr)[1] {
			if a.Kind == trace.KindCompute {
				k := &tr.Header().Kernels[a.Sym]
				got = append(got, fmt.Sprint(k.FullName(), a.X[:len(k.Dims)]))
			}
		}
		want := []string{"dgemm N T[7 5 3]", "dgemm T N[7 5 3]", "dgemm N T[5 7 3]", "dtrsm R U N U[5 7]", "daxpy[9]",
			"dgetrf[7 5 5]", "dpotrf L[5]", "dgeqrf[5 7 5]", "fftw[144]", "fftwf[50]"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kernels (-want +got):\n%s", diff)
		}
	})
}
