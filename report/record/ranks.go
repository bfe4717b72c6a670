package record

import (
	"math"

	"reprise/replay"
	"reprise/trace"
)

// This file follows the ranks of a replay: it assigns their times to columns, and to rows of kinds, kernels and phases.

// rank is the state of a rank, beside the times of its column.
type rank struct {
	clock  float64 // time up to which its time has been told, seconds
	until  float64 // end of its column, +Inf if that is not known; notYet: nothing has been told
	began  float64 // when it began its column
	column int32   // noColumn: it has begun no step yet
}

const (
	notYet   = -1 // before all times
	noColumn = -1
)

// maxNoted is how many times are noted before they are taken: the data of all ranks does not fit in the processor's
// caches. A loop over many times waits for several ranks at once, which takes a third of the time.
const maxNoted = 64

// times are times of ranks that have passed and are not taken into their columns yet.
type times struct {
	noted [maxNoted]passed
	count int
}

// passed is time of a rank that has passed.
type passed struct {
	rank, row int32
	from, to  float64 // s
}

// timePasses notes a time of a rank. It is called for each piece of time of each rank, in a replay without steps, and
// allocates nothing.
func (r *Recorder) timePasses(id int32, k replay.TimeKind, kernel int32, from, to float64) {
	row := int32(k)
	if kernel >= 0 {
		row = int32(numKinds) + kernel
	}
	t := &r.times
	if t.count == maxNoted {
		r.takeTimes()
	}
	t.noted[t.count] = passed{id, row, from, to}
	t.count++
}

// takeTimes takes the times that have been noted. Whatever looks at the sums or clocks of ranks calls it first.
func (r *Recorder) takeTimes() {
	now, width, noted := r.sums.now, r.sums.width, r.times.noted[:r.times.count]
	for i := range noted {
		t := &noted[i]
		rk, from := &r.ranks[t.rank], t.from
		// A rank that nothing was told of has an end before all times, so that cross sees it first.
		if t.to > rk.until {
			from = r.cross(t.rank, int(t.row), t.from, t.to)
		}
		rk.clock = t.to
		now[int(t.rank)*width+int(t.row)] += t.to - from
	}
	r.times.count = 0
}

// marked begins the columns of steps. Without steps, phases are added up here: Observer.Spent has those of steps.
func (r *Recorder) marked(id int32, mark trace.Action, at float64) {
	switch {
	case r.steps && mark.Kind == trace.KindStep:
		r.step(id, int(mark.X[0]), at)
	case r.steps || mark.Kind == trace.KindStep:
	case mark.Flags&trace.FlagEnd != 0:
		r.takeTimes()
		if r.absent > 0 && r.ranks[id].until == notYet {
			r.enter(id, at)
		}
		if open := &r.sums.openOf(id)[mark.Sym]; *open != notOpen {
			r.sums.of(id)[numKinds+r.sums.kernels+int(mark.Sym)] += at - *open
			*open = notOpen
		}
	default:
		r.takeTimes()
		if open := &r.sums.openOf(id)[mark.Sym]; *open == notOpen {
			*open = at
		}
	}
}

// enter begins the time of a rank, before which its phases do not count: of a replay that
// goes on from a checkpoint they began earlier.
func (r *Recorder) enter(id int32, at float64) {
	rk := &r.ranks[id]
	rk.clock, rk.began, rk.until = at, at, math.Inf(1)
	r.absent--
	for p, begun := range r.sums.openOf(id) {
		if begun != notOpen {
			r.sums.openOf(id)[p] = max(begun, at)
		}
	}
	if !r.steps {
		r.reach(at)
		rk.column, rk.until = r.slices.at(at)
	}
}

// cross takes the time of a rank up to the border of slices that is the last before a time,
// and returns that border; the begin if there is none between.
func (r *Recorder) cross(id int32, row int, from, to float64) float64 {
	rk := &r.ranks[id]
	if rk.until == notYet {
		r.enter(id, from)
	}
	if !r.steps {
		r.reach(to)
	}
	for to > rk.until {
		border := rk.until
		r.sums.of(id)[row] += border - from
		r.leave(id, border)
		rk.column++
		rk.until, from = r.slices.end(rk.column), border
	}
	return from
}

// reach makes the slices wide enough for a time. Ranks that are in a slice are in the one that it has become part of;
// what they have spent there so far stays theirs until they leave it.
func (r *Recorder) reach(to float64) {
	k := r.slices.reach(to)
	if k == 0 {
		return
	}
	r.slices.times.merge(k)
	for i := range r.ranks {
		if rk := &r.ranks[i]; rk.column != noColumn {
			rk.column >>= k
			rk.until = r.slices.end(rk.column)
		}
	}
}

// step begins a step of a rank. Time before its first one counts to that one, or in a replay
// that goes on from a checkpoint to the step before.
func (r *Recorder) step(id int32, number int, at float64) {
	rk := &r.ranks[id]
	if rk.until == notYet {
		r.enter(id, at)
	}
	column := r.columnOf(number)
	if rk.column == noColumn && rk.began > 0 && rk.clock > rk.began {
		rk.column = r.columnOf(number - 1)
		r.columns.begin(rk.column, rk.began)
	}
	if column <= rk.column {
		return
	}
	if rk.column != noColumn {
		r.leave(id, at)
	}
	rk.column = column
	r.columns.begin(column, rk.began)
}

// columnOf returns the column of a step. Steps before the first, as of a resumed replay, are in the first column, those
// beyond the last in the last one.
func (r *Recorder) columnOf(step int) int32 {
	return int32(min(max(0, step-r.first)/r.perColumn, r.maxColumns-1))
}

// leave ends the time that a rank has been in its column. Of steps the times are the differences of the sums that the
// replay keeps itself; of slices of time they were added up here (rows), and wait for end, since ranks of a replay run
// ahead of each other by more than a slice.
func (r *Recorder) leave(id int32, at float64) {
	rk := &r.ranks[id]
	if r.steps {
		r.columns.add(rk.column, r.spent.close(id), at-rk.began)
		r.matrix.add(id, rk.column, r.spent.column, at-rk.began)
	} else {
		now := r.sums.close(id, at)
		addTo(r.slices.times.at(rk.column, r.slices.size)[int(id)*len(now):][:len(now)], now)
		clear(now)
	}
	rk.began = at
}

// end ends the columns that ranks are in. Who has begun no step, as may be in a replay that
// goes on from a checkpoint, is in the last one that anybody has begun, or that there is.
func (r *Recorder) end() {
	r.takeTimes()
	last := int32(len(r.columns.list) - 1)
	if last < 0 {
		last = r.columnOf(r.last)
	}
	for i := range r.ranks {
		id, rk := int32(i), &r.ranks[i]
		if rk.until == notYet {
			continue
		}
		if rk.column == noColumn {
			rk.column = last
			r.columns.begin(last, rk.began)
		}
		if r.steps {
			r.spent.now = r.spent.of(r.spent.last, id)
		}
		r.leave(id, rk.clock)
	}
	if r.steps {
		return
	}
	// Of slices of time the columns are added up now: ranks run ahead of each other.
	width, times := r.sums.width, numKinds+r.sums.kernels // the first numbers are times that do not overlap
	for column, all := range r.slices.times {
		// Slices are nil where nothing has happened. In the others a rank may be missing, whose numbers are 0.
		for id := 0; id*width < len(all); id++ {
			now, length := all[id*width:][:width], 0.0
			for _, v := range now[:times] {
				length += v
			}
			if !(length > 0) {
				continue
			}
			// Time in a kernel was noted in the row of the kernel alone, and is computation.
			sum := now[replay.TimeCompute]
			for _, v := range now[numKinds:times] {
				sum += v
			}
			now[replay.TimeCompute] = sum
			r.columns.add(int32(column), now, length)
			r.matrix.add(int32(id), int32(column), now, length)
		}
	}
}

// numKinds is the number of replay's kinds of time.
const numKinds = replay.NumTimeKinds

// rows are the times that each rank has spent in its column so far, in seconds: a number for each kind, kernel and
// phase. Of slices of time, end adds the times of kernels to their kind.
type rows struct {
	kernels, phases int
	width           int
	now             []float64 // [ranks][width]
	open            []float64 // [ranks][phases]: time from which an open phase counts, or notOpen
}

const notOpen = -1

// of returns the times of a rank.
func (s *rows) of(rank int32) []float64 { return s.now[int(rank)*s.width:][:s.width] }

// openOf returns the open phases of a rank.
func (s *rows) openOf(rank int32) []float64 { return s.open[int(rank)*s.phases:][:s.phases] }

// close returns the times of a rank up to a time, from which open phases go on.
func (s *rows) close(rank int32, at float64) []float64 {
	now, open := s.of(rank), s.openOf(rank)
	for p, begun := range open {
		if begun != notOpen {
			now[numKinds+s.kernels+p] += at - begun
			open[p] = at
		}
	}
	return now
}

// names returns the names of the rows.
func (s *rows) names(h *trace.Header) []string {
	var names []string
	for k := range numKinds {
		names = append(names, replay.TimeKind(k).String())
	}
	return append(append(names, replay.KernelNames(h)...), h.Phases...)
}

// spent are the times that ranks had spent when they began their column, and in the end, in seconds: a number for
// each row.
type spent struct {
	width       int
	begun, last []float64 // [ranks][width]
	column      []float64 // scratch: of a rank, in its column
	now         []float64 // of the rank that was told of last, by now
}

// spentBy notes the times that a rank has spent by a time; over: the rank has ended.
func (r *Recorder) spentBy(id int32, at float64, sums []float64, over bool) {
	// The sums are the replay's own, and valid until it goes on: now refers to them, last is a copy.
	rk, s := &r.ranks[id], &r.spent
	if rk.until == notYet {
		r.enter(id, at)
		copy(s.of(s.begun, id), sums)
	}
	if over {
		copy(s.of(s.last, id), sums)
	}
	rk.clock, s.now = at, sums
}

// of returns the numbers of a rank.
func (s *spent) of(list []float64, id int32) []float64 { return list[int(id)*s.width:][:s.width] }

// close returns the times of a rank, which was told of last, in its column, which ends. They are valid until the
// next call.
func (s *spent) close(id int32) []float64 {
	begun := s.of(s.begun, id)
	column := s.column[:len(begun)]
	for row, v := range s.now[:len(begun)] {
		column[row], begun[row] = v-begun[row], v
	}
	return column
}
