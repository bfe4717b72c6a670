package replay_test

import (
	"context"
	"io"
	"math"
	"testing"

	"reprise/replay"
	"reprise/tracegen/hpcg"
)

// TestSampleHPCG: a set of HPCG has 50 iterations, too few for windows among many steps, but all
// are the same work: four of them tell how long all take, as the exact replay says.
func TestSampleHPCG(t *testing.T) {
	for name, p := range map[string]hpcg.Params{"one set": hpcg.DefaultParams(27, 16), "three sets": hpcg.DefaultParams(12, 24), "one rank": hpcg.DefaultParams(1, 32)} {
		if name == "three sets" {
			p.Sets = 3
		}
		open := opener(t, func(w io.Writer) error { return hpcg.Generate(context.Background(), w, p, hpcg.Options{}) })
		tr, err := open()
		if err != nil {
			t.Fatal(err)
		}
		m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "default", RanksPerHost: 4}, tr)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := replay.Run(t.Context(), tr, m, o)
		if err != nil {
			t.Fatal(err)
		}
		e, err := replay.Sample(t.Context(), open, m, o, replay.SampleOptions{Tolerance: 0.01, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Seconds-exact.Makespan) > e.Interval || e.Interval > 0.01*e.Seconds {
			t.Errorf("%s: %g s within %g, exact %g", name, e.Seconds, e.Interval, exact.Makespan)
		}
		if e.Simulated > 6 || !e.Complete {
			t.Errorf("%s: %d steps simulated", name, e.Simulated)
		}
		for i, phase := range e.Phases {
			if want := exact.Phases[i]; phase.Name != want.Name || math.Abs(phase.Mean-want.Mean) > phase.Interval+1e-9 {
				t.Errorf("%s: phase %+v, exact %+v", name, phase, want)
			}
		}
	}
}
