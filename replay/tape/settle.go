package tape

import (
	"math"
	"math/bits"
)

// settling adds up what is left of the tapes: the paths that lead to the clocks of ranks and to
// messages. Most of them are one path at first. All records of the tapes are gone through twice in
// their order, as memory likes it: backwards to count who goes on from each of them, forwards to add
// what they are to the vectors of their paths. A path takes its vector along; only where several go
// on from a record do all but the last of them take copies.
type settling struct {
	*Tapes
	goOn   []uint8  // by record, until it is added: how many records and points go on from it, up to many
	counts []uint64 // a bit for each record that counts, as somebody goes on from it
	used   []int32  // records that count, the last one first
}

// many go on from a record: so many or more, each of whom takes a copy.
const many = math.MaxUint8

// settle adds up the tapes, which begin anew.
func (t *Tapes) settle() {
	s := &t.settling
	if s.Tapes = t; s.goOn == nil {
		s.goOn, s.counts = make([]uint8, len(t.records)), make([]uint64, (len(t.records)+63)/64)
	}
	s.count()
	t.vectors.collect()
	for i := len(s.used) - 1; i >= 0; i-- {
		s.add(s.used[i])
	}
	t.points(func(at *point) { *at = ^point(t.vectorOf(*at)) })
	for r := range t.ranks {
		t.ranks[r].open = closed
	}
	t.put, t.transfers = 0, t.transfers[:0]
}

// points calls f for each point that a path may go on from: of all ranks, and of messages, of which
// some are over.
func (t *Tapes) points(f func(*point)) {
	for r := range t.ranks {
		f(&t.ranks[r].last)
	}
	for i := range t.ways {
		f(&t.ways[i].before)
	}
}

// count counts who goes on from each record and vector, and notes the records that lead to a point.
func (s *settling) count() {
	clear(s.vectors.goOn)
	s.points(func(at *point) { s.countOne(*at) })
	s.used = s.used[:0]
	for w := (s.put - 1) / 64; w >= 0; w-- {
		for s.counts[w] != 0 {
			bit := bits.Len64(s.counts[w]) - 1
			s.counts[w] &^= 1 << bit
			i := int32(64*w + bit)
			s.used = append(s.used, i)
			s.countOne(s.records[i].before) // which may set another bit, of an earlier one
		}
	}
}

// countOne counts one who goes on from a point.
func (s *settling) countOne(p point) {
	if p < 0 {
		s.vectors.goOn[^p]++
		return
	}
	s.counts[p/64] |= 1 << (p % 64)
	if s.goOn[p] < many {
		s.goOn[p]++
	}
}

// vectorOf returns the vector of the path to a point, whose record has been added.
func (t *Tapes) vectorOf(p point) int32 {
	if p >= 0 {
		p = t.records[p].before
	}
	return int32(^p)
}

// add adds record i to the vector of the path to it, of which it is the last one now.
func (s *settling) add(i int32) {
	r := &s.records[i]
	v := s.vectors.take(s.vectorOf(r.before))
	switch {
	case r.what >= transferred:
		s.addTransfer(v, r.value, &s.transfers[r.what-transferred])
	case r.what >= stepped:
		s.vectors.last[v] = &Hop{s.vectors.last[v], int32(r.what - stepped), r.value}
	default:
		s.spend(v, r.what.place(), r.value, float64(r.what.calls()))
	}
	r.before, s.vectors.goOn[v], s.goOn[i] = ^point(v), int32(s.goOn[i]), 0
}

// addTransfer adds a transfer to a vector, after its latency.
func (s *settling) addTransfer(v int32, latency float64, x *Transfer) {
	s.spend(v, s.components.latency, latency, 1)
	wire, alone := s.components.wire(s.levels.Level(x)), x.alone()
	if x.Alone > 0 {
		s.spend(v, wire, alone, x.Bytes)
	}
	if alone < x.Carried {
		s.spend(v, wire+1, x.Carried-alone, 0)
	}
}

// spend adds to what is at a place of a vector.
func (s *settling) spend(v, place int32, seconds, amount float64) {
	s.vectors.spend(v, s.components.number(place), seconds, amount)
}
