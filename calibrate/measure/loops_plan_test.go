package measure

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// loopRun is a run of HPCG whose ranks have these boxes, which makes a set of two iterations; a call takes 1 ns for each unit of its
// largest dimension.
func loopRun(t *testing.T, boxes ...box) *RunCalls {
	t.Helper()
	r := NewRunCalls()
	numbers := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(loopDims)) {
		numbers[name] = r.Kernel(Kernel{Name: name, Dims: loopDims[name]}, func(d *[4]int64) float64 { return 1e-9 * float64(slices.Max(d[:])) })
	}
	for _, b := range boxes {
		r.Plane = [2]int64{b.n[0], b.n[1]}
		for _, c := range b.set(2) {
			if err := r.Add(numbers[c.kernel], c.dims); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

var smallBox = box{[3]int64{16, 16, 8}, [3]int64{1, 0, 0}}

// TestPlanLoops: a set is made again and again, all of its calls recorded, behind an iteration that is not; of a call of
// each kernel and size there is one in the plan.
func TestPlanLoops(t *testing.T) {
	run := loopRun(t, smallBox)
	p, err := NewPlan(run, options())
	if err != nil {
		t.Fatal(err)
	}
	set, first := len(smallBox.set(loopIterations)), len(smallBox.set(1))
	if p.Passes != mostSets || len(p.Order) != first+mostSets*set || p.recorded() != mostSets*set || len(p.Calls) != run.Sizes() || len(p.Kernels) != len(loopDims) {
		t.Errorf("%d passes, %d of %d calls recorded, %d different of %d", p.Passes, p.recorded(), len(p.Order), len(p.Calls), run.Sizes())
	}
	for i, number := range p.Order {
		if (number == notRecorded) != (i < first) {
			t.Fatalf("call %d is %d", i, number)
		}
	}
	o := options()
	o.Budget = time.Nanosecond
	if p, err := NewPlan(run, o); err != nil || p.Passes != 1 {
		t.Errorf("the shortest budget: %v, %v, want one set", p, err)
	}
	run.Only([]string{"symgs"})
	if p, err := NewPlan(run, options()); err != nil || len(p.Kernels) != 1 || len(p.Calls) != loopLevels || p.recorded() != mostSets*loopIterations*7 {
		t.Errorf("symgs alone: %+v, %v", p.Kernels, err)
	}
}

// TestBoxesOfRuns: slabs of two heights are two boxes; runs have theirs, each once, in sets that take turns, each behind an
// iteration that is not recorded, as the caches are those of the other.
func TestBoxesOfRuns(t *testing.T) {
	other := box{[3]int64{16, 16, 24}, [3]int64{1, 0, 1}}
	both := NewRunCalls()
	for _, boxes := range [][]box{{smallBox}, {smallBox, other}, {other}} {
		if err := both.AddRun(loopRun(t, boxes...)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := NewPlan(both, options())
	if err != nil {
		t.Fatal(err)
	}
	l := p.program.(*loopProgram)
	if !slices.Equal(l.boxes, []box{smallBox, other}) {
		t.Errorf("boxes %+v", l.boxes)
	}
	sets := map[int]int{}
	for i, s := range l.sets {
		if len(s.calls) == len(l.boxes[s.box].set(loopIterations)) {
			sets[s.box]++
			if i == 0 || l.sets[i-1].box != s.box {
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
	nameless := loopRun(t, smallBox)
	nameless.Plane = [2]int64{}
	mixed := loopRun(t, smallBox)
	if err := mixed.Add(mixed.Kernel(Kernel{Name: "dscal", Dims: dimsN}, flopOfGemm), [4]int64{10}); err != nil {
		t.Fatal(err)
	}
	odd := loopRun(t, smallBox)
	odd.Plane[1] = 4
	coarse := NewRunCalls()
	if err := coarse.Add(coarse.Kernel(Kernel{Name: "zero", Dims: dimsN}, flopOfGemm), [4]int64{10}); err != nil {
		t.Fatal(err)
	}
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
	p, err := NewPlan(loopRun(t, smallBox), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRunLoops: by one process or two at once, all calls but those of the first iteration are timed; the table has the dimensions of the
// trace, and nothing in the columns of other kernels.
func TestRunLoops(t *testing.T) {
	if _, err := findCompiler(""); err != nil {
		t.Fatal(err)
	}
	for _, ranks := range []int{1, min(2, runtime.NumCPU())} {
		o := options()
		o.Ranks, o.Flags = ranks, []string{"-O1"}
		p := shortened(t, o)
		r, err := Run(context.Background(), p, o, nil)
		if want := len(smallBox.set(loopIterations)) * ranks; err != nil || len(r.Timings) != want || r.OverBudget || r.BLAS != "" || r.Flags != "-O1" {
			t.Fatalf("%d ranks: %+v, %v, want %d timings", ranks, r, err, want)
		}
		var b bytes.Buffer
		if err := r.WriteCSV(&b, p, "here", nil); err != nil {
			t.Fatal(err)
		}
		// 16x16x8 points with a neighbour behind the last in x: (3*16-1)(3*16-2)(3*8-2) nonzeros, 17*16*8 columns
		for _, want := range []string{"function,n,level,rows,nnz,cols,vectors,branch,alias,operands,seconds,", "\nsymgs,,0,2048,47564,2176,,,,run,", "\nspmv,,2,32,", "\nrestrict,256,0,", "\ndot,2048,,,,,1,,,run,", "\nwaxpby,2048,,,,,,1,3,run,", "\npack,128,0,"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in %.2000s", want, b.String())
			}
		}
	}
}

// TestNumbersOfLoops: iterations as a run makes them come to an end with small numbers; those of a plan that makes them grow
// are told so.
func TestNumbersOfLoops(t *testing.T) {
	if _, err := findCompiler(""); err != nil {
		t.Fatal(err)
	}
	for _, growing := range []bool{false, true} {
		o := options()
		p := shortened(t, o)
		l := p.program.(*loopProgram)
		for _, s := range l.sets {
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

// TestFlagsOfLoops: flags that the compiler does not know are its error.
func TestFlagsOfLoops(t *testing.T) {
	if _, err := findCompiler(""); err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Flags = []string{"-fno-such-flag"}
	if _, err := Run(context.Background(), shortened(t, o), o, nil); err == nil || !strings.Contains(err.Error(), "-fno-such-flag") {
		t.Errorf("got %v", err)
	}
}
