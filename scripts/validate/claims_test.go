package main

import (
	"strings"
	"testing"
)

// TestRemovalPays: without nodes the run is quicker by 100/104 - 1 = -3.8 %; by nothing
// in one grid, and not replayed.
func TestRemovalPays(t *testing.T) {
	samples := []sample{{n: 500000, what: "4x64", ours: 100}}
	for _, grid := range []string{"5x50", "5x49", "4x62", "4x61"} {
		samples = append(samples, sample{n: 500000, what: grid, ours: 104})
	}
	if v := removalPays(samples); !v.Reproduced || !strings.HasPrefix(v.Ours, "5x50 −3.8, 5x49 −3.8, ") {
		t.Errorf("%+v", v)
	}
	samples[4].ours = 100
	if v := removalPays(samples); v.Reproduced || v.Untested != "" {
		t.Errorf("%+v", v)
	}
	if v := removalPays(samples[:4]); v.Untested != "no figure of 4x61 with N = 500,000" || v.Reproduced {
		t.Errorf("%+v", v)
	}
}

// TestJudge: a claim that nothing was found about keeps what the table says.
func TestJudge(t *testing.T) {
	before := judge("", []verdict{{Claim: 1, Ours: "ten", Reproduced: true}, {Claim: 2, Ours: "one", Reproduced: false}})
	after := judge(before, []verdict{{Claim: 2, Ours: "two", Reproduced: true}})
	for _, want := range []string{"| ten | above 30 % at 500,000 | yes |\n| 2 |", "| two | both pairs within 1.5 % at the orders replayed | yes |\n| 3 |", "| – | – | not tested: grid and models are not public |"} {
		if !strings.Contains(after, want) {
			t.Errorf("no %q in\n%s", want, after)
		}
	}
	if untested := judge(after, []verdict{{Claim: 1, Ours: "–", Untested: "no machine"}}); !strings.Contains(untested, "| – | above 30 % at 500,000 | not tested: no machine |\n| 2 |") {
		t.Errorf("%s", untested)
	}
	if only := judge("", []verdict{{Claim: 1, Ours: "ten", Reproduced: true, Only: "at night"}}); !strings.Contains(only, "| ten | above 30 % at 500,000 | only at night |\n") {
		t.Errorf("%s", only)
	}
	if again := judge(after, nil); again != after {
		t.Errorf("%s\nwant\n%s", again, after)
	}
}

// TestUnsolved: a grid with 100 Gflops takes 5 % longer than one with 105, 4 % less than
// one with 96.
func TestUnsolved(t *testing.T) {
	samples := []sample{{n: 200000, what: "4x64", replayed: true, smpi: 104, ours: 96, unsolved: 105}, {n: 200000, what: "5x51", replayed: true, smpi: 100, ours: 100, unsolved: 103}}
	large := []sample{{n: 500000, what: "4x64", ours: 100}}
	for _, five := range []string{"5x50", "5x49", "5x48"} {
		samples = append(samples, sample{n: 200000, what: five, ours: 100})
	}
	for _, five := range []string{"5x51", "5x50", "5x49", "5x48"} {
		large = append(large, sample{n: 500000, what: five, ours: 100})
	}
	samples = append(samples, large...)
	v := fiveRows(samples)
	if !v.Reproduced || v.Only == "" || !strings.HasPrefix(v.Ours, "5x51 +5.0, 5x50 +5.0, 5x49 +5.0, 5x48 +5.0 % at 200,000 if") || !strings.Contains(v.Ours, "5x51 −4.0, ") {
		t.Errorf("%+v", v)
	}
	if v := fiveRows(samples[:1]); v.Untested == "" || v.Reproduced {
		t.Errorf("%+v without 5x51", v)
	}
	samples = append(samples, sample{n: 100000, what: "5x51", replayed: true, smpi: 50, ours: 50, unsolved: 51})
	want := "| 4x64 | – | – | – | 104 | −7.69 | +0.96 |\n| 5x51 | 50 | +0.00 | +2.00 | 100 | +0.00 | +3.00 |\n"
	if got := unsolvedTable("grid", []string{"4x64", "5x51"}, samples); !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
	samples[0].ours = 105
	if v := fiveRows(samples); !v.Reproduced || v.Only != "" {
		t.Errorf("%+v", v)
	}
	for i := range samples {
		if samples[i].n == 500000 && samples[i].what == "4x64" {
			samples[i].ours = 104
		}
	}
	if v := fiveRows(samples); v.Reproduced {
		t.Errorf("%+v, bad at large orders as well", v)
	}
}

// TestCommunication: of 8 s, 6 are computation.
func TestCommunication(t *testing.T) {
	r := result{Makespan: 8, Kinds: []share{{"recv", 1}, {"compute", 6}}}
	if v := r.communication(); v != (verdict{Claim: 30, Ours: "25 % of the first five steps", Reproduced: true}) {
		t.Errorf("%+v", v)
	}
}

// TestFarOff: 12 % is far, 9 % is not.
func TestFarOff(t *testing.T) {
	points := []point{{labels: []string{"a", "b"}, ours: 88, smpi: 100, real: 100}, {labels: []string{"c"}, ours: 109, smpi: 91, real: 100}}
	if got, smpi := farOff(points, ourGflops), farOff(points, smpiGflops); got != "a b" || smpi != "none" {
		t.Errorf("%s, %s", got, smpi)
	}
}
