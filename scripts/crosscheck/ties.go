package main

import (
	"fmt"
	"math"
	"strings"
)

// A tie is two events at one time whose order decides what comes after: two polls
// that share the counter of growing costs, or a poll at the very time of the post
// that it looks for. The model does not say which is first, and SimGrid's answer
// is that of its containers: cpu/optim:Lazy and Full differ. So a case that is off is
// played again with sleeps of some nanoseconds before each action, which make
// simultaneous events follow each other. It depends on a tie if then both simulators
// agree, on every action, while SimGrid has moved by far more than it has slept; or
// replay has, and what is off first is a poll. Not every skew separates what was
// simultaneous, so that a few must, of many.

// Skews: how many must agree, how many are tried, and the longest sleeps before an
// action in seconds. Short ones move times less than what a cheap poll costs, long
// ones separate better.
const (
	fewestSkews = 3
	mostSkews   = 12
	longSkew    = 2e-8
	shortSkew   = 5e-9
)

// tied reports whether a case that is off depends on a tie.
func (t *tools) tied(v *verdict) (bool, error) {
	if v.failed != nil || v.refused != nil {
		return false, nil
	}
	for _, longest := range []float64{longSkew, shortSkew} {
		if tie, err := t.tiedAt(v, longest); tie || err != nil {
			return tie, err
		}
	}
	return false, nil
}

// tiedAt is tied for one length of sleeps.
func (t *tools) tiedAt(v *verdict, longest float64) (bool, error) {
	off := math.Abs(v.worst.ours - v.worst.theirs)
	far := max(off/2, 2*longest*float64(v.c.longestRank()))
	agreed, moved := 0, 0.0
	for i := 0; i < mostSkews && (agreed < fewestSkews || moved <= far); i++ {
		after, err := t.play(v.c.skewed(uint64(i), longest))
		if err != nil {
			return false, err
		}
		if after.refused != nil || after.failed != nil || after.worst.tolerances > 1 {
			continue
		}
		agreed++
		moved = max(moved, v.theirs.distance(after.theirs))
		if v.found && v.c.polls(v.first) {
			moved = max(moved, v.ours.distance(after.ours))
		}
	}
	return agreed >= fewestSkews && moved > far, nil
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
func (c *testCase) polls(d deviance) bool {
	fields := strings.Fields(c.script.ranks[d.rank][d.action].text)
	return fields[1] == "test" || strings.HasSuffix(fields[1], "recv") && len(fields) > 4 && fields[4] == "-1"
}

// longestRank returns the number of actions of the rank that has most.
func (c *testCase) longestRank() int {
	n := 0
	for _, lines := range c.script.ranks {
		n = max(n, len(lines))
	}
	return n
}

// skewed returns the case with a sleep of 1e-9 to longest seconds before each action
// but the first of each rank.
func (c *testCase) skewed(seed uint64, longest float64) *testCase {
	d := newDice(seed, uint64(c.number))
	other, s := *c, newScript(len(c.script.ranks))
	s.shared, s.groups = c.script.shared, c.script.groups
	for r, lines := range c.script.ranks {
		for i, l := range lines {
			if i > 0 {
				rank, _, _ := strings.Cut(l.text, " ")
				s.ranks[r] = append(s.ranks[r], line{fmt.Sprintf("%s sleep %.6g", rank, 1e-9+d.Float64()*(longest-1e-9)), 0})
			}
			s.ranks[r] = append(s.ranks[r], l)
		}
	}
	other.script = s
	return &other
}
