package measure

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// loopDims are the kernels of HPCG that can be timed, with their dimensions.
var loopDims = map[string][]string{
	"spmv":     {"LEVEL", "ROWS", "NNZ", "COLS"},
	"symgs":    {"LEVEL", "ROWS", "NNZ", "COLS"},
	"restrict": {"LEVEL", "N"},
	"prolong":  {"LEVEL", "N"},
	"dot":      {"N", "VECTORS"},
	"waxpby":   {"N", "BRANCH", "ALIAS"},
	"zero":     {"N"},
	"copy":     {"N"},
	"pack":     {"LEVEL", "N"},
}

// isLoop reports whether a kernel is one of HPCG's.
func (k *Kernel) isLoop() bool {
	return len(k.Attrs) == 0 && slices.Equal(loopDims[k.Name], k.Dims) && len(k.Dims) > 0
}

// loopLevels is the number of grids of HPCG, each with half of the points of the finer one in each direction.
const loopLevels = 4

// box is what a rank has of HPCG's finest grid: its points in x, y and z, and how many neighbours it has in
// these directions, none to two.
type box struct{ n, near [3]int64 }

// maxColumns bounds the columns of a box, whose numbers HPCG keeps in 32 bits.
const maxColumns = math.MaxInt32

// level returns the box on a coarser grid.
func (b box) level(level int) box {
	for i := range b.n {
		b.n[i] >>= level
	}
	return b
}

// rows returns the points, columns those with the ones of neighbours around them.
func (b box) rows() int64 { return times(times(b.n[0], b.n[1]), b.n[2]) }

func (b box) columns() int64 {
	return times(times(b.n[0]+b.near[0], b.n[1]+b.near[1]), b.n[2]+b.near[2])
}

// nonzeros returns those of the box's rows of the matrix: in each direction three points of the stencil for each, but
// at an end without a neighbour.
func (b box) nonzeros() int64 {
	product := int64(1)
	for i := range b.n {
		product = times(product, 3*b.n[i]-2+b.near[i])
	}
	return product
}

// bytes returns about what all levels of a box take: for each row two arrays of 27, as malloc rounds them,
// their addresses, and up to seven vectors.
func (b box) bytes() (sum int64) {
	const matrix, vectors = 128 + 224 + 3*8 + 1 + 4, 7*8 + 4 + 8
	for level := range loopLevels {
		l := b.level(level)
		sum += times(matrix, l.rows()) + times(vectors, l.columns())
	}
	return sum
}

// String returns "104x104x104".
func (b box) String() string { return fmt.Sprintf("%dx%dx%d", b.n[0], b.n[1], b.n[2]) }

// numberOfLoops returns how many of the kernels are HPCG's.
func numberOfLoops(list []*kernelCalls) (n int) {
	for _, k := range list {
		if k.kernel.isLoop() {
			n++
		}
	}
	return n
}

// boxOf returns the box that has so many rows, nonzeros and columns on the finest grid, and so many points in x and y.
func boxOf(nx, ny int64, d *[4]int64) (b box, err error) {
	b.n = [3]int64{nx, ny, d[1] / max(1, times(nx, ny))}
	for i := range b.n {
		if b.n[i] < 1<<(loopLevels-1) || b.n[i]%(1<<(loopLevels-1)) != 0 {
			return b, fmt.Errorf("%d rows of a matrix in boxes of %d x %d points in x and y: want sizes that 8 divides", d[1], nx, ny)
		}
	}
	if d[3] > maxColumns {
		return b, fmt.Errorf("a box of %d columns, want at most %d", d[3], int64(maxColumns))
	}
	for i := range int64(27) {
		b.near = [3]int64{i % 3, i / 3 % 3, i / 9}
		if b.rows() == d[1] && b.nonzeros() == d[2] && b.columns() == d[3] {
			return b, nil
		}
	}
	return b, fmt.Errorf("a matrix of %d rows, %d nonzeros and %d columns: not that of a box of %v points", d[1], d[2], d[3], b)
}

// boxes returns the boxes of a run of HPCG: of each height of slabs that with the largest matrix, for which all others wait.
func (r *RunCalls) boxes() (list []box, err error) {
	largest := map[int64][4]int64{} // by rows
	for _, k := range r.kernels {
		if k.kernel.Name != "symgs" || !k.kernel.isLoop() {
			continue
		}
		for d := range k.calls {
			if l := largest[d[1]]; d[0] == 0 && (d[2] > l[2] || d[2] == l[2] && d[3] > l[3]) {
				largest[d[1]] = d
			}
		}
	}
	if len(largest) > 0 && r.Plane == [2]int64{} {
		return nil, errors.New("kernels of HPCG, but no parameters nx and ny: the boxes of its ranks are not known")
	}
	for _, rows := range slices.Sorted(maps.Keys(largest)) {
		d := largest[rows]
		b, err := boxOf(r.Plane[0], r.Plane[1], &d)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}
