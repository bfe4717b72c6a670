package measure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"reprise/kernels/noise"
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

// boxOf returns the box that has so many rows, nonzeros and columns on the finest grid, and so many points in x and y.
func boxOf(nx, ny int64, d *[4]int64) (b box, err error) {
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
	for i := range int64(27) {
		b.near = [3]int64{i % 3, i / 3 % 3, i / 9}
		if b.rows() == d[1] && b.nonzeros() == d[2] && b.columns() == d[3] {
			return b, nil
		}
	}
	return b, fmt.Errorf("a matrix of %d rows, %d nonzeros and %d columns: not that of a box of %v points", d[1], d[2],
		d[3], b)
}

// boxes returns the boxes of a run of HPCG: of each height of slabs that with the largest matrix, for which
// all others wait.
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

// loopCall is a call of a kernel of HPCG on vectors of a level, which helper/loops.h names: x what multigrid
// results in, r its right-hand side, a the product; on the finest grid also the solution s, the direction p,
// its product q, and b.
type loopCall struct {
	kernel  string
	level   int
	vectors string
	n       int64 // elements, of what works on vectors alone
	beta    float64
	dims    [4]int64
}

// step and momentum stand for the coefficients of conjugate gradients, which come from dot products: with these the
// iteration x += step p, p = z + momentum p approaches the solution as well, whatever the box.
const (
	step     = 0.5
	momentum = 0.5
)

// iterations of a set that is measured.
const loopIterations = 10

// Values of labels of dot and waxpby.
const (
	sameVector, twoVectors               = 0, 1
	alphaOne                             = 1
	aliasNone, aliasXY, aliasWX, aliasWY = 0, 1, 2, 3
)

// loopOrder collects the calls of a run in their order. Source: HPCG 3.1, by docs/hpcg.md.
type loopOrder struct {
	box  box
	list []loopCall
}

func (o *loopOrder) add(c loopCall) { o.list = append(o.list, c) }

// pack is what is computed of an exchange with neighbours, if there are some.
func (o *loopOrder) pack(level int, vector string) {
	if l := o.box.level(level); l.columns() > l.rows() {
		n := l.columns() - l.rows()
		o.add(loopCall{kernel: "pack", level: level, vectors: vector, n: n, dims: [4]int64{int64(level), n}})
	}
}

// matrix is a call on the matrix of a level, behind an exchange of a vector.
func (o *loopOrder) matrix(kernel string, level int, exchanged, vectors string) {
	o.pack(level, exchanged)
	l := o.box.level(level)
	o.add(loopCall{kernel: kernel, level: level, vectors: vectors,
		dims: [4]int64{int64(level), l.rows(), l.nonzeros(), l.columns()}})
}

// transfer is a call between a level and the next coarser one.
func (o *loopOrder) transfer(kernel string, level int, vectors string) {
	n := o.box.level(level + 1).rows()
	o.add(loopCall{kernel: kernel, level: level, vectors: vectors, dims: [4]int64{int64(level), n}})
}

// vector is a call of zero or copy.
func (o *loopOrder) vector(kernel string, level int, vectors string, n int64) {
	o.add(loopCall{kernel: kernel, level: level, vectors: vectors, n: n, dims: [4]int64{n}})
}

func (o *loopOrder) dot(vectors string) {
	n, label := o.box.rows(), int64(twoVectors)
	if vectors[0] == vectors[1] {
		label = sameVector
	}
	o.add(loopCall{kernel: "dot", vectors: vectors, n: n, dims: [4]int64{n, label}})
}

// waxpby is w = x + beta y, of the vectors xyw.
func (o *loopOrder) waxpby(vectors string, beta float64) {
	n, alias := o.box.rows(), int64(aliasNone)
	switch {
	case vectors[0] == vectors[1]:
		alias = aliasXY
	case vectors[2] == vectors[0]:
		alias = aliasWX
	case vectors[2] == vectors[1]:
		alias = aliasWY
	}
	o.add(loopCall{kernel: "waxpby", vectors: vectors, n: n, beta: beta, dims: [4]int64{n, alphaOne, alias}})
}

// multigrid is a cycle from a level on.
func (o *loopOrder) multigrid(level int) {
	o.vector("zero", level, "x", o.box.level(level).columns())
	o.matrix("symgs", level, "x", "rx")
	if level == loopLevels-1 {
		return
	}
	o.matrix("spmv", level, "x", "xa")
	o.transfer("restrict", level, "ra")
	o.multigrid(level + 1)
	o.transfer("prolong", level, "x")
	o.matrix("symgs", level, "x", "rx")
}

// start is what comes before the first iteration of a set.
func (o *loopOrder) start() {
	rows := o.box.rows()
	o.vector("zero", 0, "s", rows)
	o.vector("copy", 0, "sp", rows)
	o.matrix("spmv", 0, "p", "pq")
	o.waxpby("bqr", -1)
	o.dot("rr")
}

func (o *loopOrder) iteration(first bool) {
	o.multigrid(0)
	if first {
		o.waxpby("xxp", 0)
	}
	o.dot("rx")
	if !first {
		o.waxpby("xpp", momentum)
	}
	o.matrix("spmv", 0, "p", "pq")
	o.dot("pq")
	o.waxpby("sps", step)
	o.waxpby("rqr", -step)
	o.dot("rr")
}

// set returns the calls of a set of iterations on a box.
func (b box) set(iterations int) []loopCall {
	o := &loopOrder{box: b}
	o.start()
	for i := range iterations {
		o.iteration(i == 0)
	}
	return o.list
}

// loopProgram times HPCG's kernels in the order of the run, which decides what is in the caches.
type loopProgram struct {
	boxes []box
	sets  []loopSet
}

// loopSet is a set of iterations on a box, or some of one, in the order in which they are made.
type loopSet struct {
	box   int
	calls []loopCall
}

// mostSets is how often a set of iterations is made on a box, at most.
const mostSets = 100

// guessTooHigh is how much quicker than the first guess loops may be, which counts on all cores of a node.
const guessTooHigh = 20

// notRecorded stands in the order for a call that is made but not recorded.
const notRecorded = -1

func (*loopProgram) source() string { return "loops.c" }

// flags are those with which HPCG's own files for Linux compile it. Without -ffast-math a dot product is a
// sum in order, which takes twice as long.
func (*loopProgram) flags() []string { return []string{"-O3", "-ffast-math"} }

func (l *loopProgram) bytes() (sum int64) {
	for _, b := range l.boxes {
		sum += b.bytes()
	}
	return sum
}

func (l *loopProgram) passes(p *Plan) string {
	return fmt.Sprintf("in at most %d sets of %d iterations on each rank and box", p.Passes, loopIterations)
}

func (l *loopProgram) space() string {
	text := "as " + strconv.Itoa(loopIterations) + " iterations of a run leave them, on boxes of"
	for i, b := range l.boxes {
		if i > 0 {
			text += ","
		}
		text += " " + b.String()
	}
	return text + " points (" + humanBytes(l.bytes()) + " a rank)"
}

func (l *loopProgram) arguments(f files, o *Options, rank, ranks int) ([]string, error) {
	return []string{f.plan, f.shared, seconds(o), strconv.Itoa(rank), strconv.Itoa(ranks), strconv.Itoa(len(l.boxes))}, nil
}

func (l *loopProgram) write(_ *Plan, w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, x := range l.boxes {
		fmt.Fprintf(b, "%d %d %d %d %d %d\n", x.n[0], x.n[1], x.n[2], x.near[0], x.near[1], x.near[2])
	}
	for _, s := range l.sets {
		for _, c := range s.calls {
			fmt.Fprintf(b, "%d %s %d %s %d %g\n", s.box, c.kernel, c.level, c.vectors, c.n, c.beta)
		}
	}
	return b.Flush()
}

// planLoops plans the loops of HPCG: sets of iterations, on one box after the other, each time in an order of
// its own. What the first iteration after another box takes is not recorded.
func (p *Plan) planLoops(run *RunCalls, o *Options) error {
	if !slices.Equal(o.Operands, []Operands{AsRun}) {
		return OptionError{errors.New("HPCG's kernels are timed in the order of the run, which decides what is in the caches: leave out --operands")}
	}
	boxes := run.runBoxes // of the runs that were added, or of the only one
	if len(run.shapes) == 0 {
		var err error
		if boxes, err = run.boxes(); err != nil {
			return err
		}
	}
	l := &loopProgram{boxes: boxes}
	p.program = l
	if l.bytes() > o.Memory {
		return fmt.Errorf("the matrices of %s, %s a rank, do not fit into %s: give more --memory, or measure for a run of smaller boxes", l.space(), humanBytes(l.bytes()), humanBytes(o.Memory))
	}
	if len(boxes) == 0 {
		return errors.New("the run calls no symgs on the finest grid: the boxes of its ranks are not known")
	}
	calls := p.loopCalls(run, boxes)
	source := noise.NewSource(o.Seed)
	once := 0.0 // seconds of a set on each box, as guessed
	for _, b := range boxes {
		set := 0.0
		for _, c := range b.set(loopIterations) {
			at := slices.IndexFunc(run.kernels, func(k *kernelCalls) bool { return k.kernel.Name == c.kernel })
			if at >= 0 {
				set += run.kernels[at].guess(&c.dims)
			}
		}
		once += set
	}
	p.Passes = int(min(mostSets, max(1, math.Ceil(guessTooHigh*o.Budget.Seconds()/once))))
	last := -1
	order := make([]int, len(boxes))
	for i := range order {
		order[i] = i
	}
	for pass := range p.Passes {
		shuffle(order, source, uint32(pass), 0)
		for _, at := range order {
			p.addSet(l, at, at != last, calls)
			last = at
		}
	}
	return nil
}

// addSet adds a set on a box to the order, after an iteration that is not recorded if caches are those of another one.
func (p *Plan) addSet(l *loopProgram, at int, cold bool, calls map[loopKey]int) {
	list := l.boxes[at].set(loopIterations)
	if cold {
		warm := l.boxes[at].set(1)
		l.sets = append(l.sets, loopSet{at, warm})
		for range warm {
			p.Order = append(p.Order, notRecorded)
		}
	}
	l.sets = append(l.sets, loopSet{at, list})
	for _, c := range list {
		number, ok := calls[loopKey{c.kernel, c.dims}]
		if !ok {
			number = notRecorded
		}
		p.Order = append(p.Order, number)
	}
}

// loopKey tells calls apart.
type loopKey struct {
	kernel string
	dims   [4]int64
}

// loopCalls lists the different calls that are recorded: those of the kernels that are to be timed.
func (p *Plan) loopCalls(run *RunCalls, boxes []box) map[loopKey]int {
	numbers, guesses := map[string]int{}, map[string]func(*[4]int64) float64{}
	for _, k := range run.timed() {
		numbers[k.kernel.Name], guesses[k.kernel.Name] = len(p.Kernels), k.guess
		p.Kernels = append(p.Kernels, k.kernel)
	}
	index := map[loopKey]int{}
	for _, b := range boxes {
		for _, c := range b.set(2) {
			number, timed := numbers[c.kernel]
			key := loopKey{c.kernel, c.dims}
			if _, ok := index[key]; ok || !timed {
				continue
			}
			index[key] = len(p.Calls)
			p.Calls = append(p.Calls, Call{Kernel: number, Dims: c.dims, Operands: AsRun, guess: guesses[c.kernel](&c.dims)})
		}
	}
	return index
}
