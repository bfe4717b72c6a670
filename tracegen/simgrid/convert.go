package simgrid

import (
	"fmt"

	"reprise/trace"
)

// Columns of the call site "flat": what its arguments mean depends on the block.
const (
	argPeer     = iota // or the root, the amount of a computation, the seconds of a sleep
	argTag             // or the source of a sendrecv, the flop of a collective operation
	argBytes           // or the count that is sent
	argReceived        // bytes received by a sendrecv, or the count that is received
	numArgs
)

// unitActions bounds the actions in a unit of the trace, all ranks together, and
// so the memory of Convert; unitRank those of one rank.
const (
	unitActions = 1 << 18
	unitRank    = 4096
)

// Header returns the header of the trace as a flat one: axis "rank", one call site
// that calls one-action blocks, and one for collective operations with counts for
// each rank.
func (t *Trace) Header() *trace.Header {
	h := &trace.Header{
		Program: "simgrid-ti",
		Ranks:   t.ranks,
		Steps:   1,
		Axes:    []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CommFamilies: []trace.CommFamily{{
			Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(t.ranks)}},
		}},
	}
	params := make([]trace.ParamColumn, numArgs)
	for i, name := range []string{"peer", "tag", "bytes", "received"} {
		params[i] = trace.ParamColumn{Name: name, Axis: trace.PerItem}
	}
	h.CallSites = []trace.CallSite{{Name: "flat", Counts: 0, Block: trace.PerItem, Params: params}, countsSite()}
	return h
}

// Convert writes all actions to w, whose header must be that of Header. It does
// not close w. It holds one unit of the trace at a time. progress, if it is set, is called with
// the number of actions that are written.
func (t *Trace) Convert(w *trace.Writer, progress func(actions int)) error {
	if t.ahead != nil {
		return fmt.Errorf("%s: read ahead, which a conversion would miss", t.name)
	}
	c := &converter{t: t, w: w, blocks: map[blockKey]int64{}}
	c.limit = max(1, min(unitRank, unitActions/t.ranks))
	for written := 0; ; {
		if t.shared != nil {
			if err := t.readAhead(c.limit); err != nil {
				return err
			}
		}
		c.begin()
		for r := range t.streams {
			if err := c.rank(&t.streams[r]); err != nil {
				return err
			}
		}
		if c.actions == 0 {
			return nil
		}
		if err := c.write(); err != nil {
			return err
		}
		if written += c.actions; progress != nil {
			progress(written)
		}
	}
}

// converter turns actions into calls of blocks. A unit has, for each rank, actions
// without counts per rank, then some with.
type converter struct {
	t       *Trace
	w       *trace.Writer
	blocks  map[blockKey]int64
	limit   int // actions of a rank in a unit
	flat    trace.Call
	counted trace.Call
	vectors vectorHandles
	actions int // in the unit
}

func (c *converter) begin() {
	ranks := c.t.ranks
	c.flat = trace.Call{Counts: make([]int64, ranks), Args: make([][]int64, numArgs)}
	c.counted = trace.Call{Site: 1, Counts: make([]int64, ranks), Args: make([][]int64, numCounted)}
	c.vectors.begin(c.w)
	c.actions = 0
}

func (c *converter) write() error {
	if err := c.w.Step(0); err != nil {
		return err
	}
	for _, call := range []*trace.Call{&c.flat, &c.counted} {
		if len(call.Blocks) == 0 {
			continue
		}
		if err := c.w.Call(call); err != nil {
			return err
		}
	}
	return nil
}

// blockKey is what distinguishes the one-action blocks.
type blockKey struct {
	kind       trace.Kind
	collective trace.CollectiveKind
	req        int32
	sizes      int64 // of the elements of a collective operation, as in an action
}

func keyOf(a *trace.Action) blockKey {
	if a.Kind == trace.KindCollective {
		return blockKey{kind: a.Kind, collective: trace.CollectiveKind(a.Sym), sizes: a.X[3]}
	}
	return blockKey{kind: a.Kind, req: a.Req}
}

// block returns the number of the block of an action.
func (c *converter) block(a *trace.Action) (int64, error) {
	key := keyOf(a)
	block, ok := c.blocks[key]
	if !ok {
		n, err := c.w.Program().Add(newBlock(key))
		if err != nil {
			return 0, err
		}
		block = int64(n)
		c.blocks[key] = block
	}
	return block, nil
}

// rank appends to the unit the next actions of a rank.
func (c *converter) rank(s *stream) error {
	if err := c.t.fillQueue(s, c.limit); err != nil {
		return err
	}
	begin := s.taken
	for ; s.taken < len(s.queue) && s.taken < begin+c.limit && !countsPerRank(&s.queue[s.taken]); s.taken++ {
		if err := c.action(&s.queue[s.taken]); err != nil {
			return err
		}
		c.flat.Counts[s.rank]++
	}
	for ; s.taken < len(s.queue) && countsPerRank(&s.queue[s.taken]) && c.vectors.room(); s.taken++ {
		if err := c.countedAction(s, &s.queue[s.taken]); err != nil {
			return err
		}
		c.counted.Counts[s.rank]++
	}
	c.actions += s.taken - begin
	s.lists.give(s.queue[begin:s.taken])
	s.lists.forget()
	s.compact()
	return nil
}

// action appends an action without counts per rank.
func (c *converter) action(a *trace.Action) error {
	block, err := c.block(a)
	if err != nil {
		return err
	}
	c.flat.Blocks = append(c.flat.Blocks, block)
	args := [numArgs]int64{argPeer: int64(a.Peer), argTag: int64(a.Tag), argBytes: a.X[0], argReceived: a.X[1]}
	switch a.Kind {
	case trace.KindFlops, trace.KindSleep:
		args = [numArgs]int64{a.X[0]}
	case trace.KindSendrecv, trace.KindCollective:
		args[argTag] = a.X[2]
	}
	for i, v := range args {
		c.flat.Args[i] = append(c.flat.Args[i], v)
	}
	return nil
}

// newBlock builds the block of one action.
func newBlock(key blockKey) *trace.Builder {
	if key.kind == trace.KindCollective {
		return newCollectiveBlock(key)
	}
	b := trace.NewBuilder(key.kind.String(), numArgs)
	switch key.kind {
	case trace.KindFlops:
		b.Flops(b.Param(argPeer))
	case trace.KindSleep:
		b.Sleep(b.Param(argPeer))
	case trace.KindSendrecv:
		b.Sendrecv(0, b.Param(argPeer), trace.Const(0), b.Param(argBytes), b.Param(argTag), trace.Const(0),
			b.Param(argReceived))
	case trace.KindWait:
		b.Wait(key.req)
	case trace.KindTest:
		b.Test(key.req)
	case trace.KindFree:
		b.Free(key.req)
	case trace.KindWaitAll:
		b.WaitAll()
	default:
		ops := map[trace.Kind]trace.Op{
			trace.KindSend: trace.OpSend, trace.KindIsend: trace.OpIsend, trace.KindRecv: trace.OpRecv, trace.KindIrecv: trace.OpIrecv,
		}
		b.Message(ops[key.kind], 0, key.req, b.Param(argPeer), b.Param(argTag), b.Param(argBytes))
	}
	return b
}

// readAhead reads the shared file until some rank has n actions, or all together
// have as many as go into a unit.
func (t *Trace) readAhead(n int) error {
	for total, most := 0, 0; most < n && total < unitActions && !t.streams[0].over; total++ {
		rank, err := t.readShared()
		if err != nil {
			return err
		}
		most = max(most, len(t.streams[rank].queue))
	}
	return nil
}

// fillQueue sees to it that n actions of a rank have been read, if there are so many;
// of a shared file those that have been read must do.
func (t *Trace) fillQueue(s *stream, n int) error {
	for t.shared == nil && len(s.queue)-s.taken < n && !s.over {
		var a trace.Action
		ok, err := t.readOwn(s, &a)
		if err != nil {
			return err
		}
		if ok {
			s.queue = append(s.queue, a)
		}
	}
	if s.over {
		s.queueLast()
	}
	return nil
}
