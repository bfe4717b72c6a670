package replay_test

import (
	"strings"
	"testing"

	"reprise/platforms/compose"
	"reprise/trace"
)

// TestOversubscription: all hosts of a leaf send 1e8 bytes to those of another at once, over
// 4 links of 1 us. Of s+16 bytes a message alone gets 100 Gbps, 12.5e9 byte/s; 16 of them share
// what the uplinks have together, and none gets more than a cable.
func TestOversubscription(t *testing.T) {
	const size, hosts = 1e8, 16
	for _, c := range []struct {
		tree string
		rate float64 // byte/s of a message
	}{
		{"leaf=16 up=8x200Gbps", 12.5e9},             // 16*100 <= 8*200
		{"leaf=16 up=4x200Gbps", 4 * 25e9 / hosts},   // 2 to 1
		{"leaf=16 up=1x400Gbps", 1 * 50e9 / hosts},   // 4 to 1
		{"leaf=16 up=64x50Gbps", 6.25e9},             // more than enough, but no cable has more
		{"leaf=16 up=2x150Gbps", 2 * 18.75e9 / 16.0}, // no whole number of NICs
	} {
		spec := compose.DefaultSpec(64)
		spec.NIC.Latency = 1e-6
		tree, err := compose.ParseFatTree(c.tree, spec.NIC)
		if err != nil {
			t.Fatal(err)
		}
		spec.Topology = tree
		var xml strings.Builder
		if err := spec.Write(&xml); err != nil {
			t.Fatal(err)
		}
		b := newBench(t, xml.String(), 2*hosts)
		lists := make([][]trace.Action, 2*hosts)
		for r := range int32(hosts) {
			lists[r], lists[hosts+r] = []trace.Action{send(hosts+r, 1, size)}, []trace.Action{recv(r, 1, size)}
		}
		near(t, c.tree, b.run(t, lists...).Makespan, 4*1e-6+(size+envelope)/c.rate)
	}
}
