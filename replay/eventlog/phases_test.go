package eventlog

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPhaseStack compares a stack with a list, as deep as no program is.
func TestPhaseStack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s phaseStack
	var want []uint16
	for i := range 10_000 {
		phase := uint16(random.IntN(20))
		if at := slices.Index(want, phase); random.IntN(2) == 0 {
			s.begin(phase)
			if at < 0 {
				want = append(want, phase)
			}
		} else {
			s.end(phase)
			if at >= 0 {
				want = slices.Delete(want, at, at+1)
			}
		}
		innermost := int32(-1)
		if len(want) > 0 {
			innermost = int32(want[len(want)-1])
		}
		if got := s.innermost(); got != innermost {
			t.Fatalf("%d: phase %d is innermost, want %d of %v", i, got, innermost, want)
		}
	}
}
