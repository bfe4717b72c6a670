package calibrate

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"reprise/calibrate/regress"
	"reprise/calibrate/table"
)

// Operation is what was timed of messages.
type Operation string

// The operations: a blocking send, a nonblocking one, a receive of a message
// that is already there, and a message there and back.
const (
	Send     Operation = "send"
	Isend    Operation = "isend"
	Recv     Operation = "recv"
	PingPong Operation = "pingpong"
)

var operations = []Operation{Send, Isend, Recv, PingPong}

// maxTimings bounds the number of timings, which are all in memory: 512 MiB.
const maxTimings = 1 << 26

// Messages holds timings of messages in seconds, by operation and size.
type Messages struct {
	rows    int64
	timings map[Operation]map[int64][]float64
}

// NewMessages returns an empty set of timings.
func NewMessages() *Messages { return &Messages{timings: map[Operation]map[int64][]float64{}} }

// Rows returns the number of timings that were read.
func (m *Messages) Rows() int64 { return m.rows }

// Has reports whether there are timings of an operation.
func (m *Messages) Has(op Operation) bool { return len(m.timings[op]) > 0 }

// MessageOptions says how to read a table of timings of messages.
type MessageOptions struct {
	Operation Operation // of tables without a column for it
	Seconds   []string  // names of the columns whose sum is the time; default: seconds, duration or time
	Where     []Condition
}

// messageColumns is where a table has what; -1: nowhere.
type messageColumns struct {
	operation, bytes int
	seconds          []int
	asked            func() bool // whether the current row has what is asked for
}

// Read adds the rows of a table. The columns are docs/calibrate.md's; others are
// not looked at.
func (m *Messages) Read(r *table.Reader, o MessageOptions) error {
	c, err := findMessageColumns(r, o)
	if err != nil {
		return err
	}
	for {
		switch err := r.Next(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if !c.asked() {
			continue
		}
		if err := m.readRow(r, c, o); err != nil {
			return err
		}
	}
}

func findMessageColumns(r *table.Reader, o MessageOptions) (c messageColumns, err error) {
	if err := r.CheckSeparator(); err != nil {
		return c, err
	}
	if c.operation, err = r.Column("operation", "op", "function", "experiment"); err != nil {
		return c, err
	}
	if c.bytes, err = r.Column("bytes", "size", "msg_size"); err != nil {
		return c, err
	}
	switch {
	case c.operation >= 0 && o.Operation != "":
		return c, r.Errorf("%w: it has a column %s: leave out %s= before its name, or keep rows of it by --where", ErrContradiction, r.Header()[c.operation], o.Operation)
	case c.bytes < 0:
		return c, r.Errorf("no column bytes (or size, msg_size)")
	case c.operation < 0 && o.Operation == "":
		return c, r.Errorf("no column operation, and no operation given for all rows, as in send=FILE")
	}
	if c.seconds, err = findTimes(r, o.Seconds); err != nil {
		return c, err
	}
	c.asked, err = Filter(r, o.Where)
	return c, err
}

// findTimes returns the columns whose sum is the time.
func findTimes(r *table.Reader, names []string) ([]int, error) {
	if len(names) == 0 {
		i, err := r.Column("seconds", "duration", "time")
		if err == nil && i < 0 {
			err = r.Errorf("no column seconds (or duration, time)")
		}
		return []int{i}, err
	}
	var list []int
	for _, name := range names {
		i, err := r.Column(name)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			return nil, r.Errorf("no column %q for the time", name)
		}
		list = append(list, i)
	}
	return list, nil
}

func (m *Messages) readRow(r *table.Reader, c messageColumns, o MessageOptions) error {
	op := o.Operation
	if op == "" {
		op = Operation(r.Text(c.operation))
		if !slices.Contains(operations, op) {
			return r.Errorf("operation %q, want send, isend, recv or pingpong", op)
		}
	}
	bytes, err := r.Count(c.bytes)
	if err != nil {
		return err
	}
	seconds := 0.0
	for _, column := range c.seconds {
		part, err := r.Number(column)
		if err != nil {
			return err
		}
		seconds += part
	}
	if err := checkSeconds(seconds); err != nil {
		return r.Errorf("%w", err)
	}
	if seconds == 0 {
		return r.Errorf("%w: a time of 0 s, want more than 0", ErrMeaningless)
	}
	if err := m.add(op, bytes, seconds); err != nil {
		return r.Errorf("%w", err)
	}
	return nil
}

// add keeps a timing.
func (m *Messages) add(op Operation, bytes int64, seconds float64) error {
	sizes := m.timings[op]
	if sizes == nil {
		sizes = map[int64][]float64{}
		m.timings[op] = sizes
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

// number returns the number of timings of an operation.
func (m *Messages) number(op Operation) (n int) {
	for _, list := range m.timings[op] {
		n += len(list)
	}
	return n
}

// sizes returns the sizes of an operation, ascending.
func (m *Messages) sizes(op Operation) []int64 { return slices.Sorted(maps.Keys(m.timings[op])) }

// points returns a statistic of the timings of an operation by size, weighted by their
// number; none if it was not timed.
func (m *Messages) points(op Operation, s Statistic, trim float64) (p regress.Points) {
	for _, bytes := range m.sizes(op) {
		value, n := s.of(slices.Sorted(slices.Values(m.timings[op][bytes])), trim)
		p.X, p.Y, p.W = append(p.X, float64(bytes)), append(p.Y, value), append(p.W, float64(n))
	}
	return p
}

// strays returns how many timings of an operation are far off the median of their size, and
// at how many sizes.
func (m *Messages) strays(op Operation) (timings, sizes int) {
	for _, list := range m.timings[op] {
		if n := strays(slices.Sorted(slices.Values(list))); n > 0 {
			timings += n
			sizes++
		}
	}
	return timings, sizes
}
