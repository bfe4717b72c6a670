package capture

import (
	"errors"
	"fmt"
	"slices"
)

// This file finds the steps of the run (stepper.find), stage 5 of a merge.

// outline is the list of a rank's actions in three parts: those before the steps of the run, one step, and those
// behind the last step. Without steps all come before.
type outline struct {
	before, step, after []item
	marked              [][]item // steps between marks that the user names, in place of step
}

// Limits of the steps of a run.
const (
	fewest    = 4       // steps that are worth marking
	mostSteps = 1 << 20 // in a trace; of more turns several are a step
	// mostTurnsOfStep bounds the turns of the first rank in a step, before several steps are made one.
	mostTurnsOfStep = 64
)

// part says how much of a rank's actions its main loop must hold: at least a tenth.
const part = 10

// stepper looks for the steps of a run: the turns of the loop that has most of each rank's actions, from one cut to
// the next. A cut is a moment at which nothing is under way (abreast).
type stepper struct {
	table *table
	loops *loops
	ranks [][]item
	main  []mainLoop // by rank
}

// errNotTogether is the reason for no steps if ranks do not come to common cuts.
var errNotTogether = errors.New("the ranks do not go through their outermost loops together")

// mainLoop is the loop of a rank whose turns may be steps.
type mainLoop struct {
	at     int   // item
	length int64 // steps of a turn
	turns  int64
	times  int64 // turns in a step of the run
	cut    int64 // place of the first cut, in steps from the beginning of the loop
}

// find returns the actions of the ranks and how many steps of the run they have. Reason says why they have none.
func (s *stepper) find(m matching) (ranks []outline, steps int, reason error) {
	ranks = make([]outline, len(s.ranks))
	for rank, items := range s.ranks {
		ranks[rank].before = items
	}
	// The main loop of a rank is the one with most of its actions, a tenth of them at least.
	for rank, items := range s.ranks {
		// The longest loop by its actions wins; of equal ones, the first.
		best, all := mainLoop{}, s.loops.length(items)
		for i, it := range items {
			if it.turns > 0 {
				l := mainLoop{at: i, length: s.loops.bodies[it.what].length, turns: int64(it.turns)}
				if l.length*l.turns > best.length*best.turns {
					best = l
				}
			}
		}
		if part*best.length*best.turns < all || all == 0 {
			return ranks, 0, fmt.Errorf("rank %d has no loop that holds a tenth of what it does", rank)
		}
		s.main = append(s.main, best)
	}
	if reason = s.align(newAbreast(m, len(s.ranks))); reason != nil {
		return ranks, 0, reason
	}
	// The run has as many steps as every rank has from the first cut on.
	count := func() int64 {
		n := int64(mostTurns)
		for i := range s.main {
			l := &s.main[i]
			n = min(n, (l.turns*l.length-l.cut)/(l.times*l.length))
		}
		return n
	}
	n := count()
	if n < fewest {
		return ranks, 0, fmt.Errorf("all ranks begin %d turns of the outermost loop together, fewer than %d", n, fewest)
	}
	// A trace with more steps than allowed gets longer steps.
	if several := (n + mostSteps - 1) / mostSteps; several > 1 {
		for i := range s.main {
			s.main[i].times *= several
		}
		n = count()
	}
	for rank, items := range s.ranks {
		l := &s.main[rank]
		head, rest := s.loops.split(items[l.at:l.at+1], l.cut)
		step, _ := s.loops.split(rest, l.times*l.length)
		_, tail := s.loops.split(rest, n*l.times*l.length)
		ranks[rank] = outline{before: slices.Concat(items[:l.at], head), step: step, after: append(tail, items[l.at+1:]...)}
	}
	return ranks, int(n), nil
}

// marked returns the actions of the ranks with steps that begin at the actions that a mark names.
func (s *stepper) marked(m matching, mark string, is func(*step) bool) (ranks []outline, steps int, err error) {
	walkers, at := make([]*walker, len(s.ranks)), make([][]int64, len(s.ranks)) // at: the steps before each mark
	for rank, items := range s.ranks {
		walker, n := s.loops.walk(items, 1), int64(0)
		for next, ok := walker.next(); ok; next, ok = walker.next() {
			if is(&s.table.steps[next]) {
				at[rank] = append(at[rank], n)
			}
			n++
		}
		if len(at[rank]) != len(at[0]) {
			return nil, 0, fmt.Errorf("--step-mark %s: rank 0 comes to it %d times, rank %d %d times", mark, len(at[0]), rank,
				len(at[rank]))
		}
		walkers[rank] = s.loops.walk(items, 1)
	}
	if steps = len(at[0]); steps == 0 || steps > mostSteps {
		return nil, 0, fmt.Errorf("--step-mark %s: ranks come to it %d times, allowed 1 to %d", mark, steps, mostSteps)
	}
	// Where a step begins, no message may be under way and no request open.
	a, done := newAbreast(m, len(s.ranks)), make([]int64, len(s.ranks))
	for n := range steps {
		for rank := range s.ranks {
			for ; done[rank] < at[rank][n]; done[rank]++ {
				next, _ := walkers[rank].next()
				a.step(rank, &s.table.steps[next])
			}
		}
		for rank := range s.ranks {
			if a.behind(rank) {
				return nil, 0, fmt.Errorf("--step-mark %s: where all ranks have come to number %d of them, rank %d has messages, "+
					"requests or operations under way", mark, n+1, rank)
			}
		}
	}
	ranks = make([]outline, len(s.ranks))
	for rank, items := range s.ranks {
		o, rest := &ranks[rank], items
		o.before, rest = s.loops.split(rest, at[rank][0])
		for n := 1; n < steps; n++ {
			var part []item
			part, rest = s.loops.split(rest, at[rank][n]-at[rank][n-1])
			o.marked = append(o.marked, part)
		}
		o.marked = append(o.marked, rest)
	}
	return ranks, steps, nil
}

// align finds the first cut in the main loops, and the next one that is whole turns later for all ranks: these are a
// step.
func (s *stepper) align(a *abreast) error {
	walkers, at := make([]*walker, len(s.ranks)), make([]int64, len(s.ranks)) // at: steps of the loops that are done
	for rank, items := range s.ranks {
		l := &s.main[rank]
		// What comes before the loop leaves requests open, and messages under way.
		before := s.loops.walk(items[:l.at], 1)
		for n, ok := before.next(); ok; n, ok = before.next() {
			a.step(rank, &s.table.steps[n])
		}
		walkers[rank] = s.loops.walk(items[l.at:l.at+1], 1)
	}
	advance := func(rank int) error {
		// A rank at the end of its loop cannot catch up. If it still has open requests, they are the reason.
		n, ok := walkers[rank].next()
		switch {
		case !ok && len(a.open[rank]) > 0:
			return fmt.Errorf("requests of rank %d are open wherever its outermost loop begins anew", rank)
		case !ok:
			return errNotTogether
		}
		a.step(rank, &s.table.steps[n])
		at[rank]++
		return nil
	}
	// catchUp has ranks go on until none lags behind others.
	catchUp := func() error {
		for again := true; again; {
			again = false
			for rank := range walkers {
				for ; a.behind(rank); again = true {
					if err := advance(rank); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	if err := catchUp(); err != nil {
		return err
	}
	for rank := range at {
		s.main[rank].cut = at[rank]
	}
	var first []int64 // the first cut behind a turn of the first rank: no rank is further there than others need
	for range 1 + mostTurnsOfStep {
		for range s.main[0].length {
			if err := advance(0); err != nil {
				return err
			}
		}
		if err := catchUp(); err != nil {
			return err
		}
		// The loop goes on turn by turn of the first rank. The cut behind the first turn is the one that
		// later cuts are compared with.
		if first == nil {
			first = slices.Clone(at)
			continue
		}
		// A step is found when each rank has done a whole number of its turns since that cut.
		whole := true
		for rank := range at {
			l, n := &s.main[rank], at[rank]-first[rank]
			whole = whole && n > 0 && n%l.length == 0
			l.times = n / l.length
		}
		if whole {
			return nil
		}
	}
	return errNotTogether
}
