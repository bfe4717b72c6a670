package hpl

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/vectors"
)

// This file finds the pivots of a run: drawn by seed, by an LU factorization of HPL's matrix (factorPivots), or
// from a file (ReadPivots).

// PivotKind says where pivots come from.
type PivotKind int

// Sources of pivots.
const (
	RandomPivots PivotKind = iota // uniform over the rows that remain, by seed; rule of vectors.PivotOwners
	LUPivots                      // by factoring HPL's own pseudo-random matrix
	GivenPivots                   // Pivots.Rows
	NoPivots                      // the current row is the pivot, always
)

// Pivots is a source of pivots. Which row is the pivot of a column decides how
// many rows each message of a row swap carries.
type Pivots struct {
	Kind PivotKind
	Seed uint64  // of random pivots
	Rows []int32 // of given pivots: the global row exchanged with row c in column c, from 0
	Name string  // of given pivots: where they come from
}

// String returns the source as flags name it.
func (v *Pivots) String() string {
	return [...]string{"random", "lu", "file:" + v.Name, "none"}[v.Kind]
}

// Set takes a source that needs no file by its name, random, lu or none. The seed stays.
func (v *Pivots) Set(source string) error {
	for _, kind := range []PivotKind{RandomPivots, LUPivots, NoPivots} {
		if of := (Pivots{Kind: kind, Seed: v.Seed}); of.String() == source {
			*v = of
			return nil
		}
	}
	return fmt.Errorf("%q, want random, lu, none", source)
}

// ReadPivots reads the pivots of a matrix of order n: line c, from 0, holds the global row, from 0, that is
// exchanged with row c in column c. Name is for error messages, which give the line from 1.
func ReadPivots(r io.Reader, name string, n int) ([]int32, error) {
	head := sniff.Remember(r)
	var rows []int32
	fail := func(line int, format string, args ...any) ([]int32, error) {
		return nil, head.Instead(fmt.Errorf("%s:%d: %w", name, line, fmt.Errorf(format, args...)), name, sniff.Pivots)
	}
	// The row of column c must be c or below, since those above are finished.
	scan := textutil.NewLineScanner(head)
	for scan.Scan() {
		c := len(rows)
		if c == n {
			return fail(c+1, "more than N = %d pivots", n)
		}
		row, err := strconv.ParseInt(strings.TrimSpace(scan.Text()), 10, 32)
		if err != nil {
			return fail(c+1, "pivot %q is not a row", clip(scan.Text()))
		}
		if int(row) < c || int(row) >= n {
			return fail(c+1, "pivot row %d of column %d, allowed %d to %d", row, c, c, n-1)
		}
		rows = append(rows, int32(row))
	}
	if err := textutil.LineError(scan); err != nil {
		return fail(len(rows)+1, "%w", err)
	}
	if len(rows) != n {
		return fail(len(rows), "%d pivots, want N = %d", len(rows), n)
	}
	return rows, nil
}

// clip shortens text that goes into an error message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// pivotRows yields the pivot of each column.
type pivotRows struct {
	Pivots          // with the rows that the matrix has, of LUPivots
	n       int64   // order of the matrix
	key     uint64  // of the seed
	swapped []int64 // of count, which reuses it: pivots below the panel's diagonal block
}

// row returns the pivot row of column c.
func (v *pivotRows) row(c int64) int64 {
	switch v.Kind {
	case RandomPivots:
		return vectors.PivotRow(v.key, c, v.n)
	case NoPivots:
		return c
	}
	return int64(v.Rows[c])
}

// owners returns the vector of the pivots' owners for the jb columns from j: 0 if the pivot is the current row
// itself, else 1 + the distance of the pivot's process row from the panel's. The local row swaps of the
// factorization depend on nothing else of the pivots.
func (v *pivotRows) owners(g *grid, j, jb int64) trace.Vector {
	if v.Kind == RandomPivots {
		owners := vectors.PivotOwners{Seed: v.Seed, First: j, Count: jb, Rows: v.n, Block: g.nb, Owners: g.p}
		return trace.Vector{Generated: owners.Generated()}
	}
	// Pivots without a rule are listed.
	values := make([]int64, jb)
	for i := range values {
		c := j + int64(i)
		if r := v.row(c); r != c {
			values[i] = 1 + mod(r/g.nb-j/g.nb, g.p)
		}
	}
	return trace.Vector{Values: values}
}

// count sets dst, of g.p elements, to K by distance from the panel's process row: the number of rows that a process row
// owns of the panel's diagonal block and of its pivots, each row counted once. Source: HPL 2.3 control flow, row swaps.
func (v *pivotRows) count(dst []int64, g *grid, j, jb int64) {
	clear(dst)
	dst[0] = jb
	v.swapped = v.swapped[:0]
	for c := j; c < j+jb; c++ {
		if r := v.row(c); r >= j+jb {
			v.swapped = append(v.swapped, r)
		}
	}
	slices.Sort(v.swapped) // a row may be the pivot of several columns
	for _, r := range slices.Compact(v.swapped) {
		dst[(r/g.nb-j/g.nb)%g.p]++
	}
}

// MaxLU is the largest order of a matrix that is factored for its pivots: it takes 8 N^2 bytes and 2/3 N^3 flop.
const MaxLU = 8192

// HPL's pseudo-random matrix: state 1 + i + j*N of this linear congruential generator (Knuth), which begins with
// the seed as state 0, gives the element in row i and column j, whatever the grid. Source: HPL 2.3, HPL_pdmatgen
// and HPL_rand, with the seed of HPL's test driver.
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
		// The state becomes a number in (-0.5, 0.5], rounded as HPL does: the high 16 bits are added last. Conversions
		// keep the compiler from fusing operations, so that all machines round alike.
		low := float64(float64(state&(1<<48-1)) / (1 << 32))
		high := float64(float64(state>>48) * 65536)
		a[i] = 0.5 - float64((low+high)/(1<<32))
	}
	return a
}

// luBlock is the number of columns factored before the rest is updated.
const luBlock = 64

// factorPivots factors HPL's matrix of order n with partial pivoting and returns the row exchanged with each. nb
// and p decide ties as HPL does: the smaller process row wins, then the smaller row.
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

		// All columns after them follow in parallel: a column's result does not depend on which goroutine computes it.
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
	// HPL finds the maximum of each process row first, and combines these; so ties go to the lesser process row.
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
		// Slices of equal length let the compiler drop the checks of bounds in the inner loop.
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
