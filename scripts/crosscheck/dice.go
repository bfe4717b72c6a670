package main

import (
	"math"
	"math/rand/v2"
)

// dice draws what a case consists of. Two dice of the same seed and case draw
// the same.
type dice struct{ *rand.Rand }

func newDice(seed, number uint64) dice { return dice{rand.New(rand.NewPCG(seed, number))} }

// between draws an integer of [low, high].
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

// chance is true with probability p.
func (d dice) chance(p float64) bool { return d.Float64() < p }

// logarithmic draws a number of [low, high), all orders of magnitude alike; low > 0.
func (d dice) logarithmic(low, high float64) float64 {
	return low * math.Exp(d.Float64()*math.Log(high/low))
}

// pick draws one of several values.
func pick[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

// shuffled returns the integers of [0, n) in random order.
func (d dice) shuffled(n int) []int { return d.Perm(n) }
