package maxmin

import (
	"math"
	"math/rand/v2"
)

// generator draws systems without structure: each user has 1 to 4 constraints of its own
// choice, and as many, or none, with a small weight, as messages and their acknowledgements.
type generator struct {
	*rand.Rand
	*pair
	latency []float64 // by constraint, of which penalties are made
	window  float64   // bounds a share to window/(2*latency)
	back    bool      // users have constraints with small weights
}

// newGenerator draws constraints. Capacities are all equal, equal but for a few units in the
// last place, or spread over a factor of 400; latencies over a factor of 1000, on none, some or
// all constraints 0, where penalties of 1 meet others of 1e-6.
func newGenerator(r *rand.Rand, fat bool) *generator {
	g := &generator{Rand: r, window: []float64{4194304, 1e4, 1e2}[r.IntN(3)], back: r.IntN(3) > 0}
	spread, noLatency := r.IntN(3), []float64{0, 0, 0.6, 1}[r.IntN(4)]
	var constraints []Constraint
	for range 5 + r.IntN(60) {
		c := Constraint{Capacity: 1e8}
		switch latency := 1e-6 * math.Pow(1000, r.Float64()); {
		case r.Float64() < noLatency:
			g.latency = append(g.latency, 0)
		default:
			g.latency = append(g.latency, latency)
		}
		switch spread {
		case 1:
			c.Capacity *= 1 + float64(r.IntN(5))*0x1p-52
		case 2:
			c.Capacity *= math.Pow(400, r.Float64())
		}
		if fat && r.IntN(4) == 0 {
			c.Policy = Fatpipe
		}
		constraints = append(constraints, c)
	}
	g.pair = newPair(constraints)
	if r.IntN(4) == 0 {
		g.local.set.heapFrom = 1
	}
	return g
}

// user draws a user, with a penalty as SimGrid makes it of a route.
func (g *generator) user() *user {
	u := &user{bound: 1e300, weights: map[int32]float64{}}
	latency := 0.0
	for _, c := range g.choose(1 + g.IntN(4)) {
		g.add(u, c, 1)
		latency += g.latency[c]
		u.penalty += g.latency[c] + 8775/g.constraints[c].Capacity
		u.bound = min(u.bound, g.constraints[c].Capacity)
	}
	if g.back {
		for _, c := range g.choose(g.IntN(5)) {
			g.add(u, c, 0.05)
		}
	}
	if latency == 0 {
		u.penalty = 1
	} else {
		u.bound = min(u.bound, g.window/(2*latency))
	}
	return u
}

// add has a user use a constraint, perhaps more than once.
func (g *generator) add(u *user, c int32, weight float64) {
	if g.constraints[c].Policy == Fatpipe {
		u.weights[c] = max(u.weights[c], weight)
	} else {
		u.weights[c] += weight
	}
}

// choose draws so many constraints, which may repeat.
func (g *generator) choose(count int) (list []int32) {
	for range count {
		list = append(list, int32(g.IntN(len(g.constraints))))
	}
	return list
}

// exercise has so many users come and go, at most atOnce at a time, and checks each solution.
func (g *generator) exercise(users, atOnce int) error {
	var here []uint32
	for came := 0; came < users || len(here) > 0; {
		for k := g.IntN(atOnce); came < users && k >= 0; k-- {
			id := uint32(came)
			g.enable(id, g.user())
			here = append(here, id)
			came++
		}
		if g.IntN(3) == 0 {
			g.local.set.solves = refreshPeriod - 1 // the next solve computes the loads anew
		}
		if err := g.solve(); err != nil {
			return err
		}
		for k := g.IntN(4); len(here) > 0 && k >= 0; k-- {
			i := g.IntN(len(here))
			g.disable(here[i])
			here = append(here[:i], here[i+1:]...)
		}
	}
	return nil
}
