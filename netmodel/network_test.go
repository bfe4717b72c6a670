package netmodel

import (
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/platforms"
)

// closed is the accuracy of closed forms: rounding of a few operations.
const closed = 1e-12

// TestAlone checks T = L*g(z) + z/(f(z)*min(bw, gamma/(2L))), z = size+16, with
// numbers worked on paper.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		p    topology
		o    Options
		size int64
		want float64 // of host 0 to the last host
	}{
		{"large", star(2, 125e6, 50e-6), with(DefaultOptions(), "network/crosstraffic", "no"), 1000000,
			1e-4*11.6436 + 1000016/(125e6*0.940694)}, // 9.66885561707e-3
		{"window", star(2, 125e6, 10e-3), with(DefaultOptions(), "network/crosstraffic", "no"), 10000000,
			0.02*11.6436 + 10000016/(4194304/(2*0.02)*0.940694)}, // 0.33425202818
		{"small", star(2, 125e6, 50e-6), DefaultOptions(), 100,
			1e-4*2.01467 + 116/(125e6*0.812084)}, // 2.026097e-4: 0.05 on the way back is another link
		{"last of an interval", star(2, 125e6, 50e-6), DefaultOptions(), 1410,
			1e-4*1.9503 + 1426/(125e6*0.341987)},
		{"first of the next", star(2, 125e6, 50e-6), DefaultOptions(), 1411,
			1e-4*1.61075 + 1427/(125e6*0.608902)},
		{"empty message", star(2, 125e6, 50e-6), plain(), 0, 1e-4 + 16/125e6},
		{"LV08", star(2, 125e6, 50e-6), plain("network/model", "LV08"), 1000000,
			1e-4*13.01 + 1000016/(125e6*0.97)},
		{"CM02", star(2, 125e6, 50e-6), plain("network/model", "CM02"), 1000000, 1e-4 + 1000016/125e6},
		{"zero latency", star(2, 125e6, 0), plain(), 1000000, 1000016 / 125e6},
		{"FATPIPE", onlyLink(platforms.Link{Bandwidth: 1e6, Latency: 1e-3, Policy: platforms.Fatpipe}), plain(), 984, 1e-3 + 1000/1e6},
		// Forward 1 and backward 0.05 add up on a half-duplex link, on the up and
		// down links of a message to oneself, but not on a FATPIPE.
		{"half duplex", onlyLink(platforms.Link{Bandwidth: 1e6, Latency: 1e-3}),
			plain("network/crosstraffic", "yes"), 984, 1e-3 + 1000*1.05/1e6},
		{"to oneself", star(1, 125e6, 50e-6), plain("network/crosstraffic", "yes"), 100000,
			1e-4 + 100016*1.05/125e6}, // 9.401344e-4
		{"to oneself by factors of its own", star(1, 125e6, 50e-6),
			plain("reprise/loopback-bw-factor", "0:0.5", "reprise/loopback-lat-factor", "0:3"), 100000, 1e-4*3 + 100016/(125e6*0.5)},
		{"to oneself, one table only", star(1, 125e6, 50e-6), plain("reprise/loopback-bw-factor", "0:0.5"), 100000, 1e-4 + 100016/(125e6*0.5)},
		{"to another, past those factors", star(2, 125e6, 50e-6),
			plain("reprise/loopback-bw-factor", "0:0.5", "reprise/loopback-lat-factor", "0:3"), 100000, 1e-4 + 100016/125e6},
		{"factor as a bound", star(2, 125e6, 50e-6), plain("smpi/bw-factor", "0:0.5", "reprise/bw-factor", "bound"), 100000, 1e-4 + 100016/(125e6*0.5)},
		{"no bound above what links carry", star(2, 125e6, 50e-6), plain("smpi/bw-factor", "0:5", "reprise/bw-factor", "bound"), 100000, 1e-4 + 100016/(125e6*0.97)},
		{"a bound above that", star(2, 125e6, 50e-6), plain("smpi/bw-factor", "0:0.98", "reprise/bw-factor", "bound"), 100000, 1e-4 + 100016/(125e6*0.97)},
		{"links that carry all", star(2, 125e6, 50e-6),
			plain("smpi/bw-factor", "0:5", "network/bandwidth-factor", "1", "reprise/bw-factor", "bound"), 100000, 1e-4 + 100016/125e6},
		{"the window is narrower", star(2, 125e6, 10e-3), plain("smpi/bw-factor", "0:0.94", "reprise/bw-factor", "bound"), 10000000,
			0.02 + 10000016/(4194304/(2*0.02))},
		{"FATPIPE both ways", onlyLink(platforms.Link{Bandwidth: 1e6, Latency: 1e-3, Policy: platforms.Fatpipe}),
			plain("network/crosstraffic", "yes"), 984, 1e-3 + 1000/1e6},
		{"link met twice", topology{
			links:  []platforms.Link{{Bandwidth: 1e6, Latency: 1e-3}},
			routes: map[[2]int][]int32{{0, 1}: {0, 0}}},
			plain(), 984, 2e-3 + 1000*2/1e6},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSolver(t, c.o, func(t *testing.T, o Options) {
				got := ends(t, c.p, o, []message{{0, lastHost(c.p), c.size, 0}})[0]
				if !near(got, c.want, closed) {
					t.Errorf("got %v, want %v", got, c.want)
				}
			})
		})
	}
}

func lastHost(p topology) int {
	last := 0
	for r := range p.routes {
		last = max(last, r[1])
	}
	return last
}

// midLink is two leaf links on each side of a middle link. Hosts 0 and 1 send to 2
// and 3. The leaf of hosts 0 and 2 has no latency, that of 1 and 3 has 1 ms.
func midLink(policy platforms.Policy) topology {
	leaf := func(latency float64) platforms.Link { return platforms.Link{Bandwidth: 1e9, Latency: latency} }
	return topology{
		links: []platforms.Link{leaf(0), leaf(1e-3), leaf(0), leaf(1e-3), {Bandwidth: 1e8, Latency: 1e-3, Policy: policy}},
		routes: map[[2]int][]int32{
			{0, 2}: {0, 4, 2},
			{1, 3}: {1, 4, 3},
		},
	}
}

// TestPenalties: flow A has p = 1e-3 + 2*8775/1e9 + 8775/1e8 = 1.1053e-3 and B has
// p = 3.1053e-3. Both carry z = 10000016 bytes over the middle link C = 1e8.
//
// SHARED: A gets C*pB/(pA+pB), from 1e-3 on, B joins at 3e-3; then A ends, and B
// has the link for itself: both ends together take 2z bytes in 3e-3 less 2 ms of
// which A used 2 ms alone, so B ends at 1e-3 + 2z/C.
func TestPenalties(t *testing.T) {
	const z, c, pa, pb = 10000016.0, 1e8, 1.1053e-3, 3.1053e-3
	for _, test := range []struct {
		name   string
		policy platforms.Policy
		want   [2]float64
	}{
		{"shared", platforms.Shared, [2]float64{
			3e-3 + (z-2e-3*c)/(c*pb/(pa+pb)), // 0.135882321739
			1e-3 + 2*z/c,                     // 0.20100032
		}},
		// A has all of C; B has C*pA/pB until A ends, then C.
		{"fatpipe", platforms.Fatpipe, [2]float64{
			1e-3 + z/c, // 0.10100016
			(1e-3 + z/c) + (z-(1e-3+z/c-3e-3)*c*pa/pb)/c, // 0.166118158261
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachSolver(t, plain(), func(t *testing.T, o Options) {
				got := ends(t, midLink(test.policy), o, []message{{0, 2, 10000000, 0}, {1, 3, 10000000, 0}})
				for i := range got {
					if !near(got[i], test.want[i], 1e-9) {
						t.Errorf("flow %d ends at %v, want %v", i, got[i], test.want[i])
					}
				}
			})
		})
	}
}

// TestNoWindow: with network/TCP-gamma:0 links alone bound a transfer, as in SimGrid. On a
// FATPIPE of C = 75 MB/s that a transfer with a penalty p fills, from time g on, another one
// with P = 4 ms + p stops at the same level C*p, so it has C*p/P until the first has ended,
// g + z/C, and C then. As it begins at P, it ends z/C - (g + z/C - P)*p/P behind that end.
func TestNoWindow(t *testing.T) {
	const c, size, far = 75e6, 10000000, 4e-3
	for k := range 40 {
		p := 1e-5 * float64(k+1)
		platform := topology{
			links:  []platforms.Link{{Bandwidth: 10 * c, Latency: far}, {Bandwidth: c, Latency: p, Policy: platforms.Fatpipe}},
			routes: map[[2]int][]int32{{0, 2}: {0, 1}, {1, 2}: {1}},
		}
		first := p + (size+envelope)/c
		want := [2]float64{first + (size+envelope)/c - (first-far-p)*p/(far+p), first}
		eachSolver(t, with(DefaultOptions(), "network/model", "CM02", "network/TCP-gamma", "0", "network/crosstraffic", "no"), func(t *testing.T, o Options) {
			for name, prepare := range map[string]func(*Network){
				"each":    func(*Network) {},
				"bundled": (*Network).Bundle,
				"swept":   (*Network).Sweep,
			} {
				got := endsOf(t, platform, o, []message{{0, 2, size, 0}, {1, 2, size, 0}}, prepare)
				for i := range got {
					if !near(got[i], want[i], 1e-9) {
						t.Errorf("latency %g, %s: flow %d ends at %v, want %v", p, name, i, got[i], want[i])
					}
				}
			}
		})
	}
}

// TestNoWindowBound: without a window a factor that would bound the share to half of the bandwidth
// C = 1 GB/s bounds nothing, as in SimGrid, so a message takes 1 ms + z/C, also where the bandwidth
// of a link changes that it does not meet.
func TestNoWindowBound(t *testing.T) {
	const size, want = 1e9 - envelope, 1.001
	const xml = `<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="1ms"/><link id="other" bandwidth="1GBps" latency="1ms"/>
<route src="a" dst="b"><link_ctn id="l"/></route><route src="a" dst="c"><link_ctn id="other"/></route></zone>`
	const profile = `<trace id="t" periodicity="-1">9 1e8</trace><trace_connect kind="BANDWIDTH" trace="t" element="other"/>`
	o := plain("smpi/bw-factor", "0:0.5", "reprise/bw-factor", "bound", "network/bandwidth-factor", "1", "network/TCP-gamma", "0")
	for _, changes := range []string{"", profile} {
		p, err := platforms.Parse(strings.NewReader(xml+changes+"</platform>"), "test.xml")
		if err != nil {
			t.Fatal(err)
		}
		eachSolver(t, o, func(t *testing.T, o Options) {
			n, err := New(p, o)
			if err != nil {
				t.Fatal(err)
			}
			mustStart(t, n, message{0, 1, size, 0})
			got := 0.0
			for next := n.Next(); !math.IsInf(next, 1); next = n.Next() {
				got = next
				n.Advance(next, nil)
			}
			if !near(got, want, closed) {
				t.Errorf("profile %q: ends at %v, want %v", changes, got, want)
			}
		})
	}
}

// TestExchange is a full-duplex exchange: with cross traffic each direction carries
// 1 + 0.05, so v = C/1.05.
func TestExchange(t *testing.T) {
	const z, c = 10000016.0, 125e6
	for _, test := range []struct {
		cross string
		want  float64
	}{
		{"yes", 1e-4 + z*1.05/c}, // 0.0841001344
		{"no", 1e-4 + z/c},       // 0.080100128
	} {
		t.Run("crosstraffic="+test.cross, func(t *testing.T) {
			eachSolver(t, plain("network/crosstraffic", test.cross), func(t *testing.T, o Options) {
				got := ends(t, star(2, c, 50e-6), o, []message{{0, 1, 10000000, 0}, {1, 0, 10000000, 0}})
				for i := range got {
					if !near(got[i], test.want, closed) {
						t.Errorf("flow %d ends at %v, want %v", i, got[i], test.want)
					}
				}
			})
		})
	}
}

// TestTwoFlowsOneLink: B joins A's link when A has carried half, both have half of
// the link until A ends, and then B has it all. Sizes are 1000 bytes, C = 1000
// byte/s, no latency: A 0 to 1.5, B 0.5 to 2.
func TestTwoFlowsOneLink(t *testing.T) {
	eachSolver(t, plain(), func(t *testing.T, o Options) {
		p := onlyLink(platforms.Link{Bandwidth: 1000})
		got := ends(t, p, o, []message{{0, 1, 984, 0}, {0, 1, 984, 0.5}})
		for i, want := range []float64{1.5, 2} {
			if !near(got[i], want, closed) {
				t.Errorf("flow %d ends at %v, want %v", i, got[i], want)
			}
		}
	})
}

// TestFactorRules: k flows of 1000 bytes share a link of 1000 byte/s with f = 0.4. By
// progress each gets 1000/k and moves at 0.4 of it; as a bound f leaves each at most
// 400, so that three flows fill the 970 byte/s that the link carries by this rule
// (LinkImpl's constraint of sg_bandwidth_factor * bandwidth in SimGrid 3.21).
func TestFactorRules(t *testing.T) {
	for _, c := range []struct {
		rule  string
		flows int
		want  float64
	}{
		{"progress", 1, 2.5}, {"progress", 2, 5}, {"progress", 3, 7.5},
		{"bound", 1, 2.5}, {"bound", 2, 2.5}, {"bound", 3, 3 / 0.97}, {"bound", 4, 4 / 0.97},
	} {
		eachSolver(t, plain("smpi/bw-factor", "0:0.4", "reprise/bw-factor", c.rule), func(t *testing.T, o Options) {
			p := onlyLink(platforms.Link{Bandwidth: 1000})
			for _, got := range ends(t, p, o, slices.Repeat([]message{{0, 1, 984, 0}}, c.flows)) {
				if !near(got, c.want, closed) {
					t.Errorf("%s, %d flows: %v, want %v", c.rule, c.flows, got, c.want)
				}
			}
		})
	}
}

// TestBoundBelowFairShare: A and B have penalties 1002 and 1001.1 (S = 1e6, so a
// leaf of 1e6 byte/s counts 1 and the middle link of 1000 byte/s counts 1000, the
// latencies are 1 and 0.1). A's TCP window bounds it at gamma/(2L) = 200/2 = 100
// byte/s, far below its fair share; B, bounded at 1000, takes what A leaves.
func TestBoundBelowFairShare(t *testing.T) {
	p := topology{
		links: []platforms.Link{{Bandwidth: 1000}, {Bandwidth: 1e6, Latency: 1}, {Bandwidth: 1e6, Latency: 0.1}},
		routes: map[[2]int][]int32{
			{0, 1}: {1, 0}, {2, 3}: {2, 0},
		},
	}
	eachSolver(t, plain("network/TCP-gamma", "200", "network/weight-S", "1e6"), func(t *testing.T, o Options) {
		n, err := newNetwork(p.links, someHosts, p.route, o)
		if err != nil {
			t.Fatal(err)
		}
		a := mustStart(t, n, message{0, 1, 10000, 0})
		b := mustStart(t, n, message{2, 3, 10000, 0.9})
		n.Advance(n.Next(), nil)
		if got := n.Next(); got <= 1 {
			t.Fatalf("both phases begin at 1, next is %v", got)
		}
		if n.Share(a) != 100 || !near(n.Share(b), 900, closed) {
			t.Errorf("shares %v and %v, want 100 and 900", n.Share(a), n.Share(b))
		}
	})
}

// mustStart starts m under the next number.
func mustStart(t testing.TB, n *Network, m message) int32 {
	t.Helper()
	id := int32(n.stats.Flows)
	if err := n.Start(id, m.src, m.dst, m.size, m.at); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestZeroLatencyPenalty: a flow without latency has p = 1, so beside one with p =
// 1e-3 on a link of 1001 byte/s it gets 1 byte/s and the other 1000.
func TestZeroLatencyPenalty(t *testing.T) {
	p := topology{
		links:  []platforms.Link{{Bandwidth: 1001}, {Bandwidth: 1e6, Latency: 1e-3}},
		routes: map[[2]int][]int32{{0, 1}: {0}, {2, 3}: {1, 0}},
	}
	eachSolver(t, plain("network/weight-S", "0"), func(t *testing.T, o Options) {
		n, err := newNetwork(p.links, someHosts, p.route, o)
		if err != nil {
			t.Fatal(err)
		}
		a := mustStart(t, n, message{0, 1, 100, 1e-3})
		b := mustStart(t, n, message{2, 3, 100, 0})
		n.Advance(n.Next(), nil)
		n.Next()
		if !near(n.Share(a), 1, closed) || !near(n.Share(b), 1000, closed) {
			t.Errorf("shares %v and %v, want 1 and 1000", n.Share(a), n.Share(b))
		}
	})
}

// TestContentionFree: with reprise/contention:no two flows on one link do not see
// each other.
func TestContentionFree(t *testing.T) {
	p := onlyLink(platforms.Link{Bandwidth: 1000})
	got := ends(t, p, plain("reprise/contention", "no"), []message{{0, 1, 984, 0}, {0, 1, 984, 0.5}})
	for i, want := range []float64{1, 1.5} {
		if !near(got[i], want, closed) {
			t.Errorf("flow %d ends at %v, want %v", i, got[i], want)
		}
	}
}

// TestMerge: events up to surf/precision after the next one happen with it. The
// ends are planned at 1 and at 1+5e-10, the third at 1+1e-8.
func TestMerge(t *testing.T) {
	p := topology{
		links:  []platforms.Link{{Bandwidth: 1000}, {Bandwidth: 1000}, {Bandwidth: 1000}},
		routes: map[[2]int][]int32{{0, 1}: {0}, {2, 3}: {1}, {4, 5}: {2}},
	}
	n, err := newNetwork(p.links, someHosts, p.route, plain())
	if err != nil {
		t.Fatal(err)
	}
	first := mustStart(t, n, message{0, 1, 984, 0})
	second := mustStart(t, n, message{2, 3, 984, 5e-10})
	mustStart(t, n, message{4, 5, 984, 1e-8})
	n.Advance(n.Next(), nil) // the first two begin, both at 0
	n.Advance(n.Next(), nil)
	done := n.Advance(n.Next(), nil)
	if len(done) != 2 || done[0] != first || done[1] != second {
		t.Errorf("ended at 1: %v, want [%d %d]", done, first, second)
	}
	if n.Active() != 1 {
		t.Errorf("%d flows left, want 1", n.Active())
	}
}

// TestReuse: an id can be used again as soon as its transfer has ended.
func TestReuse(t *testing.T) {
	p := star(2, 125e6, 50e-6)
	n, err := newNetwork(p.links, someHosts, p.route, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const id = 7
	for range 2 {
		if err := n.Start(id, 0, 1, 100, n.now); err != nil {
			t.Fatal(err)
		}
		var done []int32
		for n.Active() > 0 {
			done = n.Advance(n.Next(), nil)
		}
		if len(done) != 1 || done[0] != id {
			t.Errorf("ended: %v, want [%d]", done, id)
		}
	}
	if !math.IsInf(n.Next(), 1) {
		t.Errorf("idle network has an event at %v", n.Next())
	}
	want := Stats{Flows: 2, Events: 4}
	if got := n.Stats(); got.Flows != want.Flows || got.Events != want.Events {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestStartWithoutRoute(t *testing.T) {
	p := onlyLink(platforms.Link{Bandwidth: 1})
	n, err := newNetwork(p.links, someHosts, p.route, plain())
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Start(0, 0, 7, 1, 0); err == nil {
		t.Error("no error for a missing route")
	}
	if n.Active() != 0 {
		t.Errorf("%d flows after a failed start", n.Active())
	}
}
