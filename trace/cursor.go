package trace

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrAction marks an action that no trace can mean, such as a message to a rank that does not exist or a negative size.
var ErrAction = errors.New("impossible action")

// CursorOptions selects what cursors yield.
type CursorOptions struct {
	From, To int  // steps [From, To); To = 0: to the end
	Markers  bool // yield markers as KindMark, not only phases
	// Omit, by kernel, leaves out calls of kernels that cost nothing: four of five calls on machines where only
	// large calls count.
	Omit []bool
	// Idle yields a KindNone now and then while a program runs for long without an action, in loops that do nothing:
	// so Fill returns to its caller.
	Idle bool
}

// Cursor yields the flat actions of one rank in program order: Trace.Cursors makes cursors, Fill takes actions from
// one. Cursors of one Trace must be used by one goroutine, as they share registers and decoded chunks.
//
// A cursor expands in two layers: the stream names blocks with arguments, unit by unit, and the
// linked code of a block is executed until it returns. Both places are part of its state, so that a
// cursor can stop anywhere: at a full buffer, or at a poll whose answer is not known yet.
//
// A replay takes actions from thousands of cursors in turn. So Fill mostly touches little memory: the first 64 bytes
// here, and the registers of the current frame.
type Cursor struct {
	set  *cursorSet
	win  *Chunk
	rank int32

	// Place in the code. Instructions are named by their index into code.instrs, frames by their first register.
	index    int32 // of the cursor in its set
	pc       int32
	base     int32 // of the current frame, from the cursor's first register
	hitPC    int32 // where to go on after the answer to a poll
	missPC   int32
	hitFrame int32
	waiting  int8   // slot whose poll waits for an answer, or -1
	noted    bool   // marks or lists are not empty
	pending  uint16 // bit by slot: the pollable is pending

	// Place in the stream of calls. unit is an index into win.units, -1 before the first. call and item count
	// from 1 what has begun: call the calls of the unit, item the items of the call, of which those before items
	// are the rank's.
	step        int32
	unit, call  int32
	item, items int32

	// What actions of the last Fill name by index: arguments of markers, and vectors.
	marks []int64
	lists []sumList // vectors among the marks
	err   error
}

// cursorSet is what cursors that were made together have in common.
type cursorSet struct {
	// The trace, and the code that the cursors' options select.
	trace   *Trace
	code    *code
	ranks   int32
	to      int        // first step after the selected ones
	idle    bool       // CursorOptions.Idle
	groups  [][]Group  // by family and group, of which Count is the size of those that list their ranks, too
	polls   []pollable // by cursor and slot
	relays  []relays   // by cursor; nil before the first
	slots   int
	cursors int

	// Registers: stride for each cursor, and some at the end, so that a frame can be taken as an array without a
	// check for each register. The word before a frame is its frameLink.
	memory []int64
	stride int
	// Operands of the next instruction that has more than four. They are set and used within one
	// call of run, so that cursors can share them.
	aux [3]int64
}

// registers are the registers of a frame and, behind them, those of a callee's frame that the caller sets: an opSet can
// name a register beyond the end of its own frame. An array of fixed size needs no check of an index.
type registers [2*maxRegs + 2]int64

// frameLink says where the caller of a block goes on: its pc, in the upper 32 bits, and by how many registers its
// frame begins before the callee's, in the lower 32 bits. For a block that the stream calls it is noCaller, -1,
// which is no such pair.
func frameLink(pc int32, offset int32) int64 { return int64(pc)<<32 | int64(offset) }

// sumList is the running sums of a vector, with the numbers of its chunk and of the vector in it.
type sumList struct {
	sums          []int64
	chunk, vector int32
}

// list notes a vector of the chunk that an action of this Fill names.
func (c *Cursor) list(v int64) []int64 {
	sums := c.win.vectors[v].sums
	c.noted = true
	c.lists = append(c.lists, sumList{sums, int32(c.win.number), int32(v)})
	return sums
}

// failed is the value of Cursor.waiting once err is set.
const failed = -2

// noCaller is the frameLink of a block that the stream calls.
const noCaller = -1

// firstFrame is the register at which the frame of a block begins that the stream calls.
const firstFrame = 1

// member returns the world rank of member i, modulo the size of the group, which is its Count.
// Most indices are in range and need no division.
func (g *Group) member(i int64) int64 {
	if n := int64(g.Count); i >= n || i < 0 {
		if i %= n; i < 0 {
			i += n
		}
	}
	return int64(g.Member(int(i)))
}

// pollable is an operation that is pending or has been: a guard and a body with its arguments, which have the values of
// the time of the definition, not of the poll.
type pollable struct {
	guarded   bool
	count     uint8
	family    uint16
	peer, tag int32
	body      int32 // pc
	args      [maxPollArgs]int64
}

// Cursors returns a cursor for each of the ranks, or for all if ranks is nil.
// From a stream cursors can be had once; from a file as often as wanted.
func (t *Trace) Cursors(ranks []int32, o CursorOptions) ([]Cursor, error) {
	// Code is linked first: a stream's blocks that are not read yet are linked when they are called.
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

	// What the cursors share, with room for the frame of an empty block: enter widens it when it comes to one
	// that needs more.
	h := p.header
	set := &cursorSet{trace: t, code: code, ranks: int32(h.Ranks), to: o.To, idle: o.Idle, slots: h.Pollables, cursors: n,
		polls: make([]pollable, n*h.Pollables)}
	for i := range h.CommFamilies {
		groups := slices.Clone(h.CommFamilies[i].Groups)
		for k := range groups {
			groups[k].Count = int32(groups[k].Len())
		}
		set.groups = append(set.groups, groups)
	}
	set.widen(n, firstFrame)
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
		// Units before the first step wanted are passed over.
		for first != nil && int(c.unit)+1 < len(first.units) && first.units[c.unit+1].Step < o.From {
			c.unit++
			c.call = int32(len(first.units[c.unit].Calls))
		}
	}
	return cursors, nil
}

// widen gives each cursor at least need registers, with a quarter to spare, in whole cache lines. The values of the
// registers that there are stay.
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

// poll returns a pollable of a cursor.
func (s *cursorSet) poll(cursor int32, slot uint8) *pollable {
	return &s.polls[int(cursor)*s.slots+int(slot)]
}

// group returns the group of a family that the rank is in.
func (c *Cursor) group(family uint16) *Group {
	return &c.set.groups[family][c.set.trace.Program().groups[family][c.rank]]
}

// Rank returns the cursor's rank.
func (c *Cursor) Rank() int32 { return c.rank }

// Step returns the step that the last action belongs to, -1 before the first.
func (c *Cursor) Step() int { return int(c.step) }

// Answer says whether the last action, which Asks, is a hit: a probe sees the message that it asks for, or requests are
// complete.
func (c *Cursor) Answer(hit bool) {
	if c.waiting < 0 {
		panic("trace: Answer without a poll")
	}
	slot := uint8(c.waiting)
	c.waiting = -1
	if slot == askedRelay {
		c.relays().answer = answerMiss
		if hit {
			c.relays().answer = answerHit
		}
		return
	}
	if !hit {
		c.pc = c.missPC
		return
	}
	c.pc = c.hitPC
	c.runBody(slot, c.hitFrame)
}

// runBody calls the body of a pollable, which is no longer pending then. The body's frame begins offset registers
// after the current one, and the body returns to c.pc like any other block. Its arguments are copied behind
// register 0, which is set to zero.
func (c *Cursor) runBody(slot uint8, offset int32) {
	op := c.set.poll(c.index, slot)
	c.pending &^= 1 << slot
	c.base += offset
	at := int(c.index)*c.set.stride + int(c.base)
	r := c.set.memory[at-1:]
	r[0], r[1] = frameLink(c.pc, offset), 0
	copy(r[2:], op.args[:op.count])
	c.pc = op.body
}

// Fill stores the next flat actions in buf and returns how many: 0 at the end of the rank's stream. It stops after an
// action that Asks, whose Answer must come before the next call. Markers' arguments stay valid until the next call.
func (c *Cursor) Fill(buf []Action) (int, error) {
	if c.waiting != -1 {
		if c.err == nil {
			panic("trace: Fill before the Answer to a poll")
		}
		return 0, c.err
	}
	if c.noted {
		c.marks, c.lists, c.noted = c.marks[:0], c.lists[:0], false
	}
	n := 0
	for n < len(buf) {
		// The code runs until it returns to the stream, the buffer is full, or a poll asks for its answer.
		m, done := c.run(buf[n:])
		n += m
		if c.waiting != -1 {
			return n, c.err
		}
		if !done {
			if m == 0 && c.set.idle {
				buf[n] = Action{}
				return n + 1, nil
			}
			continue
		}
		switch c.nextCall() {
		case callStep:
			buf[n] = Action{Kind: KindStep, X: [4]int64{int64(c.step)}}
			n++
		case callEnd:
			return n, c.err
		}
	}
	return n, nil
}

// callState is what nextCall has found.
type callState uint8

const (
	callReady callState = iota // registers and pc are set
	callStep                   // a new step begins
	callEnd                    // end of the stream, or error
)

// nextCall finds the next block that the rank calls from the stream. It is a loop over four nested counters: items
// of a call, calls of a unit, units of a chunk, chunks. Items in which the rank calls nothing are passed over. The
// rank may wait on any level, as the counters are part of the cursor.
func (c *Cursor) nextCall() callState {
	if c.win == nil {
		return callEnd
	}
	for {
		for c.item < c.items {
			c.item++
			if c.enter(&c.win.units[c.unit].Calls[c.call-1], int(c.item)-1) {
				return callReady
			}
			if c.err != nil {
				return callEnd
			}
		}
		// The next call of the unit, with the items that the rank has in it.
		if c.unit >= 0 && int(c.call) < len(c.win.units[c.unit].Calls) {
			c.call++
			c.item, c.items = c.span(&c.win.units[c.unit].Calls[c.call-1])
			continue
		}

		// The next unit of the chunk, or of the next one.
		c.unit++
		c.call, c.item, c.items = 0, 0, 0
		for int(c.unit) >= len(c.win.units) {
			// Letting go of the chunk here is what frees it, once all other cursors have done so.
			next, err := c.set.trace.after(c.win)
			if err != nil {
				c.err, c.waiting = err, failed
			}
			if c.win, c.unit = next, 0; next == nil {
				return callEnd
			}
		}
		step := c.win.units[c.unit].Step
		if c.set.to > 0 && step >= c.set.to {
			c.win = nil
			return callEnd
		}
		if step != int(c.step) {
			c.step = int32(step)
			return callStep
		}
	}
}

// class returns the class of the rank on an axis.
func (c *Cursor) class(axis int) int32 { return c.set.trace.Program().Class(axis, c.rank) }

// span returns the range of items that the rank calls at a call site.
func (c *Cursor) span(call *CallColumns) (int32, int32) {
	t := &c.set.trace.Header().CallSites[call.Site]
	// A rank takes part only if all masks say so.
	for i, axis := range t.Masks {
		if call.Masks[i][c.class(axis)] == 0 {
			return 0, 0
		}
	}
	if t.Counts == NoAxis {
		return 0, 1
	}
	class := c.class(t.Counts)
	return call.Starts[class], call.Starts[class+1]
}

// enter prepares the call of an item: arguments into registers, pc at the block's start. It is false if the class
// calls nothing. Masks and counts have been looked at by span. Errors are left in c.err.
func (c *Cursor) enter(call *CallColumns, item int) bool {
	t := &c.set.trace.Header().CallSites[call.Site]
	at := item
	if t.Block != PerItem {
		at = int(c.class(t.Block))
	}
	block := int(call.Blocks[at])
	if block < 0 {
		return false
	}
	set := c.set
	// Of a stream, blocks are defined on the way: they are linked when the first rank calls one.
	if block >= len(set.code.entries) {
		if c.err = set.trace.Program().link(set.code); c.err != nil {
			c.waiting = failed
			return false
		}
	}
	e := set.code.entries[block]
	// A pollable's body runs on top of whatever polls it, so that its registers come in addition.
	if need := firstFrame + int(e.need) + set.code.body; need > set.stride {
		set.widen((len(set.memory)-len(registers{}))/set.stride, need)
	}
	c.pc, c.base = e.pc, firstFrame
	params := c.set.trace.Program().blocks[block].Params
	r := set.memory[int(c.index)*set.stride+firstFrame:]
	for i := range params {
		at := item
		if axis := t.Params[i].Axis; axis != PerItem {
			at = int(c.class(axis))
		}
		r[1+i] = call.Args[i][at]
	}
	return true
}

// fail ends the cursor with an error that names the rank and step.
func (c *Cursor) fail(format string, args ...any) {
	c.waiting = failed
	c.err = fmt.Errorf("rank %d step %d: %w: %s", c.rank, c.step, ErrAction, fmt.Sprintf(format, args...))
}

// receivable reports whether a message that run has not passed is a possible receive or probe, which may name any
// source, any tag, and an unknown size. Nearly all messages pass the shorter check in run.
func (c *Cursor) receivable(k Kind, peer, tag, size int64) bool {
	return (k == KindRecv || k == KindIrecv || k == KindProbe) &&
		(peer == AnySource || uint64(peer) < uint64(c.set.ranks)) && tag == int64(int32(tag)) && size >= -1
}

// failMessage says which part of a message is impossible.
func (c *Cursor) failMessage(k Kind, peer, tag, size int64) {
	switch {
	case uint64(peer) >= uint64(c.set.ranks):
		c.fail("%v with rank %d, allowed [0,%d)", k, peer, c.set.ranks)
	case tag != int64(int32(tag)):
		c.fail("%v with tag %d, allowed are those of 32 bits", k, tag)
	default:
		c.fail("%v of %d bytes", k, size)
	}
}

// MarkArgs returns the integer arguments of a KindMark; in the place of a vector stands
// its number for Sums. It is valid until the next Fill.
func (c *Cursor) MarkArgs(a *Action) []int64 { return c.marks[a.X[0] : a.X[0]+a.X[1]] }

// MarkText returns a marker's text with its arguments filled in.
func (c *Cursor) MarkText(a *Action) string {
	var b strings.Builder
	args := c.MarkArgs(a)
	text := c.set.trace.Header().Markers[a.Sym].Text
	// The text has been counted by VectorArgs, so that there is a field for each argument that is
	// left. A brace that begins no field is text.
	for len(args) > 0 {
		open := strings.IndexByte(text, '{')
		end := open + strings.IndexByte(text[open:], '}') + 1
		b.WriteString(text[:open])
		switch field := text[open:end]; field {
		case "{}":
			b.WriteString(strconv.FormatInt(args[0], 10))
			args = args[1:]
		case "{list}", "{sums}":
			sums := c.lists[args[0]].sums
			if field == "{sums}" {
				writeInts(&b, len(sums), func(i int) int64 { return sums[i] })
			} else {
				writeInts(&b, len(sums)-1, func(i int) int64 { return sums[i+1] - sums[i] })
			}
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

// writeInts writes numbers with commas between.
func writeInts(b *strings.Builder, n int, at func(int) int64) {
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(at(i), 10))
	}
}

// A message whose peer is ProcNull (MPI_PROC_NULL) is not sent. Programs have such messages at the borders of
// grids, so that all ranks make the same calls.

// null stores the action of a message whose peer is ProcNull. It returns false if the peer is another one, or if
// the message is impossible for another reason.
func (c *Cursor) null(a *Action, in *instr, peer, tag, size int64) bool {
	if peer != ProcNull || Kind(in.flags) == KindProbed || !c.set.trace.Header().Communicators ||
		tag != int64(int32(tag)) || size < -1 {
		return false
	}
	*a = Action{Kind: KindNull, Sym: in.sym, Peer: ProcNull, Tag: int32(tag), Req: in.w,
		X: [4]int64{size, int64(in.flags)}}
	return true
}

// nullSendrecv stores what is left of a sendrecv if one of its peers is ProcNull: a plain receive or send, or a
// KindNull if both are. It returns false if that is impossible.
func (c *Cursor) nullSendrecv(a *Action, in *instr, peer, tag, out int64) bool {
	source, with, into := c.set.aux[0], c.set.aux[1], c.set.aux[2]
	message := *in
	message.w = 0
	switch {
	case peer == ProcNull && source == ProcNull:
		message.flags = uint8(KindSendrecv)
		return c.null(a, &message, peer, tag, out)
	case !c.set.trace.Header().Communicators:
		return false
	case peer == ProcNull:
		return c.message(a, KindRecv, in.sym, source, with, into)
	case source == ProcNull:
		return c.message(a, KindSend, in.sym, peer, tag, out)
	}
	return false
}

// message stores a blocking message, unless it cannot be.
func (c *Cursor) message(a *Action, k Kind, family uint16, peer, tag, size int64) bool {
	ok := uint64(peer) < uint64(c.set.ranks) && size >= 0 && tag == int64(int32(tag))
	if !ok && !c.receivable(k, peer, tag, size) {
		return false
	}
	*a = Action{Kind: k, Sym: family, Peer: int32(peer), Tag: int32(tag), X: [4]int64{size}}
	return true
}
