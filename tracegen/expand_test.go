package tracegen_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/tracegen"
)

// expanded returns what rank 4 of 2x3 ranks does, whose row is 3, 4, 5 and whose column is 1, 4.
func expanded(t *testing.T, build func(b *trace.Builder)) (list []trace.Action, err error) {
	t.Helper()
	h := tracetest.GridHeader()
	h.Communicators = true
	var buf bytes.Buffer
	w, err := trace.NewWriter(&buf, h, trace.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := trace.NewBuilder("run", 3)
	build(b)
	n, err := w.Program().Add(b)
	if err != nil {
		t.Fatal(err)
	}
	v := w.Vector(trace.Vector{Values: []int64{0}})
	c := &trace.Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{int64(n), int64(n)}, Args: [][]int64{{0, 1}, {0, 1, 2}, {v}}}
	if err := errors.Join(w.Step(0), w.Call(c), w.Close()); err != nil {
		t.Fatal(err)
	}
	tr := tracetest.Open(t, buf.Bytes())
	cursors, err := tr.Cursors([]int32{4}, trace.CursorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := tracegen.NewExpander(tr.Program(), 4, func(*trace.Collective) bool { return true })
	p := tracegen.Plain{Polls: trace.Hit{}, Flops: tracegen.KernelFlops(h)}
	actions := make([]trace.Action, 8)
	for {
		n, err := p.Fill(&cursors[0], actions)
		if n == 0 || err != nil {
			return list, err
		}
		for i := range actions[:n] {
			if err := x.Expand(&actions[i], &cursors[0], func(a *trace.Action) error { list = append(list, *a); return nil }); err != nil {
				return list, err
			}
		}
	}
}

func TestExpand(t *testing.T) {
	const rows, cols = 0, 1
	const slot, tag = trace.MaxRequests, 1 << 30
	n := trace.Const
	operands := func(family int) trace.CollectiveOperands {
		return trace.CollectiveOperands{Send: n(100), SendSize: n(1), Root: n(1), Flops: n(trace.FloatArg(7)), Comm: trace.Communicator(family)}
	}
	barrier := trace.Action{}
	barrier.SetCollective(&trace.Collective{Kind: trace.CollBarrier})
	flops := trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(7)}}
	wait := func(slot int32) trace.Action { return trace.Action{Kind: trace.KindWait, Req: slot} }
	for _, test := range []struct {
		name  string
		build func(b *trace.Builder)
		want  []trace.Action
		err   string
	}{
		// Rank 4 is the root of its row's reduction, and its column's second rank.
		{"reduce", func(b *trace.Builder) { b.Collective(trace.CollReduce, operands(rows)) }, []trace.Action{
			{Kind: trace.KindIrecv, Peer: 3, Tag: tag + 3, Req: slot, X: [4]int64{100}}, {Kind: trace.KindIrecv, Peer: 5, Tag: tag + 3, Req: slot + 1, X: [4]int64{100}},
			wait(slot), wait(slot + 1), flops}, ""},
		{"ireduce", func(b *trace.Builder) {
			b.Icollective(9, trace.CollReduce, operands(cols))
			b.Complete(trace.CompleteAll, 9)
		}, []trace.Action{{Kind: trace.KindIrecv, Peer: 1, Tag: tag + 8, Req: slot, X: [4]int64{100}}, wait(slot), flops}, ""},
		{"on all ranks", func(b *trace.Builder) { b.Collective(trace.CollBarrier, trace.CollectiveOperands{}) }, []trace.Action{barrier}, ""},
		{"messages", func(b *trace.Builder) {
			b.Message(trace.OpStart, cols, 2, n(1), n(5), n(8))
			b.Message(trace.OpSend, cols, 0, n(trace.ProcNull), n(5), n(8))
			b.Wait(2)
		}, []trace.Action{{Kind: trace.KindIsend, Sym: cols, Peer: 1, Tag: 65536 + 5, Req: 2, X: [4]int64{8}}, wait(2)}, ""},
		{"any tag", func(b *trace.Builder) { b.Message(trace.OpRecv, cols, 0, n(1), n(trace.AnyTag), n(8)) }, nil,
			"recv with any tag, which text would let match on all communicators"},
		{"large tag", func(b *trace.Builder) { b.Message(trace.OpRecv, cols, 0, n(1), n(65536), n(8)) }, nil,
			"recv with tag 65536: where communicators are told apart, text has tags from 0 to 65535"},
		{"waitany", func(b *trace.Builder) { b.Complete(trace.CompleteAny, 1) }, nil, "waitany is decided by a replay: it has no counterpart in text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := expanded(t, test.build)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" || text != test.err {
				t.Errorf("error %q, want %q (-want +got):\n%s", text, test.err, diff)
			}
		})
	}
}
