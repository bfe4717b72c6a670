package simgrid

import "reprise/trace"

// Columns of the call site "counts", for collective operations with counts per rank.
const (
	countedRoot  = iota
	countedCount // of the side that has one count
	countedExtra // flop, or the span of the receive buffer
	countedSend  // vectors; of an operation that has one, twice the same
	countedRecv
	numCounted
)

func countsSite() trace.CallSite {
	params := make([]trace.ParamColumn, numCounted)
	for i, name := range []string{"root", "count", "extra", "sent", "received"} {
		params[i] = trace.ParamColumn{Name: name, Axis: trace.PerItem, Vector: i >= countedSend}
	}
	return trace.CallSite{Name: "counts", Counts: 0, Block: trace.PerItem, Params: params}
}

// countsPerRank reports whether an action has counts per rank.
func countsPerRank(a *trace.Action) bool {
	return a.Kind == trace.KindCollective && perRank(trace.CollectiveKind(a.Sym))
}

func perRank(kind trace.CollectiveKind) bool { return kind.SendsPerRank() || kind.RecvsPerRank() }

// newCollectiveBlock builds the block of a collective operation on elements of
// given sizes.
func newCollectiveBlock(key blockKey) *trace.Builder {
	if perRank(key.collective) {
		b := trace.NewBuilder(key.collective.String(), numCounted)
		o := trace.CollectiveOperands{Root: b.Param(countedRoot), Flops: b.Param(countedExtra), Span: b.Param(countedExtra),
			Send: b.Param(countedCount), Recv: b.Param(countedCount)}
		if key.collective.SendsPerRank() {
			o.Send = b.Param(countedSend)
		}
		if key.collective.RecvsPerRank() {
			o.Recv = b.Param(countedRecv)
		}
		return sized(b, key, o)
	}
	b := trace.NewBuilder(key.collective.String(), numArgs)
	return sized(b, key, trace.CollectiveOperands{Root: b.Param(argPeer), Flops: b.Param(argTag), Send: b.Param(argBytes),
		Recv: b.Param(argReceived)})
}

// sized adds the operation with the sizes of its elements.
func sized(b *trace.Builder, key blockKey, o trace.CollectiveOperands) *trace.Builder {
	o.SendSize, o.RecvSize = trace.Const(key.sizes&(1<<32-1)), trace.Const(key.sizes>>32)
	b.Collective(key.collective, o)
	return b
}

// countedAction appends an action with counts per rank.
func (c *converter) countedAction(s *stream, a *trace.Action) error {
	block, err := c.block(a)
	if err != nil {
		return err
	}
	kind := trace.CollectiveKind(a.Sym)
	args := [numCounted]int64{countedRoot: int64(a.Peer), countedExtra: a.X[2]}
	switch {
	case kind.SendsPerRank() && kind.RecvsPerRank():
		args[countedSend], args[countedRecv] = c.vectors.handle(s.lists.at(a.X[0])), c.vectors.handle(s.lists.at(a.X[1]))
	case kind.SendsPerRank():
		args[countedSend], args[countedCount] = c.vectors.handle(s.lists.at(a.X[0])), a.X[1]
		args[countedRecv] = args[countedSend]
	default:
		args[countedRecv], args[countedCount] = c.vectors.handle(s.lists.at(a.X[1])), a.X[0]
		args[countedSend] = args[countedRecv]
	}
	c.counted.Blocks = append(c.counted.Blocks, block)
	for i, v := range args {
		c.counted.Args[i] = append(c.counted.Args[i], v)
	}
	return nil
}

// maxUnitElements bounds the elements of the vectors of a unit, but for one call.
const maxUnitElements = 1 << 20

// vectorHandles are the vectors of a unit, by the sums that they were made of.
type vectorHandles struct {
	w        *trace.Writer
	of       map[*int64]int64
	last     int64
	elements int
}

// begin forgets the vectors of the units before.
func (v *vectorHandles) begin(w *trace.Writer) {
	if len(v.of) > 0 {
		w.ForgetVectors(v.last + 1)
	}
	*v = vectorHandles{w: w, of: map[*int64]int64{}}
}

func (v *vectorHandles) room() bool { return v.elements < maxUnitElements }

// handle returns the handle of the vector with the given running sums.
func (v *vectorHandles) handle(s sums) int64 {
	if h, ok := v.of[&s[0]]; ok {
		return h
	}
	values := make([]int64, len(s)-1)
	for i := range values {
		values[i] = s[i+1] - s[i]
	}
	v.last = v.w.Vector(trace.Vector{Values: values})
	v.of[&s[0]] = v.last
	v.elements += len(values)
	return v.last
}
