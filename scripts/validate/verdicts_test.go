package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"reprise/internal/wording"
)

// judged checks a verdict: "yes", "no" or "untested".
func judged(t *testing.T, list []verdict, claim int, want string) {
	t.Helper()
	i := slices.IndexFunc(list, func(v verdict) bool { return v.Claim == claim })
	if i < 0 {
		t.Errorf("claim %d: no verdict", claim)
		return
	}
	got := map[bool]string{true: "yes", false: "no"}[list[i].Reproduced]
	if list[i].Untested != "" {
		got = "untested"
	}
	if got != want {
		t.Errorf("claim %d: %s (%s %s), want %s", claim, got, list[i].Ours, list[i].Untested, want)
	}
}

// ladderOf is a study in which the machine has 100 Gflops for all orders, and models as
// many more as percent says.
func ladderOf(percent map[string]float64) *modelStudy {
	s := &modelStudy{ours: map[string]sized{}, real: sized{}}
	for _, n := range orders {
		s.real[n] = 100
	}
	for _, model := range slices.Sorted(maps.Keys(percent)) {
		s.steps = append(s.steps, modelStep{name: model})
		s.ours[model] = sized{}
		for _, n := range orders {
			s.ours[model][n] = 100 + percent[model]
		}
	}
	return s
}

// TestLadderClaims: 130 Gflops are 20.4 % above 108, and 108 8.0 % above 100.
func TestLadderClaims(t *testing.T) {
	percent := map[string]float64{"A1": 33, "A2": 33.5, "A1_het": 8.7, "C1": 30, "C1_het": 8, "D1_het": 0, "D2_het": 0.5, "simple": 0.9}
	s := ladderOf(percent)
	s.ours["C1_het"][100000] = 104
	for claim := 1; claim <= 7; claim++ {
		judged(t, s.claims(), claim, "yes")
	}
	for claim, change := range map[int]struct {
		model   string
		percent float64
	}{1: {"A1", 29}, 2: {"D2_het", 1.6}, 3: {"A1_het", 7}, 4: {"C1_het", 9}, 5: {"D1_het", 2.1}, 6: {"simple", -1.1}, 7: {"C1", 40}} {
		other := maps.Clone(percent)
		other[change.model] = change.percent
		judged(t, ladderOf(other).claims(), claim, "no")
		delete(other, change.model)
		judged(t, ladderOf(other).claims(), claim, "untested")
	}
	s.real = sized{}
	for _, claim := range []int{1, 3, 4, 5, 6} {
		judged(t, s.claims(), claim, "untested")
	}
}

// pointsOf are points with labels, separated by commas, and our Gflops. Their order, and
// Gflops of SMPI and the machine, are those of base.
func pointsOf(base point, gflops map[string]float64) []point {
	var points []point
	for _, labels := range slices.Sorted(maps.Keys(gflops)) {
		p := base
		p.labels, p.ours = strings.Split(labels, ";"), gflops[labels]
		points = append(points, p)
	}
	return points
}

// each checks a claim as reproduced, without each of the points untested, and with another
// value for one of them not reproduced.
func each(t *testing.T, claim int, gflops map[string]float64, change string, value float64, claims func(map[string]float64) []verdict) {
	t.Helper()
	judged(t, claims(gflops), claim, "yes")
	for labels := range gflops {
		fewer := maps.Clone(gflops)
		delete(fewer, labels)
		judged(t, claims(fewer), claim, "untested")
	}
	other := maps.Clone(gflops)
	other[change] = value
	judged(t, claims(other), claim, "no")
}

// TestStampedeClaims: the TOP500 run had 5.168 Pflops.
func TestStampedeClaims(t *testing.T) {
	base := point{run: run{hpl: "-N 3875000 -P 1"}}
	each(t, 29, map[string]float64{"fat tree, half duplex": 3.84e6, "no contention": 4.16e6}, "no contention", 4.9e6, func(g map[string]float64) []verdict { return stampedeClaims(pointsOf(base, g)) })
}

func TestCoolingClaims(t *testing.T) {
	base := point{smpi: 100, real: 96}
	each(t, 8, map[string]float64{"good;500,000": 100, "bad;500,000": 87}, "bad;500,000", 95, func(g map[string]float64) []verdict { return coolingClaims(pointsOf(base, g)) })
}

func TestCapacityClaims(t *testing.T) {
	claims := func(g map[string]float64) []verdict { return capacityClaims(pointsOf(point{}, g)) }
	wide := map[string]float64{
		"50,000;16;1250;24;1;sequential": 480, "50,000;1;1250;24;1;sequential": 480, "50,000;16;1250;24;1;random": 490,
		"50,000;1;1.25;24;1;random": 4.4, "50,000;16;1.25;24;1;random": 19.6,
	}
	for k, gflops := range map[string]float64{"1": 10.7, "2": 18.6, "4": 24.3, "8": 28.1, "16": 31.2} {
		wide["50,000;"+k+";1.25;24;1;sequential"] = gflops
	}
	each(t, 31, wide, "50,000;1;1250;24;1;sequential", 460, claims)
	each(t, 32, map[string]float64{
		"50,000;16;1250;24;1;sequential": 480, "50,000;16;1250;240;1;sequential": 130, "50,000;16;12500;24;1;sequential": 465, "50,000;16;125;24;1;sequential": 480,
		"100,000;16;1250;24;1;sequential": 725, "100,000;16;1250;240;1;sequential": 345,
	}, "100,000;16;1250;240;1;sequential", 500, claims)
}

// TestGeometryClaims: four grids stand for all.
func TestGeometryClaims(t *testing.T) {
	grids := []point{{labels: []string{"20", "48"}, ours: 100.5, smpi: 100, real: 100}, {labels: []string{"30", "32"}, ours: 102}, {labels: []string{"32", "30"}, ours: 100}, {labels: []string{"960", "1"}, ours: 10}}
	judged(t, geometryClaims(grids), 10, "yes")
	judged(t, geometryClaims(grids), 14, "yes")
	judged(t, firstNetworkClaims(grids), 9, "no")
	grids[0].ours = 141
	judged(t, firstNetworkClaims(grids), 9, "yes")
	judged(t, geometryClaims(grids), 10, "no")
	judged(t, geometryClaims(grids), 14, "no")
	judged(t, geometryClaims(grids[1:]), 10, "untested")
	judged(t, firstNetworkClaims(grids[1:]), 9, "untested")
	if got := ranking(grids[1:]); got != noRealGrid+"\n" {
		t.Error(got)
	}
}

// TestFactorialClaims: SMPI's one combination is 12 % off the machine, ours too, and the best
// is one along a ring.
func TestFactorialClaims(t *testing.T) {
	points := []point{
		{labels: []string{"128", "0", "1rM", "mix"}, ours: 100, smpi: 100, real: 100},
		{labels: []string{"256", "1", "2rg", "mix"}, ours: 70, smpi: 70, real: 62.5},
	}
	same := []string{"NB, DEPTH", "DEPTH, NB", "NB, DEPTH"}
	claims := func() []verdict { return factorialClaims(points, agree(points, combination), same) }
	for _, claim := range []int{11, 15, 16} {
		judged(t, claims(), claim, "yes")
	}
	points[0].labels[2] = "Lng"
	judged(t, claims(), 16, "no")
	points[1].ours = 65 // 4 % off, where SMPI is 12 % off
	judged(t, claims(), 11, "no")
	points[1].ours = 85
	judged(t, claims(), 15, "no")
}

// samplesOf are replayed samples of one machine, whose time above that of the base,
// with 100 Gflops, are percent.
func samplesOf(base string, percent map[string]map[int]float64) []sample {
	var samples []sample
	for _, n := range studyOrders {
		samples = append(samples, sample{machine: "1", n: n, what: base, ours: 100, unsolved: 100})
		for what, by := range percent {
			if x, ok := by[n]; ok {
				samples = append(samples, sample{machine: "1", n: n, what: what, ours: 100 / (1 + x/100)})
			}
		}
	}
	return samples
}

// variations returns percent without one of the cells, and with another value there.
func variations(percent map[string]map[int]float64, what string, n int, value float64) (fewer, other map[string]map[int]float64) {
	fewer, other = maps.Clone(percent), maps.Clone(percent)
	fewer[what], other[what] = maps.Clone(percent[what]), maps.Clone(percent[what])
	delete(fewer[what], n)
	other[what][n] = value
	return fewer, other
}

func TestTopologyClaims(t *testing.T) {
	percent := map[string]map[int]float64{"3": {500000: 0.3}, "2": {100000: 7.2, 500000: 2.4}, "1": {100000: 36, 500000: 10.4}, oneSwitch: {500000: -2}}
	judged(t, topologyClaims(samplesOf("4", percent)), 24, "yes")
	fewer, other := variations(percent, "2", 100000, 2)
	judged(t, topologyClaims(samplesOf("4", fewer)), 24, "untested")
	judged(t, topologyClaims(samplesOf("4", other)), 24, "no")
}

func TestTemporalClaims(t *testing.T) {
	percent := map[string]map[int]float64{
		"10 %": {100000: 1.0, 200000: 4.2, 300000: 6.1, 400000: 7.2, 500000: 8.7},
		"4 %":  {100000: -0.2, 200000: 0.9, 300000: 1.6, 400000: 1.7, 500000: 2.0},
	}
	y := &synthetic{nodes: map[string][]processor{"1": {{gemm: gemm{mean: polynomial{mnk: 1}, deviation: polynomial{mnk: 0.034}}}}}}
	judged(t, temporalClaims(samplesOf(noNoise, percent), y), 19, "yes")
	judged(t, temporalClaims(samplesOf(noNoise, percent), y), 20, "yes")
	fewer, other := variations(percent, "10 %", 300000, 2)
	judged(t, temporalClaims(samplesOf(noNoise, fewer), y), 19, "untested")
	judged(t, temporalClaims(samplesOf(noNoise, other), y), 19, "no")
}

func TestSpatialClaims(t *testing.T) {
	percent := map[string]map[int]float64{}
	for what, x := range map[string]float64{"8x32": 4.1, "2x128": 11.9, "16x16": 21.8, "1x256": 48, "32x8": 64, "4x63": 0.9, "4x62": 1.9, "4x61": 3, "4x60": 4.3, "5x51": -1, "16x15": 29, "17x15": 25} {
		percent[what] = map[int]float64{500000: x}
	}
	for claim, what := range map[int]string{18: "2x128", 21: "4x63"} {
		judged(t, spatialClaims(samplesOf(allNodes, percent)), claim, "yes")
		fewer, other := variations(percent, what, 500000, -1)
		judged(t, spatialClaims(samplesOf(allNodes, fewer)), claim, "untested")
		judged(t, spatialClaims(samplesOf(allNodes, other)), claim, "no")
	}
}

// TestCell: what is not there is told as the page writes it.
func TestCell(t *testing.T) {
	v := decide(1, map[string]int{"a": 1}, cells(500000, "4x61"), nil)
	if got := v.answer(); got != "not tested: no figure of 4x61 with N = "+wording.Thousands(500000) {
		t.Error(got)
	}
}
