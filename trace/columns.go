package trace

import (
	"encoding/binary"
	"math/bits"
)

// A column is a table of integers, outer x inner, stored row by row: for an
// argument column the rows are the classes of its axis, and a row holds the
// values of the window's calls in order; a list is a table with rows of one value.
// It is written as one coding byte and a varint for each value. A table
// without values takes no bytes.

// coding says what is subtracted from a value before it is written. Where a
// neighbour is missing another takes its place: in the first row the value
// before, in the first column the value above; of the first value of all nothing is
// subtracted. Arithmetic is modulo 2^64.
type coding uint8

// Codings. The numbers are part of the file format.
const (
	codePlain    coding = iota // nothing, unsigned: for tables without negative values
	codeSigned                 // nothing, zigzag, as all below
	codeCalls                  // the value before in the row: the same class, the call before
	codeClasses                // the value above: the same call, the class before
	codeDiagonal               // the value above and before: the class before, the call before
	numCodings
)

// columnWriter packs tables.
type columnWriter struct {
	buf     []byte
	scratch [numCodings][]byte
	rest    []int64
}

// add packs a table with rows of inner values. It tries all codings and takes the
// first of the smallest estimate.
func (w *columnWriter) add(vals []int64, inner int) {
	if len(vals) == 0 {
		return
	}
	best, size := codeSigned, ^uint64(0)
	for c := codePlain; c < numCodings; c++ {
		if inner == 1 && c > codeCalls {
			break // in a list, all are the value before
		}
		packed, ok := w.appendCoded(w.scratch[c][:0], vals, inner, c)
		w.scratch[c] = packed
		if !ok {
			continue
		}
		if s := entropy(packed); s < size {
			best, size = c, s
		}
	}
	w.buf = append(w.buf, byte(best))
	w.buf = append(w.buf, w.scratch[best]...)
}

// appendCoded appends the varints of a table in coding c, or reports that it has
// values that c cannot hold.
func (w *columnWriter) appendCoded(dst []byte, vals []int64, inner int, c coding) ([]byte, bool) {
	switch c {
	case codePlain:
		for _, v := range vals {
			if v < 0 {
				return dst, false
			}
			dst = binary.AppendUvarint(dst, uint64(v))
		}
		return dst, true
	case codeSigned:
		return appendVarints(dst, vals), true
	}
	w.rest = append(w.rest[:0], vals[0])
	for i := 1; i < inner; i++ {
		w.rest = append(w.rest, vals[i]-vals[i-1])
	}
	lag := c.lag(inner)
	for row := inner; row < len(vals); row += inner {
		w.rest = append(w.rest, vals[row]-vals[row-inner])
		for i := row + 1; i < row+inner; i++ {
			w.rest = append(w.rest, vals[i]-vals[i-lag])
		}
	}
	return appendVarints(dst, w.rest), true
}

func appendVarints(dst []byte, vals []int64) []byte {
	for _, v := range vals {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

// lag returns how far before a value, inside the table, lies the one that is subtracted.
func (c coding) lag(inner int) int {
	switch c {
	case codeCalls:
		return 1
	case codeClasses:
		return inner
	}
	return inner + 1
}

// entropy estimates the bits that an entropy coder of order 0 makes of b, plus
// those of its table, in 1/256 bit: the sum over the distinct bytes of
// count * log2(len(b)/count).
func entropy(b []byte) uint64 {
	var counts [256]uint32
	for _, x := range b {
		counts[x]++
	}
	total := log2(uint64(len(b)))
	size := uint64(0)
	for _, n := range counts {
		if n > 0 {
			size += uint64(n)*(total-log2(uint64(n))) + 8<<8
		}
	}
	return size
}

// log2 returns the binary logarithm of n >= 1 in 1/256, within 1/11 bit: linear
// between powers of two. It is integer arithmetic, so that all machines agree.
func log2(n uint64) uint64 {
	e := uint64(bits.Len64(n) - 1)
	return e<<8 + (n<<8>>e - 1<<8)
}

// columnReader unpacks tables. After an error it returns no more values.
type columnReader struct {
	buf []byte
	off int
	err error
}

// left returns how many bytes have not been read: no fewer than values.
func (r *columnReader) left() int { return len(r.buf) - r.off }

func (r *columnReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = corruptf(format, args...)
	}
}

// table appends the outer*inner values of a table to dst, which must be empty. If
// it fails it returns none.
func (r *columnReader) table(dst []int64, outer, inner int) []int64 {
	if r.err != nil || outer == 0 || inner == 0 {
		return dst
	}
	if r.left() < 1 || inner > r.left() || outer > (r.left()-1)/inner {
		r.fail("column of %d x %d values in %d bytes", outer, inner, r.left())
		return dst
	}
	c := coding(r.buf[r.off])
	r.off++
	if c >= numCodings {
		r.fail("unknown coding %d", c)
		return dst
	}
	if dst = r.varints(dst, outer*inner); r.err != nil {
		return dst[:0]
	}
	if c == codePlain {
		return r.plain(dst)
	}
	for i, u := range dst {
		dst[i] = int64(uint64(u)>>1) ^ -(u & 1)
	}
	if c != codeSigned {
		restore(dst, inner, c)
	}
	return dst
}

// varints appends n unsigned numbers to dst, most of which take one byte.
func (r *columnReader) varints(dst []int64, n int) []int64 {
	buf, off := r.buf, r.off
	for i := range n {
		if off < len(buf) && buf[off] < 0x80 {
			dst = append(dst, int64(buf[off]))
			off++
			continue
		}
		u, size := binary.Uvarint(buf[off:])
		if size <= 0 {
			r.fail("varint %d of %d", i, n)
			return dst
		}
		off += size
		dst = append(dst, int64(u))
	}
	r.off = off
	return dst
}

// plain checks values that must not be negative.
func (r *columnReader) plain(dst []int64) []int64 {
	for i, v := range dst {
		if v < 0 {
			r.fail("value %d of a plain column is %d", i, uint64(v))
			return dst[:0]
		}
	}
	return dst
}

// restore adds what coding c subtracted.
func restore(vals []int64, inner int, c coding) {
	for i := 1; i < inner; i++ {
		vals[i] += vals[i-1]
	}
	lag := c.lag(inner)
	for row := inner; row < len(vals); row += inner {
		vals[row] += vals[row-inner]
		for i := row + 1; i < row+inner; i++ {
			vals[i] += vals[i-lag]
		}
	}
}
