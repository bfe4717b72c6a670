package netmodel

import (
	"math"
	"math/rand/v2"
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
