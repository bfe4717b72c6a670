package report

import (
	"slices"
	"testing"

	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/trace"
)

// TestLabels: what is not a whole run is called what it is.
func TestLabels(t *testing.T) {
	header, seed, at := &trace.Header{Steps: 100}, uint64(7), 3.25
	for _, c := range []struct {
		name   string
		result replay.Result
		speeds []string
		want   []string
	}{
		{"whole", replay.Result{Complete: true}, nil, []string{}},
		{"part", replay.Result{First: 4, Last: 7}, nil, []string{"steps 4:8 of 100 only"}},
		{"interrupted", replay.Result{StoppedAt: &at, Last: 20}, nil, []string{"interrupted at 3.25 s in step 20 of 100: figures up to there"}},
		{"resumed", replay.Result{Complete: true, WallBefore: 2}, nil, []string{"resumed from a checkpoint: pictures begin there, totals are of the whole run"}},
		{"noisy", replay.Result{Complete: true, Seed: &seed}, []string{"*=0.9"}, []string{"noise of seed 7", "speeds of hosts changed: *=0.9"}},
	} {
		c.result.Header = header
		r := &replay.Report{Result: &c.result, Provenance: replay.Provenance{HostSpeeds: c.speeds}}
		if got := Labels(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	e := &replay.EstimateReport{Confidence: 0.95, Estimate: &replay.Estimate{Header: header, First: 0, Last: 49, Estimate: &sampling.Estimate{Seconds: 10, Interval: 0.05, Steps: 50, Simulated: 20}}}
	if got, want := EstimateLabels(e), []string{"estimate from 20 of 50 steps, ± 0.5 %, about 95 % sure", "steps 0:50 of 100 only"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	runs := &replay.EnsembleReport{Ensemble: &replay.Ensemble{Header: header, Complete: true, Runs: []replay.SeedResult{{Seed: 3}, {Seed: 4}, {Seed: 5}}}}
	if got, want := EnsembleLabels(runs), []string{"mean of 3 runs, noise of seeds 3 to 5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	draws := &replay.UncertaintyReport{Uncertainty: &replay.Uncertainty{Header: header, Complete: true, Draws: []replay.SeedResult{{Seed: 3}, {Seed: 4}}}}
	if got, want := UncertaintyLabels(draws), []string{"mean of 2 drawn machines, seeds 3 to 4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
