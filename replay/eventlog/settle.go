package eventlog

import (
	"math"
	"math/bits"
)

// settling adds up the records that are still on a path: the paths that lead to the clocks of ranks and to
// messages. Most of them are one path at first. All records are gone through twice in
// their order, as memory likes it: backwards to count who goes on from each of them, forwards to add
// what they are to the vectors of their paths. A path takes its vector along; only where several go
// on from a record do all but the last of them take copies.
type settling struct {
	*Log
	goOn   []uint8  // by record, until it is added: how many records and points go on from it, up to many
	counts []uint64 // a bit for each record that counts, as somebody goes on from it
	used   []int32  // records that count, the last one first
}

// many go on from a record: so many or more, each of whom takes a copy.
const many = math.MaxUint8

// settle adds up the records, so that the log begins anew.
func (t *Log) settle() {
	s := &t.settling
	if s.Log = t; s.goOn == nil {
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
func (t *Log) points(f func(*point)) {
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
func (t *Log) vectorOf(p point) int32 {
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

// Hop is where a path comes to a step.
type Hop struct {
	Before *Hop // nil: none
	Rank   int32
	At     float64 // s
}

// vectors are what paths consist of: of each component its seconds, then its amount; and where
// they came to a step last.
type vectors struct {
	width  int       // components that there is room for
	values []float64 // 2 * width of each vector
	last   []*Hop    // nil: nowhere
	goOn   []int32   // how many records and points go on from it, while paths are added up
	free   []int32   // those that nobody goes on from
}

// newVectors returns the one of a path on which there is nothing, number 0 until nobody goes on from it.
func newVectors() vectors { return vectors{last: make([]*Hop, 1), goOn: make([]int32, 1)} }

// at returns the values of a vector.
func (v *vectors) at(id int32) []float64 { return v.values[int(id)*2*v.width:][:2*v.width] }

// collect finds the vectors that nobody goes on from.
func (v *vectors) collect() {
	v.free = v.free[:0]
	for id, n := range v.goOn {
		if n == 0 {
			v.free = append(v.free, int32(id))
			v.last[id] = nil
		}
	}
}

// take returns a vector for one who goes on from a vector: that one for the last of them, for others
// a copy.
func (v *vectors) take(id int32) int32 {
	switch v.goOn[id] {
	case 1:
		return id
	case many: // perhaps more: counts of records end there
	default:
		v.goOn[id]--
	}
	return v.copyOf(id)
}

// copyOf returns a vector like another.
func (v *vectors) copyOf(id int32) int32 {
	n := len(v.free) - 1
	if n < 0 {
		v.last, v.goOn = append(v.last, v.last[id]), append(v.goOn, 0)
		v.values = append(v.values, v.at(id)...)
		return int32(len(v.last) - 1)
	}
	other := v.free[n]
	v.free = v.free[:n]
	v.last[other] = v.last[id]
	copy(v.at(other), v.at(id))
	return other
}

// spend adds to a component of a vector.
func (v *vectors) spend(id int32, component int, seconds, amount float64) {
	if component >= v.width {
		v.widen(component + 1)
	}
	at := v.values[2*(int(id)*v.width+component):][:2]
	at[0] += seconds
	at[1] += amount
}

// widen makes room for so many components, and some more.
//
//go:noinline
func (v *vectors) widen(components int) {
	wide := vectors{width: components + components/4}
	wide.values = make([]float64, 2*wide.width*len(v.last))
	for id := range v.last {
		copy(wide.at(int32(id)), v.at(int32(id)))
	}
	v.width, v.values = wide.width, wide.values
}
