package replay_test

import (
	"testing"

	"reprise/replay"
	"reprise/replay/sampling"
)

// TestStandsFor: of steps 0 to 19 the middles of 0:4 and 10:15 are 2 and 12.5, and half-way
// between these is 7.25.
func TestStandsFor(t *testing.T) {
	e := &replay.Estimate{Estimate: &sampling.Estimate{Windows: []sampling.Window{{Start: 0, To: 4}, {From: 8, Start: 10, To: 15}}}, First: 0, Last: 19}
	if first, second := e.StandsFor(0), e.StandsFor(1); first != 7.25 || second != 12.75 {
		t.Errorf("%v and %v steps, want 7.25 and 12.75", first, second)
	}
}
