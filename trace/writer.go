package trace

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
)

// WriterOptions says how a Writer cuts the stream. The zero value means defaults.
type WriterOptions struct {
	// ChunkUnits is the number of units in a chunk, 64 if 0. Larger chunks make a
	// smaller file; readers hold a few chunks at a time and seek to chunks.
	ChunkUnits int
}

// Limits of what a Writer puts into a chunk. They are below those of a reader, so that a Writer never makes a file that
// cannot be read. Except for maxUnits, the last unit of a chunk may exceed them: the chunk ends behind it.
const (
	maxUnits      = 1 << 16
	chunkValues   = 1 << 20
	chunkCells    = maxCells / 2
	chunkElements = MaxElements / 2
	defsSize      = 1 << 20 // bytes of definitions in a record

	// maxUnitValues leaves room for the values of vectors.
	maxUnitValues = maxValues / 2
)

// errClosed is what calls after Close return.
var errClosed = errors.New("trace writer is closed")

// Writer writes a trace in one pass. It holds one chunk, the vectors that may still be used, and the index. After an
// error that the file may have seen, all calls return that error; a Call that is refused leaves the Writer as it was.
type Writer struct {
	// What calls refer to, and what is made of them: the layout has the columns of each call site,
	// the packer makes the content of a record of a chunk, frames writes it.
	prog    *Program
	options WriterOptions
	frames  *frameWriter
	layout  layout
	vectors vectorStore
	packer  packer
	chunk   pendingChunk
	// How far the file has come.
	step    int        // of the last unit
	defined int        // blocks written
	listed  featureSet // features that records have listed
	needed  featureSet
	started bool // the header is written
	// For the end of the file: the records that the index lists, its totals, and the chained hash of header and chunks.
	entries []frame
	totals  Totals
	chain   hash.Hash
	err     error
}

// vectorStore holds the vectors of handles [base, base+len(list)). Handles count over the whole trace; base grows
// when old vectors are forgotten.
type vectorStore struct {
	base int64
	list []storedVector
}

// get returns the vector of a handle, nil if there is none.
func (s *vectorStore) get(handle int64) *storedVector {
	if handle < s.base || handle-s.base >= int64(len(s.list)) {
		return nil
	}
	return &s.list[handle-s.base]
}

// NewWriter begins a trace on w. The header must not change any more. It is written with the first chunk, since it
// lists the features that are used up to there. Close must be called to complete the trace; it does not close w.
func NewWriter(w io.Writer, h *Header, o WriterOptions) (*Writer, error) {
	if o.ChunkUnits < 0 || o.ChunkUnits > maxUnits {
		return nil, fmt.Errorf("chunks of %d units, allowed 1 to %d", o.ChunkUnits, maxUnits)
	}
	o.ChunkUnits = cmp.Or(o.ChunkUnits, 64)
	prog, err := NewProgram(h)
	if err != nil {
		return nil, err
	}
	// The size is checked now, with all features, as an error at the first chunk would come too late to be understood.
	plain, err := encodeHeader(h, featureNames)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if len(plain) > maxHeaderSize {
		return nil, fmt.Errorf("header of %d bytes, at most %d", len(plain), maxHeaderSize)
	}
	t := &Writer{prog: prog, options: o, layout: newLayout(h), chain: sha256.New(), needed: h.features()}
	t.packer = packer{prog: prog, layout: t.layout, vectors: &t.vectors, digest: newDigest()}
	t.frames, err = newFrameWriter(w)
	return t, err
}

// Program returns the program, to which blocks may be added at any time before the call that uses them.
func (w *Writer) Program() *Program { return w.prog }

// Vector stores a vector and returns its handle, which arguments of later calls may name. The values are copied. A
// generated one that breaks a rule is reported by the first Call that uses it.
func (w *Writer) Vector(v Vector) int64 {
	w.vectors.list = append(w.vectors.list, storeVector(&v))
	return w.vectors.base + int64(len(w.vectors.list)) - 1
}

// ForgetVectors frees the vectors of handles below before, which no later Call may use. Without it the Writer
// keeps all, at some bytes an element. It frees nothing while the chunk that is being filled uses one of them, so
// that it may be called after each step.
func (w *Writer) ForgetVectors(before int64) {
	n := max(0, min(before-w.vectors.base, int64(len(w.vectors.list))))
	used := func(v storedVector) bool { return v.chunk == w.totals.Chunks+1 }
	if n == 0 || len(w.chunk.units) > 0 && slices.ContainsFunc(w.vectors.list[:n], used) {
		return
	}
	w.vectors.list = w.vectors.list[n:]
	w.vectors.base += n
}

// Step begins a unit: a part of the given step, which is not before that of the unit before.
func (w *Writer) Step(step int) error {
	if w.err != nil {
		return w.err
	}
	if step < 0 || step > maxStep {
		return fmt.Errorf("step %d out of [0,%d]", step, maxStep)
	}
	if step < w.step {
		return fmt.Errorf("step %d after step %d", step, w.step)
	}
	p := &w.chunk // which is cut if it is large
	if len(p.units) >= w.options.ChunkUnits || len(p.values) >= chunkValues || p.cells >= chunkCells ||
		p.elements >= chunkElements {
		if w.err = w.flush(); w.err != nil {
			return w.err
		}
	}
	w.chunk.units = append(w.chunk.units, pendingUnit{step: step, calls: len(w.chunk.calls)})
	w.totals.Units++
	w.step = step
	return nil
}

// Call appends a call to the unit that Step began, after checking it, and copies its columns.
func (w *Writer) Call(c *Call) error {
	if w.err != nil {
		return w.err
	}
	if len(w.chunk.units) == 0 {
		return errors.New("call before the first step")
	}
	if c.Site < 0 || c.Site >= len(w.layout) {
		return fmt.Errorf("call site %d out of [0,%d)", c.Site, len(w.layout))
	}
	// Nothing is changed until all checks have passed, so that a refused call leaves no trace in the chunk.
	cols := w.layout[c.Site]
	items, err := w.check(c, cols)
	if err != nil {
		return fmt.Errorf("call site %q: %w", w.prog.header.CallSites[c.Site].Name, err)
	}
	p := &w.chunk
	size := 0
	for _, col := range cols {
		size += len(c.column(col))
	}
	if p.cells+len(cols) > maxCells || len(p.values)+size > maxUnitValues {
		return fmt.Errorf("unit of step %d: more calls than a chunk can hold: begin another unit of the step",
			p.units[len(p.units)-1].step)
	}
	p.cells += len(cols)
	p.calls = append(p.calls, pendingCall{site: c.Site, items: items, values: len(p.values)})
	for _, col := range cols {
		p.values = append(p.values, c.column(col)...)
	}
	w.totals.Calls++
	w.totals.Items += int64(items)
	return nil
}

// column returns the values of a column; the call's shape has been checked.
// The layout lists columns by kind and index: see layout.
func (c *Call) column(col column) []int64 {
	switch col.kind {
	case columnMask:
		return c.Masks[col.index]
	case columnCount:
		return c.Counts
	case columnBlock:
		return c.Blocks
	}
	return c.Args[col.index]
}

// check returns the number of items of a call's list, or what is wrong with the call: the length of a
// column, or a block or vector that it names.
func (w *Writer) check(c *Call, cols []column) (items int, err error) {
	t := &w.prog.header.CallSites[c.Site]
	if len(c.Masks) != len(t.Masks) || len(c.Args) != len(t.Params) {
		return 0, fmt.Errorf("%d masks and %d arguments, want %d and %d", len(c.Masks), len(c.Args), len(t.Masks),
			len(t.Params))
	}
	if t.Counts == NoAxis && c.Counts != nil {
		return 0, errors.New("counts, but the call site has no column of them")
	}
	for _, col := range cols {
		vals := c.column(col)
		want := col.width
		if want < 0 {
			want = items // the count column comes before those of items
		}
		if len(vals) != want {
			return 0, fmt.Errorf("column %q: %d values, want %d", col.name, len(vals), want)
		}
		if col.kind == columnMask || col.kind == columnArg && !col.vector {
			continue // any value will do
		}
		for i, v := range vals {
			var err error
			switch {
			case col.kind == columnCount && (v < 0 || v > maxItems-int64(items)):
				return 0, fmt.Errorf("column %q: class %d: %d items after %d, at most %d in all", col.name, i, v, items, maxItems)
			case col.kind == columnCount:
				items += int(v)
			case col.kind == columnBlock && v == NoBlock:
			case col.kind == columnBlock && (v < 0 || v >= int64(len(w.prog.blocks))):
				err = fmt.Errorf("block %d out of [0,%d)", v, len(w.prog.blocks))
			case col.kind == columnBlock:
				if n := w.prog.blocks[v].Params; n > len(t.Params) {
					err = fmt.Errorf("block %d takes %d arguments, the call site has %d", v, n, len(t.Params))
				}
			case col.vector:
				err = w.useVector(v)
			}
			if err != nil {
				return 0, fmt.Errorf("column %q: value %d: %w", col.name, i, err)
			}
		}
	}
	return items, nil
}

// useVector checks that a handle names a vector, and notes that the chunk needs it.
func (w *Writer) useVector(handle int64) error {
	v := w.vectors.get(handle)
	if v == nil {
		return fmt.Errorf("vector %d out of [%d,%d)", handle, w.vectors.base, w.vectors.base+int64(len(w.vectors.list)))
	}
	// The chunk has counted it already.
	if v.chunk == w.totals.Chunks+1 {
		return nil
	}
	if err := (&Vector{Generated: v.generated}).check(); err != nil {
		return fmt.Errorf("vector %d: %w", handle, err)
	}
	if sum := w.chunk.elements + v.count; sum > MaxElements {
		return fmt.Errorf("vector %d: with it the vectors of a chunk have %d elements, at most %d", handle, sum, MaxElements)
	}
	if v.generated != nil {
		w.needed.add(generatorFeature(v.generated.Kind.Name()))
	}
	w.chunk.elements += v.count
	v.chunk = w.totals.Chunks + 1
	return nil
}

// flush writes the header, if it is not written, and the definitions that are new, then
// the chunk. Definitions come before the first chunk that calls them, as a stream is read once.
// An error leaves the file in an unknown state: callers keep it in w.err.
func (w *Writer) flush() error {
	// Features of the blocks that have come since the last chunk, whether they are called or not.
	for i := w.defined; i < w.prog.NumBlocks(); i++ {
		w.needed |= w.prog.infos[i].features
	}
	if !w.started {
		plain, err := encodeHeader(w.prog.header, w.needed.names())
		w.started, w.listed = true, w.needed
		head := frame{kind: kindHeader, hash: sha256.Sum256(plain)}
		w.chain.Write(head.hash[:])
		if err := w.frames.record(&head, plain, err); err != nil {
			return err
		}
	}

	// The blocks that have been added since the last time, and the features that have come with them or
	// with the chunk's vectors.
	for w.defined < w.prog.NumBlocks() || w.listed != w.needed {
		features := (w.needed &^ w.listed).names()
		w.listed = w.needed
		first, size := w.defined, 0
		var m message
		hash := sha256.New()
		for ; w.defined < w.prog.NumBlocks() && size < defsSize; w.defined++ {
			size += m.part(1, w.prog.Block(w.defined).write)
			h := w.prog.BlockHash(w.defined)
			hash.Write(h[:])
		}
		hashFeatures(hash, features)
		m.texts(2, &features)
		f := frame{kind: kindDefs, number: uint32(first), count: uint32(w.defined - first)}
		hash.Sum(f.hash[:0])
		if err := w.frames.record(&f, m.out, m.err); err != nil {
			return err
		}
		w.entries = append(w.entries, f)
	}

	// The chunk.
	p := &w.chunk
	if len(p.units) == 0 {
		return nil
	}
	plain, hash, err := w.packer.pack(p)
	f := frame{kind: kindChunk, number: uint32(w.totals.Chunks), count: uint32(len(p.units)),
		first: uint32(p.units[0].step), last: uint32(p.units[len(p.units)-1].step), hash: hash}
	if err := w.frames.record(&f, plain, err); err != nil {
		return err
	}
	w.entries = append(w.entries, f)
	w.totals.Chunks++
	w.chain.Write(hash[:])
	p.reset()
	return nil
}

// Close writes what is left, the index and the end record. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	// Close can be called once, even if it fails.
	w.err = errClosed
	if err := w.flush(); err != nil {
		return err
	}
	plain, err := encodeIndex(w.entries, w.totals)
	// The index has the list of records, the end record the hash of the whole.
	index := frame{kind: kindIndex, count: uint32(len(w.entries)), hash: sha256.Sum256(plain)}
	if err := w.frames.record(&index, plain, err); err != nil {
		return err
	}
	end := frame{kind: kindEnd, count: uint32(w.totals.Chunks)}
	w.chain.Sum(end.hash[:0])
	return w.frames.record(&end, nil, nil)
}

// Totals returns what has been written so far.
func (w *Writer) Totals() Totals { return w.totals }
