package record

import (
	"reprise/report/packed"
)

// maxTraffic is how many senders and receivers are told apart.
const maxTraffic = 512

// traffic is who sends how much to whom, where several that follow one another may be one.
type traffic struct {
	group
	per   int     // of the group's numbers that are one row
	rows  int     // and columns
	row   []int32 // by rank
	cells []sent
}

// sent is what has been sent from one row to another.
type sent struct{ bytes, messages int64 }

// traffic returns what is counted: by rank, and by each group.
func (g *groups) traffic() []traffic {
	ranks := group{by: "rank", of: make([]int32, g.ranks), size: g.ranks}
	for r := range ranks.of {
		ranks.of[r] = int32(r)
	}
	list := []traffic{newTraffic(ranks)}
	for _, by := range g.list {
		list = append(list, newTraffic(by))
	}
	return list
}

func newTraffic(g group) traffic {
	per := max(1, (g.size+maxTraffic-1)/maxTraffic)
	t := traffic{group: g, per: per, rows: (g.size + per - 1) / per, row: make([]int32, len(g.of))}
	for r, i := range g.of {
		t.row[r] = i / int32(per)
	}
	t.cells = make([]sent, t.rows*t.rows)
	return t
}

// add adds a message.
func (t *traffic) add(src, dst int32, bytes int64) {
	c := &t.cells[int(t.row[src])*t.rows+int(t.row[dst])]
	c.bytes += bytes
	c.messages++
}

func (t *traffic) data() CommMatrix {
	d := CommMatrix{By: t.by, Size: t.rows, Per: t.per}
	if t.name != nil {
		for i := range t.rows {
			d.Labels = append(d.Labels, t.name(i*t.per))
		}
	}
	bytes, messages := make([]float32, len(t.cells)), make([]float32, len(t.cells))
	for i, c := range t.cells {
		bytes[i], messages[i] = float32(c.bytes), float32(c.messages)
	}
	d.Bytes, d.Number = packed.Float32s(bytes), packed.Float32s(messages)
	return d
}
