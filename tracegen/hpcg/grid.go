package hpcg

import "fmt"

// Grid is a process grid: NX*NY*NZ ranks, of which number x + NX*(y + NY*z) sits at (x, y, z).
type Grid struct{ NX, NY, NZ int }

// String returns a grid as 4x2x1.
func (g Grid) String() string { return fmt.Sprintf("%dx%dx%d", g.NX, g.NY, g.NZ) }

// Ranks returns the number of positions.
func (g Grid) Ranks() int { return g.NX * g.NY * g.NZ }

// primePower is a prime factor of a number of ranks.
type primePower struct{ prime, exponent int }

// ChooseGrid returns the process grid that HPCG chooses for n ranks, n >= 1. Source: HPCG
// 3.1, ComputeOptimalShapeXYZ.cpp; the result is not sorted.
func ChooseGrid(n int) Grid {
	// HPCG treats few prime factors by hand.
	f := factorize(n)
	switch {
	case len(f) == 1:
		p, q, r := f[0].prime, f[0].exponent/3, f[0].exponent%3
		return Grid{power(p, q+min(r, 1)), power(p, q+r/2), power(p, q)}
	case len(f) == 2 && f[0].exponent == 1 && f[1].exponent == 1:
		return Grid{f[0].prime, f[1].prime, 1}
	case len(f) == 2 && f[0].exponent+f[1].exponent == 3:
		return Grid{f[0].prime, f[1].prime, n / f[0].prime / f[1].prime} // the repeated one
	case len(f) == 3 && f[0].exponent+f[1].exponent+f[2].exponent == 3:
		return Grid{f[0].prime, f[1].prime, f[2].prime}
	}

	// All others: the grid whose box of ranks has the least surface, the first one in HPCG's
	// order of divisors.
	best, least := Grid{}, 0
	for _, x := range divisors(f)[1:] {
		for _, y := range divisors(factorize(n / x))[1:] {
			z := n / x / y
			if surface := x*y + y*z + x*z; least == 0 || surface < least {
				best, least = Grid{x, y, z}, surface
			}
		}
	}
	return best
}

// factorize returns the prime factors of n in ascending order; of 1, the "prime" 1.
func factorize(n int) []primePower {
	if n == 1 {
		return []primePower{{1, 1}}
	}
	var list []primePower
	for p := 2; n > 1; p++ {
		if p*p > n {
			p = n
		}
		e := 0
		for ; n%p == 0; n /= p {
			e++
		}
		if e > 0 {
			list = append(list, primePower{p, e})
		}
	}
	return list
}

// divisors lists the divisors, 1 first, as a number counts whose digits are the exponents,
// that of the smallest prime the lowest.
func divisors(f []primePower) []int {
	list := []int{1}
	for _, factor := range f {
		n := len(list)
		for e := range factor.exponent {
			for i := range n {
				list = append(list, list[i]*power(factor.prime, e+1))
			}
		}
	}
	return list
}

// power returns p to the e.
func power(p, e int) int {
	v := 1
	for range e {
		v *= p
	}
	return v
}
