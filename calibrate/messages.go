package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
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

// trimBlock is the number of consecutive timings of which the smallest and
// largest are left out.
const trimBlock = 10

// Messages holds timings of messages: by operation and size, their moments.
type Messages struct {
	trim    float64
	rows    int64
	kept    map[Operation]map[int64]*moments
	pending map[Operation][]messageTiming // the block that is not full yet

	timings    map[Operation][]messageTiming // nil unless they are kept
	numTimings int
}

type messageTiming struct {
	bytes   int64
	seconds float64
}

// NewMessages returns an empty set of timings. Of each 10 consecutive timings of
// an operation but pingpong, those below the quantile trim and above 1-trim are left out, against
// bursts of noise; trim is in [0, 0.5), and 0 leaves out none.
func NewMessages(trim float64) (*Messages, error) {
	if !(trim >= 0 && trim < 0.5) {
		return nil, fmt.Errorf("trim %g, want at least 0 and less than 0.5", trim)
	}
	return &Messages{trim: trim, kept: map[Operation]map[int64]*moments{}, pending: map[Operation][]messageTiming{}}, nil
}

// Rows returns the number of timings that were read.
func (m *Messages) Rows() int64 { return m.rows }

// Has reports whether there are timings of an operation.
func (m *Messages) Has(op Operation) bool { return len(m.kept[op])+len(m.pending[op]) > 0 }

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
			return m.flush()
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
	m.rows++
	if err := m.add(op, messageTiming{bytes, seconds}); err != nil {
		return r.Errorf("%w", err)
	}
	return nil
}

// add keeps a timing, or the block that it completes.
func (m *Messages) add(op Operation, t messageTiming) error {
	if m.trim == 0 || op == PingPong {
		return m.keep(op, t)
	}
	block := append(m.pending[op], t)
	m.pending[op] = block
	if len(block) < trimBlock {
		return nil
	}
	m.pending[op] = block[:0]
	return m.keepTrimmed(op, block)
}

// flush keeps the blocks that are not full.
func (m *Messages) flush() error {
	for _, op := range operations {
		if block := m.pending[op]; len(block) > 0 {
			m.pending[op] = nil
			if err := m.keepTrimmed(op, block); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Messages) keepTrimmed(op Operation, block []messageTiming) error {
	times := make([]float64, len(block))
	for i, t := range block {
		times[i] = t.seconds
	}
	slices.Sort(times)
	low, high := quantile(times, m.trim), quantile(times, 1-m.trim)
	for _, t := range block {
		if t.seconds >= low && t.seconds <= high {
			if err := m.keep(op, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// quantile interpolates between the order statistics of sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

func (m *Messages) keep(op Operation, t messageTiming) error {
	sizes := m.kept[op]
	if sizes == nil {
		sizes = map[int64]*moments{}
		m.kept[op] = sizes
	}
	if sizes[t.bytes] == nil {
		if len(sizes) == maxPoints {
			return fmt.Errorf("more than %d different sizes", maxPoints)
		}
		sizes[t.bytes] = &moments{}
	}
	sizes[t.bytes].add(t.seconds)
	return m.keepTiming(op, t)
}

// points returns the means of an operation by size, weighted by their number;
// none if it was not timed.
func (m *Messages) points(op Operation) (p regress.Points, timings int64) {
	type mean struct {
		bytes int64
		*moments
	}
	var list []mean
	for bytes, of := range m.kept[op] {
		list = append(list, mean{bytes, of})
	}
	slices.SortFunc(list, func(a, b mean) int { return cmp.Compare(a.bytes, b.bytes) })
	for _, x := range list {
		p.X, p.Y, p.W = append(p.X, float64(x.bytes)), append(p.Y, x.mean), append(p.W, float64(x.n))
		timings += x.n
	}
	return p, timings
}
