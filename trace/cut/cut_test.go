package cut_test

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/cut"
	"reprise/trace/verify"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
)

func opened(t *testing.T, file []byte) *trace.Trace {
	t.Helper()
	tr := tracetest.Must(trace.NewReaderAt(bytes.NewReader(file), int64(len(file)), "file"))
	t.Cleanup(func() { tr.Close() })
	return tr
}

func mark(t *testing.T, text string) cut.Mark {
	t.Helper()
	m := tracetest.Must(cut.Parse(text))
	if m.String() != text {
		t.Errorf("mark %s is written %v", text, m)
	}
	return m
}

// part cuts a part out, and verifies it.
func part(t *testing.T, tr *trace.Trace, from, to string) *trace.Trace {
	t.Helper()
	var file bytes.Buffer
	if _, err := cut.Write(&file, tr, mark(t, from), mark(t, to), cut.Options{}); err != nil {
		t.Fatalf("%s to %s: %v", from, to, err)
	}
	p := opened(t, file.Bytes())
	if _, err := verify.Trace(p, nil); err != nil {
		t.Errorf("%s to %s: %v", from, to, err)
	}
	return p
}

// did is an action with its lists.
type did struct {
	trace.Action
	Collective trace.Collective
	Requests   []int32
	Step       int
}

// actions returns what each rank does, with the steps of it if they are asked for.
func actions(t *testing.T, tr *trace.Trace, o trace.CursorOptions) (ranks [][]did) {
	t.Helper()
	cursors := tracetest.Must(tr.Cursors(nil, o))
	for i := range cursors {
		r := trace.NewActionReader(&cursors[i], trace.Hit{}, o.From)
		var list []did
		for a := r.Next(); a != nil; a = r.Next() {
			d := did{Action: *a, Step: r.Step()}
			switch a.Kind {
			case trace.KindProbed:
				continue
			case trace.KindCollective, trace.KindIcollective:
				d.Collective, d.X = a.Collective(&cursors[i]), [4]int64{}
				d.Collective.SendSums, d.Collective.RecvSums = slices.Clone(d.Collective.SendSums), slices.Clone(d.Collective.RecvSums)
			case trace.KindComplete:
				d.Requests, d.X = cursors[i].Requests(a.X[0]), [4]int64{}
			}
			list = append(list, d)
		}
		tracetest.Check(t, r.Err())
		ranks = append(ranks, list)
	}
	return ranks
}

// TestSteps: steps of HPL, with look-ahead and without, and of HPCG are what they are in the
// whole.
func TestSteps(t *testing.T) {
	var files [3]bytes.Buffer
	for depth := range 2 {
		p := hpl.DefaultParams(330, 2, 2)
		p.NB, p.Depth = 32, depth
		tracetest.Check(t, hpl.Generate(context.Background(), &files[depth], p, hpl.Options{}))
	}
	tracetest.Check(t, hpcg.Generate(context.Background(), &files[2], hpcg.DefaultParams(8, 16), hpcg.Options{}))
	for i := range files {
		tr := opened(t, files[i].Bytes())
		for _, c := range []struct {
			from, to string
			o        trace.CursorOptions
		}{
			{"step:4", "step:7", trace.CursorOptions{From: 4, To: 7}},
			{"begin", "step:2", trace.CursorOptions{To: 2}},
			{"step:8", "end", trace.CursorOptions{From: 8}},
		} {
			if diff := cmp.Diff(actions(t, tr, c.o), actions(t, part(t, tr, c.from, c.to), trace.CursorOptions{From: c.o.From})); diff != "" {
				t.Errorf("file %d, %s to %s: whole (-), part (+)\n%s", i, c.from, c.to, diff)
			}
		}
	}
}

// TestActions: of the golden files without polls, and of HPCG, all that ranks do from before the
// first operation of all ranks on is all that they do, in the same steps.
func TestActions(t *testing.T) {
	files, err := filepath.Glob("../../testdata/format/*.trace.zst")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		tr := tracetest.Must(trace.Open(file))
		whole := actions(t, tr, trace.CursorOptions{})
		if tr.Header().Pollables == 0 && !slices.Contains(tr.Features(), "relays") && len(whole[0]) > 0 {
			var out bytes.Buffer
			s, err := cut.Write(&out, tr, mark(t, "collective:0"), mark(t, "end"), cut.Options{})
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			part := actions(t, opened(t, out.Bytes()), trace.CursorOptions{})
			if diff := cmp.Diff(whole, part); diff != "" {
				t.Errorf("%s: whole (-), part (+)\n%s", file, diff)
			}
			lines := int64(0)
			for _, list := range whole {
				for i := range list {
					lines += list[i].Lines()
				}
			}
			if s.Actions != lines {
				t.Errorf("%s: %d actions, want %d", file, s.Actions, lines)
			}
		}
		tr.Close()
	}
}

// TestPhases: a phase is cut out as often as it was done; others that have begun before it are
// left out.
func TestPhases(t *testing.T) {
	var file bytes.Buffer
	tracetest.Check(t, hpcg.Generate(context.Background(), &file, hpcg.DefaultParams(8, 16), hpcg.Options{}))
	tr := opened(t, file.Bytes())
	for rank, list := range actions(t, part(t, tr, "phase:halo:3", "end-of-phase:halo:5"), trace.CursorOptions{}) {
		begun, ended := 0, 0
		for i := range list {
			if a := &list[i]; a.Kind == trace.KindPhase && tr.Header().Phases[a.Sym] == "halo" {
				if a.Flags&trace.FlagEnd == 0 {
					begun++
				} else {
					ended++
				}
			}
		}
		first, last := list[0], list[len(list)-1]
		if begun != 3 || ended != 3 || first.Kind != trace.KindPhase || last.Kind != trace.KindPhase || last.Flags&trace.FlagEnd == 0 {
			t.Errorf("rank %d: %d phases begin, %d end, from %v to %v", rank, begun, ended, first.Kind, last.Kind)
		}
	}
}

// emptyBlock is the number of a block that does nothing, in traces of small.
const emptyBlock = 0

// small writes a trace of two ranks with a communicator of both, other, and two steps.
func small(t *testing.T, build func(step, rank int, b *trace.Builder)) *trace.Trace {
	t.Helper()
	both := []trace.Group{{Stride: 1, Count: 2}}
	h := &trace.Header{Program: "small", Ranks: 2, Steps: 2, Communicators: true, Pollables: 1, Phases: []string{"a b:2"}, Markers: []trace.Marker{{Phase: 1}, {Phase: 1, End: true}},
		CommFamilies: []trace.CommFamily{{Name: "world", Groups: both}, {Name: "other", Groups: both}},
		Axes:         []trace.Axis{{Name: "rank", Kind: trace.AxisRank}}, CallSites: []trace.CallSite{{Name: "call", Counts: trace.NoAxis}}}
	var file bytes.Buffer
	w := tracetest.Must(trace.NewWriter(&file, h, trace.WriterOptions{}))
	if _, err := w.Program().Add(trace.NewBuilder("empty", 0)); err != nil { // emptyBlock
		t.Fatal(err)
	}
	for step := range 2 {
		var blocks []int64
		for rank := range 2 {
			b := trace.NewBuilder("block", 0)
			build(step, rank, b)
			n := tracetest.Must(w.Program().Add(b))
			blocks = append(blocks, int64(n))
		}
		tracetest.Check(t, w.Step(step))
		tracetest.Check(t, w.Call(&trace.Call{Blocks: blocks}))
	}
	tracetest.Check(t, w.Close())
	return opened(t, file.Bytes())
}

func message(b *trace.Builder, op trace.Op, family, req, peer int) {
	b.Message(op, family, int32(req), trace.Const(int64(peer)), trace.Const(7), trace.Const(8))
}

// TestUnderWay: what is under way at a mark is named, and nothing is written.
func TestUnderWay(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to string
		build    func(step, rank int, b *trace.Builder)
		want     string // "": nothing
	}{
		{"message", "begin", "step:1", func(step, rank int, b *trace.Builder) {
			if step == rank {
				message(b, []trace.Op{trace.OpSend, trace.OpRecv}[rank], 0, 0, 1-rank)
			}
		}, "mark step:1: not all is done there that has begun: 1 message from rank 0 to rank 1 with tag 7 sent and not received: cut elsewhere"},
		{"request", "step:1", "end", func(step, rank int, b *trace.Builder) {
			switch {
			case step == 0 && rank == 0:
				message(b, trace.OpIrecv, 0, 3, 1)
			case step == 0:
				message(b, trace.OpSend, 0, 0, 0)
			case rank == 0:
				b.Wait(3)
			}
		}, "mark step:1: not all is done there that has begun: request 3 of rank 0, of an irecv, is open: cut elsewhere"},
		{"nonblocking operation", "begin", "step:1", func(step, rank int, b *trace.Builder) {
			if step == 0 {
				b.Icollective(3, trace.CollBarrier, trace.CollectiveOperands{})
			} else {
				b.Wait(3)
			}
		}, "request 3 of rank 0, of an ibarrier, is open; request 3 of rank 1, of an ibarrier, is open"},
		{"other communicator", "comm:other", "end", func(step, rank int, b *trace.Builder) {
			if rank == 0 {
				message(b, trace.OpSend, step, 0, 1)
			} else {
				message(b, trace.OpRecv, 1-step, 0, 0)
			}
		}, "1 message from rank 0 to rank 1 with tag 7 sent and not received"},
		{"operation", "step:1", "end", func(step, rank int, b *trace.Builder) {
			if rank == step {
				b.Collective(trace.CollBarrier, trace.CollectiveOperands{Comm: trace.Communicator(1)})
			}
		}, "rank 0 has called 1 operation of communicator other, rank 1 0"},
		{"phase", "step:1", "end", func(step, rank int, b *trace.Builder) { b.Mark(step) }, "mark step:1: phase a b:2 of rank 0, which has begun before, ends in step 1: cut elsewhere"},
		{"poll", "begin", "step:1", func(step, rank int, b *trace.Builder) {
			if step == 0 {
				b.Define(0, emptyBlock)
			} else {
				b.PollWait(0)
			}
		}, "mark step:1: rank 0 polls there for what it began before"},
		{"from anybody", "begin", "step:1", func(step, rank int, b *trace.Builder) {
			switch {
			case step == 0 && rank == 0:
				b.Message(trace.OpRecv, 0, 0, trace.Const(trace.AnySource), trace.Const(trace.AnyTag), trace.Const(8))
			case step == 0:
				message(b, trace.OpSend, 0, 0, 0)
			}
		}, ""},
	} {
		var out bytes.Buffer
		tr := small(t, c.build)
		_, err := cut.Write(&out, tr, mark(t, c.from), mark(t, c.to), cut.Options{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || out.Len() > 0) {
			t.Errorf("%s: %v, %d bytes, want %q", c.name, err, out.Len(), c.want)
		}
	}
}

// TestMarks: marks that are none, or are not there.
func TestMarks(t *testing.T) {
	for text, want := range map[string]string{
		"now":            `mark "now", want begin, end, step:N, phase:NAME, end-of-phase:NAME, comm:NAME, end-of-comm:NAME or collective:N`,
		"begin:1":        `mark "begin:1", want begin alone`,
		"step:-1":        `mark "step:-1", want step:N with a whole number of at least 0`,
		"collective:all": `mark "collective:all", want collective:N with a whole number of at least 0`,
		"phase:":         `mark "phase:", want phase:NAME`,
		"end-of-comm":    `mark "end-of-comm", want end-of-comm:NAME`,
	} {
		if _, err := cut.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	tr := small(t, func(step, rank int, b *trace.Builder) {
		b.Mark(step)
		if step == 0 && rank == 0 {
			message(b, trace.OpSend, 1, 0, 0) // to itself
			message(b, trace.OpRecv, 1, 0, 0)
		}
		b.Collective(trace.CollBarrier, trace.CollectiveOperands{})
	})
	for _, c := range []struct{ from, to, want string }{
		{"step:1", "step:1", "there is nothing from step:1 to step:1"},
		{"step:3", "end", "mark step:3: the trace has steps 0 to 1"},
		{"phase:c", "end", `mark phase:c: the trace has no such phase; there are "a b:2"`},
		{"phase:a b:2:2", "end", "mark phase:a b:2:2: rank 0 does not come to it: there are 1"},
		{"comm:other", "end", "mark comm:other: rank 1 does not come to it"},
		{"begin", "comm:some", `mark comm:some: the trace has no such communicator; there are "world", "other"`},
		{"begin", "collective:5", "mark collective:5: rank 0 does not come to it: there are 2"},
		{"collective:2", "collective:1", "rank 0 comes to mark collective:1 before it comes to collective:2"},
		{"collective:1", "collective:1", "there is nothing from collective:1 to collective:1"},
	} {
		var out bytes.Buffer
		if _, err := cut.Write(&out, tr, mark(t, c.from), mark(t, c.to), cut.Options{}); err == nil || err.Error() != c.want || out.Len() > 0 {
			t.Errorf("%s to %s: %v, want %s", c.from, c.to, err, c.want)
		}
	}
	list, err := cut.List(tr)
	want := []cut.Found{{"step:0 to step:1", "2 steps"}, {"phase:a b:2:1", "1 time on each rank"}, {"collective:1 to collective:2", "2 operations of all ranks"}}
	if diff := cmp.Diff(want, list); diff != "" || err != nil {
		t.Errorf("marks (-want +got): %v\n%s", err, diff)
	}
}

// TestPolls: where ranks poll a part is of steps; of a stream there is none.
func TestPolls(t *testing.T) {
	var file, out bytes.Buffer
	p := hpl.DefaultParams(330, 2, 2)
	p.NB = 32
	tracetest.Check(t, hpl.Generate(context.Background(), &file, p, hpl.Options{}))
	tr := opened(t, file.Bytes())
	_, err := cut.Write(&out, tr, mark(t, "step:1"), mark(t, "end-of-comm:row"), cut.Options{})
	if err == nil || !strings.Contains(err.Error(), "ranks poll in this trace") {
		t.Error(err)
	}
	list, err := cut.List(tr)
	if want := []cut.Found{{"step:0 to step:11", "12 steps"}}; !cmp.Equal(list, want) || err != nil { // 330/32 panels, the last one not full, and the solve
		t.Errorf("marks %v, %v, want %v", list, err, want)
	}
	stream := tracetest.Must(trace.NewReader(bytes.NewReader(file.Bytes()), "stdin"))
	defer stream.Close()
	if _, err := cut.Write(&out, stream, mark(t, "step:1"), mark(t, "end"), cut.Options{}); err == nil || !strings.Contains(err.Error(), "out of a file") {
		t.Error(err)
	}
}
