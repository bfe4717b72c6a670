package eventlog

import (
	"math"
	"testing"

	"reprise/trace"
)

// byLink has a level for each of four links, and one for transfers without.
type byLink struct{}

func (byLink) NumLevels() int          { return 5 }
func (byLink) Level(t *Transfer) int32 { return t.Link() + 1 }

// path is what one spends on components.
type path map[Component]spent

type spent struct{ seconds, amount float64 }

func (p path) add(c Component, seconds, amount float64) {
	p[c] = spent{p[c].seconds + seconds, p[c].amount + amount}
}

// compare compares the path of a rank, which adds up to its clock.
func compare(t *testing.T, r int, parts []Part, want path, clock float64) {
	t.Helper()
	sum := 0.0
	for _, p := range parts {
		sum += p.Seconds
		w := want[p.Component]
		if math.Abs(p.Seconds-w.seconds) > 1e-9*clock || p.Amount != w.amount {
			t.Errorf("rank %d: %+v: %v s, %v, want %v", r, p.Component, p.Seconds, p.Amount, w)
		}
	}
	if math.Abs(sum-clock) > 1e-9*clock {
		t.Errorf("rank %d: %v s on the path to %v s", r, sum, clock)
	}
}

// TestManyGoOn has a rank compute for a second and send a message to each of so many others that the
// number of those who go on from there is beyond what is counted; some of them send another one.
func TestManyGoOn(t *testing.T) {
	const ranks = 700
	log := New(&trace.Header{Ranks: ranks}, 1, 0, byLink{})
	log.Spend(0, 0, 0, 1)
	for r := int32(1); r < ranks; r++ {
		log.Post(r, 0)
	}
	for r := int32(1); r < ranks; r++ {
		log.End(r, 1, 2).Set(0, r, -1, 1, 1)
		log.Release(r, r, 0, 2)
		if r%2 == 0 {
			log.Spend(r, 0, 2, 3)
			log.Post(r, r)
		}
		if r%300 == 0 {
			log.settle()
		}
	}
	for r := 1; r < ranks; r++ {
		on := path{{Account: 0, Phase: -1}: {1, 1}, {Kind: OnWire}: {1, 1}, {Kind: InLatency}: {0, 1}}
		if r%2 == 0 {
			on.add(Component{Account: 0, Phase: -1}, 1, 1)
		}
		parts, _ := log.Path(r)
		compare(t, r, parts, on, float64(2+(r+1)%2))
	}
}

// TestCallsInARow: calls are counted one by one, and where there are too many for a record they are two.
func TestCallsInARow(t *testing.T) {
	log := New(&trace.Header{Ranks: 1}, 1, 0, byLink{})
	const calls = 4*maxCalls + 3
	for i := range calls {
		log.Spend(0, 0, float64(i), float64(i+1))
	}
	parts, _ := log.Path(0)
	compare(t, 0, parts, path{{Account: 0, Phase: -1}: {calls, calls}}, calls)
}

// TestTooManyPlaces has a header of more kernels and phases than there are numbers for pairs of them.
func TestTooManyPlaces(t *testing.T) {
	h := &trace.Header{Ranks: 1, Kernels: make([]trace.Kernel, 4095), Phases: make([]string, 1024)}
	if err := New(h, 1, 0, byLink{}).Err(); err == nil {
		t.Error("no error")
	}
	h.Phases = h.Phases[1:]
	if err := New(h, 1, 0, byLink{}).Err(); err != nil {
		t.Error(err)
	}
}

// TestSteps asks for the steps that a path has come to, in order, across settlements.
func TestSteps(t *testing.T) {
	log := New(&trace.Header{Ranks: 2}, 1, 0, byLink{})
	log.records = log.records[:3]
	for i := range 10 {
		log.Step(0, float64(i))
		log.Spend(0, 0, float64(i), float64(i+1))
	}
	_, last := log.Path(0)
	for want := 9.0; want >= 0; want-- {
		if last == nil || last.At != want || last.Rank != 0 {
			t.Fatalf("%+v, want rank 0 at %v", last, want)
		}
		last = last.Before
	}
	if last != nil {
		t.Errorf("%+v before the first", last)
	}
}

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
