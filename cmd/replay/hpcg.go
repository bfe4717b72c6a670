package main

import (
	"math"

	"reprise/internal/command"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpcg"
)

// checkSetupTime refuses the time of HPCG's set-up where it means nothing.
func (s *settings) checkSetupTime(h *trace.Header) error {
	switch {
	case s.setupTime == 0:
		return nil
	case !(s.setupTime > 0) || math.IsInf(s.setupTime, 0):
		return command.Usagef("--setup-time %g, want 0 or more seconds", s.setupTime)
	case h.Program != hpcg.Program:
		return command.Usagef("--setup-time goes with a trace of HPCG, and this is one of %s", h.Program)
	case !rates(h) || s.from > 0 || s.to > 0 && s.to < h.Steps:
		return command.Usagef("--setup-time counts in the rating of all of HPCG, and this is a part of it: leave it out")
	}
	return nil
}

// rates reports whether a trace is of all of HPCG: a part of it does not count its flop.
func rates(h *trace.Header) bool { return h.Program == hpcg.Program && h.Flops > 0 }

// hpcgOf returns HPCG's own report of an exact replay; nil if it is not one of all of HPCG.
func (s *settings) hpcgOf(res *replay.Result) (*hpcg.Summary, error) {
	if !rates(res.Header) || !res.Complete || res.StoppedAt != nil {
		return nil, nil
	}
	seconds := map[string]float64{}
	for i, name := range res.Header.Phases {
		seconds[name] = res.RootPhases[i]
	}
	return hpcg.NewSummary(res.Header, func(name string) float64 { return seconds[name] }, s.setupTime)
}

// ratingOf returns HPCG's rating of an exact replay, in 1e9 flop/s; 0 if it is not one of all of HPCG.
func (s *settings) ratingOf(res *replay.Result) (float64, error) {
	sum, err := s.hpcgOf(res)
	if err != nil || sum == nil {
		return 0, err
	}
	return sum.Rating, nil
}

// hpcgEstimate returns the same by an estimate: with the times of the mean rank.
func (s *settings) hpcgEstimate(e *replay.Estimate) (*hpcg.Summary, error) {
	if !rates(e.Header) || !e.Complete {
		return nil, nil
	}
	seconds := map[string]float64{}
	for _, phase := range e.Phases {
		seconds[phase.Name] = phase.Mean
	}
	return hpcg.NewSummary(e.Header, func(name string) float64 { return seconds[name] }, s.setupTime)
}
