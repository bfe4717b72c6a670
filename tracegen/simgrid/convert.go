package simgrid

import "reprise/trace"

// Columns of the one template: what its arguments mean depends on the block.
const (
	argPeer = iota // or the amount of a computation, the seconds of a sleep
	argTag         // or the source of a sendrecv
	argBytes
	argReceived // bytes received by a sendrecv
	numArgs
)

// unitActions bounds the actions in a unit of the trace, all ranks together, and
// so the memory of Convert; unitRank those of one rank.
const (
	unitActions = 1 << 18
	unitRank    = 4096
)

// Header returns the header of the trace as a flat one: axis "rank", one
// template that calls one-action blocks.
func (t *Trace) Header() *trace.Header {
	h := &trace.Header{
		Program: "simgrid-ti",
		Params:  []trace.Param{{Name: "index", Value: t.name}},
		Ranks:   t.ranks,
		Steps:   1,
		Axes:    []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		Families: []trace.Family{{
			Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(t.ranks)}},
		}},
	}
	params := make([]trace.ParamColumn, numArgs)
	for i, name := range []string{"peer", "tag", "bytes", "received"} {
		params[i] = trace.ParamColumn{Name: name, Axis: trace.PerItem}
	}
	h.Templates = []trace.Template{{Name: "flat", List: 0, Block: trace.PerItem, Params: params}}
	return h
}

// Convert writes all actions to w, whose header must be that of Header. It does
// not close w. It holds one unit of the trace at a time.
func (t *Trace) Convert(w *trace.Writer) error {
	c := &converter{w: w, blocks: map[blockKey]int64{}}
	c.buf = make([]trace.Action, max(1, min(unitRank, unitActions/t.ranks)))
	for {
		if t.shared != nil {
			if err := t.readAhead(len(c.buf)); err != nil {
				return err
			}
		}
		call := &trace.Call{Counts: make([]int64, t.ranks), Args: make([][]int64, numArgs)}
		for r := range t.streams {
			if err := c.rank(t, int32(r), call); err != nil {
				return err
			}
		}
		if len(call.Blocks) == 0 {
			return nil
		}
		if err := w.Step(0); err != nil {
			return err
		}
		if err := w.Call(call); err != nil {
			return err
		}
	}
}

// converter turns actions into calls of blocks.
type converter struct {
	w      *trace.Writer
	blocks map[blockKey]int64
	buf    []trace.Action // of one rank
}

// blockKey is what distinguishes the one-action blocks.
type blockKey struct {
	kind trace.Kind
	req  int32
}

// rank appends to the call the next actions of a rank.
func (c *converter) rank(t *Trace, rank int32, call *trace.Call) error {
	var n int
	var err error
	if t.shared != nil {
		n = t.streams[rank].take(c.buf)
	} else {
		n, err = t.Fill(rank, c.buf)
	}
	for i := range c.buf[:n] {
		if err == nil {
			err = c.action(&c.buf[i], call)
		}
	}
	call.Counts[rank] = int64(n)
	return err
}

func (c *converter) action(a *trace.Action, call *trace.Call) error {
	key := blockKey{a.Kind, a.Req}
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
	args := [numArgs]int64{argPeer: int64(a.Peer), argTag: int64(a.Tag), argBytes: a.X[0], argReceived: a.X[1]}
	switch a.Kind {
	case trace.KindFlops, trace.KindSleep:
		args = [numArgs]int64{a.X[0]}
	case trace.KindSendrecv:
		args[argTag] = a.X[2]
	}
	for i, v := range args {
		call.Args[i] = append(call.Args[i], v)
	}
	return nil
}

// newBlock builds the block of one action.
func newBlock(key blockKey) *trace.Builder {
	b := trace.NewBuilder(key.kind.String(), numArgs)
	switch key.kind {
	case trace.KindFlops:
		b.Flops(b.Param(argPeer))
	case trace.KindSleep:
		b.Sleep(b.Param(argPeer))
	case trace.KindSendrecv:
		b.Sendrecv(0, b.Param(argPeer), trace.Const(0), b.Param(argBytes), b.Param(argTag), trace.Const(0), b.Param(argReceived))
	case trace.KindWait:
		b.Wait(key.req)
	case trace.KindTest:
		b.Test(key.req)
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
