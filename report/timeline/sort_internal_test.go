package timeline

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSorter: with room for all, and with runs in a file, lines come in the order of time, and
// those of one time as they were added.
func TestSorter(t *testing.T) {
	type line struct {
		time float64
		text string
	}
	random := rand.New(rand.NewPCG(1, 2))
	var lines []line
	for i := range 5000 {
		lines = append(lines, line{float64(random.IntN(700)) / 8, fmt.Sprintf("line %d\n", i)})
	}
	want := slices.Clone(lines)
	slices.SortStableFunc(want, func(a, b line) int { return cmp.Compare(a.time, b.time) })
	for _, room := range []int{sorterRoom, 2000, 10} {
		s := newSorter()
		s.room = room
		for _, l := range lines {
			if err := s.add(l.time, []byte(l.text)); err != nil {
				t.Fatal(err)
			}
		}
		if spilled := s.file != nil; spilled != (room < sorterRoom) {
			t.Errorf("room of %d bytes: a file %v", room, spilled)
		}
		i := 0
		if err := s.each(func(got []byte) error {
			if i < len(want) && string(got) != want[i].text {
				return fmt.Errorf("line %d is %q, want %q", i, got, want[i].text)
			}
			i++
			return nil
		}); err != nil || i != len(want) {
			t.Errorf("room of %d bytes: %d lines, want %d: %v", room, i, len(want), err)
		}
	}
}

// TestSorterFails: what cannot be kept, or used, is an error.
func TestSorterFails(t *testing.T) {
	t.Setenv("TMPDIR", "/nonexistent")
	s := newSorter()
	s.room = 1
	if err := s.add(1, []byte("x\n")); err == nil {
		t.Error("kept without a place for the file")
	}
	if err := s.each(func([]byte) error { return nil }); err == nil {
		t.Error("the error is gone")
	}
	s = newSorter()
	if err := s.add(1, []byte("x\n")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	if err := s.each(func([]byte) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}
