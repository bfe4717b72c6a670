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
								if err != nil {
									t.Fatal(err)
								}
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
