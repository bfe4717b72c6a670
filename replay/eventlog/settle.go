package eventlog

import (
	"math"
	"math/bits"
	"slices"
)

// settle adds up the records that are still on a path, that is on one that leads to the clock of a rank or to a
// message. It goes through all records twice, in the order of memory: backwards to count how many paths go on from each
// record, and forwards to add each record to the vector of its path. If several paths go on from a record, the last of
// them keeps the vector and the others take copies.

// many is where the count of paths that go on from a record ends: with so many or more, each takes a copy.
const many = math.MaxUint8

// settle adds up the records, so that the log begins anew.
func (t *Log) settle() {
	if t.goOn == nil {
		t.goOn, t.counts = make([]uint8, len(t.records)), make([]uint64, (len(t.records)+63)/64)
	}
	// Count how many go on from each record and vector, and note the records that lead to a point.
	clear(t.vectors.goOn)
	t.points(func(at *point) { t.count(*at) })
	t.used = t.used[:0]
	for w := (t.put - 1) / 64; w >= 0; w-- {
		for t.counts[w] != 0 {
			bit := bits.Len64(t.counts[w]) - 1
			t.counts[w] &^= 1 << bit
			i := int32(64*w + bit)
			t.used = append(t.used, i)
			t.count(t.records[i].before) // which may set another bit, of an earlier one
		}
	}
	// Vectors that nobody goes on from are free.
	v := &t.vectors
	v.free = v.free[:0]
	for id, n := range v.goOn {
		if n == 0 {
			v.free = append(v.free, int32(id))
			v.last[id] = nil
		}
	}
	for _, i := range slices.Backward(t.used) {
		t.add(i)
	}
	t.points(func(at *point) { *at = ^point(t.vectorOf(*at)) })
	for r := range t.ranks {
		t.ranks[r].open = closed
	}
	t.put, t.transfers = 0, t.transfers[:0]
}

// points calls f for each point from which a path may go on: those of all ranks, of what their devices have come to, and
// of all messages, though some are over.
func (t *Log) points(f func(*point)) {
	for r := range t.ranks {
		f(&t.ranks[r].last)
	}
	for _, ways := range [...][]way{t.places, t.ways} {
		for i := range ways {
			f(&ways[i].before)
		}
	}
}

// count counts one more path that goes on from a point.
func (t *Log) count(p point) {
	if p < 0 {
		t.vectors.goOn[^p]++
		return
	}
	t.counts[p/64] |= 1 << (p % 64)
	if t.goOn[p] < many {
		t.goOn[p]++
	}
}

// vectorOf returns the vector of the path to a point, whose record has been added.
func (t *Log) vectorOf(p point) int32 {
	if p >= 0 {
		p = t.records[p].before
	}
	return int32(^p)
}

// add adds record i to the vector of the path to it.
func (t *Log) add(i int32) {
	r := &t.records[i]
	v := t.vectors.take(t.vectorOf(r.before))
	switch {
	case r.what >= transferred: // after its latency
		x := &t.transfers[r.what-transferred]
		t.spend(v, t.components.latency, r.value, 1)
		wire, alone := t.components.wire(t.levels.Level(x)), x.alone()
		if x.Alone > 0 {
			t.spend(v, wire, alone, x.Bytes)
		}
		if alone < x.Carried {
			t.spend(v, wire+1, x.Carried-alone, 0)
		}
	case r.what >= stepped:
		t.vectors.last[v] = &Hop{t.vectors.last[v], int32(r.what - stepped), r.value}
	default:
		t.spend(v, int32(r.what>>callBits), r.value, float64(r.what%(1<<callBits)))
	}
	r.before, t.vectors.goOn[v], t.goOn[i] = ^point(v), int32(t.goOn[i]), 0
}

// spend adds to the component at a place of a vector.
func (t *Log) spend(v, place int32, seconds, amount float64) {
	t.vectors.spend(v, t.components.number(place), seconds, amount)
}

// Hop is where a path comes to a step.
type Hop struct {
	Before *Hop // nil: none
	Rank   int32
	At     float64 // s
}

// vectors are the sums of paths: of each component its seconds, then its amount; and the last step that a path came to.
type vectors struct {
	width  int       // components that there is room for
	values []float64 // 2 * width of each vector
	last   []*Hop    // nil: nowhere
	goOn   []int32   // how many records and points go on from it, while paths are added up
	free   []int32   // vectors from which no path goes on
}

// at returns the values of a vector.
func (v *vectors) at(id int32) []float64 { return v.values[int(id)*2*v.width:][:2*v.width] }

// take returns a vector for a path that goes on from a vector: for the last such path that vector, for others a copy.
func (v *vectors) take(id int32) int32 {
	switch v.goOn[id] {
	case 1:
		return id
	case many: // perhaps more: counts of records end there
	default:
		v.goOn[id]--
	}
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

// Component is one thing that paths spend time on.
type Component struct {
	Kind    Kind
	Account int32 // OnAccount
	Phase   int32 // innermost, OnAccount; -1: none
	Level   int32 // of links, OnWire and InContention
}

// Kind is a kind of component.
type Kind uint8

// Kinds of components.
const (
	OnAccount    Kind = iota // a rank spends its time on an account
	InLatency                // the latency of messages
	OnWire                   // messages carried at the rate that they would have alone
	InContention             // the time that messages lose as they share links
)

var kindNames = [...]string{OnAccount: "on an account", InLatency: "latency", OnWire: "on the wire",
	InContention: "contention"}

// String names the kind.
func (k Kind) String() string { return kindNames[k] }

// components has a place for everything on which time may be spent. Places on a settled path get a number in vectors,
// so that these have no more components than are needed. The places of ranks come first: those of the accounts outside
// all phases, then in each phase; then latency, then wire and contention for each level.
type components struct {
	list    []Component
	numbers []int32 // by place: number+1; 0: it has none yet
	stride  int32   // accounts
	latency int32   // place
}

// row returns the first place of a phase; phase -1 is outside all phases.
func (c *components) row(phase int32) int32 { return (phase + 1) * c.stride }

// wire returns the place OnWire of a level of links. InContention of the level has the next one.
func (c *components) wire(level int32) int32 { return c.latency + 1 + 2*level }

// number returns the number of a place that is on a settled path.
func (c *components) number(place int32) int {
	if n := c.numbers[place]; n > 0 {
		return int(n) - 1
	}
	return c.add(place)
}

// add gives a place the next number.
func (c *components) add(place int32) int {
	var what Component
	switch links := place - c.latency - 1; {
	case links < -1:
		what = Component{Kind: OnAccount, Account: place % c.stride, Phase: place/c.stride - 1}
	case links < 0:
		what = Component{Kind: InLatency}
	default:
		what = Component{Kind: OnWire + Kind(links%2), Level: links / 2}
	}
	c.list = append(c.list, what)
	c.numbers[place] = int32(len(c.list))
	return len(c.list) - 1
}
