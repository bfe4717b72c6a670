package verify

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// ringTrace writes three steps of the block that build makes, each call changed by
// mutate, a chunk each.
func ringTrace(t *testing.T, build func(w *trace.Writer, b *trace.Builder), mutate func(step int, c *trace.Call)) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tracetest.Must(trace.NewWriter(&buf, tracetest.RingHeader(), trace.WriterOptions{ChunkUnits: 1}))
	b := trace.NewBuilder("ring", 3)
	build(w, b)
	n := tracetest.Must(w.Program().Add(b))
	for step := range 3 {
		c := tracetest.RingCall(n)
		if mutate != nil {
			mutate(step, c)
		}
		tracetest.Check(t, errors.Join(w.Step(step), w.Call(c)))
	}
	tracetest.Check(t, w.Close())
	return buf.Bytes()
}

func TestVerify(t *testing.T) {
	data := ringTrace(t, func(_ *trace.Writer, b *trace.Builder) { tracetest.Ring(b) }, nil)
	stream := tracetest.Must(trace.NewReader(bytes.NewReader(data), "stream"))
	for _, tr := range []*trace.Trace{tracetest.Open(t, data), stream} {
		got := tracetest.Must(Trace(tr, nil))
		// 6 ranks, 3 steps, of 3 actions with one send.
		want := &Verified{Chunks: 3, Blocks: 1, Ranks: 6, Actions: 54, Messages: 18}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if text, want := got.String(), "3 chunks, 1 block, 6 ranks, 54 actions, 18 messages sent and received"; text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
}

// TestVerifyProgress: of 6 ranks and 3 steps, a chunk each, progress is told of 1 to 18.
func TestVerifyProgress(t *testing.T) {
	var got []int
	data := ringTrace(t, func(_ *trace.Writer, b *trace.Builder) { tracetest.Ring(b) }, nil)
	tracetest.Must(Trace(tracetest.Open(t, data), func(steps int) { got = append(got, steps) }))
	for i, steps := range got {
		if steps != i+1 {
			t.Fatalf("told %v, want 1 to 18", got)
		}
	}
	if len(got) != 18 {
		t.Errorf("told %v, want 1 to 18", got)
	}
}

// TestVerifyWildcards lets ranks receive from their left by name and from their
// right by a wildcard.
func TestVerifyWildcards(t *testing.T) {
	data := ringTrace(t, func(_ *trace.Writer, b *trace.Builder) {
		tracetest.Ring(b)
		b.Message(trace.OpIsend, 0, 2, b.Member(0, b.Param(0).Plus(-1)), trace.Const(6), trace.Const(40))
		b.Message(trace.OpRecv, 0, 0, trace.Const(trace.AnySource), trace.Const(6), trace.Const(-1))
		b.WaitAll()
		b.Collective(trace.CollBarrier, trace.CollectiveOperands{})
	}, nil)
	v := tracetest.Must(Trace(tracetest.Open(t, data), nil))
	if want := int64(6 * 3 * 2); v.Messages != want {
		t.Errorf("%d messages, want %d", v.Messages, want)
	}
}

func TestVerifyFaults(t *testing.T) {
	plain := func(_ *trace.Writer, b *trace.Builder) { tracetest.Ring(b) }
	for _, test := range []struct {
		name   string
		build  func(w *trace.Writer, b *trace.Builder)
		mutate func(step int, c *trace.Call)
		want   string
	}{
		{"other size", plain, func(step int, c *trace.Call) {
			if step == 1 {
				c.Args[1][0] = 80 // what ranks 0 and 3 send
			}
		}, "rank 1 step 1 action 4: message 2 from rank 0 to rank 1 with tag 5 is received as 8 bytes, but sent as 80 (step 1 action 5)"},
		{"never sent", plain, func(step int, c *trace.Call) {
			if step == 2 {
				c.Masks[0][2] = 0 // ranks 2 and 5 stay away
			}
		}, "rank 0 step 2 action 7: message 3 from rank 2 to rank 0 with tag 5 is never sent"},
		{"never received", func(_ *trace.Writer, b *trace.Builder) {
			tracetest.Ring(b)
			b.If(b.Eq(b.Param(1), trace.Const(17)), func() { b.Message(trace.OpSend, 0, 0, trace.Const(5), trace.Const(6), trace.Const(3)) })
		}, func(step int, c *trace.Call) {
			if step == 1 {
				c.Args[1][1], c.Args[2][2] = 17, 17
			}
		}, "rank 1 step 1 action 7: message 1 from rank 1 to rank 5 with tag 6, of 3 bytes, is never received"},
		{"other order", func(_ *trace.Writer, b *trace.Builder) {
			q := b.Param(0)
			for _, bytes := range []int64{8, 16} {
				b.Message(trace.OpIsend, 0, int32(bytes), b.Member(0, q.Plus(1)), trace.Const(5), trace.Const(bytes))
			}
			for _, bytes := range []int64{16, 8} {
				b.Message(trace.OpRecv, 0, 0, b.Member(0, q.Plus(-1)), trace.Const(5), trace.Const(bytes))
			}
			b.WaitAll()
		}, nil, "rank 0 step 0 action 3: message 1 from rank 2 to rank 0 with tag 5 is received as 16 bytes, but sent as 8 (step 0 action 1)"},
		{"wait without request", func(_ *trace.Writer, b *trace.Builder) {
			tracetest.Ring(b)
			b.Wait(1)
		}, nil, "rank 0 step 0 action 4: wait of request 1, which is not pending"},
		{"free without request", func(_ *trace.Writer, b *trace.Builder) {
			tracetest.Ring(b)
			b.Free(1)
		}, nil, "rank 0 step 0 action 4: free of request 1, which is not pending"},
		{"request in use", func(_ *trace.Writer, b *trace.Builder) {
			b.Message(trace.OpIsend, 0, 3, b.Member(0, b.Param(0)), trace.Const(5), trace.Const(8))
			b.Message(trace.OpRecv, 0, 0, b.Member(0, b.Param(0)), trace.Const(5), trace.Const(8))
		}, nil, "rank 0 step 1 action 3: request 3 is used again before its wait"},
		{"peer", func(_ *trace.Writer, b *trace.Builder) {
			b.Message(trace.OpRecv, 0, 0, b.Param(0).Plus(4), trace.Const(5), trace.Const(8))
		},
			nil, "rank 2 step 0 action 1: impossible action: recv with rank 6, allowed [0,6)"},
		{"label", func(_ *trace.Writer, b *trace.Builder) { b.Compute(0, trace.Const(1), b.Param(0)) },
			nil, "rank 2 step 0 action 1: kernel k: N is 2, allowed 0 to 1"},
		{"a wait beside the rank", func(_ *trace.Writer, b *trace.Builder) { b.Beside(1); b.WaitAll() },
			nil, "rank 0 step 0 action 2: waitall beside the rank, where only messages, collective operations and computations go"},
		{"after nothing", func(_ *trace.Writer, b *trace.Builder) { b.After(trace.Const(1), false) },
			nil, "rank 0 step 0 action 1: after the action 1 before, of the 0 that have gone beside the rank"},
		{"what waits is not beside the rank", func(_ *trace.Writer, b *trace.Builder) {
			b.Beside(0)
			b.Sleep(trace.Const(0))
			b.After(trace.Const(1), true)
			b.WaitAll()
		}, nil, "rank 0 step 0 action 4: waitall behind an after, where only another one or a beside may be"},
		{"of unknown size beside the rank", func(_ *trace.Writer, b *trace.Builder) {
			b.Beside(0)
			b.Message(trace.OpRecv, 0, 0, b.Member(0, b.Param(0).Plus(-1)), trace.Const(5), trace.Const(-1))
			b.WaitAll()
		}, nil, "rank 0 step 0 action 2: a receive of unknown size beside the rank"},
		{"nothing beside the rank", func(_ *trace.Writer, b *trace.Builder) { b.Beside(0) },
			nil, "rank 0 step 1 action 2: beside beside the rank, where only messages, collective operations and computations go"},
		{"beside the rank at its end", func(_ *trace.Writer, b *trace.Builder) { b.Beside(0); b.Sleep(trace.Const(0)) },
			nil, "rank 0 at its end: actions beside the rank are not waited for"},
		{"phases cross", func(_ *trace.Writer, b *trace.Builder) { b.Mark(2); b.Mark(1) },
			nil, "rank 0 step 0 action 1: phase work ends, but rest is the innermost open one"},
		{"phase ends twice", func(_ *trace.Writer, b *trace.Builder) { tracetest.Ring(b); b.Mark(1) },
			nil, "rank 0 step 0 action 4: phase work ends, but none is the innermost open one"},
		{"collectives in other order", func(_ *trace.Writer, b *trace.Builder) {
			reduce := func() {
				b.Collective(trace.CollReduce, trace.CollectiveOperands{Send: trace.Const(1), SendSize: trace.Const(8), Root: trace.Const(0)})
			}
			first := b.Eq(b.Param(0), trace.Const(1))
			b.If(first, reduce)
			b.Collective(trace.CollBarrier, trace.CollectiveOperands{})
			b.If(b.Diff(trace.Const(1), first), reduce)
		}, nil, "rank 1 step 0 action 1: reduce with root 0 where rank 0 has barrier with root 0"},
		{"reductions by other operators", func(_ *trace.Writer, b *trace.Builder) {
			first := b.Eq(b.Param(0), trace.Const(1))
			for i, o := range []trace.Operator{trace.OperatorSum, trace.OperatorMax} {
				b.If(b.Eq(first, trace.Const(int64(i))), func() {
					b.Collective(trace.CollAllreduce, trace.CollectiveOperands{Send: trace.Const(1), SendSize: trace.Const(8), Operator: o})
				})
			}
		}, nil, "rank 1 step 0 action 1: allreduce with root 0 by max where rank 0 has allreduce with root 0 by sum"},
		{"collectives of other counts", func(_ *trace.Writer, b *trace.Builder) {
			b.Collective(trace.CollAllreduce, trace.CollectiveOperands{Send: b.Param(1), SendSize: trace.Const(8)})
		}, func(step int, c *trace.Call) {
			c.Args[1][0], c.Args[1][1], c.Args[1][2] = 1000, 1000, 1000
			if step == 1 {
				c.Args[1][1] = 2000 // of ranks 1 and 4
			}
		}, "rank 1 step 1 action 2: allreduce of 16000 bytes where rank 0 has 8000"},
		{"gathered less than sent", func(_ *trace.Writer, b *trace.Builder) {
			b.Collective(trace.CollGather, trace.CollectiveOperands{Send: b.Param(1), SendSize: trace.Const(8), Recv: trace.Const(500), RecvSize: trace.Const(16), Root: trace.Const(3)})
		}, func(step int, c *trace.Call) {
			c.Args[1][0], c.Args[1][1], c.Args[1][2] = 1000, 1000, 999
		}, "rank 2 step 0 action 1: gather: it sends 7992 bytes to rank 3, which receives 8000 from it"},
		{"one collective too many", func(_ *trace.Writer, b *trace.Builder) {
			b.If(b.Param(0).Plus(1), func() { b.Collective(trace.CollBarrier, trace.CollectiveOperands{}) })
		}, func(step int, c *trace.Call) {
			if step == 1 {
				c.Args[0][2] = -1 // ranks 2 and 5 have none
			}
		},
			"rank 2 step 2 action 3: no more collective operation where rank 0 has barrier with root 0"},
		{"wildcards", func(_ *trace.Writer, b *trace.Builder) {
			tracetest.Ring(b)
			b.Message(trace.OpRecv, 0, 0, trace.Const(trace.AnySource), trace.Const(5), trace.Const(8))
		}, nil, "rank 0 at its end: 3 receives from any source or with any tag, for which 0 messages are left"},
		{"never polled", func(w *trace.Writer, b *trace.Builder) {
			body := trace.NewBuilder("body", 0)
			n := tracetest.Must(w.Program().Add(body))
			b.PollWait(0)
			b.Define(0, n)
		}, nil, "rank 0 at its end: the operation in slot 0 is never polled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Trace(tracetest.Open(t, ringTrace(t, test.build, test.mutate)), nil)
			var f *Fault
			if !errors.As(err, &f) || f.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestVerifyOfStreamNamesTheChannel(t *testing.T) {
	data := ringTrace(t, func(_ *trace.Writer, b *trace.Builder) { tracetest.Ring(b) }, func(_ int, c *trace.Call) { c.Args[1][0] = 80 })
	tr, err := trace.NewReader(bytes.NewReader(data), "stream")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Trace(tr, nil)
	if want := "stream: messages from rank 0 to rank 1 with tag 5 do not balance"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestChannelTable adds more channels than the table begins with, and settles some.
func TestChannelTable(t *testing.T) {
	var table channelTable
	for round := range int64(3) {
		for peer := range int32(100) {
			table.add(channelKeyOf(peer, peer-50, uint16(peer%3), peer%2 == 0), 8*round)
		}
	}
	for peer := range int32(100) {
		e := table.find(channelKeyOf(peer, peer-50, uint16(peer%3), peer%2 == 0))
		if e == nil || e.messages != 3 || e.key.peer() != peer || e.key.tag() != peer-50 || e.key.receives() != (peer%2 == 0) {
			t.Fatalf("peer %d: entry %+v, want 3 messages", peer, e)
		}
		if peer%3 == 0 {
			e.messages = 0
		}
	}
	table.rebuild(len(table.entries))
	for peer := range int32(100) {
		if e := table.find(channelKeyOf(peer, peer-50, uint16(peer%3), peer%2 == 0)); (e == nil) != (peer%3 == 0) {
			t.Errorf("peer %d: entry %+v after every third was settled", peer, e)
		}
	}
}

// TestManyRequests: 2^16 messages that a rank sends itself, all of them open at once, take time in
// proportion to their number; to look at all that are open would take minutes.
func TestManyRequests(t *testing.T) {
	const messages = 1 << 16
	data := ringTrace(t, func(_ *trace.Writer, b *trace.Builder) {
		self := b.Member(0, b.Param(0))
		for i := range int32(messages) {
			b.Message(trace.OpIrecv, 0, 2*i, self, trace.Const(5), trace.Const(8))
			b.Message(trace.OpIsend, 0, 2*i+1, self, trace.Const(5), trace.Const(8))
		}
		for i := range int32(2 * messages) {
			b.Wait(2*messages - 1 - i)
		}
	}, nil)
	v := tracetest.Must(Trace(tracetest.Open(t, data), nil))
	if want := int64(6 * 3 * messages); v.Messages != want {
		t.Errorf("%d messages, want %d", v.Messages, want)
	}
}
