package tracegen_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

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
	g, err := tracegen.New(t.Context(), &file, header(), 2, func(done, all int) { told = append(told, done, all) })
	if err != nil {
		t.Fatal(err)
	}
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
		g, err := tracegen.New(t.Context(), &bytes.Buffer{}, header(), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
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
	g, err := tracegen.New(ctx, &bytes.Buffer{}, header(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := g.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := tracegen.New(t.Context(), &bytes.Buffer{}, &trace.Header{}, 1, nil); !errors.Is(err, trace.ErrHeader) {
		t.Errorf("error %v", err)
	}
}

// TestGroups: the rows and columns of a grid of 2 by 3 ranks, row by row.
func TestGroups(t *testing.T) {
	members := func(groups []trace.Group) (list [][]int32) {
		for _, g := range groups {
			var ranks []int32
			for i := range g.Len() {
				ranks = append(ranks, g.Member(i))
			}
			list = append(list, ranks)
		}
		return list
	}
	equal := func(a, b [][]int32) bool { return slices.EqualFunc(a, b, slices.Equal[[]int32]) }
	if got := members(tracegen.Groups(2, 3, 1, 3)); !equal(got, [][]int32{{0, 1, 2}, {3, 4, 5}}) {
		t.Errorf("rows %v", got)
	}
	if got := members(tracegen.Groups(3, 1, 3, 2)); !equal(got, [][]int32{{0, 3}, {1, 4}, {2, 5}}) {
		t.Errorf("columns %v", got)
	}
}
