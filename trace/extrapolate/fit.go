package extrapolate

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"
)

// This file says how numbers follow from the extents of the grid, the place of a rank and the turns of loops
// (family.fit).

// value computes a number of a rank in turns of the loops around its action; ok is false if there is none.
type value func(g grid, rank int, turns []int) (v int64, ok bool)

// exact returns a value that is the same everywhere.
func exact(v int64) value { return func(grid, int, []int) (int64, bool) { return v, true } }

// monomial is a product of powers of the extents of a grid.
type monomial [mostDims]int

// of returns the monomial as a fraction.
func (m monomial) of(g grid) (over, under int64) {
	over, under = 1, 1
	for k, n := range g {
		for range max(0, m[k]) {
			over *= int64(n)
		}
		for range max(0, -m[k]) {
			under *= int64(n)
		}
	}
	return over, under
}

// degree returns the sum of the exponents' sizes.
func (m monomial) degree() (sum int) {
	for _, e := range m {
		sum += max(e, -e)
	}
	return sum
}

// ratio returns the monomial of a grid divided by that of another one.
func (m monomial) ratio(a, b grid) float64 {
	over, under := m.of(a)
	over0, under0 := m.of(b)
	return float64(over) * float64(under0) / (float64(under) * float64(over0))
}

// rat returns the monomial as a rational number.
func (m monomial) rat(g grid) *big.Rat {
	over, under := m.of(g)
	return big.NewRat(over, under)
}

// monomials returns those that are tried in grids of so many dimensions, simple ones first.
func monomials(dims int) (list []monomial) {
	const most = 2 // of an exponent
	for all := 1; all <= max(most+1, dims); all++ {
		var each func(m monomial, k, left int)
		each = func(m monomial, k, left int) {
			if k == dims {
				if left == 0 {
					list = append(list, m)
				}
				return
			}
			for _, e := range []int{0, -1, 1, -2, 2} {
				// Of higher order only products of all extents count, in planes also with one squared.
				if n := max(e, -e); n <= left && (all <= most || n <= 1 || dims == 2) {
					m[k] = e
					each(m, k+1, left-n)
				}
			}
		}
		each(monomial{}, 0, all)
	}
	return list
}

// point is a number of a size.
type point struct {
	g grid
	v int64
}

// uniform fits numbers, one of each size, as a function of the extents: of more parameters than one number less than
// there are it does not take any, so that each fit is confirmed by a number. So one number alone says nothing, but for
// 0, which is no product of extents.
func (f *family) uniform(points []point) (func(g grid) (int64, bool), bool) {
	first := points[0].v
	if !slices.ContainsFunc(points, func(p point) bool { return p.v != first }) {
		return func(grid) (int64, bool) { return first, true }, len(points) > 1 || first == 0
	}
	whole := func(r *big.Rat) (int64, bool) {
		v := new(big.Int).Quo(r.Num(), r.Denom())
		return v.Int64(), r.IsInt() && v.IsInt64()
	}
	check := func(fn func(g grid) (int64, bool)) bool {
		for _, p := range points {
			if v, ok := fn(p.g); !ok || v != p.v {
				return false
			}
		}
		return true
	}
	// A product. Two of one degree that say different things of the wanted size are told.
	var found func(g grid) (int64, bool)
	var simplest monomial
	for _, m := range f.monomials {
		factor := new(big.Rat).Quo(new(big.Rat).SetInt64(first), m.rat(points[0].g))
		fn := func(g grid) (int64, bool) { return whole(new(big.Rat).Mul(factor, m.rat(g))) }
		if !check(fn) {
			continue
		}
		if found == nil {
			found, simplest = fn, m
			continue
		}
		a, _ := found(f.target)
		if b, _ := fn(f.target); a != b && m.degree() <= simplest.degree() {
			f.warn("%s: it may be %d or %d on %v ranks: the recordings do not tell", f.place, a, b, f.target)
			break
		}
	}
	if found != nil {
		return found, true
	}
	// Logarithms of powers of two, times a factor or plus a constant.
	for _, m := range f.monomials {
		log := func(g grid) (int64, bool) {
			over, under := m.of(g)
			return int64(bits.Len64(uint64(over)) - 1), under == 1 && bits.OnesCount64(uint64(over)) == 1
		}
		l0, ok := log(points[0].g)
		if !ok {
			continue
		}
		if l0 > 0 && first%l0 == 0 {
			if fn := func(g grid) (int64, bool) { l, ok := log(g); return l * (first / l0), ok }; check(fn) {
				return fn, true
			}
		}
		if fn := func(g grid) (int64, bool) { l, ok := log(g); return l + first - l0, ok }; check(fn) {
			return fn, true
		}
	}
	// Powers of parts of the domain, where others have told how many points it has.
	for _, n := range f.known {
		for _, m := range f.monomials {
			for _, up := range []int64{0, 1} {
				for _, c := range []int64{0, 1, 2} {
					for power := 1; power <= 3; power++ {
						part := func(g grid) int64 {
							over, under := m.of(g)
							size := (int64(n)*over+up*(under-1))/under + c
							return []int64{0, size, size * size, size * size * size}[power]
						}
						p0 := part(points[0].g)
						fn := func(g grid) (int64, bool) { v := part(g) * first; return v / max(1, p0), p0 > 0 && v%p0 == 0 }
						if check(fn) {
							return fn, true
						}
					}
				}
			}
		}
	}
	if len(points) < 3 {
		return nil, false
	}
	// A product and a constant, or two products.
	for i, m := range f.monomials {
		for j := -1; j < i; j++ {
			var n monomial // of exponents 0: a constant
			if j >= 0 {
				n = f.monomials[j]
			}
			a, b, ok := solve(m, n, points)
			if !ok {
				continue
			}
			if fn := func(g grid) (int64, bool) {
				sum := new(big.Rat).Mul(a, m.rat(g))
				return whole(sum.Add(sum, new(big.Rat).Mul(b, n.rat(g))))
			}; check(fn) {
				return fn, true
			}
		}
	}
	// Quotients that are rounded, with a small constant: of the numerators that are possible all must agree.
	for _, m := range f.monomials {
		for _, up := range []int64{0, 1} {
			for _, c := range []int64{0, 1, -1, 2, -2} {
				low, high := int64(0), int64(1)<<40
				for _, p := range points {
					over, under := m.of(p.g) // floor(a*over/under) + c = v, or ceil
					v := p.v - c
					if over != 1 {
						low, high = 1, 0
						break
					}
					low = max(low, (v-up)*under+up)
					high = min(high, (v-up)*under+under-1+up)
				}
				if low > high || low <= 0 {
					continue
				}
				return func(g grid) (int64, bool) {
					_, under := m.of(g)
					a, b := (low+up*(under-1))/under, (high+up*(under-1))/under
					return a + c, a == b
				}, true
			}
		}
	}
	return nil, false
}

// solve returns the factors of two monomials by which they give the first two numbers that tell them apart.
func solve(m, n monomial, points []point) (a, b *big.Rat, ok bool) {
	for i := 1; i < len(points); i++ {
		m0, n0, m1, n1 := m.rat(points[0].g), n.rat(points[0].g), m.rat(points[i].g), n.rat(points[i].g)
		det := new(big.Rat).Sub(new(big.Rat).Mul(m0, n1), new(big.Rat).Mul(m1, n0))
		if det.Sign() == 0 {
			continue
		}
		v0, v1 := new(big.Rat).SetInt64(points[0].v), new(big.Rat).SetInt64(points[i].v)
		a = new(big.Rat).Sub(new(big.Rat).Mul(v0, n1), new(big.Rat).Mul(v1, n0))
		b = new(big.Rat).Sub(new(big.Rat).Mul(m0, v1), new(big.Rat).Mul(m1, v0))
		return a.Quo(a, det), b.Quo(b, det), true
	}
	return nil, nil, false
}

// row is a number of a rank in a recording.
type row struct {
	of, rank int
	v        int64
}

// warn adds a warning, once.
func (f *family) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(f.warnings, text) {
		f.warnings = append(f.warnings, text)
	}
}

// scalar fits numbers of ranks.
func (f *family) scalar(rows []row) (value, bool) {
	for _, by := range []func([]row) (value, bool){f.everywhere, f.along, f.byClass, f.byEnds, f.affine, f.diagonals} {
		if v, ok := by(rows); ok {
			return v, true
		}
	}
	return nil, false
}

// everywhere fits numbers that are the same for all ranks of a recording.
func (f *family) everywhere(rows []row) (value, bool) {
	var points []point
	for i, w := range rows {
		if i > 0 && rows[i-1].of == w.of {
			if w.v != rows[i-1].v {
				return nil, false
			}
			continue
		}
		points = append(points, point{f.list[w.of].grid, w.v})
	}
	fn, ok := f.uniform(points)
	return func(g grid, _ int, _ []int) (int64, bool) { return fn(g) }, ok
}

// class returns where a rank stands in some dimensions: at the beginning, at the end, or between, in digits of base 3.
func class(g grid, rank int, dims int) (c int) {
	x := g.place(rank)
	for k, n := range g {
		if dims>>k&1 == 0 {
			continue
		}
		c *= 3
		switch x[k] {
		case 0:
		case n - 1:
			c++
		default:
			c += 2
		}
	}
	return c
}

// byClass fits numbers that depend on whether a rank is at an end of the grid, in as few dimensions as possible.
func (f *family) byClass(rows []row) (value, bool) {
	masks := make([]int, 0, 1<<len(f.list[0].grid))
	for mask := 1; mask < 1<<len(f.list[0].grid); mask++ {
		masks = append(masks, mask)
	}
	slices.SortStableFunc(masks, func(a, b int) int { return bits.OnesCount(uint(a)) - bits.OnesCount(uint(b)) })
	for _, dims := range masks {
		type key struct{ class, of int }
		seen, same := map[key]int64{}, true
		points := map[int][]point{}
		for _, w := range rows {
			k := key{class(f.list[w.of].grid, w.rank, dims), w.of}
			if v, ok := seen[k]; !ok {
				seen[k] = w.v
				points[k.class] = append(points[k.class], point{f.list[w.of].grid, w.v})
			} else if same = v == w.v; !same {
				break
			}
		}
		if !same {
			continue
		}
		fns := map[int]func(g grid) (int64, bool){}
		for c, list := range points {
			fn, ok := f.uniform(list)
			if !ok || len(list) < 2 {
				same = false
				break
			}
			fns[c] = fn
		}
		if !same {
			continue
		}
		return func(g grid, rank int, _ []int) (int64, bool) {
			fn := fns[class(g, rank, dims)]
			if fn == nil {
				return 0, false
			}
			return fn(g)
		}, true
	}
	return nil, false
}

// affine fits numbers that are sums of multiples of the coordinates.
func (f *family) affine(rows []row) (value, bool) {
	dims := len(f.list[0].grid)
	coefs := make([][]point, dims+1) // by dimension; the last is the constant
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(w row) bool { return w.of != rows[0].of })
		if n < 0 {
			n = len(rows)
		}
		own, g := rows[:n], f.list[rows[0].of].grid
		rows = rows[n:]
		// Steps to a neighbour in one dimension tell the coefficients.
		values := map[[mostDims]int]int64{}
		for _, w := range own {
			values[g.place(w.rank)] = w.v
		}
		var a [mostDims]int64
		var known [mostDims]bool
		for _, w := range own {
			x := g.place(w.rank)
			for k := range dims {
				y := x
				if y[k]++; !known[k] {
					if v, ok := values[y]; ok {
						a[k], known[k] = v-w.v, true
					}
				}
			}
		}
		rest := func(w row) int64 {
			v, x := w.v, g.place(w.rank)
			for k := range dims {
				v -= a[k] * int64(x[k])
			}
			return v
		}
		c := rest(own[0])
		if slices.ContainsFunc(own, func(w row) bool { return rest(w) != c }) {
			return nil, false
		}
		for k := range dims {
			if known[k] {
				coefs[k] = append(coefs[k], point{g, a[k]})
			}
		}
		coefs[dims] = append(coefs[dims], point{g, c})
	}
	fns := make([]func(g grid) (int64, bool), dims+1)
	for k, points := range coefs {
		fns[k] = func(grid) (int64, bool) { return 0, true }
		if len(points) > 0 {
			var ok bool
			if fns[k], ok = f.uniform(points); !ok {
				return nil, false
			}
		}
	}
	return func(g grid, rank int, _ []int) (int64, bool) {
		sum, ok := fns[dims](g)
		x := g.place(rank)
		for k := range dims {
			a, fine := fns[k](g)
			sum, ok = sum+a*int64(x[k]), ok && fine
		}
		return sum, ok
	}, true
}

// fit fits the numbers that an action or a loop has, by recording and rank, in the order of the program. turns gives
// those of the loops around, of a rank in a recording.
func (f *family) fit(data [][][]int64, turns func(of, rank int) [][]int) (value, error) {
	var rows []row
	steady := true
	for of := range data {
		for rank, list := range data[of] {
			if len(list) > 0 {
				rows = append(rows, row{of, rank, list[0]})
				steady = steady && !slices.ContainsFunc(list, func(v int64) bool { return v != list[0] })
			}
		}
	}
	if steady && !slices.ContainsFunc(rows, func(w row) bool { return w.v != 0 }) {
		return exact(0), nil // also of what no rank does
	}
	f.late = false
	if !steady {
		v, err := f.byTurns(data, turns)
		return v, f.count(err)
	}
	v, ok := f.held(rows, f.scalar)
	if ok {
		return v, f.count(nil)
	}
	if v, ok = f.alone(rows); ok {
		return v, nil
	}
	return nil, f.odd(rows)
}

// alone takes a number of one recording for a constant, if that is asked for.
func (f *family) alone(rows []row) (value, bool) {
	w := rows[0]
	if !f.approximate || slices.ContainsFunc(rows, func(u row) bool { return u.of != w.of || u.v != w.v }) {
		return nil, false
	}
	f.warn("%s: taken for a constant, %d, as only %s has it", f.place, w.v, f.list[w.of].name)
	return exact(w.v), true
}

// count counts a number that has been fitted, if there is no error.
func (f *family) count(err error) error {
	switch {
	case err == nil && f.late:
		f.fitted++
	case err == nil:
		f.foretold++
	}
	return err
}

// held fits numbers of all recordings but the largest, and checks what this says of the largest. If that is not
// enough, all recordings are fitted.
func (f *family) held(rows []row, by func([]row) (value, bool)) (value, bool) {
	last := len(f.list) - 1
	n := slices.IndexFunc(rows, func(w row) bool { return w.of == last })
	if n > 0 {
		if v, ok := by(rows[:n]); ok && !slices.ContainsFunc(rows[n:], func(w row) bool {
			is, ok := v(f.list[last].grid, w.rank, nil)
			return !ok || is != w.v
		}) {
			return v, true
		}
	}
	v, ok := by(rows)
	f.late = f.late || ok
	return v, ok
}

// odd is the error of numbers that no fit explains.
func (f *family) odd(rows []row) error {
	text := ""
	for i, w := range rows {
		if i == 0 || rows[i-1].of != w.of {
			text += fmt.Sprintf(", %d of rank %d of %d", w.v, w.rank, f.list[w.of].ranks)
		}
	}
	if rows[0].of == rows[len(rows)-1].of {
		text += ", which is of this recording alone"
	}
	return fmt.Errorf("no rule gives %s", text[2:])
}
