package netmodel

import (
	"strings"
	"testing"

	"reprise/platforms"
)

// TestLoad: with bandwidth factors 0.5 up to 999 bytes and 2 from 1,000 on, envelope of
// 16 bytes included, a link gives 2 and 0.5 bytes for each that is carried; factors that
// bound shares load links with what is carried, of which they then carry a part.
func TestLoad(t *testing.T) {
	p, err := platforms.Parse(strings.NewReader(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us"/></platform>`), "two.xml")
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.BandwidthFactors = Factors{{0, 0.5}, {1000, 2}}
	o.LoopbackBandwidthFactors = Factors{{0, 4}}
	o.LoopbackBandwidth = 3e9
	o.BandwidthFactor = 0.97
	bound := o
	bound.FactorRule = FactorBound
	for _, c := range []struct {
		name      string
		o         *Options
		size      int64
		within    bool
		load      float64
		link      int32
		bandwidth float64
	}{
		{"small", &o, 900, false, 1 / 0.5, 1, 1e9},
		{"large", &o, 990, false, 1 / 2.0, 1, 1e9},
		{"within a host", &o, 900, true, 1 / 4.0, platforms.LoopbackLink, 3e9},
		{"bound", &bound, 900, false, 1, 1, 0.97 * 1e9},
	} {
		if got := loadOf(t, p, c.o, c.size, c.within); got != c.load {
			t.Errorf("%s: a load of %v for each byte, want %v", c.name, got, c.load)
		}
		if got := c.o.LinkCapacity(p, c.link); got != c.bandwidth {
			t.Errorf("%s: link %d carries %v byte/s, want %v", c.name, c.link, got, c.bandwidth)
		}
	}
}

// loadOf sends a message to the same host or another one, and returns its load.
func loadOf(t *testing.T, p *platforms.Platform, o *Options, size int64, within bool) float64 {
	t.Helper()
	n, err := New(p, *o)
	if err != nil {
		t.Fatal(err)
	}
	n.Summarize()
	dst := 1
	if within {
		dst = 0
	}
	if err := n.Start(0, 0, dst, size, 0); err != nil {
		t.Fatal(err)
	}
	for n.Active() > 0 {
		n.Advance(n.Next(), nil)
	}
	return 1 / n.Factor(0)
}
