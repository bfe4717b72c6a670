package study

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/report/compare"
)

// This file takes the rows of a study together that differ in their seeds only: Plan.Configurations.

// Configuration is the result of the rows of a table that differ in their seeds only.
type Configuration struct {
	Name   string // the levels, as "NB 64, DEPTH 0"
	Levels []int
	Rows   []int // of the plan, one for each seed
	Seeds  []uint64
	Time   compare.Figure // makespan, s
	Gflops compare.Figure
	Failed string // an error, if one of the runs has one, or no result
	// Work is the operations that the program counts, in Gflop, 0 if it counts none:
	// configurations of the same work compare by their times, others by their times per Gflop.
	Work float64

	times    []float64 // of the seeds
	interval float64   // of each, if they are estimates
	random   bool
}

// Configurations returns the result of each configuration, in the order of the design. A row that
// a design has twice is the same run, and counts once.
func (p *Plan) Configurations(r *Results) []Configuration {
	var list []Configuration
	// Rows of the same levels are one configuration, whose seeds are repetitions.
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
			list = append(list, Configuration{Name: p.Levels(row), Levels: run.Levels,
				Work: p.configs[row].Run.Flops * 1e-9})
		}
		// The seed of a row, and the row of a seed, have the same place in both lists.
		list[i].Rows = append(list[i].Rows, row)
		list[i].Seeds = append(list[i].Seeds, run.Seed)
	}
	// A configuration counts only if each of its seeds has a result: a mean of those that happen to be
	// done would change with every run.
next:
	for i := range list {
		c := &list[i]
		var first *Outcome
		var gflops []float64
		for _, row := range c.Rows {
			e := r.Of(p.Runs[row].ID)
			if e == nil || e.Outcome == nil {
				if c.Failed = "has no result yet"; e != nil {
					c.Failed = e.Error
				}
				continue next
			}
			first = cmp.Or(first, e.Outcome)
			c.random = c.random || e.Outcome.Random
			c.times = append(c.times, e.Outcome.Makespan)
			gflops = append(gflops, e.Outcome.Gflops)
		}
		c.interval = first.Interval
		c.Time = figureOf(c.times, c.interval, c.random)
		c.Gflops = figureOf(gflops, first.GflopsInterval, c.random)
	}
	return list
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

// figureOf returns the figure of values of several seeds, each of which may be an estimate.
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

// PairOf pairs the times of two configurations: those of the same seeds have noise in common, if they are means.
func PairOf(name string, a, b *Configuration) compare.Pair {
	// Times that are all equal come from a machine without noise, whose difference is exact, not paired.
	isMean := func(c *Configuration) bool {
		return slices.ContainsFunc(c.times, func(t float64) bool { return t != c.times[0] })
	}
	return compare.Pair{Name: name, A: a.Time, B: b.Time, Paired: len(a.Seeds) > 1 && slices.Equal(a.Seeds, b.Seeds) &&
		isMean(a) && isMean(b)}
}
