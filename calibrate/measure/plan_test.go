package measure

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// add, addRun and plan end the test where they fail.
func add(t *testing.T, r *RunCalls, kernel int, d [4]int64) {
	t.Helper()
	must(t, r.Add(kernel, d))
}

func addRun(t *testing.T, r, run *RunCalls) {
	t.Helper()
	must(t, r.AddRun(run))
}

func plan(t *testing.T, r *RunCalls, o Options) *Plan {
	t.Helper()
	p, err := NewPlan(r, o)
	must(t, err)
	return p
}

// everything is a run that calls all kernels that can be timed, with all attributes that HPL uses, at a few
// sizes of up to rows by columns and blocks of nb columns; a call takes 0.1 ns an element of its product.
func everything(t *testing.T, rows, columns, nb int64) *RunCalls {
	t.Helper()
	return runOf(t, slices.Sorted(maps.Keys(forms)), rows, columns, nb)
}

// runOf is a run that calls some kernels so.
func runOf(t *testing.T, names []string, rows, columns, nb int64) *RunCalls {
	t.Helper()
	r := &RunCalls{}
	for _, name := range names {
		for _, k := range variants(name) {
			number := r.Kernel(k, func(d *[4]int64) float64 {
				return 1e-10 * float64(max(1, d[0])) * float64(max(1, d[1])) * float64(max(1, d[2]))
			})
			for i := int64(1); i <= 4; i++ {
				add(t, r, number, sizeOf(&k, rows*i/4, columns*i/4, nb*min(i, 2)/2))
			}
		}
	}
	return r
}

// variants returns a kernel with the attributes that HPL uses.
func variants(name string) (list []Kernel) {
	letters := map[string][]string{"dgemm": {"NN", "NT"}, "dtrsm": {"LLNU", "LUTU", "RUNU", "RLTU"}, "dgemv": {"N", "T"}, "dtrsv": {"LNU", "UTU", "UNN"}}[name]
	if letters == nil {
		letters = []string{""}
	}
	for _, l := range letters {
		k := Kernel{Name: name, Dims: forms[name].dims}
		for i, attr := range forms[name].attrs {
			k.Attrs = append(k.Attrs, Attr{attr, l[i : i+1]})
		}
		list = append(list, k)
	}
	return list
}

// sizeOf returns a size of a kernel as HPL has it.
func sizeOf(k *Kernel, rows, columns, nb int64) [4]int64 {
	switch {
	case k.Name == "dgemm":
		return [4]int64{rows, columns, nb}
	case k.Name == "dtrsm" && k.attr("side") == "R", k.Name == "dlaswp10N":
		return [4]int64{columns, nb}
	case k.Name == "dtrsv", k.Name == "dcopy":
		return [4]int64{nb}
	case len(k.Dims) == 1:
		return [4]int64{rows}
	case k.Name == "dgemv", k.Name == "dger":
		return [4]int64{rows, nb}
	case strings.HasPrefix(k.Name, "dlaswp04"):
		return [4]int64{nb / 2, nb, columns}
	case strings.HasPrefix(k.Name, "dlocswp"):
		return [4]int64{nb, rows % 5}
	}
	return [4]int64{nb, columns}
}

func options() Options {
	o := DefaultOptions()
	o.Memory, o.Caches, o.NoPin = 32<<20, 1<<20, true
	return o
}

// TestPlan: each pass makes each call once, in an order of its own, behind one call of each kernel.
func TestPlan(t *testing.T) {
	p := plan(t, everything(t, 300, 200, 16), options())
	if len(p.Kernels) != 27+1+3+1+2 || p.WarmUp != len(p.Kernels) || p.Passes != mostPasses || len(p.Warnings) > 0 {
		t.Errorf("%d kernels, %d calls to warm up, %d passes, warnings %v", len(p.Kernels), p.WarmUp, p.Passes, p.Warnings)
	}
	n, all := len(p.Calls), p.Order[p.WarmUp:]
	if len(all) != n*p.Passes {
		t.Fatalf("%d calls in %d passes of %d", len(all), p.Passes, n)
	}
	for pass := range p.Passes {
		made := map[Turn]bool{}
		for _, turn := range all[pass*n : (pass+1)*n] {
			made[turn] = true
		}
		if len(made) != n {
			t.Errorf("pass %d makes %d of %d calls", pass, len(made), n)
		}
	}
	if slices.Equal(all[:n], all[n:2*n]) {
		t.Error("two passes in one order")
	}
	// Panels of 16 columns; above 300 rows of a product U of 16, left of 200 columns a panel: 316 rows, as a multiple
	// of 8, and 216 columns.
	if s := p.shapes[0]; s != (shape{rows: 320, columns: 216, nb: 16}) {
		t.Errorf("matrix %+v", s)
	}
}

// twoRuns are of N = 400, NB = 16 on one rank and of N = 200, NB = 8 on 2 x 1 ranks, where rows are not
// swapped in place.
func twoRuns(t *testing.T) *RunCalls {
	t.Helper()
	all := &RunCalls{}
	for _, run := range []struct {
		ranks             int
		rows, columns, nb int64
		names             []string
	}{
		{1, 400, 401, 16, []string{"dgemm", "dtrsm", "dgemv", "dger", "dcopy", "dlaswp00N"}},
		{2, 100, 201, 8, []string{"dgemm", "dtrsm", "dcopy", "dlaswp00N", "dlaswp01T", "dlaswp06T"}},
	} {
		r := &RunCalls{}
		r.Ranks = run.ranks
		for _, name := range run.names {
			k := variants(name)[0]
			number := r.Kernel(k, func(d *[4]int64) float64 { return 1e-10 * float64(d[0]*max(1, d[1])*max(1, d[2])) })
			for part := run.nb; part <= run.rows-run.nb; part += run.nb { // as many rows and columns remain
				add(t, r, number, sizeOf(&k, part, part*run.columns/run.rows-run.nb+1, run.nb))
			}
		}
		addRun(t, all, r)
	}
	return all
}

// TestPlanOfTwoRuns: each call is timed in the matrix of its own run. Products have up to N/P - NB rows
// below NB others, and columns beside a panel.
func TestPlanOfTwoRuns(t *testing.T) {
	p := plan(t, twoRuns(t), options())
	// Rows are 384 + 16 and 88 + 8. Columns: 384*401/400 - 15 = 369, and a panel of 16; 88*201/100 - 7 = 169,
	// and one of 8.
	want := []shape{{rows: 400, columns: 385, nb: 16, inPlace: true, wholeRows: true}, {rows: 96, columns: 177, nb: 8, wholeRows: true}}
	if !slices.Equal(p.shapes, want) {
		t.Errorf("shapes %+v, want %+v", p.shapes, want)
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		name := p.Kernels[c.Kernel].Name
		of, one := map[string]int{"dgemv": 0, "dger": 0, "dlaswp01T": 1}[name]
		if one && c.shape != of || name == "dgemm" && c.Dims[2] != want[c.shape].nb {
			t.Errorf("%s %v in the matrix of run %d", name, c, c.shape)
		}
	}
	if p.space.matrix != 400*385 || p.space.triangles != 16*16+8*8 {
		t.Errorf("memory %+v", p.space)
	}
	// In each pass the calls of a run come one after another.
	n := len(p.Calls)
	changes := 0
	for i := 1; i < n; i++ {
		if p.Calls[p.Order[p.WarmUp+i].Call].shape != p.Calls[p.Order[p.WarmUp+i-1].Call].shape {
			changes++
		}
	}
	if changes != 1 {
		t.Errorf("a pass goes from run to run %d times, want once", changes)
	}
}

// TestPlanIsBounded: of a run of any size, no call needs more than there is: memory, or time, of which a few passes
// take no more than the budget, by the guess.
func TestPlanIsBounded(t *testing.T) {
	for _, c := range []struct{ rows, columns, nb int64 }{{1e5, 1e5, 256}, {1e9, 10, 8}, {10, 1e9, 8}, {1 << 40, 1 << 40, 1 << 40}, {1, 1, 2}} {
		o := options()
		o.Budget, o.Operands = 2*time.Second, []Operands{Hot, Cold}
		p := plan(t, everything(t, c.rows, c.columns, c.nb), o)
		if p.space.bytes() > o.Memory {
			t.Errorf("%+v: %d bytes for %+v", c, p.space.bytes(), p.space)
		}
		for i := range p.Calls {
			k := &p.Kernels[p.Calls[i].Kernel]
			s := &p.shapes[p.Calls[i].shape]
			n := forms[k.Name].needs(k, &p.Calls[i].Dims, s.nb)
			if n.rows > s.rows || n.columns > s.columns || n.order > s.nb || n.work > p.space.work || s.rows*s.columns > p.space.matrix {
				t.Errorf("%+v: %v of %v needs %+v of %+v, %+v", c, k, p.Calls[i].Dims, n, s, p.space)
			}
		}
	}
}

// TestOnly: kernels that are timed alone are timed in the matrix of the whole run.
func TestOnly(t *testing.T) {
	r := everything(t, 300, 200, 16)
	r.Only([]string{"dscal", "dlaswp00N"})
	all := &RunCalls{}
	addRun(t, all, r)
	for _, run := range []*RunCalls{r, all} {
		p, err := NewPlan(run, options())
		if err != nil || len(p.Kernels) != 2 || p.shapes[0] != (shape{rows: 320, columns: 216, nb: 16}) {
			t.Errorf("%v, %d kernels in %+v, %v", err, len(p.Kernels), p.shapes, p.Kernels)
		}
	}
}

func TestPlanRefusals(t *testing.T) {
	small := everything(t, 8, 8, 2)
	for want, change := range map[string]func(o *Options) *RunCalls{
		"ranks of a host: 0": func(o *Options) *RunCalls { o.Ranks = 0; return small },
		"core 1 twice":       func(o *Options) *RunCalls { o.Cores = []int{1, 1}; return small },
		"operands: want":     func(o *Options) *RunCalls { o.Operands = nil; return small },
		"no kernel that can be timed": func(*Options) *RunCalls {
			r := &RunCalls{}
			_ = r.Add(r.Kernel(Kernel{Name: "dswap", Dims: []string{"N"}}, flopOfGemm), [4]int64{1})
			return r
		},
	} {
		o := options()
		run := change(&o)
		if _, err := NewPlan(run, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestUnknownKernels: a kernel that cannot be timed is named, with its part of the time: 3 s of 3 + 9.
func TestUnknownKernels(t *testing.T) {
	r := &RunCalls{}
	second := func(*[4]int64) float64 { return 1 }
	for name, calls := range map[string]int{"dfft": 3, "dscal": 9} {
		k := r.Kernel(Kernel{Name: name, Dims: []string{"N"}}, second)
		for range calls {
			add(t, r, k, [4]int64{5})
		}
	}
	p, err := NewPlan(r, options())
	if err != nil || len(p.Kernels) != 1 || len(p.Warnings) == 0 || !strings.HasPrefix(p.Warnings[0].String(), "dfft: no way to time it is known; about 25 % of the run's time") {
		t.Errorf("%v, %+v", err, p)
	}
}

// flopOfGemm guesses a second for a multiplication and an addition.
func flopOfGemm(d *[4]int64) float64 { return float64(d[0] * d[1] * d[2]) }

var gemm = Kernel{"dgemm", []Attr{{"transa", "N"}, {"transb", "N"}}, []string{"M", "N", "K"}}

// TestChoose: of 1,000 calls of 1 s, 10 of 100 s and 2 of 1,000 s (4,000 s in all, of which calls up to 100 s
// are a half), and ten that are empty, two sizes are the one at the middle of the time, then that at the
// middle of the calls.
func TestChoose(t *testing.T) {
	r := &RunCalls{}
	k := r.Kernel(gemm, flopOfGemm)
	one, hundred, thousand := [4]int64{1, 1, 1}, [4]int64{10, 10, 1}, [4]int64{10, 10, 10}
	for d, calls := range map[[4]int64]int{one: 1000, hundred: 10, thousand: 2, {0, 5, 5}: 10} {
		for range calls {
			add(t, r, k, d)
		}
	}
	if r.Sizes() != 3 {
		t.Errorf("%d sizes, want 3", r.Sizes())
	}
	for n, want := range map[int][][4]int64{1: {hundred}, 2: {one, hundred}, 3: {one, hundred, thousand}, 9: {one, hundred, thousand}} {
		if got := r.kernels[k].choose(n); !slices.Equal(got, want) {
			t.Errorf("%d sizes: %v, want %v", n, got, want)
		}
	}
}

// TestChooseSpread: of 1,000 sizes with one call each, 100 are chosen, as many different ones, the largest
// of them among the last hundredth of the time.
func TestChooseSpread(t *testing.T) {
	r := &RunCalls{}
	k := r.Kernel(gemm, flopOfGemm)
	for m := range int64(1000) {
		add(t, r, k, [4]int64{m + 1, 1, 1})
	}
	list := r.kernels[k].choose(100)
	if len(list) != 100 || len(slices.Compact(slices.Clone(list))) != 100 {
		t.Fatalf("%d sizes: %v", len(list), list)
	}
	// Time up to m is m(m+1)/2 of 500,500: 99 % of it at 995.
	if last := list[99][0]; last < 995 {
		t.Errorf("largest size %d, want 995 or more", last)
	}
}

// TestEmpty: calls in which there is nothing to do are not counted; a role or a part of the rows that is 0
// does not make a call empty.
func TestEmpty(t *testing.T) {
	r := &RunCalls{}
	swap := r.Kernel(Kernel{"dlocswpT", nil, []string{"JB", "ROLE"}}, flopOfGemm)
	rows := r.Kernel(Kernel{"dlaswp04T", nil, []string{"M0", "M1", "N"}}, flopOfGemm)
	for _, c := range []struct {
		kernel int
		dims   [4]int64
		sizes  int
	}{
		{swap, [4]int64{8, 0}, 1}, {swap, [4]int64{0, 1}, 1}, {rows, [4]int64{0, 3, 5}, 2}, {rows, [4]int64{2, 0, 5}, 3}, {rows, [4]int64{0, 0, 5}, 3}, {rows, [4]int64{1, 1, 0}, 3},
	} {
		add(t, r, c.kernel, c.dims)
		if r.Sizes() != c.sizes {
			t.Errorf("after %v: %d sizes, want %d", c.dims, r.Sizes(), c.sizes)
		}
	}
}

// TestAddRun: a run of one call of 8 s and one of a million calls of 1 s, which make one size
// each, count alike: of the time in between, both have half.
func TestAddRun(t *testing.T) {
	all := &RunCalls{}
	for size, calls := range map[int64]int{8: 1, 1: 1000000} {
		addRun(t, all, scaling(t, map[int64]int{size: calls}))
	}
	if len(all.kernels) != 1 || all.Sizes() != 2 {
		t.Fatalf("%d kernels and %d sizes, want 1 and 2", len(all.kernels), all.Sizes())
	}
	for d, calls := range all.kernels[0].calls {
		if seconds := calls.number * float64(d[0]); math.Abs(seconds-1) > 1e-9 {
			t.Errorf("size %d has a weight of %g, want 1", d[0], seconds)
		}
	}
}

// scaling is a run that calls dscal so often for each size, which takes as many seconds.
func scaling(t *testing.T, calls map[int64]int) *RunCalls {
	t.Helper()
	r := &RunCalls{}
	n := r.Kernel(Kernel{Name: "dscal", Dims: dimsN}, func(d *[4]int64) float64 { return float64(d[0]) })
	for size, number := range calls {
		for range number {
			add(t, r, n, [4]int64{size})
		}
	}
	return r
}

// TestRunOfSize: a size that two runs have is timed in the matrix of the run that spends more of its time on
// it: 1 of 10 s, or 2 of 2.
func TestRunOfSize(t *testing.T) {
	all := &RunCalls{}
	for _, calls := range []map[int64]int{{1: 1, 9: 1}, {1: 2}} {
		addRun(t, all, scaling(t, calls))
	}
	if one, nine := all.kernels[0].calls[[4]int64{1}], all.kernels[0].calls[[4]int64{9}]; one.run != 1 || nine.run != 0 {
		t.Errorf("runs %d and %d, want 1 and 0", one.run, nine.run)
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
