package capture

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// This file finds the steps of the run (stepper.find), stage 5 of a merge.

// outline is the list of a rank's actions in three parts: those before the steps of the run, one step, and those
// behind the last step. Without steps all come before.
type outline struct {
	before, step, after []item
	marked              [][]item // steps of different forms, in place of step
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
	ranks, steps, reason = s.turns(m)
	most, nested := 0, 0 // ranks whose main loop holds most of their actions; whose turns are mostly those of another loop
	for rank, l := range s.main {
		items := s.ranks[rank]
		if 2*l.length*l.turns >= s.loops.length(items) {
			most++
		}
		body := s.loops.bodies[items[l.at].what].items
		times := map[int32]float64{} // by loop
		for _, it := range body {
			if it.turns > 0 {
				times[it.what] += s.time([]item{it})
			}
		}
		if len(times) > 0 && 2*slices.Max(slices.Collect(maps.Values(times))) > s.time(body) {
			nested++
		}
	}
	if reason == nil && most == len(s.ranks) && 2*nested <= most {
		return ranks, steps, nil
	}
	// Steps that differ from turn to turn are no turns of a loop of equal actions, or many of them are one turn.
	if others, n := s.recurring(m); n > steps {
		return others, n, nil
	}
	return ranks, steps, reason
}

// turns finds steps that are turns of the main loops.
func (s *stepper) turns(m matching) (ranks []outline, steps int, reason error) {
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
	if reason = s.align(m); reason != nil {
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
	at := make([][]int64, len(s.ranks)) // the steps before each mark
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
	}
	if steps = len(at[0]); steps == 0 || steps > mostSteps {
		return nil, 0, fmt.Errorf("--step-mark %s: ranks come to it %d times, allowed 1 to %d", mark, steps, mostSteps)
	}
	// Where a step begins, no message may be under way and no request open.
	f := s.follow(m, s.ranks)
	for n := range steps {
		for rank := range s.ranks {
			for f.at[rank] < at[rank][n] {
				f.advance(rank)
			}
		}
		for rank := range s.ranks {
			if f.behind(rank) {
				return nil, 0, fmt.Errorf("--step-mark %s: where all ranks have come to number %d of them, rank %d has messages, "+
					"requests or operations under way", mark, n+1, rank)
			}
		}
	}
	ranks = s.parted(at)
	for rank := range ranks {
		o := &ranks[rank]
		o.marked, o.after = append(o.marked, o.after), nil
	}
	return ranks, steps, nil
}

// parted returns the actions of the ranks with a step from each of their cuts to the next.
func (s *stepper) parted(cuts [][]int64) []outline {
	ranks := make([]outline, len(s.ranks))
	for rank, items := range s.ranks {
		var rest []item // of a loop that a cut divides; the other items follow it
		done := int64(0)
		to := func(cut int64) (part []item) {
			for n := cut - done; n > 0; n = cut - done {
				if len(rest) == 0 {
					rest, items = items[:1], items[1:]
				}
				if length := s.loops.length(rest[:1]); length <= n {
					part, rest, done = append(part, rest[0]), rest[1:], done+length
					continue
				}
				head, tail := s.loops.split(rest[:1], n)
				part, rest, done = append(part, head...), append(tail, rest[1:]...), cut
			}
			return part
		}
		o := &ranks[rank]
		o.before, o.marked = to(cuts[rank][0]), make([][]item, 0, len(cuts[rank]))
		for _, cut := range cuts[rank][1:] {
			o.marked = append(o.marked, to(cut))
		}
		o.after = slices.Concat(rest, items)
	}
	return ranks
}

// follower is all ranks on their way through their actions.
type follower struct {
	*abreast
	walkers []*walker
	at      []int64 // by rank: steps that are done
}

// follow returns a follower at the beginning of the items of all ranks.
func (s *stepper) follow(m matching, ranks [][]item) *follower {
	f := &follower{newAbreast(m, len(ranks)), nil, make([]int64, len(ranks))}
	for _, items := range ranks {
		f.walkers = append(f.walkers, s.loops.walk(items, 1))
	}
	return f
}

// advance has a rank do its next step.
func (f *follower) advance(rank int) error {
	// A rank at the end cannot catch up. If it still has open requests, they are the reason.
	n, ok := f.walkers[rank].next()
	switch {
	case !ok && len(f.open[rank]) > 0:
		return fmt.Errorf("requests of rank %d are open wherever its outermost loop begins anew", rank)
	case !ok:
		return errNotTogether
	}
	f.step(rank, &f.table.steps[n])
	f.at[rank]++
	return nil
}

// catchUp has ranks go on until none lags behind others: that is a cut.
func (f *follower) catchUp() error {
	for again := true; again; {
		again = false
		for rank := range f.walkers {
			for ; f.behind(rank); again = true {
				if err := f.advance(rank); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// align finds the first cut in the main loops, and the next one that is whole turns later for all ranks: these are a
// step.
func (s *stepper) align(m matching) error {
	// The actions before the loops may leave requests open, and messages under way, so that all ranks are followed from
	// their beginning on, to the end of their main loop at most.
	begins, parts := make([]int64, len(s.ranks)), make([][]item, len(s.ranks))
	for rank, items := range s.ranks {
		at := s.main[rank].at
		begins[rank], parts[rank] = s.loops.length(items[:at]), items[:at+1]
	}
	f := s.follow(m, parts)
	for rank, begin := range begins {
		for f.at[rank] < begin {
			f.advance(rank)
		}
	}
	if err := f.catchUp(); err != nil {
		return err
	}
	for rank, at := range f.at {
		s.main[rank].cut = at - begins[rank]
	}
	var first []int64 // the first cut behind a turn of the first rank: no rank is further there than others need
	for range 1 + mostTurnsOfStep {
		for range s.main[0].length {
			if err := f.advance(0); err != nil {
				return err
			}
		}
		if err := f.catchUp(); err != nil {
			return err
		}
		// The loop goes on turn by turn of the first rank. The cut behind the first turn is the one that
		// later cuts are compared with.
		if first == nil {
			first = slices.Clone(f.at)
			continue
		}
		// A step is found when each rank has done a whole number of its turns since that cut.
		whole := true
		for rank, at := range f.at {
			l, n := &s.main[rank], at-first[rank]
			whole = whole && n > 0 && n%l.length == 0
			l.times = n / l.length
		}
		if whole {
			return nil
		}
	}
	return errNotTogether
}
