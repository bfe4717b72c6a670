package netmodel

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/snapshot"
	"reprise/internal/snapshot/snapshottest"
	"reprise/platforms"
)

// TestSnapshotFields: every field of the state is saved, by a part of its own, or derived: found
// again from the platform, the options and other fields.
func TestSnapshotFields(t *testing.T) {
	n := snapshotNetwork(t)
	snapshottest.Fields(t, n, func(c *snapshot.State, n *Network) { n.state(c) }, "opts routes bundles changing system watched summary lastSize lastF lastG lastBound lastWithin")
	snapshottest.Fields(t, n.routes, func(c *snapshot.State, _ *routes) { n.state(c) },
		"routeOf summedOf classes of crossTraffic window distanceOf places shift links width kinds kindOf key patterns walk there back from to summed order")
	snapshottest.Fields(t, &n.flows[0], func(c *snapshot.State, _ *flow) { n.state(c) }, "")
	snapshottest.Fields(t, &n.stats, func(c *snapshot.State, _ *Stats) { n.state(c) }, "Solves SolvedFlows Rounds Components")
}

// snapshotLinks are some links that conflict, two of them FATPIPEs.
func snapshotLinks() []platforms.Link {
	list := make([]platforms.Link, 8)
	for i := range list {
		list[i] = platforms.Link{Bandwidth: 1e8 * float64(1+i%3), Latency: 1e-5 * float64(1+i%4)}
	}
	list[1].Policy, list[5].Policy = platforms.Fatpipe, platforms.Fatpipe
	return list
}

// snapshotRoute takes a host to another over one to three links.
func snapshotRoute(route []int32, src, dst int) ([]int32, error) {
	for i := range 1 + (src+dst)%3 {
		route = append(route, int32((src+3*dst+i)%8))
	}
	return route, nil
}

// snapshotNetwork returns a network with transfers in flight.
func snapshotNetwork(t *testing.T) *Network {
	t.Helper()
	n, err := newNetwork(snapshotLinks(), someHosts, snapshotRoute, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for id := range int32(30) {
		n.startRandom(t, rng, id)
	}
	for range 20 {
		n.Advance(n.Next(), nil)
	}
	n.Next()
	return n
}

func (n *Network) startRandom(t *testing.T, rng *rand.Rand, id int32) {
	t.Helper()
	if err := n.Start(id, rng.IntN(9), rng.IntN(9), rng.Int64N(1e7), n.now+rng.Float64()*0.01); err != nil {
		t.Fatal(err)
	}
}

// TestSnapshot saves a network at each event of a random run and goes on with the copy:
// all events are the same bits.
func TestSnapshot(t *testing.T) {
	n := snapshotNetwork(t)
	rng := rand.New(rand.NewPCG(3, 4))
	next := int32(len(n.flows))
	for i := 0; !math.IsInf(n.Next(), 1); i++ {
		var file strings.Builder
		if err := n.SaveState(&file); err != nil {
			t.Fatal(err)
		}
		other, err := newNetwork(snapshotLinks(), someHosts, snapshotRoute, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := other.RestoreState(strings.NewReader(file.String())); err != nil {
			t.Fatal(err)
		}
		if a, b := n.Next(), other.Next(); a != b {
			t.Fatalf("event %d at %v, want %v", i, b, a)
		}
		got, want := other.Advance(other.Next(), nil), n.Advance(n.Next(), nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("event %d ends others (-want +got):\n%s", i, diff)
		}
		for range len(want) {
			if i < 300 { // keep the network busy for a while
				seed := rng.Uint64()
				n.startRandom(t, rand.New(rand.NewPCG(seed, 0)), next)
				other.startRandom(t, rand.New(rand.NewPCG(seed, 0)), next)
				next++
			}
		}
		if n.Next() != other.Next() || n.Stats() != other.Stats() {
			t.Fatalf("after event %d: next at %v, %+v, want %v, %+v", i, other.Next(), other.Stats(), n.Next(), n.Stats())
		}
		n = other
	}
}
