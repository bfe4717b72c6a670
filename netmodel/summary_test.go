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
