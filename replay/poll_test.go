package replay_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
)

// TestPolls lets rank 1 send at 10.5 us to rank 0, which probes at 1 us each and
// then receives. A transfer of 84 bytes takes 1e-4 + 100/125e6 s from when both
// are posted.
func TestPolls(t *testing.T) {
	const transfer = starLatency + (84+envelope)/starBandwidth
	work := compute(0, 1) // 2 us
	for _, c := range []struct {
		name    string
		options []string
		probing []trace.Action
		posted  float64 // time at which the receive is posted
		polls   int64
	}{
		{"busy wait: sees it at 11 us", nil, []trace.Action{poll(1, 5, true)}, 11e-6, 11},
		{"no probe costs: a miss, then the time itself", []string{"smpi/iprobe:0"}, []trace.Action{poll(1, 5, true)}, 10.5e-6, 2},
		{
			// 1, 4, 7, 10: misses; whatever polls say, a plain list goes on.
			"between slices of work", nil,
			[]trace.Action{poll(1, 5, false), work, poll(1, 5, false), work, poll(1, 5, false), work, poll(1, 5, false)}, 10e-6 + 0.5e-6, 4,
		},
		{
			// The n-th costs n us: looks at 1, 3, 6, 10, 15 us.
			"growing costs", []string{"smpi/grow-injected-times:yes"}, []trace.Action{poll(1, 5, true)}, 15e-6, 5,
		},
		// The envelope takes 100 us more.
		{"arrived, not posted", []string{"reprise/poll:arrived"}, []trace.Action{poll(1, 5, true)}, 111e-6, 111},
		{"arrived, growing costs", []string{"reprise/poll:arrived", "smpi/grow-injected-times:yes"}, []trace.Action{poll(1, 5, true)}, 120e-6, 15},
		{"unknown size", nil, nil, 11e-6, 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, star(2), 2)
			b.set(t, "smpi/iprobe:1e-6")
			b.set(t, c.options...)
			b.setKernels(t, "version: 1\nunit: s\nkernels:\n  work: {terms: {N: 2e-6}}\n", "work")
			bytes := int64(84)
			if c.probing == nil {
				bytes = -1
			}
			res := b.run(t, append(c.probing, recv(1, 5, bytes)), []trace.Action{sleep(10.5e-6), send(0, 5, 84)})
			near(t, "end", res.Ranks[0].End, c.posted+transfer)
			if res.Polls != c.polls {
				t.Errorf("%d polls, want %d", res.Polls, c.polls)
			}
		})
	}
}

// waiting is the source of a rank 0 that polls between empty slices of work, and
// notes the answers.
type waiting struct {
	*replay.Lists
	turn    []trace.Action
	pending []trace.Action
	answers []bool
}

func (w *waiting) Fill(rank int32, buf []trace.Action) (int, error) {
	if rank != 0 {
		return w.Lists.Fill(rank, buf)
	}
	n := copy(buf, w.pending)
	w.pending = w.pending[n:]
	return n, nil
}

func (w *waiting) Answer(_ int32, arrived bool) {
	w.answers = append(w.answers, arrived)
	if !arrived {
		w.pending = w.turn
	}
}

// TestTurnsWithEmptyWork: a turn is an empty kernel of 0.25 us, charged although it
// does nothing, and a probe of 1 us. The looks are at 1, 2.25, 3.5, 4.75 us, ...:
// the first one from 10.5 us on is 1 + 8*1.25 = 11 us. The source sees two
// misses at most: the turns between are arithmetic.
func TestTurnsWithEmptyWork(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.set(t, "smpi/iprobe:1e-6")
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  empty: {terms: {1: 0.25e-6}, empty: charged}\n", "empty")
	w := &waiting{
		Lists:   replay.NewLists([][]trace.Action{nil, {sleep(10.5e-6), send(0, 5, 84)}}),
		turn:    []trace.Action{compute(0, 0), poll(1, 5, true)},
		pending: []trace.Action{poll(1, 5, true)},
	}
	res, err := replay.RunSource(t.Context(), &b.header, w, b.Machine, b.Options)
	noError(t, err)
	near(t, "end", res.Ranks[0].End, 11e-6)
	if len(w.answers) != 2 || w.answers[0] || !w.answers[1] {
		t.Errorf("answers %v, want a miss and a hit", w.answers)
	}
	if res.Polls != 9 {
		t.Errorf("%d polls, want 9", res.Polls)
	}
}

// TestLatePolls: polls of 1 us come between slices of work of 2 us, at 1, 4, 7, 10, 13 and
// 16 us. The first that sees a send of 10.5 us is that at 13 us, or, where it only lets the
// message in, the next one. A rank that waited for another message until after 10.5 us has let
// it in.
func TestLatePolls(t *testing.T) {
	const transfer = starLatency + (84+envelope)/starBandwidth
	polls := func(options []string, before []trace.Action) int {
		t.Helper()
		b := newBench(t, star(2), 2)
		b.set(t, "smpi/iprobe:1e-6")
		b.set(t, options...)
		b.setKernels(t, "version: 1\nunit: s\nkernels:\n  work: {terms: {N: 2e-6}}\n", "work")
		w := &waiting{
			Lists:   replay.NewLists([][]trace.Action{nil, {sleep(10.5e-6), send(0, 6, 84), send(0, 5, 84)}}),
			turn:    []trace.Action{compute(0, 1), poll(1, 5, false)},
			pending: append(before, poll(1, 5, false)),
		}
		if _, err := replay.RunSource(t.Context(), &b.header, w, b.Machine, b.Options); err != nil {
			t.Fatal(err)
		}
		return len(w.answers)
	}
	late := []string{"reprise/poll-late:yes"}
	for _, c := range []struct {
		name    string
		options []string
		before  []trace.Action
		want    int
	}{
		{"SMPI", nil, nil, 5},
		{"late", late, nil, 6},
		{"late, costs in the order of all", append(late, "smpi/grow-injected-times:yes", "smpi/iprobe:1e-12"), nil, 8}, // 0, 2, ..., 12 us lets it in, 14
		{"late, after a wait", late, []trace.Action{recv(1, 6, 84)}, 1},
		{"late, after a probe that decides nothing", late, []trace.Action{sleep(11e-6), {Kind: trace.KindIprobe, Peer: 1, Tag: 7}}, 1},
	} {
		if got := polls(c.options, c.before); got != c.want {
			t.Errorf("%s: %d polls, want %d", c.name, got, c.want)
		}
	}
	// A busy wait polls again at once.
	for _, options := range [][]string{nil, late} {
		b := newBench(t, star(2), 2)
		b.set(t, "smpi/iprobe:1e-6")
		b.set(t, options...)
		res := b.run(t, []trace.Action{poll(1, 5, true), recv(1, 5, 84)}, []trace.Action{sleep(10.5e-6), send(0, 5, 84)})
		near(t, "end", res.Ranks[0].End, 11e-6+transfer)
	}
}

// TestSharedProbeCounter: the factor of growing costs is one for all ranks. Ranks
// 0 and 2 begin at 0 with factor 1 and look at 1 us. Rank 0 misses first and goes on with 2, rank 2 with 3:
//
//	rank 0: 1, 1+2 = 3 (miss: 4), 3+4 = 7 ...
//	rank 2: 1, 1+3 = 4 (miss: 5), 4+5 = 9 ...
//
// Rank 1 sends to rank 0 at 6 us, which sees it at 7; the factor is 1 again.
// It sends to rank 2 at 8.5 us, which sees it at 9.
func TestSharedProbeCounter(t *testing.T) {
	b := newBench(t, star(3), 3)
	b.set(t, "smpi/iprobe:1e-6", "smpi/grow-injected-times:yes")
	res := b.run(t,
		[]trace.Action{poll(1, 5, true)},
		[]trace.Action{sleep(6e-6), send(0, 5, 84), sleep(2.5e-6), send(2, 5, 84)},
		[]trace.Action{poll(1, 5, true)})
	near(t, "rank 0", res.Ranks[0].End, 7e-6)
	near(t, "rank 2", res.Ranks[2].End, 9e-6)
}

// TestPausesInBusyWait: a replay can be stopped while a rank waits for 1,000 s with probes
// that take 1, 2, 3, ... us: k of them take k(k+1)/2 us, so it takes 44,721 of them, more
// than 10 times maxTurns.
func TestPausesInBusyWait(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.set(t, "smpi/iprobe:1e-6", "smpi/grow-injected-times:yes")
	pauses := 0
	b.Checkpoints = &replay.Checkpoints{Write: func(p *replay.Pause) error {
		if p.Time() > 0 && p.Time() < 1000 {
			pauses++
		}
		return nil
	}}
	res := b.run(t, []trace.Action{poll(1, 5, true)}, []trace.Action{sleep(1000), send(0, 5, 84)})
	if res.Polls != 44721 {
		t.Errorf("%d polls, want 44721", res.Polls)
	}
	if pauses < 10 {
		t.Errorf("%d pauses, want 10 or more", pauses)
	}
}

// TestProbeBesideWildcard: a message that a pending receive from any source takes is
// not there for a probe, at costs that grow or not: it finds the second one, as if the
// receive had named the first. Probes of 100 us see it at 0.501 s, the first at 0.0001 s.
func TestProbeBesideWildcard(t *testing.T) {
	for _, grow := range []string{"no", "yes"} {
		var want *replay.Result
		for _, source := range []int32{1, trace.AnySource} {
			b := newBench(t, star(2), 2)
			b.set(t, "smpi/iprobe:1e-4", "smpi/grow-injected-times:"+grow, "smpi/or:0:1e-3:1e-6", "smpi/async-small-thresh:65536")
			first := irecv(0, source, 5, 1000)
			got := b.run(t,
				[]trace.Action{first, recv(1, 5, -1)},
				[]trace.Action{sleep(1e-3), send(0, 5, 1000), sleep(0.5), send(0, 5, 20000)})
			if want == nil {
				want = got
				if grow == "no" && got.Polls != 5010 {
					t.Errorf("%d polls, want 5010: from 0.1 ms to 501 ms", got.Polls)
				}
				continue
			}
			if got.Polls != want.Polls || got.Ranks[0].End != want.Ranks[0].End {
				t.Errorf("grow %s: %d polls, end %.15g s; want %d, %.15g s", grow, got.Polls, got.Ranks[0].End, want.Polls, want.Ranks[0].End)
			}
		}
	}
}

// TestDeadlocksOfProbes: whatever probes cost, and whatever else a rank has pending, a
// message that nobody sends is a deadlock, which names the rank and the message.
func TestDeadlocksOfProbes(t *testing.T) {
	const oneHost = `<platform version="4.1"><zone id="z" routing="Full"><host id="h" speed="1Gf"/></zone></platform>`
	for _, grow := range []string{"yes", "no"} {
		for _, cost := range []string{"0", "1e-6"} {
			for _, wild := range []bool{false, true} {
				for _, shared := range []bool{false, true} {
					for _, ask := range []trace.Action{recv(1, 3, -1), poll(1, 3, true)} {
						name := fmt.Sprintf("grow %s, cost %s, wildcard %v, shared %v, %v", grow, cost, wild, shared, ask.Kind)
						t.Run(name, func(t *testing.T) {
							b := newBench(t, star(2), 2)
							if shared {
								p, err := platforms.Parse(strings.NewReader(oneHost), "one.xml")
								noError(t, err)
								b.Platform, b.Hosts = p, []int32{0, 0}
							}
							b.set(t, "smpi/grow-injected-times:"+grow, "smpi/iprobe:"+cost)
							first := []trace.Action{sleep(1e-3), ask}
							if wild {
								first = []trace.Action{irecv(0, trace.AnySource, 7, 10), ask}
							}
							_, err := replay.RunSource(t.Context(), &b.header, &spinning{replay.NewLists([][]trace.Action{first, {sleep(2e-3)}})}, b.Machine, b.Options)
							var d *replay.DeadlockError
							if !errors.As(err, &d) {
								t.Fatalf("error %v, want a deadlock", err)
							}
							if w := d.Blocked[0]; d.Count != 1 || w.Rank != 0 || w.Action != ask.Kind || w.Peer != 1 || w.Tag != 3 {
								t.Errorf("%v", err)
							}
						})
					}
				}
			}
		}
	}
}

// spinning repeats a poll until it is answered.
type spinning struct{ *replay.Lists }

// TestProbeOfNoCostBesideWildcard: the first message is for the older receive, from any
// source; the probe of the younger sees the second, which is posted at 3 ms, and so gives it
// the second's size. A transfer of s bytes takes 100 us + (s+16)/125e6.
func TestProbeOfNoCostBesideWildcard(t *testing.T) {
	for _, cost := range []string{"0", "1e-7"} {
		b := newBench(t, star(2), 2)
		b.set(t, "smpi/iprobe:"+cost)
		res := b.run(t,
			[]trace.Action{irecv(0, trace.AnySource, 3, 10), recv(1, 3, -1)},
			[]trace.Action{sleep(1e-3), send(0, 3, 10), sleep(2e-3), send(0, 3, 1e6)})
		if len(res.Warnings) > 0 {
			t.Errorf("probes of %s s: %v", cost, res.Warnings)
		}
		if end, want := res.Ranks[0].End, 3e-3+starLatency+(1e6+envelope)/starBandwidth; math.Abs(end-want) > 2e-7 {
			t.Errorf("probes of %s s: end %.9g, want %.9g", cost, end, want)
		}
	}
}

// TestLatencyOfLoopback: a message within a host is seen when its envelope, 0.5 s later,
// has arrived: at the 500th probe of 1 ms.
func TestLatencyOfLoopback(t *testing.T) {
	b := newBench(t, `<platform version="4.1"><zone id="z" routing="Full"><host id="h" speed="1Gf" core="2"/></zone></platform>`, 1)
	b.header.Ranks, b.Hosts = 2, []int32{0, 0}
	b.set(t, "smpi/iprobe:1e-3", "reprise/poll:arrived", "network/loopback-lat:0.5", "network/loopback-bw:1e9")
	res := b.run(t, []trace.Action{poll(1, 5, true)}, []trace.Action{isend(0, 0, 5, 100), sleep(2)})
	near(t, "rank 0", res.Ranks[0].End, 0.5)
	if res.Polls != 500 {
		t.Errorf("%d polls, want 500", res.Polls)
	}
}

// TestInfiniteDates: a rank for which no time is large enough is told of as such.
func TestInfiniteDates(t *testing.T) {
	for name, actions := range map[string][]trace.Action{
		"at the end":    {compute(0, 1000)},
		"before a send": {compute(0, 1000), send(1, 5, 10)},
	} {
		b := newBench(t, star(2), 2)
		b.setKernels(t, "version: 1\nunit: s\nkernels:\n  endless: {terms: {N: 1e9}}\n", "endless")
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{append([]trace.Action{compute(0, 1000)}, actions...), nil}), b.Machine, b.Options)
		if err == nil || !strings.Contains(err.Error(), "rank 0: the time is beyond 1e+11 s") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
