package capture

import (
	"maps"
	"slices"
)

// This file has the statistics of the times between calls (sites.add, sites.at), and tells apart places of the
// program that are one site (sites.part).

// site is a place of the program where it computes: between two calls, named by the keys of their records. If
// several places have the same two calls, as in two phases that send alike, a hash of the calls before is added.
type site uint64

// between returns the site between two calls.
func between(before, after uint64) site { return site(before*multiplier + after) }

// gaps are statistics of the times at a site, in nanoseconds. A trace has their mean and deviation in place of each
// time: single times have the noise of the machine of the recording, of which their mean has less.
type gaps struct {
	n       int64
	sum     float64
	squares float64 // their sum
	// kept and keptSum are n and sum of the times in which the rank kept its processor. A rank that lost it and gets it
	// back computes longer, as its caches are cold.
	kept    int64
	keptSum float64
}

// add adds a time.
func (g *gaps) add(v float64) {
	g.n++
	g.sum += v
	g.squares += float64(v * v)
}

// mean returns the mean of the times.
func (g *gaps) mean() float64 { return g.sum / float64(g.n) }

// deviations returns the sum of the squared deviations from the mean: 0 if they are no more than what rounding leaves.
func (g *gaps) deviations() float64 {
	if d := g.squares - float64(g.sum*g.mean()); d > rounding*g.squares {
		return d
	}
	return 0
}

// rounding is the part of a sum of squares below which a difference is the error of rounding.
const rounding = 1e-12

// variance returns that of the times, in nanoseconds squared.
func (g *gaps) variance() float64 { return g.deviations() / float64(g.n) }

// sites has the statistics of all sites of a rank.
type sites struct {
	numbers map[site]int32
	times   []*[256]gaps // by number, in parts that never move
	depths  map[site]int // of those that are several places: how many calls before tell them apart
	total   float64      // of all times
}

// of returns the times at a site, no times at first.
func (s *sites) of(at site) *gaps {
	n := numberOf(s.numbers, at)
	if int(n>>8) == len(s.times) {
		s.times = append(s.times, new([256]gaps))
	}
	return &s.times[n>>8][n&255]
}

// add adds a time at a site, in which the rank may have lost its processor.
func (s *sites) add(at site, time float64, lost bool) {
	// Times without the processor count for the mean of the trace, as the run had them, but not for the
	// question whether a rank only waits.
	g := s.of(at)
	if g.add(time); !lost {
		g.kept++
		g.keptSum += time
	}
	s.total += time
}

// at returns the times at a site, for a rank that has come there by the trail of calls.
func (s *sites) at(where site, by *trail) *gaps {
	if depth, ok := s.depths[where]; ok {
		where += site(by.past(depth))
	}
	return s.of(where)
}

// Sites are parted if their times deviate by half of their mean, and these limits allow it.
const (
	mixedTimes  = 8       // of a site, at least
	mixedShare  = 1e-3    // of all times, that the site has at least
	mostClasses = 1 << 12 // of a site at a depth: with more, the classes are of chance
	leftOfMixed = 1.0 / 4 // of the variance may be left in the classes
)

// pastDepths are the numbers of calls back that are tried to tell places of a site apart.
var pastDepths = [...]int{2, 4, 8, 16, mostPast}

// mostPast is the largest number of calls back.
const mostPast = 32

// trail is the sequence of calls by which a rank has come to a place. Equal calls in a row count as one, as the
// number of questions asked in vain depends on the timing of the machine.
type trail struct {
	last uint64
	n    int
	sums [1 + mostPast]uint64 // hashes of the first n calls, n-1 and so on, as a ring
}

// push adds a call.
func (t *trail) push(key uint64) {
	if t.n > 0 && key == t.last {
		return
	}
	// The hash of the calls so far follows from the one before by one multiplication.
	sum := t.sums[t.n%len(t.sums)]*multiplier + key
	t.n++
	t.last, t.sums[t.n%len(t.sums)] = key, sum
}

// past returns a hash of the last calls, or of all that there were; not 0.
func (t *trail) past(calls int) uint64 {
	// The difference of two hashes of beginnings is that of the calls between them (see multiplier). A trail
	// that is shorter than the limit counts as a whole.
	calls = min(calls, t.n)
	return (t.sums[t.n%len(t.sums)] - t.sums[(t.n-calls)%len(t.sums)]*powers[calls]) | 1
}

// part divides the sites that are several places, if the calls before tell these apart. It uses the fewest calls
// that leave little of the variance.
func (s *sites) part(records *stream) error {
	// The sites whose times are of several kinds. Of each, the times by class, for each depth.
	found := map[site]*[len(pastDepths)]map[uint64]gaps{}
	for at := range s.numbers {
		// Few times, little time, or a small spread are not worth a second reading of the stream.
		g := s.of(at)
		if mean := g.mean(); g.n >= mixedTimes && g.sum > mixedShare*s.total && g.variance() > mean*mean/4 {
			found[at] = &[len(pastDepths)]map[uint64]gaps{}
		}
	}
	if len(found) == 0 {
		return nil
	}
	var by trail
	before := uint64(0)
	for e, err := range records.events() {
		if err != nil {
			return err
		}
		if classes, ok := found[between(before, records.key)]; ok {
			classify(classes, &by, e.gap)
		}
		before = records.key
		by.push(before)
	}
	for at, classes := range found {
		s.choose(at, classes)
	}
	return nil
}

// classify adds a time to its class of each depth that has not too many.
func classify(classes *[len(pastDepths)]map[uint64]gaps, by *trail, time float64) {
	for i, depth := range pastDepths {
		if classes[i] == nil {
			classes[i] = map[uint64]gaps{}
		}
		if len(classes[i]) > mostClasses {
			continue
		}
		g := classes[i][by.past(depth)]
		g.add(time)
		classes[i][by.past(depth)] = g
	}
}

// choose divides a site by a depth of pastDepths, if one tells its times apart: if it leaves at most a quarter of
// the variance, and a deeper one at most a quarter of what the depth before leaves. The comparison allows for
// chance: of k classes of n times that only deviate by chance, n-k of n-1 parts of the squared deviations are
// left. A time alone in its class stays with the undivided site.
func (s *sites) choose(at site, classes *[len(pastDepths)]map[uint64]gaps) {
	// The depths ascend, and a deeper one must again leave no more than a quarter: short trails are preferred.
	all := *s.of(at)
	least, chosen := all.deviations(), -1
	for i, of := range classes {
		left, kinds := 0.0, int64(0)
		for _, past := range slices.Sorted(maps.Keys(of)) { // in one order, as sums of floats depend on it
			if g := of[past]; g.n > 1 {
				left += g.deviations()
				kinds++
			} else { // its own mean says nothing of others
				left += float64((g.sum - all.mean()) * (g.sum - all.mean()))
			}
		}
		chance := float64(all.n-kinds) / float64(all.n-1)
		if len(of) <= mostClasses && chance > 0 && left/chance <= leftOfMixed*least {
			least, chosen = left/chance, i
		}
	}
	if chosen < 0 {
		return
	}
	s.depths[at] = pastDepths[chosen]
	for past, g := range classes[chosen] {
		if g.n == 1 {
			g = all
		}
		*s.of(at + site(past)) = g
	}
}
