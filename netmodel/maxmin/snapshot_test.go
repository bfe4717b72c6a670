package maxmin

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/internal/snapshot"
	"reprise/internal/snapshot/snapshottest"
)

// someSystem returns a solved system with FATPIPEs.
func someSystem(t *testing.T) *System {
	t.Helper()
	g := newGenerator(rand.New(rand.NewPCG(8, 1)), true)
	for id := range uint32(30) {
		g.enable(id, g.user())
	}
	if err := g.solve(); err != nil {
		t.Fatal(err)
	}
	return g.local
}

// TestSnapshotFields: every field of the state is saved, or derived: given to New, or scratch
// of a solve.
func TestSnapshotFields(t *testing.T) {
	s := someSystem(t)
	write := func(c *snapshot.State) { s.state(c) }
	snapshottest.Fields(t, s, func(c *snapshot.State, s *System) { s.state(c) }, "opts clocks levels shares touched part fetched")
	snapshottest.Fields(t, &s.set, func(c *snapshot.State, _ *workingSet) { write(c) }, "variables states keys heap mixed rising lowest heapFrom")
	snapshottest.Fields(t, &s.variables[0], func(c *snapshot.State, _ *variable) { write(c) }, "filled")
	snapshottest.Fields(t, &s.params[0], func(c *snapshot.State, _ *parameters) { write(c) }, "")
	snapshottest.Fields(t, &s.elements[0], func(c *snapshot.State, _ *element) { write(c) }, "")
	snapshottest.Fields(t, &s.constraints[1], func(c *snapshot.State, _ *constraint) { write(c) }, "capacity state")
	snapshottest.Fields(t, &s.fatpipes[1], func(c *snapshot.State, _ *fatpipe) { write(c) }, "policy")
	g := newGenerator(rand.New(rand.NewPCG(8, 1)), false)
	g.local.UseClocks()
	for id := range uint32(30) {
		g.enable(id, g.user())
	}
	if err := g.solve(); err != nil {
		t.Fatal(err)
	}
	k := g.local.clocks
	save := func(c *snapshot.State) { g.local.state(c) }
	snapshottest.Fields(t, k, func(c *snapshot.State, _ *clocks) { save(c) }, "waiting moved over")
	at := slices.IndexFunc(k.loads, func(l load) bool { return !math.IsInf(l.limit, 0) })
	snapshottest.Fields(t, &k.loads[at], func(c *snapshot.State, _ *load) { save(c) }, "")
	snapshottest.Fields(t, &k.of[0], func(c *snapshot.State, _ *clock) { save(c) }, "")
	snapshottest.Fields(t, &k.pairs[0], func(c *snapshot.State, _ *pairs) { save(c) }, "")
	snapshottest.Fields(t, &s.stats, func(c *snapshot.State, _ *Stats) { write(c) }, "")
}

// TestSnapshot goes on with copies of random systems, whose numbers have gaps: all levels are
// the same bits.
func TestSnapshot(t *testing.T) {
	for seed := range uint64(20) {
		g := newGenerator(rand.New(rand.NewPCG(seed, 3)), seed%2 == 0)
		if seed >= 10 {
			g.local.UseClocks()
		}
		for id := range uint32(40) {
			g.enable(3*id+1, g.user())
			if id >= 20 {
				g.disable(3*(id-20) + 1)
			}
			if err := g.solve(); err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if err := g.local.SaveState(&file); err != nil {
				t.Fatal(err)
			}
			other := New(g.constraints, Options{Precision: 1e-13})
			if err := other.RestoreState(&file); err != nil {
				t.Fatal(err)
			}
			if other.set.heapFrom = g.local.set.heapFrom; other.Stats() != g.local.Stats() {
				t.Fatalf("counts %v, want %v", other.Stats(), g.local.Stats())
			}
			for id := range g.users {
				if a, b := g.local.Level(id), other.Level(id); a != b {
					t.Fatalf("system %d: level %v of %d, want %v", seed, b, id, a)
				}
			}
			g.local = other
		}
	}
}
