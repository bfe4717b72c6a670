package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestBLAS: testdata/blas.c calls kernels by their names in Fortran and in C. A product of
// matrices in rows, C = A'B with M = 7, N = 5, K = 3, is C' = B'A of 5 by 7 in columns; the
// solution from the left with a lower triangle is one from the right with an upper one. What
// a factorization calls itself is not seen, nor that one is asked for its work space; a plan
// with 100 sums, 30 products and 7 of both in one is 144 flop.
func TestBLAS(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir := t.TempDir()
		library, program := filepath.Join(dir, "libfake.so"), filepath.Join(dir, "program")
		for _, args := range [][]string{
			{"-shared", "-fPIC", "-o", library, "testdata/libblas.c"},
			{"-o", program, "testdata/blas.c", library, "-Wl,-rpath," + dir},
		} {
			if out, err := exec.Command(m.compiler, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		recordings := t.TempDir()
		var text bytes.Buffer
		err := capture.Record(context.Background(), recordings, capture.Command{
			Args: append(m.launcher[:len(m.launcher):len(m.launcher)], "2", program), Stdout: &text, Stderr: &text, BLAS: true})
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		tr := merged(t, recordings, capture.Options{})
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
