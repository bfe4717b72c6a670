package report

import (
	"slices"
	"testing"

	"reprise/replay"
)

// TestSpread: 0.2 s of 10 s are 2 %, 0.05 s are 0.5 %; 9 to 11 s are 10 % around 10 s.
func TestSpread(t *testing.T) {
	runs := &replay.Ensemble{Makespan: replay.Summary{Mean: 10, SD: 0.2, Interval: 0.05, Min: 9.5, Max: 10.25}, Runs: make([]replay.SeedResult, 4)}
	if got, want := DiagnoseRuns(runs), []string{
		"The quickest of 4 runs takes 9.5 s, the slowest 10.25 s.", "One run scatters by 2.0 % around the mean, which is known to 0.5 %.",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	draws := &replay.Uncertainty{Level: 0.9, Makespan: replay.Interval{Mean: 10, Low: 9, High: 11}, Parts: []replay.UncertaintyPart{{Name: "noise", SD: 0.1}, {Name: "calibration", SD: 0.5}}}
	if got, want := DiagnoseDraws(draws), []string{
		"90 % of runs are expected within 10 % of the mean.", "Most of that is calibration: by itself it makes runs scatter by 5.0 %.",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(DiagnoseRuns(&replay.Ensemble{})) > 0 || len(DiagnoseDraws(&replay.Uncertainty{})) > 0 {
		t.Error("words about nothing")
	}
}
