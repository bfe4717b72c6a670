package tracegen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/tracegen"
)

// header is that of four ranks in two rows of two.
func header() *trace.Header {
	return &trace.Header{Ranks: 4, Steps: 2,
		CommFamilies: []trace.CommFamily{{Name: "row", Groups: tracegen.Groups(2, 2, 1, 2)}},
		Axes:         []trace.Axis{{Name: "row", Kind: trace.AxisFamily}},
		CallSites:    []trace.CallSite{{Name: "step", Counts: trace.NoAxis, Block: 0}},
	}
}

// TestGenerator: a trace of two steps; progress tells of the beginning of each and of the end.
func TestGenerator(t *testing.T) {
	var file bytes.Buffer
	var told []int
	g := must(tracegen.New(t.Context(), &file, header(), 2, func(done, all int) { told = append(told, done, all) }))
	sleep := func(seconds float64) int64 {
		b := trace.NewBuilder("sleep", 0)
		b.Sleep(trace.Const(trace.FloatArg(seconds)))
		return g.Block(b)
	}
	made := 0
	blocks := tracegen.Blocks(2, func(row int) bool { return row < 2 }, func(bool) int64 { made++; return sleep(1) })
	if made != 1 || !slices.Equal(blocks, []int64{0, 0}) {
		t.Errorf("blocks %v, %d made, want one for both rows", blocks, made)
	}
	for step := range 2 {
		g.Step(step)
		column := g.Column(2)
		copy(column, blocks)
		g.Call(&trace.Call{Blocks: column})
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []int{0, 2, 1, 2, 2, 2}) {
		t.Errorf("progress %v", told)
	}
	if _, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "x"); err != nil {
		t.Error(err)
	}
}

// TestGeneratorStops: after a failure nothing is done, and Close returns the first one.
func TestGeneratorStops(t *testing.T) {
	first := errors.New("first")
	for name, c := range map[string]struct {
		do   func(*tracegen.Generator)
		want error
	}{
		"own":   {func(g *tracegen.Generator) { g.Fail(first); g.Fail(errors.New("second")) }, first},
		"block": {func(g *tracegen.Generator) { g.Block(trace.NewBuilder("x", -1)) }, trace.ErrBlock},
	} {
		g := must(tracegen.New(t.Context(), &bytes.Buffer{}, header(), 1, nil))
		c.do(g)
		if g.OK() || g.Block(trace.NewBuilder("y", 0)) != 0 {
			t.Errorf("%s: goes on", name)
		}
		g.Step(0)
		g.Call(&trace.Call{Blocks: []int64{0, 0}})
		if err := g.Close(); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	g := must(tracegen.New(ctx, &bytes.Buffer{}, header(), 1, nil))
	cancel()
	if err := g.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := tracegen.New(t.Context(), &bytes.Buffer{}, &trace.Header{}, 1, nil); !errors.Is(err, trace.ErrHeader) {
		t.Errorf("error %v", err)
	}
}

// polling is a rank that works on 10 columns, 4 at a time, until a message of
// 100 bytes is there.
func polling(t *testing.T) *trace.Trace {
	return tracetest.Trace(t, 2, func(r int, b *trace.Builder, p *trace.Program) {
		b.Mark(0)
		if r == 0 {
			tracetest.Poll(t, b, p, 1, 7, 100)
			tracetest.Update(t, b, p, 10, 4)
		} else {
			b.Compute(tracetest.Move, trace.Const(50))
			b.Message(trace.OpSend, 0, 0, trace.Const(0), trace.Const(7), trace.Const(100))
		}
		b.Mark(1)
	})
}

// fill returns all plain actions of a rank, n at a time.
func fill(p *tracegen.Plain, tr *trace.Trace, rank int32, n int) ([]trace.Action, error) {
	cursors, err := tr.Cursors([]int32{rank}, trace.CursorOptions{Markers: true})
	if err != nil {
		return nil, err
	}
	var all []trace.Action
	buf := make([]trace.Action, n)
	for {
		got, err := p.Fill(&cursors[0], buf)
		if got == 0 || err != nil {
			return all, err
		}
		all = append(all, buf[:got]...)
	}
}

func flops(v float64) trace.Action {
	return trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(v)}}
}

// TestPlain: polls are answered by a rule; phases, markers and kernels without flop leave nothing.
func TestPlain(t *testing.T) {
	recv := trace.Action{Kind: trace.KindRecv, Peer: 1, Tag: 7, X: [4]int64{100}}
	for _, c := range []struct {
		rank int32
		rule trace.PollAnswers
		want []trace.Action
		poll int64
	}{
		// 3 flop a column: 4 columns, then the message, then the other 6.
		{0, trace.Hit{}, []trace.Action{flops(12), recv, flops(18)}, 1},
		// 4, 4 and 2 columns, and only then the message.
		{0, trace.Late{}, []trace.Action{flops(12), flops(12), flops(6), recv}, 3},
		{1, trace.Hit{}, []trace.Action{{Kind: trace.KindSend, Tag: 7, X: [4]int64{100}}}, 0},
	} {
		for _, n := range []int{1, 2, 100} {
			tr := polling(t)
			p := &tracegen.Plain{Polls: c.rule, Flops: tracegen.KernelFlops(tr.Header())}
			got, err := fill(p, tr, c.rank, n)
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" || p.Polled != c.poll {
				t.Errorf("rank %d, %T, %d at a time: error %v, %d polls, want %d (-want +got):\n%s", c.rank, c.rule, n, err,
					p.Polled, c.poll, diff)
			}
		}
	}
}

func TestKernelFlops(t *testing.T) {
	h := &trace.Header{Kernels: []trace.Kernel{
		{Flops: []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1, 1}}, {Coef: 0.5, Pow: [4]uint8{2}}, {Coef: 7}}},
		{},
	}}
	f := tracegen.KernelFlops(h)
	// 2*3*5*7 + 0.5*3^2 + 7
	if got, err := f(0, &[4]int64{3, 5, 7, 9}); got != 210+4.5+7 || err != nil {
		t.Errorf("%g, error %v", got, err)
	}
	if got, err := f(1, &[4]int64{3}); got != 0 || err != nil {
		t.Errorf("%g, error %v", got, err)
	}
}

var errNoModel = errors.New("no model")

func TestErrors(t *testing.T) {
	cost := func(v float64, err error) tracegen.FlopsFunc {
		return func(int, *[4]int64) (float64, error) { return v, err }
	}
	rules := trace.PollAnswers(refuse{})
	for _, c := range []struct {
		name  string
		polls trace.PollAnswers
		flops tracegen.FlopsFunc
		block func(b *trace.Builder)
		want  string
	}{
		{"no model", nil, cost(0, errNoModel), func(b *trace.Builder) { b.Compute(0, trace.Const(1)) }, "rank 0 step 0: no model"},
		{"negative", nil, cost(-1, nil), func(b *trace.Builder) { b.Compute(0, trace.Const(1)) }, "rank 0 step 0: -1 flop, want a finite number >= 0"},
		{"infinite", nil, cost(math.Inf(1), nil), func(b *trace.Builder) { b.Compute(0, trace.Const(1)) }, "+Inf flop"},
		{"flops", nil, nil, func(b *trace.Builder) { b.Flops(trace.Const(trace.FloatArg(math.NaN()))) }, "flops of NaN, want a finite number >= 0"},
		{"sleep", nil, nil, func(b *trace.Builder) { b.Sleep(trace.Const(trace.FloatArg(-2))) }, "sleep of -2, want a finite number >= 0"},
		{"send", nil, nil, func(b *trace.Builder) {
			b.Message(trace.OpIsend, 0, 0, trace.Const(0), trace.Const(0), trace.Const(-1))
		}, "isend of -1 bytes"},
		{"poll", rules, nil, nil, "rank 0 step 0: refused"},
	} {
		tr := tracetest.Trace(t, 1, func(_ int, b *trace.Builder, p *trace.Program) {
			if c.block == nil {
				tracetest.Poll(t, b, p, 0, 0, 1)
				b.Poll(0)
				return
			}
			c.block(b)
		})
		_, err := fill(&tracegen.Plain{Polls: c.polls, Flops: c.flops}, tr, 0, 8)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// refuse answers no poll.
type refuse struct{ trace.Hit }

func (refuse) Answer(*trace.Action) (bool, error) { return false, errors.New("refused") }

func ExamplePlain() {
	h := &trace.Header{Kernels: []trace.Kernel{{Name: "dgemm", Flops: []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1, 1}}}}}}
	p := tracegen.Plain{Polls: trace.Hit{}, Flops: tracegen.KernelFlops(h)}
	flop, _ := p.Flops(0, &[4]int64{100, 100, 10})
	fmt.Println(flop)
	// Output: 200000
}

// expanded returns what rank 4 of 2x3 ranks does, whose row is 3, 4, 5 and whose column is 1, 4.
func expanded(t *testing.T, build func(b *trace.Builder)) (list []trace.Action, err error) {
	t.Helper()
	h := tracetest.GridHeader()
	h.Communicators = true
	var buf bytes.Buffer
	w := must(trace.NewWriter(&buf, h, trace.WriterOptions{}))
	b := trace.NewBuilder("run", 3)
	build(b)
	n := must(w.Program().Add(b))
	v := w.Vector(trace.Vector{Values: []int64{0}})
	c := &trace.Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{int64(n), int64(n)}, Args: [][]int64{{0, 1}, {0, 1, 2}, {v}}}
	if err := errors.Join(w.Step(0), w.Call(c), w.Close()); err != nil {
		t.Fatal(err)
	}
	tr := tracetest.Open(t, buf.Bytes())
	cursors := must(tr.Cursors([]int32{4}, trace.CursorOptions{}))
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

// must returns a value that tests need.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
