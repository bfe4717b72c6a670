// Package tracetest builds small traces for tests.
package tracetest

import (
	"bytes"
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
// Blocks that it calls go into the program; its parameters are the vectors, at
// most two.
func Trace(t testing.TB, ranks int, block func(r int, b *trace.Builder, p *trace.Program),
	vectors ...[]int64) *trace.Trace {
	t.Helper()
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, header(ranks), trace.WriterOptions{})
	must(t, err)
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
		call.Blocks[r] = int64(add(t, w.Program(), b))
	}
	must(t, w.Step(0))
	must(t, w.Call(&call))
	must(t, w.Close())
	tr, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "test")
	must(t, err)
	t.Cleanup(func() { tr.Close() })
	return tr
}

// Poll appends the definition of the pollable operation, guarded by the message
// (peer, tag) of some bytes, which its body receives.
func Poll(t testing.TB, b *trace.Builder, p *trace.Program, peer, tag, size int64) {
	t.Helper()
	body := trace.NewBuilder("receive", 0)
	body.Probed(0, trace.Const(peer), trace.Const(tag))
	body.Message(trace.OpRecv, 0, 0, trace.Const(peer), trace.Const(tag), trace.Const(size))
	b.DefineGuarded(0, 0, trace.Const(peer), trace.Const(tag), add(t, p, body))
}

// Update appends work on n columns, in chunks while the operation is pending.
func Update(t testing.TB, b *trace.Builder, p *trace.Program, n, chunk int64) {
	t.Helper()
	body := trace.NewBuilder("columns", 1)
	body.Compute(Work, body.Param(0))
	b.Work(0, trace.Const(n), trace.Const(chunk), add(t, p, body))
}

func add(t testing.TB, p *trace.Program, b *trace.Builder) int {
	t.Helper()
	n, err := p.Add(b)
	must(t, err)
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
