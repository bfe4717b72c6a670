package record

import "math/bits"

// pairs counts messages by pairs of numbers below maxTraffic, of which most programs use few: as
// a table with room for all of them they would not fit in the processor's caches. Each pair is in
// the first empty cell from its place on.
type pairs struct {
	cells []sent // a power of two
	used  int    // at most half of them
}

// sent is what has been sent between a pair: its number, counted from 1, is left of the messageBits
// of a number of messages.
type sent struct {
	messages uint64
	bytes    int64
}

const (
	messageBits = 40
	minCells    = 1 << 8
)

func newPairs() pairs { return pairs{cells: make([]sent, minCells)} }

// add adds messages to the pair with a number.
func (p *pairs) add(number int, messages uint64, bytes int64) {
	c := p.cell(uint64(number) + 1)
	c.messages += messages
	c.bytes += bytes
}

// cell returns the cell of the pair with a number, counted from 1.
func (p *pairs) cell(number uint64) *sent {
	shift, last := bits.LeadingZeros64(uint64(len(p.cells)-1)), uint64(len(p.cells)-1)
	for i := number * 0x9e3779b97f4a7c15 >> shift; ; i = (i + 1) & last {
		switch c := &p.cells[i&last]; c.messages >> messageBits {
		case number:
			return c
		case 0:
			return p.begin(c, number)
		}
	}
}

// begin gives a pair an empty cell, or a cell among more of them.
func (p *pairs) begin(c *sent, number uint64) *sent {
	if 2*p.used >= len(p.cells) {
		old := p.cells
		p.cells, p.used = make([]sent, 2*len(old)), 0
		for i := range old {
			if old[i].messages > 0 {
				*p.cell(old[i].messages >> messageBits) = old[i]
			}
		}
		return p.cell(number)
	}
	p.used++
	c.messages = number << messageBits
	return c
}

// all calls f for each pair that has messages.
func (p *pairs) all(f func(number int, messages uint64, bytes int64)) {
	for i := range p.cells {
		if c := &p.cells[i]; c.messages > 0 {
			f(int(c.messages>>messageBits)-1, c.messages&(1<<messageBits-1), c.bytes)
		}
	}
}
