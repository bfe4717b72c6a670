package tape

import "slices"

// settling adds up what is left of the tapes: the paths that lead to the clocks of ranks and to
// the posts of messages under way. Many of them are one path at first, which is gone along once:
// where several lead over a transfer, the path up to there is kept.
type settling struct {
	*Tapes
	old, new *vectors
	kept     vectors // of the paths up to transfers
	points   []point // that were to be visited
	passed   []int32 // transfers that were
	marks    []mark  // by transfer
	legs     []point // of a path, the last one first: their ends
	steps    []record
}

// mark is what is known of a transfer while tapes are settled.
type mark struct {
	ways  int32 // that lead over it
	known int32 // the vector of the path up to its begin; 0: none yet
	level int32 // of the links that bound it
}

// settle adds up the tapes, which begin anew.
func (t *Tapes) settle() {
	s := &t.settling
	s.Tapes, s.old, s.new, s.points, s.passed = t, &t.vectors, &t.spare, s.points[:0], s.passed[:0]
	if s.marks == nil {
		s.marks = make([]mark, cap(t.transfers))
	}
	t.points(func(at *point) { s.points = append(s.points, *at) })
	for list := range slices.Chunk(s.points, abreast) {
		s.visit(list)
	}
	s.new.empty(len(s.points), len(t.components.list))
	s.kept.empty(len(s.passed), len(t.components.list))
	t.points(func(at *point) { *at = s.settle(*at) })
	for _, i := range s.passed {
		s.marks[i] = mark{}
	}
	t.put, t.open, t.transfers = 0, none, t.transfers[:0]
	t.vectors, t.spare = t.spare, t.vectors
}

// points calls f for each point that a path may go on from: of all ranks, and of messages.
func (t *Tapes) points(f func(*point)) {
	for r := range t.ranks {
		f(&t.ranks[r].last)
	}
	for i := range t.ways {
		if w := &t.ways[i]; w.last != none {
			f(&w.last)
		}
	}
}

// back goes back from a point to the last transfer, and returns its record, or if there is none
// the point of a vector.
func (t *Tapes) back(p point) point {
	for p >= 0 && !t.records[p].isTransfer() {
		p = t.records[p].before
	}
	return p
}

func (r *record) isTransfer() bool { return r.what < transferred/2 }

// transfer returns the number of the transfer of a record.
func (t *Tapes) transfer(of point) int32 { return t.records[of].what - transferred }

// abreast is how many paths are visited at a time: what is on each of them comes from far, one
// thing after the other, so that the processor waits for those of several paths at once.
const abreast = 16

// visit counts the ways over the transfers on the paths to points, which it goes back, and numbers
// what they consist of.
func (s *settling) visit(points []point) {
	for len(points) > 0 {
		on := points[:0]
		for _, p := range points {
			if p = s.goBack(p); p >= 0 {
				on = append(on, p)
			}
		}
		points = on
	}
}

// goBack visits what is at a point, and returns the one before it, or a vector if the path has been
// gone back from there before.
func (s *settling) goBack(p point) point {
	if p < 0 {
		return p
	}
	r := &s.records[p]
	switch {
	case r.what >= 0:
		s.components.see(r.what)
	case r.isTransfer():
		x := s.transfer(p)
		if s.marks[x].ways++; s.marks[x].ways > 1 {
			return none
		}
		s.passed = append(s.passed, x)
		s.visitTransfer(x)
	}
	return r.before
}

// visitTransfer numbers what a transfer consists of.
func (s *settling) visitTransfer(x int32) {
	level := s.levels.Level(&s.transfers[x])
	s.marks[x].level = level
	wire := s.components.wire(level)
	for _, place := range []int32{s.components.latency, wire, wire + 1} {
		s.components.see(place)
	}
}

// settle adds the vector of the path to a point to the new ones, and returns the point of that.
func (s *settling) settle(p point) point {
	v := s.begin(p)
	for _, leg := range slices.Backward(s.legs) {
		s.add(v, leg)
	}
	return ^point(v)
}

// begin goes back from a point to where the path is known, notes the legs from there on, which
// begin with a transfer or a vector, and returns a new vector of what was before.
func (s *settling) begin(p point) (v int32) {
	s.legs = s.legs[:0]
	for p >= 0 {
		s.legs = append(s.legs, p)
		if p = s.back(p); p < 0 {
			break
		}
		if known := s.marks[s.transfer(p)].known; known > 0 {
			return s.new.add(&s.kept, known)
		}
		p = s.records[p].before
	}
	return s.new.add(s.old, int32(^p))
}

// add adds the leg up to a point to a vector.
func (s *settling) add(v int32, p point) {
	if first := s.back(p); first >= 0 {
		s.addTransfer(v, first)
	}
	s.steps = s.steps[:0]
	for ; p >= 0 && !s.records[p].isTransfer(); p = s.records[p].before {
		if r := &s.records[p]; r.what < 0 {
			s.steps = append(s.steps, *r)
		} else {
			s.new.spend(v, s.components.number(r.what), r.value, 1)
		}
	}
	for _, r := range slices.Backward(s.steps) {
		s.new.last[v] = &Hop{s.new.last[v], atStep - r.what, r.value}
	}
}

// addTransfer adds a transfer to a vector, which is kept before if others need it.
func (s *settling) addTransfer(v int32, at point) {
	i := s.transfer(at)
	x, m := &s.transfers[i], &s.marks[i]
	if m.ways > 1 && m.known == 0 {
		m.known = s.kept.add(s.new, v)
	}
	s.new.spend(v, s.components.number(s.components.latency), s.records[at].value, 1)
	wire, alone := s.components.wire(m.level), x.alone()
	if x.Alone > 0 {
		s.new.spend(v, s.components.number(wire), alone, x.Bytes)
	}
	if alone < x.Carried {
		s.new.spend(v, s.components.number(wire+1), x.Carried-alone, 0)
	}
}
