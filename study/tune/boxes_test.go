package tune

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/tracegen/hpcg"
)

// TestRunBoxes: the best of all, each replayed, or one that is not slower by more than what was
// said not to matter, whatever the number of jobs.
func TestRunBoxes(t *testing.T) {
	b := Boxes{Ranks: 4, Memory: 20e6, Fill: 0.9}
	_, list, where, err := b.candidates()
	if err != nil {
		t.Fatal(err)
	}
	spec := replay.MachineSpec{Platform: generic, RanksPerHost: where.perHost}
	most := 0.0
	for i := range list {
		r, err := replayBox(t.Context(), spec, &list[i], 1, "")
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, r.gflops)
	}
	o := BoxOptions{Jobs: 2, Indifference: 0.005, Seed: 1}
	r, err := RunBoxes(t.Context(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %.2f %% below the best, %d of %d replayed", r.Best.Name, 100*(1-r.Gflops/most), r.Replays, len(list))
	if r.Gflops < 0.995*most || r.Replays >= len(list) || r.Indistinct[0] != r.Best {
		t.Errorf("%+v, the best %g Gflops; %d configurations", r, most, len(list))
	}
	o.Jobs = 1
	again, err := RunBoxes(t.Context(), b, o)
	if diff := cmp.Diff(r, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	var p hpcg.Params
	if _, err := p.ReadDat(strings.NewReader(r.Dat), "hpcg.dat"); err != nil || p.Grid.Ranks() != 4 || p.NX*p.NY*p.NZ == 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestCandidates: boxes take a quarter of the memory at least, and the fill at most; 714.7 bytes a
// point are what HPCG reports.
func TestCandidates(t *testing.T) {
	if math.Abs(bytesPerPoint-714.7) > 0.05 {
		t.Errorf("%g bytes a point", bytesPerPoint)
	}
	// 32 ranks of a node of 16 GB have 0.5 GB each: 175,000 to 560,000 points.
	_, list, _, err := (&Boxes{Machine: "dahu", Nodes: 2, Memory: 16e9, Fill: 0.8}).candidates()
	if err != nil {
		t.Fatal(err)
	}
	least, most := math.Inf(1), 0.0
	for _, p := range list {
		points := float64(p.NX) * float64(p.NY) * float64(p.NZ)
		least, most = min(least, points), max(most, points)
		if p.Ranks != 64 || p.Grid.Ranks() != 64 {
			t.Fatalf("%+v", p)
		}
	}
	if least < 174e3 || least > 200e3 || most > 560e3 || most < 530e3 {
		t.Errorf("%g to %g points", least, most)
	}
}

// TestBoxesRefused: what cannot be done is said in one sentence.
func TestBoxesRefused(t *testing.T) {
	for want, b := range map[string]Boxes{
		"the memory of a node is not given":          {Ranks: 8},
		"8 ranks with memory for 2 to 6 points each": {Ranks: 8, Memory: 5e3, Fill: 0.8},
		"11 ranks with memory for":                   {Ranks: 11, Memory: 1e9, Fill: 0.8}, // 1 x 1 x 11: HPCG aborts
		"say how many ranks or nodes":                {Memory: 1e9, Fill: 0.8},
	} {
		if _, err := RunBoxes(t.Context(), b, BoxOptions{Jobs: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// The kernel models of Dahu are those of HPL.
	_, err := RunBoxes(t.Context(), Boxes{Machine: "dahu", Ranks: 8, Memory: 1e9, Fill: 0.8}, BoxOptions{Jobs: 1, Indifference: 0.005})
	if err == nil || strings.Count(err.Error(), "no kernel model for spmv") != 1 {
		t.Error("HPCG on the kernels of HPL:", err)
	}
}
