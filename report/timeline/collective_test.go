package timeline_test

import (
	"strings"
	"testing"

	"reprise/report/timeline"
	"reprise/trace"
)

// collective returns a call of an operation on elements of 8 bytes.
func collective(kind trace.CollectiveKind, count int64) trace.Action {
	var a trace.Action
	a.SetCollective(&trace.Collective{Kind: kind, Send: count, SendSize: 8, Recv: count, RecvSize: 8})
	return a
}

// ring returns the actions of a rank of some: collective operations of small and large
// messages, and messages around a ring of all kinds, received from any source with any tag by
// every third rank.
func ring(rank, ranks int32) []trace.Action {
	next, before := (rank+1)%ranks, (rank+ranks-1)%ranks
	if rank%3 == 0 {
		before = trace.AnySource
	}
	var list []trace.Action
	for _, bytes := range []int64{0, 1000, 100_000} {
		list = append(list,
			collective(trace.CollAllreduce, bytes/8), collective(trace.CollAlltoall, bytes/8), collective(trace.CollBcast, bytes/8), collective(trace.CollBarrier, 0),
			irecv(0, before, 1, bytes), isend(1, next, 1, bytes), flops(1e5), wait(0), wait(1),
			irecv(5, before, trace.AnyTag, bytes), isend(6, next, 2, bytes), trace.Action{Kind: trace.KindWaitAll},
			trace.Action{Kind: trace.KindSendrecv, Peer: next, Tag: 3, X: [4]int64{bytes, bytes, int64(uint32((rank+ranks-1)%ranks)) | 3<<32}},
			isend(2, next, 4, bytes), recv(before, 4, bytes), wait(2),
		)
	}
	return list
}

// TestEveryMessageIsReceived: whatever receives a message, an arrow leads there, and none to
// another one.
func TestEveryMessageIsReceived(t *testing.T) {
	const ranks = 7
	h := &trace.Header{Ranks: ranks}
	var lists [][]trace.Action
	for r := range int32(ranks) {
		lists = append(lists, ring(r, ranks))
	}
	got := newSeen(h)
	r := timeline.NewRecorder(h, timeline.Span{}, got)
	res := play(t, h, r, lists...)
	r.End()
	senders, receivers := map[int64]int32{}, map[int64]int32{}
	for rank, list := range got.slices {
		for _, s := range list {
			for _, m := range s.Sends {
				senders[m.Number] = int32(rank)
			}
			for _, m := range s.Receives {
				if _, twice := receivers[m]; twice {
					t.Errorf("message %d is received twice", m)
				}
				receivers[m] = int32(rank)
			}
		}
	}
	if n := int64(len(got.messages)); n != res.Messages || int64(len(senders)) != n || int64(len(receivers)) != n {
		t.Errorf("%d messages, of which %d are sent and %d received by slices; want %d", n, len(senders), len(receivers), res.Messages)
	}
	for _, m := range got.messages {
		if senders[m.Number] != m.Src || receivers[m.Number] != m.Dst {
			t.Errorf("message %+v is sent by rank %d and received by rank %d", m, senders[m.Number], receivers[m.Number])
		}
	}
	names := timeline.Names(h)
	for _, s := range got.slices[0] {
		if name := names[s.Name]; name == "allreduce" && len(s.Sends) == 0 || strings.HasPrefix(name, "isend") && len(s.Sends) != 1 {
			t.Errorf("%s sends %d messages", name, len(s.Sends))
		}
	}
	run := &timeline.Run{Header: h, Hosts: make([]string, ranks)}
	readPerfetto(t, export(t, timeline.Perfetto, run, func(o observing) { play(t, h, o, lists...) }))
}
