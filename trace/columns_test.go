package trace

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestColumnsRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		outer, inner := rng.IntN(20), rng.IntN(20)
		vals := make([]int64, outer*inner)
		for i := range vals {
			vals[i] = randomValue(rng)
		}
		var w columnWriter
		w.add(vals, inner)
		r := columnReader{buf: w.buf, budget: maxValues}
		got := r.table(nil, outer, inner)
		if diff := cmp.Diff(vals, append([]int64{}, got...)); diff != "" || r.err != nil || r.left() != 0 {
			t.Fatalf("%d x %d: %v, %d bytes left\n%s", outer, inner, r.err, r.left(), diff)
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
