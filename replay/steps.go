package replay

import (
	"errors"
	"fmt"
)

// stepCounter knows which steps the ranks have begun: for progress, their number
// on average; for Result.Begins, when.
type stepCounter struct {
	ranks  int
	begun  int   // by all ranks together
	last   int64 // the highest step begun
	report func(steps int)
	from   int64
	begins []stepBegin // by step - from; empty unless asked for
}

// stepBegin sums up the beginnings of one step.
type stepBegin struct {
	ranks int
	sum   float64 // of the dates, seconds
	last  float64 // date, seconds
}

// watch prepares for Result.Begins if o asks for it.
func (c *stepCounter) watch(o *Options) error {
	if !o.Begins {
		return nil
	}
	if o.To <= o.From || o.From < 0 {
		return errors.New("begins of steps are known between two steps only")
	}
	c.from = int64(o.From)
	c.begins = make([]stepBegin, o.To-o.From)
	return nil
}

// step notes that a rank begins step n at the date.
func (c *stepCounter) step(n int64, date float64) {
	c.last = max(c.last, n)
	if c.begun++; c.report != nil && c.begun%c.ranks == 0 {
		c.report(c.begun / c.ranks)
	}
	if i := n - c.from; uint64(i) < uint64(len(c.begins)) {
		b := &c.begins[i]
		b.ranks++
		b.sum += date
		b.last = max(b.last, date)
	}
}

// addTo sets the Begins of a result, if they were asked for. All ranks must begin all
// steps.
func (c *stepCounter) addTo(res *Result) error {
	if len(c.begins) == 0 {
		return nil
	}
	for i, b := range c.begins {
		if b.ranks != c.ranks {
			return fmt.Errorf("%d of %d ranks begin step %d", b.ranks, c.ranks, c.from+int64(i))
		}
		res.Begins = append(res.Begins, Begin{b.sum / float64(b.ranks), b.last})
	}
	res.Begins = append(res.Begins, Begin{res.meanEnd(), res.Makespan})
	return nil
}
