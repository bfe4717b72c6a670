package tracegen_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/tracegen"
)

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

func TestPolls(t *testing.T) {
	recv := trace.Action{Kind: trace.KindRecv, Peer: 1, Tag: 7, X: [4]int64{100}}
	for _, c := range []struct {
		name string
		rule trace.PollAnswers
		want []trace.Action
		poll int64
	}{
		// 3 flop a column: 4 columns, then the message, then the other 6.
		{"hit", trace.Hit{}, []trace.Action{flops(12), recv, flops(18)}, 1},
		// 4, 4 and 2 columns, and only then the message.
		{"late", trace.Late{}, []trace.Action{flops(12), flops(12), flops(6), recv}, 3},
	} {
		for _, n := range []int{1, 2, 100} {
			tr := polling(t)
			p := &tracegen.Plain{Polls: c.rule, Flops: tracegen.KernelFlops(tr.Header())}
			got, err := fill(p, tr, 0, n)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %d at a time (-want +got):\n%s", c.name, n, diff)
			}
			if p.Polled != c.poll {
				t.Errorf("%s: %d polls, want %d", c.name, p.Polled, c.poll)
			}
		}
	}
}

// TestFree: phases, markers and kernels without flop leave nothing.
func TestFree(t *testing.T) {
	tr := polling(t)
	p := &tracegen.Plain{Polls: trace.Hit{}, Flops: tracegen.KernelFlops(tr.Header())}
	got, err := fill(p, tr, 1, 4)
	want := []trace.Action{{Kind: trace.KindSend, Tag: 7, X: [4]int64{100}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
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
