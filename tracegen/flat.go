package tracegen

import (
	"reprise/trace"
)

// This file writes actions one by one, as they are in the texts and traces of other tools ([Flat]).

// Columns of the call site "flat": what its arguments mean depends on the block.
const (
	argPeer     = iota // or the root, the amount of a computation, the seconds of a sleep
	argTag             // or the source of a sendrecv, the flop of a collective operation
	argBytes           // or the count that is sent
	argReceived        // bytes received by a sendrecv, or the count that is received
	numArgs
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
	UnitActions  = 1 << 18 // actions of all ranks
	unitRank     = 4096    // those of one rank
	unitElements = 1 << 20 // elements of the vectors, but for one call
)

// FlatHeader returns the header of a trace that a Flat writes: axis "rank", one call site that calls one-action blocks,
// and one for collective operations with counts for each rank.
func FlatHeader(program string, ranks int) *trace.Header {
	h := &trace.Header{
		Program: program,
		Ranks:   ranks,
		Steps:   1,
		Axes:    []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CommFamilies: []trace.CommFamily{{
			Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(ranks)}},
		}},
	}
	// Each call of a site has its own number of items for each rank: actions, by block and arguments.
	site := func(name string, vectors int, params ...string) {
		s := trace.CallSite{Name: name, Counts: 0, Block: trace.PerItem}
		for i, param := range params {
			s.Params = append(s.Params, trace.ParamColumn{Name: param, Axis: trace.PerItem, Vector: i >= vectors})
		}
		h.CallSites = append(h.CallSites, s)
	}
	site("flat", numArgs, "peer", "tag", "bytes", "received")
	site("counts", countedSend, "root", "count", "extra", "sent", "received")
	return h
}

// Flat writes the actions of all ranks, as they are, side by side: unit by unit, and in a unit rank by rank. Of a rank,
// a unit has actions without counts per rank, and then some with.
type Flat struct {
	// Limit is how many actions of a rank a unit should have.
	Limit int

	w             *trace.Writer
	ranks         int
	blocks        map[flatKey]int64
	vectors       map[*int64]int64 // handles of the unit's vectors, by the sums that they were made of
	last          int64            // the last of the handles
	elements      int              // of the vectors
	flat, counted trace.Call       // of the unit
}

// NewFlat returns a Flat that writes to w, whose header is that of FlatHeader with further families and markers.
func NewFlat(w *trace.Writer, ranks int) *Flat {
	return &Flat{Limit: max(1, min(unitRank, UnitActions/ranks)), w: w, ranks: ranks, blocks: map[flatKey]int64{}}
}

// Begin begins a unit.
func (f *Flat) Begin() {
	f.flat = trace.Call{Counts: make([]int64, f.ranks), Args: make([][]int64, numArgs)}
	f.counted = trace.Call{Site: 1, Counts: make([]int64, f.ranks), Args: make([][]int64, numCounted)}
	if len(f.vectors) > 0 {
		f.w.ForgetVectors(f.last + 1)
	}
	f.vectors, f.elements = map[*int64]int64{}, 0
}

// Full reports whether the unit has as many counts per rank as it should have.
func (f *Flat) Full() bool { return f.elements >= unitElements }

// End writes the unit, and reports whether it has actions.
func (f *Flat) End() (bool, error) {
	if len(f.flat.Blocks)+len(f.counted.Blocks) == 0 {
		return false, nil
	}
	if err := f.w.Step(0); err != nil {
		return false, err
	}
	for _, call := range []*trace.Call{&f.flat, &f.counted} {
		if len(call.Blocks) == 0 {
			continue
		}
		if err := f.w.Call(call); err != nil {
			return false, err
		}
	}
	return true, nil
}

// PerRank reports whether an action has counts per rank. In a unit such actions of a rank come behind all others.
func PerRank(a *trace.Action) bool {
	return (a.Kind == trace.KindCollective || a.Kind == trace.KindIcollective) && perRank(trace.CollectiveKind(a.Sym))
}

// perRank reports whether one side of an operation counts rank by rank.
func perRank(kind trace.CollectiveKind) bool { return kind.SendsPerRank() || kind.RecvsPerRank() }

// vector returns the handle of the vector with the given running sums. Ranks that say the same share the sums.
func (f *Flat) vector(s []int64) int64 {
	if h, ok := f.vectors[&s[0]]; ok {
		return h
	}
	values := make([]int64, len(s)-1)
	for i := range values {
		values[i] = s[i+1] - s[i]
	}
	f.last = f.w.Vector(trace.Vector{Values: values})
	f.vectors[&s[0]] = f.last
	f.elements += len(values)
	return f.last
}

// Add adds an action to those of a rank in the unit. Ranks come in their order. The sums are those of the counts that
// it sends and receives, where it has one for each rank.
func (f *Flat) Add(rank int32, a *trace.Action, sent, received []int64) error {
	key := flatKey{kind: a.Kind, req: a.Req}
	call, kind := &f.flat, trace.CollectiveKind(a.Sym)
	args := [numCounted]int64{argPeer: int64(a.Peer), argTag: int64(a.Tag), argBytes: a.X[0], argReceived: a.X[1]}
	switch a.Kind {
	case trace.KindFlops, trace.KindSleep:
		args = [numCounted]int64{a.X[0]}
	case trace.KindSendrecv:
		source, tag := a.Source()
		key.sym, key.tags = a.Sym, [2]int32{a.Tag, tag}
		args[argTag] = int64(source)
	case trace.KindCollective, trace.KindIcollective:
		// The sizes of elements are constants of a block, as few differ; counts are arguments.
		key.sym, key.comm, key.sizes = a.Sym, a.Tag, a.X[3]
		args[argTag] = a.X[2]
		if !perRank(kind) {
			break
		}
		call = &f.counted
		args = [numCounted]int64{countedRoot: int64(a.Peer), countedExtra: a.X[2], countedRecv: 0}
		if kind.SendsPerRank() {
			args[countedSend] = f.vector(sent)
		} else {
			args[countedCount] = a.X[0]
		}
		if kind.RecvsPerRank() {
			args[countedRecv] = f.vector(received)
		} else {
			args[countedCount], args[countedRecv] = a.X[1], args[countedSend]
		}
		if !kind.SendsPerRank() {
			args[countedSend] = args[countedRecv]
		}
	default:
		key.sym = a.Sym
	}
	block, ok := f.blocks[key]
	if !ok {
		n, err := f.w.Program().Add(key.block())
		if err != nil {
			return err
		}
		block = int64(n)
		f.blocks[key] = block
	}
	call.Blocks = append(call.Blocks, block)
	for i := range call.Args {
		call.Args[i] = append(call.Args[i], args[i])
	}
	call.Counts[rank]++
	return nil
}

// flatKey is what distinguishes the one-action blocks.
type flatKey struct {
	kind  trace.Kind
	sym   uint16 // of a collective operation, or the family of a message
	req   int32
	comm  int32    // of a collective operation, with its operator, as in an action
	sizes int64    // of the elements of a collective operation, as in an action: sent, and received << 32
	tags  [2]int32 // of a sendrecv
}

// block builds the block of one action.
func (k flatKey) block() *trace.Builder {
	kind := trace.CollectiveKind(k.sym)
	a := trace.Action{Tag: k.comm}
	o := trace.CollectiveOperands{SendSize: trace.Const(k.sizes & (1<<32 - 1)), RecvSize: trace.Const(k.sizes >> 32),
		Comm: trace.Comm(a.Comm()), Operator: a.Operator()}
	collective := k.kind == trace.KindCollective || k.kind == trace.KindIcollective
	name, params := k.kind.String(), numArgs
	if collective {
		if name = kind.String(); k.kind == trace.KindIcollective {
			name = "i" + name
		}
		if perRank(kind) {
			params = numCounted
		}
	}
	b := trace.NewBuilder(name, params)
	peer, tag, bytes, received := b.Param(argPeer), b.Param(argTag), b.Param(argBytes), b.Param(argReceived)
	switch k.kind {
	case trace.KindCollective, trace.KindIcollective:
		o.Root, o.Flops, o.Send, o.Recv = peer, tag, bytes, received
		if perRank(kind) {
			o.Root, o.Flops, o.Span = b.Param(countedRoot), b.Param(countedExtra), b.Param(countedExtra)
			o.Send, o.Recv = b.Param(countedCount), b.Param(countedCount)
			if kind.SendsPerRank() {
				o.Send = b.Param(countedSend)
			}
			if kind.RecvsPerRank() {
				o.Recv = b.Param(countedRecv)
			}
		}
		if k.kind == trace.KindCollective {
			b.Collective(kind, o)
		} else {
			b.Icollective(k.req, kind, o)
		}
	case trace.KindFlops:
		b.Flops(peer)
	case trace.KindSleep:
		b.Sleep(peer)
	case trace.KindSendrecv:
		b.Sendrecv(int(k.sym), peer, trace.Const(int64(k.tags[0])), bytes, tag, trace.Const(int64(k.tags[1])), received)
	case trace.KindWait:
		b.Wait(k.req)
	case trace.KindTest:
		b.Test(k.req)
	case trace.KindFree:
		b.Free(k.req)
	case trace.KindWaitAll:
		b.WaitAll()
	case trace.KindProbe:
		b.Probe(int(k.sym), peer, tag)
	default:
		b.Message(messageOps[k.kind], int(k.sym), k.req, peer, tag, bytes)
	}
	return b
}

// messageOps are the operations of blocks whose actions are messages.
var messageOps = map[trace.Kind]trace.Op{
	trace.KindSend: trace.OpSend, trace.KindSsend: trace.OpSsend, trace.KindIsend: trace.OpIsend, trace.KindIssend: trace.OpIssend,
	trace.KindRecv: trace.OpRecv, trace.KindIrecv: trace.OpIrecv, trace.KindStart: trace.OpStart,
}
