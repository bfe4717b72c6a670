package trace

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// This file packs columns of integers into bytes (columnWriter.add) and unpacks them (columnReader.table).
//
// A column is a table of integers, outer x inner, stored row by row: for an argument column the rows are the
// classes of its axis, and a row holds the values of the chunk's calls in order; a list is a table with rows of one
// value. It is written as one coding byte and a varint for each value, or for each run of zeros. A table without
// values takes no bytes.

// coding says what is subtracted from a value before it is written. Where a neighbour is missing another takes its
// place: in the first row the value before, in the first column the value above; of the first value of all nothing
// is subtracted. Arithmetic is modulo 2^64.
type coding uint8

// Codings. The numbers are part of the file format.
const (
	codePlain    coding = iota // nothing, unsigned: for tables without negative values
	codeSigned                 // nothing, zigzag, as all below
	codeCalls                  // the value before in the row: the same class, the call before
	codeClasses                // the value above: the same call, the class before
	codeDiagonal               // the value above and before: the class before, the call before
	numCodings

	// codeRuns is added if a zero is followed by how many more zeros follow it. Structure leaves long runs; without
	// them zstd would find matches between columns instead, and take more than twice the space.
	codeRuns coding = 8
)

// columnWriter packs tables. Its buffers are used again for each table: a chunk has some dozens, and
// each is coded in up to five ways before the shortest is taken.
type columnWriter struct {
	buf    []byte
	coded  [numCodings][]byte
	tokens []uint64
	runs   []byte
}

// add packs a table with rows of inner values. It tries all codings and takes the first of the smallest estimate.
func (w *columnWriter) add(vals []int64, inner int) {
	if len(vals) == 0 {
		return
	}
	// codePlain refuses tables with negative values; codeSigned takes all, so that there is always a best.
	best, size := codeSigned, ^uint64(0)
	for c := codePlain; c < numCodings; c++ {
		if inner == 1 && c > codeCalls {
			break // in a list, all are the value before
		}
		if !w.tokenize(vals, inner, c) {
			continue
		}
		w.coded[c] = w.pack(w.coded[c][:0], c)
		// Equal sizes keep the first coding, so that all machines write the same.
		if s := entropy(w.coded[c]); s < size {
			best, size = c, s
		}
	}
	w.buf = append(w.buf, w.coded[best]...)
}

// tokenize sets w.tokens to what coding c makes of a table, or reports that it has values that c cannot hold. A
// value is predicted by one of its neighbours and the token is the difference from there, which is small, and often
// zero, where the columns of a program are regular.
func (w *columnWriter) tokenize(vals []int64, inner int, c coding) bool {
	w.tokens = w.tokens[:0]
	if c <= codeSigned {
		for _, v := range vals {
			switch {
			case c == codeSigned:
				w.tokens = append(w.tokens, zigzag(v))
			case v < 0:
				return false
			default:
				w.tokens = append(w.tokens, uint64(v))
			}
		}
		return true
	}
	// The codings of neighbours. The first row has only values before, the first column only values above.
	w.tokens = append(w.tokens, zigzag(vals[0]))
	for i := 1; i < inner; i++ {
		w.tokens = append(w.tokens, zigzag(vals[i]-vals[i-1]))
	}
	lag := c.lag(inner)
	for row := inner; row < len(vals); row += inner {
		w.tokens = append(w.tokens, zigzag(vals[row]-vals[row-inner]))
		for i := row + 1; i < row+inner; i++ {
			w.tokens = append(w.tokens, zigzag(vals[i]-vals[i-lag]))
		}
	}
	return true
}

// zigzag maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// unzigzag undoes zigzag.
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

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

// pack appends the coding byte and the tokens, with runs if that is shorter.
func (w *columnWriter) pack(dst []byte, c coding) []byte {
	// First form: each token by itself.
	start := len(dst)
	dst = append(dst, byte(c))
	for _, u := range w.tokens {
		dst = binary.AppendUvarint(dst, u)
	}
	// Second form: a zero is followed by how many more come. It is given up once it is the longer one.
	w.runs = append(w.runs[:0], byte(c|codeRuns))
	for i := 0; i < len(w.tokens) && len(w.runs) < len(dst); {
		u := w.tokens[i]
		w.runs = binary.AppendUvarint(w.runs, u)
		if i++; u == 0 {
			more := i
			for i < len(w.tokens) && w.tokens[i] == 0 {
				i++
			}
			w.runs = binary.AppendUvarint(w.runs, uint64(i-more))
		}
	}
	if len(w.runs) < len(dst)-start {
		return append(dst[:start], w.runs...)
	}
	return dst
}

// entropy estimates what zstd makes of b, in 1/256 bit: for each distinct byte what
// an entropy coder of order 0 needs, count * log2(len(b)/count), and a byte of
// its table; and 1/16 bit for each byte, so that of equals the shortest is chosen.
func entropy(b []byte) uint64 {
	var counts [256]uint32
	for _, x := range b {
		counts[x]++
	}
	total := log2(uint64(len(b)))
	size := uint64(len(b)) << 4
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
	buf    []byte
	off    int
	budget int // values that may still be unpacked
	err    error
}

// left returns how many bytes have not been read.
func (r *columnReader) left() int { return len(r.buf) - r.off }

// fail keeps the first error: those after it follow from it.
func (r *columnReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = corruptf(format, args...)
	}
}

// table appends the outer*inner values of a table to dst, which must be empty. If it fails it returns none. budget
// is the number of values that the rest of the chunk may have: without it some bytes of runs could ask for any
// amount of memory.
func (r *columnReader) table(dst []int64, outer, inner int) []int64 {
	if r.err != nil || outer == 0 || inner == 0 {
		return dst
	}
	if inner > r.budget || outer > r.budget/inner {
		r.fail("column of %d x %d values, at most %d are left to a chunk", outer, inner, r.budget)
		return dst
	}
	if r.left() == 0 {
		r.fail("column of %d x %d values in no bytes", outer, inner)
		return dst
	}
	r.budget -= outer * inner
	c := coding(r.buf[r.off])
	r.off++
	if c&^codeRuns >= numCodings {
		r.fail("unknown coding %d", c)
		return dst
	}
	if c&codeRuns != 0 {
		dst = r.runs(dst, outer*inner)
	} else {
		dst = r.varints(dst, outer*inner)
	}
	if r.err == nil {
		r.restore(dst, inner, c&^codeRuns)
	}
	if r.err != nil {
		return dst[:0]
	}
	return dst
}

// varints appends n tokens to dst, most of which take one byte.
func (r *columnReader) varints(dst []int64, n int) []int64 {
	// A token takes a byte or more, so that memory for n values is never more than eight times the input.
	if n > r.left() {
		r.fail("%d values in %d bytes", n, r.left())
		return dst
	}
	buf, off, dst := r.buf, r.off, slices.Grow(dst, n)
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

// runs appends n tokens to dst, of which zeros are followed by their number. The number of tokens has been checked
// against the budget: here a few bytes can stand for many values.
func (r *columnReader) runs(dst []int64, n int) []int64 {
	for n > 0 {
		u := r.varint()
		dst = append(dst, int64(u))
		if n--; u != 0 {
			continue
		}
		more := r.varint()
		if r.err == nil && more > uint64(n) {
			r.fail("%d zeros, at most %d", more, n)
		}
		if r.err != nil {
			return dst
		}
		n -= int(more)
		dst = append(dst, make([]int64, more)...)
	}
	return dst
}

// varint reads one number, 0 after an error.
func (r *columnReader) varint() uint64 {
	u, size := binary.Uvarint(r.buf[r.off:])
	if size <= 0 {
		r.fail("varint at byte %d of %d", r.off, len(r.buf))
		return 0
	}
	r.off += size
	return u
}

// restore turns tokens into values.
func (r *columnReader) restore(vals []int64, inner int, c coding) {
	for i, u := range vals {
		if c != codePlain {
			// Tokens were stored as they came. Now they get their sign.
			vals[i] = unzigzag(uint64(u))
		} else if u < 0 {
			r.fail("value %d of a plain column is %d", i, uint64(u))
			return
		}
	}
	if c <= codeSigned {
		return
	}

	// The subtraction is undone by rows.
	lag := c.lag(inner)
	for i := 1; i < inner; i++ {
		vals[i] += vals[i-1]
	}
	for row := inner; row < len(vals); row += inner {
		vals[row] += vals[row-inner]
		for i := row + 1; i < row+inner; i++ {
			vals[i] += vals[i-lag]
		}
	}
}
