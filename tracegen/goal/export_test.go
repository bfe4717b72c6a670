package goal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/tracegen"
	"reprise/tracegen/goal"
	"reprise/tracegen/hpl"
)

var c = trace.Const

// options: a flop takes a nanosecond.
func options() tracegen.ExportOptions { return tracegen.ExportOptions{Polls: trace.Hit{}, Speed: 1e9} }

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
		want := tracegen.Exported{Polls: test.polls, Synchronous: 2, Tests: 2, Spread: 1}
		if *sum != want || len(sum.Warnings()) != 3 {
			t.Errorf("%+v, want %+v", *sum, want)
		}
		if !strings.HasPrefix(text.String(), "// two lines\nnum_ranks 2\n") || !strings.Contains(text.String(), test.last) {
			t.Error(text.String())
		}
	}
}

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
	read, write := io.Pipe()
	read.Close()
	if _, err := goal.Export(t.Context(), write, tr, options()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
	if _, err := goal.Export(t.Context(), &bytes.Buffer{}, tr, tracegen.ExportOptions{Polls: trace.Hit{}}); err == nil {
		t.Error("no speed: no error")
	}
}

// A program is what a simulator of GOAL knows of a rank: operations and what
// they depend on. It is read by the rules of the format alone.
type program struct {
	operations []operation
	labels     map[string]int
}

type operation struct {
	verb      string // calc, send, recv
	size      int64  // bytes or ns
	peer, tag int
	before    []edge
	started   bool
	ended     bool
}

type edge struct {
	operation int
	start     bool
}

// parse reads GOAL text; labels must be defined before they are used.
func parse(t *testing.T, text string) []program {
	t.Helper()
	var programs []program
	rank, inside := -1, false
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		var err error
		switch {
		case len(f) == 0 || f[0] == "//":
		case n < 2 && f[0] == "num_ranks":
			var count int
			_, err = fmt.Sscanf(line, "num_ranks %d", &count)
			programs = make([]program, count)
		case f[0] == "rank" && !inside && line == fmt.Sprintf("rank %d {", rank+1):
			rank, inside = rank+1, true
			programs[rank].labels = map[string]int{}
		case line == "}" && inside:
			inside = false
		case inside:
			err = programs[rank].line(line, f)
		default:
			err = fmt.Errorf("not expected here")
		}
		if err != nil {
			t.Fatalf("line %d %q: %v", n+1, line, err)
		}
	}
	if inside || rank != len(programs)-1 {
		t.Fatalf("ends in rank %d of %d", rank, len(programs))
	}
	return programs
}

// line reads a line of a rank.
func (p *program) line(line string, f []string) error {
	label, text, isOp := strings.Cut(line, ": ")
	if !isOp {
		from, ok := p.labels[f[0]]
		to, ok2 := p.labels[f[2]]
		if !ok || !ok2 || len(f) != 3 || f[1] != "requires" && f[1] != "irequires" {
			return fmt.Errorf("not a dependency")
		}
		p.operations[from].before = append(p.operations[from].before, edge{to, f[1] == "irequires"})
		return nil
	}
	if _, ok := p.labels[label]; ok {
		return fmt.Errorf("label defined twice")
	}
	p.labels[label] = len(p.operations)
	var o operation
	var err error
	switch o.verb, _, _ = strings.Cut(text, " "); o.verb {
	case "calc":
		_, err = fmt.Sscanf(text+"\n", "calc %d\n", &o.size)
	case "send":
		_, err = fmt.Sscanf(text+"\n", "send %db to %d tag %d\n", &o.size, &o.peer, &o.tag)
	case "recv":
		_, err = fmt.Sscanf(text+"\n", "recv %db from %d tag %d\n", &o.size, &o.peer, &o.tag)
	default:
		err = fmt.Errorf("verb %q", o.verb)
	}
	p.operations = append(p.operations, o)
	return err
}

// channel is where messages queue: sender, receiver, tag.
type channel struct{ from, to, tag int }

// run executes programs without time, all sends synchronous, and reports what
// never ends. Messages of a channel must have the sizes that are received.
func run(programs []program) error {
	queues := map[channel]*[2][]*operation{} // sends and receives that have started
	for again := true; again; {
		again = false
		for r := range programs {
			for i := range programs[r].operations {
				o := &programs[r].operations[i]
				if o.started || !programs[r].ready(o) {
					continue
				}
				o.started, again = true, true
				if err := start(o, r, queues); err != nil {
					return err
				}
			}
		}
	}
	for r := range programs {
		for i := range programs[r].operations {
			if o := &programs[r].operations[i]; !o.ended {
				return fmt.Errorf("rank %d: operation %d (%s) does not end", r, i+1, o.verb)
			}
		}
	}
	return nil
}

func (p *program) ready(o *operation) bool {
	for _, e := range o.before {
		if other := &p.operations[e.operation]; !other.ended && !(e.start && other.started) {
			return false
		}
	}
	return true
}

// start starts an operation of rank r: a message ends when both sides have started.
func start(o *operation, r int, queues map[channel]*[2][]*operation) error {
	ch, side := channel{r, o.peer, o.tag}, 0
	switch o.verb {
	case "calc":
		o.ended = true
		return nil
	case "recv":
		ch, side = channel{o.peer, r, o.tag}, 1
	}
	q := queues[ch]
	if q == nil {
		q = &[2][]*operation{}
		queues[ch] = q
	}
	if len(q[1-side]) == 0 {
		q[side] = append(q[side], o)
		return nil
	}
	other := q[1-side][0]
	q[1-side] = q[1-side][1:]
	if other.size != o.size {
		return fmt.Errorf("%d bytes meet %d on %v", o.size, other.size, ch)
	}
	o.ended, other.ended = true, true
	return nil
}

// TestHPL: runs of HPL end when played as graphs, with every send synchronous,
// and compute as long as the trace says.
func TestHPL(t *testing.T) {
	for _, shape := range []struct {
		n, p, q int
		bcast   hpl.Bcast
		swap    hpl.Swap
	}{{100, 2, 3, hpl.OneRingM, hpl.Mix}, {70, 3, 2, hpl.LongM, hpl.SpreadRoll}, {50, 1, 4, hpl.TwoRingM, hpl.Mix}, {60, 5, 1, hpl.Long, hpl.BinaryExchange}} {
		for _, rule := range []trace.PollAnswers{trace.Hit{}, trace.Late{}} {
			t.Run(fmt.Sprintf("%d-%dx%d-%T", shape.n, shape.p, shape.q, rule), func(t *testing.T) {
				params := hpl.DefaultParams(shape.n, shape.p, shape.q)
				params.NB, params.Bcast, params.Swap = 8, shape.bcast, shape.swap
				var file bytes.Buffer
				if err := hpl.Generate(t.Context(), &file, params, hpl.Options{}); err != nil {
					t.Fatal(err)
				}
				tr := tracetest.Open(t, file.Bytes())
				var text bytes.Buffer
				o := tracegen.ExportOptions{Polls: rule, Speed: 3e9} // no duration is a whole number of ns
				if _, err := goal.Export(t.Context(), &text, tr, o); err != nil {
					t.Fatal(err)
				}
				programs := parse(t, text.String())
				if err := run(programs); err != nil {
					t.Error(err)
				}
				for r := range programs {
					checkTime(t, tr, int32(r), rule, programs[r].operations)
				}
			})
		}
	}
}

// checkTime compares the calcs of a rank with the flop of the trace at 3 Gflop/s.
func checkTime(t *testing.T, tr *trace.Trace, rank int32, rule trace.PollAnswers, operations []operation) {
	cursors, err := tr.Cursors([]int32{rank}, trace.CursorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := tracegen.Plain{Polls: rule, Flops: tracegen.KernelFlops(tr.Header())}
	flop, calcs, n := 0.0, int64(0), 1
	for buf := make([]trace.Action, 100); n > 0; {
		if n, err = p.Fill(&cursors[0], buf); err != nil {
			t.Fatal(err)
		}
		for _, a := range buf[:n] {
			if a.Kind == trace.KindFlops {
				flop += a.Flops()
			}
		}
	}
	for _, o := range operations {
		if o.verb == "calc" {
			calcs += o.size
		}
	}
	if ns := flop / 3; math.Abs(ns-float64(calcs)) > 0.5+1e-6 || calcs == 0 {
		t.Errorf("rank %d: calcs of %d ns, want %g", rank, calcs, ns)
	}
}
