package netmodel

import (
	"math"
	"strings"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Model, o.WeightS, o.CrossTraffic, o.TCPGamma = ModelCM02, weightS, false, 0
	n, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := n.Start(0, 0, 1, size, 0); err != nil {
			t.Fatal(err)
		}
		c.change(n)
		got := 0.0
		for next := n.Next(); !math.IsInf(next, 1); next = n.Next() {
			got = next
			n.Advance(next, nil)
		}
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
	if err := n.Start(3, 0, 1, 1000, 0); err != nil {
		t.Fatal(err)
	}
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
	if err := n.Start(0, 0, 1, 1000, 0); err != nil {
		t.Fatal(err)
	}
	write := func(c *snapshot.State) { n.state(c) }
	snapshottest.Fields(t, n.changing, func(c *snapshot.State, _ *changing) { write(c) }, "at stale ids route")
	snapshottest.Fields(t, &n.changing.links[0], func(c *snapshot.State, _ *changingLink) { write(c) }, "link")
	snapshottest.Fields(t, &n.changing.flows[0], func(c *snapshot.State, _ *changingFlow) { write(c) }, "")
}
