package text

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
)

func TestColumnText(t *testing.T) {
	for _, test := range []struct {
		values []int64
		want   string
	}{
		{nil, ""},
		{[]int64{7}, "7"},
		{[]int64{7, 7}, "7*2"},
		{[]int64{1, 2, 3}, "1 2 3"},
		{[]int64{1, 2, 3, 4}, "1..4"},
		{[]int64{8, 6, 4, 2, 0}, "8..0 by -2"},
		{[]int64{1, 5, 5, 5, 2, 9}, "1 5*3 2 9"},
		{[]int64{0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169}, "0 1 4 9 16 25 36 49 64 81 100 121 ... (14 values)"},
	} {
		if got := valuesText(test.values); got != test.want {
			t.Errorf("%v: %q, want %q", test.values, got, test.want)
		}
	}
}

func TestStructure(t *testing.T) {
	h := tracetest.GridHeader()
	h.Params = []trace.Param{{Name: "N", Value: "10"}}
	b := trace.NewBuilder("all of it", 3)
	m, n, v := b.Param(0), b.Param(1), b.Param(2)
	peer := b.Member(0, n.Plus(1))
	b.Compute(0, b.Affine([]int64{2, -3}, m, n), b.Mul(m, n.Plus(4)))
	b.If(n, func() {
		b.Loop(trace.Const(3), func() { b.Exchange(1, peer, trace.Const(9), b.VectorAt(v, n), b.Max(m, n)) })
	})
	b.Message(trace.OpIrecv, 0, 2, peer, trace.Const(1), trace.Const(8))
	b.Wait(2)
	b.Poll(0)
	b.Mark(1)
	tr := tracetest.Traced(t, h, 2, b)
	var out bytes.Buffer
	check(t, WriteStructure(&out, tr, 1, 0))
	hash := tr.Program().BlockHash(0)
	want := `program test
param N = 10
ranks 6
steps 3
family 0 row: 2 groups, 0 1 2, 3 4 5
family 1 col: 3 groups, 0 3, 1 4, 2 5
axis 0 all: 1 class
axis 1 row: 2 classes
axis 2 col: 3 classes
axis 3 rank: 6 classes
phase 0 work
kernel 0 k (M, N)
marker 0 begin work n={} sums={sums} list={list}
marker 1 end work
call site 0 t: block by row, mask by col, m by row, n by col, v by all (vector)
feature polls
feature requests
feature vectors

block 0 all of it(r1, r2, r3) ` + fmt.Sprintf("%x", hash[:8]) + `
    r4 = member r2+1 of row
    r5 = 2*r1 + -3*r2
    r6 = mul(r1, r2+4)
    k(r5, r6)
    if r2 {
        loop 3 {
            r7 = sum of r3[r2, r2+1)
            r8 = max(r1, r2)
            exchange peer r4 tag 9 out r7 in r8 col
        }
    }
    irecv request 2 peer r4 tag 1 bytes 8 row
    wait request 2
    poll 0
    "end work"()

step 1
    t: blocks 0*2; mask by col 1*2 0; m 10 20; n 1 2 3; v [5 0 7 1]
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
