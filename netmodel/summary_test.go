package netmodel

import (
	"math"
	"testing"
)

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
		if err := n.Start(7, 0, 1, size, 0); err != nil {
			t.Fatal(err)
		}
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
	}{{"single", func(*Network) {}}, {"bundled", (*Network).Bundle}, {"bundled and swept", func(n *Network) { n.Sweep(); n.Bundle() }}} {
		p := star(3, 1e9, 1e-6)
		n, err := newNetwork(p.links, someHosts, p.route, plain("smpi/bw-factor", "0:0.5", "smpi/lat-factor", "0:1"))
		if err != nil {
			t.Fatal(err)
		}
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
			if err := n.Start(id, src, 2, size-envelope, at); err != nil {
				t.Fatal(err)
			}
		}
		start(0, 0, 1e6, 0)
		start(1, 1, 2e6, 0)
		check(0, 4.002e-3, Summary{From: 2e-6, Bytes: 1e6, Alone: 5e8, Link: shared})
		check(1, 6.002e-3, Summary{From: 2e-6, Bytes: 2e6, Alone: 5e8, Link: shared})
		start(0, 0, 1e6, 0.01)
		check(0, 0.012002, Summary{From: 0.010002, Bytes: 1e6, Alone: 5e8, Link: noLink})
	}
}
