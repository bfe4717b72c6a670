package compare

import (
	"fmt"
	"slices"

	"reprise/report"
)

// Kind is a kind of results.
type Kind string

// Kinds of results, by how they were made.
const (
	Exact       Kind = "replay"      // one, without noise
	Draw        Kind = "draw"        // one, of a seed
	Runs        Kind = "runs"        // several seeds
	Estimate    Kind = "estimate"    // from windows of steps
	Uncertainty Kind = "uncertainty" // replays of drawn machines
)

// Result is what a file says of a prediction.
type Result struct {
	File string
	Kind Kind
	Made Made
	// What was played: all of a program, or some steps.
	Complete    bool
	First, Last int
	Seeds       []uint64 // of Draw, Runs and Uncertainty, and of an Estimate with noise

	// Page is all that the page has which the result is from; nil: it is from none.
	Page *report.Data

	makespan Figure          // seconds
	gflops   Figure          // 0: the program has no rate
	parts    [len(by)][]part // in the order of by, each in that of the file, which tables keep; nil: there are none
}

// Made is what a result was made from, with the keys of its JSON.
type Made struct {
	Tool          string            `json:"tool"`
	Trace         string            `json:"trace"`
	Platform      string            `json:"platform"`
	Kernels       string            `json:"kernels"`
	NetworkNoise  string            `json:"network_noise"`
	HostSpeeds    []string          `json:"host_speed"`
	ComputeScale  float64           `json:"compute_scale"`  // 0: 1
	FileBandwidth float64           `json:"file_bandwidth"` // byte/s; 0: no limit
	ComputeNoise  bool              `json:"compute_noise"`  // amounts of flop were drawn by their spread
	Changes       []string          `json:"machine_changes"`
	Program       string            `json:"program"`
	Parameters    map[string]string `json:"parameters"`
}

// part is the time of a kind, a phase or a kernel, in seconds of the mean rank.
type part struct {
	name string
	Figure
}

// by is what the times of parts are sorted by, in the order of tables.
var by = [3]string{"kind", "phase", "kernel"}

// tellsParts reports whether a result says where the time went.
func (r *Result) tellsParts() bool { return len(slices.Concat(r.parts[:]...)) > 0 }

// what names a result in a few words.
func (r *Result) what() string {
	switch r.Kind {
	case Exact:
		return "a replay"
	case Draw:
		return fmt.Sprintf("a replay with noise of seed %d", r.Seeds[0])
	case Runs:
		return fmt.Sprintf("%d runs, %s", len(r.Seeds), seedText(r.Seeds))
	case Uncertainty:
		return fmt.Sprintf("%d draws of machines, %s", len(r.Seeds), seedText(r.Seeds))
	}
	if len(r.Seeds) > 0 {
		return fmt.Sprintf("an estimate, noise of seed %d", r.Seeds[0])
	}
	return "an estimate"
}

// seedText names seeds, which mostly follow one another.
func seedText(seeds []uint64) string {
	// Seeds of --runs are consecutive; a script may have kept some of them.
	first, last := seeds[0], seeds[len(seeds)-1]
	for i, s := range seeds {
		if s != first+uint64(i) {
			return fmt.Sprintf("seeds between %d and %d", slices.Min(seeds), slices.Max(seeds))
		}
	}
	return fmt.Sprintf("seeds %d to %d", first, last)
}
