package verify

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"reprise/internal/testprogram"
	"reprise/internal/tracetest"
	"reprise/trace"
)

// commTrace is a trace of one step of 2x3 ranks, whose families are communicators; build is
// told the block's parameters: the row and the column of the rank.
func commTrace(t *testing.T, build func(b *trace.Builder, row, col trace.Operand)) *trace.Trace {
	t.Helper()
	h := tracetest.GridHeader()
	h.Communicators = true
	var buf bytes.Buffer
	w := must(trace.NewWriter(&buf, h, trace.WriterOptions{}))
	b := trace.NewBuilder("run", 3)
	build(b, b.Param(0), b.Param(1))
	n := must(w.Program().Add(b))
	v := w.Vector(trace.Vector{Values: []int64{0}})
	c := &trace.Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{int64(n), int64(n)}, Args: [][]int64{{0, 1}, {0, 1, 2}, {v}}}
	check(t, errors.Join(w.Step(0), w.Call(c), w.Close()))
	return tracetest.Open(t, buf.Bytes())
}

func TestVerifyCommunicators(t *testing.T) {
	const rows, cols = 0, 1
	n := trace.Const
	allreduce := func(b *trace.Builder, family int, count trace.Operand) {
		b.Collective(trace.CollAllreduce, trace.CollectiveOperands{Send: count, SendSize: n(8), Comm: trace.Communicator(family)})
	}
	for _, test := range []struct {
		name  string
		build func(b *trace.Builder, row, col trace.Operand)
		want  string
	}{
		{"calls of one communicator alone", func(b *trace.Builder, row, _ trace.Operand) {
			b.If(row, func() { allreduce(b, rows, n(1)) })
			allreduce(b, cols, n(2))
		}, ""},
		{"a rank of a row calls another operation", func(b *trace.Builder, _, col trace.Operand) {
			second := b.Eq(col, n(1))
			b.If(second, func() { b.Collective(trace.CollBarrier, trace.CollectiveOperands{Comm: trace.Communicator(rows)}) })
			b.If(b.Diff(n(1), second), func() { allreduce(b, rows, n(1)) })
		}, "rank 1 step 0 action 1: barrier with root 0 where rank 0 has allreduce with root 0"},
		{"the second row has other counts", func(b *trace.Builder, row, col trace.Operand) { allreduce(b, rows, b.Mul(row, col)) },
			`rank 4 step 0 action 1: allreduce of 8 bytes where rank 0 has 0 (ranks of the communicator, of family "row")`},
		{"one does not block", func(b *trace.Builder, row, _ trace.Operand) {
			b.If(row, func() { allreduce(b, cols, n(1)) })
			b.If(b.Diff(n(1), row), func() {
				b.Icollective(0, trace.CollAllreduce, trace.CollectiveOperands{Send: n(1), SendSize: n(8), Comm: trace.Communicator(cols)})
				b.Wait(0)
			})
		}, "rank 3 step 0 action 1: allreduce with root 0 where rank 0 has iallreduce with root 0"},
		{"a message to another row", func(b *trace.Builder, row, _ trace.Operand) {
			other := b.Member(cols, b.Diff(n(1), row))
			b.Message(trace.OpIsend, rows, 0, other, n(5), n(8))
			b.Message(trace.OpRecv, rows, 0, other, n(5), n(8))
			b.Wait(0)
		}, `rank 0 step 0 action 1: isend with rank 3, which is not in its communicator, of family "row"`},
		{"sent on one communicator, received on another", func(b *trace.Builder, _, col trace.Operand) {
			itself := b.Member(rows, col)
			b.Message(trace.OpIsend, rows, 0, itself, n(5), n(8))
			b.Message(trace.OpRecv, cols, 0, itself, n(5), n(8))
			b.Wait(0)
		}, "rank 0 step 0 action 1: message 1 from rank 0 to rank 0 with tag 5, of 8 bytes, is never received"},
		{"a request that may be complete is used anew", func(b *trace.Builder, row, _ trace.Operand) {
			for range 2 {
				b.Icollective(0, trace.CollBarrier, trace.CollectiveOperands{})
				b.Complete(trace.CompleteAny, 0)
			}
			b.Wait(0)
		}, ""},
		{"a request of a waitall is waited for", func(b *trace.Builder, row, _ trace.Operand) {
			b.Icollective(0, trace.CollBarrier, trace.CollectiveOperands{})
			b.Complete(trace.CompleteAll, 0)
			b.Wait(0)
		}, "rank 0 step 0 action 3: wait of request 0, which is not pending"},
		{"nobody", func(b *trace.Builder, row, _ trace.Operand) {
			b.Message(trace.OpIrecv, rows, 0, n(trace.ProcNull), n(5), n(8))
			b.Message(trace.OpSend, rows, 0, n(trace.ProcNull), n(5), n(8))
			b.Wait(0)
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if _, err := Trace(commTrace(t, test.build), nil); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestVerifyProgramsOfMPI: what MPI has executed is sound, but for receives with room for more
// than what comes.
func TestVerifyProgramsOfMPI(t *testing.T) {
	for _, c := range testprogram.Load(t, os.DirFS(testprogram.Dir())) {
		data := must(c.Trace())
		if _, err := Trace(tracetest.Open(t, data), nil); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}
