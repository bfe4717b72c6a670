package extrapolate

import "slices"

// This file fits sizes of programs that divide a cube of n points in each direction into as many cells as their square
// grid has rows, with a diagonal of cells for each rank (multipartition, as in NAS BT and SP), and of those that divide
// each direction of a domain among the ranks: parts of n points that differ by one point.

// share returns the points of part u of p parts of n points: the first parts have one more.
func share(n, p, u int) int {
	if u < n%p {
		return n/p + 1
	}
	return n / p
}

// along fits numbers that are shares of n points along one coordinate, with points of a halo, times a factor: they show
// where a part has one point less than the one before it. Parts at an end may have less, being without points there.
func (f *family) along(rows []row) (value, bool) {
	for k := range f.list[0].grid {
		at := func(w row) (of, u, p int) { g := f.list[w.of].grid; return w.of, g.place(w.rank)[k], g[k] }
		parts := map[[2]int]int64{} // by recording and coordinate
		for _, w := range rows {
			of, u, _ := at(w)
			parts[[2]int{of, u}] = w.v
		}
		i := -1
		for ends := 1; ends >= 0 && i < 0; ends-- { // better not the parts at the ends
			i = slices.IndexFunc(rows, func(w row) bool {
				of, u, p := at(w)
				return u > ends && u < p-ends && parts[[2]int{of, u - 1}] > w.v
			})
		}
		if i < 0 {
			continue
		}
		of, u, p := at(rows[i])
		factor := parts[[2]int{of, u - 1}] - rows[i].v
		for _, halo := range []int{0, 1, -1, 2, -2} {
			n := (int(rows[i].v/factor)-halo)*p + u
			var ends [2]int64
			fn := func(g grid, rank int, _ []int) (int64, bool) {
				p, u := g[k], g.place(rank)[k]
				v := factor * int64(share(n, p, u)+halo)
				if u == 0 {
					v -= ends[0]
				}
				if u == p-1 {
					v -= ends[1]
				}
				return v, p > 1 || ends == [2]int64{}
			}
			for end := range 2 {
				at := slices.IndexFunc(rows, func(w row) bool { _, u, p := at(w); return p > 1 && u == end*(p-1) })
				if at >= 0 {
					v, _ := fn(f.list[rows[at].of].grid, rows[at].rank, nil)
					ends[end] = v - rows[at].v
				}
			}
			if !slices.ContainsFunc(rows, func(w row) bool {
				v, ok := fn(f.list[w.of].grid, w.rank, nil)
				return !ok || v != w.v
			}) && slices.ContainsFunc(rows, func(w row) bool { return w.of != of }) { // which confirms it
				f.know(n)
				return fn, true
			}
		}
	}
	return nil, false
}

// know keeps a number of points that has been found.
func (f *family) know(n int) {
	if !slices.Contains(f.known, n) {
		f.known = append(f.known, n)
	}
}

// line is a coordinate of a cell, modulo the extent p of the grid, by the place of the rank and the turn.
type line struct{ a, b, c, d int }

// at returns the coordinate.
func (l line) at(p int, x [mostDims]int, turn int) int {
	return modulo(l.a*x[0]+l.b*x[1]+l.c*turn+l.d, p)
}

// lines returns the coordinates whose coefficients are 0, 1 and -1, with constants up to 2: turns may count from the
// second cell on.
func lines() (list []line) {
	order := []int{0, 1, -1}
	for _, c := range order {
		for _, a := range order {
			for _, b := range order {
				for _, d := range []int{0, 1, -1, 2, -2} {
					list = append(list, line{a, b, c, d})
				}
			}
		}
	}
	return list
}

// mostPoints is the largest number of points in a direction that is tried.
const mostPoints = 512

// sample is a number of a rank in a turn.
type sample struct {
	p    int
	x    [mostDims]int
	turn int
	v    int64
}

// square returns samples of numbers, some that tell most first; nil if the grids are not square.
func (f *family) square(rows []row, turns []int) (list []sample) {
	var last []sample
	seen := map[[2]int64]bool{}
	for i, w := range rows {
		g := f.list[w.of].grid
		if len(g) != 2 || g[0] != g[1] || w.v == 0 {
			return nil
		}
		s := sample{p: g[0], x: g.place(w.rank), v: w.v}
		if turns != nil {
			s.turn = turns[i]
		}
		if key := [2]int64{int64(w.of), w.v}; !seen[key] {
			seen[key] = true
			list = append(list, s)
		} else {
			last = append(last, s)
		}
	}
	return append(list, last...)
}

// points returns the numbers of points that are tried: those that other numbers have told, if there are any.
func (f *family) points(least int) (list []int) {
	if len(f.known) > 0 {
		return f.known
	}
	for n := least; n <= mostPoints; n++ {
		list = append(list, n)
	}
	return list
}

// diagonals fits numbers that are sums, over the cells of a rank, of faces of two directions, but for cells at an end
// of the third direction.
func (f *family) diagonals(rows []row) (value, bool) {
	all := []line{{c: 1}, {a: 1, c: 1}, {a: 1, c: -1}, {b: 1, c: 1}, {b: 1, c: -1}, {c: -1}}
	return f.cells(f.square(rows, nil), all, 1+2*len(all), func(s *sample, n int, first, second line, out int) (sum int64) {
		for t := range s.p { // out is the end of a direction whose cells are left out; 0: none
			if out == 0 || all[(out-1)/2].at(s.p, s.x, t) != (out-1)%2*(s.p-1) {
				sum += int64(share(n, s.p, first.at(s.p, s.x, t)) * share(n, s.p, second.at(s.p, s.x, t)))
			}
		}
		return sum
	})
}

// faces fits numbers of turns that are faces of one cell of a rank; inner ones do not have the points at an end of the
// domain.
func (f *family) faces(rows []row, turns []int, level int) (value, bool) {
	v, ok := f.cells(f.square(rows, turns), lines(), 2, func(s *sample, n int, first, second line, cut int) int64 {
		edge := func(l line) int {
			u := l.at(s.p, s.x, s.turn)
			size := share(n, s.p, u)
			if u == 0 {
				size -= cut
			}
			if u == s.p-1 {
				size -= cut
			}
			return size
		}
		return int64(edge(first) * edge(second))
	})
	return func(g grid, rank int, turns []int) (int64, bool) { return v(g, rank, turns[level:]) }, ok
}

// labels fits numbers of turns that name a cell of a rank by two of its coordinates, the second one times the number of
// cells in a direction, from some number on: tags.
func (f *family) labels(rows []row, turns []int, level int) (value, bool) {
	list := f.square(rows, turns)
	all := lines()
	if list == nil {
		return nil, false
	}
	for _, first := range all {
		for _, second := range all {
			label := func(s *sample) int64 { return int64(first.at(s.p, s.x, s.turn) + s.p*second.at(s.p, s.x, s.turn)) }
			base := list[0].v - label(&list[0])
			if !slices.ContainsFunc(list, func(s sample) bool { return base+label(&s) != s.v }) {
				return func(g grid, rank int, turns []int) (int64, bool) {
					s := sample{p: g[0], x: g.place(rank), turn: turns[level]}
					return base + label(&s), len(g) == 2 && g[0] == g[1]
				}, true
			}
		}
	}
	return nil, false
}

// cells fits samples that are one multiple of a volume of cells of a domain, given by two coordinates and a variant.
func (f *family) cells(list []sample, all []line, variants int,
	of func(s *sample, n int, first, second line, variant int) int64) (value, bool) {
	if list == nil {
		return nil, false
	}
	for _, n := range f.points(list[len(list)-1].p) {
		for i, first := range all {
			for _, second := range all[i:] {
				for variant := range variants {
					volume := func(s *sample) int64 { return of(s, n, first, second, variant) }
					v0 := volume(&list[0])
					if v0 <= 0 || slices.ContainsFunc(list, func(s sample) bool { return volume(&s)*list[0].v != v0*s.v }) {
						continue
					}
					f.know(n)
					return func(g grid, rank int, turns []int) (int64, bool) {
						if len(g) != 2 || g[0] != g[1] {
							return 0, false
						}
						s := sample{p: g[0], x: g.place(rank)}
						if len(turns) > 0 {
							s.turn = turns[0]
						}
						v := volume(&s) * list[0].v
						return v / v0, v%v0 == 0
					}, true
				}
			}
		}
	}
	return nil, false
}
