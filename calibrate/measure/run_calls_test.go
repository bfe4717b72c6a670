package measure

import (
	"math"
	"slices"
	"testing"
)

// flopOfGemm guesses a second for a multiplication and an addition.
func flopOfGemm(d *[4]int64) float64 { return float64(d[0] * d[1] * d[2]) }

var gemm = Kernel{"dgemm", []Attr{{"transa", "N"}, {"transb", "N"}}, []string{"M", "N", "K"}}

// TestChoose: of 1,000 calls of 1 s, 10 of 100 s and 2 of 1,000 s (4,000 s in all, of which calls up to 100 s are
// a half), and ten that are empty, two sizes are the one at the middle of the time, then that at the middle of the calls.
func TestChoose(t *testing.T) {
	r := NewRunCalls()
	k := r.Kernel(gemm, flopOfGemm)
	add := func(d [4]int64, calls int) {
		for range calls {
			if err := r.Add(k, d); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, hundred, thousand := [4]int64{1, 1, 1}, [4]int64{10, 10, 1}, [4]int64{10, 10, 10}
	add(one, 1000)
	add(hundred, 10)
	add(thousand, 2)
	add([4]int64{0, 5, 5}, 10)
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
	r := NewRunCalls()
	k := r.Kernel(gemm, flopOfGemm)
	for m := range int64(1000) {
		if err := r.Add(k, [4]int64{m + 1, 1, 1}); err != nil {
			t.Fatal(err)
		}
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
	r := NewRunCalls()
	swap := r.Kernel(Kernel{"dlocswpT", nil, []string{"JB", "ROLE"}}, flopOfGemm)
	rows := r.Kernel(Kernel{"dlaswp04T", nil, []string{"M0", "M1", "N"}}, flopOfGemm)
	for _, c := range []struct {
		kernel int
		dims   [4]int64
		sizes  int
	}{
		{swap, [4]int64{8, 0}, 1}, {swap, [4]int64{0, 1}, 1}, {rows, [4]int64{0, 3, 5}, 2}, {rows, [4]int64{2, 0, 5}, 3}, {rows, [4]int64{0, 0, 5}, 3}, {rows, [4]int64{1, 1, 0}, 3},
	} {
		if err := r.Add(c.kernel, c.dims); err != nil {
			t.Fatal(err)
		}
		if r.Sizes() != c.sizes {
			t.Errorf("after %v: %d sizes, want %d", c.dims, r.Sizes(), c.sizes)
		}
	}
}

// TestAddRun: a run of one call of 8 s and one of a million calls of 1 s, which make one size
// each, count alike: of the time in between, both have half.
func TestAddRun(t *testing.T) {
	guess := func(d *[4]int64) float64 { return float64(d[0]) }
	k := Kernel{Name: "dscal", Dims: []string{"N"}}
	all := NewRunCalls()
	for size, calls := range map[int64]int{8: 1, 1: 1000000} {
		r := NewRunCalls()
		n := r.Kernel(k, guess)
		for range calls {
			if err := r.Add(n, [4]int64{size}); err != nil {
				t.Fatal(err)
			}
		}
		if err := all.AddRun(r); err != nil {
			t.Fatal(err)
		}
	}
	if len(all.kernels) != 1 || all.Sizes() != 2 {
		t.Fatalf("%d kernels and %d sizes, want 1 and 2", len(all.kernels), all.Sizes())
	}
	for d, calls := range all.kernels[0].calls {
		if seconds := calls.number * guess(&d); math.Abs(seconds-1) > 1e-9 {
			t.Errorf("size %d has a weight of %g, want 1", d[0], seconds)
		}
	}
}

// TestRunOfSize: a size that two runs have is timed in the matrix of the run that spends more of its time on it: 1 of 10 s,
// or 2 of 2.
func TestRunOfSize(t *testing.T) {
	k := Kernel{Name: "dscal", Dims: []string{"N"}}
	all := NewRunCalls()
	for _, others := range []int64{9, 1} {
		r := NewRunCalls()
		n := r.Kernel(k, func(d *[4]int64) float64 { return float64(d[0]) })
		for _, size := range []int64{1, others} {
			if err := r.Add(n, [4]int64{size}); err != nil {
				t.Fatal(err)
			}
		}
		if err := all.AddRun(r); err != nil {
			t.Fatal(err)
		}
	}
	if one, nine := all.kernels[0].calls[[4]int64{1}], all.kernels[0].calls[[4]int64{9}]; one.run != 1 || nine.run != 0 {
		t.Errorf("runs %d and %d, want 1 and 0", one.run, nine.run)
	}
}
