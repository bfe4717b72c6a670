package replay_test

import (
	"testing"

	"reprise/kernels/noise"
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

// TestComputeNoise: amounts with a spread are drawn by the name of their place, the rank, the
// step, and their number in it, and scaled; others, and all without the option, are as they are.
// The host has a core of 1 Gf.
func TestComputeNoise(t *testing.T) {
	flops := func(mean, spread float64) trace.Action {
		return trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(mean), trace.FloatArg(spread)}}
	}
	step := func(n int64) trace.Action { return trace.Action{Kind: trace.KindStep, X: [4]int64{n}} }
	list := []trace.Action{step(0), flops(2e9, 1e9), flops(3e9, 0), step(1), flops(1e9, 3e9), flops(1e9, 0.5e9)}
	source := noise.NewSource(7)
	drawn := func(rank uint32) float64 {
		return noise.Skewed(2, 1, source.Draw(noise.Computation, rank, 0, 0)) + 3 +
			noise.Skewed(1, 3, source.Draw(noise.Computation, rank, 1, 0)) + noise.Skewed(1, 0.5, source.Draw(noise.Computation, rank, 1, 1))
	}
	for _, c := range []struct {
		name  string
		noise bool
		ranks int
		want  float64
	}{
		{"means", false, 1, 7},
		{"drawn", true, 1, drawn(0)},
		{"drawn on a shared core", true, 2, drawn(0) + drawn(1)},
	} {
		b := newBench(t, star(1), 1)
		b.Hosts, b.header.Ranks, b.Seed, b.ComputeNoise, b.ComputeScale = make([]int32, c.ranks), c.ranks, 7, c.noise, 2
		lists := make([][]trace.Action, c.ranks)
		for r := range lists {
			lists[r] = list
		}
		res := b.run(t, lists...)
		near(t, c.name, res.Makespan, 2*c.want) // of who shares the core: it works all the time
		if (res.Seed != nil) != c.noise {
			t.Errorf("%s: seed %v", c.name, res.Seed)
		}
	}
}
