package measure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/noise"
)

func TestParseSize(t *testing.T) {
	if got, err := ParseSize("10x20x30"); err != nil || got != (Size{10, 20, 30}) || got.String() != "10x20x30" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"", "10", "10x20", "10x20x30x40", "0x1x1", "-1x1x1", "1x1x2147483648", "axbxc", "1 x 1 x 1"} {
		if _, err := ParseSize(text); err == nil {
			t.Errorf("%q is a size", text)
		}
	}
}

// TestBytes: 8·(10·30 + 30·20 + 10·20) = 8,800; the largest dimensions do not overflow.
func TestBytes(t *testing.T) {
	if got := (Size{10, 20, 30}).Bytes(); got != 8800 {
		t.Errorf("%d bytes, want 8800", got)
	}
	if got := (Size{maxDim, maxDim, maxDim}).Bytes(); got != math.MaxInt64/2 {
		t.Errorf("%d bytes, want the most", got)
	}
	if got := (Size{10, 20, 30}).Flop(); got != 12000 {
		t.Errorf("%g flop, want 12000", got)
	}
}

// TestRandomSizes: a third has a block size as K, in a third N and K are at most one. The
// logarithm of a dimension is uniform: of 3,000, those below the square root of 2,048 are a half, within six
// standard deviations of sqrt(3000)/2; whole parts take a half to log(46)/log(2049) = 0.502.
func TestRandomSizes(t *testing.T) {
	o, source := DefaultOptions(), noise.NewSource(3)
	below := 0
	for i := range 3000 {
		s := randomSize(source, i, &o)
		if min(s.M, s.N, s.K) < 1 || max(s.M, s.N, s.K) > o.MaxDim {
			t.Fatalf("size %v", s)
		}
		switch i % 3 {
		case 1:
			if !slices.Contains(o.BlockSizes, s.K) {
				t.Errorf("update %v: K is no block size", s)
			}
		case 2:
			if max(s.N, s.K) > 256 {
				t.Errorf("panel %v: N or K above the largest block size", s)
			}
		}
		if s.M < 46 {
			below++
		}
	}
	if mean, bound := 0.502*3000, 6*math.Sqrt(3000)/2; math.Abs(float64(below)-mean) > bound {
		t.Errorf("%d below the square root, want %g within %g", below, mean, bound)
	}
	o.BlockSizes, o.MaxDim = nil, 1
	if s := randomSize(source, 1, &o); s != (Size{1, 1, 1}) {
		t.Errorf("size %v, want 1x1x1", s)
	}
}

// TestPlan: each worker times each size as often as asked for, in an order that the
// seed determines.
func TestPlan(t *testing.T) {
	o := DefaultOptions()
	o.Sizes, o.Reps = 7, 3
	plan := func(seed uint64) *Plan {
		o.Seed = seed
		p, err := NewPlan(o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p, again, other := plan(1), plan(1), plan(2)
	times := map[Call]int{}
	for _, c := range p.Calls {
		times[c]++
	}
	if len(times) != 7*len(p.Groups) || len(p.Calls) != 21*len(p.Groups) {
		t.Errorf("%d calls of %d kinds on %d workers", len(p.Calls), len(times), len(p.Groups))
	}
	for c, n := range times {
		if n != 3 {
			t.Errorf("%+v: %d times, want 3", c, n)
		}
	}
	if !slices.Equal(p.Calls, again.Calls) || !slices.Equal(p.Sizes, again.Sizes) {
		t.Error("the same seed has another plan")
	}
	if slices.Equal(p.Calls, other.Calls) || slices.Equal(p.Sizes, other.Sizes) {
		t.Error("another seed has the same plan")
	}
	if slices.IsSortedFunc(p.Calls, func(a, b Call) int { return a.Size - b.Size }) {
		t.Error("not shuffled")
	}
}

func TestGroups(t *testing.T) {
	allowed, err := allowedCores()
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Threads = len(allowed)
	p, err := NewPlan(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Groups) != 1 || !slices.Equal(p.Groups[0], allowed) {
		t.Errorf("groups %v, want all of %v in one", p.Groups, allowed)
	}
	if got := (&Plan{Groups: [][]int{{0, 2}, {5, 7}}}).Cores(); got != "0,2; 5,7" {
		t.Errorf("cores %s, want 0,2; 5,7", got)
	}
	o.Threads, o.Cores = 1, allowed[:1]
	if p, err = NewPlan(o); err != nil || p.Bytes() != 8*p.largest() {
		t.Errorf("%d bytes, %v", p.Bytes(), err)
	}
}

func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"random sizes: 0":          func(o *Options) { o.Sizes = 0 },
		"largest dimension: 0":     func(o *Options) { o.MaxDim = 0 },
		"largest dimension: 3":     func(o *Options) { o.MaxDim = 1<<31 + 1<<30 },
		"timings of each size: -1": func(o *Options) { o.Reps = -1 },
		"calls to warm up: -1":     func(o *Options) { o.WarmUp = -1 },
		"threads: 0":               func(o *Options) { o.Threads = 0 },
		"bytes of memory: 0":       func(o *Options) { o.Memory = 0 },
		"block size 0":             func(o *Options) { o.BlockSizes = []int64{0} },
		"budget -1s":               func(o *Options) { o.Budget = -1e9 },
		"size 20000x20000x20000: matrices of 8.9 GiB, more than the 256 MiB": func(o *Options) { o.MaxDim = 20000 },
		"size 2147483647x2147483647x1: matrices of":                          func(o *Options) { o.Given = []Size{{maxDim, maxDim, 1}} },
		"size 0x1x1, want":      func(o *Options) { o.Given = []Size{{0, 1, 1}} },
		"core 4000: this":       func(o *Options) { o.Cores = []int{4000} },
		"twice":                 func(o *Options) { c, _ := allowedCores(); o.Cores = []int{c[0], c[0]} },
		"want a divisor":        func(o *Options) { c, _ := allowedCores(); o.Cores, o.Threads = c[:1], 2 },
		"timings, want at most": func(o *Options) { o.Sizes, o.Reps = maxSizes, 1<<20 },
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := NewPlan(o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with %q", err, want)
		}
	}
}
