package timeline_test

import (
	"testing"

	"reprise/report/timeline"
	"reprise/trace"
)

func TestParseSpan(t *testing.T) {
	for _, c := range []struct {
		window, ranks string
		want          timeline.Span
		text          string
	}{
		{"", "", timeline.Span{}, "the whole run"},
		{"1.5:2.5", "", timeline.Span{From: 1.5, To: 2.5}, "1.5 s to 2.5 s"},
		{":1e-3", "", timeline.Span{To: 1e-3}, "0 s to 0.001 s"},
		{"2:", "4", timeline.Span{From: 2, FirstRank: 4, Ranks: 1}, "2 s to the end, rank 4"},
		{"step 3:5", "0-63", timeline.Span{FirstStep: 3, EndStep: 5, Ranks: 64}, "steps 3 to 4, ranks 0 to 63"},
		{"step 17", "", timeline.Span{FirstStep: 17, EndStep: 18}, "step 17"},
	} {
		got, err := timeline.ParseSpan(c.window, c.ranks)
		if err != nil || got != c.want || got.String() != c.text {
			t.Errorf("%q %q: %+v, %q, %v; want %+v, %q", c.window, c.ranks, got, got, err, c.want, c.text)
		}
	}
	for _, bad := range [][2]string{
		{"1", ""}, {"2:1", ""}, {"1:1", ""}, {"-1:2", ""}, {"nan:2", ""}, {"1:inf", ""}, {"inf:", ""}, {"x:2", ""}, {"1:2:3", ""}, {"step", ""}, {"step x", ""}, {"step 2:2", ""},
		{"step -1:2", ""}, {"step 1:", ""}, {"steps 1:2", ""}, {"", "x"}, {"", "3-2"}, {"", "-1"}, {"", "1-99999999999"}, {"", "1:2"},
	} {
		if got, err := timeline.ParseSpan(bad[0], bad[1]); err == nil {
			t.Errorf("%q: %+v, want an error", bad, got)
		}
	}
}

func TestSpanCheck(t *testing.T) {
	h := &trace.Header{Ranks: 8, Steps: 10}
	for _, good := range []timeline.Span{{}, {FirstStep: 8, EndStep: 10}, {FirstRank: 7, Ranks: 1}, {From: 1e9}} {
		if err := good.Check(h); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range []timeline.Span{{FirstStep: 10, EndStep: 11}, {FirstStep: 9, EndStep: 11}, {FirstRank: 7, Ranks: 2}} {
		if err := bad.Check(h); err == nil {
			t.Errorf("%v: accepted", bad)
		}
	}
	if err := (timeline.Span{EndStep: 1}).Check(&trace.Header{Ranks: 1}); err == nil {
		t.Error("a step of a trace without steps: accepted")
	}
}

// TestDefaultSpan: two steps in the middle, whole rows of the grid.
func TestDefaultSpan(t *testing.T) {
	grid := func(rows, row int) *trace.Header {
		f := trace.CommFamily{Name: "row"}
		for r := range rows {
			f.Groups = append(f.Groups, trace.Group{Start: int32(r * row), Stride: 1, Count: int32(row)})
		}
		return &trace.Header{Ranks: rows * row, Steps: 100, CommFamilies: []trace.CommFamily{f}}
	}
	for _, c := range []struct {
		h          *trace.Header
		first, end int
		want       timeline.Span
	}{
		{grid(32, 32), 0, 0, timeline.Span{FirstStep: 50, EndStep: 52, Ranks: 64}},
		{grid(40, 25), 0, 0, timeline.Span{FirstStep: 50, EndStep: 52, Ranks: 50}},
		{grid(4, 100), 10, 21, timeline.Span{FirstStep: 15, EndStep: 17, Ranks: 100}},
		{grid(2, 3), 99, 0, timeline.Span{FirstStep: 99, EndStep: 100, Ranks: 6}},
		{&trace.Header{Ranks: 1000}, 0, 0, timeline.Span{Ranks: 64}},
		{&trace.Header{Ranks: 3}, 0, 0, timeline.Span{Ranks: 3}},
	} {
		if got := timeline.DefaultSpan(c.h, c.first, c.end); got != c.want {
			t.Errorf("%d ranks: %+v, want %+v", c.h.Ranks, got, c.want)
		}
	}
}
