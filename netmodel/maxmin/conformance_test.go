package maxmin

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// All solvers, side by side, through the same changes. After each Solve they are compared
// with each other and with what max-min fairness means; TestByHand and TestRandom say what
// the systems are.

// user is a variable of a test.
type user struct {
	penalty, bound float64
	weights        map[int32]float64 // by constraint
}

// arguments returns what Set and Fit take of a user: SHARED constraints before FATPIPEs.
func (u *user) arguments(all []Constraint) (Variable, []int32) {
	v := Variable{Penalty: u.penalty, Bound: u.bound}
	var used []int32
	for c := range u.weights {
		used = append(used, c)
		if all[c].Policy == Shared {
			v.Shared++
		}
	}
	slices.SortFunc(used, func(a, b int32) int {
		return cmp.Or(cmp.Compare(all[a].Policy, all[b].Policy), cmp.Compare(a, b))
	})
	for _, c := range used {
		v.Weights = append(v.Weights, u.weights[c])
	}
	return v, used
}

// pair is a system three times: solved locally, by clocks, and by the reference.
type pair struct {
	constraints               []Constraint
	users                     map[uint32]*user // those that are enabled
	local, clocked, reference *System
}

// newPair takes 1e-13 as the reference's precision instead of SimGrid's: exact to rounding.
func newPair(constraints []Constraint) *pair {
	p := &pair{constraints: constraints, users: map[uint32]*user{},
		local: New(constraints, Options{Precision: 1e-13}), clocked: New(constraints, Options{Precision: 1e-13}),
		reference: New(constraints, Options{Precision: 1e-13, Reference: true})}
	p.clocked.UseClocks()
	return p
}

func (p *pair) all() []*System { return []*System{p.local, p.clocked, p.reference} }

func (p *pair) enable(id uint32, u *user) {
	p.users[id] = u
	for _, s := range p.all() {
		v, used := u.arguments(p.constraints)
		s.Fit(&v, used)
		s.Set(id, &v, used)
		s.Enable(id)
	}
}

func (p *pair) disable(id uint32) {
	delete(p.users, id)
	for _, s := range p.all() {
		s.Disable(id)
	}
}

// solve solves all, and checks all that must hold.
func (p *pair) solve() error {
	for _, s := range p.all() {
		if err := solveAndCompare(s); err != nil {
			return err
		}
		if err := p.isFair(s, p.tolerance(s)); err != nil {
			return err
		}
	}
	for _, s := range []*System{p.local, p.clocked} {
		if err := s.checkInvariants(); err != nil {
			return err
		}
		if err := p.agrees(s); err != nil {
			return err
		}
	}
	return nil
}

// solveAndCompare checks that Solve returns the variables to which it gives another level.
func solveAndCompare(s *System) error {
	before := make([]float64, s.Len())
	for id := range before {
		before[id] = s.Level(uint32(id))
	}
	levels := s.Solve()
	if s.clocks != nil {
		return nil
	}
	changed := map[uint32]float64{}
	for _, c := range levels {
		changed[c.Variable] = c.Value / s.Penalty(c.Variable)
	}
	for _, c := range s.Shares() {
		changed[c.Variable] = c.Value
	}
	for id, share := range changed {
		if !near(s.Share(id), share, 1e-15) {
			return fmt.Errorf("variable %d: share %v, returned as %v", id, s.Share(id), share)
		}
	}
	for id, level := range before {
		if _, ok := changed[uint32(id)]; !ok && s.Level(uint32(id)) != level {
			return fmt.Errorf("variable %d: level %v instead of %v, and that is not returned", id, s.Level(uint32(id)), level)
		}
	}
	return nil
}

// tolerance is the relative difference that is accepted of levels. The reference loses digits
// where usages of different sizes meet; so does the local solver with FATPIPEs, which it leaves
// to the reference where they matter.
func (p *pair) tolerance(s *System) float64 {
	if s == p.reference || s.fatpipes != nil {
		return solverTolerance + s.referenceError()
	}
	return solverTolerance
}

// isFair checks the two conditions by which a max-min fair solution is known (see local.go)
// from the shares alone: (i) no constraint carries more than its capacity; (ii) each variable
// has its bound, or uses a saturated constraint on which no variable has a higher level.
func (p *pair) isFair(s *System, tolerance float64) error {
	load, highest := make([]float64, len(p.constraints)), make([]float64, len(p.constraints))
	for id, u := range p.users {
		share := s.Share(id)
		for c, w := range u.weights {
			if highest[c] = max(highest[c], share*u.penalty); p.constraints[c].Policy == Fatpipe {
				load[c] = max(load[c], w*share)
			} else {
				load[c] += w * share
			}
		}
	}
	most := 1 + tolerance
	for c, k := range p.constraints {
		if load[c] > k.Capacity*most {
			return fmt.Errorf("constraint %d carries %v, more than %v", c, load[c], k.Capacity)
		}
	}
	for id, u := range p.users {
		share := s.Share(id)
		fair := share*most >= u.bound
		for c := range u.weights {
			fair = fair || load[c]*most >= p.constraints[c].Capacity && share*u.penalty*most >= highest[c]
		}
		if !fair || share > u.bound*most {
			return fmt.Errorf("variable %d has %v of %v, and no bottleneck", id, share, u.bound)
		}
	}
	return nil
}

// agrees compares a solution with the reference's, and where they differ, without FATPIPEs, with
// arithmetic of 300 bits.
func (p *pair) agrees(s *System) error {
	var exact map[uint32]float64
	for id := range p.users {
		got, want := s.Level(id), p.reference.Level(id)
		if near(got, want, p.tolerance(s)) {
			continue
		}
		if s.fatpipes == nil {
			if exact == nil {
				exact = exactLevels(s)
			}
			if want = exact[id]; near(got, want, solverTolerance) {
				continue
			}
		}
		return fmt.Errorf("variable %d of %d: level %v, want %v (%.1e)", id, len(p.users), got, want, math.Abs(got-want)/want)
	}
	return nil
}

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// on returns the weights of a user of constraints 0, 1 and so on; 0 for those that it does
// not use.
func on(weights ...float64) map[int32]float64 {
	m := map[int32]float64{}
	for c, w := range weights {
		if w > 0 {
			m[int32(c)] = w
		}
	}
	return m
}

func shared(capacities ...float64) (list []Constraint) {
	for _, c := range capacities {
		list = append(list, Constraint{Capacity: c})
	}
	return list
}

// byHand are systems that can be solved by hand. Bounds of 100 do not matter.
var byHand = []struct {
	name        string
	constraints []Constraint
	users       []user
	want        []float64 // shares
}{
	// x <= 3 alone.
	{"one", shared(3), []user{{1, 100, on(1)}}, []float64{3}},
	// x + y <= 3, penalties 1 and 2: x = 2y.
	{"penalties", shared(3), []user{{1, 100, on(1)}, {2, 100, on(1)}}, []float64{2, 1}},
	// x + y <= 3, x <= 0.5 by its bound: y gets the rest.
	{"bound", shared(3), []user{{1, 0.5, on(1)}, {1, 100, on(1)}}, []float64{0.5, 2.5}},
	// Bounds of 1/2 and 3/4 of x and y leave 3 - 5/4 of x + y + z <= 3.
	{"two bounds", shared(3), []user{{1, 0.5, on(1)}, {1, 0.75, on(1)}, {1, 100, on(1)}}, []float64{0.5, 0.75, 1.75}},
	// x + y <= 1, y + z <= 10: x = y = 1/2, z = 9.5.
	{"chain", shared(1, 10), []user{{1, 100, on(1)}, {1, 100, on(1, 1)}, {1, 100, on(0, 1)}}, []float64{0.5, 0.5, 9.5}},
	// The parking lot of Bertsekas and Gallager (Data Networks, 6.5.2): capacities 1, x uses
	// all three links and meets one other on the first two and two others on the third, where
	// all have 1/3; the others take what that leaves, 2/3.
	{"parking lot", shared(1, 1, 1), []user{{1, 100, on(1, 1, 1)}, {1, 100, on(1)}, {1, 100, on(0, 1)}, {1, 100, on(0, 0, 1)}, {1, 100, on(0, 0, 1)}},
		[]float64{1. / 3, 2. / 3, 2. / 3, 1. / 3, 1. / 3}},
	// x + 0.05y <= 1, 0.05x + y <= 1: x = y = 1/1.05.
	{"cross traffic", shared(1, 1), []user{{1, 100, on(1, 0.05)}, {1, 100, on(0.05, 1)}}, []float64{1 / 1.05, 1 / 1.05}},
	// 2x + y <= 3 with x = y.
	{"weight", shared(3), []user{{1, 100, on(2)}, {1, 100, on(1)}}, []float64{1, 1}},
	// FATPIPE of 6, equal penalties: 6 each.
	{"fatpipe", fat(6), []user{{1, 100, on(1)}, {1, 100, on(1)}}, []float64{6, 6}},
	// Penalties 1 and 2 on a FATPIPE of 6: the level stops at 6, so y = 6/2.
	{"fatpipe, penalties", fat(6), []user{{1, 100, on(1)}, {2, 100, on(1)}}, []float64{6, 3}},
	// As before, but x is bound at 5 < 6, which fixes it alone: y has all.
	{"fatpipe, bound", fat(6), []user{{1, 5, on(1)}, {2, 100, on(1)}}, []float64{5, 6}},
	// x and y of penalties 1 and 2 on a FATPIPE of 6, and x with z on 4: x = z = 2, so the
	// FATPIPE is not full and y rises to 6.
	{"fatpipe and shared", append(fat(6), shared(4)...), []user{{1, 100, on(1, 1)}, {2, 100, on(1)}, {1, 100, on(0, 1)}}, []float64{2, 6, 2}},
	{"no constraints", nil, []user{{1, 7, nil}}, []float64{7}},
	// Four links that saturate at levels one unit in the last place apart, and one user of all:
	// it has the least of them, the others what it leaves.
	{"near ties", shared(2, math.Nextafter(2, 3), math.Nextafter(2, 1), 2), []user{{1, 100, on(1, 1, 1, 1)}, {1, 100, on(1)}, {1, 100, on(0, 1)}, {1, 100, on(0, 0, 1)}, {1, 100, on(0, 0, 0, 1)}},
		[]float64{1, 1, 1, 1, 1}},
	// x + y <= 1, x + z <= 0.999, z bound at 1e-12, y's penalty so high that x stops first: what
	// z takes from x is y's, and a billionth of it.
	{"little less", shared(1, 0.999), []user{{1, 100, on(1, 1)}, {2000, 100, on(1)}, {1, 1e-12, on(0, 1)}}, []float64{0.999 - 1e-12, 1e-3 + 1e-12, 1e-12}},
	// x, of penalty 1e-16, shares its bottleneck 2e-3 with another, so it takes 1e-3 of 1, where
	// it meets g, of penalty 1. The usages 1e16 and 1 there add up to 1e16: taking x's away again
	// leaves nothing of g's. Still g must get 1 - 1e-3, though the third link, shared with k,
	// whose bottleneck 1e-6 is, would give it 0.9995 - 5e-7.
	{"extreme penalties", shared(1, 2e-3, 0.9995, 1e-6), []user{{1e-16, 1e300, on(1, 1)}, {1, 1e300, on(1, 0, 1)}, {1e-3, 1e300, on(0, 0, 1, 1)}, {1e-16, 1e300, on(0, 1)}, {1e-3, 1e300, on(0, 0, 0, 1)}},
		[]float64{1e-3, 1 - 1e-3, 5e-7, 1e-3, 5e-7}},
}

func fat(capacity float64) []Constraint { return []Constraint{{capacity, Fatpipe}} }

// TestByHand: all solvers find what is known, whether the users come all at once, one by one
// in either order, or each leaves and comes back.
func TestByHand(t *testing.T) {
	for _, c := range byHand {
		for _, way := range []struct {
			name string
			do   func(p *pair, solve func())
		}{
			{"at once", func(p *pair, solve func()) {
				for i := range c.users {
					p.enable(uint32(i), &c.users[i])
				}
				solve()
			}},
			{"one by one", func(p *pair, solve func()) {
				for i := range c.users {
					p.enable(uint32(i), &c.users[i])
					solve()
				}
			}},
			{"backwards", func(p *pair, solve func()) {
				for i := len(c.users) - 1; i >= 0; i-- {
					p.enable(uint32(i), &c.users[i])
					solve()
				}
			}},
			{"leaving", func(p *pair, solve func()) {
				for i := range c.users {
					p.enable(uint32(i), &c.users[i])
				}
				for i := range c.users {
					p.disable(uint32(i))
					solve()
					p.enable(uint32(i), &c.users[i])
					solve()
				}
			}},
		} {
			t.Run(c.name+"/"+way.name, func(t *testing.T) {
				p := newPair(c.constraints)
				way.do(p, func() {
					if err := p.solve(); err != nil {
						t.Error(err)
					}
				})
				for i, want := range c.want {
					for _, s := range []*System{p.local, p.clocked} {
						if got := s.Share(uint32(i)); !near(got, want, 1e-12) {
							t.Errorf("variable %d: %v, want %v", i, got, want)
						}
					}
				}
			})
		}
	}
}

// TestRandom makes and changes random systems.
func TestRandom(t *testing.T) {
	systems := 10000
	if testing.Short() {
		systems = 300
	}
	for seed := range systems {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		users, atOnce := 40, 8
		if seed%8 == 1 { // so many changes that the clocked solver fills anew
			users, atOnce = 160, 80
		}
		if err := newGenerator(r, seed%4 == 0).exercise(users, atOnce); err != nil {
			t.Fatalf("system %d: %v", seed, err)
		}
	}
}

// TestNearlyFull: 101 users come at once to a constraint that gives each 1; 40 of them nearly fill another, of 40.2. One of
// the rest leaves, so that there are 1.01 for each, 40.4 on the other: its 40 get 1.005 each.
func TestNearlyFull(t *testing.T) {
	p := newPair(shared(101, 40.2))
	for id := range uint32(101) {
		u := &user{1, 100, on(1)}
		if id < 40 {
			u.weights = on(1, 1)
		}
		p.enable(id, u)
	}
	for range 2 {
		if err := p.solve(); err != nil {
			t.Fatal(err)
		}
		if p.users[100] != nil {
			p.disable(100)
		}
	}
	if got := p.clocked.Share(0); !near(got, 40.2/40, 1e-12) {
		t.Errorf("%v, want %v", got, 40.2/40)
	}
}

// lostDigits are systems in which a solver for crowds was once wrong by up to 5e-8: what one variable takes less
// was too little to tell another, which had little; or usages that were taken away again left a rest.
var lostDigits = []struct {
	seed uint64
	kind uint8
}{
	{1099511635453, 253}, {1099511650539, 236}, {1099511698650, 219}, {1099511705035, 204},
	{2199023323152, 17}, {2199023330952, 137}, {1099511635765, 1}, {1099511689517, 1},
}

// FuzzSolver looks for systems on which the solvers differ.
func FuzzSolver(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(seed))
	}
	for _, lost := range lostDigits {
		f.Add(lost.seed, lost.kind)
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) {
		r := rand.New(rand.NewPCG(seed, uint64(kind)))
		if err := newGenerator(r, kind%2 == 0).exercise(60, 8); err != nil {
			t.Fatal(err)
		}
	})
}
