package tape

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/trace"
)

// byLink has a level for each of four links, and one for transfers without.
type byLink struct{}

func (byLink) NumLevels() int          { return 5 }
func (byLink) Level(t *Transfer) int32 { return t.Link() + 1 }

// naive carries the whole path of each rank along, and copies it wherever it goes over.
type naive struct{ ranks []path }

// path is what one spends on components.
type path map[Component]spent

type spent struct{ seconds, amount float64 }

func (p path) add(c Component, seconds, amount float64) {
	p[c] = spent{p[c].seconds + seconds, p[c].amount + amount}
}

// play has ranks compute and send each other messages at random, and tells both the tapes and a
// naive observer.
func play(t *Tapes, ranks, messages int, seed uint64) (*naive, []float64) {
	random := rand.New(rand.NewPCG(seed, 1))
	n := &naive{ranks: make([]path, ranks)}
	clocks := make([]float64, ranks)
	for r := range n.ranks {
		n.ranks[r] = path{}
	}
	for i := range messages {
		src, dst := int32(random.IntN(ranks)), int32(random.IntN(ranks))
		if src == dst {
			continue
		}
		id := int32(i % 7)
		for _, r := range []int32{src, dst} {
			account, to := int32(random.IntN(3)), clocks[r]+random.Float64()
			t.Spend(r, account, clocks[r], to)
			n.ranks[r].add(Component{Account: account, Phase: -1}, to-clocks[r], 1)
			clocks[r] = to
		}
		start, on := clocks[src], n.ranks[src]
		t.Post(id, src)
		if clocks[dst] > start {
			start, on = clocks[dst], n.ranks[dst]
			t.Post(id, dst)
		}
		link := int32(random.IntN(5)) - 1
		from, carried := start+0.125, 0.5

		end := from + carried
		x := t.End(id, from, end)
		x.Set(src, dst, link, 1e6, 4e6) // a quarter of a second alone
		on = maps.Clone(on)
		on.add(Component{Kind: InLatency}, from-start, 1)
		on.add(Component{Kind: OnWire, Level: link + 1}, 0.25, 1e6)
		on.add(Component{Kind: InContention, Level: link + 1}, end-from-0.25, 0)
		for _, r := range []int32{src, dst} {
			t.Release(r, id, clocks[r], end)
			n.ranks[r], clocks[r] = maps.Clone(on), end
		}
	}
	return n, clocks
}

// TestAgainstCopies compares the paths of all ranks with those that an observer finds which
// copies them, while the tapes are settled every few messages.
func TestAgainstCopies(t *testing.T) {
	for _, ranks := range []int{2, 5, 40} {
		for _, room := range []int{8, 100, 1 << 17} {
			t.Run(fmt.Sprintf("%d ranks, %d records", ranks, room), func(t *testing.T) {
				tapes := New(&trace.Header{Ranks: ranks}, 3, 2, byLink{})
				tapes.records = tapes.records[:room]
				tapes.transfers = make([]Transfer, 0, room/transferShare)
				want, clocks := play(tapes, ranks, 2000, uint64(ranks))
				if tapes.Gaps() != 0 {
					t.Errorf("%d gaps", tapes.Gaps())
				}
				for r := range clocks {
					parts, _ := tapes.Path(r)
					compare(t, r, parts, want.ranks[r], clocks[r])
				}
			})
		}
	}
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
	tapes := New(&trace.Header{Ranks: ranks}, 1, 0, byLink{})
	tapes.Spend(0, 0, 0, 1)
	for r := int32(1); r < ranks; r++ {
		tapes.Post(r, 0)
	}
	for r := int32(1); r < ranks; r++ {
		tapes.End(r, 1, 2).Set(0, r, -1, 1, 1)
		tapes.Release(r, r, 0, 2)
		if r%2 == 0 {
			tapes.Spend(r, 0, 2, 3)
			tapes.Post(r, r)
		}
		if r%300 == 0 {
			tapes.settle()
		}
	}
	for r := 1; r < ranks; r++ {
		on := path{{Account: 0, Phase: -1}: {1, 1}, {Kind: OnWire}: {1, 1}, {Kind: InLatency}: {0, 1}}
		if r%2 == 0 {
			on.add(Component{Account: 0, Phase: -1}, 1, 1)
		}
		parts, _ := tapes.Path(r)
		compare(t, r, parts, on, float64(2+(r+1)%2))
	}
}

// TestCallsInARow: calls are counted one by one, and where there are too many for a record they are two.
func TestCallsInARow(t *testing.T) {
	tapes := New(&trace.Header{Ranks: 1}, 1, 0, byLink{})
	const calls = 4*maxCalls + 3
	for i := range calls {
		tapes.Spend(0, 0, float64(i), float64(i+1))
	}
	parts, _ := tapes.Path(0)
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
	tapes := New(&trace.Header{Ranks: 2}, 1, 0, byLink{})
	tapes.records = tapes.records[:3]
	for i := range 10 {
		tapes.Step(0, float64(i))
		tapes.Spend(0, 0, float64(i), float64(i+1))
	}
	_, last := tapes.Path(0)
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
