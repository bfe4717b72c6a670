package replay

import (
	"slices"

	"reprise/trace"
	"reprise/trace/warning"
)

// PartNames says what the times of a SeedResult are of: what took any time in one of the
// replays.
type PartNames struct {
	Kinds   []string `json:"kinds"`
	Phases  []string `json:"phases"`
	Kernels []string `json:"kernels"`
}

// PartTimes is where the time of a rank went in one replay: seconds, means over the ranks,
// in the order of PartNames.
type PartTimes struct {
	Kinds   []float64 `json:"kinds"`
	Phases  []float64 `json:"phases"`
	Kernels []float64 `json:"kernels"`
}

// Played is what is kept of one replay of several, or of an estimate. The times of single ranks
// are not kept: with many replays they would fill the memory.
type Played struct {
	Header      *trace.Header
	Complete    bool
	First, Last int
	SeedResult
	Sampling float64 // standard error of an estimate of the makespan, s; 0: it is exact
	Warnings []warning.Warning

	kinds, phases, kernels []Share // where the time went; empty for an estimate
}

// PlayedExactly is what came out of a replay.
func PlayedExactly(r *Result) *Played {
	return &Played{Header: r.Header, Complete: r.Complete, First: r.First, Last: r.Last, Warnings: r.Warnings,
		kinds: r.Kinds, phases: r.Phases, kernels: r.Kernels,
		SeedResult: SeedResult{Makespan: r.Makespan, Gflops: r.Gflops, Messages: r.Messages, Polls: r.Polls}}
}

// PlayedInPart is what came out of an estimate.
func PlayedInPart(e *Estimate) *Played {
	const normal95 = 1.959964 // of the normal distribution: estimates state 95 %
	return &Played{Header: e.Header, Complete: e.Complete, First: e.First, Last: e.Last, Warnings: e.Warnings,
		Sampling:   e.Interval / normal95,
		SeedResult: SeedResult{Makespan: e.Seconds, Gflops: e.Gflops, Messages: e.Messages}}
}

// sumUp returns the results of several replays, which list their times in the same order, the
// names of these times, and the warnings of all replays, each once.
func sumUp(played []*Played) (results []SeedResult, names PartNames, warnings []warning.Warning) {
	names = PartNames{Kinds: []string{}, Phases: []string{}, Kernels: []string{}}
	warnings = []warning.Warning{}
	// The names of all replays come first, so that the times of each have the same order.
	add := func(names *[]string, shares []Share) {
		for i := range shares {
			if !slices.Contains(*names, shares[i].Name) {
				*names = append(*names, shares[i].Name)
			}
		}
	}
	for _, p := range played {
		add(&names.Kinds, p.kinds)
		add(&names.Phases, p.phases)
		add(&names.Kernels, p.kernels)
		warnings = warning.Join(warnings, p.Warnings)
	}
	means := func(names []string, shares []Share) []float64 {
		list := make([]float64, len(names)) // 0 for a part that this replay does not have
		for i := range shares {
			list[slices.Index(names, shares[i].Name)] += shares[i].Mean
		}
		return list
	}
	for _, p := range played {
		r := p.SeedResult
		if len(p.kinds) > 0 {
			r.Times = &PartTimes{means(names.Kinds, p.kinds), means(names.Phases, p.phases),
				means(names.Kernels, p.kernels)}
		}
		results = append(results, r)
	}
	return results, names, warnings
}

// figures returns a figure of each of several replays.
func figures(played []*Played, figure func(*Played) float64) []float64 {
	values := make([]float64, len(played))
	for i, p := range played {
		values[i] = figure(p)
	}
	return values
}

// Figures of replays.
func makespanOf(p *Played) float64 { return p.Makespan }
func gflopsOf(p *Played) float64   { return p.Gflops }
func ratingOf(p *Played) float64   { return p.Rating }
