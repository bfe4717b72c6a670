package netmodel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/internal/invariants"
	"reprise/platforms"
)

// randomNet is a network without structure: every pair of hosts has its own random
// route there, of 1 to 4 links, and back, of 0 to 4.
type randomNet struct {
	topology
	hosts int
}

// newRandomNet draws a network. Capacities are all equal or spread over a factor of
// 400, latencies over a factor of 1000, on none, some or all links zero (then
// penalties of 1 meet others of 1e-6); the TCP window (see randomOptions) bounds some
// of the flows below their links.
func newRandomNet(r *rand.Rand, fat bool) randomNet {
	n := randomNet{topology{routes: map[[2]int][]int32{}}, 2 + r.IntN(12)}
	equal, noLatency := r.IntN(3) == 0, []float64{0, 0, 0.6, 1}[r.IntN(4)]
	for range 5 + r.IntN(60) {
		l := platforms.Link{Bandwidth: 1e8, Latency: 1e-6 * math.Pow(1000, r.Float64())}
		if !equal {
			l.Bandwidth *= math.Pow(400, r.Float64())
		}
		if r.Float64() < noLatency {
			l.Latency = 0
		}
		if fat && r.IntN(4) == 0 {
			l.Policy = platforms.Fatpipe
		}
		n.links = append(n.links, l)
	}
	for i := range n.hosts {
		for j := range n.hosts {
			if i != j {
				n.routes[[2]int{i, j}] = n.randomRoute(r)
			}
		}
	}
	return n
}

// randomRoute has 1 to 4 links that may repeat.
func (n *randomNet) randomRoute(r *rand.Rand) []int32 {
	route := make([]int32, 1+r.IntN(4))
	for i := range route {
		route[i] = int32(r.IntN(len(n.links)))
	}
	return route
}

func randomOptions(r *rand.Rand) Options {
	o := DefaultOptions()
	o.CrossTraffic = r.IntN(3) > 0
	o.TCPGamma = []float64{4194304, 1e4, 1e2}[r.IntN(3)]
	o.SharePrecision = 1e-13 // of the reference: exact to rounding
	return o
}

// exercise runs messages in batches, many of them simultaneous, and calls check
// after every solve.
func exercise(r *rand.Rand, p randomNet, o Options, messages int, check func(n *Network) error) error {
	n, err := newNetwork(p.links, someHosts, p.route, o)
	if err != nil {
		return err
	}
	if p.hosts%4 == 0 {
		n.local.heapFrom = 1
	}
	var done []int32
	for started := 0; started < messages || n.Active() > 0; {
		for k := r.IntN(8); started < messages && n.Active() < 60 && k >= 0; k-- {
			i, j := r.IntN(p.hosts), r.IntN(p.hosts-1)
			if j >= i {
				j++
			}
			size := []int64{0, 1000, 100000, 10000000, r.Int64N(10000000)}[r.IntN(5)]
			at := n.now + []float64{0, 0, 1e-3 * r.Float64()}[r.IntN(3)]
			if err := n.Start(int32(started), i, j, size, at); err != nil {
				return err
			}
			started++
		}
		if p.hosts%3 == 0 {
			n.local.solves = refreshPeriod - 1 // the next solve computes the loads anew
		}
		now := n.Next()
		if math.IsInf(now, 1) {
			return fmt.Errorf("%d flows never end", n.Active())
		}
		if err := check(n); err != nil {
			return fmt.Errorf("at %v: %w", n.now, err)
		}
		done = n.Advance(now, done[:0])
	}
	return nil
}

// checkAgainstReference compares the shares of n with those of the textbook, and where
// they differ with exact ones; with FATPIPEs, where the order of the roundings decides,
// the textbook's error is allowed for instead.
func checkAgainstReference(n *Network, tolerance float64) error {
	var s system
	s.linkAt = make([]int32, len(n.links))
	ref := *n
	ref.system = s
	ref.beginSystem()
	for id := range n.flows {
		if n.flows[id].since != noDate {
			ref.addToSystem(uint32(id))
		}
	}
	for _, id := range ref.system.flows {
		ref.fillSystem(id)
	}
	ref.system.filling.solve(n.opts.SharePrecision)
	var exact map[uint32]float64
	for i, id := range ref.system.flows {
		got, want := n.Share(int32(id)), ref.system.filling.flows[i].share
		if near(got, want, tolerance) {
			continue
		}
		if n.fatpipes != nil && near(got, want, tolerance+n.referenceError()) {
			continue
		}
		if n.fatpipes == nil {
			if exact == nil {
				exact = exactLevels(n)
			}
			if want = exact[id] / n.cold[id].penalty; near(got, want, tolerance) {
				continue
			}
		}
		return fmt.Errorf("flow %d of %d: share %v, reference %v (%.1e)",
			id, len(ref.system.flows), got, want, math.Abs(got-want)/want)
	}
	return nil
}

func TestLocalEqualsReference(t *testing.T) {
	networks := 10000
	if testing.Short() {
		networks = 300
	}
	for seed := range networks {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		p, o := newRandomNet(r, seed%4 == 0), randomOptions(r)
		err := exercise(r, p, o, 30, func(n *Network) error {
			if err := n.checkInvariants(); err != nil {
				return err
			}
			return checkAgainstReference(n, solverTolerance)
		})
		if err != nil {
			t.Fatalf("network %d: %v", seed, err)
		}
	}
}

// TestLocalIsExact compares with arithmetic of 300 bits.
func TestLocalIsExact(t *testing.T) {
	for seed := range 20 {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		err := exercise(r, newRandomNet(r, false), randomOptions(r), 30, func(n *Network) error {
			for id, want := range exactLevels(n) {
				if got := n.flows[id].level; !near(got, want, solverTolerance) {
					return fmt.Errorf("flow %d: level %v, want %v (%.1e)", id, got, want, math.Abs(got-want)/want)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("network %d: %v", seed, err)
		}
	}
}

// FuzzSolver looks for networks on which the two solvers differ.
func FuzzSolver(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) {
		r := rand.New(rand.NewPCG(seed, uint64(kind)))
		p, o := newRandomNet(r, kind%2 == 0), randomOptions(r)
		err := exercise(r, p, o, 60, func(n *Network) error {
			if err := n.checkInvariants(); err != nil {
				return err
			}
			return checkAgainstReference(n, solverTolerance)
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestManyAtOnce solves filling sets large enough for the heap: all flows begin at
// one date on few links.
func TestManyAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	p := newRandomNet(r, false)
	p.hosts = 60
	for i := range 300 {
		p.links = append(p.links, platforms.Link{Bandwidth: 1e8 * (1 + r.Float64()), Latency: 1e-6 * float64(1+i%3)})
	}
	for i := range p.hosts {
		for j := range p.hosts {
			p.routes[[2]int{i, j}] = p.randomRoute(r)
		}
	}
	n, err := newNetwork(p.links, someHosts, p.route, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	n.opts.SharePrecision = 1e-13
	for i := range 2000 {
		mustStart(t, n, message{i % 60, (i * 7) % 60, 100000, 0})
	}
	n.Advance(1, nil) // every latency phase is over
	n.Next()
	if cap(n.local.heap) == 0 {
		t.Fatalf("no filling of %d links or more", heapThreshold)
	}
	if err := n.checkInvariants(); err != nil {
		t.Error(err)
	}
	if err := checkAgainstReference(n, solverTolerance); err != nil {
		t.Error(err)
	}
}

// TestSteadyStateAllocatesNothing replays a warm ring shift.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	for _, solver := range []string{"local", "reference"} {
		r := newRunner(t, fatTree(t, 64), with(DefaultOptions(), "reprise/solver", solver), ring(64, 1, 256<<10, 10e-6))
		r.run(2000)
		if allocs := testing.AllocsPerRun(3, func() { r.run(500) }); allocs != 0 {
			t.Errorf("%s: %v allocations in 500 messages, want 0", solver, allocs)
		}
	}
}

// TestSameBits: two runs give the same dates to the last bit, and the two solvers
// give nearly the same.
func TestSameBits(t *testing.T) {
	p := fatTree(t, 64)
	end := func(solver string) float64 {
		r := newRunner(t, p, with(DefaultOptions(), "reprise/solver", solver), ring(64, 1, 256<<10, 10e-6))
		r.run(1000)
		return r.n.now
	}
	if a, b := end("local"), end("local"); a != b {
		t.Errorf("%v and %v", a, b)
	}
	if a, b := end("local"), end("reference"); !near(a, b, 1e-6) {
		t.Errorf("local %v, reference %v", a, b)
	}
}

// TestExtremePenalties: f, of penalty 1e-16, shares its bottleneck B = 2e-3 byte/s
// with another, so it takes 1e-3 of link A = 1, where it meets g, of penalty 1. The
// usages 1e16 and 1 on A add up to 1e16: taking f's away again leaves nothing of g's.
// Still g must get 1 - 1e-3, though link D, shared with k (bottleneck E), would give
// it 0.9995 - 5e-7.
func TestExtremePenalties(t *testing.T) {
	p := topology{
		links: []platforms.Link{
			{Bandwidth: 1}, {Bandwidth: 2e-3, Latency: 1e-16}, {Bandwidth: 0.9995}, {Bandwidth: 1e-6, Latency: 1e-3},
		},
		routes: map[[2]int][]int32{{0, 1}: {1, 0}, {2, 3}: {0, 2}, {4, 5}: {3, 2}, {6, 7}: {1}, {8, 9}: {3}},
	}
	n, err := newNetwork(p.links, someHosts, p.route, plain("network/weight-S", "0"))
	if err != nil {
		t.Fatal(err)
	}
	mustStart(t, n, message{0, 1, 1000, 0})
	g := mustStart(t, n, message{2, 3, 1000, 0})
	mustStart(t, n, message{4, 5, 1000, 0})
	mustStart(t, n, message{6, 7, 1000, 0}) // so that B and E are no private links
	mustStart(t, n, message{8, 9, 1000, 0})
	n.Advance(1, nil)
	n.Next()
	if want := 1 - 1e-3; !near(n.Share(g), want, 1e-9) {
		t.Errorf("share %v, want %v", n.Share(g), want)
	}
}
