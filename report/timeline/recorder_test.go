package timeline_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/report/timeline"
	"reprise/trace"
)

// pair is a message of 1 MB from rank 0, which computes for a second first, to rank 1, which
// computes for half of one while it waits.
func pair() [][]trace.Action {
	return [][]trace.Action{
		{enter(0), flops(1e9), send(1, 7, 1e6), leave(0), flops(1e9)},
		{irecv(3, 0, 7, 1e6), flops(5e8), wait(3), flops(1e9)},
	}
}

// pairEnd is when it arrives.
const pairEnd = 1 + latency + (1e6+envelope)/bandwidth

// pairHeader describes it; ranks are those of the lists.
func pairHeader() *trace.Header { return &trace.Header{Ranks: 2, Phases: []string{"first"}} }

// TestSlices: the times of a pair by arithmetic.
func TestSlices(t *testing.T) {
	h := pairHeader()
	got, _ := seenOf(t, h, timeline.Span{}, pair()...)
	want := [][]string{{
		"0.000000000 1.000000000 compute flops 1000000000",
		fmt.Sprintf("1.000000000 %.9f send send 1 1000000 7", pairEnd),
		fmt.Sprintf("%.9f %.9f compute flops 1000000000", pairEnd, pairEnd+1),
	}, {
		"0.000000000 0.000000000 overhead irecv 0 1000000 7",
		"0.000000000 0.500000000 compute flops 500000000",
		fmt.Sprintf("0.500000000 %.9f wait wait recv 0 1000000 7", pairEnd),
		fmt.Sprintf("%.9f %.9f compute flops 1000000000", pairEnd, pairEnd+1),
	}}
	if diff := cmp.Diff(want, [][]string{got.lines(0), got.lines(1)}); diff != "" {
		t.Errorf("slices (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]timeline.Post{{Number: 1, At: 1}}, got.slices[0][1].Sends); diff != "" {
		t.Errorf("the send posts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1}, got.slices[1][2].Receives); diff != "" {
		t.Errorf("the wait receives (-want +got):\n%s", diff)
	}
	if len(got.messages) != 1 || len(got.phases) != 1 {
		t.Fatalf("messages %+v, phases %+v, want one each", got.messages, got.phases)
	}
	m := got.messages[0]
	if m.Src != 0 || m.Dst != 1 || m.Tag != 7 || m.Bytes != 1e6 || m.Number != 1 || m.Sent != 1 || math.Abs(m.Arrived-pairEnd) > 1e-12 {
		t.Errorf("message %+v, want one from 1 s to %v s", m, pairEnd)
	}
	if p := got.phases[0]; p.name != "first" || p.begin != 0 || math.Abs(p.end-pairEnd) > 1e-12 {
		t.Errorf("phase %+v, want one up to %v s", p, pairEnd)
	}
}

// TestSpans: what of the pair lies within a window.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		window, ranks string
		slices        []int // of each rank
		messages      int
		phases        int
	}{
		{"", "", []int{3, 4}, 1, 1},
		{"0.6:0.9", "", []int{1, 1}, 0, 1},
		{"0:0.2", "", []int{1, 2}, 0, 1},
		{"1:", "", []int{2, 2}, 0, 1}, // the receive is posted at 0
		{"0:1.5", "", []int{3, 4}, 1, 1},
		{"1.5:", "", []int{1, 1}, 0, 0},
		{"", "1", []int{0, 4}, 0, 0},
		{"0.6:0.9", "0-0", []int{1, 0}, 0, 1},
		{"2.5:", "", []int{0, 0}, 0, 0},
	} {
		t.Run(c.window+" "+c.ranks, func(t *testing.T) {
			span, err := timeline.ParseSpan(c.window, c.ranks)
			noError(t, err)
			h := pairHeader()
			got := newSeen(h)
			r := timeline.NewRecorder(h, span, got)
			play(t, h, r, pair()...)
			r.End()
			var n [2]int
			for i := range got.slices {
				n[i] = len(got.slices[i])
			}
			if n[0] != c.slices[0] || n[1] != c.slices[1] || len(got.messages) != c.messages || len(got.phases) != c.phases {
				t.Errorf("%v slices, %d messages, %d phases, want %+v", n, len(got.messages), len(got.phases), c)
			}
			if err := r.CheckSeen(); (err == nil) != (n[0]+n[1] > 0) {
				t.Errorf("%v of %v slices", err, n)
			}
		})
	}
}

// TestSteps: a window of steps is one of each rank's own clock.
func TestSteps(t *testing.T) {
	h := &trace.Header{Ranks: 2, Steps: 4}
	var lists [][]trace.Action
	for rank := range 2 {
		var list []trace.Action
		for s := range 4 {
			list = append(list, step(int64(s)), flops(float64(1+rank)*1e9))
		}
		lists = append(lists, list)
	}
	span, err := timeline.ParseSpan("step 1:3", "")
	noError(t, err)
	got, _ := seenOf(t, h, span, lists...)
	want := [][]string{
		{"1.000000000 2.000000000 compute flops 1000000000", "2.000000000 3.000000000 compute flops 1000000000"},
		{"2.000000000 4.000000000 compute flops 2000000000", "4.000000000 6.000000000 compute flops 2000000000"},
	}
	if diff := cmp.Diff(want, [][]string{got.lines(0), got.lines(1)}); diff != "" {
		t.Errorf("slices (-want +got):\n%s", diff)
	}
}

// TestCrossingPhases: a phase that ends while one that has begun within it goes on splits
// that one, and one that is entered twice counts once.
func TestCrossingPhases(t *testing.T) {
	h := &trace.Header{Ranks: 1, Phases: []string{"a", "b"}}
	got, _ := seenOf(t, h, timeline.Span{}, []trace.Action{enter(0), flops(1e9), enter(1), enter(1), flops(1e9), leave(0), flops(1e9), leave(1), leave(1), leave(0), flops(1e9)})
	want := []phase{{0, "b", 1, 2, 1}, {0, "a", 0, 2, 0}, {0, "b", 2, 3, 0}}
	if diff := cmp.Diff(want, got.phases, cmp.AllowUnexported(phase{})); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
}

// TestInterrupted: what is open when a replay is stopped ends where the rank's clock is.
func TestInterrupted(t *testing.T) {
	h := &trace.Header{Ranks: 1, Phases: []string{"a"}}
	got := newSeen(h)
	r := timeline.NewRecorder(h, timeline.Span{}, got)
	o := r.Observer()
	o.Marked(0, enter(0), 0)
	o.ActionBegins(0, recv(0, 0, 8), 0)
	o.TimePasses(0, replay.TimeRecv, -1, 0, 2)
	r.End()
	if len(got.slices) != 1 || got.slices[0][0].End != 2 || len(got.phases) != 1 || got.phases[0].end != 2 {
		t.Errorf("slices %+v, phases %+v, want one each up to 2 s", got.slices, got.phases)
	}
}

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
	got, res := seenOf(t, h, timeline.Span{}, lists...)
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

// everywhere observes all steps.
type everywhere struct{ observing }

func (e everywhere) Observer() replay.Observer {
	o := e.observing.Observer()
	o.FirstStep, o.EndStep = 0, 0
	return o
}

// shown is what a recorder of a span has shown, but for the numbers of messages.
type shown struct {
	Lines    [][]string
	Sends    int
	Received int
	Phases   []phase
	Messages []timeline.Message
}

func shownOf(s *seen) (all shown) {
	for rank := range s.slices {
		all.Lines = append(all.Lines, s.lines(rank))
		for i := range s.slices[rank] {
			all.Sends += len(s.slices[rank][i].Sends)
			all.Received += len(s.slices[rank][i].Receives)
		}
	}
	all.Phases, all.Messages = s.phases, slices.Clone(s.messages)
	for i := range all.Messages {
		all.Messages[i].Number = 0
	}
	return all
}

// record has recorders of a span told of their part of a run, of all of it, and of their part beside
// somebody who is told of all.
func record(h *trace.Header, span timeline.Span, run func(observing)) (part, whole, beside shown) {
	all := timeline.NewRecorder(h, timeline.Span{}, newSeen(h))
	for to, observer := range map[*shown]func(*timeline.Recorder) observing{
		&part:   func(r *timeline.Recorder) observing { return r },
		&whole:  func(r *timeline.Recorder) observing { return everywhere{r} },
		&beside: func(r *timeline.Recorder) observing { return several{all, r} },
	} {
		got := newSeen(h)
		r := timeline.NewRecorder(h, span, got)
		run(observer(r))
		r.End()
		*to = shownOf(got)
	}
	return part, whole, beside
}

// TestWindowOfSteps: what is shown of steps in the midst of a run is what a recorder shows that was
// told of all of it.
func TestWindowOfSteps(t *testing.T) {
	run := newHPL(t, 600, 4, 4, "")
	for _, span := range []timeline.Span{
		{FirstStep: 5, EndStep: 7}, {FirstStep: 0, EndStep: 2}, {FirstStep: 10, EndStep: 13, FirstRank: 4, Ranks: 4},
		{FirstStep: 17, EndStep: 19}, {FirstStep: 3, EndStep: 4, FirstRank: 15, Ranks: 1},
	} {
		part, whole, beside := record(run.header, span, func(o observing) { run.play(t, o) })
		if diff := cmp.Diff(part, beside, cmp.AllowUnexported(phase{})); diff != "" {
			t.Errorf("%v, beside another recorder (-alone +beside):\n%s", span, diff)
		}
		if diff := cmp.Diff(whole, part, cmp.AllowUnexported(phase{})); diff != "" || part.Sends == 0 || len(part.Phases) == 0 {
			t.Errorf("%v: %d sends, %d phases (-told of all +told of the part):\n%s", span, part.Sends, len(part.Phases), diff)
		}
	}
}

// TestMessagesOverSteps: messages of a window that end when all ranks have gone on to the step behind
// it are shown, and a wait says what for if that began two steps before.
func TestMessagesOverSteps(t *testing.T) {
	h := &trace.Header{Ranks: 2, Steps: 8}
	var lists [2][]trace.Action
	for rank := range lists {
		post := isend
		if rank == 1 {
			post = irecv
		}
		for s := range 8 {
			lists[rank] = append(lists[rank], step(int64(s)))
			if s >= 2 {
				lists[rank] = append(lists[rank], wait(int32(s-2)))
			}
			lists[rank] = append(lists[rank], post(int32(s), int32(1-rank), 7, 1_000_000), flops(1e9))
		}
	}
	for _, span := range []timeline.Span{{FirstStep: 3, EndStep: 4}, {FirstStep: 5, EndStep: 7}} {
		part, whole, _ := record(h, span, func(o observing) { play(t, h, o, lists[:]...) })
		if diff := cmp.Diff(whole, part, cmp.AllowUnexported(phase{})); diff != "" || len(part.Messages) != span.EndStep-span.FirstStep {
			t.Errorf("%v: %d messages (-told of all +told of the part):\n%s", span, len(part.Messages), diff)
		}
	}
}
