package study

import (
	"os"
	"path/filepath"
	"testing"

	"reprise/tracegen/hpcg"
)

// TestPrograms: a study of HPCG, and one of a trace of the same run, have the same times; the
// machine and the replay are factors of both.
func TestPrograms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.trace.zst")
	f, err := os.Create(path)
	noError(t, err)
	params := hpcg.DefaultParams(4, 16)
	if _, err := params.Complete(); err != nil {
		t.Fatal(err)
	}
	noError(t, hpcg.Generate(t.Context(), f, params, hpcg.Options{}))
	noError(t, f.Close())
	var makespans [2][]float64
	for i, program := range []string{"hpcg\nparameters: {ranks: 4, nx: 16, ny: 16, nz: 16}", path} {
		p := studyIn(t, "program: "+program+"\nfactors: {bandwidth: [1, 0.5]}\n")
		if w := work(t, p, WorkOptions{}); w.Failed > 0 || w.Made != 2 {
			t.Fatalf("%s: %+v", program, w)
		}
		p, err := Open(p.Dir(), "")
		noError(t, err)
		r := resultsOf(t, p)
		for _, run := range p.Runs {
			out := r.Of(run.ID).Outcome
			if out.Gflops <= 0 {
				t.Errorf("%s: %g Gflop/s", program, out.Gflops)
			}
			makespans[i] = append(makespans[i], out.Makespan)
		}
	}
	if a, b := makespans[0], makespans[1]; a[0] != b[0] || a[1] != b[1] || a[1] <= a[0] {
		t.Errorf("makespans %g of HPCG and %g of its trace, want the same, and longer with half the bandwidth", a, b)
	}
}
