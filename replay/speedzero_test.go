package replay_test

import (
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// TestSpeedZero: a host of speed 0 sends and receives as any other (SimGrid 3.32: 1,000
// bytes over the link below take 5.07 us from or to it), and is named if it computes.
func TestSpeedZero(t *testing.T) {
	const zero = `<platform version="4.1"><zone id="w" routing="Full">
		<host id="a" speed="0f"/><host id="b" speed="1Gf"/><link id="ab" bandwidth="1GBps" latency="1us"/>
		<route src="a" dst="b"><link_ctn id="ab"/></route></zone></platform>`
	for _, c := range []struct {
		name  string
		hosts []int32
		first []trace.Action
		want  string
	}{
		{"messages", []int32{0, 1}, []trace.Action{send(1, 5, 1000)}, ""},
		{"nothing to compute", []int32{0, 1}, []trace.Action{flops(0), send(1, 5, 1000)}, ""},
		{"more ranks than cores", []int32{0, 0}, []trace.Action{send(1, 5, 1000)}, ""},
		{"a computation", []int32{0, 1}, []trace.Action{send(1, 5, 1000), flops(1)}, `rank 0 computes on host "a", whose speed is 0`},
		{"a shared computation", []int32{0, 0}, []trace.Action{send(1, 5, 1000), flops(1)}, `rank 0 computes on host "a", whose speed is 0`},
	} {
		b := newBench(t, zero, 2)
		b.Machine.Hosts = c.hosts
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{c.first, {recv(0, 5, 1000)}}), b.Machine, b.Options)
		if err == nil && c.want != "" || err != nil && err.Error() != c.want {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
