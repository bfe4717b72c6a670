package record

import (
	"math"

	"reprise/replay"
	"reprise/trace"
)

// rank is what a recorder knows of a rank, beside what it is spending its time on.
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

// maxNoted is how many times are noted before they are taken: what ranks have does not fit in the
// processor's caches. In a loop over many it waits for several at once, which takes a third of the
// time.
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

// timePasses notes a time of a rank.
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

// takeTimes takes the times that have been noted.
func (r *Recorder) takeTimes() {
	now, width, noted := r.sums.now, r.sums.width, r.times.noted[:r.times.count]
	for i := range noted {
		t := &noted[i]
		rk, from := &r.ranks[t.rank], t.from
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
		r.sums.endPhase(id, mark.Sym, at)
	default:
		r.takeTimes()
		r.sums.beginPhase(id, mark.Sym, at)
	}
}

// enter begins the time of a rank, before which its phases do not count: of a replay that
// goes on from a checkpoint they began earlier.
func (r *Recorder) enter(id int32, at float64) {
	rk := &r.ranks[id]
	rk.clock, rk.began, rk.until = at, at, math.Inf(1)
	r.absent--
	r.sums.beginNoEarlier(id, at)
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

// reach makes the slices wide enough for a time.
func (r *Recorder) reach(to float64) {
	k := r.slices.reach(to)
	if k == 0 {
		return
	}
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

// columnOf returns the column of a step.
func (r *Recorder) columnOf(step int) int32 {
	return int32(min(max(0, step-r.first)/r.perColumn, r.maxColumns-1))
}

// leave ends the time that a rank has been in its column.
func (r *Recorder) leave(id int32, at float64) {
	rk := &r.ranks[id]
	if r.steps {
		r.columns.add(rk.column, r.spent.close(id), at-rk.began)
		r.matrix.add(id, rk.column, r.spent.column, at-rk.began)
	} else {
		now := r.sums.close(id, at)
		r.slices.add(rk.column, id, now)
		clear(now)
	}
	rk.began = at
}

// emit takes all that a rank has in a column, where it is so long.
func (r *Recorder) emit(id, column int32, now []float64, length float64) {
	r.sums.addKernels(now)
	r.columns.add(column, now, length)
	r.matrix.add(id, column, now, length)
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
	if !r.steps {
		r.slices.each(r.sums.width, numKinds+r.sums.kernels, r.emit)
	}
}

// numKinds is the number of replay's kinds of time.
const numKinds = replay.NumTimeKinds

// rows are what each rank has spent its time on in its column so far, in seconds: a number for
// each kind, kernel and phase. A kernel's time is none of its kind before addKernels.
type rows struct {
	kernels, phases int
	width           int
	now             []float64 // [ranks][width]
	open            []float64 // [ranks][phases]: time from which an open phase counts, or notOpen
}

const notOpen = -1

func newRows(h *trace.Header) rows {
	s := rows{kernels: len(h.Kernels), phases: len(h.Phases)}
	s.width = numKinds + s.kernels + s.phases
	s.now = make([]float64, h.Ranks*s.width)
	s.open = make([]float64, h.Ranks*s.phases)
	for i := range s.open {
		s.open[i] = notOpen
	}
	return s
}

// of returns what a rank has spent its time on.
func (s *rows) of(rank int32) []float64 { return s.now[int(rank)*s.width:][:s.width] }

func (s *rows) openOf(rank int32) []float64 { return s.open[int(rank)*s.phases:][:s.phases] }

// beginPhase begins a phase of a rank, unless it is open.
func (s *rows) beginPhase(rank int32, phase uint16, at float64) {
	if open := &s.openOf(rank)[phase]; *open == notOpen {
		*open = at
	}
}

// endPhase ends a phase of a rank, if it is open.
func (s *rows) endPhase(rank int32, phase uint16, at float64) {
	if open := &s.openOf(rank)[phase]; *open != notOpen {
		s.of(rank)[numKinds+s.kernels+int(phase)] += at - *open
		*open = notOpen
	}
}

// beginNoEarlier has the open phases of a rank count from a time at the earliest.
func (s *rows) beginNoEarlier(rank int32, at float64) {
	for p, begun := range s.openOf(rank) {
		if begun != notOpen {
			s.openOf(rank)[p] = max(begun, at)
		}
	}
}

// close returns what a rank has spent its time on up to a time, from which open phases go on.
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

// addKernels adds the kernels to the kind of time that they are.
func (s *rows) addKernels(now []float64) {
	sum := now[replay.TimeCompute]
	for _, v := range now[numKinds:][:s.kernels] {
		sum += v
	}
	now[replay.TimeCompute] = sum
}

// names returns the names of the rows.
func (s *rows) names(h *trace.Header) []string {
	var names []string
	for k := range numKinds {
		names = append(names, replay.TimeKind(k).String())
	}
	return append(append(names, replay.KernelNames(h)...), h.Phases...)
}

// spent is what ranks have spent their time on when they began their column, and in the end, in
// seconds: a number for each row.
type spent struct {
	width       int
	begun, last []float64 // [ranks][width]
	column      []float64 // of a rank, in its column
	now         []float64 // of the rank that was told of last, by now
}

func newSpent(ranks, width int) spent {
	s := spent{width: width, column: make([]float64, width)}
	s.begun, s.last = make([]float64, ranks*width), make([]float64, ranks*width)
	return s
}

// spentBy notes what a rank has spent its time on by a time.
func (r *Recorder) spentBy(id int32, at float64, sums []float64, over bool) {
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

// close returns what a rank, which was told of last, has spent its time on in its column, which
// ends. It is valid until the next call.
func (s *spent) close(id int32) []float64 {
	begun := s.of(s.begun, id)
	column := s.column[:len(begun)]
	for row, v := range s.now[:len(begun)] {
		column[row], begun[row] = v-begun[row], v
	}
	return column
}
