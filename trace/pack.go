package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"

	"reprise/trace/vectors"
)

// This file makes the content of a chunk record from the calls that a Writer has collected (packer.pack), and has
// what unpack.go shares with it: the layout of columns and the digest.

// storedVector is a vector as a Writer keeps it. Its values are stored as varints, as most of them take one byte.
type storedVector struct {
	packed    []byte // values as signed varints
	count     int
	generated *vectors.Generated // if set, instead of packed
	chunk     int                // 1 + number of the last chunk that used it
}

// storeVector copies a vector into few bytes: a writer may hold the vectors of a whole run.
func storeVector(v *Vector) storedVector {
	if g := v.Generated; g != nil {
		own := vectors.Generated{Kind: g.Kind, Args: slices.Clone(g.Args), Count: g.Count}
		return storedVector{generated: &own, count: int(g.Count)}
	}
	return storedVector{packed: appendVarints(nil, v.Values), count: len(v.Values)}
}

// appendVarints appends signed varints.
func appendVarints(dst []byte, vals []int64) []byte {
	for _, v := range vals {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

// pendingUnit and pendingCall are a unit and a call of the chunk being filled.
type pendingUnit struct {
	step  int
	calls int // first of its calls
}

type pendingCall struct {
	site   int
	items  int
	values int // where its columns begin in pendingChunk.values
}

// pendingChunk is the chunk that a Writer fills. Columns of a call are stored
// one after the other in the order of the layout.
type pendingChunk struct {
	units    []pendingUnit
	calls    []pendingCall
	values   []int64
	cells    int // calls times columns
	elements int // of the vectors used
}

// reset empties the chunk and keeps its memory for the next one.
func (w *pendingChunk) reset() {
	*w = pendingChunk{units: w.units[:0], calls: w.calls[:0], values: w.values[:0]}
}

// callsOf returns the calls of unit i.
func (w *pendingChunk) callsOf(i int) []pendingCall {
	end := len(w.calls)
	if i+1 < len(w.units) {
		end = w.units[i+1].calls
	}
	return w.calls[w.units[i].calls:end]
}

// packer turns pending chunks into the content of chunk records: the sequence of call sites of each unit, which most
// units share with another one (shapes), then the columns of each call site over all its calls, since the values of one
// column resemble each other, then the vectors. Block numbers and handles of vectors are replaced by numbers of the
// chunk's own, in the order of first use, so that a chunk with the same calls has the same content wherever it stands.
type packer struct {
	prog    *Program
	layout  layout
	vectors *vectorStore
	cols    columnWriter
	digest  *digest
	blocks  localNames
	handles localNames
	values  []int64
}

// localNames gives the numbers of a chunk to blocks, or vectors, in the order of their first use.
type localNames struct {
	number map[int64]int64
	names  []int64
}

// reset forgets all numbers for the next chunk, which has its own.
func (l *localNames) reset() {
	if l.number == nil {
		l.number = map[int64]int64{}
	}
	clear(l.number)
	l.names = l.names[:0]
}

// local returns the chunk's number of a block or vector, a new one at the first use.
func (l *localNames) local(name int64) int64 {
	n, ok := l.number[name]
	if !ok {
		n = int64(len(l.names))
		l.number[name] = n
		l.names = append(l.names, name)
	}
	return n
}

// pack returns the content of the record of chunk w, and its hash. The digest takes the numbers before they are
// coded, in the order of the columns: units, columns of each call site, blocks, vectors. The unpacker passes it
// the same numbers.
func (p *packer) pack(w *pendingChunk) ([]byte, [sha256.Size]byte, error) {
	p.cols.buf = p.cols.buf[:0]
	p.digest.reset()
	p.blocks.reset()
	p.handles.reset()
	m := &chunkMessage{}
	p.packUnits(m, w)
	bySite := make([][]pendingCall, len(p.layout))
	for _, c := range w.calls {
		bySite[c.site] = append(bySite[c.site], c)
	}
	for t, calls := range bySite {
		if len(calls) > 0 {
			p.packSite(p.layout[t], calls, w.values)
		}
	}
	m.blocks = p.packBlocks()
	m.generators = p.packVectors()
	m.vectors = uint32(len(p.handles.names))
	m.columns = p.cols.buf
	plain, err := marshal(m.wire)
	return plain, p.digest.sum(), err
}

// packUnits fills in steps and shapes.
// A shape is a sequence of call sites. Steps are written as differences from the step before.
func (p *packer) packUnits(m *chunkMessage, w *pendingChunk) {
	shapes := map[string]uint32{}
	step := 0
	var key []byte
	p.digest.number(len(w.units))
	for i, u := range w.units {
		calls := w.callsOf(i)
		key = key[:0]
		p.digest.number(u.step)
		p.digest.number(len(calls))
		for _, c := range calls {
			key = binary.AppendUvarint(key, uint64(c.site))
		}
		p.digest.bytes(key)
		shape, ok := shapes[string(key)]
		if !ok {
			shape = uint32(len(shapes))
			shapes[string(key)] = shape
			m.shapeSizes = append(m.shapeSizes, uint32(len(calls)))
			for _, c := range calls {
				m.sites = append(m.sites, uint32(c.site))
			}
		}
		m.steps = append(m.steps, uint32(u.step-step))
		m.shapes = append(m.shapes, shape)
		step = u.step
	}
}

// packSite packs the columns of all calls of a call site. A column with a value per class becomes a table of
// classes times calls; one with a value per item becomes a list. See columnWriter.
func (p *packer) packSite(cols []column, calls []pendingCall, values []int64) {
	at := make([]int, len(calls)) // where the column begins, by call
	for i, c := range calls {
		at[i] = c.values
	}
	for _, col := range cols {
		inner := 1
		if col.width >= 0 {
			inner = len(calls)
			p.transpose(at, col.width, values)
		} else {
			p.concatenate(at, calls, values)
		}
		p.rename(col)
		p.digest.table(p.values)
		p.cols.add(p.values, inner)
	}
}

// transpose stores a column in p.values, classes outermost, and moves at to the next column.
func (p *packer) transpose(at []int, width int, values []int64) {
	n := len(at)
	p.values = resize(p.values, n*width)
	for i, from := range at {
		for k, v := range values[from : from+width] {
			p.values[k*n+i] = v
		}
		at[i] += width
	}
}

// concatenate stores a column of one value per item in p.values, and moves at to the next column.
func (p *packer) concatenate(at []int, calls []pendingCall, values []int64) {
	p.values = p.values[:0]
	for i, c := range calls {
		p.values = append(p.values, values[at[i]:at[i]+c.items]...)
		at[i] += c.items
	}
}

// resize returns a slice of n elements, b's memory if it is large enough.
func resize(b []int64, n int) []int64 {
	if cap(b) < n {
		return make([]int64, n)
	}
	return b[:n]
}

// rename replaces the numbers of blocks and handles of vectors in p.values by the chunk's own. Block numbers are
// written as 1 + the chunk's number, and as 0 for NoBlock.
func (p *packer) rename(col column) {
	switch {
	case col.kind == columnBlock:
		for i, v := range p.values {
			if v == NoBlock {
				p.values[i] = 0
			} else {
				p.values[i] = 1 + p.blocks.local(v)
			}
		}
	case col.vector:
		for i, v := range p.values {
			p.values[i] = p.handles.local(v)
		}
	}
}

// packBlocks returns the numbers of the chunk's blocks.
// The digest has the blocks' hashes in place of their numbers, which depend on the trace.
func (p *packer) packBlocks() []uint32 {
	numbers := make([]uint32, len(p.blocks.names))
	p.digest.number(len(numbers))
	for i, b := range p.blocks.names {
		numbers[i] = uint32(b)
		hash := p.prog.BlockHash(int(b))
		p.digest.bytes(hash[:])
	}
	return numbers
}

// packVectors packs the chunk's vectors: kinds, counts, values, and the arguments of
// those that are generated. It returns the names of the kinds.
func (p *packer) packVectors() []string {
	// Kind 0 is a vector with stated values; generators are numbered from 1 in the order of first use.
	var kinds, counts, values []int64
	var generators []*vectors.Kind
	var args [][]int64 // of each generator in turn, by argument
	for _, h := range p.handles.names {
		v := p.vectors.get(h)
		counts = append(counts, int64(v.count))
		if g := v.generated; g != nil {
			n := slices.Index(generators, g.Kind)
			if n < 0 {
				n = len(generators)
				generators = append(generators, g.Kind)
			}
			kinds = append(kinds, 1+int64(n))
			continue
		}
		kinds = append(kinds, 0)
		for b := v.packed; len(b) > 0; {
			x, n := binary.Varint(b)
			values, b = append(values, x), b[n:]
		}
	}
	for n, g := range generators {
		args = append(args, p.arguments(kinds, 1+int64(n), len(g.Args()))...)
	}
	p.digest.number(len(kinds))
	for _, table := range append([][]int64{kinds, counts, values}, args...) {
		p.digest.table(table)
		p.cols.add(table, 1)
	}
	names := make([]string, len(generators))
	p.digest.number(len(names))
	for i, g := range generators {
		names[i] = g.Name()
		p.digest.text(names[i])
	}
	return names
}

// arguments returns those of the chunk's vectors of a kind, a list for each argument.
func (p *packer) arguments(kinds []int64, kind int64, n int) [][]int64 {
	args := make([][]int64, n)
	for i, h := range p.handles.names {
		if kinds[i] != kind {
			continue
		}
		for j, x := range p.vectors.get(h).generated.Args {
			args[j] = append(args[j], x)
		}
	}
	return args
}

// columnKind says what a column of a call site is.
type columnKind uint8

// The kinds of columns, in the order of the file.
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

// layout lists the columns of each call site in the order of the file: masks, count, block, arguments. Writer,
// packer and unpacker go through columns in this order.
type layout [][]column

// newLayout returns the columns of all call sites of a header.
func newLayout(h *Header) layout {
	l := make(layout, len(h.CallSites))
	for i := range h.CallSites {
		l[i] = siteColumns(h, &h.CallSites[i])
	}
	return l
}

// siteColumns lists the columns of one call site. The count column comes before those of items, whose length it states.
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

// digest hashes decoded content: SHA-256 over numbers written as varints. Writer and reader pass it the same
// numbers in the same order. The hash of a chunk is that of what it means, not of its bytes, so that a later
// version may code tables in other ways, and equal chunks still have equal names.
type digest struct {
	hash hash.Hash
	buf  []byte
}

// newDigest returns a digest of nothing.
func newDigest() *digest { return &digest{hash: sha256.New()} }

// reset begins anew.
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

// flush hashes what has been collected: calls of the hash with a few bytes each would cost more than hashing.
func (d *digest) flush() {
	d.hash.Write(d.buf)
	d.buf = d.buf[:0]
}

// sum returns the hash of all that was added.
func (d *digest) sum() (sum [sha256.Size]byte) {
	d.flush()
	d.hash.Sum(sum[:0])
	return sum
}
