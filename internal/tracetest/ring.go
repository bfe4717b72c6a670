package tracetest

import (
	"bytes"
	"testing"

	"reprise/trace"
)

// RingHeader is that of 2x3 ranks with one call site: the column's number, and two
// sizes per column.
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

func Open(t testing.TB, data []byte) *trace.Trace {
	t.Helper()
	tr, err := trace.NewReaderAt(bytes.NewReader(data), int64(len(data)), "test")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
