package replay

import (
	"errors"
	"fmt"
)

// stepCounter knows which steps the ranks have begun: for progress, their number
// on average; for Result.StepStarts, when.
type stepCounter struct {
	ranks  int
	begun  int   // by all ranks together
	last   int64 // the highest step begun
	report func(steps int)
	from   int64
	starts []startSum // by step - from; empty unless asked for
}

// startSum sums up the beginnings of one step.
type startSum struct {
	ranks int
	sum   float64 // of the times, seconds
	last  float64 // time, seconds
}

// recordStarts prepares for Result.StepStarts if o asks for it.
func (c *stepCounter) recordStarts(o *Options) error {
	if !o.StepStarts {
		return nil
	}
	if o.To <= o.From || o.From < 0 {
		return errors.New("begins of steps are known between two steps only")
	}
	c.from = int64(o.From)
	c.starts = make([]startSum, o.To-o.From)
	return nil
}

// step notes that a rank begins step n at a time.
func (c *stepCounter) step(n int64, at float64) {
	c.last = max(c.last, n)
	if c.begun++; c.report != nil && c.begun%c.ranks == 0 {
		c.report(c.begun / c.ranks)
	}
	if i := n - c.from; uint64(i) < uint64(len(c.starts)) {
		b := &c.starts[i]
		b.ranks++
		b.sum += at
		b.last = max(b.last, at)
	}
}

// addTo sets the StepStarts of a result, if they were asked for. All ranks must begin all
// steps.
func (c *stepCounter) addTo(res *Result) error {
	if len(c.starts) == 0 {
		return nil
	}
	for i, b := range c.starts {
		if b.ranks != c.ranks {
			return fmt.Errorf("%d of %d ranks begin step %d", b.ranks, c.ranks, c.from+int64(i))
		}
		res.StepStarts = append(res.StepStarts, StepStart{b.sum / float64(b.ranks), b.last})
	}
	res.StepStarts = append(res.StepStarts, StepStart{res.meanEnd(), res.Makespan})
	return nil
}
