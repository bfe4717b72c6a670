package trace

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ringHeader is that of 2x3 ranks with one template: the column's number, and two
// sizes per column.
func ringHeader() *Header {
	h := gridHeader()
	h.Phases = append(h.Phases, "rest")
	h.Markers = append(h.Markers, Marker{Text: "begin rest", Phase: 2})
	h.Kernels[0].Dims[1].Enum = []string{"in", "out"}
	h.Templates = []Template{{Name: "ring", Gates: []int{2}, List: NoAxis, Block: 1,
		Params: []ParamColumn{{Name: "q", Axis: 2}, {Name: "out", Axis: 2}, {Name: "in", Axis: 2}}}}
	return h
}

// ring passes a message on within each process row: from column q, of out bytes.
func ring(b *Builder) {
	q, tag := b.Param(0), Const(5)
	b.Message(OpIrecv, 0, 1, b.Member(0, q.Plus(-1)), tag, b.Param(2))
	b.Message(OpSend, 0, 0, b.Member(0, q.Plus(1)), tag, b.Param(1))
	b.Wait(1)
}

// ringCall calls a block by all ranks: column q sends 8*(q+1) bytes.
func ringCall(block int) *Call {
	n := int64(block)
	return &Call{Gates: [][]int64{{1, 1, 1}}, Blocks: []int64{n, n}, Args: [][]int64{{0, 1, 2}, {8, 16, 24}, {24, 8, 16}}}
}

// ringTrace writes three steps of the block that build makes, each call changed by
// mutate, a window each.
func ringTrace(t *testing.T, build func(w *Writer, b *Builder), mutate func(step int, c *Call)) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, ringHeader(), WriterOptions{Window: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuilder("ring", 3)
	build(w, b)
	n, err := w.Program().Add(b)
	if err != nil {
		t.Fatal(err)
	}
	for step := range 3 {
		c := ringCall(n)
		if mutate != nil {
			mutate(step, c)
		}
		if err := errors.Join(w.Step(step), w.Call(c)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func openBytes(t testing.TB, data []byte) *Trace {
	t.Helper()
	tr, err := NewReaderAt(bytes.NewReader(data), int64(len(data)), "test")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestVerify(t *testing.T) {
	data := ringTrace(t, func(_ *Writer, b *Builder) { ring(b) }, nil)
	stream, err := NewReader(bytes.NewReader(data), "stream")
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range []*Trace{openBytes(t, data), stream} {
		got, err := tr.Verify(nil)
		if err != nil {
			t.Fatal(err)
		}
		// 6 ranks, 3 steps, of 3 actions with one send.
		want := &Verified{Hash: got.Hash, Windows: 3, Blocks: 1, Ranks: 6, Actions: 54, Messages: 18}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestVerifyProgress: of 6 ranks and 3 steps, a window each, progress is told of 1 to 18.
func TestVerifyProgress(t *testing.T) {
	var got []int
	data := ringTrace(t, func(_ *Writer, b *Builder) { ring(b) }, nil)
	if _, err := openBytes(t, data).Verify(func(steps int) { got = append(got, steps) }); err != nil {
		t.Fatal(err)
	}
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
	data := ringTrace(t, func(_ *Writer, b *Builder) {
		ring(b)
		b.Message(OpIsend, 0, 2, b.Member(0, b.Param(0).Plus(-1)), Const(6), Const(40))
		b.Message(OpRecv, 0, 0, Const(AnySource), Const(6), Const(-1))
		b.WaitAll()
		b.Collective(CollBarrier, CollectiveOperands{})
	}, nil)
	v, err := openBytes(t, data).Verify(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(6 * 3 * 2); v.Messages != want {
		t.Errorf("%d messages, want %d", v.Messages, want)
	}
}

func TestVerifyFaults(t *testing.T) {
	plain := func(_ *Writer, b *Builder) { ring(b) }
	for _, test := range []struct {
		name   string
		build  func(w *Writer, b *Builder)
		mutate func(step int, c *Call)
		want   string
	}{
		{"other size", plain, func(step int, c *Call) {
			if step == 1 {
				c.Args[1][0] = 80 // what ranks 0 and 3 send
			}
		}, "rank 1 step 1 action 4: message 2 from rank 0 to rank 1 with tag 5 is received as 8 bytes, but sent as 80 (step 1 action 5)"},
		{"never sent", plain, func(step int, c *Call) {
			if step == 2 {
				c.Gates[0][2] = 0 // ranks 2 and 5 stay away
			}
		}, "rank 0 step 2 action 7: message 3 from rank 2 to rank 0 with tag 5 is never sent"},
		{"never received", func(_ *Writer, b *Builder) {
			ring(b)
			b.If(b.Eq(b.Param(1), Const(17)), func() { b.Message(OpSend, 0, 0, Const(5), Const(6), Const(3)) })
		}, func(step int, c *Call) {
			if step == 1 {
				c.Args[1][1], c.Args[2][2] = 17, 17
			}
		}, "rank 1 step 1 action 7: message 1 from rank 1 to rank 5 with tag 6, of 3 bytes, is never received"},
		{"other order", func(_ *Writer, b *Builder) {
			q := b.Param(0)
			for _, bytes := range []int64{8, 16} {
				b.Message(OpIsend, 0, int32(bytes), b.Member(0, q.Plus(1)), Const(5), Const(bytes))
			}
			for _, bytes := range []int64{16, 8} {
				b.Message(OpRecv, 0, 0, b.Member(0, q.Plus(-1)), Const(5), Const(bytes))
			}
			b.WaitAll()
		}, nil, "rank 0 step 0 action 3: message 1 from rank 2 to rank 0 with tag 5 is received as 16 bytes, but sent as 8 (step 0 action 1)"},
		{"wait without request", func(_ *Writer, b *Builder) {
			ring(b)
			b.Wait(1)
		}, nil, "rank 0 step 0 action 4: wait of request 1, which is not pending"},
		{"free without request", func(_ *Writer, b *Builder) {
			ring(b)
			b.Free(1)
		}, nil, "rank 0 step 0 action 4: free of request 1, which is not pending"},
		{"request in use", func(_ *Writer, b *Builder) {
			b.Message(OpIsend, 0, 3, b.Member(0, b.Param(0)), Const(5), Const(8))
			b.Message(OpRecv, 0, 0, b.Member(0, b.Param(0)), Const(5), Const(8))
		}, nil, "rank 0 step 1 action 3: request 3 is used again before its wait"},
		{"peer", func(_ *Writer, b *Builder) { b.Message(OpRecv, 0, 0, b.Param(0).Plus(4), Const(5), Const(8)) },
			nil, "rank 2 step 0 action 1: impossible action: recv with rank 6, allowed [0,6)"},
		{"label", func(_ *Writer, b *Builder) { b.Compute(0, Const(1), b.Param(0)) },
			nil, "rank 2 step 0 action 1: kernel k: N is 2, allowed 0 to 1"},
		{"phases cross", func(_ *Writer, b *Builder) { b.Mark(2); b.Mark(1) },
			nil, "rank 0 step 0 action 1: phase work ends, but rest is the innermost open one"},
		{"phase ends twice", func(_ *Writer, b *Builder) { ring(b); b.Mark(1) },
			nil, "rank 0 step 0 action 4: phase work ends, but none is the innermost open one"},
		{"collectives in other order", func(_ *Writer, b *Builder) {
			reduce := func() {
				b.Collective(CollReduce, CollectiveOperands{Send: Const(1), SendSize: Const(8), Root: Const(0)})
			}
			first := b.Eq(b.Param(0), Const(1))
			b.If(first, reduce)
			b.Collective(CollBarrier, CollectiveOperands{})
			b.If(b.Diff(Const(1), first), reduce)
		}, nil, "rank 1 step 0 action 1: reduce with root 0 where rank 0 has barrier with root 0"},
		{"collectives of other counts", func(_ *Writer, b *Builder) {
			b.Collective(CollAllreduce, CollectiveOperands{Send: b.Param(1), SendSize: Const(8)})
		}, func(step int, c *Call) {
			c.Args[1][0], c.Args[1][1], c.Args[1][2] = 1000, 1000, 1000
			if step == 1 {
				c.Args[1][1] = 2000 // of ranks 1 and 4
			}
		}, "rank 1 step 1 action 2: allreduce of 16000 bytes where rank 0 has 8000"},
		{"gathered less than sent", func(_ *Writer, b *Builder) {
			b.Collective(CollGather, CollectiveOperands{Send: b.Param(1), SendSize: Const(8), Recv: Const(500), RecvSize: Const(16), Root: Const(3)})
		}, func(step int, c *Call) {
			c.Args[1][0], c.Args[1][1], c.Args[1][2] = 1000, 1000, 999
		}, "rank 2 step 0 action 1: gather: it sends 7992 bytes to rank 3, which receives 8000 from it"},
		{"one collective too many", func(_ *Writer, b *Builder) {
			b.If(b.Param(0).Plus(1), func() { b.Collective(CollBarrier, CollectiveOperands{}) })
		}, func(step int, c *Call) {
			if step == 1 {
				c.Args[0][2] = -1 // ranks 2 and 5 have none
			}
		},
			"rank 2 step 2 action 3: no more collective operation where rank 0 has barrier with root 0"},
		{"wildcards", func(_ *Writer, b *Builder) {
			ring(b)
			b.Message(OpRecv, 0, 0, Const(AnySource), Const(5), Const(8))
		}, nil, "rank 0 at its end: 3 receives from any source or with any tag, for which 0 messages are left"},
		{"never polled", func(w *Writer, b *Builder) {
			body := NewBuilder("body", 0)
			n, err := w.Program().Add(body)
			if err != nil {
				t.Fatal(err)
			}
			b.PollWait(0)
			b.Define(0, n)
		}, nil, "rank 0 at its end: the operation in slot 0 is never polled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := openBytes(t, ringTrace(t, test.build, test.mutate)).Verify(nil)
			var f *Fault
			if !errors.As(err, &f) || f.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestVerifyOfStreamNamesTheChannel(t *testing.T) {
	data := ringTrace(t, func(_ *Writer, b *Builder) { ring(b) }, func(_ int, c *Call) { c.Args[1][0] = 80 })
	tr, err := NewReader(bytes.NewReader(data), "stream")
	if err != nil {
		t.Fatal(err)
	}
	_, err = tr.Verify(nil)
	if want := "stream: messages from rank 0 to rank 1 with tag 5 do not balance"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestChannelTable adds more channels than the table begins with, and settles some.
func TestChannelTable(t *testing.T) {
	var table channelTable
	for round := range int64(3) {
		for peer := range int32(100) {
			table.add(channelKeyOf(peer, peer-50, peer%2 == 0), 8*round)
		}
	}
	for peer := range int32(100) {
		e := table.find(channelKeyOf(peer, peer-50, peer%2 == 0))
		if e == nil || e.messages != 3 || e.key.peer() != peer || e.key.tag() != peer-50 || e.key.receives() != (peer%2 == 0) {
			t.Fatalf("peer %d: entry %+v, want 3 messages", peer, e)
		}
		if peer%3 == 0 {
			e.messages = 0
		}
	}
	table.compact()
	for peer := range int32(100) {
		if e := table.find(channelKeyOf(peer, peer-50, peer%2 == 0)); (e == nil) != (peer%3 == 0) {
			t.Errorf("peer %d: entry %+v after every third was settled", peer, e)
		}
	}
}

func TestVerifiedText(t *testing.T) {
	v := &Verified{Windows: 1, Blocks: 24, Ranks: 2, Actions: 4670, Messages: 1}
	if got, want := v.String(), "1 window, 24 blocks, 2 ranks, 4,670 actions, 1 message sent and received"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
