package capture

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"

	"reprise/trace"
)

// This file finds steps that differ (stepper.recurring): their sizes or numbers of calls depend on data, or they have
// several forms, such as output in every tenth. They begin where most ranks come to a place of the program equally
// often, after about equal times. A place is told by some calls in a row, whatever their sizes.

const (
	// sampled are the steps from which on a run is estimated by windows of them (package sampling).
	sampled = 220
	// longestPlace is how many calls tell a place, at most.
	longestPlace = 32
	// mostCalls bounds the calls of a rank, and mostNumbers the numbers of steps that are tried.
	mostCalls, mostNumbers = 1 << 22, 8
	// alike is by which factor a step is longer or shorter than the median, at most; and what part of the steps is so,
	// at least: those that are not have another form. They may take half of the time.
	alike, mostAlike = 2, 3. / 4
	// fewAlike is that factor of fewer steps than sampled, which could be parts of larger ones, as levels of a cycle.
	fewAlike = 4. / 3
)

// recurrence is a place that a rank comes to again and again.
type recurrence struct {
	at        []int64 // steps of the rank before it
	variation float64 // mean square of the times between, relative to the square of their mean: 1 if all are equal
}

// recurring returns the actions of the ranks and how many steps that differ they have; 0: none are found.
func (s *stepper) recurring(m matching) ([]outline, int) {
	found, shapes := make([]map[int]recurrence, len(s.ranks)), s.shapes()
	eachRank(len(found), func(rank int) { found[rank] = s.recurrences(s.ranks[rank], shapes) })
	ranksWith, variation := map[int]int{}, map[int]float64{} // by how often they come there
	for rank := range found {
		for n, r := range found[rank] {
			ranksWith[n]++
			variation[n] += r.variation
		}
	}
	var numbers []int // of steps, for most ranks
	for n, ranks := range ranksWith {
		if variation[n] /= float64(ranks); 2*ranks > len(s.ranks) {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil, 0
	}
	// Of loops in loops the outermost is taken whose steps an estimate can do with, else the innermost. At such a level a
	// place may be missed by some forms of a step, or come several times in others: the most regular one is in all.
	slices.Sort(numbers)
	first, _ := slices.BinarySearch(numbers, sampled)
	most, least := numbers[max(0, first-1)], numbers[min(first, len(numbers)-1)] // below, and from it on
	level := func(n int) int {
		if n < sampled {
			return bits.UintSize + bits.Len(uint(most/n))
		}
		return bits.Len(uint(n / least))
	}
	slices.SortFunc(numbers, func(a, b int) int {
		// Places told by many calls are missed at the end, with no other variation.
		return cmp.Or(level(a)-level(b), cmp.Compare(math.Round(100*variation[a]), math.Round(100*variation[b])), b-a)
	})
	for _, n := range numbers[:min(len(numbers), mostNumbers)] {
		// If ranks come to their places at different turns, one of them leads.
		leads, one := make([][]int64, len(s.ranks)), make([][]int64, len(s.ranks))
		for rank := range leads {
			leads[rank] = found[rank][n].at
		}
		i := slices.IndexFunc(leads, func(at []int64) bool { return at != nil })
		one[i] = leads[i]
		for _, leads := range [][][]int64{leads, one} {
			if cuts := s.cuts(m, leads, n); cuts != nil && len(cuts[0]) > fewest && 2*len(cuts[0]) > n {
				return s.parted(cuts), len(cuts[0]) - 1
			}
		}
	}
	return nil, 0
}

// cuts returns, by rank, the steps before each cut, one for each of the n times that the ranks that lead come to their
// places. It returns nil if a rank is carried beyond its next place.
func (s *stepper) cuts(m matching, leads [][]int64, n int) [][]int64 {
	f, cuts := s.follow(m, s.ranks), make([][]int64, len(leads))
	for i := range n {
		for rank, at := range leads {
			for at != nil && f.at[rank] < at[i] {
				f.advance(rank)
			}
		}
		if f.catchUp() != nil { // the run ends
			break
		}
		for rank, at := range leads {
			if at != nil && i+1 < n && f.at[rank] >= at[i+1] {
				return nil
			}
			cuts[rank] = append(cuts[rank], f.at[rank])
		}
	}
	return cuts
}

// shapes returns what of each step of the table is the same in all turns of a loop, as a number: what it does, and with
// whom; 0: it is no call, or one whose number depends on times.
func (s *stepper) shapes() (list []uint64) {
	numbers := map[form]int32{}
	for i := range s.table.steps {
		step := &s.table.steps[i]
		f := step.form
		f.sendSize, f.recvSize, f.request, f.slots = 0, 0, 0, 0
		switch step.kind {
		case trace.KindFlops, trace.KindCompute, trace.KindTest, trace.KindIprobe:
			list = append(list, 0)
			continue
		case trace.KindCollective, trace.KindIcollective: // their roots may alternate
		default:
			f.sendSize, f.recvSize = step.args[argPeer], step.args[argSource]
		}
		list = append(list, item{what: numberOf(numbers, f)}.hash())
	}
	return list
}

// recurrences returns the most regular place of those that a rank comes to equally often, by how often.
func (s *stepper) recurrences(items []item, shapes []uint64) map[int]recurrence {
	found := map[int]recurrence{}
	most := int(min(s.loops.length(items), mostCalls))
	places, times := make([]int64, 0, most), make([]float64, 0, most) // by call: steps and time before it
	sums, time, steps := make([]uint64, 1, most+1), 0.0, int64(0)     // sums: hashes of beginnings
	walker := s.loops.walk(items, 1)
	for next, ok := walker.next(); ok; next, ok = walker.next() {
		if shape := shapes[next]; shape != 0 {
			if len(places) == mostCalls {
				return nil
			}
			sums = append(sums, sums[len(places)]*multiplier+shape)
			places, times = append(places, steps), append(times, time)
		}
		time += s.time1(next)
		steps++
	}
	// Counts of hashes by their last bits, at most fewest + 1: they tell most places that come seldom.
	counts := make([]uint8, 1<<bits.Len(uint(len(places))))
	var gaps []float64
	for length := 1; length <= min(longestPlace, len(places)); length *= 2 {
		clear(counts)
		hash := func(i int) uint64 { return sums[i+length] - sums[i]*powers[length] } // of the calls from one on
		count := func(place uint64) *uint8 { return &counts[place&uint64(len(counts)-1)] }
		for i := range len(places) - length + 1 {
			*count(hash(i)) = min(*count(hash(i))+1, fewest+1)
		}
		numbers, lists := map[uint64]int32{}, [][]int32(nil) // calls, by number of the place
		for i := range len(places) - length + 1 {
			if place := hash(i); *count(place) > fewest {
				n := numberOf(numbers, place)
				if int(n) == len(lists) {
					lists = append(lists, nil)
				}
				lists[n] = append(lists[n], int32(i))
			}
		}
		for _, place := range slices.Sorted(maps.Keys(numbers)) {
			calls := lists[numbers[place]]
			n := len(calls)
			// The run is mostly between the first and the last time.
			if n <= fewest || n > mostSteps || 2*int(calls[n-1]-calls[0]) < len(places) {
				continue
			}
			gaps = gaps[:0]
			for i := range n - 1 {
				gaps = append(gaps, times[calls[i+1]]-times[calls[i]])
			}
			variation, ok := alikeTimes(gaps)
			if before, known := found[n]; !ok || known && before.variation <= variation {
				continue
			}
			r := recurrence{make([]int64, 0, n), variation}
			for _, c := range calls {
				r.at = append(r.at, places[c])
			}
			found[n] = r
		}
	}
	return found
}

// alikeTimes reports whether most of some times are alike, and returns their variation.
func alikeTimes(times []float64) (variation float64, ok bool) {
	factor := float64(alike)
	if len(times) < sampled-1 {
		factor = fewAlike
	}
	slices.Sort(times)
	median, all, squares, sum, n := times[len(times)/2], 0.0, 0.0, 0.0, 0.0
	for _, t := range times {
		all += t
		squares += float64(t * t)
		if t <= factor*median && median <= factor*t {
			sum += t
			n++
		}
	}
	of := float64(len(times))
	return squares * of / (all * all), n >= mostAlike*of && sum >= all/2
}

// time1 returns what a step takes: its computation, or as much as nothing.
func (s *stepper) time1(n int32) float64 {
	if step := &s.table.steps[n]; step.kind == trace.KindFlops {
		return math.Float64frombits(uint64(step.args[argPeer]))
	}
	return 1
}

// time returns what items take.
func (s *stepper) time(items []item) (time float64) {
	for _, it := range items {
		if it.turns > 0 {
			time += float64(float64(it.turns) * s.time(s.loops.bodies[it.what].items))
		} else {
			time += s.time1(it.what)
		}
	}
	return time
}
