package collective

// blocks is what one side of a call says about its data: a number of elements for
// each rank, the same for all or rank by rank.
type blocks struct {
	count, size int64   // elements of a block; bytes of an element
	sums        []int64 // running sums of the counts of ranks 0, 1, ...; nil: all are equal
}

// of returns the elements of the block of a rank.
func (b *blocks) of(r int) int64 {
	if b.sums != nil {
		return b.sums[r+1] - b.sums[r]
	}
	return b.count
}

// bytes returns the bytes of the block of a rank.
func (b *blocks) bytes(r int) int64 { return b.of(r) * b.size }

// before returns the bytes of the blocks of ranks 0 to r-1.
func (b *blocks) before(r int) int64 {
	if b.sums != nil {
		return (b.sums[r] - b.sums[0]) * b.size
	}
	return int64(r) * b.count * b.size
}

// between returns the bytes of the blocks of ranks from to to-1; to may lie past
// the last of the p ranks.
func (b *blocks) between(from, to, p int) int64 {
	return b.before(min(to, p)) - b.before(min(from, p))
}

// around returns the bytes of the blocks of n ranks from r on, around the ring of p.
func (b *blocks) around(r, n, p int) int64 {
	if r+n <= p {
		return b.between(r, r+n, p)
	}
	return b.between(r, p, p) + b.before(r+n-p)
}

// one returns the bytes of one block where all are equal: the data of a broadcast
// or a reduction.
func (b *blocks) one() int64 { return b.count * b.size }

// part returns b with another number of elements.
func (b blocks) part(count int64) blocks {
	b.count = count
	return b
}

// cut is a number of elements, or bytes, dealt to n shares that differ by one at
// most, larger ones first.
type cut struct{ each, larger int64 }

func newCut(total int64, n int) cut { return cut{total / int64(n), total % int64(n)} }

func (c cut) of(i int) int64 {
	if int64(i) < c.larger {
		return c.each + 1
	}
	return c.each
}

func (c cut) before(i int) int64 { return int64(i)*c.each + min(int64(i), c.larger) }

// most returns the size of the largest share.
func (c cut) most() int64 { return c.of(0) }

// lump is a number of elements dealt to n equal shares, the last of which gets what
// is left over: the shares of Rabenseifner's algorithm.
type lump struct {
	total int64
	n     int
}

// between returns the elements of shares from to to-1.
func (l lump) between(from, to int) int64 { return l.before(to) - l.before(from) }

func (l lump) before(i int) int64 {
	if i >= l.n {
		return l.total
	}
	return int64(i) * (l.total / int64(l.n))
}

// pieces is a number of bytes dealt in pieces of equal size but the last, of which
// some may be empty.
type pieces struct{ total, each int64 }

// newPieces deals total bytes to n ranks, rounding up.
func newPieces(total int64, n int) pieces {
	return pieces{total, (total + int64(n) - 1) / int64(n)}
}

// between returns the bytes of pieces from to to-1.
func (c pieces) between(from, to int) int64 { return c.before(to) - c.before(from) }

func (c pieces) before(i int) int64 { return min(int64(i)*c.each, c.total) }

// extremes returns the elements of the smallest and of the largest of p blocks.
func (b *blocks) extremes(p int) (least, most int64) {
	least, most = b.of(0), b.of(0)
	for r := 1; r < p && b.sums != nil; r++ {
		least, most = min(least, b.of(r)), max(most, b.of(r))
	}
	return least, most
}
