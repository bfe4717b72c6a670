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
		if err != nil {
			t.Fatal(err)
		}
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
	for _, c := range []struct {
		lists [][]trace.Action
		want  string
	}{
		{[][]trace.Action{{sleep(1e30), send(1, 3, 10)}, {poll(0, 3, true)}}, "rank 0: sleep: the time is beyond 1e+11 s"},
		{[][]trace.Action{{flops(1e30), send(1, 3, 10)}, {poll(0, 3, true)}}, late},
		{[][]trace.Action{{send(1, 3, 1<<51)}, {recv(0, 3, 1<<51)}}, large},
	} {
		b := newBench(t, star(2), 2)
		b.set(t, "smpi/iprobe:1e-4", "smpi/grow-injected-times:yes")
		if _, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(c.lists), b.Machine, b.Options); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}
