package replay_test

import (
	"context"
	"io"
	"math"
	"testing"

	"reprise/replay"
	"reprise/tracegen/hpcg"
)

// TestRepeats: a set of HPCG ends, rank by rank, when it does if all of its iterations are
// played, as they are for an observer; so do several sets, and steps from the middle of one.
// What is counted is the same number.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		name                string
		ranks, n, perHost   int
		sets, from, to      int
		atLeast             int // repeats: all but the first and the last steps of each set
		finalizationBarrier bool
	}{
		{"one set", 27, 16, 4, 1, 0, 0, 40, false},
		{"three sets", 12, 24, 4, 3, 0, 0, 120, true},
		{"one rank", 1, 32, 1, 1, 0, 0, 40, false},
		{"a rank on each host", 64, 40, 1, 1, 0, 0, 40, false},
		{"steps of two sets", 24, 16, 8, 2, 20, 80, 40, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := hpcg.DefaultParams(c.ranks, c.n)
			p.Sets = c.sets
			open := opener(t, func(w io.Writer) error { return hpcg.Generate(context.Background(), w, p, hpcg.Options{}) })
			tr, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "default", RanksPerHost: c.perHost}, tr)
			if err != nil {
				t.Fatal(err)
			}
			o.From, o.To, o.Network.FinalizationBarrier = c.from, c.to, c.finalizationBarrier
			got, err := replay.Run(t.Context(), tr, m, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Observers = []replay.Observer{{}}
			want, err := replay.Run(t.Context(), tr, m, o)
			if err != nil {
				t.Fatal(err)
			}
			if got.Repeated < c.atLeast || want.Repeated != 0 {
				t.Errorf("%d steps repeat, want %d at least; %d for an observer", got.Repeated, c.atLeast, want.Repeated)
			}
			if got.Messages != want.Messages || got.Bytes != want.Bytes || got.Actions != want.Actions || got.Last != want.Last || got.Complete != want.Complete {
				t.Errorf("%d messages, %d bytes, %d actions to step %d, want %d, %d, %d, %d", got.Messages, got.Bytes, got.Actions, got.Last, want.Messages, want.Bytes, want.Actions, want.Last)
			}
			for r := range want.Ranks {
				if got, want := got.Ranks[r].End, want.Ranks[r].End; math.Abs(got-want) > 5e-9+1e-6*want {
					t.Errorf("rank %d ends at %.12g s, want %.12g", r, got, want)
				}
				sameTime(t, got.Ranks[r].Host, got.Ranks[r].End, want.Ranks[r].End)
			}
			for i, lists := range [][2][]replay.Share{{got.Kinds, want.Kinds}, {got.Kernels, want.Kernels}, {got.Phases, want.Phases}} {
				for k, share := range lists[1] {
					if lists[0][k].Name != share.Name {
						t.Fatalf("table %d: %s, want %s", i, lists[0][k].Name, share.Name)
					}
					sameTime(t, share.Name, lists[0][k].Mean, share.Mean)
				}
			}
		})
	}
}

// sameTime compares times in seconds: what the precision of time leaves open, a nanosecond for
// each of some hundred messages after one another, and rounding.
func sameTime(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-7+1e-7*want {
		t.Errorf("%s: %.12g s, want %.12g", what, got, want)
	}
}

// TestRepeatsCheckpoint: a replay that is saved while ranks stand in a step, and goes on from
// there, gives the same bits.
func TestRepeatsCheckpoint(t *testing.T) {
	p := hpcg.DefaultParams(12, 16)
	open := opener(t, func(w io.Writer) error { return hpcg.Generate(context.Background(), w, p, hpcg.Options{}) })
	tr, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "default", RanksPerHost: 4}, tr)
	if err != nil {
		t.Fatal(err)
	}
	checkResumes(t, 12, func(change func(*replay.Options)) (*replay.Result, error) {
		o := o
		change(&o)
		return replay.Run(t.Context(), tr, m, o)
	})
}
