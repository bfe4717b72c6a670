package eventlog

import (
	"math"
	"testing"

	"reprise/trace"
)

// TestTransfer sets transfers that took two seconds, one after the other in the same place, and asks what they were
// bound by and how long they would have taken alone.
func TestTransfer(t *testing.T) {
	const link, bytes = 7, 1e6
	x := Transfer{Carried: 2}
	for _, c := range []struct {
		name         string
		bytes, rate  float64
		alone        float64
		link         int32
		src, dst     int32
		withoutALink bool
	}{
		{name: "half the rate", bytes: bytes, rate: bytes, alone: 1, link: link},
		{name: "all of it", bytes: bytes, rate: bytes / 2, alone: 2, link: -1, src: 3, dst: 4},
		{name: "all but what is rounded", bytes: bytes, rate: bytes / 2 * (1 + 1e-10), alone: 2, link: -1, src: 3, dst: 4},
		{name: "more than is rounded", bytes: bytes, rate: bytes / 2 * (1 + 1e-7), alone: 2 / (1 + 1e-7), link: link},
		{name: "more than alone", bytes: bytes, rate: bytes / 4, alone: 2, link: -1, src: 3, dst: 4},
		{name: "rate not known", bytes: bytes, alone: 0, link: link},
		{name: "no bound alone", bytes: bytes, rate: math.Inf(1), alone: 0, link: link},
		{name: "nothing carried", rate: bytes, alone: 0, link: link},
		{name: "slower, by no link", bytes: bytes, rate: bytes, alone: 1, link: -1, src: 3, dst: 4, withoutALink: true},
	} {
		on := int32(link)
		if c.withoutALink {
			on = -1
		}
		x.Set(3, 4, on, c.bytes, c.rate)
		if got := x.alone(); got != c.alone {
			t.Errorf("%s: %v s alone, want %v", c.name, got, c.alone)
		}
		if got := x.Link(); got != c.link {
			t.Errorf("%s: link %d, want %d", c.name, got, c.link)
		}
		if src, dst := x.Ranks(); c.link < 0 && (src != c.src || dst != c.dst) {
			t.Errorf("%s: between %d and %d, want %d and %d", c.name, src, dst, c.src, c.dst)
		}
	}
}

// TestLastNumbers has the last rank that there may be come to a step, and spend time at the last place.
func TestLastNumbers(t *testing.T) {
	h := &trace.Header{Ranks: 1, Kernels: make([]trace.Kernel, 4095), Phases: make([]string, 1023)}
	log := New(h, 1, 0, byLink{})
	log.Phase(0, 1022, false)
	log.Spend(0, 4095, 0, 2)
	log.records[log.room()] = record{2, log.ranks[0].last, stepped | (trace.MaxRanks - 1)}
	log.ranks[0].last = point(log.put - 1)
	parts, hop := log.Path(0)
	if want := (Component{Account: 4095, Phase: 1022}); len(parts) != 1 || parts[0].Component != want || parts[0].Seconds != 2 || parts[0].Amount != 1 {
		t.Errorf("%+v, want 2 s of %+v", parts, want)
	}
	if hop == nil || hop.Rank != trace.MaxRanks-1 || hop.At != 2 {
		t.Errorf("at a step: %+v, want rank %d at 2 s", hop, trace.MaxRanks-1)
	}
}
