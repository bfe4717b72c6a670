package table

import (
	"fmt"

	"reprise/replay"
	"reprise/trace"
)

// Columns are the names of the columns of a table: the fixed ones, and seconds of the kinds
// of time, of the kernels and of the phases.
type Columns struct {
	Fixed   []string // rank, host, step, complete, begin_s, end_s, messages, bytes
	Seconds []string // kinds, then kernels, then phases
	kernels int
}

// numKinds is how many kinds of time there are.
const numKinds = int(replay.TimeOverhead) + 1

// MaxColumns is how many there may be.
const MaxColumns = 10_000

// ColumnsOf returns the columns of a table of a replay of what h describes.
func ColumnsOf(h *trace.Header) (*Columns, error) {
	c := &Columns{Fixed: []string{"rank", "host", "step", "complete", "begin_s", "end_s", "messages", "bytes"}, kernels: len(h.Kernels)}
	if n := len(c.Fixed) + numKinds + len(h.Kernels) + len(h.Phases); n > MaxColumns {
		return nil, fmt.Errorf("a table of %d columns, for each kernel and phase of the trace; at most %d", n, MaxColumns)
	}
	alike := map[string]int{}
	for k := range numKinds {
		c.add(alike, replay.TimeKind(k).String())
	}
	for _, name := range replay.KernelNames(h) {
		c.add(alike, "kernel_"+name)
	}
	for _, name := range h.Phases {
		c.add(alike, "phase_"+name)
	}
	return c, nil
}

// add adds a column of seconds, by a name that programs can do with: of several that come
// to the same all but the first have a number, behind a point that no other name has.
func (c *Columns) add(alike map[string]int, name string) {
	plain := []byte(name)
	for i, b := range plain {
		if letter := b|0x20 >= 'a' && b|0x20 <= 'z'; !letter && (b < '0' || b > '9') {
			plain[i] = '_'
		}
	}
	unique := string(plain)
	if alike[unique]++; alike[unique] > 1 {
		unique = fmt.Sprintf("%s.%d", plain, alike[unique])
	}
	c.Seconds = append(c.Seconds, unique+"_s")
}
