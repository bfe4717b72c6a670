package netmodel

import (
	"math"
	"math/rand/v2"
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
				"bundled": (*Network).goOver,
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
		noError(t, err)
		eachSolver(t, o, func(t *testing.T, o Options) {
			n, err := New(p, o)
			noError(t, err)
			mustStart(t, n, message{0, 1, size, 0})
			got := n.lastEvent()
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
// byte/s, no latency: A 0 to 1.5, B 0.5 to 2. Without contention they do not see each other.
func TestTwoFlowsOneLink(t *testing.T) {
	for contention, want := range map[string][]float64{"yes": {1.5, 2}, "no": {1, 1.5}} {
		eachSolver(t, plain("reprise/contention", contention), func(t *testing.T, o Options) {
			got := ends(t, onlyLink(platforms.Link{Bandwidth: 1000}), o, []message{{0, 1, 984, 0}, {0, 1, 984, 0.5}})
			for i := range want {
				if !near(got[i], want[i], closed) {
					t.Errorf("contention %s: flow %d ends at %v, want %v", contention, i, got[i], want[i])
				}
			}
		})
	}
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
		noError(t, err)
		a := mustStart(t, n, message{0, 1, 10000, 0})
		b := mustStart(t, n, message{2, 3, 10000, 0.9})
		n.Advance(n.Next(), nil)
		if got := n.Next(); got <= 1 {
			t.Fatalf("both phases begin at 1, next is %v", got)
		}
		if n.share(a) != 100 || !near(n.share(b), 900, closed) {
			t.Errorf("shares %v and %v, want 100 and 900", n.share(a), n.share(b))
		}
	})
}

// mustStart starts m under the next number.
func mustStart(t testing.TB, n *Network, m message) int32 {
	t.Helper()
	id := int32(n.stats.Flows)
	noError(t, n.Start(id, m.src, m.dst, m.size, m.at))
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
		noError(t, err)
		a := mustStart(t, n, message{0, 1, 100, 1e-3})
		b := mustStart(t, n, message{2, 3, 100, 0})
		n.Advance(n.Next(), nil)
		n.Next()
		if !near(n.share(a), 1, closed) || !near(n.share(b), 1000, closed) {
			t.Errorf("shares %v and %v, want 1 and 1000", n.share(a), n.share(b))
		}
	})
}

// TestMerge: events up to surf/precision after the next one happen with it. The
// ends are planned at 1 and at 1+5e-10, the third at 1+1e-8.
func TestMerge(t *testing.T) {
	p := topology{
		links:  []platforms.Link{{Bandwidth: 1000}, {Bandwidth: 1000}, {Bandwidth: 1000}},
		routes: map[[2]int][]int32{{0, 1}: {0}, {2, 3}: {1}, {4, 5}: {2}},
	}
	n, err := newNetwork(p.links, someHosts, p.route, plain())
	noError(t, err)
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
	noError(t, err)
	const id = 7
	for range 2 {
		noError(t, n.Start(id, 0, 1, 100, n.now))
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

// TestTogether: flows that are too many for caches end at the same times and in the same order as few do. Many begin and
// end at once, and others are put off.
func TestTogether(t *testing.T) {
	p, r := star(12, 1e9, 1e-5), rand.New(rand.NewPCG(5, 1))
	// The third puts the end of the second off, and not that of the first, which had the same time.
	messages := []message{{0, 1, 1 << 20, 0}, {2, 3, 1 << 20, 0}, {2, 4, 1 << 20, 1e-4}}
	for i := range 600 {
		size := []int64{0, 1000, 70_000, 1 << 20}[r.IntN(4)]
		messages = append(messages, message{r.IntN(12), r.IntN(12), size, 1 + 1e-4*float64(i/40)})
	}
	eachSolver(t, DefaultOptions(), func(t *testing.T, o Options) {
		few, fewOrder := inOrder(t, p, o, messages, func(*Network) {})
		many, manyOrder := inOrder(t, p, o, messages, func(n *Network) { n.reserve(Cached) })
		if !slices.Equal(many, few) || !slices.Equal(manyOrder, fewOrder) {
			t.Error("many flows end at other times, or in another order, than few")
		}
	})
}

func TestStartWithoutRoute(t *testing.T) {
	p := onlyLink(platforms.Link{Bandwidth: 1})
	n, err := newNetwork(p.links, someHosts, p.route, plain())
	noError(t, err)
	if err := n.Start(0, 0, 7, 1, 0); err == nil {
		t.Error("no error for a missing route")
	}
	if n.Active() != 0 {
		t.Errorf("%d flows after a failed start", n.Active())
	}
}

// TestDistances compares the time of 1,000,000 bytes with SimGrid 3.32 (`smpirun -replay` of one
// send, default options) where coordinates make the latency: between peers, between hosts that
// have no link, and where the way goes on in another zone. The latency factor counts for all of
// it, and what takes no link ends with it, whatever the TCP window.
func TestDistances(t *testing.T) {
	for _, c := range []struct {
		file, src, dst string
		want           float64
	}{
		{"vivaldi-peers", "p0", "p1", 2.0229895823743336},
		{"vivaldi-peers", "p0", "p0", 1.0923824795115946},
		{"vivaldi-zones", "h0", "h1", 0.53908371720527826},
		{"vivaldi-zones", "h0", "h0", 0.032602079999999999},
		{"vivaldi-zones", "h0", "f1", 0.82180149942220493},
		{"vivaldi-zones", "f1", "h1", 0.74324750817989693},
		{"cluster-own", "b", "a", 0.27083039042664248},
		{"cluster-clusters", "n0", "n3", 0.0096688556170656994},
	} {
		p, err := platforms.Load("../testdata/oracle/routes/" + c.file + ".xml")
		noError(t, err)
		src, _ := p.HostIndex(c.src)
		dst, _ := p.HostIndex(c.dst)
		eachSolver(t, DefaultOptions(), func(t *testing.T, o Options) {
			for name, prepare := range map[string]func(*Network){"each": func(*Network) {}, "bundled": (*Network).goOver} {
				n, err := New(p, o)
				noError(t, err)
				prepare(n)
				at := 0.0
				for range 4 { // the third is of a route that is remembered
					mustStart(t, n, message{src, dst, 1000000, at})
					end := n.lastEvent()
					if !near(end-at, c.want, 1e-9) {
						t.Errorf("%s from %s to %s, %s: takes %v, SimGrid %v", c.file, c.src, c.dst, name, end-at, c.want)
					}
					at = end
				}
			}
		})
	}
}

// TestDistanceLatency: the latency of a route has the distance in it.
func TestDistanceLatency(t *testing.T) {
	p, err := platforms.Load("../testdata/oracle/routes/vivaldi-zones.xml")
	noError(t, err)
	n, err := New(p, DefaultOptions())
	noError(t, err)
	src, _ := p.HostIndex("h0")
	dst, _ := p.HostIndex("f0")
	if got, want := n.Latency(src, dst), 0.059993163149560075; got != want { // SimGrid's route_to
		t.Errorf("%v, want %v", got, want)
	}
}

// TestGammaAndBandwidths compares the time of 1,000,000 bytes with SimGrid 3.32, likewise: without
// a window where network/TCP-gamma is negative, and over a link that is never full.
func TestGammaAndBandwidths(t *testing.T) {
	for _, c := range []struct {
		link, gamma string
		want        float64
	}{
		{`bandwidth="10GBps" latency="100ms"`, "-1", 1.164471621504974},
		{`bandwidth="10GBps" latency="100ms"`, "0", 1.164471621504974},
		{`bandwidth="1e28Bps" latency="1ms"`, "4194304", 0.012150507440249066},
		{`bandwidth="1e40Bps" latency="1ms"`, "4194304", 0.012150507440249066},
	} {
		p := parsePair(t, `<link id="l" `+c.link+`/>`)
		eachSolver(t, with(DefaultOptions(), "network/TCP-gamma", c.gamma), func(t *testing.T, o Options) {
			n, err := New(p, o)
			noError(t, err)
			mustStart(t, n, message{0, 1, 1000000, 0})
			end := n.lastEvent()
			if !near(end, c.want, 1e-9) {
				t.Errorf("%s, gamma %s: ends at %v, SimGrid %v", c.link, c.gamma, end, c.want)
			}
		})
	}
}

// TestNoBandwidth: a message over a link without bandwidth never ends; SimGrid 3.32 says
// `Deadlock detected`.
func TestNoBandwidth(t *testing.T) {
	p := parsePair(t, `<link id="l" bandwidth="0" latency="1ms"/>`)
	eachSolver(t, DefaultOptions(), func(t *testing.T, o Options) {
		n, err := New(p, o)
		noError(t, err)
		mustStart(t, n, message{0, 1, 10, 0})
		n.Advance(n.Next(), nil) // the end of the latency
		if next := n.Next(); !math.IsInf(next, 1) || n.Active() != 1 {
			t.Errorf("next event at %v, %d messages under way", next, n.Active())
		}
	})
}

// parsePair reads hosts a and b that a link "l" joins.
func parsePair(t *testing.T, link string) *platforms.Platform {
	t.Helper()
	p, err := platforms.Parse(strings.NewReader(`<platform version="4.1"><zone id="z" routing="Full">
		<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>`+link+`<route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>`), "test.xml")
	noError(t, err)
	return p
}

// TestLeaveOut: transfers end when they do if cables up take part in the sharing that are as wide
// as all hosts below together, within the precision of time.
func TestLeaveOut(t *testing.T) {
	for seed := range uint64(20) {
		p := star(8, 1e9, 1e-6)
		var ample []int32
		for range 4 { // up from hosts 0 to 3, up from 4 to 7, and the same down
			ample = append(ample, int32(len(p.links)))
			p.links = append(p.links, platforms.Link{Bandwidth: 4e9, Latency: 1e-6})
		}
		for pair, way := range p.routes {
			if from, to := pair[0]/4, pair[1]/4; from != to {
				p.routes[pair] = []int32{way[0], ample[from], ample[2+to], way[1]}
			}
		}
		o := plain("surf/precision", "1e-12")
		if seed%2 == 0 {
			o = with(o, "network/crosstraffic", "yes", "smpi/bw-factor", "0:0.9;65536:0.7")
		}
		messages := manyMessages(rand.New(rand.NewPCG(seed, 4)), 8, 400)
		want := ends(t, p, o, messages)
		for k, prepare := range []func(*Network){func(*Network) {}, (*Network).goOver} {
			got := endsOf(t, p, o, messages, func(n *Network) {
				n.leaveOut(ample)
				prepare(n)
			})
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-10+1e-9*want[i] {
					t.Fatalf("seed %d, way %d, message %d: ends at %.12g s, want %.12g", seed, k, i, got[i], want[i])
				}
			}
		}
	}
}

// TestLeaveOutFatpipes: hosts that are joined by FATPIPEs alone, each in one listed route, get of
// them what these carry where ample links are left out: C = 1 GB/s on the way there, and with cross
// traffic of C/100 on the way back, C/100/0.05 = C/5. With a window of 4 GB it does not matter.
func TestLeaveOutFatpipes(t *testing.T) {
	const size = 1e9 - envelope
	p, err := platforms.Parse(strings.NewReader(`<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="there" bandwidth="1GBps" latency="1ms" sharing_policy="FATPIPE"/><link id="back" bandwidth="10MBps" latency="1ms" sharing_policy="FATPIPE"/>
<route src="a" dst="b" symmetrical="NO"><link_ctn id="there"/></route><route src="b" dst="a" symmetrical="NO"><link_ctn id="back"/></route>
</zone></platform>`), "test.xml")
	noError(t, err)
	for _, window := range []string{"0", "4e9"} {
		for crossTraffic, want := range map[string]float64{"no": 1e-3 + 1, "yes": 1e-3 + 5} {
			eachSolver(t, plain("network/TCP-gamma", window, "network/crosstraffic", crossTraffic), func(t *testing.T, o Options) {
				n, err := New(p, o)
				noError(t, err)
				n.goOver()
				n.leaveOut(p.AmpleLinks())
				mustStart(t, n, message{0, 1, size, 0})
				n.Advance(n.Next(), nil)
				if got := n.Next(); !near(got, want, closed) {
					t.Errorf("window %s, cross traffic %s: ends at %v, want %v", window, crossTraffic, got, want)
				}
			})
		}
	}
}
