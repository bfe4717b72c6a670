package replay

import (
	"errors"
	"fmt"
)

// stepCounter knows which steps the ranks have begun: for progress, their number
// on average; for Result.StepStarts, when.
type stepCounter struct {
	ranks   int
	begun   int   // by all ranks together
	skipped int   // steps among them that repeat others (repeats)
	last    int64 // the highest step begun
	report  func(steps int)
	from    int64
	starts  []startSum // by step - from; empty unless asked for
}

// startSum sums up the beginnings of one step.
type startSum struct {
	ranks int
	sum   float64   // of the times, seconds
	last  float64   // time, seconds
	parts []float64 // of the ranks' accounts (timeAccounts.addSpent), seconds
}

// recordStarts prepares for Result.StepStarts if o asks for it, with so many accounts of a
// rank.
func (c *stepCounter) recordStarts(o *Options, accounts int) error {
	if !o.StepStarts {
		return nil
	}
	if o.To <= o.From || o.From < 0 {
		return errors.New("begins of steps are known between two steps only")
	}
	c.from = int64(o.From)
	c.starts = make([]startSum, o.To-o.From)
	parts := make([]float64, len(c.starts)*accounts)
	for i := range c.starts {
		c.starts[i].parts = parts[i*accounts:][:accounts:accounts]
	}
	return nil
}

// step notes that a rank begins step n at a time. It returns where to add what the rank has
// spent its time on until then, nil if nobody asks.
func (c *stepCounter) step(n int64, at float64) (parts []float64) {
	// Progress is told when so many steps have been begun that each rank is one further on average.
	c.last = max(c.last, n)
	if c.begun++; c.report != nil && c.begun%c.ranks == 0 {
		c.report(c.begun / c.ranks)
	}
	if i := n - c.from; uint64(i) < uint64(len(c.starts)) {
		b := &c.starts[i]
		b.ranks++
		b.sum += at
		b.last = max(b.last, at)
		return b.parts
	}
	return nil
}

// skip notes that all ranks have come n steps further.
func (c *stepCounter) skip(n int) {
	c.skipped += n
	c.last += int64(n)
	if c.begun += n * c.ranks; c.report != nil {
		c.report(c.begun / c.ranks)
	}
}

// addTo sets the StepStarts of a result, if they were asked for, the last by the accounts of
// ranks that have ended. All ranks must begin all steps.
func (c *stepCounter) addTo(res *Result, accounts *timeAccounts) error {
	if len(c.starts) == 0 {
		return nil
	}
	for i, b := range c.starts {
		if b.ranks != c.ranks {
			return fmt.Errorf("%d of %d ranks begin step %d", b.ranks, c.ranks, c.from+int64(i))
		}
		res.StepStarts = append(res.StepStarts, StepStart{b.sum / float64(b.ranks), b.last, averages(b.parts, b.ranks)})
	}
	res.StepStarts = append(res.StepStarts, StepStart{res.meanEnd(), res.Makespan, accounts.means()})
	return nil
}

// averages returns the means over so many ranks, of which sums are the sums.
func averages(sums []float64, ranks int) []float64 {
	means := make([]float64, len(sums))
	for i, s := range sums {
		means[i] = s / float64(ranks)
	}
	return means
}
