package study

import (
	"fmt"
	"io"
	"math"
	"time"

	"reprise/internal/textutil"
	"reprise/tracegen/programs"
)

// This file predicts what a study costs before it has run: Plan.Predict by the costs of its runs (CostOf).

// Predict predicts the cost of a study on this machine, by the results in its directory, if it has one.
func (p *Plan) Predict(dir string, jobs int) *Prediction {
	r := NewResults(dir)
	if dir != "" {
		_ = r.Update() // without results it is a guess
	}
	pace := p.pace(r)
	pr := &Prediction{Design: p.Design, Rows: len(p.Runs), Runs: p.Different(), Jobs: jobs,
		Memory: int64(jobs) * p.Memory(), Timed: pace.seconds > 0, Within: p.Tolerance > 0}
	// Runs that are done cost nothing more; the others, at once, no less than the longest of them.
	var sum time.Duration
	for _, row := range p.order() {
		if e := r.Of(p.Runs[row].ID); e != nil && e.Outcome != nil {
			pr.Made++
			continue
		}
		d := pace.Of(p.cost(row))
		sum += d
		pr.Longest = max(pr.Longest, d)
	}
	// A lower bound: no order of the runs is quicker than either.
	pr.Time = max(sum/time.Duration(jobs), pr.Longest)
	return pr
}

// Prediction is the cost of a study.
type Prediction struct {
	Design  string
	Rows    int           // of the table
	Runs    int           // that differ
	Made    int           // of these, that are made already
	Jobs    int           // at once
	Time    time.Duration // of all that are to be made, by so many at once
	Longest time.Duration // of one run
	Memory  int64         // of all at once, in bytes
	Timed   bool          // runs of the study have been timed
	Within  bool          // a tolerance: runs that are too chaotic for it are replayed exactly, which is not known before
}

// WriteText writes the prediction for people.
func (pr *Prediction) WriteText(w io.Writer) error {
	by, about := "guessed from the number of messages", "about"
	if pr.Timed {
		by = "by the runs that are made"
	}
	if pr.Within {
		about = "at least"
	}
	var t textutil.Table
	t.Row("design", pr.Design)
	t.Row("rows of the table", textutil.Thousands(pr.Rows))
	t.Row("runs to make", textutil.Thousands(pr.Runs-pr.Made))
	t.Row("runs at once", textutil.Thousands(pr.Jobs))
	t.Row("time", fmt.Sprintf("%s %v, %s", about, Round(pr.Time.Seconds()), by))
	t.Row("longest run", fmt.Sprintf("%s %v", about, Round(pr.Longest.Seconds())))
	t.Row("memory", "about "+Bytes(pr.Memory))
	return t.Write(w)
}

// secondsPerMessage is about what a message costs on one core, until runs have been timed.
const secondsPerMessage = 1e-6

// CostOf returns about what a replay of a run costs, in messages: those that it simulates, and a share of each rank.
// Times of runs are about proportional to it. A run that turns out to be too chaotic for an estimate costs more.
func CostOf(run *programs.Run, tolerance float64) float64 {
	// The cost need not be exact: it orders the runs, and after the first runs have been timed it
	// predicts the time of the others by proportion.
	steps := run.Steps
	if tolerance > 0 {
		if sampled := sampledSteps(run, steps); sampled <= 0.75*steps { // else it is replayed exactly
			steps = sampled
		}
	}
	return steps*run.Messages + 100*float64(run.Ranks)
}

// sampledSteps returns about how many steps an estimate simulates (docs/sampling.md). HPL with look-ahead polls: its windows,
// up to 16 and the ends of the run, have whole periods of the process columns, and long warm-ups.
func sampledSteps(run *programs.Run, steps float64) float64 {
	p := run.HPL
	switch {
	case run.HPCG != nil:
		return 6 // iterations, warm-ups included
	case p == nil:
		return 600
	case p.Depth == 0:
		return 100
	}
	length := min(max(p.P, p.Q, 16), 64)
	warmup := max(16, 40-length/2)
	if p.Q > 64 {
		warmup = p.Q
	}
	window := warmup + length
	return float64(window * (2 + min(max(int(steps)/4/window, 8), 16)))
}

// cost returns about what a run of the plan costs, in messages, with the further replays of its responses.
func (p *Plan) cost(run int) float64 {
	messages := CostOf(p.configs[run].Run, p.Tolerance)
	if p.Responses.POP {
		messages *= 3
	}
	return messages
}

// Memory returns about how much memory the largest run takes, in bytes.
func (p *Plan) Memory() int64 {
	most := int64(0)
	for _, c := range p.configs {
		// 12 KiB for each rank, and 32 MiB for what does not grow with them.
		most = max(most, 32<<20+int64(c.Run.Ranks)*12<<10)
	}
	return most
}

// pace returns that of the runs that have ended.
func (p *Plan) pace(r *Results) Pace {
	var sum Pace
	for _, row := range p.once() {
		if e := r.Of(p.Runs[row].ID); e != nil && e.Outcome != nil {
			sum.Add(p.cost(row), e.Wall)
		}
	}
	return sum
}

// Pace is how long the runs that were made took, and their messages: their ratio predicts the other runs.
type Pace struct {
	Jobs              int // that share the messages of a run; counts until runs have been timed
	seconds, messages float64
}

// Add adds a run that was made.
func (p *Pace) Add(messages, seconds float64) {
	p.messages += messages
	p.seconds += seconds
}

// Of predicts how long so many messages take.
func (p *Pace) Of(messages float64) time.Duration {
	each := secondsPerMessage / float64(max(p.Jobs, 1))
	if p.seconds > 0 {
		each = p.seconds / p.messages
	}
	return time.Duration(min(each*messages*1e9, math.MaxInt64/4))
}
