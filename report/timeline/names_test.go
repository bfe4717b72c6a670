package timeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/report/timeline"
	"reprise/trace"
	"reprise/trace/text"
)

// TestNamesOfCat: without polls, slices say what trace cat lists.
func TestNamesOfCat(t *testing.T) {
	models := filepath.Join(t.TempDir(), "models.yaml") // none is free: a replay passes over those that are
	noError(t, os.WriteFile(models, []byte("version: 1\nunit: s\nkernels: {\"*\": 1.0e-6}\n"), 0o600))
	run := newHPL(t, 200, 3, 1, models) // one process column: no broadcast, nothing to poll for
	got := newSeen(run.header)
	r := timeline.NewRecorder(run.header, timeline.Span{}, got)
	run.play(t, r)
	r.End()
	for rank := range 3 {
		var list strings.Builder
		noError(t, text.WriteListings(&list, run.open(t), []int32{int32(rank)}, trace.CursorOptions{}, trace.Hit{}, text.Words{}))
		_, want, _ := strings.Cut(list.String(), "\n") // the first line names the rank
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(catLines(got, rank), "\n")); diff != "" {
			t.Errorf("rank %d (-cat +slices):\n%s", rank, diff)
		}
	}
}

// catLines writes slices as trace cat does, which lists the parts of an exchange.
func catLines(s *seen, rank int) string {
	var b strings.Builder
	names := timeline.Names(s.h)
	for i := range s.slices[rank] {
		slice := &s.slices[rank][i]
		name, args := names[slice.Name], strings.Fields(timeline.Text(slice.Args))
		if name != "exchange" {
			fmt.Fprintln(&b, strings.Join(append([]string{name}, args...), " "))
			continue
		}
		peer, sends, receives, tag, comm := args[0], args[1], args[2], args[3], strings.Join(args[4:], " ")
		fmt.Fprintf(&b, "irecv %s %s %s %s\nsend %s %s %s %s\nwait recv %s %s %s\n", peer, receives, tag, comm, peer, sends, tag, comm, peer, receives, tag)
	}
	return b.String()
}

// TestActions: what actions are called whose form HPL does not show.
func TestActions(t *testing.T) {
	h := &trace.Header{
		Ranks: 2, CommFamilies: []trace.CommFamily{{Name: "row"}},
		Kernels: []trace.Kernel{{Name: "dtrsm", Attrs: []trace.Param{{Name: "side", Value: "L"}}, Dims: []trace.Dim{{Name: "M"}, {Name: "role", Enum: []string{"in", "out"}}}}},
	}
	bcast, allgatherv := trace.Action{}, trace.Action{}
	bcast.SetCollective(&trace.Collective{Kind: trace.CollReduce, Root: 1, Send: 10, SendSize: 8, Flops: 5})
	allgatherv.SetCollective(&trace.Collective{Kind: trace.CollAllgatherv, Send: 3, SendSize: 4, RecvSize: 4, Span: 6})
	for _, c := range []struct {
		a    trace.Action
		want string
	}{
		{trace.Action{Kind: trace.KindCompute, X: [4]int64{100, 1}}, "dtrsm L 100 out"},
		{trace.Action{Kind: trace.KindPoll, Peer: 1, Tag: 3}, "poll 1 3 row"},
		{trace.Action{Kind: trace.KindPoll, Flags: trace.FlagSpin, Peer: 1, Tag: trace.AnyTag}, "busy wait 1 any row"},
		{trace.Action{Kind: trace.KindIprobe, Peer: trace.AnySource, Tag: 3}, "probe any 3 row"},
		{trace.Action{Kind: trace.KindRecv, Peer: 1, Tag: 3, X: [4]int64{-1}}, "recv 1 ? 3 row"},
		{trace.Action{Kind: trace.KindSyncExchange, Peer: 1, Tag: 3, X: [4]int64{8, 16}}, "syncexchange 1 8 16 3 row"},
		{trace.Action{Kind: trace.KindSendrecv, Peer: 1, Tag: 3, X: [4]int64{8, 16, 1 | 4<<32}}, "sendrecv 1 8 3 1 16 4 row"},
		{trace.Action{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(0.25)}}, "sleep 0.25"},
		{trace.Action{Kind: trace.KindWait, Req: 9}, "wait request 9"},
		{bcast, "reduce root 1 send 10x8 flops 5"},
		{allgatherv, "allgatherv send 3x4 recv ...x4 span 6"},
	} {
		got := newSeen(h)
		r := timeline.NewRecorder(h, timeline.Span{}, got)
		o := r.Observer()
		o.ActionBegins(0, c.a, 0)
		o.ActionEnds(0, 0)
		s := &got.slices[0][0]
		if line := timeline.Names(h)[s.Name] + " " + timeline.Text(s.Args); line != c.want {
			t.Errorf("%q, want %q", line, c.want)
		}
	}
}
