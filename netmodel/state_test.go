package netmodel

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/snapshot"
	"reprise/internal/snapshot/snapshottest"
	"reprise/platforms"
)

// changingNetwork returns a network over a link of 100 MB/s and 1 ms with profiles, without
// cross traffic, factors and window, so that times are plain.
func changingNetwork(t *testing.T, weightS float64) *Network {
	t.Helper()
	const xml = `<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><link id="l" bandwidth="100MBps" latency="1ms"/>
<route src="a" dst="b"><link_ctn id="l"/></route></zone>
<trace id="t" periodicity="-1">9 1e8</trace><trace_connect kind="BANDWIDTH" trace="t" element="l"/></platform>`
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	noError(t, err)
	o := DefaultOptions()
	o.Model, o.WeightS, o.CrossTraffic, o.TCPGamma = ModelCM02, weightS, false, 0
	n, err := New(p, o)
	noError(t, err)
	return n
}

const changingLinkNumber = 1 // behind the global loopback

// TestChanges has closed forms for a message of 1e7 bytes, envelope included, which takes
// 1 ms + 0.1 s alone.
func TestChanges(t *testing.T) {
	const size, l = 1e7 - envelope, changingLinkNumber
	for _, c := range []struct {
		name    string
		weightS float64
		change  func(*Network)
		want    float64
	}{
		{"none", 0, func(*Network) {}, 0.101},
		// Half of the bandwidth from 0.051 s on: half of the message is left.
		{"half", 0, func(n *Network) { n.to(0.051); n.SetBandwidth(l, 5e7, 0.051) }, 0.151},
		// No window, so more bandwidth reaches the message.
		{"double", 0, func(n *Network) { n.to(0.051); n.SetBandwidth(l, 2e8, 0.051) }, 0.076},
		// With S the change ends the latency phase, without S it does not.
		{"in the latency phase", 0, func(n *Network) { n.SetBandwidth(l, 5e7, 0.0005) }, 0.201},
		{"in the latency phase, S", 8775, func(n *Network) { n.SetBandwidth(l, 5e7, 0.0005) }, 0.2005},
		{"latency in the latency phase", 0, func(n *Network) { n.SetLatency(l, 5, 0.0005) }, 0.1005},
		{"a pause", 8775, func(n *Network) {
			n.to(0.051)
			n.SetBandwidth(l, 0, 0.051)
			n.SetBandwidth(l, 1e8, 0.151)
		}, 0.201},
		// Zero at the very time of the end takes nothing back.
		{"zero at the end", 0, func(n *Network) { n.to(0.1); n.SetBandwidth(l, 0, 0.101) }, 0.101},
	} {
		n := changingNetwork(t, c.weightS)
		noError(t, n.Start(0, 0, 1, size, 0))
		c.change(n)
		got := n.lastEvent()
		if math.Abs(got-c.want) > 1e-14 {
			t.Errorf("%s: ends at %v, want %v", c.name, got, c.want)
		}
	}
}

// to lets all events before a time happen.
func (n *Network) to(at float64) {
	for next := n.Next(); next < at; next = n.Next() {
		n.Advance(next, nil)
	}
}

// TestLinkOff: a link that is switched off is refused to new transfers and names those on it.
func TestLinkOff(t *testing.T) {
	n := changingNetwork(t, 0)
	noError(t, n.Start(3, 0, 1, 1000, 0))
	if id := n.SetState(changingLinkNumber, false); id != 3 {
		t.Errorf("transfer %d fails, want 3", id)
	}
	if err := n.Start(4, 0, 1, 1000, 0); err == nil {
		t.Error("a transfer over a link that is off starts")
	}
	n.SetState(changingLinkNumber, true)
	if err := n.Start(4, 0, 1, 1000, 0); err != nil {
		t.Error(err)
	}
}

// TestChangingSnapshotFields: every field of what changes is saved, or derived from the
// platform.
func TestChangingSnapshotFields(t *testing.T) {
	n := changingNetwork(t, 8775)
	noError(t, n.Start(0, 0, 1, 1000, 0))
	write := func(c *snapshot.State) { n.state(c) }
	snapshottest.Fields(t, n.changing, func(c *snapshot.State, _ *changing) { write(c) }, "at stale ids route")
	snapshottest.Fields(t, &n.changing.links[0], func(c *snapshot.State, _ *changingLink) { write(c) }, "link")
	snapshottest.Fields(t, &n.changing.flows[0], func(c *snapshot.State, _ *changingFlow) { write(c) }, "")
}

// TestSummary has closed forms for a message of 1e7 bytes, envelope included, over a link of 1e8
// byte/s and 1 ms: as it is, where a change of the link ends its latency phase, and where half of it
// has been carried before anybody asks.
func TestSummary(t *testing.T) {
	const size, rate = 1e7 - envelope, 1e8
	for _, c := range []struct {
		name        string
		weightS     float64
		before      func(*Network) // Summarize, and after it
		after       func(*Network)
		from, bytes float64
		end         float64
	}{
		{name: "whole", from: 0.001, bytes: 1e7, end: 0.101},
		{
			name: "a change in the latency phase", weightS: 8775,
			after: func(n *Network) { n.SetBandwidth(changingLinkNumber, rate/2, 0.0005) },
			from:  0.0005, bytes: 1e7, end: 0.2005,
		},
		{
			name:   "half",
			before: func(n *Network) { n.to(0.051); n.Advance(0.051, nil) },
			from:   0.051, bytes: 5e6, end: 0.101,
		},
	} {
		n := changingNetwork(t, c.weightS)
		if c.before == nil {
			n.Summarize()
		}
		noError(t, n.Start(7, 0, 1, size, 0))
		if c.before != nil {
			c.before(n)
			n.Summarize()
		}
		if c.after != nil {
			c.after(n)
		}
		for n.Active() > 0 {
			n.Advance(n.Next(), nil)
		}
		s := n.Summary(7)
		if math.Abs(s.From-c.from) > 1e-9 || math.Abs(s.Bytes-c.bytes) > 1 || math.Abs(n.now-c.end) > 1e-9 || s.Link != noLink {
			t.Errorf("%s: %+v up to %v s, want %v bytes from %v to %v s", c.name, s, n.now, c.bytes, c.from, c.end)
		}
	}
}

// TestSharedSummary has closed forms for messages of 1e6 and 2e6 bytes, envelope included, from two hosts to a third,
// whose link of 1e9 byte/s they share. With a factor of 0.5 that is 2.5e8 byte/s for each, behind 2 us of latency, until
// the first ends 4 ms later; the other one has 5e8 byte/s for its second half. A third message has the number of
// the first, and nobody beside it.
func TestSharedSummary(t *testing.T) {
	const shared = 2*2 + 1 // link down to host 2
	for _, c := range []struct {
		name    string
		prepare func(*Network)
	}{{"single", func(*Network) {}}, {"bundled", (*Network).goOver}} {
		p := star(3, 1e9, 1e-6)
		n, err := newNetwork(p.links, someHosts, p.route, plain("smpi/bw-factor", "0:0.5", "smpi/lat-factor", "0:1"))
		noError(t, err)
		c.prepare(n)
		n.Summarize()
		check := func(id int32, at float64, want Summary) {
			done := []int32{}
			for len(done) == 0 {
				done = n.Advance(n.Next(), done)
			}
			got := *n.Summary(id)
			if done[0] != id || !near(n.now, at, 1e-9) || !near(got.From, want.From, 1e-9) || math.Abs(got.Bytes-want.Bytes) > 1 ||
				!near(got.Alone, want.Alone, 1e-9) || n.Factor(id) != 0.5 || got.Link != want.Link {
				t.Errorf("%s: message %d: %+v up to %v s, want %+v up to %v s", c.name, done[0], got, n.now, want, at)
			}
		}
		start := func(id int32, src int, size int64, at float64) {
			noError(t, n.Start(id, src, 2, size-envelope, at))
		}
		start(0, 0, 1e6, 0)
		start(1, 1, 2e6, 0)
		check(0, 4.002e-3, Summary{From: 2e-6, Bytes: 1e6, Alone: 5e8, Link: shared})
		check(1, 6.002e-3, Summary{From: 2e-6, Bytes: 2e6, Alone: 5e8, Link: shared})
		start(0, 0, 1e6, 0.01)
		check(0, 0.012002, Summary{From: 0.010002, Bytes: 1e6, Alone: 5e8, Link: noLink})
	}
}

// TestSnapshotFields: every field of the state is saved, by a part of its own, or derived: found
// again from the platform, the options and other fields.
func TestSnapshotFields(t *testing.T) {
	n := snapshotNetwork(t)
	snapshottest.Fields(t, n, func(c *snapshot.State, n *Network) { n.state(c) }, "opts routes due bounds bundles lookAfter changing system watched summary meter lastSize lastF lastG lastBound lastWithin")
	snapshottest.Fields(t, n.routes, func(c *snapshot.State, _ *routes) { n.state(c) },
		"routeOf summedOf classes of crossTraffic window distanceOf places shift links width kinds kindOf key patterns walk there back from to summed order")
	snapshottest.Fields(t, &n.flows[0], func(c *snapshot.State, _ *flow) { n.state(c) }, "")
	snapshottest.Fields(t, &n.stats, func(c *snapshot.State, _ *Stats) { n.state(c) }, "Solves SolvedFlows Rounds Components")
}

// snapshotLinks are some links that conflict, two of them FATPIPEs.
func snapshotLinks() []platforms.Link {
	list := make([]platforms.Link, 8)
	for i := range list {
		list[i] = platforms.Link{Bandwidth: 1e8 * float64(1+i%3), Latency: 1e-5 * float64(1+i%4)}
	}
	list[1].Policy, list[5].Policy = platforms.Fatpipe, platforms.Fatpipe
	return list
}

// snapshotRoute takes a host to another over one to three links.
func snapshotRoute(route []int32, src, dst int) ([]int32, error) {
	for i := range 1 + (src+dst)%3 {
		route = append(route, int32((src+3*dst+i)%8))
	}
	return route, nil
}

// snapshotNetwork returns a network with transfers in flight.
func snapshotNetwork(t *testing.T) *Network {
	t.Helper()
	n, err := newNetwork(snapshotLinks(), someHosts, snapshotRoute, DefaultOptions())
	noError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	for id := range int32(30) {
		n.startRandom(t, rng, id)
	}
	for range 20 {
		n.Advance(n.Next(), nil)
	}
	n.Next()
	return n
}

func (n *Network) startRandom(t *testing.T, rng *rand.Rand, id int32) {
	t.Helper()
	noError(t, n.Start(id, rng.IntN(9), rng.IntN(9), rng.Int64N(1e7), n.now+rng.Float64()*0.01))
}

// TestSnapshot saves a network at each event of a random run and goes on with the copy:
// all events are the same bits.
func TestSnapshot(t *testing.T) {
	n := snapshotNetwork(t)
	rng := rand.New(rand.NewPCG(3, 4))
	next := int32(len(n.flows))
	for i := 0; !math.IsInf(n.Next(), 1); i++ {
		if i == 100 {
			n.goOver()
			n.Next()
		}
		var file strings.Builder
		noError(t, n.SaveState(&file))
		other, err := newNetwork(snapshotLinks(), someHosts, snapshotRoute, DefaultOptions())
		noError(t, err)
		noError(t, other.RestoreState(strings.NewReader(file.String())))
		if a, b := n.Next(), other.Next(); a != b {
			t.Fatalf("event %d at %v, want %v", i, b, a)
		}
		got, want := other.Advance(other.Next(), nil), n.Advance(n.Next(), nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("event %d ends others (-want +got):\n%s", i, diff)
		}
		for range len(want) {
			if i < 300 { // keep the network busy for a while
				seed := rng.Uint64()
				n.startRandom(t, rand.New(rand.NewPCG(seed, 0)), next)
				other.startRandom(t, rand.New(rand.NewPCG(seed, 0)), next)
				next++
			}
		}
		if n.Next() != other.Next() || n.Stats() != other.Stats() {
			t.Fatalf("after event %d: next at %v, %+v, want %v, %+v", i, other.Next(), other.Stats(), n.Next(), n.Stats())
		}
		n = other
	}
}
