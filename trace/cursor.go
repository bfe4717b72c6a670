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
	// Omit, by kernel, leaves out calls of kernels that cost nothing: on machines
	// where only large calls count, four of five.
	Omit []bool
}

// Cursor yields the flat actions of one rank in program order. Cursors of one
// Trace must be used by one goroutine.
//
// A replay visits thousands of cursors in turn, so what a visit touches is kept
// small: the first 64 bytes here, and the registers of the current frame.
type Cursor struct {
	set  *cursorSet
	win  *window
	rank int32

	// Place in the code.
	index    int32 // of the cursor in its set
	pc       int32
	base     int32 // of the current frame, from the cursor's first register
	hitPC    int32 // where to go on after the answer to a poll
	missPC   int32
	hitFrame int32
	waiting  int8 // slot whose poll waits for an answer, or -1
	noted    bool // marks or lists are not empty

	// Place in the stream of calls.
	step        int32
	unit, call  int32
	item, items int32

	marks []int64
	lists [][]int64 // running sums of vectors among the marks
	err   error
}

// cursorSet is what cursors that were made together have in common.
type cursorSet struct {
	trace  *Trace
	code   *code
	ranks  int32
	to     int          // first step after the selected ones
	groups [][]ownGroup // by family and group
	polls  []pollable   // by cursor and slot
	slots  int

	// Registers: stride for each cursor, and slack, so that a frame can be looked
	// at as an array without a check for each register. Before the first register
	// of a frame stands where its caller goes on, see frameLink.
	memory []int64
	stride int
	aux    [3]int64
}

// registers are those of a block, and of its callees as far as it sets them.
type registers [2*maxRegs + 2]int64

// frameLink says where the caller of a block goes on: its pc, and how many
// registers below its frame begins. It is -1 where no block is the caller.
func frameLink(pc int32, offset int32) int64 { return int64(pc)<<32 | int64(offset) }

// failed as Cursor.waiting says that err is set.
const failed = -2

// noCaller is the frameLink of a block that the stream calls.
const noCaller = -1

// firstFrame is where the frame of such a block begins.
const firstFrame = 1

// ownGroup is the group of a family that a rank is in.
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
	code, err := p.code(o.Markers, o.Omit)
	if err != nil {
		return nil, err
	}
	first, err := t.start(o.From)
	if err != nil {
		return nil, err
	}
	n := len(ranks)
	if ranks == nil {
		n = p.header.Ranks
	}
	set := newCursorSet(t, code, n, o.To)
	cursors := make([]Cursor, n)
	for i := range cursors {
		rank := int32(i)
		if ranks != nil {
			rank = ranks[i]
		}
		if rank < 0 || int(rank) >= p.header.Ranks {
			return nil, fmt.Errorf("rank %d out of [0,%d)", rank, p.header.Ranks)
		}
		c := &cursors[i]
		*c = Cursor{set: set, win: first, rank: rank, index: int32(i), base: firstFrame, step: -1, unit: -1, waiting: -1}
		c.skipTo(o.From)
	}
	return cursors, nil
}

func newCursorSet(t *Trace, code *code, cursors, to int) *cursorSet {
	h := t.Header()
	set := &cursorSet{trace: t, code: code, ranks: int32(h.Ranks), to: to, slots: h.Pollables,
		polls: make([]pollable, cursors*h.Pollables)}
	for i := range h.Families {
		groups := make([]ownGroup, len(h.Families[i].Groups))
		for k := range groups {
			g := &h.Families[i].Groups[k]
			groups[k] = ownGroup{start: g.Start, stride: g.Stride, count: int32(g.Len()), ranks: g.Ranks}
		}
		set.groups = append(set.groups, groups)
	}
	set.widen(cursors, firstFrame)
	return set
}

// widen gives each cursor need registers or more.
func (s *cursorSet) widen(cursors, need int) {
	const line = 8 // registers in a cache line
	stride := (need + need/4 + line) / line * line
	memory := make([]int64, cursors*stride+len(registers{}))
	for i := range cursors {
		own := memory[i*stride:]
		own[0] = noCaller
		copy(own, s.memory[min(i*s.stride, len(s.memory)):][:s.stride])
	}
	s.memory, s.stride = memory, stride
}

// cursors returns the number of cursors.
func (s *cursorSet) cursors() int { return (len(s.memory) - len(registers{})) / s.stride }

// poll returns a pollable of a cursor.
func (s *cursorSet) poll(cursor int32, slot uint8) *pollable {
	return &s.polls[int(cursor)*s.slots+int(slot)]
}

// skipTo skips the units before the first step wanted.
func (c *Cursor) skipTo(from int) {
	if c.win == nil {
		return
	}
	for int(c.unit)+1 < len(c.win.units) && c.win.units[c.unit+1].step < from {
		c.unit++
		c.call = int32(len(c.win.units[c.unit].calls))
	}
}

// group returns the group of a family that the rank is in.
func (c *Cursor) group(family uint16) *ownGroup {
	return &c.set.groups[family][c.set.trace.Program().groups[family][c.rank]]
}

// Rank returns the cursor's rank.
func (c *Cursor) Rank() int32 { return c.rank }

// Step returns the step that the last action belongs to, -1 before the first.
func (c *Cursor) Step() int { return int(c.step) }

// Answer says whether the message that the last action, a KindPoll, asks for has
// arrived.
func (c *Cursor) Answer(arrived bool) {
	if c.waiting < 0 {
		panic("trace: Answer without a poll")
	}
	slot := uint8(c.waiting)
	c.waiting = -1
	if !arrived {
		c.pc = c.missPC
		return
	}
	c.pc = c.hitPC
	c.runBody(c.set.poll(c.index, slot), c.hitFrame)
}

// runBody calls the body of a pollable, which is done then, with its frame at an
// offset from the current one.
func (c *Cursor) runBody(op *pollable, offset int32) {
	op.pending = false
	c.base += offset
	at := int(c.index)*c.set.stride + int(c.base)
	r := c.set.memory[at-1:]
	r[0], r[1] = frameLink(c.pc, offset), 0
	copy(r[2:], op.args[:op.count])
	c.pc = op.body
}

// Fill stores the next flat actions in buf and returns how many: 0 at the end of
// the rank's stream. It stops after a KindPoll, whose Answer must come before the
// next call. Markers' arguments stay valid until the next call.
func (c *Cursor) Fill(buf []Action) (int, error) {
	if c.waiting != -1 {
		return 0, c.stuck()
	}
	if c.noted {
		c.marks, c.lists, c.noted = c.marks[:0], c.lists[:0], false
	}
	n := 0
	for n < len(buf) {
		m, done := c.run(buf[n:])
		n += m
		if c.waiting != -1 {
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
	set, code := c.set, c.set.code.instrs
	pc := int(c.pc)
	at := int(c.index)*set.stride + int(c.base)
	r := (*registers)(set.memory[at:])
	for n < len(buf) {
		in := &code[pc]
		pc++
		switch in.op {
		case opRet:
			link := set.memory[at-1]
			if link == noCaller {
				c.pc, c.base = 0, firstFrame
				return n, true
			}
			pc = int(link >> 32)
			at -= int(int32(link))
			r = (*registers)(set.memory[at:])
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
			r[in.d] = c.group(in.sym).member(r[in.a] + int64(in.x))
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
				c.fail("kernel %q with dimensions %d, %d, %d, %d", c.set.trace.Header().Kernels[in.sym].Name, x, y, z, w)
				return n, false
			}
			a := &buf[n]
			a.set(Kind(in.flags), in.sym, 0, 0, 0)
			a.X[0], a.X[1], a.X[2], a.X[3] = x, y, z, w
			n++
		case opMessage:
			peer, size := r[in.a]+int64(in.x), r[in.c]+int64(in.z)
			if (uint64(peer) >= uint64(set.ranks) || size < -1) && !c.wildcard(Kind(in.flags), peer, size) {
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
			if uint64(peer) >= uint64(set.ranks) || out|into < 0 {
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
			if uint64(peer) >= uint64(set.ranks) || out|into < 0 {
				c.failMessage(KindSyncExchange, peer, min(out, into))
				return n, false
			}
			a := &buf[n]
			a.set(KindSyncExchange, in.sym, peer, tag, 0)
			a.X[0], a.X[1], a.X[2], a.X[3] = out, into, 0, 0
			n++
		case opAux:
			set.aux = [3]int64{r[in.a] + int64(in.x), r[in.b] + int64(in.y), r[in.c] + int64(in.z)}
		case opSendrecv:
			peer, out := r[in.a]+int64(in.x), r[in.c]+int64(in.z)
			if uint64(peer) >= uint64(set.ranks) || uint64(set.aux[0]) >= uint64(set.ranks) || out < 0 || set.aux[2] < -1 {
				c.failMessage(KindSendrecv, max(peer, set.aux[0]), min(out, set.aux[2]))
				return n, false
			}
			buf[n] = Action{Kind: KindSendrecv, Sym: in.sym, Peer: int32(peer), Tag: int32(r[in.b] + int64(in.y)),
				X: [4]int64{out, set.aux[2], set.aux[0] | set.aux[1]<<32}}
			n++
		case opRequest:
			buf[n] = Action{Kind: Kind(in.flags), Req: in.w}
			n++
		case opDefine:
			if !c.define(in, r) {
				return n, false
			}
		case opPoll, opPollWait, opWorkPoll:
			op := set.poll(c.index, in.flags)
			if !op.pending {
				continue
			}
			c.stop(pc, at)
			if op.guarded {
				c.ask(&buf[n], op, in, r)
				return n + 1, false
			}
			c.runBody(op, in.w)
			pc, at = int(c.pc), at+int(in.w)
			r = (*registers)(set.memory[at:])
		case opWorkTest:
			if r[in.d] < 1 {
				c.fail("work in chunks of %d", r[in.d])
				return n, false
			}
			if !set.poll(c.index, in.flags).pending {
				pc = int(in.z)
			}
		case opMarkInt:
			c.noted = true
			c.marks = append(c.marks, r[in.a]+int64(in.x))
		case opMarkVec:
			v := r[in.a]
			if v < 0 || v >= int64(len(c.win.vectors)) {
				c.fail("vector %d out of [0,%d)", v, len(c.win.vectors))
				return n, false
			}
			c.noted = true
			c.marks = append(c.marks, int64(len(c.lists)))
			c.lists = append(c.lists, c.win.vectors[v].sums)
		case opMark:
			args, _ := c.set.trace.Header().Markers[in.sym].vectorArgs()
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
			at += int(in.w)
			set.memory[at-1] = frameLink(int32(pc), in.w)
			r = (*registers)(set.memory[at:])
			r[0] = 0
			pc = int(in.z)
		case opCollective:
			if !c.collective(&buf[n], in, r) {
				return n, false
			}
			n++
		}
	}
	c.stop(pc, at)
	return n, false
}

// stop notes where run is in the code.
func (c *Cursor) stop(pc, at int) {
	c.pc, c.base = int32(pc), int32(at-int(c.index)*c.set.stride)
}

// define makes a pollable pending; it fails on a guard that cannot be.
func (c *Cursor) define(in *instr, r *registers) bool {
	op := c.set.poll(c.index, in.flags)
	if op.pending {
		c.fail("pollable %d is defined again while pending", in.flags)
		return false
	}
	op.pending, op.guarded, op.count, op.body = true, in.c != 0, in.d, in.z
	if op.guarded {
		peer := r[in.a] + int64(in.x)
		if uint64(peer) >= uint64(c.set.ranks) {
			c.failMessage(KindPoll, peer, 0)
			return false
		}
		op.family, op.peer, op.tag = in.sym, int32(peer), int32(r[in.b]+int64(in.y))
	}
	copy(op.args[:op.count], r[in.w+1:])
	return true
}

// ask stores a KindPoll and notes where to go on after its answer.
func (c *Cursor) ask(a *Action, op *pollable, in *instr, r *registers) {
	*a = Action{Kind: KindPoll, Sym: op.family, Peer: op.peer, Tag: op.tag}
	c.waiting, c.hitPC, c.missPC, c.hitFrame = int8(in.flags), c.pc, c.pc, in.w
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
			if c.enter(&c.win.units[c.unit].calls[c.call-1], int(c.item)-1) {
				return callReady
			}
			if c.err != nil {
				return callEnd
			}
		}
		if c.unit >= 0 && int(c.call) < len(c.win.units[c.unit].calls) {
			c.call++
			c.item, c.items = c.span(&c.win.units[c.unit].calls[c.call-1])
			continue
		}
		if state := c.nextUnit(); state != callReady {
			return state
		}
	}
}

// class returns the class of the rank on an axis.
func (c *Cursor) class(axis int) int32 { return c.set.trace.Program().Class(axis, c.rank) }

// span returns the range of items that the rank calls at a call site.
func (c *Cursor) span(call *callColumns) (int32, int32) {
	t := &c.set.trace.Header().Templates[call.template]
	for i, axis := range t.Gates {
		if call.gates[i][c.class(axis)] == 0 {
			return 0, 0
		}
	}
	if t.List == NoAxis {
		return 0, 1
	}
	class := c.class(t.List)
	return call.starts[class], call.starts[class+1]
}

// nextUnit goes to the next unit of the window, or to the next window.
func (c *Cursor) nextUnit() callState {
	c.unit++
	c.call, c.item, c.items = 0, 0, 0
	for int(c.unit) >= len(c.win.units) {
		next, err := c.set.trace.after(c.win)
		if err != nil || next == nil {
			if c.err = err; err != nil {
				c.waiting = failed
			}
			c.win, c.unit = nil, 0
			return callEnd
		}
		c.win, c.unit = next, 0
	}
	step := c.win.units[c.unit].step
	if c.set.to > 0 && step >= c.set.to {
		c.win = nil
		return callEnd
	}
	if step != int(c.step) {
		c.step = int32(step)
		return callStep
	}
	return callReady
}

// enter prepares the call of an item: arguments into registers, pc at the
// block's start. It is false if the class calls nothing.
func (c *Cursor) enter(call *callColumns, item int) bool {
	t := &c.set.trace.Header().Templates[call.template]
	at := item
	if t.Block != PerItem {
		at = int(c.class(t.Block))
	}
	block := int(call.blocks[at])
	if block < 0 {
		return false
	}
	set := c.set
	if block >= len(set.code.entries) {
		if c.err = set.trace.Program().link(set.code); c.err != nil {
			c.waiting = failed
			return false
		}
	}
	e := set.code.entries[block]
	if need := firstFrame + int(e.need) + set.code.body; need > set.stride {
		set.widen(set.cursors(), need)
	}
	c.pc, c.base = e.pc, firstFrame
	params := c.set.trace.Program().blocks[block].Params
	if params > len(t.Params) {
		c.fail("block %d takes %d arguments, template %q has %d", block, params, t.Name, len(t.Params))
		return false
	}
	r := set.memory[int(c.index)*set.stride+firstFrame:]
	for i := range params {
		at := item
		if axis := t.Params[i].Axis; axis != PerItem {
			at = int(c.class(axis))
		}
		r[1+i] = call.args[i][at]
	}
	return true
}

func (c *Cursor) fail(format string, args ...any) {
	c.waiting = failed
	c.err = fmt.Errorf("rank %d step %d: %w: %s", c.rank, c.step, ErrAction, fmt.Sprintf(format, args...))
}

// wildcard reports whether an action is a receive from any source.
func (c *Cursor) wildcard(k Kind, peer, size int64) bool {
	return (k == KindRecv || k == KindIrecv) && peer == AnySource && size >= -1
}

func (c *Cursor) failMessage(k Kind, peer, size int64) {
	if uint64(peer) >= uint64(c.set.ranks) {
		c.fail("%v with rank %d, allowed [0,%d)", k, peer, c.set.ranks)
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
	text := c.set.trace.Header().Markers[a.Sym].Text
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
