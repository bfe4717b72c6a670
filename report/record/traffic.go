package record

import (
	"math"

	"reprise/replay"
	"reprise/report/typedarray"
)

const (
	maxTraffic = 512     // rows of a table
	maxExact   = 1 << 10 // ranks up to which each is counted by itself
)

// traffic is who sends how much to whom: by rank, and by each group of ranks.
//
// Each message is counted once, by rank, wherever rows of the other tables are unions of rows of that table: they are
// added up in the end. Only tables that cut across rows of several ranks count for themselves.
type traffic struct {
	ranks  trafficTable // that is counted; most others are added up from it in the end
	tables []trafficTable
}

// trafficTable is traffic by a group, of which several numbers that follow one another may be
// one row.
type trafficTable struct {
	group
	per   int      // of the group's numbers that are one row
	rows  int      // and columns
	row   []uint16 // by rank
	pairs pairs    // of rows
	adds  bool     // each row is several of traffic.ranks

	// Messages wait until they are many, and are counted sender by sender: the counts of all senders do not fit in
	// the processor's caches, but those of one do.
	waiting []arrived
	each    []uint32 // by sender: how many of them
	order   []uint16 // of waiting, by sender
}

// arrived is a message that has arrived, from one row to another.
type arrived struct {
	from, to uint16
	size     uint32
}

const maxWaiting = 1 << 16

// newTraffic returns empty tables by rank, and by each group.
func newTraffic(size int, groups []group) traffic {
	ranks := group{by: "rank", of: make([]int32, size), size: size}
	for r := range ranks.of {
		ranks.of[r] = int32(r)
	}
	// Up to 1,024 ranks are counted one by one, so that all other tables can be added up from them.
	limit := maxTraffic
	if size <= maxExact {
		limit = maxExact
	}
	t := traffic{ranks: newTrafficTable(ranks, limit)}
	for _, by := range append([]group{ranks}, groups...) {
		table := newTrafficTable(by, maxTraffic)
		table.adds = true // if all ranks that are one row of the other table are one row of this, too
		for r := 1; r < len(table.row) && table.adds; r++ {
			table.adds = t.ranks.row[r] != t.ranks.row[r-1] || table.row[r] == table.row[r-1]
		}
		t.tables = append(t.tables, table)
	}
	return t
}

// newTrafficTable returns a table of at most so many rows. Where the group has more numbers than that, neighbours share
// a row.
func newTrafficTable(g group, rows int) trafficTable {
	per := max(1, (g.size+rows-1)/rows)
	t := trafficTable{group: g, per: per, rows: (g.size + per - 1) / per, row: make([]uint16, len(g.of))}
	for r, i := range g.of {
		t.row[r] = uint16(int(i) / per)
	}
	t.pairs, t.each = make(pairs, t.rows), make([]uint32, t.rows)
	return t
}

// add adds messages that have arrived.
func (t *traffic) add(list []replay.Transferred) {
	t.ranks.add(list)
	for i := range t.tables {
		if table := &t.tables[i]; !table.adds {
			table.add(list)
		}
	}
}

// add adds messages.
func (t *trafficTable) add(list []replay.Transferred) {
	for i := range list {
		m := &list[i]
		from, to, size := t.row[m.Src], t.row[m.Dst], m.Size()
		// The waiting messages have 32 bits for a size; the few that are larger are counted at once.
		if size > math.MaxUint32 {
			t.pairs.add(int32(from), int32(to), 1, size)
			continue
		}
		if len(t.waiting) == maxWaiting {
			t.count()
		}
		t.waiting = append(t.waiting, arrived{from, to, uint32(size)})
		t.each[from]++
	}
}

// count counts the messages that wait for it, by sender: a counting sort, in which each first holds the number of
// messages of each sender, then where the next one of them goes in order.
func (t *trafficTable) count() {
	if t.order == nil {
		t.order = make([]uint16, maxWaiting)
	}
	begin := uint32(0)
	for from, n := range t.each {
		t.each[from], begin = begin, begin+n
	}
	for i := range t.waiting {
		at := &t.each[t.waiting[i].from]
		t.order[*at] = uint16(i)
		*at++
	}
	for _, i := range t.order[:len(t.waiting)] {
		m := &t.waiting[i]
		t.pairs.add(int32(m.from), int32(m.to), 1, int64(m.size))
	}
	clear(t.each)
	t.waiting = t.waiting[:0]
}

// data describes all tables.
func (t *traffic) data() (list []CommMatrix) {
	t.ranks.count()
	for i := range t.tables {
		if table := &t.tables[i]; table.adds {
			of := func(row int32) int32 { return int32(table.row[int(row)*t.ranks.per]) }
			t.ranks.pairs.all(func(from, to int32, messages, bytes int64) {
				table.pairs.add(of(from), of(to), messages, bytes)
			})
		} else {
			table.count()
		}
		list = append(list, t.tables[i].data())
	}
	return list
}

// data describes a table.
func (t *trafficTable) data() CommMatrix {
	d := CommMatrix{By: t.by, Size: t.rows, Per: t.per}
	if t.name != nil {
		for i := range t.rows {
			d.Labels = append(d.Labels, t.name(i*t.per))
		}
	}
	d.Bytes, d.Number = make(typedarray.Bytes, 4*t.rows*t.rows), make(typedarray.Bytes, 4*t.rows*t.rows)
	t.pairs.all(func(from, to int32, messages, bytes int64) {
		pair := int(from)*t.rows + int(to)
		d.Bytes.SetFloat32(pair, float32(bytes))
		d.Number.SetFloat32(pair, float32(messages))
	})
	return d
}

// pairs counts messages from senders to receivers. Programs send to few, and in the same order again
// and again: so that a sender remembers, of each receiver, which one came after it.
type pairs []sender

// sender are the receivers of one sender.
type sender struct {
	order []turn // of receivers, in the order of the first messages
	sent  []sent // likewise
	last  int32  // index of who was sent to last
	next  int32  // and of who came after it the last time
}

// turn is a receiver, and who came after it the last time.
type turn struct{ receiver, then int32 }

// sent counts the messages to a receiver.
type sent struct{ messages, bytes int64 }

// add adds messages.
func (p pairs) add(from, to int32, messages, bytes int64) {
	s := &p[from]
	// Mostly the receiver is the one that came after the last one before.
	at := s.next
	if int(at) >= len(s.order) || s.order[at].receiver != to {
		at = s.find(to)
	}
	s.last, s.next = at, s.order[at].then
	sum := &s.sent[at]
	sum.messages += messages
	sum.bytes += bytes
}

// find returns the index of a receiver, which comes after another one than the last time, and notes the new order. It
// looks at all receivers of the sender: few in most programs, and each at most once in programs whose order repeats.
func (s *sender) find(to int32) int32 {
	at := 0
	for at < len(s.order) && s.order[at].receiver != to {
		at++
	}
	if at == len(s.order) {
		s.order, s.sent = append(s.order, turn{receiver: to}), append(s.sent, sent{})
	}
	s.order[s.last].then = int32(at)
	return int32(at)
}

// all calls f for each pair that has messages.
func (p pairs) all(f func(from, to int32, messages, bytes int64)) {
	for from := range p {
		for i, s := range p[from].sent {
			f(int32(from), p[from].order[i].receiver, s.messages, s.bytes)
		}
	}
}
