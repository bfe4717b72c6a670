package compare

import (
	"bytes"
	"runtime"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// replayHPL replays a small HPL with so many seeds, and reads what replay --runs --json prints.
// Kernels are those of a file.
func replayHPL(t *testing.T, n, nb int, kernels string, seed uint64, runs int) *Result {
	t.Helper()
	open, m, o := hplOn(t, n, nb, kernels)
	o.Seed = seed
	e, err := replay.Runs(t.Context(), open, m, o, replay.RunsOptions{Runs: runs, Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := replay.NewEnsembleReport(e, replay.Provenance{Tool: "replay test"}).WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	r, err := Read("runs", &text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hplOn returns HPL on 2x2 ranks of Dahu.
func hplOn(t *testing.T, n, nb int, kernels string) (func() (*trace.Trace, error), replay.Machine, replay.Options) {
	t.Helper()
	p := hpl.DefaultParams(n, 2, 2)
	p.NB = nb
	var file bytes.Buffer
	if err := hpl.Generate(t.Context(), &file, p, hpl.Options{}); err != nil {
		t.Fatal(err)
	}
	open := func() (*trace.Trace, error) {
		return trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "hpl")
	}
	tr, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "dahu", Kernels: kernels}, tr)
	if err != nil {
		t.Fatal(err)
	}
	return open, m, o
}

const noisy, quiet = "testdata/noisy.yaml", "testdata/quiet.yaml"

// TestFindsBlockSize: ten seeds on a noisy platform tell NB = 128 from 120, and which is the
// slower one: that which is slower without noise.
func TestFindsBlockSize(t *testing.T) {
	makespan := func(nb int) float64 {
		open, m, o := hplOn(t, 2000, nb, quiet)
		tr, err := open()
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		r, err := replay.Run(t.Context(), tr, m, o)
		if err != nil {
			t.Fatal(err)
		}
		return r.Makespan
	}
	truth := makespan(128)/makespan(120) - 1
	t.Logf("without noise NB = 128 takes %+.2f %%", 100*truth)
	a, b := replayHPL(t, 2000, 120, noisy, 1, 10), replayHPL(t, 2000, 128, noisy, 101, 10)
	for _, test := range []Test{Welch, Permutation} {
		forth, err := Compare(a, []*Result{b}, Options{Test: test, Gate: true, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		back, err := Compare(b, []*Result{a}, Options{Test: test, Gate: true, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if forth.Worse != (truth > 0) || back.Worse != (truth < 0) {
			t.Errorf("%s: worse from 120 to 128: %t, back: %t", test, forth.Worse, back.Worse)
		}
		d := forth.Others[0].Makespan
		if d.Verdict == Unclear || (d.Difference > 0) != (truth > 0) {
			t.Errorf("%s: %+v", test, d)
		}
	}
}
