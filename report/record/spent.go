package record

// spent is what ranks have spent their time on by now, and had when they began their column, in
// seconds: a number for each row.
type spent struct {
	width      int
	now, begun []float64 // [ranks][width]
	column     []float64 // of a rank, in its column
}

func newSpent(ranks, width int) spent {
	return spent{width, make([]float64, ranks*width), make([]float64, ranks*width), make([]float64, width)}
}

// Spent implements replay.Accounting.
func (r *Recorder) Spent(id int32, at float64, sums []float64) {
	if !r.steps {
		return
	}
	rk := &r.ranks[id]
	copy(r.spent.of(r.spent.now, id), sums)
	if rk.until == notYet {
		r.enter(id, at)
		copy(r.spent.of(r.spent.begun, id), sums)
	}
	rk.clock = at
}

// of returns the numbers of a rank.
func (s *spent) of(list []float64, id int32) []float64 { return list[int(id)*s.width:][:s.width] }

// close returns what a rank has spent its time on in its column, which ends. It is valid until
// the next call.
func (s *spent) close(id int32) []float64 {
	now, begun := s.of(s.now, id), s.of(s.begun, id)
	for row, v := range now {
		s.column[row] = v - begun[row]
	}
	copy(begun, now)
	return s.column
}
