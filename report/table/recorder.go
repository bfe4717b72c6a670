// Package table writes what each rank does in each step of a replay as rows of a table.
//
// A [Recorder] observes a replay and hands a row to a [Writer] whenever a rank has ended a step; of a trace that
// marks no steps there is a row for each rank. Writers serve other tables, too.
//
//	columns, err := table.ColumnsOf(header)
//	writer := table.NewCSV(file, columns.All, "noise of seed 1")
//	recorder := table.NewRecorder(columns, hosts, writer)
//	options.Observers = []replay.Observer{recorder.Observer()}
//	result, err := replay.Run(ctx, trace, machine, options)
//	recorder.End(false)
//	err = writer.Close()
//
// Rows come in the order in which the ranks end their steps, so that none has to be kept: in
// order for each rank, but not sorted. The order is the same in every run.
//
// Sums over ranks or steps are left to the programs that read tables.
//
// # Units
//
// Times are in seconds of the replay, as the names of the columns say; sizes in bytes.
//
// # Errors
//
// A writer keeps its first error for Close; more than MaxColumns columns are one of ColumnsOf.
//
// # Source
//
// CSV: RFC 4180. Parquet: github.com/apache/parquet-format.
package table

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"

	"reprise/replay"
	"reprise/trace"
)

// Recorder writes the rows of one replay. It keeps the row that is under way of each rank, and nothing else.
type Recorder struct {
	to     Writer
	row    parquet.Row
	kinds  int // where those of kernels begin in rank.seconds
	phases int // and those of phases
	ranks  []rank
}

// rank is the row of a rank under way.
type rank struct {
	host            parquet.Value
	step            int64     // noStep: the trace marks none, or none has begun
	begin           float64   // seconds
	seconds         []float64 // of kinds, kernels and phases
	messages, bytes int64     // that it sends, those of collective operations included
	open            []openPhase
	clock           float64 // seconds
}

// noStep is the step of a rank that is in none.
const noStep = -1

// openPhase is a phase that a rank is in.
type openPhase struct {
	phase uint16
	since float64 // seconds: it began, or the row did
}

// NewRecorder returns a recorder of a replay with those columns, whose ranks are on the given hosts.
func NewRecorder(c *Columns, hosts []string, to Writer) *Recorder {
	r := &Recorder{to: to, kinds: c.kinds, phases: c.kinds + c.kernels, ranks: make([]rank, len(hosts))}
	for i, host := range hosts {
		r.ranks[i] = rank{host: parquet.ByteArrayValue([]byte(host)), step: noStep,
			seconds: make([]float64, len(c.All)-fixed)}
	}
	return r
}

// Observer returns the functions of the recorder, for replay.Options.Observers.
func (r *Recorder) Observer() replay.Observer {
	return replay.Observer{TimePasses: r.timePasses, SendPosted: r.sendPosted, Marked: r.marked}
}

// timePasses adds time to the row of a rank: to its kind, and of a computation to its kernel, too.
func (r *Recorder) timePasses(rank int32, k replay.TimeKind, kernel int32, from, to float64) {
	rk := &r.ranks[rank]
	rk.seconds[k] += to - from
	if kernel >= 0 {
		rk.seconds[r.kinds+int(kernel)] += to - from
	}
	rk.clock = to
}

// sendPosted counts a message that a rank sends.
func (r *Recorder) sendPosted(message, src, dst, tag int32, bytes int64, at float64) {
	rk := &r.ranks[src]
	rk.messages++
	rk.bytes += bytes
}

// marked writes the row of a step that ends, and begins and ends phases. As in the tables of a result, a
// phase that is entered twice counts once.
func (r *Recorder) marked(rank int32, mark trace.Action, at float64) {
	rk := &r.ranks[rank]
	if mark.Kind == trace.KindStep {
		// Time before the first step has a row of its own, without a step, if there is any.
		if rk.step != noStep || rk.clock > rk.begin || rk.messages > 0 {
			r.write(rank, at, true)
		}
		rk.step, rk.begin = mark.X[0], at
		return
	}
	i := slices.IndexFunc(rk.open, func(p openPhase) bool { return p.phase == mark.Sym })
	switch ends := mark.Flags&trace.FlagEnd != 0; {
	case ends && i >= 0:
		rk.seconds[r.phases+int(mark.Sym)] += at - rk.open[i].since
		rk.open = slices.Delete(rk.open, i, i+1)
	case !ends && i < 0:
		rk.open = append(rk.open, openPhase{mark.Sym, at})
	}
}

// write writes the row of a rank up to a time, and begins the next one. A row that is not complete is of a step in
// which the replay was stopped.
func (r *Recorder) write(number int32, at float64, complete bool) {
	rk := &r.ranks[number]
	for i := range rk.open {
		p := &rk.open[i]
		rk.seconds[r.phases+int(p.phase)] += at - p.since
		p.since = at
	}
	step := parquet.NullValue()
	if rk.step != noStep {
		step = parquet.Int64Value(rk.step)
	}
	r.row = append(r.row[:0], parquet.Int32Value(number), rk.host, step, parquet.BooleanValue(complete),
		parquet.DoubleValue(rk.begin), parquet.DoubleValue(at),
		parquet.Int64Value(rk.messages), parquet.Int64Value(rk.bytes))
	for _, v := range rk.seconds {
		r.row = append(r.row, parquet.DoubleValue(v))
	}
	r.to.Write(r.row)
	clear(rk.seconds)
	rk.messages, rk.bytes = 0, 0
}

// End writes the last row of each rank, when the replay has ended, or been stopped: then these rows are not complete.
func (r *Recorder) End(stopped bool) {
	for i := range r.ranks {
		r.write(int32(i), r.ranks[i].clock, !stopped)
	}
}

// Columns are the columns of a table: the fixed ones, and seconds of the kinds of time, of the kernels and of the
// phases.
type Columns struct {
	All            []Column
	kinds, kernels int
}

// fixed is the number of the columns that each table has: those before the seconds.
const fixed = 8

// MaxColumns is how many there may be.
const MaxColumns = 10_000

// ColumnsOf returns the columns of a table of a replay of what h describes.
func ColumnsOf(h *trace.Header) (*Columns, error) {
	integer := parquet.Int(64)
	c := &Columns{kinds: replay.NumTimeKinds, kernels: len(h.Kernels), All: []Column{
		{"rank", parquet.Int(32)}, {"host", parquet.Encoded(Text, &parquet.RLEDictionary)},
		{"step", parquet.Optional(integer)}, {"complete", parquet.Leaf(parquet.BooleanType)},
		{"begin_s", Number}, {"end_s", Number}, {"messages", integer}, {"bytes", integer}}}
	if len(h.Queues) == 0 { // nobody waits for a device, whose kind is the last one
		c.kinds = int(replay.TimeDevice)
	}
	if n := fixed + c.kinds + len(h.Kernels) + len(h.Phases); n > MaxColumns {
		return nil, fmt.Errorf("a table of %d columns, for each kernel and phase of the trace; at most %d", n, MaxColumns)
	}
	// Names are told apart over all columns of seconds: a kernel may be called as a phase is.
	alike := map[string]int{} // columns that come to a name, so far
	for k := range c.kinds {
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
	c.All = append(c.All, Column{unique + "_s", Number})
}
