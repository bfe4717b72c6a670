package trace

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace/vectors"
)

// TestCodings packs the table
//
//	10 12
//	11 13
//
// by hand. Signed varints are zigzag: 10 -> 20, 1 -> 2, 2 -> 4, 0 -> 0.
func TestCodings(t *testing.T) {
	table := []int64{10, 12, 11, 13}
	for c, want := range map[coding][]byte{
		codePlain:    {10, 12, 11, 13},
		codeSigned:   {20, 24, 22, 26},
		codeCalls:    {20, 4, 2, 4}, // 10, 12-10, 11-10 (above: no call before), 13-11
		codeClasses:  {20, 4, 2, 2}, // 10, 12-10 (before: no class above), 11-10, 13-12
		codeDiagonal: {20, 4, 2, 6}, // 10, 12-10, 11-10, 13-10
	} {
		want = append([]byte{byte(c)}, want...)
		var w columnWriter
		if !w.tokenize(table, 2, c) {
			t.Errorf("coding %d is refused", c)
		}
		if diff := cmp.Diff(want, w.pack(nil, c)); diff != "" {
			t.Errorf("coding %d\n%s", c, diff)
		}
		r := columnReader{buf: want, budget: 4}
		if diff := cmp.Diff(table, r.table(nil, 2, 2)); diff != "" || r.err != nil || r.left() != 0 {
			t.Errorf("coding %d: %v\n%s", c, r.err, diff)
		}
	}
}

// Zeros are followed by how many more follow, if that is shorter.
func TestRuns(t *testing.T) {
	for _, test := range []struct {
		vals []int64
		want []byte
	}{
		{[]int64{7, 0, 0, 0, 0, 5}, []byte{8, 7, 0, 3, 5}},
		{[]int64{0, 0, 0, 0}, []byte{8, 0, 3}},
		{[]int64{7, 0, 0, 5}, []byte{0, 7, 0, 0, 5}}, // runs would be as long
		{[]int64{7, 0, 5}, []byte{0, 7, 0, 5}},
		{make([]int64, 201), []byte{8, 0, 200, 1}}, // 200 = 0x48 + 128
	} {
		var w columnWriter
		w.tokenize(test.vals, 1, codePlain)
		got := w.pack(nil, codePlain)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v\n%s", test.vals, diff)
		}
		r := columnReader{buf: got, budget: len(test.vals)}
		if diff := cmp.Diff(test.vals, r.table(nil, len(test.vals), 1)); diff != "" || r.err != nil || r.left() != 0 {
			t.Errorf("%v: %v\n%s", test.vals, r.err, diff)
		}
	}
}

func TestCodingIsChosenByContent(t *testing.T) {
	rows := func(f func(class, call int) int64) []int64 {
		vals := make([]int64, 40*64)
		for i := range vals {
			vals[i] = f(i/64, i%64)
		}
		return vals
	}
	for name, test := range map[string]struct {
		vals []int64
		want coding
	}{
		"small random counts":                     {rows(func(k, c int) int64 { return int64(random(k, c) % 16) }), codePlain},
		"random of both signs":                    {rows(func(k, c int) int64 { return int64(random(k, c)%16) - 8 }), codeSigned},
		"one value per class, changing at random": {rows(func(k, _ int) int64 { return int64(random(k, 0) % 1e6) }), codeCalls},
		"one value per call, changing at random":  {rows(func(_, c int) int64 { return int64(random(0, c) % 1e6) }), codeClasses},
		"distance to a moving root":               {rows(func(k, c int) int64 { return int64(random(1, (k-c+64)%64) % 1e6) }), codeDiagonal},
	} {
		var w columnWriter
		w.add(test.vals, 64)
		if got := coding(w.buf[0]) &^ codeRuns; got != test.want {
			t.Errorf("%s: coding %d, want %d", name, got, test.want)
		}
	}
}

// randomValue is small, large or extreme.
func randomValue(rng *rand.Rand) int64 {
	switch rng.IntN(8) {
	case 0:
		return math.MinInt64
	case 1:
		return math.MaxInt64
	case 2:
		return int64(rng.Uint64())
	}
	return rng.Int64N(200) - 20
}

func TestColumnReaderRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		buf          []byte
		outer, inner int
	}{
		"no coding":          {nil, 1, 1},
		"unknown coding":     {[]byte{byte(numCodings), 0}, 1, 1},
		"unknown bit":        {[]byte{16, 0}, 1, 1},
		"too few bytes":      {[]byte{0, 1, 2}, 3, 1},
		"product overflows":  {[]byte{0, 1, 2}, math.MaxInt, math.MaxInt},
		"many rows":          {[]byte{0, 1, 2}, math.MaxInt, 1},
		"more than allowed":  {[]byte{8, 0, 0xe8, 7}, 1001, 1},
		"too many zeros":     {[]byte{8, 1, 0, 3}, 4, 1},
		"no number of zeros": {[]byte{8, 1, 0}, 4, 1},
		"endless zeros":      {[]byte{8, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 4, 1},
		"unfinished varint":  {[]byte{0, 1, 0x80}, 2, 1},
		"varint of 70 bits":  {[]byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 1, 1},
		"negative and plain": {[]byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 1, 1},
	} {
		r := columnReader{buf: test.buf, budget: 1000}
		if got := r.table(nil, test.outer, test.inner); r.err == nil || len(got) != 0 {
			t.Errorf("%s: %d values, error %v", name, len(got), r.err)
		}
	}
}

func FuzzColumns(f *testing.F) {
	f.Add([]byte{0, 10, 12, 11, 13}, uint16(2), uint16(2))
	f.Add([]byte{3, 20, 4, 2, 2}, uint16(2), uint16(2))
	f.Add([]byte{4, 20, 4, 2, 6, 0}, uint16(2), uint16(2))
	f.Add([]byte{2, 0xff, 0x80}, uint16(1), uint16(65535))
	f.Fuzz(func(t *testing.T, data []byte, outer, inner uint16) {
		r := columnReader{buf: data, budget: 1 << 20}
		vals := r.table(nil, int(outer), int(inner))
		if r.err != nil {
			return
		}
		var w columnWriter
		w.add(vals, int(inner))
		again := columnReader{buf: w.buf, budget: maxValues}
		if diff := cmp.Diff(vals, again.table(nil, int(outer), int(inner))); diff != "" || again.err != nil || again.left() != 0 {
			t.Fatalf("%v\n%s", again.err, diff)
		}
	})
}

// generatedTrace is the example with a second vector, which a kind makes.
func generatedTrace(t *testing.T) *Trace {
	var buf bytes.Buffer
	w := must(NewWriter(&buf, exampleHeader(), WriterOptions{}))
	for step, v := range []Vector{{Values: []int64{5, 7}}, {Generated: vectors.PivotOwners{Seed: 2, Count: 3, Rows: 9, Block: 1, Owners: 1}.Generated()}} {
		check(t, w.Step(step))
		check(t, w.Call(&Call{Blocks: []int64{NoBlock, NoBlock}, Args: [][]int64{{0}, {w.Vector(v)}}}))
	}
	check(t, w.Close())
	return must(NewReader(&buf, "x"))
}

// The columns of generatedTrace's chunk: block by rank, bytes, vectors 0 and 1, then two
// vectors, a stated one of 2 elements and one of 3 that the chunk's first generator makes.
var generatedColumns = []byte{
	0, 0, 0, 0, 0, // no block: 2 ranks, 2 calls
	0, 0, 0, // bytes
	0, 0, 1, // vectors
	0, 0, 1, // kinds
	0, 2, 3, // counts
	0, 5, 7, // elements
	0, 2, 0, 0, 0, 9, 0, 1, 0, 1, // seed, first, rows, block, owners
}

func TestChunksWithBadVectors(t *testing.T) {
	pivots := "pivot-owners/1"
	for name, test := range map[string]struct {
		at         int // byte of the columns that changes
		to         byte
		generators []string
		want       string
	}{
		"good":               {0, 0, []string{pivots}, ""},
		"unknown kind":       {0, 0, []string{"pivot-owners/2"}, `generator "pivot-owners/2", which the features do not list`},
		"no kind":            {0, 0, nil, "vector 1: generator 0 of the chunk's, 0 seen so far of 0"},
		"kind twice":         {0, 0, []string{pivots, pivots}, "2 generators, but only 1 are used"},
		"kinds out of order": {13, 2, []string{pivots, "pivot-owners/2"}, "vector 1: generator 1 of the chunk's, 0 seen so far of 2"},
		"bad argument":       {25, 2, []string{pivots}, "vector 1: pivot-owners/1: columns [0,0+3) of 2 rows"},
		"too many elements":  {15, 127, []string{pivots}, "corrupt"},
	} {
		tr := generatedTrace(t)
		columns := bytes.Clone(generatedColumns)
		columns[test.at] = test.to
		m := chunkMessage{steps: []uint32{0, 1}, shapes: []uint32{0, 0}, shapeSizes: []uint32{1}, sites: []uint32{0},
			vectors: 2, columns: columns, generators: test.generators}
		plain, err := marshal(m.wire)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = tr.unpack.decode(plain, &frame{kind: kindChunk, count: 2, last: 1})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want …%s…", name, err, test.want)
		}
		if test.want == "" && tr.unpack.digest.sum() != tr.pending.hash {
			t.Errorf("%s: not the chunk of the trace", name)
		}
	}
}
