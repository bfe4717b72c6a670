package eventqueue

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/internal/snapshot"
)

// TestQueue compares a queue with a search through all times, as entries are
// added, moved and removed.
func TestQueue(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for round := range 200 {
		n := 1 + random.IntN(70)
		times := make([]float64, n)
		for i := range times {
			times[i] = math.Inf(1)
		}
		a := New(n)
		for range 500 {
			i := int32(random.IntN(len(times)))
			switch random.IntN(4) {
			case 0:
				a.Clear(i)
				times[i] = math.Inf(1)
			case 1:
				times[i] = float64(random.IntN(5)) // draws
				a.Set(i, times[i])
			default:
				times[i] = random.Float64()
				a.Set(i, times[i])
			}
			if random.IntN(100) == 0 {
				times = append(times, math.Inf(1))
				a.Grow(len(times))
			}
			first := 0
			for k, at := range times {
				if at < times[first] {
					first = k
				}
			}
			if a.Next() != times[first] {
				t.Fatalf("round %d: next at %g, want %g", round, a.Next(), times[first])
			}
			if !math.IsInf(times[first], 1) && a.First() != int32(first) {
				t.Fatalf("round %d: first is %d, want %d", round, a.First(), first)
			}
			if a.Time(i) != times[i] {
				t.Fatalf("round %d: time %g, want %g", round, a.Time(i), times[i])
			}
		}
	}
}

// TestNegativeZero: -0 is a time, and the same as 0.
func TestNegativeZero(t *testing.T) {
	a := New(3)
	a.Set(0, 0)
	a.Set(1, 1)
	a.Set(0, math.Copysign(0, -1))
	if a.First() != 0 || a.Next() != 0 {
		t.Errorf("first is %d at %g", a.First(), a.Next())
	}
}

// TestState: a queue that is restored has the times that were saved.
func TestState(t *testing.T) {
	a := New(5)
	a.Set(3, 2)
	a.Set(1, 7)
	a.Set(4, 0)
	var file bytes.Buffer
	if err := snapshot.Save(&file, func(s *snapshot.State) { a.State(s, 5) }); err != nil {
		t.Fatal(err)
	}
	var b Queue
	if err := snapshot.Restore(&file, func(s *snapshot.State) { b.State(s, 5) }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int32{4, 3, 1} {
		if got := b.Pop(); got != want {
			t.Errorf("%d is next, want %d", got, want)
		}
	}
	if !math.IsInf(b.Next(), 1) {
		t.Errorf("%g is left", b.Next())
	}
}

// BenchmarkPutOff moves the first of 512 times among 1,024 entries to a later time.
func BenchmarkPutOff(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	var steps [4096]float64
	for i := range steps {
		steps[i] = 1e-6 * (1 + 50*random.Float64())
	}
	a := New(1024)
	for i := range int32(512) {
		a.Set(2*i, steps[i])
	}
	for i := range b.N {
		a.Set(a.First(), a.Next()+steps[i&4095])
	}
}
