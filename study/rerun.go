package study

import (
	"encoding/json"
	"fmt"
	"slices"

	"reprise/internal/textutil"
)

// Rerun is how the results of a study that was made again differ from the archived ones.
type Rerun struct {
	Rows        int      `json:"rows"`
	Different   int      `json:"different"`   // rows that are not the same bits
	Differences []string `json:"differences"` // of the first rows
	Causes      []string `json:"causes"`      // what differs in what the runs depend on
}

// Compare compares results of the archive's runs, made again by a plan that Create has
// returned, with the archived ones.
func (a *Archive) Compare(p *Plan, r *Results) *Rerun {
	c := &Rerun{Rows: len(a.results), Differences: []string{}, Causes: []string{}}
	if a.Plan.Version != p.Version {
		c.Causes = append(c.Causes, fmt.Sprintf("archived by Reprise %s, made again by %s", a.Plan.Version, p.Version))
	}
	for i := range p.Inputs {
		if _, err := p.textOf(&p.Inputs[i]); err != nil {
			c.Causes = append(c.Causes, err.Error())
		}
	}
	for i, run := range p.Runs {
		text := differenceOf(&a.results[i], r.Of(run.ID))
		if text == "" {
			continue
		}
		c.Different++
		if len(c.Differences) < maxTold {
			c.Differences = append(c.Differences, p.Describe(i)+": "+text)
		}
	}
	return c
}

// differenceOf says how a result differs from the archived one; "" if it does not.
func differenceOf(old *archived, now *Entry) string {
	switch {
	case now == nil:
		return "has no result"
	case now.Error != old.Error && now.Error != "":
		return "failed: " + now.Error
	case now.Error != old.Error:
		return "failed then, and not now: " + old.Error
	case old.Outcome == nil:
		return ""
	}
	if a, b := old.Outcome, now.Outcome; a.Makespan != b.Makespan {
		return fmt.Sprintf("makespan %v s, was %v s", b.Makespan, a.Makespan)
	}
	a, err1 := json.Marshal(old.Outcome)
	b, err2 := json.Marshal(now.Outcome)
	if err1 != nil || err2 != nil || !slices.Equal(a, b) {
		return "the makespan is the same, and other numbers are not"
	}
	return ""
}

// Summary says in a line what came out.
func (c *Rerun) Summary() string {
	if c.Different == 0 {
		return fmt.Sprintf("%s: the same bits", textutil.Count(c.Rows, "row"))
	}
	return fmt.Sprintf("%d of %s differ", c.Different, textutil.Count(c.Rows, "row"))
}
