package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/replay"
	"reprise/trace"
)

// This file takes from the reports of replays what a page shows: answers, tables of times and labels.

// NewAnswer returns the answer of one replay on m.
func NewAnswer(r *replay.Report, m *replay.Machine) Answer {
	return answer(m, r.Header, r.Makespan, r.Gflops, r.Messages, r.Bytes, r.WallSeconds, nil).with(r.Energy)
}

// NewEstimateAnswer returns the answer of an estimate of a run on m. Messages are those that were simulated.
func NewEstimateAnswer(r *replay.EstimateReport, m *replay.Machine) Answer {
	// No run takes less than no time, whatever the half-width is.
	i := &Interval{Low: max(0, r.Seconds-r.Interval), High: r.Seconds + r.Interval, Level: r.Confidence}
	i.Covers = fmt.Sprintf("The interval covers sampling alone: a replay of all steps is inside in about %.0f %% of cases. "+
		"It covers neither errors of the models nor differences between hosts", 100*r.Confidence)
	if r.Seed != nil {
		i.Covers += fmt.Sprintf(", nor other noise than that of seed %d", *r.Seed)
	}
	i.Covers += "."
	return answer(m, r.Header, r.Seconds, r.Gflops, r.Messages, 0, r.WallSeconds, i).with(r.Energy)
}

// NewEnsembleAnswer returns the answer of replays with several seeds on m: their mean.
func NewEnsembleAnswer(r *replay.EnsembleReport, m *replay.Machine) Answer {
	s := &r.Makespan
	i := &Interval{Low: max(0, s.Mean-s.Interval), High: s.Mean + s.Interval, Level: 0.95}
	i.Covers = fmt.Sprintf("The interval covers noise alone, of the mean: that of all seeds is inside in 95 %% of cases; "+
		"the makespan of one run scatters by %s around it. It covers neither errors of the models nor differences "+
		"between hosts.", seconds(s.SD, 2))
	return answer(m, r.Header, s.Mean, r.Gflops.Mean, r.Runs[0].Messages, 0, r.WallSeconds, i).with(r.Energy())
}

// NewUncertaintyAnswer returns the answer of replays on machines drawn around m.
func NewUncertaintyAnswer(r *replay.UncertaintyReport, m *replay.Machine) Answer {
	s := &r.Makespan
	i := &Interval{Low: s.Low, High: s.High, Level: r.Level, Covers: r.Covers}
	return answer(m, r.Header, s.Mean, r.Gflops.Mean, r.Draws[0].Messages, 0, r.WallSeconds, i).with(r.Energy())
}

// answer adds to the figures of a result the program's own result line, and the peak and the efficiency where they
// are known.
func answer(m *replay.Machine, h *trace.Header, makespan, gflops float64, messages, bytes int64, wall float64,
	i *Interval) Answer {
	a := Answer{Makespan: makespan, Gflops: gflops, Messages: messages, Bytes: bytes, Wall: wall, Interval: i}
	// The program's own columns are texts of the trace: N, NB, P and Q of HPL.
	for _, c := range h.Result {
		a.Columns = append(a.Columns, Column{c.Title, c.Value})
	}
	a.Peak, a.Efficiency = m.Efficiency(gflops)
	return a
}

// with adds an energy, if it is known.
func (a Answer) with(e *replay.Energy) Answer {
	if e != nil {
		a.Energy = &Energy{e.Total(), e.MeanWatts, e.PeakWatts, e.PeakSeconds, e.GflopsPerWatt}
	}
	return a
}

// NewEstimateTables returns the tables of an estimate.
func NewEstimateTables(e *replay.Estimate) []TimeTable {
	var list []TimeTable
	for _, by := range []struct {
		name   string
		shares []replay.EstimatedShare
	}{{"kind", e.Kinds}, {"phase", e.Phases}, {"kernel", e.Kernels}} {
		t := TimeTable{By: by.name, Rows: make([]TimeRow, len(by.shares))}
		for i, s := range by.shares {
			t.Rows[i] = TimeRow{Name: s.Name, Mean: s.Mean, Interval: s.Interval}
		}
		list = append(list, t)
	}
	return list
}

// NewSeveralTables returns the tables of several replays, whose times have these names; nil if one of them does not
// tell its times.
func NewSeveralTables(names *replay.PartNames, list []replay.SeedResult) []TimeTable {
	if slices.ContainsFunc(list, func(s replay.SeedResult) bool { return s.Times == nil }) {
		return nil
	}
	// In the order of the tables of one replay. A table without rows stays, so that pages have the same tables.
	var tables []TimeTable
	for _, by := range []struct {
		name  string
		parts []string
		of    func(*replay.PartTimes) []float64
	}{
		{"kind", names.Kinds, func(t *replay.PartTimes) []float64 { return t.Kinds }},
		{"phase", names.Phases, func(t *replay.PartTimes) []float64 { return t.Phases }},
		{"kernel", names.Kernels, func(t *replay.PartTimes) []float64 { return t.Kernels }},
	} {
		t := TimeTable{By: by.name, Rows: make([]TimeRow, len(by.parts))}
		for i, name := range by.parts {
			row := TimeRow{Name: name, Min: math.Inf(1)}
			for _, s := range list {
				v := by.of(s.Times)[i]
				row.Mean += v / float64(len(list))
				row.Min, row.Max = min(row.Min, v), max(row.Max, v)
			}
			t.Rows[i] = row
		}
		tables = append(tables, t)
	}
	return tables
}

// Labels say in which ways a replay differs from one of the whole run on the machine as its files describe it; none
// if it does not. They stand beside its figures.
func Labels(r *replay.Report) []string {
	// A list without elements, which JSON writes as [], says that the run is a plain one.
	labels := []string{}
	switch {
	case r.StoppedAt != nil:
		step := "" // of a trace that marks its steps
		if r.Header.Steps > 0 {
			step = fmt.Sprintf(" in step %d of %d", r.Last, r.Header.Steps)
		}
		labels = append(labels, fmt.Sprintf("interrupted at %.6g s%s: figures up to there", *r.StoppedAt, step))
	case !r.Complete:
		labels = append(labels, replay.PartLabel(r.Header, r.First, r.Last))
	}
	if r.WallBefore > 0 {
		labels = append(labels, "resumed from a checkpoint: pictures begin there, totals are of the whole run")
	}
	return modelLabels(labels, r.Seed, &r.Provenance)
}

// EstimateLabels are those of an estimate.
func EstimateLabels(r *replay.EstimateReport) []string {
	label := fmt.Sprintf("estimate from %d of %d steps, ± %.2g %%, about %.0f %% sure", r.Simulated, r.Steps,
		100*r.Relative(), 100*r.Confidence)
	return modelLabels(partLabels(label, r.Complete, r.Header, r.First, r.Last), r.Seed, &r.Provenance)
}

// EnsembleLabels are those of replays with several seeds.
func EnsembleLabels(r *replay.EnsembleReport) []string {
	n := len(r.Runs)
	label := fmt.Sprintf("mean of %d runs, noise of seeds %d to %d", n, r.Runs[0].Seed, r.Runs[n-1].Seed)
	return modelLabels(partLabels(label, r.Complete, r.Header, r.First, r.Last), nil, &r.Provenance)
}

// UncertaintyLabels are those of replays on drawn machines.
func UncertaintyLabels(r *replay.UncertaintyReport) []string {
	n := len(r.Draws)
	label := fmt.Sprintf("mean of %d drawn machines, seeds %d to %d", n, r.Draws[0].Seed, r.Draws[n-1].Seed)
	return modelLabels(partLabels(label, r.Complete, r.Header, r.First, r.Last), nil, &r.Provenance)
}

// partLabels returns a label, with that of the steps first to last where they are not complete.
func partLabels(label string, complete bool, h *trace.Header, first, last int) []string {
	if complete {
		return []string{label}
	}
	return []string{label, replay.PartLabel(h, first, last)}
}

// modelLabels adds labels for all that differs from the machine and the trace as their files have them: a figure that
// is passed on without its command line must not be taken for one of the plain machine.
func modelLabels(labels []string, seed *uint64, p *replay.Provenance) []string {
	if seed != nil {
		labels = append(labels, fmt.Sprintf("noise of seed %d", *seed))
	}
	for _, differs := range []struct {
		so    bool
		label string
	}{
		{len(p.HostSpeeds) > 0, "speeds of hosts changed: " + strings.Join(p.HostSpeeds, ", ")},
		{len(p.Changes) > 0, "machine changed: " + strings.Join(p.Changes, ", ")},
		{p.ComputeScale != 0, fmt.Sprintf("amounts of flop take %g times as long", p.ComputeScale)},
		{p.FileBandwidth != 0, fmt.Sprintf("files at %g byte/s", p.FileBandwidth)},
		{p.ComputeNoise, "amounts of flop drawn by their spread"},
	} {
		if differs.so {
			labels = append(labels, differs.label)
		}
	}
	return labels
}
