package study

import (
	"fmt"
	"slices"

	"reprise/report/compare"
)

// Configuration is what is known of the rows of a table that differ in their seeds only.
type Configuration struct {
	Name   string // the levels, as "NB 64, DEPTH 0"
	Levels []int
	Rows   []int // of the plan, one for each seed
	Seeds  []uint64
	Time   compare.Figure // makespan, s
	Gflops compare.Figure
	Failed string // an error, if one of the runs has one, or no result
	// Work is the operations that the program counts, in Gflop, 0 if it counts none: configurations that do as much
	// compare by their times, others by their times per Gflop.
	Work float64

	times    []float64 // of the seeds
	interval float64   // of each, if they are estimates
	random   bool
}

// Configurations returns what is known of each configuration, in the order of the design. A row
// that a design has twice is the same run, and counts once.
func (p *Plan) Configurations(r *Results) []Configuration {
	var list []Configuration
	at, seen := map[string]int{}, map[string]bool{}
	for row, run := range p.Runs {
		whole := fmt.Sprint(run.Levels, run.Seed)
		if seen[whole] {
			continue
		}
		seen[whole] = true
		key := fmt.Sprint(run.Levels)
		i, known := at[key]
		if !known {
			i = len(list)
			at[key] = i
			list = append(list, Configuration{Name: describe(p.Factors, run.Levels), Levels: run.Levels,
				Work: p.configs[row].Run.Flops() * 1e-9})
		}
		list[i].Rows = append(list[i].Rows, row)
		list[i].Seeds = append(list[i].Seeds, run.Seed)
	}
	for i := range list {
		list[i].fill(p, r)
	}
	return list
}

// fill sums up the runs of a configuration.
func (c *Configuration) fill(p *Plan, r *Results) {
	var outcomes []*Outcome
	var gflops []float64
	for _, row := range c.Rows {
		switch e := r.Of(p.Runs[row].ID); {
		case e == nil:
			c.Failed = "has no result yet"
			return
		case e.Outcome == nil:
			c.Failed = e.Error
			return
		default:
			outcomes = append(outcomes, e.Outcome)
			c.times = append(c.times, e.Outcome.Makespan)
			gflops = append(gflops, e.Outcome.Gflops)
		}
	}
	o := outcomes[0]
	c.interval, c.random = o.Interval, slices.ContainsFunc(outcomes, func(o *Outcome) bool { return o.Random })
	c.Time = figureOf(c.times, c.interval, c.random)
	c.Gflops = figureOf(gflops, o.GflopsInterval, c.random)
}

// PerGflop returns the configuration with times for each Gflop that it does.
func (c *Configuration) PerGflop() Configuration {
	of := *c
	of.times = make([]float64, len(c.times))
	for i, t := range c.times {
		of.times[i] = t / c.Work
	}
	of.interval /= c.Work
	of.Time = figureOf(of.times, of.interval, of.random)
	return of
}

// figureOf is what values of several seeds tell, of which each may be an estimate.
func figureOf(values []float64, interval float64, random bool) compare.Figure {
	switch {
	case random && len(values) > 1:
		return compare.MeanFigure(values)
	case interval > 0:
		return compare.EstimatedFigure(values[0], interval)
	case random:
		return compare.OneDraw(values[0])
	}
	return compare.ExactFigure(values[0])
}

// PairOf pairs the times of two configurations: those of the same seeds have noise in common.
func PairOf(name string, a, b *Configuration) compare.Pair {
	return compare.Pair{Name: name, A: a.Time, B: b.Time, Paired: len(a.Seeds) > 1 && slices.Equal(a.Seeds, b.Seeds) &&
		a.isMean() && b.isMean()}
}

// isMean reports whether the time is a mean over seeds.
func (c *Configuration) isMean() bool {
	return len(c.times) > 1 && slices.ContainsFunc(c.times, func(t float64) bool { return t != c.times[0] })
}
