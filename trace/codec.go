package trace

import (
	"crypto/sha256"
	"math"
)

// This file says how the header, a chunk and the index are messages of proto/trace.proto, by field numbers. Reading
// only checks what the conversion needs: Header.Check and Program.AddBlock check the meaning, of what a writer writes as
// well, so that there is one place for the rules, and one text for each mistake.

// maxStep bounds step numbers in files.
const maxStep = math.MaxInt32

// encodeHeader returns the content of a header record.
func encodeHeader(h *Header, features []string) ([]byte, error) {
	return marshal(func(m *message) { h.wire(m, &features) })
}

// decodeHeader reads the content of a header record, and the features that it lists.
func decodeHeader(b []byte) (h *Header, features []string, err error) {
	h = &Header{}
	if err := unmarshal(b, func(m *message) { h.wire(m, &features) }); err != nil {
		return nil, nil, err
	}
	return h, features, nil
}

func (h *Header) wire(m *message, features *[]string) {
	m.text(1, &h.Program)
	m.text(2, &h.Tool)
	m.text(3, &h.Command)
	list(m, 4, &h.Params, (*Param).wire)
	list(m, 5, &h.Result, (*Column).wire)
	m.double(6, &h.Flops)
	number(m, 7, &h.Ranks)
	number(m, 8, &h.Steps)
	list(m, 9, &h.CommFamilies, (*CommFamily).wire)
	list(m, 10, &h.Axes, (*Axis).wire)
	m.texts(11, &h.Phases)
	list(m, 12, &h.Kernels, (*Kernel).wire)
	list(m, 13, &h.Markers, (*Marker).wire)
	list(m, 14, &h.CallSites, (*CallSite).wire)
	number(m, 15, &h.Pollables)
	m.texts(16, features)
	m.flag(17, &h.Communicators)
	m.texts(18, &h.Queues)
	m.texts(19, &h.Events)
}

func (p *Param) wire(m *message) {
	m.text(1, &p.Name)
	m.text(2, &p.Value)
}

func (c *Column) wire(m *message) {
	m.text(1, &c.Title)
	m.text(2, &c.Value)
}

func (f *CommFamily) wire(m *message) {
	m.text(1, &f.Name)
	list(m, 2, &f.Groups, (*Group).wire)
}

// A group is a list of ranks, or an arithmetic sequence, which takes three numbers for any size.
func (g *Group) wire(m *message) {
	number(m, 1, &g.Start)
	m.signed(2, &g.Stride)
	number(m, 3, &g.Count)
	numbers(m, 4, &g.Ranks)
}

func (a *Axis) wire(m *message) {
	kind := uint32(a.Kind)
	m.text(1, &a.Name)
	number(m, 2, &kind)
	number(m, 3, &a.Family)
	a.Kind = AxisKind(min(kind, math.MaxUint8)) // larger ones are as unknown
}

func (k *Kernel) wire(m *message) {
	m.text(1, &k.Name)
	list(m, 2, &k.Attrs, (*Param).wire)
	list(m, 3, &k.Dims, (*Dim).wire)
	list(m, 4, &k.Flops, (*Term).wire)
}

func (d *Dim) wire(m *message) {
	m.text(1, &d.Name)
	m.texts(2, &d.Enum)
	m.flag(3, &d.Label)
}

// Powers of 0 at the end are left out.
func (t *Term) wire(m *message) {
	m.double(1, &t.Coef)
	if !m.reading {
		for i, p := range t.Pow {
			if p != 0 {
				m.powers = append(m.powers, make([]uint32, i+1-len(m.powers))...)
				m.powers[i] = uint32(p)
			}
		}
	}
	numbers(m, 2, &m.powers)
	// Powers beyond the four dimensions that a kernel may have belong to none.
	for i, p := range m.powers[:min(len(m.powers), len(t.Pow))] {
		t.Pow[i] = uint8(min(p, math.MaxUint8))
	}
}

func (k *Marker) wire(m *message) {
	m.text(1, &k.Text)
	number(m, 2, &k.Phase)
	m.flag(3, &k.End)
}

func (t *CallSite) wire(m *message) {
	m.text(1, &t.Name)
	numbers(m, 2, &t.Masks)
	m.axis(3, &t.Counts, NoAxis)
	m.axis(4, &t.Block, PerItem)
	list(m, 5, &t.Params, (*ParamColumn).wire)
}

func (p *ParamColumn) wire(m *message) {
	m.text(1, &p.Name)
	m.axis(2, &p.Axis, PerItem)
	m.flag(3, &p.Vector)
}

// chunkMessage is the content of a chunk record.
type chunkMessage struct {
	steps      []uint32 // by unit: the first step, then differences
	shapes     []uint32 // by unit: index of its sequence of call sites
	shapeSizes []uint32 // by shape: number of calls
	sites      []uint32 // the shapes' sequences, concatenated
	blocks     []uint32 // numbers of the blocks called, in the order of first use
	vectors    uint32   // number of vectors
	columns    []byte   // the call sites' columns, then those of the vectors, packed; of one that is read a part of it
	generators []string // kinds of the vectors that are generated, in the order of first use
}

func (c *chunkMessage) wire(m *message) {
	numbers(m, 1, &c.steps)
	numbers(m, 2, &c.shapes)
	numbers(m, 3, &c.shapeSizes)
	numbers(m, 4, &c.sites)
	numbers(m, 5, &c.blocks)
	number(m, 6, &c.vectors)
	m.blob(7, &c.columns)
	m.texts(8, &c.generators)
}

// Totals sums up a trace. The index states them, and a reader compares them with what it has read.
type Totals struct {
	Chunks int
	// Units are the parts of steps that Writer.Step begins.
	Units int64
	Calls int64 // of blocks, by call sites
	Items int64 // entries of the lists of calls, all classes
}

// indexMessage is the content of the index record.
type indexMessage struct {
	entries []indexEntry
	totals  Totals
}

// indexEntry repeats a record's header but for the checksum and the size of the record before, which follow from reading
// the record, and from the entry before.
type indexEntry struct {
	frame
	chunk bool
	hash  []byte
}

func (x *indexMessage) wire(m *message) {
	list(m, 1, &x.entries, (*indexEntry).wire)
	number(m, 2, &x.totals.Units)
	number(m, 3, &x.totals.Calls)
	number(m, 4, &x.totals.Items)
}

func (e *indexEntry) wire(m *message) {
	m.flag(1, &e.chunk)
	number(m, 2, &e.offset)
	number(m, 3, &e.packed)
	number(m, 4, &e.plain)
	number(m, 5, &e.count)
	number(m, 6, &e.first)
	number(m, 7, &e.last)
	m.blob(8, &e.hash)
}

// encodeIndex returns the content of the index record.
func encodeIndex(entries []frame, t Totals) ([]byte, error) {
	x := indexMessage{totals: t}
	for i := range entries {
		f := &entries[i]
		x.entries = append(x.entries, indexEntry{*f, f.kind == kindChunk, f.hash[:]})
	}
	return marshal(x.wire)
}

// decodeIndex reads the content of the index record. Of the frames it fills in what the index repeats, and the number.
func decodeIndex(b []byte) ([]frame, Totals, error) {
	var x indexMessage
	if err := unmarshal(b, x.wire); err != nil {
		return nil, Totals{}, err
	}
	entries := make([]frame, len(x.entries))
	// Numbers of chunks and of first blocks are not stored: they follow from the order of the entries.
	blocks := uint32(0)
	for i, e := range x.entries {
		if len(e.hash) != sha256.Size {
			return nil, Totals{}, corruptf("entry %d: hash of %d bytes", i, len(e.hash))
		}
		f := e.frame
		if f.hash = [sha256.Size]byte(e.hash); e.chunk {
			f.kind, f.number = kindChunk, uint32(x.totals.Chunks)
			x.totals.Chunks++
		} else {
			f.kind, f.number = kindDefs, blocks
			blocks += e.count
		}
		entries[i] = f
	}
	return entries, x.totals, nil
}
