package timeline_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/report/timeline"
	"reprise/report/typedarray"
	"reprise/trace"
)

// pageSlice is a slice of a window as a page reads it.
type pageSlice struct {
	rank       uint32
	begin, end float64
	name, arg  string
	state      string
}

// readWindow reads the columns of a window, after a way through JSON.
func readWindow(t testing.TB, w *timeline.Window) (list []pageSlice) {
	t.Helper()
	text, err := json.Marshal(w)
	noError(t, err)
	var read timeline.Window
	noError(t, json.Unmarshal(text, &read))
	u32 := func(b typedarray.Bytes, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	u16 := func(b typedarray.Bytes, i int) uint16 { return binary.LittleEndian.Uint16(b[2*i:]) }
	f64 := func(b typedarray.Bytes, i int) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	if len(read.Rank) != 4*read.Slices || len(read.State) != 2*read.Slices || len(read.End) != 8*read.Slices || len(read.Sent) != 8*read.Arrows || len(read.Tag) != 4*read.Arrows {
		t.Fatalf("columns of other lengths than %d slices and %d arrows", read.Slices, read.Arrows)
	}
	for i := range read.Slices {
		list = append(list, pageSlice{
			u32(read.Rank, i), f64(read.Begin, i), f64(read.End, i),
			read.Names[u16(read.Name, i)], read.Args[u32(read.Arg, i)], read.States[u16(read.State, i)],
		})
	}
	for i := 1; i < read.Arrows; i++ {
		if f64(read.Sent, i) < f64(read.Sent, i-1) {
			t.Errorf("arrow %d is sent before the one before it", i)
		}
	}
	return list
}

// TestWindowOfPair: what a page shows of the pair.
func TestWindowOfPair(t *testing.T) {
	h := pairHeader()
	c, err := timeline.NewWindow(h, timeline.Span{}, true)
	noError(t, err)
	play(t, h, c, pair()...)
	w := c.Window()
	const arrived = pairEnd
	want := []pageSlice{
		{0, 0, 1, "flops", "1000000000", "compute"}, {0, 1, arrived, "send", "1 1000000 7", "waiting"}, {0, arrived, arrived + 1, "flops", "1000000000", "compute"},
		{1, 0, 0, "irecv", "0 1000000 7", "overhead"}, {1, 0, 0.5, "flops", "500000000", "compute"}, {1, 0.5, arrived, "wait", "recv 0 1000000 7", "waiting"}, {1, arrived, arrived + 1, "flops", "1000000000", "compute"},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(want, readWindow(t, w), cmp.AllowUnexported(pageSlice{}), near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w.Arrows != 1 || w.Note != "" || w.Ranks != 2 || w.From != 0 || math.Abs(w.To-arrived-1) > 1e-12 || w.Args[0] != "" {
		t.Errorf("%d arrows, note %q, %d ranks, %v to %v s", w.Arrows, w.Note, w.Ranks, w.From, w.To)
	}
}

// TestWindowOfQueues: each rank has a row of its own, and one for each queue of its device. A launch takes 1 ms; kernels
// of 1 and 2 s run at the same time.
func TestWindowOfQueues(t *testing.T) {
	h := pairHeader()
	h.Kernels, h.Queues = []trace.Kernel{{Name: "k", Dims: []trace.Dim{{Name: "N"}}}}, []string{"a", "b"}
	c, err := timeline.NewWindow(h, timeline.Span{}, true)
	noError(t, err)
	o := c.Observer()
	launch := func(q int32, n int64, at, from float64) {
		o.ActionBegins(1, trace.Action{Kind: trace.KindLaunch, Tag: q, X: [4]int64{n}}, at)
		o.TimePasses(1, replay.TimeOverhead, -1, at, at+0.001)
		o.Queued(1, q, 0, from, from+float64(n))
		o.ActionEnds(1, at+0.001)
	}
	launch(0, 1, 0, 0.001)
	launch(1, 2, 0.001, 0.002)
	o.ActionBegins(1, trace.Action{Kind: trace.KindQueue, X: [4]int64{int64(trace.QueueSyncAll)}}, 0.002)
	o.TimePasses(1, replay.TimeDevice, -1, 0.002, 2.002)
	o.ActionEnds(1, 2.002)
	want := []pageSlice{ // rows 3, 4 and 5 are those of rank 1
		{3, 0, 0.001, "launch", "1", "overhead"}, {3, 0.001, 0.002, "launch", "2", "overhead"}, {3, 0.002, 2.002, "sync-device", "", "device"},
		{4, 0.001, 1.001, "k", "1", "compute"}, {5, 0.002, 2.002, "k", "2", "compute"},
	}
	w := c.Window()
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(want, readWindow(t, w), cmp.AllowUnexported(pageSlice{}), near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w.Ranks != 2 || len(w.Queues) != 2 {
		t.Errorf("%d ranks, queues %v", w.Ranks, w.Queues)
	}
}

// TestWindowTakesTogether: with room for few slices, those that are short are taken together:
// each rank is still busy from begin to end, without holes and without two at once.
func TestWindowTakesTogether(t *testing.T) {
	run := newHPL(t, 300, 2, 2, "")
	var texts []string
	for _, most := range []int{100_000, 500, 40, 4} {
		c := timeline.NewSmallWindow(run.header, timeline.Span{}, most, 50, 100)
		res := run.play(t, c)
		w := c.Window()
		list := readWindow(t, w)
		if w.Slices > most || w.Arrows > 50 {
			t.Errorf("room for %d: %d slices, %d arrows", most, w.Slices, w.Arrows)
		}
		if together := strings.Contains(w.Note, "taken together"); together != (most < 100_000) || !strings.Contains(w.Note, "have arrows") {
			t.Errorf("room for %d: note %q", most, w.Note)
		}
		clock := make([]float64, len(res.Ranks))
		for _, s := range list {
			if s.begin != clock[s.rank] || s.end < s.begin {
				t.Fatalf("room for %d: %+v after %v s", most, s, clock[s.rank])
			}
			clock[s.rank] = s.end
		}
		for rank, want := range res.Ranks {
			if clock[rank] != want.End {
				t.Errorf("room for %d: rank %d ends at %v s, want %v", most, rank, clock[rank], want.End)
			}
		}
		text, err := json.Marshal(w)
		noError(t, err)
		texts = append(texts, string(text))
	}
	c := timeline.NewSmallWindow(run.header, timeline.Span{}, 40, 50, 100)
	run.play(t, c)
	if again, err := json.Marshal(c.Window()); err != nil || string(again) != texts[2] {
		t.Errorf("the same run gives another window (%v)", err)
	}
}

// TestWindowBeyondTheEnd: a window that goes on when the run has ended, at 2.008 s, is headed by what there is;
// of some ranks by what was asked for, as the others may go on; of one that begins later a note says so.
func TestWindowBeyondTheEnd(t *testing.T) {
	for title, span := range map[string]timeline.Span{
		"the whole run": {To: 9}, "1 s to the end": {From: 1, To: 9}, "1 s to 2 s": {From: 1, To: 2}, "7 s to 8 s": {From: 7, To: 8}, "1 s to 9 s, rank 1": {From: 1, To: 9, FirstRank: 1, Ranks: 1},
	} {
		h := pairHeader()
		c, err := timeline.NewWindow(h, span, true)
		noError(t, err)
		play(t, h, c, pair()...)
		if w := c.Window(); w.Title != title {
			t.Errorf("%v: %q, want %q", span, w.Title, title)
		} else if beyond := span.From > 3; beyond != (w.Slices == 0) ||
			beyond && w.Note != "Nothing is done in the window, 7 s to 8 s: the run ends at 2.00810013 s." {
			t.Errorf("%v: %d slices, %q", span, w.Slices, w.Note)
		}
	}
}

func TestNewWindowRefuses(t *testing.T) {
	for _, c := range []struct {
		h    *trace.Header
		span timeline.Span
	}{
		{&trace.Header{Ranks: 20_000}, timeline.Span{}},
		{&trace.Header{Ranks: 2, Kernels: make([]trace.Kernel, 1<<16)}, timeline.Span{}},
		{&trace.Header{Ranks: 2}, timeline.Span{FirstRank: 2, Ranks: 1}},
	} {
		if _, err := timeline.NewWindow(c.h, c.span, true); err == nil {
			t.Errorf("%d ranks, %d kernels, %v: accepted", c.h.Ranks, len(c.h.Kernels), c.span)
		}
	}
}
