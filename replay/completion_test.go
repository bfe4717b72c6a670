package replay_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"reprise/internal/tracetest"
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
	noError(t, err)
	near(t, "end", res.Ranks[0].End, 3e-3)
	for _, last := range []trace.Action{{Kind: trace.KindWaitAll}, complete(trace.CompleteAll, 0), complete(trace.CompleteAny, 0), {Kind: trace.KindTest}} {
		list = []trace.Action{sum, {Kind: trace.KindWait}, sum, {Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(2e6)}}, last}
		res, err = completions(t, [][]int32{{0}}, list, list)
		noError(t, err)
		near(t, "end", res.Ranks[1].End, starLatency+(1000+envelope)/starBandwidth+1e-3+3e-3)
	}
}

// spinSource is a Source of one rank that never comes to an end and takes no time.
type spinSource struct{}

func (spinSource) Fill(_ int32, buf []trace.Action) (int, error) {
	clear(buf)
	return len(buf), nil
}
func (spinSource) Answer(int32, bool)        {}
func (spinSource) Sums(int32, int64) []int64 { return nil }

// TestEndlessEnds: what would not end in the life of a man ends with its context: loops of
// polls for nothing, blocks that do no more than call each other, 2 to the power of 60 times, actions that
// take no time, and busy waits at a time where what they cost is lost to rounding.
func TestEndlessEnds(t *testing.T) {
	loop := tracetest.Trace(t, 1, func(_ int, b *trace.Builder, _ *trace.Program) {
		b.Loop(trace.Const(1<<60), func() { b.Loop(trace.Const(1<<60), func() { b.Poll(0) }) })
	})
	tree := tracetest.Trace(t, 1, func(_ int, b *trace.Builder, p *trace.Program) {
		leaf := trace.NewBuilder("leaf", 0)
		leaf.Poll(0)
		block, err := p.Add(leaf)
		for range 60 {
			twice := trace.NewBuilder("twice", 0)
			twice.Call(block)
			twice.Call(block)
			if err == nil {
				block, err = p.Add(twice)
			}
		}
		noError(t, err)
		b.Call(block)
	})
	bench := newBench(t, star(2), 2)
	one := bench.Machine
	one.Hosts = one.Hosts[:1]
	late := newBench(t, star(1), 1)
	late.header.Ranks, late.Hosts = 2, []int32{0, 0}
	late.set(t, "smpi/iprobe:1e-9")
	lists := [][]trace.Action{{sleep(9e9), send(1, 3, 10)}, {sleep(1e9), poll(0, 3, true)}}
	for name, run := range map[string]func(ctx context.Context, o replay.Options) (*replay.Result, error){
		"loop": func(ctx context.Context, o replay.Options) (*replay.Result, error) {
			return replay.Run(ctx, loop, one, o)
		},
		"calls": func(ctx context.Context, o replay.Options) (*replay.Result, error) {
			return replay.Run(ctx, tree, one, o)
		},
		"still": func(ctx context.Context, o replay.Options) (*replay.Result, error) {
			return replay.RunSource(ctx, &trace.Header{Ranks: 1}, spinSource{}, one, o)
		},
		"late": func(ctx context.Context, o replay.Options) (*replay.Result, error) {
			o.Network = late.Network
			return replay.RunSource(ctx, &late.header, replay.NewLists(lists), late.Machine, o)
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		o := bench.Options
		begin := time.Now()
		if _, err := run(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: ended after %v", name, took)
		}
		cancel()
	}
}

// TestAbsurdDates: what would come after 3,000 years ends in an error, and at once also
// where another rank waits for it by probing.
func TestAbsurdDates(t *testing.T) {
	const late, large = "rank 0: the time is beyond 1e+11 s", "rank 0: send: 2251799813685248 bytes, want a number in [0,1125899906842624]"
	const slow = `the messages on their way end after 1e+11 s; the slowest link, "c_link_0_UP", has 1.25e+08 B/s`
	for _, c := range []struct {
		lists [][]trace.Action
		want  string
	}{
		{[][]trace.Action{{sleep(1e30), send(1, 3, 10)}, {poll(0, 3, true)}}, "rank 0: sleep: the time is beyond 1e+11 s"},
		{[][]trace.Action{{flops(1e30), send(1, 3, 10)}, {poll(0, 3, true)}}, late},
		{[][]trace.Action{{send(1, 3, 1<<51)}, {recv(0, 3, 1<<51)}}, large},
		{[][]trace.Action{{send(1, 3, 1<<50)}, {recv(0, 3, 1<<50)}}, slow},
	} {
		b := newBench(t, star(2), 2)
		b.set(t, "smpi/iprobe:1e-4", "smpi/grow-injected-times:yes", "smpi/bw-factor:1e-9")
		if _, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(c.lists), b.Machine, b.Options); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}
