package replay_test

import (
	"math"
	"testing"

	"reprise/trace"
)

// TestOrderOfPenalty: the order in which a penalty is summed decides whether a FATPIPE ties two
// flows. That from c0 to d0 has the smaller penalty and the whole backbone to itself, so its bound
// is where the backbone is full, but for rounding: summed with the loopback of d0 first, as SimGrid
// does behind a bypass into a zone of routing Dijkstra, both are one double, and the other flow is
// held at the same level until the first has ended. With the loopback last the bound is below, and
// the other flow has the backbone at once: 10.101 ms. SimGrid 3.32 prints 0.010002 and 0.012213.
func TestOrderOfPenalty(t *testing.T) {
	b := newBench(t, `<platform version="4.1"><zone id="world" routing="Full">
		<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="300ns" router_id="cr"
			bb_bw="100MBps" bb_lat="100ns" bb_sharing_policy="FATPIPE"/>
		<zone id="d" routing="Dijkstra"><host id="d0" speed="1Gf"/></zone>
		<zone id="e" routing="Full"><host id="e0" speed="1Gf"/></zone>
		<link id="l" bandwidth="125MBps" latency="1.429us"/>
		<link id="m" bandwidth="40MBps" latency="10us"/>
		<link id="w" bandwidth="250MBps" latency="100us"/>
		<zoneRoute src="d" dst="c" gw_src="d0" gw_dst="cr"><link_ctn id="m"/></zoneRoute>
		<bypassZoneRoute src="c" dst="d" gw_src="cr" gw_dst="d0"><link_ctn id="l"/></bypassZoneRoute>
		<zoneRoute src="c" dst="e" gw_src="cr" gw_dst="e0"><link_ctn id="w"/></zoneRoute>
		<zoneRoute src="d" dst="e" gw_src="d0" gw_dst="e0"><link_ctn id="w"/></zoneRoute></zone></platform>`, 4)
	const (
		size     = 1000000
		backbone = 100e6
		loopback = 10e9
		weightS  = 8775
		latency  = 0.3e-6 + 0.1e-6 + 1.429e-6
		other    = 0.3e-6 + 0.1e-6 + 100e-6
		penalty  = latency + weightS*(1/125e6+1/backbone+1/125e6+1/loopback)
		penalty2 = other + weightS*(1/125e6+1/backbone+1/250e6) // of the other flow
	)
	first := latency + (size+envelope)/backbone
	second := first + (size+envelope-backbone*penalty/penalty2*(first-other))/backbone
	res := b.run(t,
		[]trace.Action{send(2, 0, size)}, []trace.Action{send(3, 0, size)},
		[]trace.Action{recv(0, 0, size)}, []trace.Action{recv(1, 0, size)})
	for r, want := range []float64{first, second, first, second} {
		if got := res.Ranks[r].End; math.Abs(got-want) > 1e-12 {
			t.Errorf("rank %d ends at %.9g s, want %.9g", r, got, want)
		}
	}
}
