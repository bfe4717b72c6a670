package replay_test

import (
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// after has the next action beside the rank wait for the end of one before, afterBegin for its begin.
func after(distance int64) trace.Action {
	return trace.Action{Kind: trace.KindAfter, X: [4]int64{distance}}
}

func afterBegin(distance int64) trace.Action {
	return trace.Action{Kind: trace.KindAfter, Tag: 1, X: [4]int64{distance}}
}

// on lets the next action go beside the rank, on a processor.
func on(processor int32) trace.Action {
	return trace.Action{Kind: trace.KindBeside, Tag: processor}
}

// TestBeside has actions beside ranks by hand. A message of s bytes takes 100 us + (s+16)/125e6 seconds, and messages on
// the same link share it; those below 64 KiB leave their buffer at once.
func TestBeside(t *testing.T) {
	joined := trace.Action{Kind: trace.KindWaitAll}
	flops := func(seconds float64) trace.Action {
		return trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(seconds * 1e9)}}
	}
	transfer := func(bytes float64) float64 { return starLatency + (bytes+envelope)/starBandwidth }
	const mega = 1e6
	sum := trace.Action{}
	sum.SetCollective(&trace.Collective{Kind: trace.CollAllreduce, Send: 4, SendSize: 1})
	gather := trace.Action{}
	gather.SetCollective(&trace.Collective{Kind: trace.CollGather, Send: 4, SendSize: 1, Recv: 4, RecvSize: 1})
	for _, c := range []struct {
		name          string
		list, other   []trace.Action // of two ranks
		end, otherEnd float64
	}{
		{"the rank goes on", []trace.Action{on(0), flops(5), sleep(1), joined, sleep(1)}, nil, 6, 0},
		{"nobody waits", []trace.Action{on(0), flops(5), sleep(1)}, nil, 1, 0},
		{"no processor", []trace.Action{on(0), flops(5), on(0), flops(4), joined}, nil, 5, 0},
		{"one processor", []trace.Action{on(1), flops(5), on(1), flops(4), joined}, nil, 9, 0},
		{"two processors", []trace.Action{on(1), flops(5), on(2), flops(4), on(2), sleep(3), joined}, nil, 7, 0},
		// The last one waits for the first, on the processor of the second.
		{"a chain over processors", []trace.Action{on(1), flops(5), on(2), flops(4), after(2), on(2), flops(1), joined}, nil, 6, 0},
		// It may begin before the one in the midst, which waits for the first.
		{"as they may begin", []trace.Action{on(1), flops(5), after(1), on(2), flops(4), on(2), flops(3), joined}, nil, 9, 0},
		{"behind the begin", []trace.Action{on(1), flops(2), after(1), on(2), flops(5), afterBegin(1), on(0), flops(4), joined}, nil, 7, 0},
		{"behind what has ended", []trace.Action{on(0), flops(1), sleep(3), after(1), on(0), flops(1), joined}, nil, 4, 0},
		// Each part is passed on as it comes, while the rank computes. Both come at the time of both together; the other rank
		// takes them one after the other.
		{"a pipeline beside a computation",
			[]trace.Action{on(1), flops(9), on(1), recv(1, 1, mega), after(1), on(0), send(1, 3, mega), on(1), recv(1, 2, mega),
				after(1), on(0), send(1, 4, mega), joined},
			[]trace.Action{isend(0, 0, 1, mega), isend(1, 0, 2, mega), recv(0, 3, mega), recv(0, 4, mega), wait(0), wait(1)},
			9, 3*starLatency + 4*(mega+envelope)/starBandwidth},
		// A send waits for its processor.
		{"a send behind a computation", []trace.Action{on(1), flops(1), on(1), send(1, 1, 1000), joined},
			[]trace.Action{recv(0, 1, 1000)}, 1, 1 + transfer(1000)},
		// The second round gets the numbers of the first in another order, and posts in the order of the trace.
		{"sends of one tag",
			[]trace.Action{on(0), send(1, 1, 1000), on(0), send(1, 1, 10), joined, on(0), send(1, 1, 1000), on(0), send(1, 1, 10), joined},
			[]trace.Action{sleep(1), recv(0, 1, 1000), recv(0, 1, 10), recv(0, 1, 1000), recv(0, 1, 10)}, 0, 1 + 2*transfer(1000) + 2*transfer(10)},
		{"a send before the receive", []trace.Action{on(0), send(1, 1, mega), joined}, []trace.Action{sleep(2), recv(0, 1, mega)},
			2 + transfer(mega), 2 + transfer(mega)},
		{"from anybody", []trace.Action{on(0), recv(trace.AnySource, trace.AnyTag, 1000), after(1), on(0), flops(1), joined},
			[]trace.Action{sleep(2), send(0, 1, 1000)}, 3 + transfer(1000), 2},
		// Rank 1 begins the operations in the other order: the sum at 2 s, then the gathering at 3 s. Each has two messages at
		// a time of 4 bytes, or one.
		{"collective operations in any order", []trace.Action{on(0), sum, on(0), gather, joined},
			[]trace.Action{on(0), flops(3), on(0), flops(2), after(1), on(0), sum, after(3), on(0), gather, joined},
			3 + transfer(4), 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, star(2), 2)
			res := b.run(t, c.list, c.other)
			near(t, "rank 0", res.Ranks[0].End, c.end)
			near(t, "rank 1", res.Ranks[1].End, c.otherEnd)
			if len(res.Warnings) > 0 { // a message longer than its receive has met another one
				t.Error(res.Warnings)
			}
			checkResumes(t, 4, func(change func(*replay.Options)) (*replay.Result, error) {
				o := b.Options
				change(&o)
				return replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{c.list, c.other}), b.Machine, o)
			})
		})
	}
}

// TestBesideCosts: what sends cost the rank, here a second each, their processor pays one after the other.
func TestBesideCosts(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.set(t, "smpi/ois:0:1:0")
	joined := trace.Action{Kind: trace.KindWaitAll}
	res := b.run(t, []trace.Action{on(1), send(1, 1, 1000), on(1), send(1, 2, 1000), on(1), sleep(1), on(0), sleep(1.5), joined},
		[]trace.Action{recv(0, 1, 1000), recv(0, 2, 1000)})
	near(t, "rank 0", res.Ranks[0].End, 3)
	near(t, "rank 1", res.Ranks[1].End, 2+starLatency+(1000+envelope)/starBandwidth)
}

// TestBesideKinds: a rank that waits for what is beside it computes while anything of that does.
func TestBesideKinds(t *testing.T) {
	b := newBench(t, star(2), 2)
	res := b.run(t,
		[]trace.Action{on(1), {Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(2e9)}}, on(2), {Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}},
			on(0), recv(1, 1, 1000), after(1), on(1), {Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}, {Kind: trace.KindWaitAll}},
		[]trace.Action{sleep(5), send(0, 1, 1000)})
	for _, kind := range res.Kinds {
		if kind.Name == "compute" {
			near(t, "compute", kind.Max, 3)
		}
		if kind.Name == "wait" {
			near(t, "wait", kind.Max, 3+starLatency+(1000+envelope)/starBandwidth)
		}
	}
}

// TestBesideErrors: what cannot go on beside a rank, and what never ends there.
func TestBesideErrors(t *testing.T) {
	for _, c := range []struct {
		list []trace.Action
		want string
	}{
		{[]trace.Action{on(0), wait(0)}, "wait cannot go beside its rank"},
		{[]trace.Action{on(0)}, "no action follows"},
		{[]trace.Action{after(1), on(0), sleep(1)}, "the action 1 before: so many have not gone beside the rank"},
		{[]trace.Action{on(0), recv(1, 7, 8), {Kind: trace.KindWaitAll}}, "rank 0 in waitall since 0 s: a send of rank 1 with tag 7"},
		{[]trace.Action{on(0), send(1, 7, 1e6), {Kind: trace.KindWaitAll}}, "rank 0 in waitall since 0 s: a receive of rank 1 with tag 7"},
		{[]trace.Action{on(0), recv(5, 7, 8)}, "peer 5 out of [0,2)"},
		{[]trace.Action{on(0), recv(1, 7, -1)}, "-1 bytes"},
	} {
		b := newBench(t, star(2), 2)
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{c.list, nil}), b.Machine, b.Options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
