package table

import (
	"fmt"

	"reprise/replay"
	"reprise/trace"
)

// Columns are the names of the columns of a table: the fixed ones, and seconds of the kinds
// of time, of the kernels and of the phases.
type Columns struct {
	Fixed   []string // rank, host, step, begin_s, end_s, messages, bytes
	Seconds []string // kinds, then kernels, then phases
	kernels int
}

// numKinds is how many kinds of time there are.
const numKinds = int(replay.TimeOverhead) + 1

// MaxColumns is how many there may be.
const MaxColumns = 10_000

// ColumnsOf returns the columns of a table of a replay of what h describes.
func ColumnsOf(h *trace.Header) (*Columns, error) {
	c := &Columns{Fixed: []string{"rank", "host", "step", "begin_s", "end_s", "messages", "bytes"}, kernels: len(h.Kernels)}
	taken := map[string]bool{}
	for _, name := range c.Fixed {
		taken[name] = true
	}
	for k := range numKinds {
		c.add(taken, replay.TimeKind(k).String())
	}
	for _, name := range replay.KernelNames(h) {
		c.add(taken, "kernel_"+name)
	}
	for _, name := range h.Phases {
		c.add(taken, "phase_"+name)
	}
	if n := len(c.Fixed) + len(c.Seconds); n > MaxColumns {
		return nil, fmt.Errorf("a table of %d columns, for each kernel and phase of the trace; at most %d", n, MaxColumns)
	}
	return c, nil
}

// add adds a column of seconds, by a name that programs can do with.
func (c *Columns) add(taken map[string]bool, name string) {
	plain := []byte(name)
	for i, b := range plain {
		if letter := b|0x20 >= 'a' && b|0x20 <= 'z'; !letter && (b < '0' || b > '9') {
			plain[i] = '_'
		}
	}
	unique := string(plain) + "_s"
	for n := 2; taken[unique]; n++ {
		unique = fmt.Sprintf("%s_%d_s", plain, n)
	}
	taken[unique] = true
	c.Seconds = append(c.Seconds, unique)
}
