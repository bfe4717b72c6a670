package path_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/replay"
	"reprise/report/path"
	"reprise/trace"
)

// confirm replays with the first what-if: the makespan falls by what the path says, to 10 %
// or 1e-4 of it, or where there are polls to within what they do.
func confirm(t *testing.T, h *trace.Header, play player, m replay.Machine, o replay.Options) path.WhatIf {
	t.Helper()
	res, d := play.run(t, h, m, o)
	first := d.WhatIfs[0]
	gain := func(change float64) float64 {
		changed, options := first.Apply(m, o, change)
		with, err := play(changed, options)
		noError(t, err)
		return res.Makespan - with.Makespan
	}
	got, noise := gain(path.Change), 0.0
	if res.Polls > 0 {
		noise = chaos(gain)
	}
	line := fmt.Sprintf("%s: %.6g s expected, %.6g s replayed, of %.6g s; polls do %.3g s", first.What, first.Gain, got, res.Makespan, noise)
	t.Log(line)
	if math.Abs(got-first.Gain) > max(0.1*first.Gain, 1e-4*res.Makespan, noise) {
		t.Error(line)
	}
	return first
}

// chaos returns by how much makespans differ because ranks that poll take another course: by
// how much more, or less, a change does than its opposite. Without polls that is next to
// nothing, as both are as small.
func chaos(gain func(change float64) float64) float64 {
	most := 0.0
	for _, change := range []float64{0.5 * path.Change, path.Change, 2 * path.Change} {
		most = max(most, math.Abs(gain(change)+gain(-change)))
	}
	return most
}

// TestConfirms: of HPL on a switch and on a tree with shared uplinks, where messages are most
// of the time, and where the matrix product is, with polls; and of exchanges of all with all
// across the tree, which bandwidth bounds.
func TestConfirms(t *testing.T) {
	for i := range 8 {
		rng := rand.New(rand.NewPCG(uint64(i), 363))
		p := randomHPL(rng)
		p.N, p.Depth = 1000+rng.IntN(500), i%2
		h, play := hplPlayer(t, p)
		m, o := machine(t, []string{flat, tree}[i/2%2], 16, "smpi/iprobe:1e-7", "smpi/grow-injected-times:no")
		if p.Depth > 0 {
			m = slower(m)
		}
		t.Log(text(p))
		confirm(t, h, play, m, o)
	}
	for _, bytes := range []int64{1e5, 1e7} {
		h, play := paper(t, exchanges(16, bytes)...)
		m, o := machine(t, tree, 16)
		if first := confirm(t, h, play, m, o); first.Kind != path.WhatIfBandwidth {
			t.Errorf("first %s, want bandwidth", first.What)
		}
	}
}

// exchanges are those of each of so many ranks with all others, pair by pair.
func exchanges(ranks int32, bytes int64) [][]trace.Action {
	lists := make([][]trace.Action, ranks)
	for r := range ranks {
		for i := int32(1); i < ranks; i++ {
			lists[r] = append(lists[r], trace.Action{Kind: trace.KindExchange, Peer: r ^ i, X: [4]int64{bytes, bytes}})
		}
	}
	return lists
}
