package tracetest

import (
	"bytes"
	"errors"
	"testing"

	"reprise/trace"
)

// GridHeader describes 2x3 ranks, row-major, with one call site of two arguments
// per process row and one vector.
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

// Traced writes a trace of one call per step of the block and reads it back.
func Traced(t testing.TB, h *trace.Header, steps int, b *trace.Builder) *trace.Trace {
	t.Helper()
	var buf bytes.Buffer
	w, err := trace.NewWriter(&buf, h, trace.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	block, err := w.Program().Add(b)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(block)
	v := w.Vector(trace.Vector{Values: []int64{5, 0, 7, 1}})
	for s := range steps {
		if err := w.Step(s); err != nil {
			t.Fatal(err)
		}
		if err := w.Call(&trace.Call{Masks: [][]int64{{1, 1, 0}}, Blocks: []int64{n, n},
			Args: [][]int64{{10, 20}, {1, 2, 3}, {v}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.NewReader(&buf, "test.trace.zst")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// PollBlock defines a pollable (guarded by a message from rank 5 or not) whose
// body computes (99, arg), polls it once, and works 10 columns in chunks of 4.
func PollBlock(t *testing.T, h *trace.Header, guarded bool) *trace.Trace {
	t.Helper()
	var buf bytes.Buffer
	w, err := trace.NewWriter(&buf, h, trace.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(b *trace.Builder) int {
		n, err := w.Program().Add(b)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	body := trace.NewBuilder("body", 1)
	body.Compute(0, trace.Const(99), body.Param(0))
	work := trace.NewBuilder("work", 2)
	work.Compute(0, work.Param(0), work.Param(1))
	bodyBlock, workBlock := add(body), add(work)
	b := trace.NewBuilder("polls", 3)
	if guarded {
		b.DefineGuarded(0, 0, trace.Const(5), trace.Const(77), bodyBlock, b.Param(0))
	} else {
		b.Define(0, bodyBlock, b.Param(0))
	}
	b.Compute(0, trace.Const(1), trace.Const(1))
	b.Poll(0)
	b.Compute(0, trace.Const(2), trace.Const(2))
	b.Work(0, b.Param(1).Plus(8), trace.Const(4), workBlock, b.Param(1))
	b.PollWait(0)
	b.Poll(0)
	n := int64(add(b))
	if err := errors.Join(w.Step(0), w.Call(&trace.Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{n, n},
		Args: [][]int64{{10, 20}, {1, 2, 3}, {w.Vector(trace.Vector{Values: []int64{1}})}}}), w.Close()); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.NewReader(&buf, "polls")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
