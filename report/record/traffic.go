package record

import (
	"reprise/replay"
	"reprise/report/typedarray"
)

// trafficTable is who sends how much to whom, by a group of ranks, of which several numbers that follow one another may
// be one row. Messages are counted in all tables as they arrive. Of a sender most programs use few cells, so that the
// cells in use fit into the processor's caches though the table may not.
type trafficTable struct {
	group
	per  int      // of the group's numbers that are one row
	rows int      // and columns
	row  []uint16 // by rank
	sent []sent   // [senders][receivers]
}

// maxTraffic bounds the rows of a table, and so its memory: 4 MB.
const maxTraffic = 512

// sent counts messages.
type sent struct{ messages, bytes int64 }

// newTraffic returns empty tables by rank, and by each group.
func newTraffic(size int, groups []group) (tables []trafficTable) {
	ranks := group{by: "rank", of: make([]int32, size), size: size}
	for r := range ranks.of {
		ranks.of[r] = int32(r)
	}
	for _, g := range append([]group{ranks}, groups...) {
		// A group with more than maxTraffic numbers has several neighbours in one row.
		per := max(1, (g.size+maxTraffic-1)/maxTraffic)
		t := trafficTable{group: g, per: per, rows: (g.size + per - 1) / per, row: make([]uint16, len(g.of))}
		for r, i := range g.of {
			t.row[r] = uint16(int(i) / per)
		}
		t.sent = make([]sent, t.rows*t.rows)
		tables = append(tables, t)
	}
	return tables
}

// add adds messages that have arrived.
func (t *trafficTable) add(list []replay.Transferred) {
	for i := range list {
		m := &list[i]
		sum := &t.sent[int(t.row[m.Src])*t.rows+int(t.row[m.Dst])]
		sum.messages++
		sum.bytes += m.Size()
	}
}

// data describes a table.
func (t *trafficTable) data() CommMatrix {
	d := CommMatrix{By: t.by, Size: t.rows, Per: t.per}
	if t.name != nil {
		for i := range t.rows {
			d.Labels = append(d.Labels, t.name(i*t.per))
		}
	}
	bytes, number := make([]float32, len(t.sent)), make([]float32, len(t.sent))
	for pair, sum := range t.sent {
		bytes[pair], number[pair] = float32(sum.bytes), float32(sum.messages)
	}
	d.Bytes, d.Number = typedarray.Of(bytes), typedarray.Of(number)
	return d
}
