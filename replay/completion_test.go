package replay_test

import (
	"errors"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// completions plays lists of actions in which completions name slots.
func completions(t *testing.T, slots [][]int32, lists ...[]trace.Action) (*replay.Result, error) {
	t.Helper()
	b := newBench(t, star(len(lists)), len(lists))
	source := replay.NewLists(lists)
	source.Slots = slots
	return replay.RunSource(t.Context(), &b.header, source, b.Machine, b.Options)
}

func complete(m trace.Completion, list int64) trace.Action {
	return trace.Action{Kind: trace.KindComplete, Sym: uint16(m), X: [4]int64{list}}
}

// TestCompletionsThatCannotBe: a waitany of a message that nobody sends, a list that does not
// exist, a collective operation that is let go of.
func TestCompletionsThatCannotBe(t *testing.T) {
	irecv := trace.Action{Kind: trace.KindIrecv, Peer: 1, Tag: 7, Req: 1, X: [4]int64{8}}
	barrier := trace.Action{}
	barrier.SetCollective(&trace.Collective{Kind: trace.CollBarrier, Nonblocking: true})
	for _, test := range []struct {
		list []trace.Action
		want string
	}{
		{[]trace.Action{irecv, complete(trace.CompleteAny, 0)}, "deadlock at 0 s: 1 rank waits for messages that never come\n  rank 0 in complete since 0 s: a send of rank 1 with tag 7"},
		{[]trace.Action{complete(trace.CompleteAny, 1)}, "rank 0: complete: no list 1 of requests"},
		{[]trace.Action{complete(trace.CompleteAny, 0), complete(9, 0)}, "rank 0: complete: this action is not supported"},
		{[]trace.Action{barrier, {Kind: trace.KindFree}}, "rank 0: free: request slot 0 is of a collective operation, which must be waited for"},
		{[]trace.Action{barrier, barrier}, "rank 0: icollective: request slot 0 is taken: its request was not waited for"},
	} {
		_, err := completions(t, [][]int32{{0, 1, 9}}, test.list, nil)
		if err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
	_, err := completions(t, [][]int32{{0, 1, 9}}, []trace.Action{irecv, complete(trace.CompleteAny, 0)}, nil)
	if d := (*replay.DeadlockError)(nil); !errors.As(err, &d) {
		t.Errorf("%v is no deadlock", err)
	}
}

// TestFlopOfNonblocking: what an operation computes follows its messages where it is completed,
// not where it began: two ranks exchange 1000 bytes in t = 100 us + 1016/125e6 s, compute 2 ms
// of their own meanwhile, and then the operation's 1 Mflop at 1 Gflop/s.
func TestFlopOfNonblocking(t *testing.T) {
	sum := trace.Action{}
	sum.SetCollective(&trace.Collective{Kind: trace.CollAllreduce, Send: 1000, SendSize: 1, Flops: 1e6, Nonblocking: true})
	list := []trace.Action{sum, {Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(2e6)}}, {Kind: trace.KindWait}}
	res, err := completions(t, nil, list, list)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "end", res.Ranks[0].End, 3e-3)
	for _, last := range []trace.Action{{Kind: trace.KindWaitAll}, complete(trace.CompleteAll, 0), complete(trace.CompleteAny, 0), {Kind: trace.KindTest}} {
		list = []trace.Action{sum, {Kind: trace.KindWait}, sum, {Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(2e6)}}, last}
		if res, err = completions(t, [][]int32{{0}}, list, list); err != nil {
			t.Fatal(err)
		}
		near(t, "end", res.Ranks[1].End, starLatency+(1000+envelope)/starBandwidth+1e-3+3e-3)
	}
}
