package calibrate

import (
	"fmt"
	"maps"
	"slices"

	"reprise/calibrate/regress"
	"reprise/calibrate/table"
	"reprise/internal/textutil"
)

// This file reads and keeps timings of messages (Messages.Read), by operation and size.

// Operation is a timed step of a message.
type Operation string

// The operations: a blocking send, a nonblocking one, a receive of a message that is already there, a message there and
// back; a blocking send that is received late, two messages that cross; and polls, of a message that is not there and
// of one that is; and the first poll after a message has come, if it saw it and if it did not.
const (
	Send       Operation = "send"
	Isend      Operation = "isend"
	Recv       Operation = "recv"
	PingPong   Operation = "pingpong"
	SendLate   Operation = "send-late"
	Exchange   Operation = "exchange"
	IprobeMiss Operation = "iprobe-miss"
	IprobeHit  Operation = "iprobe-hit"
	TestMiss   Operation = "test-miss"
	TestHit    Operation = "test-hit"

	IprobeFirstHit  Operation = "iprobe-first-hit"
	IprobeFirstMiss Operation = "iprobe-first-miss"
)

// fitted are the operations to which lines are fitted.
var fitted = []Operation{Send, Isend, Recv, PingPong}

// Operations returns all operations.
func Operations() []Operation {
	return append(slices.Clone(fitted), SendLate, Exchange, IprobeMiss, IprobeHit, TestMiss, TestHit, IprobeFirstHit,
		IprobeFirstMiss)
}

// Between says between which ranks messages were timed.
type Between string

// Messages within a host, and between two: those of tables that do not say it.
const (
	Cores Between = "cores"
	Nodes Between = "nodes"
)

// maxTimings bounds the number of timings, which are all in memory: 512 MiB.
const maxTimings = 1 << 26

// setting is where messages were timed, and how many pairs of ranks sent some at the same time.
type setting struct {
	between Between
	pairs   int64
}

// maxPairs bounds the number of pairs.
const maxPairs = 1 << 20

// Messages holds timings of messages in seconds, by setting, operation and size.
type Messages struct {
	rows     int64
	settings map[setting]series
}

// NewMessages returns an empty set of timings.
func NewMessages() *Messages { return &Messages{settings: map[setting]series{}} }

// Rows returns the number of timings that were read.
func (m *Messages) Rows() int64 { return m.rows }

// Has reports whether there are timings of an operation, of one pair of ranks where lines are fitted.
func (m *Messages) Has(op Operation) bool { return len(m.main()[op]) > 0 }

// Between returns where the timings are from to which lines are fitted: between hosts, if there are any of it.
func (m *Messages) Between() Between {
	if len(m.settings[setting{Nodes, 1}]) == 0 && len(m.settings[setting{Cores, 1}]) > 0 {
		return Cores
	}
	return Nodes
}

// main returns the timings to which lines are fitted.
func (m *Messages) main() series { return m.settings[setting{m.Between(), 1}] }

// MessageOptions says how to read a table of timings of messages.
type MessageOptions struct {
	Operation Operation // of tables without a column for it
	Seconds   []string  // names of the columns whose sum is the time; default: seconds, duration or time
	Where     []Condition
}

// Read adds the rows of a table. The columns are docs/calibrate.md's; others are not looked at.
func (m *Messages) Read(r *table.Reader, o MessageOptions) (err error) {
	defer textutil.Stopped(&err)
	// Columns go by several names, those of other tools among them.
	column := func(names ...string) int { return textutil.Must(r.Column(names...)) }
	operation, size := column("operation", "op", "function", "experiment"), column("bytes", "size", "msg_size")
	between, pairs := column("between"), column("pairs")
	switch {
	case operation >= 0 && o.Operation != "":
		return r.Errorf("%w: it has a column %s: leave out %s= before its name, or keep rows of it by --where",
			ErrContradiction, r.Header()[operation], o.Operation)
	case size < 0:
		return r.Errorf("no column bytes (or size, msg_size)")
	case operation < 0 && o.Operation == "":
		return r.Errorf("no column operation, and no operation given for all rows, as in send=FILE")
	}
	names := [][]string{timeNames} // of each column with a part of the time
	if len(o.Seconds) > 0 {
		names = slices.Collect(slices.Chunk(o.Seconds, 1))
	}
	var times []int
	for _, list := range names {
		i := column(list...)
		switch {
		case i < 0 && len(o.Seconds) == 0:
			return r.Errorf("no column seconds (or duration, time)")
		case i < 0:
			return r.Errorf("no column %q for the time", list[0])
		}
		times = append(times, i)
	}
	asked := textutil.Must(Filter(r, o.Where))
	// Rows without between and pairs are of one pair between two hosts, as tables of older calibrations are.
	return r.Each(asked, func() error {
		op, at := o.Operation, setting{Nodes, 1}
		if op == "" {
			op = Operation(r.Text(operation))
			if !slices.Contains(Operations(), op) {
				return r.Errorf("operation %q, want send, isend, recv or pingpong, or another one of calibrate measure network", op)
			}
		}
		if between >= 0 {
			if at.between = Between(r.Text(between)); at.between != Cores && at.between != Nodes {
				return r.Errorf("between %q, want cores or nodes", at.between)
			}
		}
		if pairs >= 0 {
			if at.pairs = textutil.Must(r.Count(pairs)); at.pairs < 1 || at.pairs > maxPairs {
				return r.Errorf("%d pairs at the same time, want 1 to %d", at.pairs, maxPairs)
			}
		}
		bytes := textutil.Must(r.Count(size))
		seconds := secondsIn(r, times...)
		if seconds == 0 {
			return r.Errorf("%w: a time of 0 s, want more than 0", ErrMeaningless)
		}
		if err := m.addAt(at, op, bytes, seconds); err != nil {
			return r.Errorf("%w", err)
		}
		return nil
	})
}

// maxSettings bounds the number of settings, each of which has room for maxPoints sizes of each operation.
const maxSettings = 64

// addAt keeps a timing, in seconds, of a setting. Bounds are checked here, where memory is taken.
func (m *Messages) addAt(at setting, op Operation, bytes int64, seconds float64) error {
	all := m.settings[at]
	if all == nil {
		if len(m.settings) == maxSettings {
			return fmt.Errorf("more than %d different numbers of pairs", maxSettings)
		}
		all = series{}
		m.settings[at] = all
	}
	sizes := all[op]
	if sizes == nil {
		sizes = map[int64][]float64{}
		all[op] = sizes
	}
	list := sizes[bytes]
	switch {
	case list == nil && len(sizes) == maxPoints:
		return fmt.Errorf("more than %d different sizes", maxPoints)
	case m.rows == maxTimings:
		return fmt.Errorf("more than %d timings", maxTimings)
	}
	sizes[bytes] = append(list, seconds)
	m.rows++
	return nil
}

// series are timings in seconds by operation and size.
type series map[Operation]map[int64][]float64

// number returns the number of timings of an operation.
func (m series) number(op Operation) (n int) {
	for _, list := range m[op] {
		n += len(list)
	}
	return n
}

// sizes returns the sizes of an operation, ascending.
func (m series) sizes(op Operation) []int64 { return slices.Sorted(maps.Keys(m[op])) }

// points returns a statistic of the timings of an operation by size, weighted by their
// number; none if it was not timed.
func (m series) points(op Operation, s Statistic, trim float64) (p regress.Points) {
	for _, bytes := range m.sizes(op) {
		value, deviation, n := s.of(slices.Sorted(slices.Values(m[op][bytes])), trim)
		p.X, p.Y, p.W, p.S = append(p.X, float64(bytes)), append(p.Y, value), append(p.W, float64(n)), append(p.S,
			deviation/value)
	}
	return p
}

// strays returns how many timings of an operation are far off the median of their size, and at how many sizes.
func (m series) strays(op Operation) (timings, sizes int) {
	for _, list := range m[op] {
		if n := len(list) - len(withoutStrays(slices.Sorted(slices.Values(list)))); n > 0 {
			timings += n
			sizes++
		}
	}
	return timings, sizes
}

// medians returns the median of the timings of an operation by size.
func (m series) medians(op Operation) map[int64]float64 {
	list := map[int64]float64{}
	for bytes, times := range m[op] {
		list[bytes], _, _ = Median.of(slices.Sorted(slices.Values(times)), 0)
	}
	return list
}
