package report

import (
	"fmt"
	"math"
	"slices"

	"reprise/replay"
	"reprise/trace"
)

// NewAnswer returns the answer of one replay on m.
func NewAnswer(r *replay.Report, m *replay.Machine) Answer {
	a := Answer{Makespan: r.Makespan, Gflops: r.Gflops, Columns: resultColumns(r.Header), Messages: r.Messages,
		Bytes: r.Bytes, Wall: r.WallSeconds}
	a.setPeak(m)
	return a
}

// NewEstimateAnswer returns the answer of an estimate of a run on m. Messages are those that were
// simulated.
func NewEstimateAnswer(r *replay.EstimateReport, m *replay.Machine) Answer {
	a := Answer{Makespan: r.Seconds, Gflops: r.Gflops, Columns: resultColumns(r.Header), Messages: r.Messages,
		Wall: r.WallSeconds}
	a.Interval = &Interval{
		Low: max(0, r.Seconds-r.Interval), High: r.Seconds + r.Interval, Level: r.Confidence,
		Covers: fmt.Sprintf("The makespan of a replay of all steps is inside in about %.0f %% of cases; that says nothing of errors of the models", 100*r.Confidence),
	}
	if r.Seed != nil {
		a.Interval.Covers += fmt.Sprintf(", nor of other seeds than %d", *r.Seed)
	}
	a.setPeak(m)
	return a
}

// NewEnsembleAnswer returns the answer of replays with several seeds on m: their mean.
func NewEnsembleAnswer(r *replay.EnsembleReport, m *replay.Machine) Answer {
	s := &r.Makespan
	a := Answer{Makespan: s.Mean, Gflops: r.Gflops.Mean, Columns: resultColumns(r.Header), Messages: r.Runs[0].Messages,
		Wall: r.WallSeconds}
	a.Interval = &Interval{
		Low: max(0, s.Mean-s.Interval), High: s.Mean + s.Interval, Level: 0.95,
		Covers: fmt.Sprintf("The mean over all seeds is inside in 95 %% of cases; the makespan of one run scatters by %s around it", seconds(s.SD, 2)),
	}
	a.setPeak(m)
	return a
}

// NewUncertaintyAnswer returns the answer of replays on machines drawn around m.
func NewUncertaintyAnswer(r *replay.UncertaintyReport, m *replay.Machine) Answer {
	s := &r.Makespan
	a := Answer{Makespan: s.Mean, Gflops: r.Gflops.Mean, Columns: resultColumns(r.Header), Messages: r.Draws[0].Messages,
		Wall: r.WallSeconds}
	a.Interval = &Interval{Low: s.Low, High: s.High, Level: r.Level, Covers: r.Covers}
	a.setPeak(m)
	return a
}

// resultColumns are those of the program's own result line.
func resultColumns(h *trace.Header) []Column {
	var list []Column
	for _, c := range h.Result {
		list = append(list, Column{c.Title, c.Value})
	}
	return list
}

// setPeak sets the peak and the efficiency, where they are known.
func (a *Answer) setPeak(m *replay.Machine) {
	a.Peak, a.Efficiency = m.Efficiency(a.Gflops)
}

// NewEstimateTables returns the tables of an estimate.
func NewEstimateTables(e *replay.Estimate) []TimeTable {
	return []TimeTable{estimateTable("kind", e.Kinds), estimateTable("phase", e.Phases),
		estimateTable("kernel", e.Kernels)}
}

func estimateTable(by string, shares []replay.EstimatedShare) TimeTable {
	t := TimeTable{By: by, Rows: make([]TimeRow, len(shares))}
	for i, s := range shares {
		t.Rows[i] = TimeRow{Name: s.Name, Mean: s.Mean, Interval: s.Interval}
	}
	return t
}

// NewSeveralTables returns the tables of several replays, whose times have these names; nil if one
// of them does not tell its times.
func NewSeveralTables(names *replay.PartNames, list []replay.SeedResult) []TimeTable {
	if slices.ContainsFunc(list, func(s replay.SeedResult) bool { return s.Times == nil }) {
		return nil
	}
	return []TimeTable{
		severalTable("kind", names.Kinds, list, func(t *replay.PartTimes) []float64 { return t.Kinds }),
		severalTable("phase", names.Phases, list, func(t *replay.PartTimes) []float64 { return t.Phases }),
		severalTable("kernel", names.Kernels, list, func(t *replay.PartTimes) []float64 { return t.Kernels }),
	}
}

func severalTable(by string, names []string, list []replay.SeedResult, of func(*replay.PartTimes) []float64) TimeTable {
	t := TimeTable{By: by, Rows: make([]TimeRow, len(names))}
	for i, name := range names {
		row := TimeRow{Name: name, Min: math.Inf(1)}
		for _, s := range list {
			v := of(s.Times)[i]
			row.Mean += v / float64(len(list))
			row.Min, row.Max = min(row.Min, v), max(row.Max, v)
		}
		t.Rows[i] = row
	}
	return t
}
