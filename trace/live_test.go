package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLive: what is linked of a block is actions and what they need: no values that nobody reads,
// no kernels that are left out, no markers that nobody wants, and no conditions or calls of those.
// A sum of two registers is one instruction.
func TestLive(t *testing.T) {
	h := gridHeader()
	h.Phases, h.Markers = nil, []Marker{{Text: "n={}"}}
	p, err := NewProgram(h)
	if err != nil {
		t.Fatal(err)
	}
	silent := NewBuilder("silent", 1)
	silent.Mark(0, silent.Param(0))
	nothing, err := p.Add(silent)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuilder("block", 2)
	x, y := b.Param(0), b.Param(1)
	product := b.Mul(x, y) // for the kernel, and the condition of what is not linked
	b.Compute(0, product, x)
	b.If(b.Diff(product, x), func() {
		b.Mark(0, y)
		b.Loop(product, func() { b.Call(nothing, y) })
	})
	b.Message(OpSend, 0, 0, Const(1), Const(0), b.Sum(x.Plus(3), y))
	n, err := p.Add(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		markers bool
		omit    []bool
		want    []opcode
	}{
		{"all", true, nil, []opcode{opMul, opAction, opFma, opJumpZero, opMarkInt, opMark,
			opFma, opJumpLess1, opSet, opCall, opLoopNext, opFma, opMessage, opRet}},
		{"without markers", false, nil, []opcode{opMul, opAction, opFma, opMessage, opRet}},
		{"without the kernel", false, []bool{true}, []opcode{opFma, opMessage, opRet}},
	} {
		code, err := p.code(c.markers, c.omit)
		if err != nil {
			t.Fatal(err)
		}
		var got []opcode
		for _, in := range code.instrs[code.entries[n].pc:] {
			got = append(got, in.op)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
