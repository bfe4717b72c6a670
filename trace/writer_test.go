package trace

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"reprise/trace/vectors"
)

// listHeader has 4 ranks in 2 groups and two call sites: one block for all with a
// vector, and a list per group.
func listHeader() *Header {
	h := &Header{Program: "test", Ranks: 4, Steps: 9}
	h.CommFamilies = []CommFamily{{Name: "pair", Groups: []Group{{Start: 0, Stride: 1, Count: 2}, {Start: 2, Stride: 1, Count: 2}}}}
	h.Axes = []Axis{{Name: "all"}, {Name: "pair", Kind: AxisFamily}, {Name: "rank", Kind: AxisRank}}
	h.CallSites = []CallSite{
		{Name: "one", Masks: []int{1}, Counts: NoAxis, Block: 0, Params: []ParamColumn{{Name: "v", Axis: 0, Vector: true}}},
		{Name: "many", Counts: 1, Block: PerItem, Params: []ParamColumn{{Name: "n", Axis: PerItem}, {Name: "m", Axis: 2}}},
	}
	return h
}

// listWriter has blocks 0 of one and 1 of two parameters, and vector 0.
func listWriter(t *testing.T, out io.Writer) *Writer {
	w := must(NewWriter(out, listHeader(), WriterOptions{ChunkUnits: 2}))
	for params := 1; params <= 2; params++ {
		must(w.Program().Add(NewBuilder("b", params)))
	}
	w.Vector(Vector{Values: []int64{1, 2}})
	return w
}

func oneCall() *Call {
	return &Call{Site: 0, Masks: [][]int64{{1, 0}}, Blocks: []int64{0}, Args: [][]int64{{0}}}
}

func manyCall() *Call {
	return &Call{Site: 1, Counts: []int64{2, 1}, Blocks: []int64{0, 1, NoBlock}, Args: [][]int64{{7, 8, 9}, {1, 2, 3, 4}}}
}

func TestWriterRefusesBadCalls(t *testing.T) {
	for name, test := range map[string]struct {
		call   *Call
		mutate func(*Call)
		want   string
	}{
		"no call site":       {oneCall(), func(c *Call) { c.Site = 2 }, `call site 2 out of [0,2)`},
		"negative call site": {oneCall(), func(c *Call) { c.Site = -1 }, `call site -1 out of [0,2)`},
		"no masks":           {oneCall(), func(c *Call) { c.Masks = nil }, `call site "one": 0 masks and 1 arguments, want 1 and 1`},
		"no arguments":       {oneCall(), func(c *Call) { c.Args = nil }, `call site "one": 1 masks and 0 arguments, want 1 and 1`},
		"counts":             {oneCall(), func(c *Call) { c.Counts = []int64{1} }, `call site "one": counts, but the call site has no column of them`},
		"short mask":         {oneCall(), func(c *Call) { c.Masks[0] = []int64{1} }, `call site "one": column "mask pair": 1 values, want 2`},
		"two blocks":         {oneCall(), func(c *Call) { c.Blocks = []int64{0, 0} }, `call site "one": column "block": 2 values, want 1`},
		"unknown block":      {oneCall(), func(c *Call) { c.Blocks[0] = 2 }, `call site "one": column "block": value 0: block 2 out of [0,2)`},
		"negative block":     {oneCall(), func(c *Call) { c.Blocks[0] = -2 }, `call site "one": column "block": value 0: block -2 out of [0,2)`},
		"too few arguments":  {oneCall(), func(c *Call) { c.Blocks[0] = 1 }, `call site "one": column "block": value 0: block 1 takes 2 arguments, the call site has 1`},
		"unknown vector":     {oneCall(), func(c *Call) { c.Args[0][0] = 1 }, `call site "one": column "v": value 0: vector 1 out of [0,1)`},
		"negative vector":    {oneCall(), func(c *Call) { c.Args[0][0] = -1 }, `call site "one": column "v": value 0: vector -1 out of [0,1)`},
		"short counts":       {manyCall(), func(c *Call) { c.Counts = []int64{3} }, `call site "many": column "count": 1 values, want 2`},
		"negative count":     {manyCall(), func(c *Call) { c.Counts[0] = -1 }, `call site "many": column "count": class 0: -1 items after 0, at most 1073741824 in all`},
		"counts overflow":    {manyCall(), func(c *Call) { c.Counts = []int64{1, math.MaxInt64} }, `call site "many": column "count": class 1: 9223372036854775807 items after 1, at most 1073741824 in all`},
		"more counted":       {manyCall(), func(c *Call) { c.Counts[1] = 2 }, `call site "many": column "block": 3 values, want 4`},
		"short list":         {manyCall(), func(c *Call) { c.Args[0] = c.Args[0][1:] }, `call site "many": column "n": 2 values, want 3`},
		"short rank column":  {manyCall(), func(c *Call) { c.Args[1] = nil }, `call site "many": column "m": 0 values, want 4`},
	} {
		var buf bytes.Buffer
		w := listWriter(t, &buf)
		check(t, w.Step(0))
		test.mutate(test.call)
		if err := w.Call(test.call); err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, test.want)
		}
		for _, good := range []*Call{oneCall(), manyCall()} { // the writer goes on
			if err := w.Call(good); err != nil {
				t.Errorf("%s: then %v", name, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if err := readStream(buf.Bytes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWriterRefusesBadGenerated(t *testing.T) {
	w := listWriter(t, io.Discard)
	check(t, w.Step(0))
	c := oneCall()
	c.Args[0][0] = w.Vector(Vector{Generated: vectors.PivotOwners{Count: 1, Rows: 9, Block: 1, Owners: 1}.Generated()})
	check(t, w.Call(c))
	for want, d := range map[string]vectors.PivotOwners{
		"blocks of 0 rows":      {Count: 1, Rows: 9, Owners: 1},
		"have 4194305 elements": {Count: MaxElements, Rows: MaxElements, Block: 1, Owners: 1}, // 2^22 and the one above
	} {
		c.Args[0][0] = w.Vector(Vector{Generated: d.Generated()})
		if err := w.Call(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want …%s…", d, err, want)
		}
	}
}

func TestWriterOrder(t *testing.T) {
	w := listWriter(t, io.Discard)
	if err := w.Call(oneCall()); err == nil || err.Error() != "call before the first step" {
		t.Error(err)
	}
	for _, step := range []int{3, 3, 3, 5} {
		check(t, w.Step(step))
	}
	for step, want := range map[int]string{4: "step 4 after step 5", -1: "step -1 out of [0,2147483647]", math.MaxInt32 + 1: "step 2147483648 out of [0,2147483647]"} {
		if err := w.Step(step); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if got, want := w.Totals().Units, int64(4); got != want {
		t.Errorf("%d units, want %d", got, want)
	}
	check(t, w.Close())
	for _, err := range []error{w.Close(), w.Step(9), w.Call(oneCall())} {
		if !errors.Is(err, errClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

func TestWriterRefusesHeaders(t *testing.T) {
	bad := listHeader()
	bad.Ranks = 5
	if _, err := NewWriter(io.Discard, bad, WriterOptions{}); !errors.Is(err, ErrHeader) {
		t.Errorf("ranks in no group: %v", err)
	}
	bad = listHeader()
	bad.Program = "\xff"
	if _, err := NewWriter(io.Discard, bad, WriterOptions{}); err == nil {
		t.Error("a name that is not UTF-8 is accepted")
	}
	for _, n := range []int{-1, maxUnits + 1} {
		if _, err := NewWriter(io.Discard, listHeader(), WriterOptions{ChunkUnits: n}); err == nil {
			t.Errorf("chunks of %d units are accepted", n)
		}
	}
}

// full is a disk that takes n bytes.
type full struct{ n int }

var errFull = errors.New("disk full")

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.n {
		return 0, errFull
	}
	f.n -= len(b)
	return len(b), nil
}

func TestWriterKeepsErrors(t *testing.T) {
	data := small(t)
	for n := 0; n < len(data); n += 97 {
		w, err := NewWriter(&full{n}, listHeader(), WriterOptions{ChunkUnits: 1})
		for step := 0; err == nil && step < 200; step++ {
			if err = w.Step(step); err != nil && !errors.Is(w.Step(step), errFull) {
				t.Fatalf("%d bytes: the error is forgotten", n)
			}
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

func TestForgetVectors(t *testing.T) {
	var buf bytes.Buffer
	w := listWriter(t, &buf)
	use := func(step int, handle int64) error {
		check(t, w.Step(step))
		c := oneCall()
		c.Args[0][0] = handle
		return w.Call(c)
	}
	check(t, use(0, 0))
	second := w.Vector(Vector{Values: []int64{3}})
	w.ForgetVectors(second) // ignored: the chunk needs vector 0
	for step := 1; step <= 2; step++ {
		check(t, use(step, second))
	}
	w.ForgetVectors(second)
	if err := use(3, 0); err == nil || !strings.Contains(err.Error(), "vector 0 out of [1,2)") {
		t.Errorf("forgotten vector: %v", err)
	}
	if err := use(4, second); err != nil {
		t.Error(err)
	}
	check(t, w.Close())
	tr := must(NewReader(&buf, "x"))
	all, err := readStated(tr, 0)
	if err != nil || len(all) != 4 || all[3].Vectors[0][0] != 3 || len(all[0].Vectors[0]) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// A chunk is cut before the 64th unit when it is large.
func TestLargeChunksAreCut(t *testing.T) {
	h := &Header{Program: "wide", Ranks: chunkValues / 4, Axes: []Axis{{Name: "rank", Kind: AxisRank}}}
	h.CallSites = []CallSite{{Name: "t", Counts: NoAxis, Block: 0}}
	var buf bytes.Buffer
	w := must(NewWriter(&buf, h, WriterOptions{}))
	blocks := make([]int64, h.Ranks)
	for i := range blocks {
		blocks[i] = NoBlock
	}
	for step := range 9 {
		check(t, w.Step(step))
		check(t, w.Call(&Call{Blocks: blocks}))
	}
	check(t, w.Close())
	if got := w.Totals().Chunks; got != 3 { // 4, 4 and 1 units
		t.Errorf("%d chunks, want 3", got)
	}
	if err := readStream(buf.Bytes()); err != nil {
		t.Error(err)
	}
}
