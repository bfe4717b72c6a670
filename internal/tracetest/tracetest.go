// Package tracetest builds small traces for tests of what reads, replays or shows traces: of ranks that each do
// something of their own ([Trace]), of a grid of 2x3 ranks with call sites ([GridHeader]), of a ring ([Ring]), and of
// whatever bytes say ([Wild]). Traces of real programs are in testdata and come from tracegen.
package tracetest

import (
	"bytes"
	"errors"
	"testing"

	"reprise/trace"
)

// Kernels of the traces: each has one dimension, N.
const (
	Work = iota // 3*N flop
	Move        // no flop
)

// maxVectors is how many vectors a trace may have.
const maxVectors = 2

// header returns the header of a trace of one step in which each rank calls a
// block of its own, whose arguments are vectors. There is one pollable operation.
func header(ranks int) *trace.Header {
	n := []trace.Dim{{Name: "N"}}
	return &trace.Header{
		Program: "test", Ranks: ranks, Steps: 1, Pollables: 1,
		CommFamilies: []trace.CommFamily{{Name: "-", Groups: []trace.Group{{Stride: 1, Count: int32(ranks)}}}},
		Axes:         []trace.Axis{{Name: "rank", Kind: trace.AxisRank}, {Name: "all", Kind: trace.AxisAll}},
		Phases:       []string{"all"},
		Markers:      []trace.Marker{{Text: "begin", Phase: 1}, {Text: "end", Phase: 1, End: true}},
		Kernels: []trace.Kernel{Work: {Name: "work", Dims: n, Flops: []trace.Term{{Coef: 3, Pow: [4]uint8{1}}}},
			Move: {Name: "move", Dims: n}},
		CallSites: []trace.CallSite{{Name: "main", Counts: trace.NoAxis, Block: 0, Params: []trace.ParamColumn{
			{Name: "first", Axis: 1, Vector: true}, {Name: "second", Axis: 1, Vector: true},
		}}},
	}
}

// Trace returns the trace in which rank r does what block appends to its builder.
// The trace has one step with one call, of a block of each rank's own: so a test says in a few lines of Go what each
// rank does, and needs no call sites.
// Blocks that it calls go into the program; its parameters are the vectors, at
// most two.
func Trace(t testing.TB, ranks int, block func(r int, b *trace.Builder, p *trace.Program),
	vectors ...[]int64) *trace.Trace {
	t.Helper()
	data := written(header(ranks), func(w *trace.Writer) {
		call := trace.Call{Blocks: make([]int64, ranks), Args: make([][]int64, maxVectors)}
		for i := range call.Args {
			v := trace.Vector{Values: []int64{0}}
			if i < len(vectors) {
				v.Values = vectors[i]
			}
			call.Args[i] = []int64{w.Vector(v)}
		}
		for r := range ranks {
			b := trace.NewBuilder("main", len(vectors))
			block(r, b, w.Program())
			call.Blocks[r] = int64(Must(w.Program().Add(b)))
		}
		Check(t, errors.Join(w.Step(0), w.Call(&call)))
	})
	tr := Open(t, data)
	t.Cleanup(func() { tr.Close() })
	return tr
}

// written returns the file of a trace whose blocks and steps fill writes.
func written(h *trace.Header, fill func(w *trace.Writer)) []byte {
	var file bytes.Buffer
	w := Must(trace.NewWriter(&file, h, trace.WriterOptions{}))
	fill(w)
	Must(w, w.Close())
	return file.Bytes()
}

// Must returns v, and panics with an error: where a test writes what it has made up itself, there is none.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Check ends the test at an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Poll appends the definition of the pollable operation, guarded by the message
// (peer, tag) of some bytes, which its body receives.
func Poll(t testing.TB, b *trace.Builder, p *trace.Program, peer, tag, size int64) {
	t.Helper()
	body := trace.NewBuilder("receive", 0)
	body.Probed(0, trace.Const(peer), trace.Const(tag))
	body.Message(trace.OpRecv, 0, 0, trace.Const(peer), trace.Const(tag), trace.Const(size))
	b.DefineGuarded(0, 0, trace.Const(peer), trace.Const(tag), Must(p.Add(body)))
}

// Update appends work on n columns, in chunks while the operation is pending.
func Update(t testing.TB, b *trace.Builder, p *trace.Program, n, chunk int64) {
	t.Helper()
	body := trace.NewBuilder("columns", 1)
	body.Compute(Work, body.Param(0))
	b.Work(0, trace.Const(n), trace.Const(chunk), Must(p.Add(body)))
}

// Messages returns a trace of two ranks for examples: rank 0 computes 3*N flop by the
// kernel work, N = 100, and sends rank 1 the given number of messages of 1,000 bytes.
func Messages(count int) *trace.Trace {
	sender, receiver := trace.NewBuilder("sender", 0), trace.NewBuilder("receiver", 0)
	sender.Compute(Work, trace.Const(100))
	for range count {
		sender.Message(trace.OpSend, 0, 0, trace.Const(1), trace.Const(0), trace.Const(1000))
		receiver.Message(trace.OpRecv, 0, 0, trace.Const(0), trace.Const(0), trace.Const(1000))
	}
	data := written(header(2), func(w *trace.Writer) {
		first, second := Must(w.Program().Add(sender)), Must(w.Program().Add(receiver))
		none := w.Vector(trace.Vector{Values: []int64{0}})
		call := trace.Call{Blocks: []int64{int64(first), int64(second)}, Args: [][]int64{{none}, {none}}}
		Must(w, errors.Join(w.Step(0), w.Call(&call)))
	})
	return Must(trace.NewReaderAt(bytes.NewReader(data), int64(len(data)), "example"))
}

// GridHeader describes 2x3 ranks, row-major, with one call site of two arguments per process row and one vector.
func GridHeader() *trace.Header {
	h := &trace.Header{Program: "test", Ranks: 6, Steps: 3, Pollables: 1, Phases: []string{"work"}}
	row, col := trace.CommFamily{Name: "row"}, trace.CommFamily{Name: "col"}
	for r := range 2 {
		row.Groups = append(row.Groups, trace.Group{Start: int32(3 * r), Stride: 1, Count: 3})
	}
	for q := range 3 {
		col.Groups = append(col.Groups, trace.Group{Start: int32(q), Stride: 3, Count: 2})
	}
	h.CommFamilies = []trace.CommFamily{row, col}
	h.Axes = []trace.Axis{{Name: "all"}, {Name: "row", Kind: trace.AxisFamily, Family: 0},
		{Name: "col", Kind: trace.AxisFamily, Family: 1}, {Name: "rank", Kind: trace.AxisRank}}
	h.Kernels = []trace.Kernel{{Name: "k", Dims: []trace.Dim{{Name: "M"}, {Name: "N"}}}}
	h.Markers = []trace.Marker{{Text: "begin work n={} sums={sums} list={list}", Phase: 1},
		{Text: "end work", Phase: 1, End: true}}
	h.CallSites = []trace.CallSite{{Name: "t", Masks: []int{2}, Counts: trace.NoAxis, Block: 1,
		Params: []trace.ParamColumn{{Name: "m", Axis: 1}, {Name: "n", Axis: 2}, {Name: "v", Axis: 0, Vector: true}}}}
	return h
}

// RingHeader is that of 2x3 ranks with one call site: the column's number, and two sizes per column.
func RingHeader() *trace.Header {
	h := GridHeader()
	h.Phases = append(h.Phases, "rest")
	h.Markers = append(h.Markers, trace.Marker{Text: "begin rest", Phase: 2})
	h.Kernels[0].Dims[1].Enum = []string{"in", "out"}
	h.CallSites = []trace.CallSite{{Name: "ring", Masks: []int{2}, Counts: trace.NoAxis, Block: 1,
		Params: []trace.ParamColumn{{Name: "q", Axis: 2}, {Name: "out", Axis: 2}, {Name: "in", Axis: 2}}}}
	return h
}

// Ring passes a message on within each process row: from column q, of out bytes.
// The receive is begun first, so that no order of the ranks makes them wait for each other.
func Ring(b *trace.Builder) {
	q, tag := b.Param(0), trace.Const(5)
	b.Message(trace.OpIrecv, 0, 1, b.Member(0, q.Plus(-1)), tag, b.Param(2))
	b.Message(trace.OpSend, 0, 0, b.Member(0, q.Plus(1)), tag, b.Param(1))
	b.Wait(1)
}

// RingCall calls a block by all ranks: column q sends 8*(q+1) bytes.
func RingCall(block int) *trace.Call {
	n := int64(block)
	return &trace.Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{n, n},
		Args: [][]int64{{0, 1, 2}, {8, 16, 24}, {24, 8, 16}}}
}

// Open opens the trace in a file's bytes.
func Open(t testing.TB, data []byte) *trace.Trace {
	t.Helper()
	return Must(trace.NewReaderAt(bytes.NewReader(data), int64(len(data)), "test"))
}
