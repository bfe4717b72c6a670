package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/snapshot"
)

// sample has a value of each kind that a codec moves.
type sample struct {
	Small  int8
	Byte   uint8
	Number int64
	Index  int32
	Flag   bool
	Date   float64
	Amount float64
	Text   string
	Dates  []float64
	Nested [][]int32
	Fixed  [3]uint16
}

func (s *sample) Snapshot(c *snapshot.Codec) {
	c.Section("sample", *s)
	snapshot.Int(c, &s.Small)
	snapshot.Int(c, &s.Byte)
	snapshot.Int(c, &s.Number)
	snapshot.Index(c, &s.Index, -1, 100)
	c.Bool(&s.Flag)
	c.Float64(&s.Date)
	c.Amount(&s.Amount)
	c.String(&s.Text, 1<<20)
	snapshot.Slice(c, &s.Dates, 1<<20, func(v *float64) { c.Float64(v) })
	snapshot.Slice(c, &s.Nested, 1<<20, func(list *[]int32) {
		snapshot.Slice(c, list, 1<<20, func(v *int32) { snapshot.Int(c, v) })
	})
	snapshot.Ints(c, s.Fixed[:])
	c.Const("end", 7)
}

// samples are values at the limits of their types, and more of them than a buffer holds.
func samples() []sample {
	large := sample{Text: strings.Repeat("reprise ", 10_000)}
	for i := range 20_000 {
		large.Dates = append(large.Dates, math.Float64frombits(uint64(i)*0x9E3779B97F4A7C15&^(0x7ff<<52)))
		large.Nested = append(large.Nested, []int32{int32(i), -int32(i) << 8})
	}
	return []sample{
		{},
		{math.MinInt8, math.MaxUint8, math.MinInt64, -1, true, math.Inf(-1), 5e-324, "a", []float64{math.Copysign(0, -1), 5e-324}, [][]int32{{math.MinInt32}, {1, 2}}, [3]uint16{1, 2, math.MaxUint16}},
		{math.MaxInt8, 0, math.MaxInt64, 99, false, math.MaxFloat64, math.MaxFloat64, "", nil, nil, [3]uint16{}},
		large,
	}
}

func write(t testing.TB, s sample) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := snapshot.Write(&file, 3, s.Snapshot); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func read(file []byte) (s sample, err error) {
	err = snapshot.Read(bytes.NewReader(file), int64(len(file)), 3, s.Snapshot)
	return s, err
}

func TestRoundTrip(t *testing.T) {
	for i, want := range samples() {
		got, err := read(write(t, want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sample %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestReadRefuses: what is wrong with a file is said.
func TestReadRefuses(t *testing.T) {
	good := write(t, samples()[1])
	other := func(content func(c *snapshot.Codec)) []byte {
		var file bytes.Buffer
		if err := snapshot.Write(&file, 3, content); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	type renamed sample
	for _, c := range []struct {
		name string
		file []byte
		want error
		text string
	}{
		{"empty", nil, snapshot.ErrFormat, "not a checkpoint"},
		{"another file", []byte("<platform/> and more"), snapshot.ErrFormat, "not a checkpoint"},
		{"cut in the head", good[:10], snapshot.ErrCorrupt, "cut off after 10 bytes"},
		{"cut", good[:len(good)-1], snapshot.ErrCorrupt, "checksum"},
		{"longer", append(bytes.Clone(good), 0), snapshot.ErrCorrupt, "checksum"},
		{"a bit", flip(good, len(good)/2), snapshot.ErrCorrupt, "checksum"},
		{"version", flip(good, 8), snapshot.ErrVersion, "format 2, this program reads 3"},
		{"less", other(func(c *snapshot.Codec) { c.Section("sample", sample{}) }), snapshot.ErrCorrupt, "sample: corrupt checkpoint: it ends too early"},
		{"more", other(func(c *snapshot.Codec) { s := samples()[1]; s.Snapshot(c); c.Const("", 1) }), snapshot.ErrCorrupt, "more in it"},
		{"section", other(func(c *snapshot.Codec) { c.Section("simple") }), snapshot.ErrCorrupt, `section "simple" where "sample" begins`},
		{"layout", other(func(c *snapshot.Codec) { c.Section("sample", renamed{}) }), snapshot.ErrLayout, "other fields"},
		{"range", other(func(c *snapshot.Codec) {
			c.Section("sample", sample{})
			c.Const("int8", 1000)
		}), snapshot.ErrCorrupt, "1000 is no int8"},
	} {
		_, err := read(c.file)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v, want %q", c.name, err, c.text)
		}
	}
}

func flip(file []byte, at int) []byte {
	file = bytes.Clone(file)
	file[at] ^= 1
	return file
}

// fullDisk takes so many bytes.
type fullDisk struct{ left int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriteFails: whichever write fails, the error is told.
func TestWriteFails(t *testing.T) {
	s := samples()[3]
	size := len(write(t, s))
	for left := 0; left < size; left += 1 + size/40 {
		if err := snapshot.Write(&fullDisk{left}, 3, s.Snapshot); !errors.Is(err, errFull) {
			t.Errorf("room for %d of %d bytes: %v", left, size, err)
		}
	}
	// What cannot be read cannot be written, and is not changed by the attempt.
	bad := sample{Index: 100}
	if err := snapshot.Write(io.Discard, 3, bad.Snapshot); err == nil || bad.Index != 100 {
		t.Errorf("index %d: %v", bad.Index, err)
	}
	for _, amount := range []float64{-1, math.Inf(1), math.NaN()} {
		bad := sample{Amount: amount}
		if err := snapshot.Write(io.Discard, 3, bad.Snapshot); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Errorf("amount %g: %v", amount, err)
		}
	}
}

// FuzzRead reads any bytes as a file.
func FuzzRead(f *testing.F) {
	for _, s := range samples()[:3] {
		f.Add(write(f, s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := read(file)
		if err != nil {
			return
		}
		if again, err := read(write(t, s)); err != nil || !bytes.Equal(write(t, again), write(t, s)) {
			t.Error("what was read is saved as something else")
		}
	})
}

// FuzzContent reads any bytes as content, which no checksum guards here.
func FuzzContent(f *testing.F) {
	for _, s := range samples()[:3] {
		var content bytes.Buffer
		c := snapshot.NewWriter(&content)
		s.Snapshot(c)
		if err := c.Flush(); err != nil {
			f.Fatal(err)
		}
		f.Add(content.Bytes())
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var s sample
		c := snapshot.NewReader(bytes.NewReader(content))
		s.Snapshot(c)
		if n := len(s.Text) + 8*len(s.Dates) + len(s.Nested); n > len(content) {
			t.Errorf("%d bytes of values from %d", n, len(content))
		}
	})
}

// foreign is state of a type that knows no codec.
type foreign struct{ text string }

func (f *foreign) SaveState(w io.Writer) error {
	_, err := io.WriteString(w, f.text)
	return err
}

func (f *foreign) RestoreState(r io.Reader) error {
	text := make([]byte, len(f.text))
	_, err := io.ReadFull(r, text)
	f.text = string(text)
	return err
}

// TestPart: the state of a part lies between what is moved before and behind it, whether the
// part knows codecs or not.
func TestPart(t *testing.T) {
	own := &counters{[]int64{3, 1 << 40}}
	other := &foreign{strings.Repeat("some text\n", 10_000)}
	before, behind := 1.5, 7
	move := func(c *snapshot.Codec) {
		c.Float64(&before)
		c.Part(own)
		c.Part(other)
		snapshot.Int(c, &behind)
	}
	var file bytes.Buffer
	if err := snapshot.Save(&file, move); err != nil {
		t.Fatal(err)
	}
	want := other.text
	own.list, before, behind, other.text = nil, 0, 0, strings.Repeat(" ", len(want))
	if err := snapshot.Restore(bytes.NewReader(file.Bytes()), move); err != nil {
		t.Fatal(err)
	}
	if before != 1.5 || behind != 7 || other.text != want || !slices.Equal(own.list, []int64{3, 1 << 40}) {
		t.Errorf("%v, %v, %v, text the same: %v", before, own.list, behind, other.text == want)
	}
	err := snapshot.Restore(bytes.NewReader(file.Bytes()[:file.Len()/2]), move)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half of a part: %v", err)
	}
}

// counters is state of a type that has a codec's method.
type counters struct{ list []int64 }

func (n *counters) SaveState(w io.Writer) error    { return snapshot.Save(w, n.snapshot) }
func (n *counters) RestoreState(r io.Reader) error { return snapshot.Restore(r, n.snapshot) }
func (n *counters) snapshot(c *snapshot.Codec) {
	snapshot.Slice(c, &n.list, 10, func(v *int64) { snapshot.Int(c, v) })
}
