package maxmin

import (
	"math/rand/v2"
	"testing"
)

// TestResize: variables that stand for several have the levels of as many single ones, as they
// come, go and change in number, on FATPIPEs as well, and without a bound.
func TestResize(t *testing.T) {
	for seed := range uint64(120) {
		g := newGenerator(rand.New(rand.NewPCG(seed, 1)), seed >= 60)
		g.local.UseClocks()
		c := &crowds{System: g.local, single: New(g.constraints, Options{Precision: 1e-13})}
		for range 40 {
			for range 1 + g.IntN(4) {
				c.change(g)
			}
			c.Solve()
			c.single.Solve()
			if err := c.checkInvariants(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for id := range c.numbers {
				if n := len(c.numbers[id]); n > 0 {
					if got, want := c.Level(uint32(id)), c.single.Level(c.numbers[id][n-1]); !near(got, want, 1e-9) {
						t.Fatalf("seed %d: level %g of %d together, %g of each", seed, got, n, want)
					}
				}
			}
		}
	}
}

// crowds are users that are several: a variable each in one system, as many as they are in
// the other.
type crowds struct {
	*System
	single  *System
	users   []*user
	numbers [][]uint32 // by variable of the first system: those in the other
	next    uint32
}

// change lets a user come, or another number of one.
func (c *crowds) change(g *generator) {
	if len(c.users) < 20 {
		c.users, c.numbers = append(c.users, g.user()), append(c.numbers, nil)
		if len(c.users)%3 == 0 {
			c.users[len(c.users)-1].bound = 1e300
		}
		v, used := c.users[len(c.users)-1].arguments(g.constraints)
		c.Fit(&v, used)
		c.Set(uint32(len(c.users)-1), &v, used)
	}
	id := g.IntN(len(c.users))
	before, now := len(c.numbers[id]), g.IntN(6)
	switch {
	case now == before:
		return
	case now == 0:
		c.Disable(uint32(id))
	case before == 0:
		c.Enable(uint32(id))
		c.Resize(uint32(id), now)
	default:
		c.Resize(uint32(id), now)
	}
	for ; before > now; before-- {
		c.single.Disable(c.numbers[id][before-1])
		c.numbers[id] = c.numbers[id][:before-1]
	}
	for ; before < now; before++ {
		v, used := c.users[id].arguments(g.constraints)
		c.single.Fit(&v, used)
		c.single.Set(c.next, &v, used)
		c.single.Enable(c.next)
		c.numbers[id] = append(c.numbers[id], c.next)
		c.next++
	}
}
