package netmodel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// manyMessages are random messages between few hosts, a host to itself included, many of them at
// equal times.
func manyMessages(random *rand.Rand, hosts, count int) []message {
	list := make([]message, count)
	for i := range list {
		size := int64(random.IntN(3)) * 40000
		if random.IntN(4) == 0 {
			size = int64(random.IntN(200000))
		}
		list[i] = message{random.IntN(hosts), random.IntN(hosts), size, 1e-5 * float64(random.IntN(60))}
	}
	slices.SortFunc(list, func(a, b message) int { return int(math.Copysign(1, a.at-b.at)) })
	return list
}

func neverOver(n *Network) { n.lookAfter = math.MaxInt64 }
func soonOver(n *Network)  { n.opts.Solver = SolverClocks }

// TestBundles: bundled from the first transfer on, or later, transfers end when they do if each of them is a variable,
// within the precision of time, of which some must be left to those before them.
func TestBundles(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 2))
		latency := []float64{0, 1e-6, 1e-5}[seed%3]
		p, o := star(2+random.IntN(5), 1e9, latency), plain("surf/precision", "1e-12")
		if seed%2 == 0 {
			o = with(o, "network/crosstraffic", "yes", "smpi/bw-factor", "0:0.9;65536:0.7")
		}
		messages := manyMessages(random, len(p.links)/2, 300)
		want := endsOf(t, p, o, messages, neverOver)
		for k, prepare := range []func(*Network){(*Network).goOver, soonOver} {
			got := endsOf(t, p, o, messages, prepare)
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-10+1e-9*want[i] {
					t.Fatalf("seed %d, way %d, message %d: ends at %.12g s, want %.12g", seed, k, i, got[i], want[i])
				}
			}
		}
	}
}

// TestCrowded: in groups of twelve hosts, a flow that begins or ends changes the shares of more than three others. A
// network makes bundles if the flows of a host all go to the same one, and not if each goes to another.
func TestCrowded(t *testing.T) {
	const hosts, group = 36, 12
	for _, c := range []struct{ flows, partners int }{{11, 1}, {11, 11}} {
		var messages []message
		for round := range 20 {
			for src := range hosts {
				for i := range c.flows {
					dst := src/group*group + (src+1+i%c.partners)%group
					messages = append(messages, message{src, dst, int64(1e5 + 1e4*((7*src+5*i)%23)), float64(round)})
				}
			}
		}
		var n *Network
		endsOf(t, star(hosts, 1e9, 1e-6), plain(), messages, func(of *Network) { n, of.lookAfter = of, 1000 })
		if n.bundles != nil != (c.partners == 1) {
			t.Errorf("%d flows to %d hosts: bundles %v", c.flows, c.partners, n.bundles != nil)
		}
		if shifts := n.Stats().SolvedFlows; c.partners > 1 && shifts <= shared*n.stats.Events {
			t.Errorf("%d changes of shares in %d events", shifts, n.stats.Events)
		}
	}
}

// TestBundlesShare: n messages of a pair of hosts and one of another share a link, so that each
// has 1/(n+1) of it until the shorter ones end.
func TestBundlesShare(t *testing.T) {
	p, o := star(3, 1e9, 1e-6), plain()
	messages := []message{{0, 2, 1e6 - envelope, 0}, {0, 2, 1e6 - envelope, 0}, {0, 2, 3e6 - envelope, 0}, {1, 2, 1e6 - envelope, 0}}
	got := endsOf(t, p, o, messages, (*Network).goOver)
	// Four share 1e9 byte/s until 1e6 bytes of each are carried, 4 ms; then 2e6 bytes are left.
	for i, want := range []float64{2e-6 + 4e-3, 2e-6 + 4e-3, 2e-6 + 6e-3, 2e-6 + 4e-3} {
		if !near(got[i], want, 1e-9) {
			t.Errorf("message %d ends at %g s, want %g", i, got[i], want)
		}
	}
}

// carriedBytes adds up what a Watcher is told.
type carriedBytes []float64

func (c carriedBytes) Carried(id int32, from, to, rate, alone float64, link int32) {
	c[id] += rate * (to - from)
}

// TestBundlesWatched: what is told of a transfer adds up to its size and envelope.
func TestBundlesWatched(t *testing.T) {
	messages := manyMessages(rand.New(rand.NewPCG(1, 3)), 4, 200)
	for k, prepare := range []func(*Network){(*Network).goOver, soonOver} {
		carried := make(carriedBytes, len(messages))
		endsOf(t, star(4, 1e9, 1e-6), plain(), messages, func(n *Network) {
			prepare(n)
			n.Watch(carried)
		})
		for i, m := range messages {
			if want := float64(m.size + envelope); math.Abs(carried[i]-want) > 1+1e-9*want { // a nanosecond at 1e9 byte/s
				t.Errorf("way %d, message %d: %g bytes carried, want %g", k, i, carried[i], want)
			}
		}
	}
}

// TestGoesOver: a network goes over to bundles where working sets are large, and only there, in the middle of a run whose
// transfers end as they would without.
func TestGoesOver(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, hosts := range []int{4, 100} {
		p, messages := star(hosts, 1e9, 1e-6), make([]message, 6000)
		for i := range messages {
			messages[i] = message{random.IntN(hosts), random.IntN(hosts), random.Int64N(1e6), 1e-6 * float64(i)}
			if hosts == 4 {
				messages[i].at = 1e-2 * float64(i) // one after the other
			}
		}
		want := endsOf(t, p, plain(), messages, neverOver)
		var n *Network
		got := endsOf(t, p, plain(), messages, func(of *Network) { n = of })
		for i := range want {
			if !near(got[i], want[i], 1e-9) {
				t.Fatalf("%d hosts, message %d: ends at %.12g s, want %.12g", hosts, i, got[i], want[i])
			}
		}
		if crowded := n.bundles != nil; crowded != (hosts == 100) {
			t.Errorf("%d hosts: bundled: %t", hosts, crowded)
		}
	}
}
