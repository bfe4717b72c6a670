package simgrid

import (
	"fmt"

	"reprise/trace"
)

// This file writes a SimGrid trace as a trace of Reprise (Trace.Header, Trace.Convert).

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

// unitActions bounds the actions of all ranks in a unit of the trace, and so the memory of Convert; unitRank
// bounds those of one rank.
const (
	unitActions = 1 << 18
	unitRank    = 4096
)

// maxUnitElements bounds the elements of the vectors of a unit, but for one call.
const maxUnitElements = 1 << 20

// Header returns the header of the trace as a flat one: axis "rank", one call site that calls one-action blocks,
// and one for collective operations with counts for each rank.
func (t *Trace) Header() *trace.Header {
	h := &trace.Header{
		Program: trace.SimGridText,
		Ranks:   t.ranks,
		Steps:   1,
		Axes:    []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CommFamilies: []trace.CommFamily{{
			Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(t.ranks)}},
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

// Convert writes all actions to w, whose header must be that of Header. It does not close w. It holds one unit of
// the trace at a time. progress, if it is set, is called with the number of actions that are written.
func (t *Trace) Convert(w *trace.Writer, progress func(actions int)) error {
	if t.ahead != nil {
		return fmt.Errorf("%s: read ahead, which a conversion would miss", t.name)
	}
	c := &converter{t: t, w: w, blocks: map[blockKey]int64{}, limit: max(1, min(unitRank, unitActions/t.ranks))}
	for written := 0; ; {
		// The shared file is read until some rank has as many actions as go into a unit, or all together have.
		for total, most := 0, 0; t.shared != nil && most < c.limit && total < unitActions && !t.streams[0].over; total++ {
			rank, err := t.readShared()
			if err != nil {
				return err
			}
			most = max(most, len(t.streams[rank].queue))
		}

		// A unit is made of the next actions of all ranks, with vectors of its own.
		flat := trace.Call{Counts: make([]int64, t.ranks), Args: make([][]int64, numArgs)}
		counted := trace.Call{Site: 1, Counts: make([]int64, t.ranks), Args: make([][]int64, numCounted)}
		if len(c.vectors) > 0 {
			w.ForgetVectors(c.last + 1)
		}
		c.vectors, c.elements = map[*int64]int64{}, 0
		actions := 0
		for r := range t.streams {
			n, err := c.rank(&t.streams[r], &flat, &counted)
			if err != nil {
				return err
			}
			actions += n
		}
		if actions == 0 {
			return nil
		}
		if err := w.Step(0); err != nil {
			return err
		}
		for _, call := range []*trace.Call{&flat, &counted} {
			if len(call.Blocks) == 0 {
				continue
			}
			if err := w.Call(call); err != nil {
				return err
			}
		}
		if written += actions; progress != nil {
			progress(written)
		}
	}
}

// converter turns actions into calls of blocks. A unit has, for each rank, actions
// without counts per rank, then some with.
type converter struct {
	t        *Trace
	w        *trace.Writer
	blocks   map[blockKey]int64
	limit    int              // actions of a rank in a unit
	vectors  map[*int64]int64 // handles of the unit's vectors, by the sums that they were made of
	last     int64            // the last of the handles
	elements int              // of the vectors
}

// rank appends to the calls of a unit the next actions of a rank, and returns how many.
func (c *converter) rank(s *stream, flat, counted *trace.Call) (int, error) {
	// Of a file of its own enough is read; of a shared file those that have been read must do.
	for c.t.shared == nil && len(s.queue)-s.taken < c.limit && !s.over {
		var a trace.Action
		ok, err := c.t.readOwn(s, &a)
		if err != nil {
			return 0, err
		}
		if ok {
			s.queue = append(s.queue, a)
		}
	}
	if s.over {
		s.queue = append(s.queue, s.last...)
		s.last = nil
	}

	begin := s.taken
	for ; s.taken < len(s.queue) && s.taken < begin+c.limit && !countsPerRank(&s.queue[s.taken]); s.taken++ {
		a := &s.queue[s.taken]
		args := []int64{argPeer: int64(a.Peer), argTag: int64(a.Tag), argBytes: a.X[0], argReceived: a.X[1]}
		switch a.Kind {
		case trace.KindFlops, trace.KindSleep:
			args = []int64{a.X[0], 0, 0, 0}
		case trace.KindSendrecv, trace.KindCollective:
			args[argTag] = a.X[2]
		}
		if err := c.append(flat, s.rank, a, args); err != nil {
			return 0, err
		}
	}
	for ; s.taken < len(s.queue) && countsPerRank(&s.queue[s.taken]) && c.elements < maxUnitElements; s.taken++ {
		a := &s.queue[s.taken]
		kind := trace.CollectiveKind(a.Sym)
		args := []int64{countedRoot: int64(a.Peer), countedExtra: a.X[2], countedRecv: 0}
		if kind.SendsPerRank() {
			args[countedSend] = c.vector(s.lists.at(a.X[0]))
		} else {
			args[countedCount] = a.X[0]
		}
		if kind.RecvsPerRank() {
			args[countedRecv] = c.vector(s.lists.at(a.X[1]))
		} else {
			args[countedCount], args[countedRecv] = a.X[1], args[countedSend]
		}
		if !kind.SendsPerRank() {
			args[countedSend] = args[countedRecv]
		}
		if err := c.append(counted, s.rank, a, args); err != nil {
			return 0, err
		}
	}
	n := s.taken - begin
	s.lists.give(s.queue[begin:s.taken])
	s.lists.forget()
	s.compact()
	return n, nil
}

// countsPerRank reports whether an action has counts per rank.
func countsPerRank(a *trace.Action) bool {
	return a.Kind == trace.KindCollective && perRank(trace.CollectiveKind(a.Sym))
}

// perRank reports whether one side of an operation counts rank by rank.
func perRank(kind trace.CollectiveKind) bool { return kind.SendsPerRank() || kind.RecvsPerRank() }

// vector returns the handle of the vector with the given running sums.
func (c *converter) vector(s sums) int64 {
	if h, ok := c.vectors[&s[0]]; ok {
		return h
	}
	values := make([]int64, len(s)-1)
	for i := range values {
		values[i] = s[i+1] - s[i]
	}
	c.last = c.w.Vector(trace.Vector{Values: values})
	c.vectors[&s[0]] = c.last
	c.elements += len(values)
	return c.last
}

// append adds a call of the block of an action to the items of a rank.
func (c *converter) append(call *trace.Call, rank int32, a *trace.Action, args []int64) error {
	key := blockKey{kind: a.Kind, req: a.Req}
	if a.Kind == trace.KindCollective {
		key = blockKey{kind: a.Kind, collective: trace.CollectiveKind(a.Sym), sizes: a.X[3]}
	}
	block, ok := c.blocks[key]
	if !ok {
		n, err := c.w.Program().Add(newBlock(key))
		if err != nil {
			return err
		}
		block = int64(n)
		c.blocks[key] = block
	}
	call.Blocks = append(call.Blocks, block)
	for i, v := range args {
		call.Args[i] = append(call.Args[i], v)
	}
	call.Counts[rank]++
	return nil
}

// blockKey is what distinguishes the one-action blocks.
type blockKey struct {
	kind       trace.Kind
	collective trace.CollectiveKind
	req        int32
	sizes      int64 // of the elements of a collective operation, as in an action: sent, and received << 32
}

// newBlock builds the block of one action.
func newBlock(key blockKey) *trace.Builder {
	// The sizes of elements are constants of a block, as few differ; counts are arguments.
	kind := key.collective
	o := trace.CollectiveOperands{SendSize: trace.Const(key.sizes & (1<<32 - 1)), RecvSize: trace.Const(key.sizes >> 32)}
	if key.kind == trace.KindCollective && perRank(kind) {
		b := trace.NewBuilder(kind.String(), numCounted)
		o.Root, o.Flops, o.Span = b.Param(countedRoot), b.Param(countedExtra), b.Param(countedExtra)
		o.Send, o.Recv = b.Param(countedCount), b.Param(countedCount)
		if kind.SendsPerRank() {
			o.Send = b.Param(countedSend)
		}
		if kind.RecvsPerRank() {
			o.Recv = b.Param(countedRecv)
		}
		b.Collective(kind, o)
		return b
	}
	name := key.kind.String()
	if key.kind == trace.KindCollective {
		name = kind.String()
	}
	b := trace.NewBuilder(name, numArgs)
	peer, tag, bytes, received := b.Param(argPeer), b.Param(argTag), b.Param(argBytes), b.Param(argReceived)
	switch key.kind {
	case trace.KindCollective:
		o.Root, o.Flops, o.Send, o.Recv = peer, tag, bytes, received
		b.Collective(kind, o)
	case trace.KindFlops:
		b.Flops(peer)
	case trace.KindSleep:
		b.Sleep(peer)
	case trace.KindSendrecv:
		b.Sendrecv(0, peer, trace.Const(0), bytes, tag, trace.Const(0), received)
	case trace.KindWait:
		b.Wait(key.req)
	case trace.KindTest:
		b.Test(key.req)
	case trace.KindFree:
		b.Free(key.req)
	case trace.KindWaitAll:
		b.WaitAll()
	default:
		ops := map[trace.Kind]trace.Op{trace.KindSend: trace.OpSend, trace.KindIsend: trace.OpIsend,
			trace.KindRecv: trace.OpRecv, trace.KindIrecv: trace.OpIrecv}
		b.Message(ops[key.kind], 0, key.req, peer, tag, bytes)
	}
	return b
}
