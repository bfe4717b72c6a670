package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/replay"
	"reprise/trace"
)

// parts keeps what is told of transfers and releases.
type parts struct {
	carried  []part
	released []release
	actions  []trace.Kind
}

type part struct {
	message               int32
	from, to, rate, alone float64
	link                  string
}

type release struct {
	rank, message int32
	since, at     float64
}

func (b *bench) observe(t testing.TB, lists ...[]trace.Action) *parts {
	t.Helper()
	p := &parts{}
	b.Observers = []replay.Observer{{
		Carried: func(message int32, from, to, rate, alone float64, link int32) {
			name := "none"
			if link >= 0 {
				name = b.Platform.Link(link).Name
			}
			p.carried = append(p.carried, part{message, from, to, rate, alone, name})
		},
		Released: func(rank, message int32, since, at float64) {
			p.released = append(p.released, release{rank, message, since, at})
		},
		ActionBegins: func(rank int32, a trace.Action, at float64) { p.actions = append(p.actions, a.Kind) },
	}}
	b.run(t, lists...)
	return p
}

// all compares what was told, to 12 digits.
var all = cmp.Options{cmp.AllowUnexported(part{}, release{}), cmpopts.EquateApprox(1e-12, 0)}

// TestObservesContention: ranks 0 and 1 send 1,000 and 3,000 bytes to rank 2, with their
// envelopes 1,016 and 3,016, whose link they share after 100 us: each gets half of 125 MB/s
// until the first has ended after 2*1016/B, with B = 125e6; then the other has 2,000 bytes
// left for itself, and its own link bounds it as much as that of rank 2. Rank 2 waits for the
// first, then for the second.
func TestObservesContention(t *testing.T) {
	const b, l = starBandwidth, starLatency
	p := newBench(t, star(3), 3).observe(t,
		[]trace.Action{send(2, 0, 1000)}, []trace.Action{send(2, 0, 3000)},
		[]trace.Action{irecv(0, 0, 0, 1000), irecv(1, 1, 0, 3000), wait(0), wait(1)})
	first, last := l+2*1016/b, l+2*1016/b+2000/b
	down := "c_link_2_DOWN"
	want := []part{{0, l, first, b / 2, b, down}, {1, l, first, b / 2, b, down}, {1, first, last, b, b, p.carried[len(p.carried)-1].link}}
	if diff := cmp.Diff(want, p.carried, all); diff != "" {
		t.Errorf("parts of transfers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]release{{2, 0, 0, first}, {2, 1, first, last}}, p.released, all); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
}

// TestObservesWindow: a TCP window of 1,000 bytes bounds a transfer to 1000/(2*100 us) = 5
// MB/s, and no link does.
func TestObservesWindow(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.set(t, "network/TCP-gamma:1000")
	p := b.observe(t, []trace.Action{send(1, 0, 1e6)}, []trace.Action{recv(0, 0, 1e6)})
	want := []part{{0, starLatency, starLatency + (1e6+envelope)/5e6, 5e6, 5e6, "none"}}
	if diff := cmp.Diff(want, p.carried, all); diff != "" {
		t.Errorf("parts of transfers (-want +got):\n%s", diff)
	}
}

// TestObservesBusyWait: rank 1 probes from 0 on, each time for 0.3 ms, for a message that
// rank 0 posts at 1 ms, which the probe at 1.2 ms sees: it has waited since the first at 0.3
// ms, in one action. A probe later, which sees a message that is there, has not waited; the
// transfer starts when the receive is posted.
func TestObservesBusyWait(t *testing.T) {
	for _, grow := range []string{"no", "yes"} {
		t.Run("grow "+grow, func(t *testing.T) {
			b := newBench(t, star(2), 2)
			b.set(t, "smpi/iprobe:3e-4", "smpi/grow-injected-times:"+grow)
			p := b.observe(t, []trace.Action{sleep(1e-3), send(1, 0, 10)},
				[]trace.Action{poll(0, 0, true), sleep(1e-3), poll(0, 0, true), recv(0, 0, 10)})
			seen := 1.2e-3
			if grow == "yes" { // 0.3, 0.9, 1.8
				seen = 1.8e-3
			}
			received := seen + 1e-3 + 3e-4
			want := []release{{1, 0, 3e-4, seen}, {1, 0, received, received + starLatency + (10+envelope)/starBandwidth}}
			if diff := cmp.Diff(want, p.released, all); diff != "" {
				t.Errorf("releases (-want +got):\n%s", diff)
			}
			if len(p.actions) != 6 {
				t.Errorf("actions %v, want six", p.actions)
			}
		})
	}
}

// TestObservingAllocates: nothing per event.
func TestObservingAllocates(t *testing.T) {
	b := newBench(t, star(2), 2)
	sum := 0.0
	b.Observers = []replay.Observer{{
		ActionBegins: func(rank int32, a trace.Action, at float64) { sum += at },
		TimePasses:   func(rank int32, k replay.TimeKind, kernel int32, from, to float64) { sum += to },
		Carried:      func(message int32, from, to, rate, alone float64, link int32) { sum += to },
		Ended:        func(message int32, at float64) { sum += at },
	}}
	run := func(turns int) float64 {
		lists := make([][]trace.Action, 2)
		for i := range turns {
			lists[0] = append(lists[0], sleep(1e-4), send(1, int32(i), 1e5), recv(1, 0, 10))
			lists[1] = append(lists[1], poll(0, int32(i), true), recv(0, int32(i), 1e5), send(0, 0, 10))
		}
		return testing.AllocsPerRun(3, func() { b.run(t, lists...) })
	}
	if few, many := run(10), run(1000); many > few+10 {
		t.Errorf("%v allocations for 10 turns, %v for 1000", few, many)
	}
}
