package hpcg

import (
	"slices"
	"testing"
)

// bruteGrid is the rule over its own definition: cases by the number of primes, else the
// least surface over all ordered triples, the first one in the order of exponents.
func bruteGrid(n int) Grid {
	var primes []int // with repetition
	for m, d := n, 2; m > 1; d++ {
		for ; m%d == 0; m /= d {
			primes = append(primes, d)
		}
	}
	distinct := slices.Compact(slices.Clone(primes))
	switch {
	case len(distinct) <= 1: // q + 1 for the first r directions
		g := [3]int{1, 1, 1}
		for i, p := range primes {
			g[i%3] *= p
		}
		return Grid{g[0], g[1], g[2]}
	case len(distinct) == 2 && len(primes) == 2:
		return Grid{primes[0], primes[1], 1}
	case len(distinct) == 2 && len(primes) == 3:
		return Grid{distinct[0], distinct[1], primes[1]} // the middle of three is the repeated one
	case len(distinct) == 3 && len(primes) == 3:
		return Grid{primes[0], primes[1], primes[2]}
	}
	var best Grid
	least := 3*n + 1
	for _, x := range counted(n, distinct) {
		for _, y := range counted(n/x, distinct) {
			if z := n / x / y; x*y+y*z+x*z < least {
				best, least = Grid{x, y, z}, x*y+y*z+x*z
			}
		}
	}
	return best
}

// counted lists the divisors of n but 1, found by trial, by exponents: that of the largest
// prime decides first.
func counted(n int, primes []int) []int {
	var list []int
	for d := 2; d <= n; d++ {
		if n%d == 0 {
			list = append(list, d)
		}
	}
	exponent := func(d, p int) (e int) {
		for ; d%p == 0; d /= p {
			e++
		}
		return e
	}
	slices.SortFunc(list, func(a, b int) int {
		for _, p := range slices.Backward(primes) {
			if c := exponent(a, p) - exponent(b, p); c != 0 {
				return c
			}
		}
		return 0
	})
	return list
}

func TestChooseGrid(t *testing.T) {
	most := 20000
	if testing.Short() {
		most = 2000
	}
	for n := 1; n <= most; n++ {
		if got, want := ChooseGrid(n), bruteGrid(n); got != want || got.Ranks() != n {
			t.Fatalf("%d ranks: %v, want %v", n, got, want)
		}
	}
}

// Grids that runs of HPCG reported, and that its rule gives by hand.
func TestChooseGridKnown(t *testing.T) {
	for n, want := range map[int]Grid{
		1: {1, 1, 1}, 2: {2, 1, 1}, 3: {3, 1, 1}, 4: {2, 2, 1}, 6: {2, 3, 1}, 7: {7, 1, 1}, 8: {2, 2, 2},
		12: {2, 3, 2}, 18: {2, 3, 3}, 24: {2, 4, 3}, 27: {3, 3, 3}, 30: {2, 3, 5}, 32: {4, 4, 2}, 64: {4, 4, 4},
	} {
		if got := ChooseGrid(n); got != want {
			t.Errorf("%d ranks: %v, want %v", n, got, want)
		}
	}
}

func FuzzChooseGrid(f *testing.F) {
	f.Add(158976)
	f.Fuzz(func(t *testing.T, n int) {
		if n = n % (1 << 24); n < 1 {
			return
		}
		if g := ChooseGrid(n); g.Ranks() != n || min(g.NX, g.NY, g.NZ) < 1 {
			t.Errorf("%d ranks: %v", n, g)
		}
	})
}
