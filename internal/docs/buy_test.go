package docs

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// This file checks what study buy promises: the commands beside a number give that number.

// testBuy runs the commands of a result, as somebody does who doubts its numbers.
func testBuy(t *testing.T, bin string) {
	s := newShell(t, bin)
	type figure struct {
		Gflops, Value, Low, High float64
		Draws                    int
		Commands                 []string
	}
	var r struct {
		Machines []struct {
			HPCG    *figure
			Usual   *figure `json:"hpl_untuned"`
			Peak    float64 `json:"peak_gflops"`
			Changes []struct {
				Name string
				HPL  *figure
			}
		}
	}
	must(t, json.Unmarshal([]byte(s.mustRun(t, "study buy sheet.yaml --draws 3 --quiet --json", 0)), &r))
	m := r.Machines[0]
	list := []*figure{m.Usual, m.HPCG}
	for _, c := range m.Changes {
		if strings.HasPrefix(c.Name, "memory") {
			list = append(list, c.HPL)
		}
	}
	if len(list) != 3 {
		t.Fatalf("%+v", m)
	}
	var base []float64 // draws of the first
	for _, f := range list {
		type interval struct{ Mean, Low, High float64 }
		var stated struct {
			Gflops float64
			HPCG   struct {
				Rating float64 `json:"gflops_rating"`
			}
		}
		var drawn struct {
			Gflops interval
			Rating *interval `json:"gflops_rating"`
			Draws  []struct{ Gflops float64 }
		}
		n := len(f.Commands)
		for _, c := range f.Commands[:n-2] {
			if strings.HasPrefix(c, "(") {
				c = "sh -c '" + c + "'"
			}
			s.mustRun(t, c, 0)
		}
		must(t, json.Unmarshal([]byte(s.mustRun(t, f.Commands[n-2]+" --json", 0)), &stated))
		must(t, json.Unmarshal([]byte(s.mustRun(t, f.Commands[n-1]+" --json", 0)), &drawn))
		rate, of := stated.Gflops, drawn.Gflops
		if drawn.Rating != nil {
			rate, of = stated.HPCG.Rating, *drawn.Rating
		}
		if rate != f.Gflops {
			t.Errorf("%s: %v Gflop/s, study buy has %v", f.Commands[n-2], rate, f.Gflops)
		}
		if f.Draws != len(drawn.Draws) {
			t.Errorf("%s: %d draws, study buy has %d", f.Commands[n-1], len(drawn.Draws), f.Draws)
		}
		if f != list[2] {
			// An interval ends at the peak, and has the rate in it.
			if low, high := min(of.Low, rate), max(rate, min(of.High, m.Peak)); low != f.Low || high != f.High {
				t.Errorf("%s: %v to %v, study buy has %v to %v", f.Commands[n-1], low, high, f.Low, f.High)
			}
			if base == nil {
				for _, d := range drawn.Draws {
					base = append(base, d.Gflops)
				}
			}
			continue
		}
		// A difference is that of two commands: the interval of three logarithms, by Student's t of two degrees of
		// freedom, 1.885618 for 80 %.
		mean, squares, logs := 0., 0., []float64(nil)
		for i, d := range drawn.Draws {
			logs = append(logs, math.Log(d.Gflops/base[i]))
			mean += logs[i] / 3
		}
		for _, l := range logs {
			squares += (l - mean) * (l - mean) / 2
		}
		half := 1.885618 * math.Sqrt(squares*(1+1./3))
		low, high := min(f.Value, math.Exp(mean-half)-1), max(f.Value, math.Exp(mean+half)-1)
		if math.Abs(f.Low-low) > 1e-6 || math.Abs(f.High-high) > 1e-6 {
			t.Errorf("%s: %v to %v, study buy has %v to %v", f.Commands[n-1], low, high, f.Low, f.High)
		}
	}
}
