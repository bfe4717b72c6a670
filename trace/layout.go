package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// columnKind says what a column of a call site is.
type columnKind uint8

const (
	columnMask columnKind = iota
	columnCount
	columnBlock
	columnArg
)

// column describes one column of a call site.
type column struct {
	kind   columnKind
	index  int    // of the mask or argument
	name   string // for errors
	width  int    // number of classes of its axis, or -1: one value per item
	vector bool   // an argument that names vectors
}

// layout lists the columns of each call site in the order of the file: masks,
// count, block, arguments.
type layout [][]column

func newLayout(h *Header) layout {
	l := make(layout, len(h.CallSites))
	for i := range h.CallSites {
		l[i] = siteColumns(h, &h.CallSites[i])
	}
	return l
}

func siteColumns(h *Header, t *CallSite) []column {
	width := func(axis int) int {
		if axis == PerItem {
			return -1
		}
		return h.Classes(axis)
	}
	var cols []column
	for i, axis := range t.Masks {
		cols = append(cols, column{kind: columnMask, index: i, name: "mask " + h.Axes[axis].Name, width: width(axis)})
	}
	if t.Counts != NoAxis {
		cols = append(cols, column{kind: columnCount, name: "count", width: width(t.Counts)})
	}
	cols = append(cols, column{kind: columnBlock, name: "block", width: width(t.Block)})
	for i, p := range t.Params {
		cols = append(cols, column{kind: columnArg, index: i, name: p.Name, width: width(p.Axis), vector: p.Vector})
	}
	return cols
}

// MaxElements bounds the elements of all vectors of a chunk, stated or generated.
const MaxElements = 1 << 22

// Limits of a chunk, so that it decodes to a bounded amount of memory.
const (
	maxValues = 1 << 24 // of all tables
	maxCells  = 1 << 20 // calls times columns of their call sites
	maxItems  = 1 << 30 // entries of one call's list
)

// digest hashes decoded content: SHA-256 over numbers written as varints. Writer
// and reader pass it the same numbers in the same order.
type digest struct {
	hash hash.Hash
	buf  []byte
}

func newDigest() *digest { return &digest{hash: sha256.New()} }

func (d *digest) reset() { d.hash.Reset(); d.buf = d.buf[:0] }

// number adds an unsigned number.
func (d *digest) number(v int) { d.buf = binary.AppendUvarint(d.buf, uint64(v)) }

// digestChunk is the number of values that are written at a time.
const digestChunk = 4096

// table adds a table's values, signed, in their order.
func (d *digest) table(vals []int64) {
	for ; len(vals) > digestChunk; vals = vals[digestChunk:] {
		d.buf = appendVarints(d.buf, vals[:digestChunk])
		d.flush()
	}
	d.buf = appendVarints(d.buf, vals)
	d.flush()
}

// bytes adds b as it is.
func (d *digest) bytes(b []byte) { d.buf = append(d.buf, b...) }

// text adds a text.
func (d *digest) text(s string) {
	d.number(len(s))
	d.buf = append(d.buf, s...)
}

func (d *digest) flush() {
	d.hash.Write(d.buf)
	d.buf = d.buf[:0]
}

func (d *digest) sum() (sum [sha256.Size]byte) {
	d.flush()
	d.hash.Sum(sum[:0])
	return sum
}
