package measure

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/kernels/noise"
)

// This file plans how the kernels of HPCG are timed (Plan.planLoops): sets of iterations, on the boxes of the runs.

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

// box is a rank's part of HPCG's finest grid: its points in x, y and z, and the number of neighbours that it has in
// each of these directions, none to two.
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

// rows returns the number of points: each has a row of the matrix.
func (b box) rows() int64 { return times(times(b.n[0], b.n[1]), b.n[2]) }

// columns returns the number of points including those of neighbours around the box.
func (b box) columns() int64 {
	return times(times(b.n[0]+b.near[0], b.n[1]+b.near[1]), b.n[2]+b.near[2])
}

// nonzeros returns the number of coefficients in the box's rows of the matrix: in each direction a point has three
// points of the stencil, but at an end without a neighbour two.
func (b box) nonzeros() int64 {
	product := int64(1)
	for i := range b.n {
		product = times(product, 3*b.n[i]-2+b.near[i])
	}
	return product
}

// bytes returns about the memory of all levels of a box: for each row two arrays of 27, as malloc rounds them,
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

// boxOf returns the box that has so many rows, nonzeros and columns on the finest grid, and so many points in x and y.
func boxOf(nx, ny int64, d *[4]int64) (b box, err error) {
	// The height follows from the rows; all levels need points that 2 divides.
	b.n = [3]int64{nx, ny, d[1] / max(1, times(nx, ny))}
	for i := range b.n {
		if b.n[i] < 1<<(loopLevels-1) || b.n[i]%(1<<(loopLevels-1)) != 0 {
			return b, fmt.Errorf("%d rows of a matrix in boxes of %d x %d points in x and y: want sizes that 8 divides", d[1],
				nx, ny)
		}
	}
	if d[3] > maxColumns {
		return b, fmt.Errorf("a box of %d columns, want at most %d", d[3], int64(maxColumns))
	}
	// Of the 3^3 arrangements of neighbours the first one that fits is taken: others are as large.
	for i := range int64(27) {
		b.near = [3]int64{i % 3, i / 3 % 3, i / 9}
		if b.rows() == d[1] && b.nonzeros() == d[2] && b.columns() == d[3] {
			return b, nil
		}
	}
	return b, fmt.Errorf("a matrix of %d rows, %d nonzeros and %d columns: not that of a box of %v points", d[1], d[2],
		d[3], b)
}

// boxes returns the boxes of a run of HPCG: of each height of slabs the box with the largest matrix, for which all
// other ranks wait.
func (r *RunCalls) boxes() (list []box, err error) {
	defer textutil.Stopped(&err)
	// The dimensions of symgs on the finest grid are level, rows, nonzeros and columns.
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
		list = append(list, textutil.Must(boxOf(r.Plane[0], r.Plane[1], &d)))
	}
	return list, nil
}

// loopCall is a call of a kernel of HPCG on vectors of a level, which helper/loops.h names: x the result of multigrid,
// r its right-hand side, a the product; on the finest grid also the solution s, the direction p, its product q, and b.
type loopCall struct {
	kernel  string
	level   int      // 0 is the finest grid
	vectors string   // in the order of the helper's function
	beta    float64  // coefficient of waxpby
	dims    [4]int64 // as the trace has them
}

// step and momentum stand for the coefficients of conjugate gradients, which come from dot products: with these the
// iteration x += step p, p = z + momentum p approaches the solution as well, whatever the box.
const (
	step     = 0.5
	momentum = 0.5
)

// iterations of a set that is measured.
const loopIterations = 10

// set returns the calls of a set of iterations on a box, in their order. Source: HPCG 3.1, by docs/hpcg.md.
func (b box) set(iterations int) (list []loopCall) {
	// call appends a call on vectors of a level; its dimensions follow from the kernel and its vectors.
	call := func(kernel string, level int, vectors string) {
		l, at := b.level(level), int64(level)
		c := loopCall{kernel: kernel, level: level, vectors: vectors, dims: [4]int64{l.rows()}}
		switch kernel {
		case "zero":
			if vectors == "x" { // has room for the points of neighbours
				c.dims[0] = l.columns()
			}
		case "dot": // VECTORS is 0 for a vector with itself
			if vectors[0] != vectors[1] {
				c.dims[1] = 1
			}
		case "waxpby": // w = x + beta y, of the vectors xyw
			// BRANCH 1 is that of alpha = 1. ALIAS says which are the same: 0 none, 1 x and y, 2 w and x, 3 w and y.
			x, y, w := vectors[0], vectors[1], vectors[2]
			c.dims[1], c.dims[2] = 1, int64(1+slices.Index([]bool{x == y, w == x, w == y}, true))
		case "restrict", "prolong": // between the level and the next coarser one
			c.dims = [4]int64{at, b.level(level + 1).rows()}
		case "spmv", "symgs":
			// The border of the vector that is multiplied is packed first, if there are neighbours to send it to.
			exchanged := vectors[:1]
			if kernel == "symgs" {
				exchanged = vectors[1:]
			}
			if n := l.columns() - l.rows(); n > 0 {
				list = append(list, loopCall{kernel: "pack", level: level, vectors: exchanged, dims: [4]int64{at, n}})
			}
			c.dims = [4]int64{at, l.rows(), l.nonzeros(), l.columns()}
		}
		list = append(list, c)
	}
	waxpby := func(vectors string, beta float64) {
		call("waxpby", 0, vectors)
		list[len(list)-1].beta = beta
	}
	// multigrid is a cycle from a level on.
	var multigrid func(level int)
	multigrid = func(level int) {
		call("zero", level, "x")
		call("symgs", level, "rx")
		if level == loopLevels-1 {
			return
		}
		call("spmv", level, "xa")
		call("restrict", level, "ra")
		multigrid(level + 1)
		call("prolong", level, "x")
		call("symgs", level, "rx")
	}

	// The start of a set: the solution is zero, the residual the right-hand side.
	call("zero", 0, "s")
	call("copy", 0, "sp")
	call("spmv", 0, "pq")
	waxpby("bqr", -1)
	call("dot", 0, "rr")
	// Conjugate gradients, preconditioned by multigrid. The first direction is the preconditioned residual itself.
	for i := range iterations {
		multigrid(0)
		if i == 0 {
			waxpby("xxp", 0)
		}
		call("dot", 0, "rx")
		if i > 0 {
			waxpby("xpp", momentum)
		}
		call("spmv", 0, "pq")
		call("dot", 0, "pq")
		waxpby("sps", step)
		waxpby("rqr", -step)
		call("dot", 0, "rr")
	}
	return list
}

// loopSet is the calls of a set of iterations on a box, or of some of its iterations, in their order.
type loopSet struct {
	box   int // index in the plan's boxes
	calls []loopCall
	alone bool // made by the first rank alone
}

// mostSets is how often a set of iterations is made on a box, at most.
const mostSets = 100

// guessTooHigh is how much quicker than the first guess loops may be, which counts on all cores of a node.
const guessTooHigh = 20

// notRecorded stands in the order for a call that is made but not recorded.
const notRecorded = -1

// loopFlags are those with which HPCG's own files for Linux compile it. Without -ffast-math a dot product is a
// sum in order, which takes twice as long.
var loopFlags = []string{"-O3", "-ffast-math"}

// indexOf returns the place of a kernel of HPCG, which has no attributes, in a list, -1 for none.
func indexOf(list []*kernelCalls, name string) int {
	return slices.IndexFunc(list, func(k *kernelCalls) bool { return k.kernel.Name == name })
}

// planLoops plans the loops of HPCG: sets of iterations, on one box after the other, each time in an order of
// its own. The first iteration after another box is not recorded: the caches hold data of that box.
func (p *Plan) planLoops(run *RunCalls, known []*kernelCalls, o *Options) error {
	if !slices.Equal(o.Operands, []Operands{AsRun}) {
		return OptionError{errors.New("HPCG's kernels are timed in the order of the run, " +
			"which decides what is in the caches: leave out --operands")}
	}
	p.source, p.flags = "loops.c", loopFlags
	p.boxes = run.runBoxes // of the runs that were added, or of the only one
	if len(run.shapes) == 0 {
		p.boxes = textutil.Must(run.boxes())
	}
	// All boxes are in memory at once.
	bytes, points, order := int64(0), []string{}, []int{}
	for i, b := range p.boxes {
		points, order = append(points, b.String()), append(order, i)
		bytes += b.bytes()
	}
	p.Bytes = times(int64(len(p.Groups)), bytes)
	p.Space = fmt.Sprintf("as %d iterations of a run leave them, on boxes of %s points (%s a rank)", loopIterations,
		strings.Join(points, ", "), humanBytes(bytes))
	if bytes > o.Memory {
		return fmt.Errorf("the matrices of %s, %s a rank, do not fit into %s: give more --memory, "+
			"or measure for a run of smaller boxes", p.Space, humanBytes(bytes), humanBytes(o.Memory))
	}
	if len(p.boxes) == 0 {
		return errors.New("the run calls no symgs on the finest grid: the boxes of its ranks are not known")
	}

	// The different calls that are recorded are those of the kernels that are to be timed; two iterations have all.
	type key struct {
		kernel string
		dims   [4]int64
	}
	// Calls of the same kernel and dimensions are one call of the plan, whatever vectors they work on.
	index := map[key]int{} // in Calls
	for _, b := range p.boxes {
		for _, c := range b.set(2) {
			at := indexOf(known, c.kernel)
			if _, ok := index[key{c.kernel, c.dims}]; ok || at < 0 {
				continue
			}
			index[key{c.kernel, c.dims}] = len(p.Calls)
			p.Calls = append(p.Calls, Call{Kernel: at, Dims: c.dims, Operands: AsRun, guess: known[at].guess(&c.dims)})
		}
	}

	// The budget bounds the number of sets, by the guess of the seconds of a set on each box.
	once := 0.0
	for _, b := range p.boxes {
		for _, c := range b.set(loopIterations) {
			if at := indexOf(run.kernels, c.kernel); at >= 0 {
				once += run.kernels[at].guess(&c.dims)
			}
		}
	}
	p.Passes = int(min(mostSets, max(1, math.Ceil(guessTooHigh*o.Budget.Seconds()/once))))
	p.Repeats = fmt.Sprintf("in at most %d sets of %d iterations on each rank and box", p.Passes, loopIterations)

	// The order of the boxes changes from pass to pass, so that none is always timed behind the same other one.
	source := noise.NewSource(o.Seed)
	// last is the box whose data the caches hold, -1 at first.
	last := -1
	for pass := range p.Passes {
		shuffle(order, source, uint32(pass), 0)
		for _, at := range order {
			if at != last {
				warm := p.boxes[at].set(1)
				p.sets = append(p.sets, loopSet{at, warm, false})
				p.Order = append(p.Order, slices.Repeat([]Turn{{Call: notRecorded}}, len(warm))...)
			}
			last = at
			list := p.boxes[at].set(loopIterations)
			ways := []bool{false}
			if len(p.Groups) > 1 && pass%aloneEvery == 0 {
				ways = append(ways, true) // the first rank makes the set once more, alone
			}
			for _, alone := range ways {
				p.sets = append(p.sets, loopSet{at, list, alone})
				for _, c := range list {
					// Kernels that are not to be timed are called all the same: the next one finds its data where they
					// leave it.
					number, ok := index[key{c.kernel, c.dims}]
					if !ok {
						number = notRecorded
					}
					p.Order = append(p.Order, Turn{number, alone})
				}
			}
		}
	}
	return nil
}
