package replay_test

import (
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// TestComputeScale: amounts of flop take so many times as long, shared cores or not; kernels
// and sleeps, as long as ever. The host has a core of 1 Gf.
func TestComputeScale(t *testing.T) {
	flops := trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(2e9)}}
	for _, c := range []struct {
		name   string
		action trace.Action
		ranks  int
		want   float64
	}{
		{"flop", flops, 1, 2 * 1.5},
		{"flop, shared", flops, 2, 2 * 2 * 1.5},
		{"kernel", compute(0, 3), 1, 3 * 0.5},
		{"sleep", sleep(2), 1, 2},
	} {
		b := newBench(t, star(1), 1)
		b.setKernels(t, "version: 1\nunit: s\nkernels: {a: {terms: {N: 0.5}}}\n", "a")
		b.Hosts, b.header.Ranks, b.ComputeScale = make([]int32, c.ranks), c.ranks, 1.5
		lists := make([][]trace.Action, c.ranks)
		for r := range lists {
			lists[r] = []trace.Action{c.action}
		}
		near(t, c.name, b.run(t, lists...).Makespan, c.want)
	}
	b := newBench(t, star(1), 1)
	b.ComputeScale = 0
	if _, err := replay.RunSource(t.Context(), &b.header, nil, b.Machine, b.Options); err == nil || err.Error() != "scale of computations 0, want 1e-09 to 1e+09" {
		t.Errorf("scale 0: %v", err)
	}
}
