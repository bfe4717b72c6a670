package replay_test

import (
	"math"
	"testing"

	"reprise/replay"
	"reprise/replay/sampling"
)

// TestWindowWeight: of steps 0 to 19 the middles of 0:4 and 10:15 are 2 and 12.5, and half-way
// between these is 7.25.
func TestWindowWeight(t *testing.T) {
	e := &replay.Estimate{Estimate: &sampling.Estimate{Windows: []sampling.Window{{Start: 0, To: 4}, {From: 8, Start: 10, To: 15}}}, First: 0, Last: 19}
	if first, second := e.WindowWeight(0), e.WindowWeight(1); first != 7.25 || second != 12.75 {
		t.Errorf("%v and %v steps, want 7.25 and 12.75", first, second)
	}
}

// TestWindowWeightKinds: of 20 steps the first and the last are of a kind of their own, a and c, which
// windows 0:2 and 18:20 have, with one b each, and 9:11 has two b. a and c are there once, so these
// windows are taken once, and the other 8 times for the other 16 b. By what is nearest a stands for 5.
func TestWindowWeightKinds(t *testing.T) {
	const a, b, c = 0, 1, 2
	work := []int32{a, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, c}
	e := &replay.Estimate{Estimate: &sampling.Estimate{Windows: []sampling.Window{{From: 0, To: 2}, {From: 9, Start: 9, To: 11}, {From: 18, Start: 18, To: 20}}}, First: 0, Last: 19}
	e.SetWork(work, []float64{1, 1, 1})
	for i, want := range []float64{2, 16, 2} {
		if got := e.WindowWeight(i); math.Abs(got-want) > 1e-9 {
			t.Errorf("window %d stands for %v steps, want %v", i, got, want)
		}
	}
}

// TestWindowWeightCostlyKinds: a and c are there once, and share the only two windows, 0:2 and 18:20, with one
// b each, of 18: no weights fit all three. Where a takes 100 times as long as b, and c nothing, these must
// be right: once and 17 times, 101*1 + 1*17 = 100 + 18 s. Where all take as long the two are taken
// as often, 5*4 = 20 s, and where all take nothing by what is nearest.
func TestWindowWeightCostlyKinds(t *testing.T) {
	const a, b, c = 0, 1, 2
	work := []int32{a, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, c}
	for _, test := range []struct{ seconds, want []float64 }{
		{[]float64{100, 1, 0}, []float64{2 * 1, 2 * 17}},
		{[]float64{1, 1, 1}, []float64{2 * 5, 2 * 5}},
		{[]float64{0, 0, 0}, []float64{10, 10}},
	} {
		e := &replay.Estimate{Estimate: &sampling.Estimate{Windows: []sampling.Window{{From: 0, To: 2}, {From: 18, Start: 18, To: 20}}}, First: 0, Last: 19}
		e.SetWork(work, test.seconds)
		for i, want := range test.want {
			if got := e.WindowWeight(i); math.Abs(got-want) > 1e-9 {
				t.Errorf("with %v s window %d stands for %v steps, want %v", test.seconds, i, got, want)
			}
		}
	}
}
