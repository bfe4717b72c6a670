package netmodel

import (
	"math"
	"strings"
	"testing"

	"reprise/platforms"
)

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
		if err != nil {
			t.Fatal(err)
		}
		src, _ := p.HostIndex(c.src)
		dst, _ := p.HostIndex(c.dst)
		eachSolver(t, DefaultOptions(), func(t *testing.T, o Options) {
			for name, prepare := range map[string]func(*Network){"each": func(*Network) {}, "bundled": (*Network).Bundle, "swept": (*Network).Sweep} {
				n, err := New(p, o)
				if err != nil {
					t.Fatal(err)
				}
				prepare(n)
				at := 0.0
				for range 4 { // the third is of a route that is remembered
					mustStart(t, n, message{src, dst, 1000000, at})
					end := at
					for next := n.Next(); !math.IsInf(next, 1); next = n.Next() {
						end = next
						n.Advance(next, nil)
					}
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
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(p, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatal(err)
			}
			mustStart(t, n, message{0, 1, 1000000, 0})
			end := 0.0
			for next := n.Next(); !math.IsInf(next, 1); next = n.Next() {
				end = next
				n.Advance(next, nil)
			}
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
		if err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	return p
}
