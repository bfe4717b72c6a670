package hpcg

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file computes HPCG's own report from the seconds of a run: NewSummary.

// Summary is what HPCG reports of a run: times of rank 0 and rates. Times are in seconds, rates in 1e9 flop/s.
type Summary struct {
	SetupSeconds float64   `json:"setup_s"` // given, not simulated
	Seconds      PartTimes `json:"time_s"`
	Gflops       PartTimes `json:"raw_gflops"`

	WithConvergence float64 `json:"gflops_with_convergence_overhead"` // as if 50 iterations had been enough
	Rating          float64 `json:"gflops_rating"`                    // with a tenth of the set-up for each set as well
	Rating24        float64 `json:"gflops_rating_2_4"`                // that of HPCG 2.4, which leaves the set-up out
}

// PartTimes has a number for each part of a run and for all of it.
type PartTimes struct {
	DDOT   float64 `json:"ddot"`
	WAXPBY float64 `json:"waxpby"`
	SpMV   float64 `json:"spmv"`
	MG     float64 `json:"mg"`
	Total  float64 `json:"total"`
}

// values are the numbers in the order of HPCG's report.
func (t *PartTimes) values() [numParts + 1]*float64 {
	return [...]*float64{&t.DDOT, &t.WAXPBY, &t.SpMV, &t.MG, &t.Total}
}

// setupShare is how much of the set-up the rating counts for each set.
const setupShare = 0.1

// NewSummary returns HPCG's report of a run whose trace has the header h, from the seconds
// that rank 0 was in each phase and those of the set-up:
//
//	rating = flop * 50/iterations / (seconds of CG + sets * set-up / 10)
//
// It fails if h is not that of a trace of this package, or CG took no time. Source: HPCG
// 3.1, ReportResults.cpp; the optimisation phase of the reference is empty.
func NewSummary(h *trace.Header, phase func(name string) float64, setup float64) (*Summary, error) {
	var wrong error                       // the first
	number := func(name string) float64 { // a parameter of the header, which must be positive
		text, _ := h.Param(name)
		v, err := strconv.ParseFloat(text, 64)
		if wrong == nil && (err != nil || !(v > 0)) {
			wrong = fmt.Errorf("parameter %q of the trace is %q, want a positive number", name, text)
		}
		return v
	}
	sets, iterations := number("sets"), number("iterations")
	s := &Summary{SetupSeconds: setup}
	seconds, rates := s.Seconds.values(), s.Gflops.values()
	sum := 0.0
	for i, name := range partNames {
		flops := number("flop " + name)
		sum += flops
		*seconds[i] = phase(name)
		*rates[i] = rate(flops, *seconds[i])
	}
	// The seconds of all timed sets come from the clock around them, not from the sum of the parts.
	cg := phase(phaseNames[phaseCG-1])
	switch {
	case wrong != nil:
		return nil, wrong
	case !(cg > 0):
		return nil, fmt.Errorf("no time in phase %s", phaseNames[phaseCG-1])
	}
	s.Seconds.Total, s.Gflops.Total = cg, rate(sum, cg)
	useful := sum * leastIterations / iterations
	s.WithConvergence = rate(useful, cg)
	s.Rating = rate(useful, cg+float64(sets*setup*setupShare))
	s.Rating24 = s.WithConvergence
	return s, nil
}

// rate returns 1e9 flop/s; 0 of what takes no time.
func rate(flops, seconds float64) float64 {
	if !(seconds > 0) {
		return 0
	}
	return flops / seconds / 1e9
}

// WriteText writes the lines of HPCG's report that say how long it took and at what rate.
func (s *Summary) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(key string, v float64) { fmt.Fprintf(&b, "%s=%.6g\n", key, v) }
	line("Setup Information::Setup Time", s.SetupSeconds)
	names := append(partNames[:], "Total")
	for i, v := range s.Seconds.values() {
		line("Benchmark Time Summary::"+names[i], *v)
	}
	for i, v := range s.Gflops.values() {
		line("GFLOP/s Summary::Raw "+names[i], *v)
	}
	line("GFLOP/s Summary::Total with convergence overhead", s.WithConvergence)
	line("GFLOP/s Summary::Total with convergence and optimization phase overhead", s.Rating)
	line("Final Summary::HPCG result is VALID with a GFLOP/s rating of", s.Rating)
	line("Final Summary::HPCG 2.4 rating for historical reasons is", s.Rating24)
	return textutil.Write(w, b.String())
}
