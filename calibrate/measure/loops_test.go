package measure

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// plainMatrix is the matrix of a box, written down as it is defined: a point of the grid is joined to all that differ
// from it by one at most in each direction, of its own box or a neighbour's.
type plainMatrix struct {
	b       box
	columns map[[3]int64]int   // of points, those of neighbours among them
	rows    [][]int            // columns of each row, in the order of their points
	points  [][3]int64         // of rows
	edges   map[[3]int64][]int // rows that a neighbour needs, by where it is
	order   [][3]int64         // of neighbours: x fastest
}

// around calls f with the directions of the points around one, and with that of none.
func around(f func(d [3]int64)) {
	each([3]int64{3, 3, 3}, func(p [3]int64) { f([3]int64{p[0] - 1, p[1] - 1, p[2] - 1}) })
}

// each calls f with the points of a box, x fastest.
func each(n [3]int64, f func(p [3]int64)) {
	for z := range n[2] {
		for y := range n[1] {
			for x := range n[0] {
				f([3]int64{x, y, z})
			}
		}
	}
}

// has reports whether the box has a neighbour in a direction: of one in a direction, it is behind the last point.
func (b box) has(d [3]int64) bool {
	for i, side := range d {
		if side != 0 && b.near[i] < 2 && (b.near[i] == 0 || side < 0) {
			return false
		}
	}
	return d != [3]int64{}
}

func newPlainMatrix(b box) *plainMatrix {
	m := &plainMatrix{b: b, columns: map[[3]int64]int{}, edges: map[[3]int64][]int{}}
	each(b.n, func(p [3]int64) {
		m.columns[p] = len(m.columns)
		m.points = append(m.points, p)
	})
	around(func(d [3]int64) {
		if !b.has(d) {
			return
		}
		m.order = append(m.order, d)
		seen := b.n // points of the box that the neighbour sees, in each direction
		for i, side := range d {
			if side != 0 {
				seen[i] = 1
			}
		}
		each(seen, func(p [3]int64) {
			outside, edge := p, p
			for i, side := range d {
				switch side {
				case -1:
					outside[i], edge[i] = -1, 0
				case 1:
					outside[i], edge[i] = b.n[i], b.n[i]-1
				}
			}
			m.columns[outside] = len(m.columns)
			m.edges[d] = append(m.edges[d], m.columns[edge])
		})
	})
	for _, p := range m.points {
		var row []int
		around(func(d [3]int64) {
			if c, ok := m.columns[[3]int64{p[0] + d[0], p[1] + d[1], p[2] + d[2]}]; ok {
				row = append(row, c)
			}
		})
		m.rows = append(m.rows, row)
	}
	return m
}

// multiply has a coefficient of 26 on the diagonal, of -1 elsewhere.
func (m *plainMatrix) multiply(x []float64) []float64 {
	y := make([]float64, len(m.rows))
	for i, row := range m.rows {
		for _, c := range row {
			y[i] -= x[c]
		}
		y[i] += 27 * x[i]
	}
	return y
}

// relax solves row i of A x = r for x[i], whose coefficient is 26.
func (m *plainMatrix) relax(i int, r, x []float64) {
	sum := r[i]
	for _, c := range m.rows[i] {
		if c != i {
			sum += x[c]
		}
	}
	x[i] = sum / 26
}

func known(n, times int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i*times%1009)/1024 - 0.5
	}
	return v
}

// results are what testdata/loops.c prints of a level.
func (m *plainMatrix) results() (list []float64) {
	b := m.b
	nonzeros := 0
	for _, row := range m.rows {
		nonzeros += len(row)
	}
	x, r := known(len(m.columns), 7), known(len(m.columns), 11)
	a := m.multiply(x)
	list = append(list, float64(len(m.rows)), float64(len(m.columns)), float64(nonzeros))
	list = append(list, a...)
	for i := range m.rows {
		m.relax(i, r, x)
	}
	for i := len(m.rows) - 1; i >= 0; i-- {
		m.relax(i, r, x)
	}
	list = append(list, x...)
	var coarse []float64
	var fine []int
	each(b.level(1).n, func(p [3]int64) { fine = append(fine, m.columns[[3]int64{2 * p[0], 2 * p[1], 2 * p[2]}]) })
	for _, f := range fine {
		coarse = append(coarse, r[f]-a[f])
	}
	list = append(list, coarse...)
	for i, f := range fine {
		x[f] += coarse[i]
	}
	list = append(list, x[:len(m.rows)]...)
	for _, d := range m.order {
		for _, row := range m.edges[d] {
			list = append(list, x[row])
		}
	}
	same, two := 0.0, 0.0
	for i := range m.rows {
		same, two = same+r[i]*r[i], two+r[i]*a[i]
	}
	list = append(list, same, two)
	for i := range m.rows { // (r + a/4) - r/2
		list = append(list, r[i]+0.25*a[i]-0.5*r[i])
	}
	return append(list, make([]float64, len(x))...)
}

// TestLoops: on boxes with and without neighbours the loops have the results of the kernels' definitions,
// compiled as they are for measuring and without any optimisation: sums of at most 3072 products of numbers
// below 15 in another order differ by less than 1e-9.
func TestLoops(t *testing.T) {
	compiler, err := findCompiler("")
	must(t, err)
	for i, flags := range [][]string{loopFlags, {"-O0"}} {
		program := filepath.Join(t.TempDir(), "loops")
		args := slices.Concat(flags, []string{"-Wall", "-Wextra", "-Werror", "-Ihelper", "-o", program, "testdata/loops.c"})
		if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, b := range []box{
			{[3]int64{16, 16, 16}, [3]int64{0, 0, 0}}, {[3]int64{16, 8, 24}, [3]int64{1, 0, 2}}, {[3]int64{8, 16, 8}, [3]int64{2, 2, 2}}, {[3]int64{8, 8, 16}, [3]int64{1, 1, 1}},
		} {
			args := []string{}
			for _, n := range slices.Concat(b.n[:], b.near[:]) {
				args = append(args, fmt.Sprint(n))
			}
			out, err := exec.Command(program, args...).Output()
			if err != nil {
				t.Fatalf("%v: %v", b, err)
			}
			want := slices.Concat(newPlainMatrix(b).results(), newPlainMatrix(b.level(1)).results())
			compareLines(t, fmt.Sprintf("flags %d, %+v", i, b), out, want)
			if len(want) < 3 || want[0] != float64(b.rows()) || want[1] != float64(b.columns()) || want[2] != float64(b.nonzeros()) {
				t.Errorf("%+v: %d rows, %d columns, %d nonzeros, want %g", b, b.rows(), b.columns(), b.nonzeros(), want[:3])
			}
			if found, err := boxOf(b.n[0], b.n[1], &[4]int64{0, b.rows(), b.nonzeros(), b.columns()}); err != nil || found != b {
				t.Errorf("%+v: found %+v, %v", b, found, err)
			}
		}
	}
}

func compareLines(t *testing.T, name string, out []byte, want []float64) {
	t.Helper()
	lines, i := bufio.NewScanner(bytes.NewReader(out)), 0
	for ; lines.Scan(); i++ {
		got, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil || i >= len(want) || !(math.Abs(got-want[i]) <= 1e-9) {
			t.Fatalf("%s: number %d is %s of %d, want %g", name, i, lines.Text(), len(want), want[min(i, len(want)-1)])
		}
	}
	if i != len(want) {
		t.Errorf("%s: %d numbers, want %d", name, i, len(want))
	}
}

// TestBoxes: sizes of no box's matrix are refused.
func TestBoxes(t *testing.T) {
	for _, c := range []struct {
		nx, ny int64
		d      [4]int64
	}{
		{0, 0, [4]int64{0, 4096, 97336, 4096}}, {16, 16, [4]int64{0, 4096, 97337, 4096}}, {16, 16, [4]int64{0, 4096, 97336, 4097}},
		{16, 12, [4]int64{0, 3072, 1, 3072}}, {16, 16, [4]int64{0, 4097, 97336, 4096}}, {16, 16, [4]int64{0, 0, 0, 0}},
		{1 << 20, 1 << 20, [4]int64{0, 1 << 60, 1 << 62, 1 << 62}}, {2048, 2048, [4]int64{0, 2048 * 2048 * 1024, 0, 2048 * 2048 * 1024}},
	} {
		if b, err := boxOf(c.nx, c.ny, &c.d); err == nil {
			t.Errorf("%+v: box %+v, want none", c, b)
		}
	}
}

// loopRun is a run of HPCG whose ranks have these boxes, which makes a set of two iterations; a call takes 1
// ns for each unit of its largest dimension.
func loopRun(t *testing.T, boxes ...box) *RunCalls {
	t.Helper()
	r := &RunCalls{}
	numbers := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(loopDims)) {
		numbers[name] = r.Kernel(Kernel{Name: name, Dims: loopDims[name]}, func(d *[4]int64) float64 { return 1e-9 * float64(slices.Max(d[:])) })
	}
	for _, b := range boxes {
		r.Plane = [2]int64{b.n[0], b.n[1]}
		for _, c := range b.set(2) {
			add(t, r, numbers[c.kernel], c.dims)
		}
	}
	return r
}

var smallBox = box{[3]int64{16, 16, 8}, [3]int64{1, 0, 0}}

// TestPlanLoops: a set is made again and again, all of its calls recorded, behind an iteration that is not;
// of a call of each kernel and size there is one in the plan.
func TestPlanLoops(t *testing.T) {
	run := loopRun(t, smallBox)
	p := plan(t, run, options())
	set, first := len(smallBox.set(loopIterations)), len(smallBox.set(1))
	if p.Passes != mostSets || len(p.Order) != first+mostSets*set || len(p.Calls) != run.Sizes() || len(p.Kernels) != len(loopDims) {
		t.Errorf("%d passes, %d calls, %d different of %d", p.Passes, len(p.Order), len(p.Calls), run.Sizes())
	}
	for i, turn := range p.Order {
		if (turn.Call == notRecorded) != (i < first) {
			t.Fatalf("call %d is %v", i, turn)
		}
	}
	o := options()
	o.Budget = time.Nanosecond
	if p, err := NewPlan(run, o); err != nil || p.Passes != 1 {
		t.Errorf("the shortest budget: %v, %v, want one set", p, err)
	}
	run.Only([]string{"symgs"})
	p = plan(t, run, options())
	recorded := slices.DeleteFunc(p.Order, func(turn Turn) bool { return turn.Call == notRecorded })
	if len(p.Kernels) != 1 || len(p.Calls) != loopLevels || len(recorded) != mostSets*loopIterations*7 {
		t.Errorf("symgs alone: %+v, %d calls are recorded", p.Kernels, len(recorded))
	}
}

// TestBoxesOfRuns: slabs of two heights are two boxes; runs have theirs, each once, in sets that take turns,
// each behind an iteration that is not recorded, as the caches are those of the other.
func TestBoxesOfRuns(t *testing.T) {
	other := box{[3]int64{16, 16, 24}, [3]int64{1, 0, 1}}
	both := &RunCalls{}
	for _, boxes := range [][]box{{smallBox}, {smallBox, other}, {other}} {
		addRun(t, both, loopRun(t, boxes...))
	}
	p := plan(t, both, options())
	if !slices.Equal(p.boxes, []box{smallBox, other}) {
		t.Errorf("boxes %+v", p.boxes)
	}
	sets := map[int]int{}
	for i, s := range p.sets {
		if len(s.calls) == len(p.boxes[s.box].set(loopIterations)) {
			sets[s.box]++
			if i == 0 || p.sets[i-1].box != s.box {
				t.Fatalf("set %d is the first on box %d", i, s.box)
			}
		}
	}
	if sets[0] != p.Passes || sets[1] != p.Passes {
		t.Errorf("%v sets, want %d", sets, p.Passes)
	}
}

// TestPlanLoopsErrors: what goes wrong is told with what to do.
func TestPlanLoopsErrors(t *testing.T) {
	hot, little := options(), options()
	hot.Operands, little.Memory = []Operands{Hot}, MinMemory
	nameless, mixed, odd := loopRun(t, smallBox), loopRun(t, smallBox), loopRun(t, smallBox)
	nameless.Plane, odd.Plane[1] = [2]int64{}, 4
	add(t, mixed, mixed.Kernel(Kernel{Name: "dscal", Dims: dimsN}, flopOfGemm), [4]int64{10})
	coarse := &RunCalls{}
	add(t, coarse, coarse.Kernel(Kernel{Name: "zero", Dims: dimsN}, flopOfGemm), [4]int64{10})
	for want, c := range map[string]struct {
		run *RunCalls
		o   Options
	}{
		"leave out --operands": {loopRun(t, smallBox), hot}, "do not fit into 1 MiB: give more --memory": {loopRun(t, smallBox), little},
		"no parameters nx and ny": {nameless, options()}, "by themselves": {mixed, options()}, "want sizes that 8 divides": {odd, options()},
		"no symgs on the finest grid": {coarse, options()},
	} {
		if _, err := NewPlan(c.run, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := NewPlan(loopRun(t, smallBox), hot); !errors.As(err, new(OptionError)) {
		t.Errorf("operands: %v, want an OptionError", err)
	}
}

// shortened returns a plan of one set on a small box.
func shortened(t *testing.T, o Options) *Plan {
	t.Helper()
	o.Budget = time.Nanosecond
	return plan(t, loopRun(t, smallBox), o)
}

// TestRunLoops: by one process or two at once, all calls but those of the first iteration are timed; the
// table has the dimensions of the trace, and nothing in the columns of other kernels.
func TestRunLoops(t *testing.T) {
	for _, ranks := range []int{1, min(2, runtime.NumCPU())} {
		o := options()
		o.Ranks, o.Flags = ranks, []string{"-O1"}
		p := shortened(t, o)
		r, err := Run(context.Background(), p, o, nil)
		want := len(smallBox.set(loopIterations)) * ranks
		if ranks > 1 {
			want += want / ranks // of the first one alone
		}
		if err != nil || len(r.Timings) != want || r.OverBudget || r.BLAS != "" || r.Flags != "-O1" {
			t.Fatalf("%d ranks: %+v, %v, want %d timings", ranks, r, err, want)
		}
		var b bytes.Buffer
		must(t, r.WriteCSV(&b, p, "here", nil))
		// 16x16x8 points with a neighbour behind the last in x: (3*16-1)(3*16-2)(3*8-2) nonzeros, 17*16*8 columns
		for _, want := range []string{"function,n,level,rows,nnz,cols,vectors,branch,alias,operands,seconds,", "\nsymgs,,0,2048,47564,2176,,,,run,", "\nspmv,,2,32,", "\nrestrict,256,0,", "\ndot,2048,,,,,1,,,run,", "\nwaxpby,2048,,,,,,1,3,run,", "\npack,128,0,"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in %.2000s", want, b.String())
			}
		}
	}
}

// TestNumbersOfLoops: iterations as a run makes them come to an end with small numbers; those of a plan that
// makes them grow are told so.
func TestNumbersOfLoops(t *testing.T) {
	for _, growing := range []bool{false, true} {
		o := options()
		p := shortened(t, o)
		for _, s := range p.sets {
			for i := range s.calls {
				if growing && s.calls[i].beta < 0 {
					s.calls[i].beta = -1e30
				}
			}
		}
		_, err := Run(context.Background(), p, o, nil)
		if growing != (err != nil && strings.Contains(err.Error(), "make wrong code of the loops")) {
			t.Errorf("growing %v: %v", growing, err)
		}
	}
}
