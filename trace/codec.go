package trace

import (
	"crypto/sha256"
	"math"

	"google.golang.org/protobuf/proto"

	pb "reprise/proto"
)

// This file encodes headers, definitions and the index as messages of proto/trace.proto, and decodes headers and the
// index; definitions.go decodes definitions. Decoding only checks what the conversion needs: Header.Check and
// Program.AddBlock check the meaning.

// maxStep bounds step numbers in files.
const maxStep = math.MaxInt32

// marshal is deterministic, since content is named by a hash and equal traces must be equal files.
func marshal(m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// unmarshal leaves out fields that it does not know: what a reader must know has a feature. Added fields that change
// the meaning of old ones come with a new feature, by which an older reader refuses the file. See feature.
func unmarshal(b []byte, m proto.Message) error {
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return corruptf("%v", err)
	}
	return nil
}

// convert maps a slice; an empty slice becomes nil. Nil and empty lists are the same on the wire, so that a
// decoded header equals the encoded one.
func convert[A, B any](from []A, f func(A) B) []B {
	if len(from) == 0 {
		return nil
	}
	to := make([]B, len(from))
	for i, x := range from {
		to[i] = f(x)
	}
	return to
}

// encodeHeader returns the content of a header record. The order of fields in the message is that of proto/trace.proto.
// Lists keep their order, since all other records refer to their elements by index.
func encodeHeader(h *Header, features []string) ([]byte, error) {
	param := func(p Param) *pb.Pair { return &pb.Pair{Name: p.Name, Value: p.Value} }
	m := &pb.Header{
		Program: h.Program, Tool: h.Tool, Command: h.Command,
		Params: convert(h.Params, param),
		Result: convert(h.Result, func(c Column) *pb.Pair { return &pb.Pair{Name: c.Title, Value: c.Value} }),
		Flops:  h.Flops, Ranks: uint64(h.Ranks), Steps: uint64(h.Steps), Phases: h.Phases,
		Pollables: uint64(h.Pollables), Features: features, Communicators: h.Communicators,
		Queues: h.Queues, Events: h.Events,
	}
	// Communicators: a group is a list of ranks, or an arithmetic sequence, which takes three numbers for any size.
	for _, f := range h.CommFamilies {
		m.CommFamilies = append(m.CommFamilies, &pb.CommFamily{Name: f.Name, Groups: convert(f.Groups, func(g Group) *pb.Group {
			if g.Ranks != nil {
				return &pb.Group{Ranks: g.Ranks}
			}
			return &pb.Group{Start: g.Start, Stride: g.Stride, Count: g.Count}
		})})
	}
	// Partitions of the ranks, by which columns are indexed.
	for _, a := range h.Axes {
		m.Axes = append(m.Axes, &pb.Axis{Name: a.Name, Kind: uint32(a.Kind), Family: uint32(a.Family)})
	}
	// Kernels, with names and attributes apart from their dimensions and their flop count.
	for _, k := range h.Kernels {
		m.Kernels = append(m.Kernels, &pb.Kernel{Name: k.Name, Attrs: convert(k.Attrs, param),
			Dims: convert(k.Dims, func(d Dim) *pb.Dim { return &pb.Dim{Name: d.Name, Values: d.Enum, Label: d.Label} }),
			Flops: convert(k.Flops, func(t Term) *pb.Term { // powers of 0 at the end are left out
				m := &pb.Term{Coef: t.Coef}
				for i, p := range t.Pow {
					if p != 0 {
						m.Powers = append(m.Powers, make([]uint32, i+1-len(m.Powers))...)
						m.Powers[i] = uint32(p)
					}
				}
				return m
			})})
	}
	for _, k := range h.Markers {
		m.Markers = append(m.Markers, &pb.Marker{Text: k.Text, Phase: uint32(k.Phase), End: k.End})
	}
	// Columns of call sites. Axes are written as 1 + index, so that 0, which takes no bytes, stands
	// for a column that is missing or has one value per item.
	for _, t := range h.CallSites {
		m.CallSites = append(m.CallSites, &pb.CallSite{
			Name:   t.Name,
			Masks:  convert(t.Masks, func(a int) uint32 { return uint32(a) }),
			Counts: encodeColumnAxis(t.Counts), Block: encodeColumnAxis(t.Block),
			Params: convert(t.Params, func(p ParamColumn) *pb.ParamColumn {
				return &pb.ParamColumn{Name: p.Name, Axis: encodeColumnAxis(p.Axis), Vector: p.Vector}
			}),
		})
	}
	return marshal(m)
}

// decodeHeader reads the content of a header record, and the features that it lists. A number that does not fit a field
// becomes -1 or the largest value of the field, which Header.Check reports: it checks the header of a writer as well,
// so that there is one place for the rules, and one text for each mistake.
func decodeHeader(b []byte) (*Header, []string, error) {
	var m pb.Header
	if err := unmarshal(b, &m); err != nil {
		return nil, nil, err
	}
	param := func(p *pb.Pair) Param { return Param{p.GetName(), p.GetValue()} }
	h := &Header{
		Program: m.Program, Tool: m.Tool, Command: m.Command,
		Params: convert(m.Params, param),
		Result: convert(m.Result, func(p *pb.Pair) Column { return Column{p.GetName(), p.GetValue()} }),
		Flops:  m.Flops, Ranks: fit(m.Ranks), Steps: fit(m.Steps), Phases: m.Phases,
		Pollables: fit(m.Pollables), Communicators: m.Communicators,
		Queues: m.Queues, Events: m.Events,
	}
	for _, f := range m.CommFamilies {
		h.CommFamilies = append(h.CommFamilies, CommFamily{f.GetName(), convert(f.GetGroups(), func(g *pb.Group) Group {
			if len(g.GetRanks()) > 0 {
				return Group{Ranks: g.Ranks}
			}
			return Group{Start: g.GetStart(), Stride: g.GetStride(), Count: g.GetCount()}
		})})
	}
	for _, a := range m.Axes {
		h.Axes = append(h.Axes, Axis{a.GetName(), AxisKind(min(a.GetKind(), 255)), fit(a.GetFamily())})
	}
	for _, k := range m.Kernels {
		h.Kernels = append(h.Kernels, Kernel{Name: k.GetName(), Attrs: convert(k.GetAttrs(), param),
			Dims: convert(k.GetDims(), func(d *pb.Dim) Dim { return Dim{d.GetName(), d.GetValues(), d.GetLabel()} }),
			Flops: convert(k.GetFlops(), func(m *pb.Term) Term {
				t := Term{Coef: m.GetCoef()}
				// Powers beyond the four dimensions that a kernel may have belong to none.
				for i, p := range m.GetPowers()[:min(len(m.GetPowers()), len(t.Pow))] {
					t.Pow[i] = uint8(min(p, math.MaxUint8))
				}
				return t
			})})
	}
	for _, k := range m.Markers {
		h.Markers = append(h.Markers, Marker{k.GetText(), fit(k.GetPhase()), k.GetEnd()})
	}
	for _, t := range m.CallSites {
		h.CallSites = append(h.CallSites, CallSite{
			Name:   t.GetName(),
			Masks:  convert(t.GetMasks(), fit[uint32]),
			Counts: fit(t.GetCounts()) - 1, // 0 is NoAxis
			Block:  decodeColumnAxis(t.GetBlock()),
			Params: convert(t.GetParams(), func(p *pb.ParamColumn) ParamColumn {
				return ParamColumn{p.GetName(), decodeColumnAxis(p.GetAxis()), p.GetVector()}
			}),
		})
	}
	return h, m.Features, nil
}

// fit returns v as an int, or -1 if it is larger than 2^31-1.
func fit[T uint32 | uint64](v T) int {
	if v > math.MaxInt32 {
		return -1
	}
	return int(v)
}

// encodeColumnAxis returns 1 + axis, and 0 for NoAxis and PerItem.
func encodeColumnAxis(axis int) uint32 { return uint32(max(axis, -1) + 1) }

// decodeColumnAxis undoes encodeColumnAxis for columns, of which 0 stands for one value per item.
func decodeColumnAxis(v uint32) int {
	if v == 0 {
		return PerItem
	}
	return fit(v) - 1
}

// encodeDefinitions returns the content of a definitions record.
func encodeDefinitions(blocks []Block, features []string) ([]byte, error) {
	m := &pb.Definitions{Blocks: make([]*pb.Block, len(blocks)), Features: features}
	for i := range blocks {
		m.Blocks[i] = encodeBlock(&blocks[i])
	}
	return marshal(m)
}

// encodeBlock returns the message of a definition.
// The message of a block is also what Writer sums up to cut definitions into records of some size.
func encodeBlock(b *Block) *pb.Block {
	return &pb.Block{Name: b.Name, Params: uint32(b.Params), Items: encodeItems(b.Items)}
}

// encodeItems returns the messages of items, and of their bodies. An operand is split into its register, one byte in a
// list of bytes, and its constant, so that a list of operands takes two fields, however long it is.
func encodeItems(items []Item) []*pb.Item {
	operands := func(args []Operand) (regs []byte, consts []int64) {
		for _, a := range args {
			regs, consts = append(regs, byte(a.Reg)), append(consts, a.Const)
		}
		return regs, consts
	}
	return convert(items, func(it Item) *pb.Item {
		m := &pb.Item{Op: uint32(it.Op), Dst: uint32(it.Dst), Slot: uint32(it.Slot), Req: it.Req,
			Sym: uint64(it.Sym), GuardSym: uint64(it.GuardSym), Comm: uint32(it.Comm), Coefs: it.Coefs, Body: encodeItems(it.Body)}
		m.ArgRegs, m.ArgConsts = operands(it.Args)
		m.GuardRegs, m.GuardConsts = operands(it.Guard)
		return m
	})
}

// Totals sums up a trace. The index states them, and a reader compares them with what it has read.
type Totals struct {
	Chunks int
	// Units are the parts of steps that Writer.Step begins.
	Units int64
	Calls int64 // of blocks, by call sites
	Items int64 // entries of the lists of calls, all classes
}

// encodeIndex returns the content of the index record. An entry repeats the record's header but for the checksum and
// the size of the record before, which follow from reading the record, and from the entry before.
func encodeIndex(entries []frame, t Totals) ([]byte, error) {
	m := pb.Index{Units: uint64(t.Units), Calls: uint64(t.Calls), Items: uint64(t.Items)}
	for i := range entries {
		f := &entries[i]
		m.Entries = append(m.Entries, &pb.IndexEntry{Chunk: f.kind == kindChunk, Offset: f.offset,
			Packed: f.packed, Plain: f.plain, Count: f.count, FirstStep: f.first, LastStep: f.last, Hash: f.hash[:]})
	}
	return marshal(&m)
}

// decodeIndex reads the content of the index record. Of the frames it fills in what the index repeats, and the number.
func decodeIndex(b []byte) ([]frame, Totals, error) {
	var m pb.Index
	if err := unmarshal(b, &m); err != nil {
		return nil, Totals{}, err
	}
	entries := make([]frame, len(m.Entries))
	// Numbers of chunks and of first blocks are not stored: they follow from the order of the entries.
	chunks, blocks := uint32(0), uint32(0)
	for i, e := range m.Entries {
		if len(e.Hash) != sha256.Size {
			return nil, Totals{}, corruptf("entry %d: hash of %d bytes", i, len(e.Hash))
		}
		f := frame{kind: kindDefs, number: blocks, offset: e.Offset, packed: e.Packed, plain: e.Plain, count: e.Count,
			first: e.FirstStep, last: e.LastStep, hash: [sha256.Size]byte(e.Hash)}
		if e.Chunk {
			f.kind, f.number = kindChunk, chunks
			chunks++
		} else {
			blocks += e.Count
		}
		entries[i] = f
	}
	t := Totals{Chunks: int(chunks), Units: int64(m.Units), Calls: int64(m.Calls), Items: int64(m.Items)}
	return entries, t, nil
}
