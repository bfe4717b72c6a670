package record

import (
	"math"

	"reprise/replay"
	"reprise/report/typedarray"
	"reprise/trace"
)

// This file makes the matrix of ranks by columns of a page: what share of its time a rank spends in each of the States.

// matrix is ranks by columns. Whenever it has too many cells, two neighbours in a row become
// one; several ranks share a row from the beginning where there are very many.
type matrix struct {
	ranks       int
	states      int // of States, that are shown
	ranksPerRow int
	rows        int
	perCell     int      // columns in a cell
	list        [][]cell // [columns/perCell][rows]
}

// cell sums up some ranks in some columns.
type cell struct {
	seconds [NumStates]float32
	longest float32          // time that a rank was in a column, seconds
	most    [NumStates]uint8 // the greatest share of a rank in a column; 255 is 1
}

func newMatrix(ranks int) matrix {
	per := max(1, (ranks+maxRows-1)/maxRows)
	return matrix{ranks: ranks, states: NumStates, ranksPerRow: per, rows: (ranks + per - 1) / per, perCell: 1}
}

// NumStates is how many states of ranks a page tells apart.
const NumStates = 6

// States are the names of the states of ranks, by number (StateOf): waiting is all kinds of time in which a rank waits
// for messages.
var States = [NumStates]string{"compute", "waiting", "poll", "overhead", "sleep", "device"}

// StatesOf returns the States in which ranks of a trace may be: none waits for a device where there are no queues.
func StatesOf(h *trace.Header) []string {
	if len(h.Queues) == 0 {
		return States[:NumStates-1]
	}
	return States[:]
}

// StateOf returns which of the States a kind of time is.
func StateOf(kind replay.TimeKind) int {
	switch {
	case kind.Waits():
		return 1
	case kind == replay.TimePoll:
		return 2
	case kind == replay.TimeOverhead:
		return 3
	case kind == replay.TimeSleep:
		return 4
	case kind == replay.TimeDevice:
		return 5
	}
	return 0
}

// stateOf is StateOf as a table.
var stateOf = func() (of [numKinds]uint8) {
	for k := range of {
		of[k] = uint8(StateOf(replay.TimeKind(k)))
	}
	return of
}()

// Bounds of a matrix. A cell takes 36 bytes here, and six bytes or more of a page before compression; more rows than
// 16,384 are more than any screen has.
const (
	maxCells = 3 << 19
	maxRows  = 1 << 14
)

// add adds the times of a rank in a column, in which it was so long. Kernels are in their kind. A cell is made also for
// a rank that spends no time in the column, so that every column has a row for each rank.
func (m *matrix) add(rank, column int32, now []float64, length float64) {
	c := m.at(column, int(rank)/m.ranksPerRow)
	if !(length > 0) {
		return
	}
	var seconds [NumStates]float64
	for k, v := range now[:numKinds] {
		seconds[stateOf[k]] += v
	}
	c.longest = max(c.longest, float32(length))
	for i, s := range seconds {
		c.seconds[i] += float32(s)
		c.most[i] = max(c.most[i], quantised(s/length))
	}
}

// at returns a cell, for which neighbours become one where there are too many. Merging halves the columns, so each cell
// is merged a number of times that is the logarithm of the columns at most.
func (m *matrix) at(column int32, row int) *cell {
	for int(column)/m.perCell >= len(m.list) {
		if (len(m.list)+1)*m.rows <= maxCells {
			m.list = append(m.list, make([]cell, m.rows))
			continue
		}
		m.perCell *= 2
		m.list = merged(m.list, 1, func(into, more []cell) []cell {
			for i := range more {
				c, o := &into[i], &more[i]
				c.longest = max(c.longest, o.longest)
				for s := range o.seconds {
					c.seconds[s] += o.seconds[s]
					c.most[s] = max(c.most[s], o.most[s])
				}
			}
			return into
		})
	}
	return &m.list[int(column)/m.perCell][row]
}

// quantised returns a share of [0, 1] in 255ths.
func quantised(share float64) uint8 { return uint8(min(max(share, 0), 1)*255 + 0.5) }

// data describes the cells of columns from the first on, which begins a cell. Most differs from the mean only where a
// cell stands for several ranks or columns, and is left out otherwise.
func (m *matrix) data(first int) Matrix {
	list := m.list[first/m.perCell:]
	d := Matrix{Ranks: m.ranks, Rows: m.rows, Cols: len(list), RanksPerRow: m.ranksPerRow, ColumnsPerCell: m.perCell,
		Steps: 255}
	size, coarse := m.states*m.rows*len(list), m.ranksPerRow*m.perCell > 1
	d.Mean = make(typedarray.Bytes, 0, size)
	if coarse {
		d.Most = make(typedarray.Bytes, 0, size)
	}
	for state := range m.states {
		for _, column := range list {
			for row := range column {
				d.Mean = append(d.Mean, column[row].share(state))
				if coarse {
					d.Most = append(d.Most, column[row].most[state])
				}
			}
		}
	}
	for _, column := range list {
		longest := math.SmallestNonzeroFloat64 // nobody was there: shares of nothing
		for row := range column {
			longest = max(longest, float64(column[row].longest))
		}
		for row := range column {
			d.Length = append(d.Length, quantised(float64(column[row].longest)/longest))
		}
	}
	return d
}

// share returns which share of its time a cell is in a state, in 255ths. The time is the sum of the states, as told by
// the ranks, so that the shares of a cell add up to 1.
func (c *cell) share(state int) uint8 {
	all := 0.0
	for _, s := range c.seconds {
		all += float64(s)
	}
	if all == 0 {
		return 0
	}
	return quantised(float64(c.seconds[state]) / all)
}

// Round rounds shares and lengths to so many steps, 1 to 255: noisy ones then take a page less
// room by the bits that they lose.
func (m *Matrix) Round(steps int) {
	var rounded [256]uint8
	for v := range rounded {
		step := (v*steps + 127) / 255
		rounded[v] = uint8((step*255 + steps/2) / steps)
	}
	m.Steps = steps
	for _, plane := range []typedarray.Bytes{m.Mean, m.Most, m.Length} {
		for i, v := range plane {
			plane[i] = rounded[v]
		}
	}
}
