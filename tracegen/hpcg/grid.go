package hpcg

import "fmt"

// This file has the process grid (ChooseGrid), and what follows from a rank's position in it: the class of its
// line (column) and its neighbours (rows).

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

	// All others: the grid whose box of ranks has the least surface, the first one in HPCG's order of divisors.
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

// divisors lists the divisors, 1 first. They come in the order of numbers whose digits are the exponents of the
// primes, with the exponent of the smallest prime as the lowest digit.
func divisors(f []primePower) []int {
	list := []int{1}
	for _, factor := range f {
		// Each divisor is the one n places before it times the prime.
		n := len(list)
		for range n * factor.exponent {
			list = append(list, list[len(list)-n]*factor.prime)
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

// levels is the number of grids of the multigrid cycle: each halves the one before in each
// direction, whatever its size.
const levels = halvings + 1

// doubleBytes is the size of a value.
const doubleBytes = 8

// column is the class of the ranks at one kind of position in y and z: on which sides the global grid ends there,
// and the height of their boxes. The position in x is an argument of blocks.
type column struct {
	firstY, lastY, firstZ, lastZ bool
	nz                           int
}

// columnAt returns the class of a position.
func (p *Params) columnAt(iy, iz int) column {
	return column{iy == 0, iy == p.Grid.NY-1, iz == 0, iz == p.Grid.NZ-1, p.height(iz)}
}

// row is a line of three points of a rank's neighbourhood along x, at (dy, dz), which is in the grid.
type row struct {
	dy, dz int
	values int64 // of the halo with the neighbours at dx = -1 and 1, each
	middle int64 // with that at dx = 0; 0: it is the rank itself
}

// rows lists the lines of the neighbourhood on a level, in the order of their ranks. What a rank exchanges with a
// neighbour is a face, an edge or a corner of the box. Source: HPCG 3.1, SetupHalo_ref.cpp.
func (p *Params) rows(c column, level int) []row {
	var list []row
	for dz := -1; dz <= 1; dz++ {
		for dy := -1; dy <= 1; dy++ {
			if dy < 0 && c.firstY || dy > 0 && c.lastY || dz < 0 && c.firstZ || dz > 0 && c.lastZ {
				continue
			}
			r := row{dy: dy, dz: dz, values: 1}
			if dy == 0 {
				r.values *= int64(p.NY >> level)
			}
			if dz == 0 {
				r.values *= int64(c.nz >> level)
			}
			if dy != 0 || dz != 0 {
				r.middle = r.values * int64(p.NX>>level)
			}
			list = append(list, r)
		}
	}
	return list
}

// crossSection returns the nonzeros of a level's matrix along y and z: for both 3n of n points, less one for each
// end of the global grid there, multiplied.
func (p *Params) crossSection(c column, level int) int64 {
	ends := func(n int, first, last bool) int64 {
		v := int64(3 * (n >> level))
		if first {
			v--
		}
		if last {
			v--
		}
		return v
	}
	return ends(p.NY, c.firstY, c.lastY) * ends(c.nz, c.firstZ, c.lastZ)
}
