package record

import (
	"errors"
	"fmt"

	"reprise/replay"
	"reprise/trace"
)

// Options say what is recorded.
type Options struct {
	Header  *trace.Header
	Machine replay.Machine
	// Replay are the options of the replay: its steps, and its network.
	Replay replay.Options
}

const (
	maxColumns = 1 << 13 // in which steps are put
	maxSpreads = 1 << 21 // numbers of all columns, of which a trace of many kernels has many in each
)

// Recorder is a replay.Observer that keeps what Data consists of.
type Recorder struct {
	replay.Ignore
	header *trace.Header
	ranks  []rank
	absent int // ranks of which nothing has been told
	times  times
	sums   rows
	spent  spent // of steps, in place of sums

	first      int // step to be played
	last       int // likewise
	perColumn  int // steps that are one column
	maxColumns int
	steps      bool      // columns are steps, not slices of time
	slices     timeSlots // if they are
	columns    columns
	matrix     matrix

	groups  groups
	traffic traffic
	links   links
	done    bool
}

// New returns a recorder for one replay.
func New(o Options) (*Recorder, error) {
	h := o.Header
	if o.Machine.Platform == nil {
		return nil, errors.New("record: no platform")
	}
	if len(o.Machine.Hosts) != h.Ranks {
		return nil, fmt.Errorf("record: hosts for %d ranks, but the trace has %d", len(o.Machine.Hosts), h.Ranks)
	}
	r := &Recorder{header: h, ranks: make([]rank, h.Ranks), absent: h.Ranks, sums: newRows(h), first: o.Replay.From}
	for i := range r.ranks {
		r.ranks[i] = rank{until: notYet, column: noColumn}
	}
	r.last = h.Steps - 1
	if o.Replay.To > 0 {
		r.last = min(r.last, o.Replay.To-1)
	}
	steps := r.last + 1 - r.first
	r.maxColumns = min(maxColumns, max(1, maxSpreads/r.sums.width))
	r.steps, r.perColumn = steps > 1, max(1, (steps+r.maxColumns-1)/r.maxColumns)
	if !r.steps {
		r.slices = newTimeSlots(h.Ranks * r.sums.width)
	}
	if r.steps {
		r.spent = newSpent(h.Ranks, r.sums.width)
	}
	r.columns = columns{width: r.sums.width}
	r.matrix = newMatrix(h.Ranks)
	r.groups = newGroups(h, &o.Machine)
	r.traffic = r.groups.traffic()
	r.links = newLinks(&o.Machine, &o.Replay.Network.Options)
	return r, nil
}

// Spares implements replay.Sparing.
func (r *Recorder) Spares() replay.Spared {
	return replay.Spared{Actions: true, Times: r.steps, Messages: true, Carried: true}
}

// Data returns what has been recorded, once the replay has ended. The recorder is of no use
// any more.
func (r *Recorder) Data() (*Data, error) {
	if r.done {
		return nil, errors.New("record: a recorder has its data once")
	}
	r.done = true
	r.end()
	first, count := r.columns.span(r.matrix.perCell)
	d := &Data{
		Columns:       r.columnData(first, count),
		States:        States[:],
		Series:        r.seriesData(first, count),
		Matrix:        r.matrix.data(first),
		Communication: r.traffic.data(),
		Links:         r.links.data(r.lastEnd()),
	}
	d.Matrix.Orders = r.groups.orders(r.matrix.ranksPerRow, r.ranks)
	return d, r.links.routes.err
}

// lastEnd returns the end of the last rank in seconds.
func (r *Recorder) lastEnd() (end float64) {
	for i := range r.ranks {
		end = max(end, r.ranks[i].clock)
	}
	return end
}
