package trace

import (
	"fmt"
	"slices"
)

// This file writes actions one by one, as they are ([Flat]): those of texts, of the traces of other tools, and of a part
// of a trace. It undoes the expansion: a cursor yields for the item of an action that action again.

// Columns of the call site "flat": what its arguments mean depends on the block.
const (
	flatPeer     = iota // or the root, the amount of a computation, the seconds of a sleep, a dimension of a kernel
	flatTag             // or the window, the source of a sendrecv, the flop of a collective operation
	flatBytes           // or the count that is sent, assertions
	flatReceived        // bytes that come back, or the count that is received
	numFlat
)

// Columns of the call site "counts", for collective operations with counts per rank.
const (
	countedRoot  = iota
	countedCount // of the side that has one count
	countedExtra // flop, or the span of the receive buffer
	countedSend  // vectors; of an operation that has one, twice the same
	countedRecv
	numCounted
)

// Limits of a unit of a trace, and so of the memory of its writer and its readers.
const (
	FlatActions  = 1 << 18 // actions of all ranks
	unitRank     = 4096    // those of one rank
	unitElements = 1 << 20 // elements of the vectors, but for one call
)

// FlatHeader returns the header of a trace that a Flat writes, with all ranks as its family.
func FlatHeader(program string, ranks int) *Header {
	h := &Header{Program: program, Ranks: ranks, Steps: 1,
		CommFamilies: []CommFamily{{Name: "world", Groups: []Group{{Stride: 1, Count: int32(ranks)}}}}}
	h.Flatten()
	return h
}

// Flatten makes a header that of a trace that a Flat writes: axis "rank", one call site that calls one-action blocks, and
// one for collective operations with counts for each rank; for each phase markers without a line, of its begin and its end.
// What actions refer to stays: kernels, phases, families, queues, events.
func (h *Header) Flatten() {
	h.Axes, h.CallSites, h.Markers, h.Pollables = []Axis{{Name: "rank", Kind: AxisRank}}, nil, nil, 0
	// Each call of a site has its own number of items for each rank: actions, by block and arguments.
	site := func(name string, vectors int, params ...string) {
		s := CallSite{Name: name, Counts: 0, Block: PerItem}
		for i, param := range params {
			s.Params = append(s.Params, ParamColumn{Name: param, Axis: PerItem, Vector: i >= vectors})
		}
		h.CallSites = append(h.CallSites, s)
	}
	site("flat", numFlat, "peer", "tag", "bytes", "received")
	site("counts", countedSend, "root", "count", "extra", "sent", "received")
	for i := range h.Phases {
		h.Markers = append(h.Markers, Marker{Phase: i + 1}, Marker{Phase: i + 1, End: true})
	}
}

// Flat writes the actions of all ranks, as they are, side by side: unit by unit, and in a unit rank by rank. Of a rank,
// a unit has actions without counts per rank, and then some with.
type Flat struct {
	// Limit is how many actions of a rank a unit has, those with counts per rank aside.
	Limit int

	w             *Writer
	blocks        map[flatForm]int64
	vectors       map[*int64]int64 // handles of the unit's vectors, by the sums that they were made of
	last          int64            // the last of the handles
	elements      int              // of the vectors
	flat, counted Call             // of the unit
}

// NewFlat returns a Flat that writes to w, whose header is that of FlatHeader with more of what actions refer to, or
// one that is flattened.
func NewFlat(w *Writer) *Flat {
	return &Flat{Limit: max(1, min(unitRank, FlatActions/w.prog.header.Ranks)), w: w, blocks: map[flatForm]int64{}}
}

// Begin begins a unit.
func (f *Flat) Begin() {
	ranks := f.w.prog.header.Ranks
	f.flat = Call{Counts: make([]int64, ranks), Args: make([][]int64, numFlat)}
	f.counted = Call{Site: 1, Counts: make([]int64, ranks), Args: make([][]int64, numCounted)}
	if len(f.vectors) > 0 {
		f.w.ForgetVectors(f.last + 1)
	}
	f.vectors, f.elements = map[*int64]int64{}, 0
}

// Takes reports whether an action may be the next of a rank in the unit.
func (f *Flat) Takes(rank int32, a *Action) bool {
	if a.Operates() && CollectiveKind(a.Sym).perRank() {
		return f.elements < unitElements
	}
	return f.counted.Counts[rank] == 0 && f.flat.Counts[rank] < int64(f.Limit)
}

// Empty reports whether the unit has no actions.
func (f *Flat) Empty() bool { return len(f.flat.Blocks)+len(f.counted.Blocks) == 0 }

// End writes the unit as one of a step.
func (f *Flat) End(step int) error {
	if err := f.w.Step(step); err != nil {
		return err
	}
	for _, call := range []*Call{&f.flat, &f.counted} {
		if len(call.Blocks) == 0 {
			continue
		}
		if err := f.w.Call(call); err != nil {
			return err
		}
	}
	return nil
}

// perRank reports whether one side of an operation counts rank by rank.
func (k CollectiveKind) perRank() bool { return k.SendsPerRank() || k.RecvsPerRank() }

// vector returns the handle of the vector with the given running sums. Ranks that say the same share the sums.
func (f *Flat) vector(s []int64) int64 {
	if h, ok := f.vectors[&s[0]]; ok {
		return h
	}
	v := VectorOf(s)
	f.last = f.w.Vector(v)
	f.vectors[&s[0]] = f.last
	f.elements += len(v.Values)
	return f.last
}

// VectorOf returns the vector with the given running sums, from 0.
func VectorOf(sums []int64) Vector {
	values := make([]int64, len(sums)-1)
	for i := range values {
		values[i] = sums[i+1] - sums[i]
	}
	return Vector{Values: values}
}

// Add adds an action to those of a rank in the unit. Ranks come in their order. The sums are those of the counts that it
// sends and receives, where it has one for each rank; the requests are the slots that a completion names.
func (f *Flat) Add(rank int32, a *Action, sent, received []int64, requests ...int32) error {
	// Most actions are messages.
	form := flatForm{kind: a.Kind, sym: int(a.Sym), req: a.Req, slot: uint8(a.Memory()), args: 3}
	call, x := &f.flat, a.X
	args := [numCounted]int64{flatPeer: int64(a.Peer), flatTag: int64(a.Tag), flatBytes: x[0], flatReceived: x[1]}
	source, sourceTag := a.Source()
	if a.Kind == KindNull { // the action that it would be with a peer
		form.kind, args[flatReceived] = Kind(x[1]), 0
		source, sourceTag = ProcNull, 0
	}
	switch form.kind {
	case KindCompute:
		form.args = len(f.w.prog.header.Kernels[a.Sym].Dims)
		copy(args[:], x[:])
	case KindLaunch:
		form.slot, form.args = uint8(a.Tag)|a.Flags, len(f.w.prog.header.Kernels[a.Sym].Dims)
		copy(args[:], x[:])
		if a.Flags&FlagParts != 0 {
			args[form.args] = x[3]
			form.args++
		}
	case KindQueue:
		form.slot, form.args = QueueSlot(a.QueueVerb(), int(a.Tag)), 0
	case KindAfter:
		form.slot, form.args, args = uint8(a.Tag), 1, [numCounted]int64{x[0]}
	case KindBeside:
		form.slot, form.args = uint8(a.Tag), 0
	case KindFlops, KindSleep:
		form.args, args = 1, [numCounted]int64{x[0], x[1]}
		if x[1] != 0 { // a deviation
			form.args = 2
		}
	case KindWait, KindTest, KindFree, KindWaitAll:
		form.args = 0
	case KindComplete:
		form.args, form.requests = 0, fmt.Sprint(requests)
	case KindExchange, KindSyncExchange:
		form.args = 4
	case KindSendrecv:
		form.tags, args[flatTag] = [2]int32{a.Tag, sourceTag}, int64(source)
	case KindIprobe, KindProbe:
		form.args = 2
	case KindAccess, KindIaccess:
		form.slot, form.args = uint8(a.AccessKind()), 4
	case KindSync:
		form.slot, args[flatBytes] = uint8(a.SyncKind()), x[1]
	case KindFile:
		form.slot, form.args, args = FileSlot(a.FileKind()), 1, [numCounted]int64{x[0]}
	case KindPhase: // its markers
		form.slot, form.args, form.sym = 0, 0, 2*form.sym+int(a.Flags&FlagEnd/FlagEnd)
	case KindCollective, KindIcollective:
		// The sizes of elements are constants of a block, as few differ; counts are arguments.
		kind := CollectiveKind(a.Sym)
		form.comm, form.sizes = a.Tag, x[3]
		args[flatTag] = x[2]
		if !kind.perRank() {
			break
		}
		call = &f.counted
		args = [numCounted]int64{countedRoot: int64(a.Peer), countedExtra: x[2], countedRecv: 0}
		if kind.SendsPerRank() {
			args[countedSend] = f.vector(sent)
		} else {
			args[countedCount] = x[0]
		}
		if kind.RecvsPerRank() {
			args[countedRecv] = f.vector(received)
		} else {
			args[countedCount], args[countedRecv] = x[1], args[countedSend]
		}
		if !kind.SendsPerRank() {
			args[countedSend] = args[countedRecv]
		}
	}
	block, ok := f.blocks[form]
	if !ok {
		n, err := f.w.prog.Add(form.block(requests))
		if err != nil {
			return err
		}
		block = int64(n)
		f.blocks[form] = block
	}
	call.Blocks = append(call.Blocks, block)
	for i := range call.Args {
		call.Args[i] = append(call.Args[i], args[i])
	}
	call.Counts[rank]++
	return nil
}

// flatForm is what actions of one block share; all else is arguments. Values that are mostly the same for a program, such
// as requests and sizes of elements, are part of the form: each form costs a block.
type flatForm struct {
	kind     Kind
	sym      int // as in an item
	req      int32
	slot     uint8    // as in an item
	args     int      // of the item
	comm     int32    // of a collective operation, with its operator, as in an action
	sizes    int64    // of the elements of a collective operation, as in an action: sent, and received << 32
	tags     [2]int32 // of a sendrecv
	requests string   // of a completion: its slots
}

// block builds the block of one action, whose parameters are the columns of its call site.
func (form *flatForm) block(requests []int32) *Builder {
	if form.kind != KindCollective && form.kind != KindIcollective {
		b := NewBuilder(form.kind.String(), numFlat)
		it := Item{Op: kindOps[form.kind], Sym: form.sym, Slot: form.slot}
		if opRules[it.Op].req {
			it.Req = form.req
		}
		for i := range form.args {
			it.Args = append(it.Args, b.Param(i))
		}
		if form.kind == KindSendrecv {
			it.Args = []Operand{b.Param(flatPeer), Const(int64(form.tags[0])), b.Param(flatBytes),
				b.Param(flatTag), Const(int64(form.tags[1])), b.Param(flatReceived)}
		}
		for _, slot := range requests {
			it.Coefs = append(it.Coefs, int64(slot))
		}
		b.Add(it)
		return b
	}
	a, kind := Action{Tag: form.comm}, CollectiveKind(form.sym)
	o := CollectiveOperands{SendSize: Const(form.sizes & (1<<32 - 1)), RecvSize: Const(form.sizes >> 32),
		Comm: Comm(a.Comm()), Operator: a.Operator()}
	name, params := kind.String(), numFlat
	if form.kind == KindIcollective {
		name = "i" + name
	}
	if kind.perRank() {
		params = numCounted
	}
	b := NewBuilder(name, params)
	o.Root, o.Flops, o.Send, o.Recv = b.Param(flatPeer), b.Param(flatTag), b.Param(flatBytes), b.Param(flatReceived)
	if kind.perRank() {
		o.Root, o.Flops, o.Span = b.Param(countedRoot), b.Param(countedExtra), b.Param(countedExtra)
		o.Send, o.Recv = b.Param(countedCount), b.Param(countedCount)
		if kind.SendsPerRank() {
			o.Send = b.Param(countedSend)
		}
		if kind.RecvsPerRank() {
			o.Recv = b.Param(countedRecv)
		}
	}
	if form.kind == KindCollective {
		b.Collective(kind, o)
	} else {
		b.Icollective(form.req, kind, o)
	}
	return b
}

// kindOps are the operations of kinds (Kind.Op).
var kindOps = func() (ops [numKinds]Op) {
	for k, name := range kindNames {
		ops[k] = Op(max(0, slices.IndexFunc(opRules[:], func(r opRule) bool { return r.name == name })))
	}
	ops[KindPhase] = OpMark
	return ops
}()
