package hpcg

// levels is the number of grids of the multigrid cycle: each halves the one before in each
// direction, whatever its size.
const levels = halvings + 1

// doubleBytes is the size of a value.
const doubleBytes = 8

// column is what ranks of equal position in y and z have in common: on which sides the
// global grid ends there, and the height of their boxes. Position in x is an argument of
// blocks.
type column struct {
	firstY, lastY, firstZ, lastZ bool
	nz                           int
}

// columnAt returns the class of a position.
func (p *Params) columnAt(iy, iz int) column {
	return column{iy == 0, iy == p.Grid.NY-1, iz == 0, iz == p.Grid.NZ-1, p.height(iz)}
}

// row is a line of three points of a rank's neighbourhood along x, at (dy, dz), which is in
// the grid.
type row struct {
	dy, dz int
	values int64 // of the halo with the neighbours at dx = -1 and 1, each
	middle int64 // with that at dx = 0; 0: it is the rank itself
}

// rows lists the lines of the neighbourhood on a level, by rank. Source: HPCG 3.1,
// SetupHalo_ref.cpp: a halo has a face, an edge or a corner of the box.
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

// crossSection returns the nonzeros of the rows of a level along y and z: the product over
// both of 3n, less one for each end of the global grid.
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
