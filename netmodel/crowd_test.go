package netmodel

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/platforms"
)

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
		for k, prepare := range []func(*Network){func(*Network) {}, (*Network).Sweep, (*Network).Bundle} {
			got := endsOf(t, p, o, messages, func(n *Network) {
				n.LeaveOut(ample)
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
	if err != nil {
		t.Fatal(err)
	}
	for _, window := range []string{"0", "4e9"} {
		for crossTraffic, want := range map[string]float64{"no": 1e-3 + 1, "yes": 1e-3 + 5} {
			eachSolver(t, plain("network/TCP-gamma", window, "network/crosstraffic", crossTraffic), func(t *testing.T, o Options) {
				n, err := New(p, o)
				if err != nil {
					t.Fatal(err)
				}
				n.Sweep()
				n.LeaveOut(p.AmpleLinks())
				mustStart(t, n, message{0, 1, size, 0})
				n.Advance(n.Next(), nil)
				if got := n.Next(); !near(got, want, closed) {
					t.Errorf("window %s, cross traffic %s: ends at %v, want %v", window, crossTraffic, got, want)
				}
			})
		}
	}
}
