package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// Tolerances of a time t.
const (
	absolute  = 5e-9 // seconds: some events that SimGrid merges
	relative  = 1e-6
	longLimit = 2e-4 // relative, of long cases
)

// verdict is the result of a case.
type verdict struct {
	c       *testCase
	refused error // smpirun could not play it: nothing to compare with
	failed  error // replay could not
	theirs  *timeline
	ours    *timeline
	worst   deviance  // of the times
	first   *deviance // the earliest action that is off, nil if none is
	tie     bool      // it is off because of the order of simultaneous events, or of tolerances
	chaos   bool      // it is long, and SimGrid is as far off from itself
	moved   float64   // of a long case that is off: how far SimGrid's own times move, in seconds
}

// deviance is a time by both simulators. Action is -1 for the end of the rank.
type deviance struct {
	rank, action  int
	theirs, ours  float64
	tolerances    float64 // the difference in units of the tolerance
	relativeError float64 // beyond the absolute tolerance
}

// bad reports whether the times are off, for a reason other than a tie or chaos.
func (v *verdict) bad() bool {
	switch {
	case v.tie || v.chaos:
		return false
	case v.c.long:
		return v.failed != nil || v.worst.relativeError > longLimit
	}
	return v.failed != nil || v.worst.tolerances > 1
}

// play plays a case by SimGrid and, if both, by replay, and compares.
func (t *tools) play(c *testCase, both bool) (*verdict, error) {
	v := &verdict{c: c}
	dir, err := os.MkdirTemp("", "crosscheck")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := c.write(dir); err != nil {
		return nil, err
	}
	if v.theirs, v.refused = t.simgrid(dir, c); v.refused != nil || !both {
		return v, nil
	}
	if v.ours, v.failed = t.reprise(dir, c); v.failed == nil {
		v.worst, v.first = compare(v.theirs, v.ours)
	}
	return v, nil
}

// check plays a case, and again with sleeps if it is off.
func (t *tools) check(c *testCase) (*verdict, error) {
	v, err := t.play(c, true)
	if err != nil || !v.bad() || v.failed != nil {
		return v, err
	}
	if c.text != "" {
		v.tie, err = t.isSensitive(c)
		return v, err
	}
	if c.long {
		return v, t.findChaos(v)
	}
	for _, longest := range []float64{longSkew, shortSkew} {
		if v.tie, err = t.tied(v, longest); v.tie || err != nil {
			break
		}
	}
	return v, err
}

// compare returns the largest deviance, and the earliest of an action in SimGrid that is off, nil if none is.
func compare(theirs, ours *timeline) (worst deviance, first *deviance) {
	consider := func(rank, action int, theirs, ours float64) {
		off := math.Abs(ours - theirs)
		d := deviance{rank, action, theirs, ours, off / (absolute + relative*theirs), max(0, off-absolute) / max(theirs, absolute)}
		if d.tolerances > worst.tolerances || math.IsNaN(d.tolerances) {
			worst = d
		}
		if action >= 0 && !(d.tolerances <= 1) && (first == nil || theirs < first.theirs) {
			first = &d
		}
	}
	worst = deviance{action: -1, theirs: theirs.ends[0], ours: ours.ends[0]}
	for r := range theirs.ends {
		consider(r, -1, theirs.ends[r], ours.ends[r])
	}
	for r := range ours.actions {
		for i := range min(len(theirs.actions[r]), len(ours.actions[r])) {
			if at := ours.actions[r][i]; !math.IsNaN(at) {
				consider(r, i, theirs.actions[r][i], at)
			}
		}
	}
	return worst, first
}

// A tie is two events at one time whose order decides what follows: two polls
// that share the counter of growing costs, or a poll at the very time of the post
// that it looks for. The model does not say which is first, and SimGrid's answer
// is that of its containers: cpu/optim:Lazy and Full differ. So a case that is off is
// played again with sleeps of some nanoseconds before each action, which make
// simultaneous events follow each other. It depends on a tie if then both simulators
// agree, on every action, while SimGrid has moved by far more than it has slept; or
// replay has, and the first action that is off is a poll. Not every skew separates simultaneous
// events, so that a few must, of many.

// Skews: how many must agree, how many are tried, and the longest sleeps before an
// action in seconds. Short ones move times less than a cheap poll costs, long
// ones separate better.
const (
	fewestSkews = 3
	mostSkews   = 12
	longSkew    = 2e-8
	shortSkew   = 5e-9
)

// tied reports whether a case that is off depends on a tie, by sleeps of some length.
func (t *tools) tied(v *verdict, longest float64) (bool, error) {
	most := 0
	for _, lines := range v.c.lines {
		most = max(most, len(lines))
	}
	far := max(math.Abs(v.worst.ours-v.worst.theirs)/2, 2*longest*float64(most))
	agreed, moved := 0, 0.0
	for i := 0; i < mostSkews && (agreed < fewestSkews || moved <= far); i++ {
		after, err := t.play(v.c.skewed(uint64(i), longest), true)
		if err != nil {
			return false, err
		}
		if after.refused != nil || after.failed != nil || after.worst.tolerances > 1 {
			continue
		}
		agreed++
		moved = max(moved, v.theirs.distance(after.theirs))
		if v.first != nil && v.c.polls(v.first) {
			moved = max(moved, v.ours.distance(after.ours))
		}
	}
	return agreed >= fewestSkews && moved > far, nil
}

// findChaos finds out whether a long case that is off is chaotic: SimGrid disagrees with itself as much as
// replay does with it, once sleeps stand before the actions that are shorter than the differences that the
// simulators take for none.
func (t *tools) findChaos(v *verdict) error {
	off := math.Abs(v.worst.ours - v.worst.theirs)
	for i := 0; i < 6 && v.moved < off; i++ {
		after, err := t.play(v.c.skewed(uint64(i), shortSkew), false)
		if err != nil {
			return err
		}
		if after.refused == nil {
			v.moved = max(v.moved, v.theirs.distance(after.theirs))
		}
	}
	v.chaos = v.moved >= off
	return nil
}

// distance returns the largest change of a time, given that after has a sleep before
// each action but the first of a rank.
func (t *timeline) distance(after *timeline) float64 {
	worst := 0.0
	for r, end := range t.ends {
		worst = max(worst, math.Abs(after.ends[r]-end))
		if t.actions == nil || after.actions == nil {
			continue
		}
		for i, at := range t.actions[r] {
			if 2*i < len(after.actions[r]) && !math.IsNaN(at) {
				worst = max(worst, math.Abs(after.actions[r][2*i]-at))
			}
		}
	}
	return worst
}

// polls reports whether the action of a time is a poll: a test, or a receive of
// unknown size.
func (c *testCase) polls(d *deviance) bool {
	fields := strings.Fields(c.lines[d.rank][d.action])
	return fields[1] == "test" || strings.HasSuffix(fields[1], "recv") && len(fields) > 4 && fields[4] == "-1"
}

// describe says which time is meant, and both values.
func (d *deviance) describe(c *testCase) string {
	what := fmt.Sprintf("rank %d", d.rank)
	if d.action >= 0 {
		what = fmt.Sprintf("%q", c.lines[d.rank][d.action])
	}
	return fmt.Sprintf("%s ends at %.12g, in SimGrid at %.12g", what, d.ours, d.theirs)
}
