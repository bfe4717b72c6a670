package replay_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/trace"
)

func step(n int64) trace.Action {
	return trace.Action{Kind: trace.KindStep, X: [4]int64{n}}
}

// TestBegins: rank 0 takes 1 s and 2 s for its two steps, rank 1 takes 3 s and 1 s.
func TestBegins(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.StepStarts, b.From, b.To = true, 7, 9
	res := b.run(t,
		[]trace.Action{step(7), sleep(1), step(8), sleep(2)},
		[]trace.Action{step(7), sleep(3), step(8), sleep(1)})
	want := []replay.StepStart{{Mean: 0, Last: 0, Parts: slept(0)}, {Mean: 2, Last: 3, Parts: slept(2)}, {Mean: 3.5, Last: 4, Parts: slept(3.5)}}
	if diff := cmp.Diff(want, res.StepStarts); diff != "" {
		t.Error(diff)
	}
}

// slept are the accounts of ranks that have only slept, without kernels and phases.
func slept(seconds float64) []float64 {
	parts := make([]float64, replay.TimeOverhead+1)
	parts[replay.TimeSleep] = seconds
	return parts
}

// TestBeginsParts: rank 0 runs a kernel of N ms for 1 s and then 2 s, in a phase that begins
// with it and ends in step 8; rank 1 computes 3 Gflop at 1 Gflop/s in step 7 and waits
// for a message in step 8 that comes after 1e-4 + (984+16)/125e6 = 1.08e-4 s: rank 0 sends at 1 s.
// The transfer starts at 3 s, when the receive is posted. Half of each is that of the mean rank.
func TestBeginsParts(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  work: {terms: {N: 1e-3}}\n", "work")
	b.header.Phases = []string{"busy"}
	b.StepStarts, b.From, b.To = true, 7, 9
	phase := func(flags uint8) trace.Action { return trace.Action{Kind: trace.KindPhase, Flags: flags} }
	flops := trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(3e9)}}
	res := b.run(t,
		[]trace.Action{step(7), phase(0), compute(0, 1000), step(8), send(1, 0, 984), compute(0, 2000), phase(trace.FlagEnd)},
		[]trace.Action{step(7), flops, step(8), recv(0, 0, 984)})
	const kernel, busy = int(replay.TimeOverhead) + 1, int(replay.TimeOverhead) + 2
	for i, want := range []map[int]float64{
		{},
		{int(replay.TimeCompute): 2, kernel: 0.5, busy: 0.5},
		{int(replay.TimeCompute): 3, int(replay.TimeRecv): 1.08e-4 / 2, kernel: 1.5, busy: 1.5},
	} {
		for j, got := range res.StepStarts[i].Parts {
			if math.Abs(got-want[j]) > 1e-12 {
				t.Errorf("part %d when step %d begins: %v s, want %v s", j, 7+i, got, want[j])
			}
		}
	}
}

func TestBeginsErrors(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.StepStarts = true
	lists := [][]trace.Action{{step(0), sleep(1)}, {sleep(1)}}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 0, "between two steps"}, {3, 2, "between two steps"}, {-1, 2, "between two steps"}, {0, 1, "1 of 2 ranks begin step 0"},
	} {
		b.From, b.To = c.from, c.to
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(lists), b.Machine, b.Options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("steps [%d,%d): %v, want %s", c.from, c.to, err, c.want)
		}
	}
}
