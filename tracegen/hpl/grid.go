package hpl

import "math/bits"

// grid answers who owns what: a matrix of n rows and n+1 columns (the right-hand
// side is column n) in square blocks of nb, dealt cyclically to p x q processes,
// the first block to (0,0).
type grid struct {
	n, nb, p, q int64
	order       Order
}

// newGrid returns the matrix and the process grid of a run.
func newGrid(p *Params) grid {
	return grid{int64(p.N), int64(p.NB), int64(p.P), int64(p.Q), p.PMap}
}

// owned returns how many of the indices [0,x) belong to process i of count, when
// blocks of nb are dealt cyclically from process 0; 0 for x <= 0.
func owned(x, nb, i, count int64) int64 {
	if x <= 0 {
		return 0
	}
	block := x / nb
	n := block / count * nb
	switch last := block % count; {
	case last > i:
		n += nb
	case last == i:
		n += x % nb
	}
	return n
}

// rows returns how many of the rows [lo, lo+n) process row r owns.
func (g *grid) rows(lo, n, r int64) int64 {
	if n <= 0 {
		return 0
	}
	return owned(lo+n, g.nb, r, g.p) - owned(lo, g.nb, r, g.p)
}

// cols returns how many of the columns [lo, lo+n) process column q owns.
func (g *grid) cols(lo, n, q int64) int64 {
	if n <= 0 {
		return 0
	}
	return owned(lo+n, g.nb, q, g.q) - owned(lo, g.nb, q, g.q)
}

// rowOwner returns the process row that owns row i.
func (g *grid) rowOwner(i int64) int64 { return i / g.nb % g.p }

// colOwner returns the process column that owns column j.
func (g *grid) colOwner(j int64) int64 { return j / g.nb % g.q }

// mod returns a mod n in [0,n).
func mod(a, n int64) int64 {
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// hi returns the largest power of two that is at most n, for n >= 1.
func hi(n int) int { return 1 << log2(n) }

// log2 returns the logarithm of n, n >= 1, rounded down.
func log2(n int) int { return bits.Len(uint(n)) - 1 }
