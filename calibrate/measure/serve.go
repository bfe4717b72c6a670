package measure

import (
	"bufio"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Serve is a worker with the dgemm of Gonum: after "ready ..." it answers each line
// "M N K" of in by the seconds of one call C = C - A*B, column-major, on matrices that together have
// at most elements elements. Gonum uses as many threads as GOMAXPROCS says.
func Serve(in io.Reader, out io.Writer, elements string) error {
	n, err := strconv.ParseInt(elements, 10, 64)
	if err != nil || n < 1 || n > MaxMemory/8 {
		return fmt.Errorf("elements %q, want 1 to %d", elements, MaxMemory/8)
	}
	x := make([]float64, n)
	fill(x)
	debug.SetGCPercent(-1) // the matrices stay; a product leaves some blocks of a few bytes
	if _, err := fmt.Fprintf(out, "ready blas/gonum Dgemm, Gonum %s\n", gonumVersion()); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var s Size
		if _, err := fmt.Sscanf(lines.Text(), "%d %d %d", &s.M, &s.N, &s.K); err != nil || min(s.M, s.N, s.K) < 1 || max(s.M, s.N, s.K) > maxDim || s.Bytes()/8 > n {
			return fmt.Errorf("size %q", lines.Text())
		}
		if _, err := fmt.Fprintf(out, "%.9e\n", multiply(x, s).Seconds()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// multiply times C = C - A*B. Column-major matrices are the transposed row-major
// ones, and the transposed product is Bᵀ*Aᵀ.
func multiply(x []float64, s Size) time.Duration {
	m, n, k := int(s.M), int(s.N), int(s.K)
	a, b, c := x[:m*k], x[m*k:m*k+k*n], x[m*k+k*n:m*k+k*n+m*n]
	begin := time.Now()
	gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, n, m, k, -1, b, k, a, m, 1, c, m)
	return time.Since(begin)
}

// fill sets numbers in [-0.5, 0.5), none of them tiny: the linear congruential
// generator of helper/dgemm.c.
func fill(x []float64) {
	state := uint64(1)
	for i := range x {
		state = state*6364136223846793005 + 1442695040888963407
		x[i] = float64(state>>40)/(1<<24) - 0.5
	}
}

// gonumVersion returns the version of the module that was compiled in.
func gonumVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "gonum.org/v1/gonum" {
				return m.Version
			}
		}
	}
	return unknown
}
