package trace

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// collectiveTrace is a trace of two ranks that call block with the given vectors.
func collectiveTrace(t *testing.T, build func(b *Builder), vectors ...[]int64) (*Trace, error) {
	t.Helper()
	h := &Header{Program: "test", Ranks: 2, Steps: 1, Axes: []Axis{{Name: "all"}}}
	h.CallSites = []CallSite{{Name: "call", Counts: NoAxis}}
	for range vectors {
		h.CallSites[0].Params = append(h.CallSites[0].Params, ParamColumn{Name: "counts", Vector: true})
	}
	var file bytes.Buffer
	w := must(NewWriter(&file, h, WriterOptions{}))
	b := NewBuilder("block", len(vectors))
	build(b)
	block, err := w.Program().Add(b)
	if err != nil {
		return nil, err
	}
	call := &Call{Blocks: []int64{int64(block)}}
	for _, v := range vectors {
		call.Args = append(call.Args, []int64{w.Vector(Vector{Values: v})})
	}
	check(t, errors.Join(w.Step(0), w.Call(call), w.Close()))
	return NewReader(&file, "test")
}

// TestCollectivesFromFile: each operation comes out of a file as it went in.
func TestCollectivesFromFile(t *testing.T) {
	counts, sums := []int64{3, 4}, []int64{0, 3, 7}
	for kind := range CollectiveKind(NumCollectives) {
		rule := &collectiveRules[kind]
		want := Collective{Kind: kind}
		var operands CollectiveOperands
		build := func(b *Builder) {
			operands = CollectiveOperands{Send: Const(5), SendSize: Const(8), Recv: Const(1 << 35), RecvSize: Const(4), Root: Const(1),
				Flops: Const(FloatArg(2.5)), Span: Const(9)}
			if rule.send == countPerRank {
				operands.Send = b.Param(0)
			}
			if rule.recv == countPerRank {
				operands.Recv = b.Param(0)
			}
			b.Collective(kind, operands)
		}
		switch rule.send {
		case oneCount:
			want.Send, want.SendSize = 5, 8
		case countPerRank:
			want.SendSums, want.SendSize = sums, 8
		}
		switch rule.recv {
		case oneCount:
			want.Recv, want.RecvSize = 1<<35, 4
		case countPerRank:
			want.RecvSums, want.RecvSize = sums, 4
		}
		if rule.root {
			want.Root = 1
		}
		if rule.flops {
			want.Flops = 2.5
		}
		if rule.span {
			want.Span = 9
		}
		tr, err := collectiveTrace(t, build, counts)
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		cursors := must(tr.Cursors([]int32{1}, CursorOptions{}))
		var buf [4]Action
		n, err := cursors[0].Fill(buf[:])
		if err != nil || n != 2 || buf[1].Kind != KindCollective {
			t.Fatalf("%v: %v, error %v", kind, buf[:n], err)
		}
		if diff := cmp.Diff(want, buf[1].Collective(&cursors[0])); diff != "" {
			t.Errorf("%v (-want +got):\n%s", kind, diff)
		}
	}
}

// TestImpossibleCollectives: what a file may say wrong.
func TestImpossibleCollectives(t *testing.T) {
	two := []int64{3, 4}
	for _, c := range []struct {
		kind     CollectiveKind
		operands CollectiveOperands
		vector   []int64
		want     string
	}{
		{CollBcast, CollectiveOperands{SendSize: Const(1), Root: Const(2)}, two, "bcast: root 2 out of [0,2)"},
		{CollBcast, CollectiveOperands{SendSize: Const(1), Root: Const(1 << 32)}, two, "bcast: root -1 out of [0,2)"},
		{CollBcast, CollectiveOperands{}, two, "bcast: sends elements of 0 bytes"},
		{CollBcast, CollectiveOperands{SendSize: Const(MaxElementSize + 1)}, two, "bcast: sends elements of 1048577 bytes"},
		{CollScan, CollectiveOperands{SendSize: Const(1), Send: Const(-1)}, two, "scan: sends -1 elements"},
		{CollAlltoall, CollectiveOperands{SendSize: Const(1), RecvSize: Const(1), Recv: Const(MaxCount + 1)}, two, "alltoall: receives 1099511627777 elements"},
		{CollReduce, CollectiveOperands{SendSize: Const(1), Flops: Const(FloatArg(math.NaN()))}, two, "reduce: NaN flop"},
		{CollReduce, CollectiveOperands{SendSize: Const(1), Flops: Const(FloatArg(math.Inf(1)))}, two, "reduce: +Inf flop"},
		{CollReduceScatter, CollectiveOperands{RecvSize: Const(1), Recv: Operand{Reg: 1}}, []int64{1, 2, 3}, "reducescatter: receives counts for 3 ranks, want 2"},
		{CollAllgatherv, CollectiveOperands{SendSize: Const(1), RecvSize: Const(1), Recv: Operand{Reg: 1}, Span: Const(-1)}, two, "allgatherv: span of -1 elements"},
		{CollReduceScatter, CollectiveOperands{RecvSize: Const(1), Recv: Operand{Reg: 1}}, []int64{1, -2}, "vector 0 has elements out of [0,1099511627776], which are no counts"},
		{CollReduceScatter, CollectiveOperands{RecvSize: Const(1), Recv: Operand{Reg: 1}}, []int64{1, MaxCount + 1}, "which are no counts"},
		{CollReduceScatter, CollectiveOperands{RecvSize: Const(1), Recv: Operand{Reg: 2}}, two, "register 2 is not set"},
		{CollReduceScatter, CollectiveOperands{RecvSize: Const(1), Recv: Operand{Reg: 1, Const: 1}}, two, "is a vector with a constant"},
		{CollectiveKind(NumCollectives), CollectiveOperands{}, two, "symbol 15 out of [0,15)"},
	} {
		tr, err := collectiveTrace(t, func(b *Builder) { b.Collective(c.kind, c.operands) }, c.vector)
		if err == nil {
			var cursors []Cursor
			if cursors, err = tr.Cursors(nil, CursorOptions{}); err == nil {
				_, err = cursors[0].Fill(make([]Action, 4))
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.kind, err, c.want)
		}
	}
}
