package hpcg

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"reprise/trace"
)

// TestOracleRating: from its own times HPCG's rating follows, to the digits that it prints
// them with (six).
func TestOracleRating(t *testing.T) {
	for name, c := range oracleCases(t) {
		value := func(key string) float64 {
			v, err := strconv.ParseFloat(c.Report[key], 64)
			if err != nil {
				t.Fatal(err)
			}
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
		s, err := NewSummary(header(&p, &Options{}), cg, setup)
		if err != nil {
			t.Fatal(err)
		}
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
	s, err := NewSummary(h, func(phase string) float64 { return times[phase] }, 10)
	if err != nil {
		t.Fatal(err)
	}
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
