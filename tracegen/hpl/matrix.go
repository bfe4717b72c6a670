package hpl

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// MaxLU is the largest order of a matrix that is factored for its pivots: it
// takes 8 N^2 bytes and 2/3 N^3 flop.
const MaxLU = 8192

// HPL's pseudo-random matrix: state 1 + i + j*N of this linear congruential
// generator (Knuth), which begins with the seed as state 0, gives the element in
// row i and column j, whatever the grid. Source: HPL 2.3, HPL_pdmatgen and
// HPL_rand, with the seed of HPL's test driver.
const (
	matrixSeed       = 100
	matrixMultiplier = 1481765933<<32 | 1284865837
)

// randomMatrix returns HPL's matrix of order n, column-major, without the
// right-hand side, which pivots do not depend on.
func randomMatrix(n int) []float64 {
	a := make([]float64, n*n)
	state := uint64(matrixSeed)
	for i := range a {
		state = state*matrixMultiplier + 1
		a[i] = randomValue(state)
	}
	return a
}

// randomValue maps a state of the generator to (-0.5, 0.5], rounding as HPL does:
// the high 16 bits are added last.
func randomValue(state uint64) float64 {
	low := float64(float64(state&(1<<48-1)) / (1 << 32))
	high := float64(float64(state>>48) * 65536)
	return 0.5 - float64((low+high)/(1<<32))
}

// luBlock is the number of columns factored before the rest is updated.
const luBlock = 64

// factorPivots factors HPL's matrix of order n with partial pivoting and returns
// the row exchanged with each. nb and p decide ties as HPL does: the smaller
// process row wins, then the smaller row.
func factorPivots(ctx context.Context, n, nb, p int) ([]int32, error) {
	f := &luFactor{n: n, nb: nb, p: p, a: randomMatrix(n), pivots: make([]int32, n)}
	for j := 0; j < n; j += luBlock {
		if err := ctx.Err(); err != nil {
			return nil, err
		}

		// The columns [j, end) are factored one by one.
		end := min(j+luBlock, n)
		for c := j; c < end; c++ {
			col := f.col(c)
			r := f.pivot(col, c)
			f.pivots[c] = int32(r)
			if col[r] == 0 {
				return nil, fmt.Errorf("pivots lu: column %d of the matrix has a zero pivot", c)
			}
			for k := j; k < end; k++ {
				other := f.col(k)
				other[c], other[r] = other[r], other[c]
			}
			scale := 1 / col[c]
			for i := c + 1; i < n; i++ {
				col[i] *= scale
			}
			for k := c + 1; k < end; k++ {
				axpy(f.col(k)[c+1:], col[c+1:], f.col(k)[c])
			}
		}

		// All columns after them follow in parallel: a column's result does not depend on which
		// goroutine computes it.
		workers := min(runtime.GOMAXPROCS(0), n-end)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for k := end + w; k < n; k += workers {
					f.updateColumn(f.col(k), j, end)
				}
			})
		}
		wg.Wait()
	}
	return f.pivots, nil
}

// luFactor is a matrix under factorization: right-looking, in place. The rows of
// finished columns are not exchanged: only pivots matter.
type luFactor struct {
	n, nb, p int
	a        []float64 // n x n, column-major
	pivots   []int32
}

// col returns column j.
func (f *luFactor) col(j int) []float64 { return f.a[j*f.n : (j+1)*f.n] }

// pivot returns the row of the largest element of a column from row c on.
func (f *luFactor) pivot(col []float64, c int) int {
	owner := func(i int) int { return i / f.nb % f.p }
	best, size := c, math.Abs(col[c])
	for i := c + 1; i < f.n; i++ {
		if v := math.Abs(col[i]); v > size || v == size && owner(i) < owner(best) {
			best, size = i, v
		}
	}
	return best
}

// updateColumn exchanges the rows of a column x as the columns [j, end) do, and subtracts their
// products: four at a time, which saves three of four passes over x.
func (f *luFactor) updateColumn(x []float64, j, end int) {
	for c := j; c < end; c++ {
		r := f.pivots[c]
		x[c], x[r] = x[r], x[c]
	}
	for c := j; c < end; c++ {
		axpy(x[c+1:end], f.col(c)[c+1:end], x[c])
	}
	c := j
	for ; c+4 <= end; c += 4 {
		y := x[end:]
		a0, a1, a2, a3 := f.col(c)[end:], f.col(c + 1)[end:], f.col(c + 2)[end:], f.col(c + 3)[end:]
		x0, x1, x2, x3 := x[c], x[c+1], x[c+2], x[c+3]
		a0, a1, a2, a3 = a0[:len(y)], a1[:len(y)], a2[:len(y)], a3[:len(y)]
		for i := range y {
			y[i] -= float64(a0[i]*x0) + float64(a1[i]*x1) + float64(a2[i]*x2) + float64(a3[i]*x3)
		}
	}
	for ; c < end; c++ {
		axpy(x[end:], f.col(c)[end:], x[c])
	}
}

// axpy subtracts s*x from y.
func axpy(y, x []float64, s float64) {
	x = x[:len(y)]
	for i := range y {
		y[i] -= float64(x[i] * s)
	}
}
