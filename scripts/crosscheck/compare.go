package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// What a time t may be off by.
const (
	absolute  = 5e-9 // seconds: events that SimGrid merges, a few of them
	relative  = 1e-6
	longLimit = 2e-4 // relative, of long cases
)

// verdict is what became of a case.
type verdict struct {
	c       *testCase
	refused error    // smpirun could not play it: nothing to compare with
	failed  error    // replay could not
	worst   deviance // of the times
	first   deviance // the earliest action that is off
	found   bool     // there is one
	theirs  *timeline
	ours    *timeline
	tie     bool   // it is off because of the order of simultaneous events
	chaos   bool   // it is long, and SimGrid is as far off from itself
	note    string // why, as far as a program can tell
}

// deviance is a time by both simulators. Action is -1 for the end of the rank.
type deviance struct {
	rank, action  int
	theirs, ours  float64
	tolerances    float64 // the difference in units of what is allowed
	relativeError float64 // less what is allowed absolutely
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

// check plays a case and judges it.
func (t *tools) check(c *testCase) (*verdict, error) {
	v, err := t.play(c)
	if err != nil || !v.bad() {
		return v, err
	}
	if !c.long {
		v.tie, err = t.tied(v)
		return v, err
	}
	moved := 0.0
	v.chaos, moved, err = t.chaotic(v)
	v.note = fmt.Sprintf("with sleeps of up to %.3g s before each action SimGrid's own times move by %.3g s", shortSkew, moved)
	return v, err
}

// play plays a case by both simulators.
func (t *tools) play(c *testCase) (*verdict, error) { return t.playIn(c, t.playReprise) }

// playSimgrid plays a case by SimGrid alone.
func (t *tools) playSimgrid(c *testCase) (*verdict, error) {
	return t.playIn(c, func(string, *verdict) {})
}

// playIn plays a case by SimGrid and then as told, in a directory of its own, which
// it removes.
func (t *tools) playIn(c *testCase, then func(dir string, v *verdict)) (*verdict, error) {
	v := &verdict{c: c}
	dir, err := os.MkdirTemp("", "crosscheck")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := c.write(dir); err != nil {
		return nil, err
	}
	if v.theirs, v.refused = t.simgrid(dir, c); v.refused == nil {
		then(dir, v)
	}
	return v, nil
}

// playReprise plays a case by replay and compares.
func (t *tools) playReprise(dir string, v *verdict) {
	if v.ours, v.failed = t.reprise(dir, v.c); v.failed == nil {
		v.ours.actions, v.failed = t.actions(dir, v.c)
	}
	if v.failed == nil {
		v.failed = checkRoutes(dir)
	}
	if v.failed == nil {
		v.worst = compare(v.theirs, v.ours)
		v.first, v.found = first(v.theirs, v.ours)
	}
}

// compare returns the largest deviance.
func compare(theirs, ours *timeline) deviance {
	worst := deviance{rank: 0, action: -1, theirs: theirs.ends[0], ours: ours.ends[0]}
	for r := range theirs.ends {
		consider(&worst, r, -1, theirs.ends[r], ours.ends[r])
	}
	if ours.actions == nil {
		return worst
	}
	for r, times := range theirs.actions {
		for i := range min(len(times), len(ours.actions[r])) {
			if at := ours.actions[r][i]; !math.IsNaN(at) {
				consider(&worst, r, i, times[i], at)
			}
		}
	}
	return worst
}

// first returns the earliest time in SimGrid that replay has different.
func first(theirs, ours *timeline) (deviance, bool) {
	earliest, found := deviance{}, false
	for r, times := range theirs.actions {
		if r >= len(ours.actions) {
			break
		}
		for i := range min(len(times), len(ours.actions[r])) {
			d := deviance{tolerances: 1}
			if at := ours.actions[r][i]; math.IsNaN(at) || found && times[i] >= earliest.theirs {
				continue
			} else if consider(&d, r, i, times[i], at); d.theirs != d.ours {
				earliest, found = d, true
			}
		}
	}
	return earliest, found
}

func consider(worst *deviance, rank, action int, theirs, ours float64) {
	off := math.Abs(ours - theirs)
	if n := off / (absolute + relative*theirs); n > worst.tolerances || math.IsNaN(n) {
		*worst = deviance{rank, action, theirs, ours, n, max(0, off-absolute) / max(theirs, absolute)}
	}
}

// diagnose says whether the case is sensitive: how far each simulator's own times
// move when its tolerances become tighter.
func (t *tools) diagnose(c *testCase) (string, error) {
	dir, err := os.MkdirTemp("", "crosscheck")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := c.write(dir); err != nil {
		return "", err
	}
	tight := []string{"surf/precision:1e-13", "maxmin/precision:1e-9"}
	lines := make([]*timeline, 4)
	for i, play := range []func() (*timeline, error){
		func() (*timeline, error) { return t.simgrid(dir, c) },
		func() (*timeline, error) { return t.simgrid(dir, c, tight...) },
		func() (*timeline, error) { return t.reprise(dir, c, tight...) },
		func() (*timeline, error) { return t.reprise(dir, c, "reprise/solver:reference") },
	} {
		if lines[i], err = play(); err != nil {
			return err.Error(), nil
		}
	}
	move := func(a, b int) float64 { return compare(lines[a], lines[b]).tolerances }
	return fmt.Sprintf("with tighter precision SimGrid moves by %.2g tolerances and differs from replay by %.2g; replay's reference solver differs by %.2g",
		move(0, 1), move(1, 2), move(0, 3)), nil
}

// keep stores a case with both sets of times below a directory, for whoever is to
// find out why.
func (t *tools) keep(v *verdict, below string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(below, v.c.name()))
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := v.c.write(dir); err != nil {
		return "", err
	}
	text := ""
	if theirs, err := t.simgrid(dir, v.c); err != nil {
		text += err.Error() + "\n"
	} else {
		text += fmt.Sprintf("smpirun ends %.17g\n", theirs.ends)
	}
	if ours, err := t.reprise(dir, v.c); err != nil {
		text += err.Error() + "\n"
	} else {
		text += fmt.Sprintf("replay ends  %.17g\n", ours.ends)
	}
	return dir, os.WriteFile(filepath.Join(dir, "outcome.txt"), []byte(text+v.note+"\n"), 0o644)
}
