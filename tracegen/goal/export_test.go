package goal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/tracegen/goal"
)

var c = trace.Const

// options: a flop takes a nanosecond.
func options() goal.Options { return goal.Options{Polls: trace.Hit{}, Speed: 1e9} }

// single is a trace whose rank 0 of 4 does what block appends.
func single(t testing.TB, block func(b *trace.Builder)) *trace.Trace {
	return tracetest.Trace(t, 4, func(r int, b *trace.Builder, _ *trace.Program) {
		if r == 0 {
			block(b)
		}
	})
}

func TestText(t *testing.T) {
	message := func(b *trace.Builder, op trace.Op, req int32, peer, tag, bytes int64) {
		b.Message(op, 0, req, c(peer), c(tag), c(bytes))
	}
	for _, test := range []struct {
		name  string
		block func(b *trace.Builder)
		want  string // lines of rank 0
	}{
		{"chain", func(b *trace.Builder) {
			b.Compute(tracetest.Work, c(5)) // 3 flop a unit
			message(b, trace.OpSend, 0, 1, 7, 100)
			message(b, trace.OpSsend, 0, 2, 0, 0)
			message(b, trace.OpRecv, 0, 3, 2147483647, 1<<40)
			b.Sleep(c(trace.FloatArg(1e-6)))
		}, `
			l1: calc 15
			l2: send 100b to 1 tag 7
			l2 requires l1
			l3: send 0b to 2 tag 0
			l3 requires l2
			l4: recv 1099511627776b from 3 tag 2147483647
			l4 requires l3
			l5: calc 1000
			l5 requires l4`},
		// What follows a nonblocking action needs its start; what follows its wait, its end.
		{"requests", func(b *trace.Builder) {
			message(b, trace.OpIrecv, 4, 1, 7, 100)
			message(b, trace.OpIsend, 2, 1, 7, 200)
			b.Compute(tracetest.Work, c(1))
			b.Test(2)
			b.Wait(4)
			b.Wait(4) // is no request any more
			b.Compute(tracetest.Work, c(2))
			b.Wait(2)
			message(b, trace.OpSend, 0, 1, 7, 300)
		}, `
			l1: recv 100b from 1 tag 7
			l2: send 200b to 1 tag 7
			l2 irequires l1
			l3: calc 3
			l3 irequires l2
			l4: calc 6
			l4 requires l3
			l4 requires l1
			l5: send 300b to 1 tag 7
			l5 requires l4
			l5 requires l2`},
		{"waitall", func(b *trace.Builder) {
			message(b, trace.OpIssend, 0, 1, 7, 100)
			message(b, trace.OpIrecv, 1, 2, 7, 100)
			message(b, trace.OpIrecv, 2, 3, 7, 100)
			b.WaitAll()
			b.WaitAll()
			b.Compute(tracetest.Work, c(1))
		}, `
			l1: send 100b to 1 tag 7
			l2: recv 100b from 2 tag 7
			l2 irequires l1
			l3: recv 100b from 3 tag 7
			l3 irequires l2
			l4: calc 3
			l4 requires l3
			l4 requires l1
			l4 requires l2`},
		{"let go", func(b *trace.Builder) {
			message(b, trace.OpIsend, 0, 1, 7, 100)
			message(b, trace.OpIrecv, 1, 2, 7, 100)
			b.Free(0)
			b.Free(0) // is no request any more
			b.WaitAll()
			b.Compute(tracetest.Work, c(1))
		}, `
			l1: send 100b to 1 tag 7
			l2: recv 100b from 2 tag 7
			l2 irequires l1
			l3: calc 3
			l3 requires l2`},
		{"exchanges", func(b *trace.Builder) {
			b.Exchange(0, c(1), c(7), c(100), c(200))
			b.SyncExchange(0, c(2), c(8), c(0), c(300))
			b.Sendrecv(0, c(1), c(5), c(10), c(3), c(6), c(20))
			b.Compute(tracetest.Work, c(1))
		}, `
			l1: recv 200b from 1 tag 7
			l2: send 100b to 1 tag 7
			l2 irequires l1
			l3: send 0b to 2 tag 8
			l3 requires l2
			l3 requires l1
			l4: recv 300b from 2 tag 8
			l4 irequires l3
			l5: send 10b to 1 tag 5
			l5 requires l4
			l5 requires l3
			l6: recv 20b from 3 tag 6
			l6 irequires l5
			l7: calc 3
			l7 requires l6
			l7 requires l5`},
		{"wildcards", func(b *trace.Builder) {
			message(b, trace.OpRecv, 0, trace.AnySource, trace.AnyTag, 5)
			b.Sendrecv(0, c(1), c(5), c(10), c(3), c(trace.AnyTag), c(20))
		}, `
			l1: recv 5b from -1 tag -1
			l2: send 10b to 1 tag 5
			l2 requires l1
			l3: recv 20b from 3 tag -1
			l3 irequires l2`},
		// 0.4 + 0.4 ns are 1; the 0.2 ns too much are missing from 0.6, which rounds
		// to 0, and the 0.4 ns left over make 1.2 to 2.
		{"rounding", func(b *trace.Builder) {
			for _, ns := range []float64{0.4, 0.4, 0, 0.6, 0, 1.2} {
				if ns == 0 {
					message(b, trace.OpSend, 0, 1, 0, 1)
				}
				b.Flops(c(trace.FloatArg(ns)))
			}
		}, `
			l1: calc 1
			l2: send 1b to 1 tag 0
			l2 requires l1
			l3: send 1b to 1 tag 0
			l3 requires l2
			l4: calc 2
			l4 requires l3`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got bytes.Buffer
			if _, err := goal.Export(t.Context(), &got, single(t, test.block), options()); err != nil {
				t.Fatal(err)
			}
			want := "num_ranks 4\n\nrank 0 {" + strings.ReplaceAll(test.want, "\t", "") + "\n}\n"
			for r := 1; r < 4; r++ {
				want += fmt.Sprintf("\nrank %d {\n}\n", r)
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoteAndWarnings(t *testing.T) {
	tr := tracetest.Trace(t, 2, func(r int, b *trace.Builder, p *trace.Program) {
		if r == 1 {
			return
		}
		b.Message(trace.OpSsend, 0, 0, c(1), c(0), c(goal.EagerLimit))
		b.Message(trace.OpSsend, 0, 0, c(1), c(0), c(goal.EagerLimit+1))
		b.SyncExchange(0, c(1), c(0), c(5), c(goal.EagerLimit+1))
		b.Iprobe(0, c(1), c(0))
		b.Test(0)
		b.SpreadFlops(c(trace.FloatArg(0)), c(trace.FloatArg(1)))
		tracetest.Poll(t, b, p, 1, 0, 10)
		tracetest.Update(t, b, p, 10, 4)
	})
	for _, test := range []struct {
		rule  trace.PollAnswers
		polls int64
		last  string // the computations around the receive, 3 ns a column
	}{{trace.Hit{}, 1, "calc 18"}, {trace.Late{}, 3, "recv 10b from 1 tag 0"}} {
		var text bytes.Buffer
		o := options()
		o.Polls, o.Note = test.rule, "two\nlines"
		sum, err := goal.Export(t.Context(), &text, tr, o)
		if err != nil {
			t.Fatal(err)
		}
		want := goal.Exported{Polls: test.polls, Synchronous: 2, Tests: 2, Spread: 1}
		if *sum != want || len(sum.Warnings()) != 3 {
			t.Errorf("%+v, want %+v", *sum, want)
		}
		if !strings.HasPrefix(text.String(), "// two lines\nnum_ranks 2\n") || !strings.Contains(text.String(), test.last) {
			t.Error(text.String())
		}
	}
}

var errFull = errors.New("full")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		block func(b *trace.Builder)
		want  string
	}{
		{func(b *trace.Builder) { b.Message(trace.OpRecv, 0, 0, c(1), c(2), c(-1)) },
			"rank 0 step 0: recv of unknown size has no counterpart in GOAL"},
		{func(b *trace.Builder) { b.Sendrecv(0, c(1), c(2), c(3), c(1), c(2), c(-1)) }, "sendrecv of unknown size"},
		{func(b *trace.Builder) { b.Sendrecv(0, c(1), c(2), c(3), c(1), c(-2), c(1)) }, "sendrecv with tag -2: GOAL has tags from 0"},
		{func(b *trace.Builder) { b.Message(trace.OpSend, 0, 0, c(1), c(-1), c(1)) }, "send with tag -1"},
		{func(b *trace.Builder) { b.Message(trace.OpSend, 0, 0, c(1), c(trace.AnyTag), c(1)) }, "send with tag -2147483647"},
		{func(b *trace.Builder) {
			b.Message(trace.OpIsend, 0, 4, c(0), c(2), c(3))
			b.Complete(trace.CompleteAny, 4)
		}, "rank 0 step 0: waitany is decided by a replay: it has no counterpart in text"},
		{func(b *trace.Builder) { b.Sleep(c(trace.FloatArg(1e9))) }, "rank 0 step 0: computation of 1e+09 s, want less than 1e+09 s"},
		{func(b *trace.Builder) {
			b.Message(trace.OpIsend, 0, 4, c(1), c(2), c(3))
			b.Message(trace.OpIsend, 0, 4, c(1), c(2), c(3))
		}, "rank 0 step 0: request slot 4 is taken"},
	} {
		_, err := goal.Export(t.Context(), &bytes.Buffer{}, single(t, test.block), options())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
	tr := single(t, func(*trace.Builder) {})
	if _, err := goal.Export(t.Context(), failingWriter{}, tr, options()); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	if _, err := goal.Export(t.Context(), &bytes.Buffer{}, tr, goal.Options{Polls: trace.Hit{}}); err == nil {
		t.Error("no speed: no error")
	}
}
