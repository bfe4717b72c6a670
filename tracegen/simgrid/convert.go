package simgrid

import (
	"io"

	"reprise/trace"
)

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
		Axes:    []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		Steps:   1,
	}
	params := make([]trace.ParamColumn, numArgs)
	for i, name := range []string{"peer", "tag", "bytes", "received"} {
		params[i] = trace.ParamColumn{Name: name, Axis: trace.PerItem}
	}
	h.Templates = []trace.Template{{Name: "flat", List: 0, Block: trace.PerItem, Params: params}}
	return h
}

// Convert writes all actions to w, whose header must be that of Header. It does
// not close w.
func (t *Trace) Convert(w *trace.Writer) error {
	c := &converter{w: w, blocks: map[blockKey]int64{}, perRank: max(1, min(unitRank, unitActions/t.ranks))}
	for {
		call := &trace.Call{Counts: make([]int64, t.ranks), Args: make([][]int64, numArgs)}
		for r := range t.streams {
			n, err := c.rank(t, int32(r), call)
			if err != nil {
				return err
			}
			call.Counts[r] = n
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
	w       *trace.Writer
	blocks  map[blockKey]int64
	perRank int
}

// blockKey is what distinguishes the one-action blocks.
type blockKey struct {
	kind trace.Kind
	req  int32
}

// rank appends to the call the next actions of a rank and returns how many.
func (c *converter) rank(t *Trace, rank int32, call *trace.Call) (int64, error) {
	buf, err := t.batch(rank, c.perRank)
	for i := range buf {
		if err != nil {
			break
		}
		err = c.action(&buf[i], call)
	}
	return int64(len(buf)), err
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
	messages := map[trace.Kind]trace.Op{
		trace.KindSend: trace.OpSend, trace.KindIsend: trace.OpIsend, trace.KindRecv: trace.OpRecv, trace.KindIrecv: trace.OpIrecv,
	}
	var b *trace.Builder
	switch key.kind {
	case trace.KindFlops, trace.KindSleep:
		b = trace.NewBuilder(1)
		if key.kind == trace.KindFlops {
			b.Flops(b.Param(0))
		} else {
			b.Sleep(b.Param(0))
		}
	case trace.KindSendrecv:
		b = trace.NewBuilder(numArgs)
		b.Sendrecv(0, b.Param(argPeer), trace.Const(0), b.Param(argBytes), b.Param(argTag), trace.Const(0), b.Param(argReceived))
	case trace.KindWait:
		b = trace.NewBuilder(0)
		b.Wait(key.req)
	case trace.KindTest:
		b = trace.NewBuilder(0)
		b.Test(key.req)
	case trace.KindWaitAll:
		b = trace.NewBuilder(0)
		b.WaitAll()
	default:
		b = trace.NewBuilder(argReceived)
		b.Message(messages[key.kind], 0, key.req, b.Param(argPeer), b.Param(argTag), b.Param(argBytes))
	}
	return b
}

// batch returns the next actions of a rank, at most n. From a shared file it
// returns what has been read, after reading on until some rank has n.
func (t *Trace) batch(rank int32, n int) ([]trace.Action, error) {
	if t.shared == nil {
		buf := make([]trace.Action, n)
		got, err := t.Fill(rank, buf)
		return buf[:got], err
	}
	return nil, io.ErrUnexpectedEOF
}
