package capture

import (
	"errors"
	"fmt"
	"slices"
)

// outline is what a rank does: what comes before the steps of the run, one step, and what comes
// behind the last. Without steps all comes before.
type outline struct{ before, step, after []item }

// Numbers of steps: those that are worth marking, and as many as a trace gets; of more turns
// several are a step.
const (
	fewest    = 4
	mostSteps = 1 << 20
)

// part is which part of what a rank does its main loop must hold at least: one of so many.
const part = 10

// stepper looks for the steps of a run: the turns of the loop that has most of what each rank
// does, from one cut to the next.
type stepper struct {
	table *table
	loops *loops
	ranks [][]item
	main  []mainLoop // by rank
}

var errNotTogether = errors.New("the ranks do not go through their outermost loops together")

// mainLoop is the loop of a rank whose turns may be steps.
type mainLoop struct {
	at     int   // item
	length int64 // steps of a turn
	turns  int64
	times  int64 // turns in a step of the run
	cut    int64 // where the first cut is, in steps from the begin of the loop
}

// find returns what the ranks do with how many steps of the run. Reason says why there are none.
func (s *stepper) find(m matching) (ranks []outline, steps int, reason error) {
	ranks = make([]outline, len(s.ranks))
	for rank, items := range s.ranks {
		ranks[rank].before = items
	}
	if reason = s.choose(); reason != nil {
		return ranks, 0, reason
	}
	if reason = s.align(newAbreast(m, len(s.ranks))); reason != nil {
		return ranks, 0, reason
	}
	n := s.steps()
	if n < fewest {
		return ranks, 0, fmt.Errorf("all ranks begin %d turns of the outermost loop together, fewer than %d", n, fewest)
	}
	if several := (n + mostSteps - 1) / mostSteps; several > 1 {
		for i := range s.main {
			s.main[i].times *= several
		}
		n = s.steps()
	}
	for rank := range ranks {
		ranks[rank] = s.outline(rank, n)
	}
	return ranks, int(n), nil
}

// steps returns how many steps all ranks have from the first cut on.
func (s *stepper) steps() int64 {
	n := int64(mostTurns)
	for i := range s.main {
		l := &s.main[i]
		n = min(n, (l.turns*l.length-l.cut)/(l.times*l.length))
	}
	return n
}

// choose finds the main loop of each rank.
func (s *stepper) choose() error {
	for rank, items := range s.ranks {
		best, all := mainLoop{}, s.loops.length(items)
		for i, it := range items {
			if it.turns > 0 {
				if l := (mainLoop{at: i, length: s.loops.lengths[it.what],
					turns: int64(it.turns)}); l.length*l.turns > best.length*best.turns {
					best = l
				}
			}
		}
		if part*best.length*best.turns < all || all == 0 {
			return fmt.Errorf("rank %d has no loop that holds a tenth of what it does", rank)
		}
		s.main = append(s.main, best)
	}
	return nil
}

// align finds the first cut in the main loops, and the next one that is whole turns later for
// all ranks: these are a step.
func (s *stepper) align(a *abreast) error {
	walkers := make([]*walker, len(s.ranks))
	for rank, items := range s.ranks {
		l := &s.main[rank]
		for w := s.loops.walk(items[:l.at], 1); ; {
			n, ok := w.next()
			if !ok {
				break
			}
			a.step(rank, &s.table.steps[n])
		}
		walkers[rank] = s.loops.walk(items[l.at:l.at+1], 1)
	}
	at := make([]int64, len(walkers))
	if err := s.catchUp(a, walkers, at); err != nil {
		return err
	}
	for rank := range at {
		s.main[rank].cut = at[rank]
	}
	var first []int64 // behind a turn of the first rank: no rank is further than the others need
	for range 1 + mostTurnsOfStep {
		for range s.main[0].length {
			if err := s.advance(a, walkers, at, 0); err != nil {
				return err
			}
		}
		if err := s.catchUp(a, walkers, at); err != nil {
			return err
		}
		if first == nil {
			first = slices.Clone(at)
		} else if s.whole(first, at) {
			return nil
		}
	}
	return errNotTogether
}

// mostTurnsOfStep is how many turns of the first rank a step has at most, before several steps
// are made one.
const mostTurnsOfStep = 64

// whole notes how many turns a step has, if it has whole turns of all ranks.
func (s *stepper) whole(first, at []int64) bool {
	for rank := range at {
		l := &s.main[rank]
		n := at[rank] - first[rank]
		if n == 0 || n%l.length != 0 {
			return false
		}
		l.times = n / l.length
	}
	return true
}

// catchUp has ranks go on until none lags behind others.
func (s *stepper) catchUp(a *abreast, walkers []*walker, at []int64) error {
	for again := true; again; {
		again = false
		for rank := range walkers {
			for ; a.behind(rank); again = true {
				if err := s.advance(a, walkers, at, rank); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// advance has a rank do the next step in its main loop.
func (s *stepper) advance(a *abreast, walkers []*walker, at []int64, rank int) error {
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

// outline parts what a rank does into n steps of the run and the rest.
func (s *stepper) outline(rank int, n int64) outline {
	l, items := &s.main[rank], s.ranks[rank]
	loop := items[l.at : l.at+1]
	head, rest := s.loops.split(loop, l.cut)
	step, _ := s.loops.split(rest, l.times*l.length)
	_, tail := s.loops.split(rest, n*l.times*l.length)
	return outline{
		before: append(append([]item{}, items[:l.at]...), head...),
		step:   step,
		after:  append(tail, items[l.at+1:]...),
	}
}
