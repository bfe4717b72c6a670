package trace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrAction marks an action that a trace cannot mean: a peer that does not
// exist, a negative size.
var ErrAction = errors.New("impossible action")

// CursorOptions selects what cursors yield.
type CursorOptions struct {
	From, To int  // steps [From, To); To = 0: to the end
	Markers  bool // yield markers as KindMark, not only phases
}

// Cursor yields the flat actions of one rank in program order. Cursors of one
// Trace must be used by one goroutine.
type Cursor struct {
	trace *Trace
	code  *code
	win   *window
	rank  int32
	ranks int32
	to    int // first step after the selected ones

	// Place in the stream of calls.
	unit, call, item, items int
	class                   []int32 // class of the rank, by axis
	step                    int

	// Place in the code.
	pc, base int
	stack    []int64 // registers; frames grow upwards
	returns  []returnTo
	groups   []ownGroup // by family
	polls    []pollable // by slot
	aux      [3]int64
	waiting  int8  // slot whose poll waits for an answer, or -1
	hitPC    int32 // where to go on after the answer
	missPC   int32
	hitFrame int32

	marks []int64
	lists [][]int64 // running sums of vectors among the marks
	err   error
}

// returnTo is where a block's caller goes on.
type returnTo struct{ pc, base int32 }

// ownGroup is the group of a family that the rank is in.
type ownGroup struct {
	start, stride, count int32
	ranks                []int32
}

func (g *ownGroup) member(i int64) int64 {
	if n := int64(g.count); i >= n || i < 0 {
		if i %= n; i < 0 {
			i += n
		}
	}
	if g.ranks != nil {
		return int64(g.ranks[i])
	}
	return int64(g.start) + i*int64(g.stride)
}

// pollable is a pending operation: a guard and a body with its arguments.
type pollable struct {
	pending, guarded bool
	count            uint8
	family           uint16
	peer, tag        int32
	body             int32 // pc
	args             [maxPollArgs]int64
}

// Cursors returns a cursor for each of the ranks, or for all if ranks is nil.
// From a stream cursors can be had once; from a file as often as wanted.
func (t *Trace) Cursors(ranks []int32, o CursorOptions) ([]Cursor, error) {
	p := t.Program()
	code := &p.plain
	if o.Markers {
		code = &p.marked
	}
	first, err := t.start(o.From)
	if err != nil {
		return nil, err
	}
	n := len(ranks)
	if ranks == nil {
		n = p.header.Ranks
	}
	cursors := make([]Cursor, n)
	axes, families, slots := len(p.header.Axes), len(p.header.Families), p.header.Pollables
	classes, groups, polls := make([]int32, n*axes), make([]ownGroup, n*families), make([]pollable, n*slots)
	for i := range cursors {
		rank := int32(i)
		if ranks != nil {
			rank = ranks[i]
		}
		if rank < 0 || int(rank) >= p.header.Ranks {
			return nil, fmt.Errorf("rank %d out of [0,%d)", rank, p.header.Ranks)
		}
		c := &cursors[i]
		*c = Cursor{trace: t, code: code, win: first, rank: rank, ranks: int32(p.header.Ranks), to: o.To, step: -1, unit: -1, waiting: -1,
			class: classes[i*axes : (i+1)*axes], groups: groups[i*families : (i+1)*families], polls: polls[i*slots : (i+1)*slots]}
		c.place(p, o.From)
	}
	return cursors, nil
}

// place fills in where the rank stands in axes and families, and skips the units
// before the first step wanted.
func (c *Cursor) place(p *Program, from int) {
	for a := range c.class {
		c.class[a] = p.Class(a, c.rank)
	}
	for f := range c.groups {
		g := &p.header.Families[f].Groups[p.groups[f][c.rank]]
		c.groups[f] = ownGroup{start: g.Start, stride: g.Stride, count: int32(g.Len()), ranks: g.Ranks}
	}
	if c.win != nil {
		for c.unit+1 < len(c.win.units) && c.win.units[c.unit+1].step < from {
			c.unit++
			c.call = len(c.win.units[c.unit].calls)
		}
	}
}

// Rank returns the cursor's rank.
func (c *Cursor) Rank() int32 { return c.rank }

// Step returns the step that the last action belongs to, -1 before the first.
func (c *Cursor) Step() int { return c.step }

// Answer says whether the message that the last action, a KindPoll, asks for has
// arrived.
func (c *Cursor) Answer(arrived bool) {
	if c.waiting < 0 {
		panic("trace: Answer without a poll")
	}
	slot := c.waiting
	c.waiting = -1
	if !arrived {
		c.pc = int(c.missPC)
		return
	}
	c.pc = int(c.hitPC)
	c.runBody(&c.polls[slot], c.hitFrame)
}

// runBody calls the body of a pollable, which is done then, with its frame at an
// offset from the current one.
func (c *Cursor) runBody(op *pollable, frame int32) {
	op.pending = false
	c.returns = append(c.returns, returnTo{int32(c.pc), int32(c.base)})
	c.base += int(frame)
	c.pc = int(op.body)
	c.stack[c.base] = 0
	copy(c.stack[c.base+1:], op.args[:op.count])
}

// Fill stores the next flat actions in buf and returns how many: 0 at the end of
// the rank's stream. It stops after a KindPoll, whose Answer must come before the
// next call. Markers' arguments stay valid until the next call.
func (c *Cursor) Fill(buf []Action) (int, error) {
	if c.err != nil || c.waiting >= 0 {
		return 0, c.stuck()
	}
	c.marks, c.lists = c.marks[:0], c.lists[:0]
	n := 0
	for n < len(buf) {
		m, done := c.run(buf[n:])
		n += m
		if c.err != nil || c.waiting >= 0 {
			return n, c.err
		}
		if !done {
			continue
		}
		switch c.nextCall() {
		case callStep:
			buf[n] = Action{Kind: KindStep}
			buf[n].X[0] = int64(c.step)
			n++
		case callEnd:
			return n, c.err
		}
	}
	return n, nil
}

func (c *Cursor) stuck() error {
	if c.err == nil {
		panic("trace: Fill before the Answer to a poll")
	}
	return c.err
}

// run executes code until buf is full, a poll waits for an answer, an error, or
// the end of the current call (done). It is one loop over one switch because
// it yields all actions of a replay: some ns each.
func (c *Cursor) run(buf []Action) (n int, done bool) {
	code := c.code.instrs
	pc := c.pc
	r := c.stack[c.base:]
	if len(r) == 0 {
		return 0, true
	}
	for n < len(buf) {
		in := &code[pc]
		pc++
		switch in.op {
		case opRet:
			if len(c.returns) == 0 {
				c.pc = 0
				return n, true
			}
			last := len(c.returns) - 1
			ret := c.returns[last]
			c.returns = c.returns[:last]
			pc, c.base = int(ret.pc), int(ret.base)
			r = c.stack[c.base:]
		case opSet:
			a, b := r[in.a]+int64(in.x), r[in.b]+int64(in.y)
			r[in.z], r[in.z+1] = a, b
		case opFma:
			r[in.d] = r[in.a]*int64(in.x) + r[in.b] + int64(in.y)
		case opAdd64:
			r[in.d] = r[in.a] + int64(in.y)<<32 + int64(uint32(in.x))
		case opMul:
			r[in.d] = (r[in.a] + int64(in.x)) * (r[in.b] + int64(in.y))
		case opMin:
			r[in.d] = min(r[in.a]+int64(in.x), r[in.b]+int64(in.y))
		case opMax:
			r[in.d] = max(r[in.a]+int64(in.x), r[in.b]+int64(in.y))
		case opEq:
			v := int64(0)
			if r[in.a]+int64(in.x) == r[in.b]+int64(in.y) {
				v = 1
			}
			r[in.d] = v
		case opMember:
			r[in.d] = c.groups[in.sym].member(r[in.a] + int64(in.x))
		case opSum:
			v := r[in.a]
			if v < 0 || v >= int64(len(c.win.vectors)) {
				c.fail("vector %d out of [0,%d)", v, len(c.win.vectors))
				return n, false
			}
			lo, hi := r[in.b]+int64(in.y), r[in.c]+int64(in.z)
			vec := &c.win.vectors[v]
			if hi < lo || hi-lo >= int64(len(vec.sums)) {
				c.fail("sum of elements [%d,%d) of a vector of %d", lo, hi, len(vec.sums)-1)
				return n, false
			}
			r[in.d] = vec.sum(lo, hi)
		case opAction:
			x, y, z, w := r[in.a]+int64(in.x), r[in.b]+int64(in.y), r[in.c]+int64(in.z), r[in.d]+int64(in.w)
			if in.flags == uint8(KindCompute) && x|y|z|w < 0 {
				c.fail("kernel %q with dimensions %d, %d, %d, %d", c.trace.Header().Kernels[in.sym].Name, x, y, z, w)
				return n, false
			}
			a := &buf[n]
			a.set(Kind(in.flags), in.sym, 0, 0, 0)
			a.X[0], a.X[1], a.X[2], a.X[3] = x, y, z, w
			n++
		case opMessage:
			peer, size := r[in.a]+int64(in.x), r[in.c]+int64(in.z)
			if (uint64(peer) >= uint64(c.ranks) || size < -1) && !c.wildcard(Kind(in.flags), peer, size) {
				c.failMessage(Kind(in.flags), peer, size)
				return n, false
			}
			a := &buf[n]
			a.set(Kind(in.flags), in.sym, peer, r[in.b]+int64(in.y), in.w)
			a.X[0], a.X[1], a.X[2], a.X[3] = size, 0, 0, 0
			n++
		case opExchange:
			peer, tag := r[in.a]+int64(in.x), r[in.b]+int64(in.y)
			out, into := r[in.c]+int64(in.z), r[in.d]+int64(in.w)
			if uint64(peer) >= uint64(c.ranks) || out|into < 0 {
				c.failMessage(KindExchange, peer, min(out, into))
				return n, false
			}
			kind := KindExchange
			if out == 0 {
				if into == 0 {
					continue
				}
				kind, out, into = KindRecv, into, 0
			} else if into == 0 {
				kind = KindSend
			}
			a := &buf[n]
			a.set(kind, in.sym, peer, tag, 0)
			a.X[0], a.X[1], a.X[2], a.X[3] = out, into, 0, 0
			n++
		case opSyncExchange:
			peer, tag := r[in.a]+int64(in.x), r[in.b]+int64(in.y)
			out, into := r[in.c]+int64(in.z), r[in.d]+int64(in.w)
			if uint64(peer) >= uint64(c.ranks) || out|into < 0 {
				c.failMessage(KindSyncExchange, peer, min(out, into))
				return n, false
			}
			a := &buf[n]
			a.set(KindSyncExchange, in.sym, peer, tag, 0)
			a.X[0], a.X[1], a.X[2], a.X[3] = out, into, 0, 0
			n++
		case opAux:
			c.aux = [3]int64{r[in.a] + int64(in.x), r[in.b] + int64(in.y), r[in.c] + int64(in.z)}
		case opSendrecv:
			peer, out := r[in.a]+int64(in.x), r[in.c]+int64(in.z)
			if uint64(peer) >= uint64(c.ranks) || uint64(c.aux[0]) >= uint64(c.ranks) || out < 0 || c.aux[2] < -1 {
				c.failMessage(KindSendrecv, max(peer, c.aux[0]), min(out, c.aux[2]))
				return n, false
			}
			buf[n] = Action{Kind: KindSendrecv, Sym: in.sym, Peer: int32(peer), Tag: int32(r[in.b] + int64(in.y)),
				X: [4]int64{out, c.aux[2], c.aux[0] | c.aux[1]<<32}}
			n++
		case opRequest:
			buf[n] = Action{Kind: Kind(in.flags), Req: in.w}
			n++
		case opDefine:
			if !c.define(in, r) {
				return n, false
			}
		case opPoll, opPollWait, opWorkPoll:
			op := &c.polls[in.flags]
			if !op.pending {
				continue
			}
			c.pc = pc
			if !op.guarded {
				c.runBody(op, in.w)
				pc, r = c.pc, c.stack[c.base:]
				continue
			}
			c.ask(&buf[n], op, in, r)
			return n + 1, false
		case opWorkTest:
			if r[in.d] < 1 {
				c.fail("work in chunks of %d", r[in.d])
				return n, false
			}
			if !c.polls[in.flags].pending {
				pc = int(in.z)
			}
		case opMarkInt:
			c.marks = append(c.marks, r[in.a]+int64(in.x))
		case opMarkVec:
			v := r[in.a]
			if v < 0 || v >= int64(len(c.win.vectors)) {
				c.fail("vector %d out of [0,%d)", v, len(c.win.vectors))
				return n, false
			}
			c.marks = append(c.marks, int64(len(c.lists)))
			c.lists = append(c.lists, c.win.vectors[v].sums)
		case opMark:
			args, _ := c.trace.Header().Markers[in.sym].vectorArgs()
			buf[n] = Action{Kind: KindMark, Sym: in.sym, X: [4]int64{int64(len(c.marks) - args), int64(args)}}
			n++
		case opPhase:
			buf[n] = Action{Kind: KindPhase, Sym: in.sym, Flags: in.flags}
			n++
		case opJumpZero:
			if r[in.a]+int64(in.x) == 0 {
				pc = int(in.z)
			}
		case opJumpLess1:
			if r[in.a] < 1 {
				pc = int(in.z)
			}
		case opJump:
			pc = int(in.z)
		case opLoopNext:
			if r[in.d]--; r[in.d] > 0 {
				pc = int(in.z)
			}
		case opCall:
			c.returns = append(c.returns, returnTo{int32(pc), int32(c.base)})
			c.base += int(in.w)
			r = c.stack[c.base:]
			r[0] = 0
			pc = int(in.z)
		case opCollective:
			if !c.collective(&buf[n], in, r) {
				return n, false
			}
			n++
		}
	}
	c.pc = pc
	return n, false
}

// define makes a pollable pending; it fails on a guard that cannot be.
func (c *Cursor) define(in *instr, r []int64) bool {
	op := &c.polls[in.flags]
	if op.pending {
		c.fail("pollable %d is defined again while pending", in.flags)
		return false
	}
	op.pending, op.guarded, op.count, op.body = true, in.c != 0, in.d, in.z
	if op.guarded {
		peer := r[in.a] + int64(in.x)
		if uint64(peer) >= uint64(c.ranks) {
			c.failMessage(KindPoll, peer, 0)
			return false
		}
		op.family, op.peer, op.tag = in.sym, int32(peer), int32(r[in.b]+int64(in.y))
	}
	copy(op.args[:op.count], r[in.w+1:])
	return true
}

// ask stores a KindPoll and notes where to go on after its answer.
func (c *Cursor) ask(a *Action, op *pollable, in *instr, r []int64) {
	*a = Action{Kind: KindPoll, Sym: op.family, Peer: op.peer, Tag: op.tag}
	c.waiting, c.hitPC, c.missPC, c.hitFrame = int8(in.flags), int32(c.pc), int32(c.pc), in.w
	switch {
	case in.op == opPollWait:
		c.missPC--
		a.Flags = FlagSpin
	case in.op == opWorkPoll && r[in.a] <= 0:
		a.Flags = FlagSpin
	}
}

type callState uint8

const (
	callReady callState = iota // registers and pc are set
	callStep                   // a new step begins
	callEnd                    // end of the stream, or error
)

// nextCall finds the next block that the rank calls from the stream.
func (c *Cursor) nextCall() callState {
	if c.win == nil {
		return callEnd
	}
	for {
		for c.item < c.items {
			c.item++
			if c.enter(&c.win.units[c.unit].calls[c.call-1], c.item-1) {
				return callReady
			}
			if c.err != nil {
				return callEnd
			}
		}
		if c.unit >= 0 && c.call < len(c.win.units[c.unit].calls) {
			c.call++
			c.item, c.items = c.span(&c.win.units[c.unit].calls[c.call-1])
			continue
		}
		if state := c.nextUnit(); state != callReady {
			return state
		}
	}
}

// span returns the range of items that the rank calls at a call site.
func (c *Cursor) span(call *callColumns) (int, int) {
	t := &c.trace.Header().Templates[call.template]
	for i, axis := range t.Gates {
		if call.gates[i][c.class[axis]] == 0 {
			return 0, 0
		}
	}
	if t.List == NoAxis {
		return 0, 1
	}
	class := c.class[t.List]
	return int(call.starts[class]), int(call.starts[class+1])
}

// nextUnit goes to the next unit of the window, or to the next window.
func (c *Cursor) nextUnit() callState {
	c.unit++
	c.call, c.item, c.items = 0, 0, 0
	for c.unit >= len(c.win.units) {
		next, err := c.trace.after(c.win)
		if err != nil || next == nil {
			c.err = err
			c.win, c.unit = nil, 0
			return callEnd
		}
		c.win, c.unit = next, 0
	}
	step := c.win.units[c.unit].step
	if c.to > 0 && step >= c.to {
		c.win = nil
		return callEnd
	}
	if step != c.step {
		c.step = step
		return callStep
	}
	return callReady
}

// enter prepares the call of an item: arguments into registers, pc at the
// block's start. It is false if the class calls nothing.
func (c *Cursor) enter(call *callColumns, item int) bool {
	t := &c.trace.Header().Templates[call.template]
	at := item
	if t.Block != PerItem {
		at = int(c.class[t.Block])
	}
	block := int(call.blocks[at])
	if block < 0 {
		return false
	}
	if block >= len(c.code.entries) {
		if _, c.err = c.trace.Program().linked(c.code.markers); c.err != nil {
			return false
		}
	}
	e := c.code.entries[block]
	if need := int(e.need) + c.code.body; need > len(c.stack) {
		c.stack = make([]int64, need+need/4)
	}
	c.pc, c.base = int(e.pc), 0
	params := c.trace.Program().blocks[block].Params
	if params > len(t.Params) {
		c.fail("block %d takes %d arguments, template %q has %d", block, params, t.Name, len(t.Params))
		return false
	}
	for i := range params {
		at := item
		if axis := t.Params[i].Axis; axis != PerItem {
			at = int(c.class[axis])
		}
		c.stack[1+i] = call.args[i][at]
	}
	return true
}

func (c *Cursor) fail(format string, args ...any) {
	c.err = fmt.Errorf("rank %d step %d: %w: %s", c.rank, c.step, ErrAction, fmt.Sprintf(format, args...))
}

// wildcard reports whether an action is a receive from any source.
func (c *Cursor) wildcard(k Kind, peer, size int64) bool {
	return (k == KindRecv || k == KindIrecv) && peer == AnySource && size >= -1
}

func (c *Cursor) failMessage(k Kind, peer, size int64) {
	if uint64(peer) >= uint64(c.ranks) {
		c.fail("%v with rank %d, allowed [0,%d)", k, peer, c.ranks)
		return
	}
	c.fail("%v of %d bytes", k, size)
}

// MarkArgs returns the integer arguments of a KindMark; in the place of a vector
// stands a number without meaning. It is valid until the next Fill.
func (c *Cursor) MarkArgs(a *Action) []int64 { return c.marks[a.X[0] : a.X[0]+a.X[1]] }

// MarkText returns a marker's text with its arguments filled in.
func (c *Cursor) MarkText(a *Action) string {
	var b strings.Builder
	args := c.MarkArgs(a)
	text := c.trace.Header().Markers[a.Sym].Text
	for len(args) > 0 {
		open := strings.IndexByte(text, '{')
		end := open + strings.IndexByte(text[open:], '}') + 1
		b.WriteString(text[:open])
		switch field := text[open:end]; field {
		case "{}":
			b.WriteString(strconv.FormatInt(args[0], 10))
			args = args[1:]
		case "{list}", "{sums}":
			writeList(&b, c.lists[args[0]], field == "{sums}")
			args = args[1:]
		default:
			end = open + 1
			b.WriteByte('{')
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}

// writeList writes running sums, or the elements between them.
func writeList(b *strings.Builder, sums []int64, running bool) {
	if running {
		writeInts(b, len(sums), func(i int) int64 { return sums[i] })
		return
	}
	writeInts(b, len(sums)-1, func(i int) int64 { return sums[i+1] - sums[i] })
}

func writeInts(b *strings.Builder, n int, at func(int) int64) {
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(at(i), 10))
	}
}
