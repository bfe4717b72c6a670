package hpcg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/stat"
	"reprise/trace/verify"
)

// TestFlops: the flop of all calls, by their rows and nonzeros, are HPCG's formulas to the
// last digit, on the grid of Fugaku's run and on others.
func TestFlops(t *testing.T) {
	slabs := DefaultParams(12, 16)
	slabs.NZ, slabs.PZ, slabs.ZL, slabs.ZU = 0, 1, 32, 16
	sets := DefaultParams(30, 24)
	sets.Sets, sets.Iterations = 3, 53
	for _, p := range []Params{DefaultParams(1, 16), DefaultParams(7, 32), sets, slabs, DefaultParams(158976, 104)} {
		tr := open(t, p)
		report := must(stat.Of(tr, stat.Options{}))
		if _, err := p.Complete(); err != nil {
			t.Fatal(err)
		}
		if got, want := report.Totals.Flops, Total(p.Flops()); got != want || tr.Header().Flops != want {
			t.Errorf("%v: %.0f flop, header %.0f, want %.0f", p.Grid, got, tr.Header().Flops, want)
		}
		for i, part := range partNames {
			for _, phase := range report.Phases {
				if phase.Phase == part && phase.Totals.Flops != p.Flops()[i] {
					t.Errorf("%v: %s: %.0f flop, want %.0f", p.Grid, part, phase.Totals.Flops, p.Flops()[i])
				}
			}
		}
	}
}

// TestSize: the trace of Fugaku's run takes at most 200 kB.
func TestSize(t *testing.T) {
	var file bytes.Buffer
	if err := Generate(t.Context(), &file, DefaultParams(158976, 104), Options{}); err != nil || file.Len() > 200_000 {
		t.Errorf("%d bytes, %v", file.Len(), err)
	}
}

// TestTraffic: 104^3 points, an interior rank has 26 neighbours; a set has 50 iterations of
// 11 exchanges and one more, 151 reductions, 350 symgs and 201 spmv. On the grid 3x3x3 the
// ranks have 2*2*2 (corners) to 3*3*3 (the inner one) positions around, themselves included:
// 7^3 pairs in all, 7 = 2 + 3 + 2, of which 27 are no messages.
func TestTraffic(t *testing.T) {
	report := must(stat.Of(open(t, DefaultParams(27, 104)), stat.Options{}))
	if got, want := report.Totals.Messages, int64((7*7*7-27)*(50*11+1)); got != want {
		t.Errorf("%d messages, want %d", got, want)
	}
	for _, k := range report.Kinds {
		if k.Kind == "allreduce" && k.Actions != 27*151 {
			t.Errorf("%d reductions, want %d", k.Actions, 27*151)
		}
	}
	for _, k := range report.Kernels {
		if want, ok := map[string]int64{"symgs": 350, "spmv": 201}[k.Kernel]; ok && k.Calls != 27*want {
			t.Errorf("%d calls of %s, want %d", k.Calls, k.Kernel, 27*want)
		}
	}
}

// TestVerify: on random parameters what is sent is received, with its size.
func TestVerify(t *testing.T) {
	random, runs := rand.New(rand.NewPCG(1, 2)), 20
	if testing.Short() {
		runs = 7
	}
	for done := 0; done < runs; {
		p := DefaultParams(1+random.IntN(60), 0)
		side := func() int { return 8 * (2 + random.IntN(4)) }
		p.NX, p.NY, p.NZ = side(), side(), side()
		p.Iterations, p.Phase = 50, Phase(random.IntN(2))
		if random.IntN(2) == 0 {
			p.NZ, p.PZ, p.ZL, p.ZU = 0, 1, side(), side()
		}
		if _, err := p.Complete(); err != nil {
			continue // such as 11x1x1
		}
		done++
		if _, err := verify.Trace(open(t, p), nil); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestStops: a canceled context and a bad writer end the generator.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Generate(ctx, &bytes.Buffer{}, DefaultParams(8, 16), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	read, write := io.Pipe()
	read.Close()
	if err := Generate(context.Background(), write, DefaultParams(8, 16), Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
	if err := Generate(context.Background(), &bytes.Buffer{}, DefaultParams(11, 16), Options{}); err == nil {
		t.Error("11 ranks, which HPCG refuses")
	}
}

// TestBroadcast: parameters of an hpcg.dat are ten integers of 4 bytes from rank 0; those of a
// command line are nobody's message.
func TestBroadcast(t *testing.T) {
	p := DefaultParams(2, 16)
	p.Phase = All
	if first := list(t, open(t, p), 1)[0]; first != "begin generate 0" {
		t.Errorf("flags: first line %q", first)
	}
	p.FromFile = true
	if first := list(t, open(t, p), 1)[0]; first != "bcast 10 4 0" {
		t.Errorf("hpcg.dat: first line %q", first)
	}
}

// bruteGrid is the rule over its own definition: cases by the number of primes, else the
// least surface over all ordered triples, the first one in the order of exponents.
func bruteGrid(n int) Grid {
	var primes []int // with repetition
	for m, d := n, 2; m > 1; d++ {
		for ; m%d == 0; m /= d {
			primes = append(primes, d)
		}
	}
	distinct := slices.Compact(slices.Clone(primes))
	switch {
	case len(distinct) <= 1: // q + 1 for the first r directions
		g := [3]int{1, 1, 1}
		for i, p := range primes {
			g[i%3] *= p
		}
		return Grid{g[0], g[1], g[2]}
	case len(distinct) == 2 && len(primes) == 2:
		return Grid{primes[0], primes[1], 1}
	case len(distinct) == 2 && len(primes) == 3:
		return Grid{distinct[0], distinct[1], primes[1]} // the middle of three is the repeated one
	case len(distinct) == 3 && len(primes) == 3:
		return Grid{primes[0], primes[1], primes[2]}
	}
	var best Grid
	least := 3*n + 1
	for _, x := range counted(n, distinct) {
		for _, y := range counted(n/x, distinct) {
			if z := n / x / y; x*y+y*z+x*z < least {
				best, least = Grid{x, y, z}, x*y+y*z+x*z
			}
		}
	}
	return best
}

// counted lists the divisors of n but 1, found by trial, by exponents: that of the largest
// prime decides first.
func counted(n int, primes []int) []int {
	var list []int
	for d := 2; d <= n; d++ {
		if n%d == 0 {
			list = append(list, d)
		}
	}
	exponent := func(d, p int) (e int) {
		for ; d%p == 0; d /= p {
			e++
		}
		return e
	}
	slices.SortFunc(list, func(a, b int) int {
		for _, p := range slices.Backward(primes) {
			if c := exponent(a, p) - exponent(b, p); c != 0 {
				return c
			}
		}
		return 0
	})
	return list
}

func TestChooseGrid(t *testing.T) {
	most := 20000
	if testing.Short() {
		most = 2000
	}
	for n := 1; n <= most; n++ {
		if got, want := ChooseGrid(n), bruteGrid(n); got != want || got.Ranks() != n {
			t.Fatalf("%d ranks: %v, want %v", n, got, want)
		}
	}
}

// FuzzChooseGrid: whatever the number of ranks, the grid has as many.
func FuzzChooseGrid(f *testing.F) {
	f.Add(158976)
	f.Fuzz(func(t *testing.T, n int) {
		if n = n % (1 << 24); n < 1 {
			return
		}
		if g := ChooseGrid(n); g.Ranks() != n || min(g.NX, g.NY, g.NZ) < 1 {
			t.Errorf("%d ranks: %v", n, g)
		}
	})
}

// Grids that runs of HPCG reported, and that its rule gives by hand.
func TestChooseGridKnown(t *testing.T) {
	for n, want := range map[int]Grid{
		1: {1, 1, 1}, 2: {2, 1, 1}, 3: {3, 1, 1}, 4: {2, 2, 1}, 6: {2, 3, 1}, 7: {7, 1, 1}, 8: {2, 2, 2},
		12: {2, 3, 2}, 18: {2, 3, 3}, 24: {2, 4, 3}, 27: {3, 3, 3}, 30: {2, 3, 5}, 32: {4, 4, 2}, 64: {4, 4, 4},
	} {
		if got := ChooseGrid(n); got != want {
			t.Errorf("%d ranks: %v, want %v", n, got, want)
		}
	}
}

// TestOracleRating: from its own times HPCG's rating follows, to the digits that it prints
// them with (six).
func TestOracleRating(t *testing.T) {
	for name, c := range oracleCases(t) {
		value := func(key string) float64 {
			v := must(strconv.ParseFloat(c.Report[key], 64))
			return v
		}
		p := c.params(t, Timed)
		if _, err := p.Complete(); err != nil {
			t.Fatal(err)
		}
		cg := func(phase string) float64 {
			return map[string]float64{"CG": value("Benchmark Time Summary::Total")}[phase]
		}
		setup := value("Setup Information::Setup Time") + value("Benchmark Time Summary::Optimization phase")
		s := must(NewSummary(header(&p, &Options{}), cg, setup))
		if want := value("HPCG result is VALID with a GFLOP/s rating of"); math.Abs(s.Rating-want) > 2e-5*want {
			t.Errorf("%s: rating %g, want %g", name, s.Rating, want)
		}
	}
}

// TestSummary: a grid of 16^3 points on one rank, 2 sets of 100 iterations. N = 4096, and
// Z_k = (3*16/2^k - 2)^3 = 97336, 10648, 1000, 64; I = 200.
func TestSummary(t *testing.T) {
	p := DefaultParams(1, 16)
	p.Sets, p.Iterations = 2, 100
	if _, err := p.Complete(); err != nil {
		t.Fatal(err)
	}
	vectors := 2.0 * 4096 * (3*200 + 2)
	spmv := 2.0 * 97336 * (200 + 2)
	mg := 200.0 * (10*(97336+10648+1000) + 4*64)
	sum := 2*vectors + spmv + mg
	times := map[string]float64{"DDOT": 0.5, "WAXPBY": 0, "SpMV": 2, "MG": 4, "CG": 8, "halo": 1}
	h := header(&p, &Options{})
	s := must(NewSummary(h, func(phase string) float64 { return times[phase] }, 10))
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"DDOT", s.Gflops.DDOT, vectors / 0.5 / 1e9}, {"WAXPBY", s.Gflops.WAXPBY, 0}, {"SpMV", s.Gflops.SpMV, spmv / 2 / 1e9},
		{"MG", s.Gflops.MG, mg / 4 / 1e9}, {"total", s.Gflops.Total, sum / 8 / 1e9}, {"convergence", s.WithConvergence, sum / 2 / 8 / 1e9},
		{"rating", s.Rating, sum / 2 / (8 + 2*10*0.1) / 1e9}, {"2.4", s.Rating24, sum / 2 / 8 / 1e9},
	} {
		if math.Abs(c.got-c.want) > 1e-14*c.want {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("Final Summary::HPCG result is VALID with a GFLOP/s rating of=%.6g\n", sum/2/10/1e9); !strings.Contains(text.String(), want) {
		t.Errorf("%s\nlacks %s", text.String(), want)
	}
	if _, err := NewSummary(h, func(string) float64 { return 0 }, 0); err == nil || err.Error() != "no time in phase CG" {
		t.Errorf("no time: error %v", err)
	}
	if _, err := NewSummary(&trace.Header{}, func(string) float64 { return 1 }, 0); err == nil {
		t.Error("a header of something else")
	}
}

// must returns a value that tests need.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
