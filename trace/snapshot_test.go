package trace

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/snapshot"
	"reprise/internal/snapshot/snapshottest"
)

// busyTrace is a file of ten steps, one in a chunk, in which each rank works in chunks
// while a message is pending, from inside a called block in a loop, and marks a vector.
func busyTrace(t *testing.T) *Trace {
	t.Helper()
	h := gridHeader()
	h.Steps = 10
	var buf bytes.Buffer
	w := must(NewWriter(&buf, h, WriterOptions{ChunkUnits: 1}))
	add := func(b *Builder) int {
		return must(w.Program().Add(b))
	}
	body := NewBuilder("body", 1)
	body.Compute(0, Const(99), body.Param(0))
	work := NewBuilder("work", 2)
	work.Compute(0, work.Param(0), work.Param(1))
	bodyBlock, workBlock := add(body), add(work)
	inner := NewBuilder("inner", 2)
	inner.DefineGuarded(0, 0, Const(5), Const(77), bodyBlock, inner.Param(0))
	inner.Work(0, inner.Param(1).Plus(8), Const(4), workBlock, inner.Param(1))
	inner.PollWait(0)
	innerBlock := add(inner)
	b := NewBuilder("busy", 3)
	b.Mark(0, b.Param(1), b.Param(2), b.Param(2))
	b.Loop(Const(2), func() { b.Call(innerBlock, b.Param(0), b.Param(1)) })
	b.Mark(1)
	n := int64(add(b))
	for step := range 10 {
		v := w.Vector(Vector{Values: []int64{int64(step), 2, 3}})
		call := Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{n, n}, Args: [][]int64{{10, 20}, {1, 2, 3}, {v}}}
		check(t, errors.Join(w.Step(step), w.Call(&call)))
	}
	check(t, w.Close())
	return must(NewReaderAt(bytes.NewReader(buf.Bytes()), int64(buf.Len()), "busy"))
}

// visit lets a cursor do a part of its actions and returns what it says. Polls
// are answered by rng, until the end of the visit.
func visit(t *testing.T, c *Cursor, rng *rand.Rand, actions int) (text []string) {
	t.Helper()
	buf := make([]Action, actions)
	n := must(c.Fill(buf))
	for i := range n {
		line := buf[i].Kind.String()
		if buf[i].Kind == KindMark {
			line = c.MarkText(&buf[i])
		}
		text = append(text, line+cmp.Diff(Action{}, buf[i]))
	}
	if n > 0 && buf[n-1].Kind == KindPoll {
		c.Answer(rng.IntN(2) == 0)
	}
	return text
}

// TestSnapshot lets ranks that are far apart in the trace go on with cursors of their own
// and with such as were set from a checkpoint: both say the same.
func TestSnapshot(t *testing.T) {
	tr := busyTrace(t)
	defer tr.Close()
	for _, o := range []CursorOptions{{Markers: true}, {From: 2, To: 7}} {
		rng := rand.New(rand.NewPCG(1, 1))
		old := must(tr.Cursors(nil, o))
		for turn := range 300 {
			file := saveCursors(t, old)
			fresh := must(tr.Cursors(nil, o))
			check(t, RestoreCursors(bytes.NewReader(file), fresh))
			if !bytes.Equal(saveCursors(t, fresh), file) {
				t.Fatalf("turn %d: what is read is saved as something else", turn)
			}
			rank, seed, actions := rng.IntN(6), rng.Uint64(), 1+rng.IntN(6)
			if rng.IntN(3) > 0 {
				rank = 0 // ahead of the others
			}
			want := visit(t, &old[rank], rand.New(rand.NewPCG(seed, 0)), actions)
			got := visit(t, &fresh[rank], rand.New(rand.NewPCG(seed, 0)), actions)
			if !slices.Equal(got, want) {
				t.Fatalf("turn %d: rank %d: got %q, want %q", turn, rank, got, want)
			}
			old = fresh
		}
	}
}

// TestSnapshotRefuses: cursors that were made otherwise are not set, nor are places that the trace
// does not have. Rank 0 waits for the answer to a poll, after a mark that names a vector.
func TestSnapshotRefuses(t *testing.T) {
	tr := busyTrace(t)
	defer tr.Close()
	cursors := func(ranks []int32, o CursorOptions) []Cursor {
		return must(tr.Cursors(ranks, o))
	}
	for _, test := range []struct {
		name   string
		change func(c *Cursor)
		ranks  []int32
		o      CursorOptions
		want   string // of the error
	}{
		{"nothing", func(*Cursor) {}, nil, CursorOptions{Markers: true}, ""},
		{"markers", func(*Cursor) {}, nil, CursorOptions{}, "instructions, want"},
		{"kernel left out", func(*Cursor) {}, nil, CursorOptions{Markers: true, Omit: []bool{true}}, "instructions, want"},
		{"fewer", func(*Cursor) {}, []int32{0, 1}, CursorOptions{Markers: true}, "6 cursors, want 2"},
		{"stride", func(c *Cursor) { c.set.stride++ }, nil, CursorOptions{Markers: true}, "registers, want"},
		{"no stride", func(c *Cursor) { c.set.stride = 0 }, nil, CursorOptions{Markers: true}, "registers, want"},
		{"memory", func(c *Cursor) { c.set.memory = c.set.memory[1:] }, nil, CursorOptions{Markers: true}, "registers, want"},
		{"pollables", func(c *Cursor) { c.set.polls = c.set.polls[1:] }, nil, CursorOptions{Markers: true}, "pollables, want"},
		{"arguments", func(c *Cursor) { c.set.polls[0].count = maxPollArgs + 1 }, nil, CursorOptions{Markers: true}, "arguments of a pollable 17 out of [0,17)"},
		{"body", func(c *Cursor) { c.set.polls[0].body = -1 }, nil, CursorOptions{Markers: true}, "body of a pollable -1 out of"},
		{"family", func(c *Cursor) { c.set.polls[0].family = 100 }, nil, CursorOptions{Markers: true}, "family of a pollable 100 out of"},
		{"vector", func(c *Cursor) { c.lists[0].vector = 1 }, nil, CursorOptions{Markers: true}, "vector 1 out of [0,1)"},
		{"negative vector", func(c *Cursor) { c.lists[0].vector = -1 }, nil, CursorOptions{Markers: true}, "vector -1 out of [0,1)"},
		{"chunk of a vector", func(c *Cursor) { c.lists[0].chunk = 10 }, nil, CursorOptions{Markers: true}, "chunk 10 out of [0,10)"},
		{"chunk", func(c *Cursor) { c.win = &Chunk{number: 10} }, nil, CursorOptions{Markers: true}, "chunk 10 out of [0,10)"},
		{"pc", func(c *Cursor) { c.pc = 1 << 20 }, nil, CursorOptions{Markers: true}, "instruction 1048576 out of"},
		{"hit", func(c *Cursor) { c.hitPC = -1 }, nil, CursorOptions{Markers: true}, "instruction after a hit -1 out of"},
		{"miss", func(c *Cursor) { c.missPC = -1 }, nil, CursorOptions{Markers: true}, "instruction after a miss -1 out of"},
		{"frame", func(c *Cursor) { c.base = 0 }, nil, CursorOptions{Markers: true}, "frame 0 out of"},
		{"frame after a hit", func(c *Cursor) { c.hitFrame = 1 << 20 }, nil, CursorOptions{Markers: true}, "frame after a hit"},
		{"slot", func(c *Cursor) { c.waiting = 100 }, nil, CursorOptions{Markers: true}, "slot of a poll 100 out of"},
		{"unit", func(c *Cursor) { c.unit = 1 }, nil, CursorOptions{Markers: true}, "unit 1 out of [-1,1)"},
		{"call", func(c *Cursor) { c.call = 2 }, nil, CursorOptions{Markers: true}, "call 2 out of [0,2)"},
		{"items", func(c *Cursor) { c.items = 2 }, nil, CursorOptions{Markers: true}, "2 items, want 1"},
		{"item", func(c *Cursor) { c.item = 2 }, nil, CursorOptions{Markers: true}, "item 2 out of [0,2)"},
	} {
		old := cursors(nil, CursorOptions{Markers: true})
		if n, err := old[0].Fill(make([]Action, 100)); n == 0 || err != nil || old[0].waiting < 0 || len(old[0].lists) == 0 {
			t.Fatalf("%d actions, %v, want a mark and a poll", n, err)
		}
		test.change(&old[0])
		err := RestoreCursors(bytes.NewReader(saveCursors(t, old)), cursors(test.ranks, test.o))
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, snapshot.ErrCorrupt) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

func saveCursors(t *testing.T, cursors []Cursor) []byte {
	t.Helper()
	var file bytes.Buffer
	check(t, SaveCursors(&file, cursors))
	return file.Bytes()
}

func TestSnapshotOfStream(t *testing.T) {
	b := NewBuilder("b", 3)
	b.Compute(0, Const(1), Const(1))
	cursors := must(traced(t, gridHeader(), 1, b).Cursors(nil, CursorOptions{}))
	if err := SaveCursors(&bytes.Buffer{}, cursors); !errors.Is(err, ErrStream) {
		t.Error(err)
	}
}

// TestSnapshotFields: every field of cursors is saved, or follows from the trace and how
// the cursors were made.
func TestSnapshotFields(t *testing.T) {
	tr := busyTrace(t)
	defer tr.Close()
	cursors, err := tr.Cursors(nil, CursorOptions{Markers: true})
	if err != nil {
		t.Fatal(err)
	}
	visit(t, &cursors[0], nil, 2) // the step and a mark
	c := &cursors[0]
	write := func(s *snapshot.State) { cursorState(s, cursors) }
	snapshottest.Fields(t, c, func(s *snapshot.State, _ *Cursor) { write(s) }, "set win rank index noted err")
	snapshottest.Fields(t, &c.lists[0], func(s *snapshot.State, _ *sumList) { write(s) }, "sums")
	snapshottest.Fields(t, c.set.poll(0, 0), func(s *snapshot.State, _ *pollable) { write(s) }, "")
	snapshottest.Fields(t, c.set, func(s *snapshot.State, _ *cursorSet) { write(s) }, "trace code ranks to idle groups slots cursors aux")
	x := c.relays()
	snapshottest.Fields(t, x, func(s *snapshot.State, _ *relays) { write(s) }, "")
	snapshottest.Fields(t, &x.of[1], func(s *snapshot.State, _ *relay) { write(s) }, "")
	snapshottest.Fields(t, &x.of[1].jobs[1], func(s *snapshot.State, _ *relayJob) { write(s) }, "")
	snapshottest.Fields(t, &x.ring[1], func(s *snapshot.State, _ *ringFlow) { write(s) }, "")
	before := saveCursors(t, cursors)
	c.win = nil
	if bytes.Equal(saveCursors(t, cursors), before) {
		t.Error("the chunk is not saved")
	}
}
