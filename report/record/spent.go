package record

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

// Spent implements replay.Accounting.
func (r *Recorder) Spent(id int32, at float64, sums []float64, over bool) {
	if !r.steps {
		return
	}
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
