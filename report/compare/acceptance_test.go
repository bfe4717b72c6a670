package compare

import (
	"bytes"
	"math/rand/v2"
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
	workers := runtime.GOMAXPROCS(0)
	e, err := replay.Runs(t.Context(), o, replay.RunsOptions{Runs: runs, Workers: workers}, func(o replay.Options) (*replay.Result, error) {
		tr, err := open()
		if err != nil {
			return nil, err
		}
		return replay.Run(t.Context(), tr, m, o)
	})
	noError(t, err)
	var text bytes.Buffer
	noError(t, replay.NewEnsembleReport(e, replay.Provenance{Tool: "replay test"}).WriteJSON(&text))
	r, err := Read("runs", &text)
	noError(t, err)
	return r
}

// hplOn returns HPL on 2x2 ranks of Dahu.
func hplOn(t *testing.T, n, nb int, kernels string) (func() (*trace.Trace, error), replay.Machine, replay.Options) {
	t.Helper()
	p := hpl.DefaultParams(n, 2, 2)
	p.NB = nb
	var file bytes.Buffer
	noError(t, hpl.Generate(t.Context(), &file, p, hpl.Options{}))
	open := func() (*trace.Trace, error) {
		return trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "hpl")
	}
	tr, err := open()
	noError(t, err)
	defer tr.Close()
	m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "dahu", Kernels: kernels}, tr)
	noError(t, err)
	return open, m, o
}

const noisy, quiet = "testdata/noisy.yaml", "testdata/quiet.yaml"

// TestFindsBlockSize: ten seeds on a noisy platform tell NB = 128 from 120, and which is the
// slower one: that which is slower without noise.
func TestFindsBlockSize(t *testing.T) {
	makespan := func(nb int) float64 {
		open, m, o := hplOn(t, 2000, nb, quiet)
		tr, err := open()
		noError(t, err)
		defer tr.Close()
		r, err := replay.Run(t.Context(), tr, m, o)
		noError(t, err)
		return r.Makespan
	}
	truth := makespan(128)/makespan(120) - 1
	t.Logf("without noise NB = 128 takes %+.2f %%", 100*truth)
	a, b := replayHPL(t, 2000, 120, noisy, 1, 10), replayHPL(t, 2000, 128, noisy, 101, 10)
	for _, test := range []Test{Welch, Permutation} {
		forth, err := Compare(a, []*Result{b}, Options{Test: test, Gate: true, Seed: 1})
		noError(t, err)
		back, err := Compare(b, []*Result{a}, Options{Test: test, Gate: true, Seed: 1})
		noError(t, err)
		if forth.Worse != (truth > 0) || back.Worse != (truth < 0) {
			t.Errorf("%s: worse from 120 to 128: %t, back: %t", test, forth.Worse, back.Worse)
		}
		d := forth.Others[0].Makespan
		if d.Verdict == Unclear || (d.Difference > 0) != (truth > 0) {
			t.Errorf("%s: %+v", test, d)
		}
	}
}

// TestFalseAlarms: between two sets of ten seeds of one configuration, drawn 2,000 times from 64 replays, a gate at 0 %
// alarms in 5 % of cases, as a limit of 95 % confidence should: within 3.5 and 6.5 %.
func TestFalseAlarms(t *testing.T) {
	const trials, least, most = 2000, 70, 130
	pool := replayHPL(t, 500, 64, noisy, 1, 64)
	some := func(which []int) *Result {
		var values []float64
		for _, i := range which {
			values = append(values, pool.makespan.values[i])
		}
		r := *pool
		r.makespan = MeanFigure(values)
		return &r
	}
	r := rand.New(rand.NewPCG(7, 7))
	drawn := unpaired(10, 10, 1)[:2000]
	alarms := map[Test]int{}
	for range trials {
		order := r.Perm(64)
		a, b := some(order[:10]), some(order[10:20])
		c, err := Compare(a, []*Result{b}, Options{Gate: true})
		if err != nil {
			t.Fatal(err)
		}
		if c.Worse {
			alarms[Welch]++
		}
		p := newPair(a.makespan, b.makespan, false)
		p.arrangements = drawn
		if p.rearranged(identity, true) <= significance {
			alarms[Permutation]++
		}
	}
	for _, test := range []Test{Welch, Permutation} {
		if n := alarms[test]; n < least || n > most {
			t.Errorf("%s: %d of %d trials alarm, want %d to %d", test, n, trials, least, most)
		}
	}
}
