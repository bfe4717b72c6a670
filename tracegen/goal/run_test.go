package goal_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/tracegen"
	"reprise/tracegen/goal"
	"reprise/tracegen/hpl"
)

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
				tr, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "hpl")
				if err != nil {
					t.Fatal(err)
				}
				var text bytes.Buffer
				o := goal.Options{Polls: rule, Speed: 3e9} // no duration is a whole number of ns
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
