package tracetest

import (
	"bytes"
	"errors"
	"math"

	"reprise/trace"
)

// wild makes programs of bytes, as hostile as the format allows, for fuzz tests (Wild). Each decision takes a byte,
// zero once they have come to their end, so that a short input makes a short program and a fuzzer that changes a byte
// changes one decision. The order of the decisions is a part of the corpora that fuzzers have found: who changes it
// makes other programs of them.
type wild struct {
	data   []byte
	turns  int64 // of a loop at most
	depth  int   // of loops and conditions
	blocks []wildBlock
	vars   []trace.Operand // of the block that is built
}

// wildBlock is a block that others may call.
type wildBlock struct{ number, params int }

// WildRanks is the number of ranks of wild programs.
const WildRanks = 3

// Wild returns the file of a trace in which the ranks do what the bytes say, whether that makes sense or not: they name
// ranks that do not exist, wait for requests that they have not begun, call each other's blocks. Loops take at most
// turns turns. The error says that the format has no such program.
func Wild(data []byte, turns int64) ([]byte, error) {
	g := &wild{data: data, turns: turns, depth: 2}
	var file bytes.Buffer
	h := header(WildRanks)
	h.Steps = 2
	w, err := trace.NewWriter(&file, h, trace.WriterOptions{ChunkUnits: 1})
	if err != nil {
		return nil, err
	}
	for range 1 + g.upTo(4) {
		// A block has up to two parameters, which are vectors if the stream calls it.
		params := min(g.upTo(3), maxVectors)
		b := trace.NewBuilder("wild", params)
		g.vars = nil
		for i := range params {
			g.vars = append(g.vars, b.Param(i))
		}
		for range g.upTo(12) {
			g.item(b, 0)
		}
		n, err := w.Program().Add(b)
		if err != nil {
			return nil, err
		}
		g.blocks = append(g.blocks, wildBlock{n, params})
	}
	for step := range h.Steps {
		err := w.Step(step)
		for range 1 + g.upTo(2) {
			err = errors.Join(err, w.Call(g.call(w)))
		}
		if err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return file.Bytes(), err
}

// next returns the next byte, 0 behind the last.
func (g *wild) next() byte {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return b
}

// upTo returns a number of [0, most].
func (g *wild) upTo(most int) int { return int(g.next()) % (most + 1) }

// value returns a number: mostly a small one, seldom one at an end of the range.
func (g *wild) value() int64 {
	extremes := [...]int64{-1, 1 << 20, math.MaxInt32, math.MinInt32, 1 << 50, math.MaxInt64, math.MinInt64, trace.AnyTag,
		trace.FloatArg(1e-3), trace.FloatArg(1e300), trace.FloatArg(math.NaN()), trace.FloatArg(-1)}
	if b := g.next(); int(b) < 4*len(extremes) {
		return extremes[int(b)%len(extremes)]
	}
	return int64(g.upTo(5))
}

// operand returns a constant, or something that has been computed.
func (g *wild) operand() trace.Operand {
	if i := g.upTo(2 * len(g.vars)); i < len(g.vars) {
		return g.vars[i]
	}
	return trace.Const(g.value())
}

// rank returns a rank, mostly one that exists.
func (g *wild) rank() trace.Operand {
	if g.upTo(9) == 0 {
		return g.operand()
	}
	return trace.Const(int64(g.upTo(WildRanks - 1)))
}

// tag returns one of two tags, so that some messages match and some do not.
func (g *wild) tag() trace.Operand { return trace.Const(int64(g.upTo(1))) }

// size returns a size in bytes, mostly one of those about which protocols differ.
func (g *wild) size() trace.Operand {
	if g.upTo(9) == 0 {
		return g.operand()
	}
	return trace.Const([]int64{0, 1, 1000, 70000, -1}[g.upTo(4)])
}

// call returns a call of one of the blocks by each rank.
func (g *wild) call(w *trace.Writer) *trace.Call {
	c := &trace.Call{Blocks: make([]int64, WildRanks), Args: make([][]int64, maxVectors)}
	for r := range c.Blocks {
		c.Blocks[r] = int64(g.blocks[len(g.blocks)-1-g.upTo(len(g.blocks)-1)].number)
	}
	for i := range c.Args {
		values := make([]int64, WildRanks+g.upTo(1))
		for j := range values {
			values[j] = int64(g.upTo(100))
		}
		c.Args[i] = []int64{w.Vector(trace.Vector{Values: values})}
	}
	return c
}

// item appends an item. Loops, conditions and what is in them nest to a depth.
func (g *wild) item(b *trace.Builder, depth int) {
	kinds := []trace.Op{trace.OpSend, trace.OpRecv, trace.OpIsend, trace.OpIrecv, trace.OpSsend, trace.OpIssend}
	req := int32(g.upTo(5))
	switch g.upTo(24) {
	case 0, 1, 2, 3:
		b.Message(kinds[g.upTo(len(kinds)-1)], 0, 0, g.rank(), g.tag(), g.size())
	case 4:
		b.Message(kinds[2+g.upTo(1)], 0, req, g.rank(), g.tag(), g.size())
	case 5:
		b.Wait(req)
	case 6:
		b.WaitAll()
	case 7:
		b.Test(req)
	case 8:
		b.Compute(g.upTo(1), g.operand())
	case 9:
		b.Flops(trace.Const(trace.FloatArg(1e5)))
	case 10:
		b.Sleep(g.operand())
	case 11:
		b.Exchange(0, g.rank(), g.tag(), g.size(), g.size())
	case 12:
		b.Sendrecv(0, g.rank(), g.tag(), g.size(), g.rank(), g.tag(), g.size())
	case 13:
		b.Iprobe(0, g.rank(), g.tag())
	case 14: // an operand that is computed
		two := []func(x, y trace.Operand) trace.Operand{b.Mul, b.Min, b.Max, b.Eq, nil, nil, b.Sum}
		var v trace.Operand
		switch kind := g.upTo(len(two) - 1); kind {
		case 4:
			v = b.Member(0, g.operand())
		case 5:
			v = b.VectorSum(g.vector(), g.operand(), g.operand())
		default:
			v = two[kind](g.operand(), g.operand())
		}
		g.vars = append(g.vars, v)
	case 15:
		kind := trace.CollectiveKind(g.upTo(trace.NumCollectives - 1))
		o := trace.CollectiveOperands{Send: g.vector(), Recv: g.vector(), SendSize: trace.Const(8), RecvSize: trace.Const(8),
			Root: g.rank()}
		if g.upTo(3) == 0 {
			o.Send, o.Recv, o.SendSize = g.operand(), g.operand(), g.operand()
		}
		b.Collective(kind, o)
	case 16:
		b.Free(req)
	case 17, 18, 19: // an access to a window, or what orders such accesses
		window := trace.Const(int64(g.upTo(1)))
		if g.upTo(2) == 0 {
			kind := trace.AccessKind(g.upTo(trace.NumAccesses - 1))
			out, back := g.size(), g.size()
			if kind == trace.AccessGet {
				out = trace.Const(0)
			} else if !kind.Fetches() {
				back = trace.Const(0)
			}
			b.Access(kind, 0, req-2, g.rank(), window, out, back)
			return
		}
		kind, peer := trace.SyncKind(g.upTo(trace.NumSyncs-1)), g.rank()
		if kind.Collective() || kind == trace.SyncLockAll || kind == trace.SyncUnlockAll {
			peer = trace.Const(trace.AllRanks)
		}
		b.Sync(kind, 0, peer, window, trace.Const(int64(g.upTo(1))))
	case 20:
		b.File(trace.FileKind(g.upTo(1)), g.upTo(1) == 0, 0, g.size())
	default: // what changes the flow of control
		known := len(g.vars)
		body := func() {
			for range g.upTo(3) {
				g.item(b, depth+1)
			}
			g.vars = g.vars[:known] // what is set inside is not, behind
		}
		// Arguments of a call: one for each parameter of the block that is called.
		args := func(n int) (list []trace.Operand) {
			for range n {
				list = append(list, g.operand())
			}
			return list
		}
		switch g.upTo(6) {
		case 0, 1:
			if depth < g.depth {
				b.Loop(trace.Const(min(g.turns, g.value())), body)
			}
		case 2:
			if depth < g.depth {
				b.If(g.operand(), body)
			}
		case 3, 4:
			if len(g.blocks) == 0 {
				return
			}
			callee := g.blocks[g.upTo(len(g.blocks)-1)]
			switch g.upTo(2) {
			case 0:
				b.Call(callee.number, args(callee.params)...)
			case 1:
				b.DefineGuarded(0, 0, g.rank(), g.tag(), callee.number, args(callee.params)...)
			default:
				b.Work(0, trace.Const(int64(g.upTo(9))), g.operand(), callee.number, args(max(0, callee.params-1))...)
			}
		case 5:
			b.Poll(0)
		default:
			b.PollWait(0)
		}
	}
}

// vector returns an operand that may be one.
func (g *wild) vector() trace.Operand {
	if len(g.vars) == 0 {
		return trace.Const(0)
	}
	return g.vars[g.upTo(len(g.vars)-1)]
}
