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

type kind uint8

// sample has a value of each type that a State moves.
type sample struct {
	Small  int8
	Number int64
	None   uint32
	Kind   kind
	Flag   bool
	Time   float64
	Text   string
	Times  []float64
	Nested [][]int32
	Fixed  [3]uint16
	Pairs  []pair
}

type pair struct {
	Name  string
	Value uint64
}

func (v *sample) state(s *snapshot.State) {
	s.Section("sample")
	s.Vars(&v.Small, &v.Number, &v.None, &v.Kind, &v.Flag, &v.Time, &v.Text, &v.Times, &v.Nested, &v.Fixed)
	snapshot.Slice(s, &v.Pairs, func(p *pair) { s.Vars(p) })
}

// samples are values at the limits of their types, and more of them than a buffer holds.
func samples() []sample {
	large := sample{Text: strings.Repeat("reprise ", 10_000)}
	for i := range 20_000 {
		large.Times = append(large.Times, math.Float64frombits(uint64(i)*0x9E3779B97F4A7C15&^(0x7ff<<52)))
		large.Nested = append(large.Nested, []int32{int32(i), -int32(i) << 8})
	}
	return []sample{
		{},
		{math.MinInt8, math.MinInt64, math.MaxUint32, 255, true, math.Inf(-1), "a", []float64{math.Copysign(0, -1), 5e-324},
			[][]int32{{math.MinInt32}, {1, 2}}, [3]uint16{1, 2, math.MaxUint16}, []pair{{"b", math.MaxUint64}, {"", 0}}},
		{math.MaxInt8, math.MaxInt64, math.MaxInt32, 0, false, math.MaxFloat64, "", nil, nil, [3]uint16{}, nil},
		large,
	}
}

func write(t testing.TB, move func(*snapshot.State)) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := snapshot.Write(&file, 3, move); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func read(file []byte) (v sample, err error) {
	err = snapshot.Read(bytes.NewReader(file), int64(len(file)), 3, v.state)
	return v, err
}

func TestRoundTrip(t *testing.T) {
	for i, want := range samples() {
		got, err := read(write(t, want.state))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sample %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestSliceInPlace: elements of a slice of the same length keep fields that are not moved.
func TestSliceInPlace(t *testing.T) {
	list := []pair{{"a", 1}, {"b", 2}}
	move := func(s *snapshot.State) {
		snapshot.Slice(s, &list, func(p *pair) { s.Vars(&p.Value) })
	}
	file := write(t, move)
	for _, c := range []struct{ have, want []pair }{
		{[]pair{{"c", 3}, {"d", 4}}, []pair{{"c", 1}, {"d", 2}}},
		{[]pair{{"c", 3}}, []pair{{"", 1}, {"", 2}}},
	} {
		list = c.have
		if err := snapshot.Read(bytes.NewReader(file), int64(len(file)), 3, move); err != nil || !slices.Equal(list, c.want) {
			t.Errorf("%v, error %v, want %v", list, err, c.want)
		}
	}
}

// TestReadRefuses: the error names what is wrong with a file.
func TestReadRefuses(t *testing.T) {
	v := samples()[1]
	good := write(t, v.state)
	flip := func(at int) []byte {
		file := bytes.Clone(good)
		file[at] ^= 1
		return file
	}
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
		{"a bit", flip(len(good) / 2), snapshot.ErrCorrupt, "checksum"},
		{"version", flip(8), snapshot.ErrVersion, "format 2, this program reads 3"},
		{"less", write(t, func(s *snapshot.State) { s.Section("sample") }), snapshot.ErrCorrupt, "sample: corrupt checkpoint: it ends too early"},
		{"more", write(t, func(s *snapshot.State) { v.state(s); s.Vars(&v.Small) }), snapshot.ErrCorrupt, "more content behind it"},
		{"section", write(t, func(s *snapshot.State) { s.Section("simple") }), snapshot.ErrCorrupt, `"simple" in place of the part "sample"`},
	} {
		_, err := read(c.file)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v, want %q", c.name, err, c.text)
		}
	}
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

// TestWriteFails: whichever write fails, its error is returned, and the state stays as it is.
func TestWriteFails(t *testing.T) {
	v := samples()[3]
	size := len(write(t, v.state))
	for left := 0; left < size; left += 1 + size/40 {
		if err := snapshot.Write(&fullDisk{left}, 3, v.state); !errors.Is(err, errFull) {
			t.Errorf("room for %d of %d bytes: %v", left, size, err)
		}
	}
}

// foreign is a part whose state does not use this package.
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

// own is a part whose state does.
type own struct{ list []int64 }

func (o *own) SaveState(w io.Writer) error    { return snapshot.Save(w, o.state) }
func (o *own) RestoreState(r io.Reader) error { return snapshot.Restore(r, o.state) }
func (o *own) state(s *snapshot.State)        { s.Vars(&o.list) }

// TestPart: the state of a part lies between the variables before and behind it.
func TestPart(t *testing.T) {
	a, b := &own{[]int64{3, 1 << 40}}, &foreign{strings.Repeat("some text\n", 10_000)}
	before, behind := 1.5, 7
	move := func(s *snapshot.State) {
		s.Vars(&before)
		s.Part(a)
		s.Part(b)
		s.Vars(&behind)
	}
	var file bytes.Buffer
	if err := snapshot.Save(&file, move); err != nil {
		t.Fatal(err)
	}
	want := b.text
	a.list, before, behind, b.text = nil, 0, 0, strings.Repeat(" ", len(want))
	if err := snapshot.Restore(bytes.NewReader(file.Bytes()), move); err != nil {
		t.Fatal(err)
	}
	if before != 1.5 || behind != 7 || b.text != want || !slices.Equal(a.list, []int64{3, 1 << 40}) {
		t.Errorf("%v, %v, %v, text the same: %v", before, a.list, behind, b.text == want)
	}
	err := snapshot.Restore(bytes.NewReader(file.Bytes()[:file.Len()/2]), move)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half of a part: %v", err)
	}
}

// TestLayout: another field, in a type that is reached through another one, is another layout.
func TestLayout(t *testing.T) {
	type inner struct{ A, B int }
	type outer struct{ List []*inner }
	first := snapshot.Layout(outer{})
	{
		type inner struct{ A, C int }
		type outer struct{ List []*inner }
		if snapshot.Layout(outer{}) == first {
			t.Error("the layout does not show a field's name")
		}
	}
	type word int32
	type pair [2]int8
	type named struct {
		Word word
		Pair pair
	}
	second := snapshot.Layout(named{})
	{
		type word int64
		type named struct {
			Word word
			Pair pair
		}
		if snapshot.Layout(named{}) == second {
			t.Error("the layout does not show what a named number is")
		}
	}
	{
		type pair [3]int8
		type named struct {
			Word word
			Pair pair
		}
		if snapshot.Layout(named{}) == second {
			t.Error("the layout does not show the length of a named array")
		}
	}
	if snapshot.Layout(outer{}) != first || snapshot.Layout(sample{}) == first {
		t.Errorf("layout %s", first)
	}
}
