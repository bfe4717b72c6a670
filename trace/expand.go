package trace

import "math"

// maxIdle is the number of turns of loops, calls and ends of blocks after which run returns even if they gave
// no action. They take about a tenth of a millisecond.
const maxIdle = 1 << 15

// run executes the linked code of a block for Fill and stores its actions in buf. It returns when buf is full, a poll
// waits for its answer, an action is impossible, the current call ends (done), or maxIdle is reached. For speed it is
// one loop over one switch, and compute another: all actions of a replay come from here, in some ns each.
func (c *Cursor) run(buf []Action) (n int, done bool) {
	set, code := c.set, c.set.code.instrs
	pc := int(c.pc)
	at := int(c.index)*set.stride + int(c.base)
	patience := maxIdle
	for n < len(buf) {
		in := code[pc]
		if in.op <= lastComputed {
			if pc, at, patience = c.compute(code, pc, at, patience); patience < 0 {
				break
			}
			in = code[pc]
		}
		pc++
		r := (*registers)(set.memory[at:])
		switch in.op {
		case opRet:
			c.pc, c.base = 0, firstFrame
			return n, true
		case opSum:
			if !c.sum(in, r) {
				return n, false
			}
		// An operand is a register plus a constant: r[in.a] + in.x, and so on for b with y, c with z, d with w.
		case opMember:
			r[in.d] = c.group(in.sym).member(r[in.a] + int64(in.x))
		// Dimensions below 0 are found by one comparison: the sign bit of the disjunction.
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
		case opAmount, opConstAmount:
			a := &buf[n]
			a.set(Kind(in.flags), 0, 0, 0, 0)
			if in.op == opAmount {
				a.X = [4]int64{r[in.a] + int64(in.x), r[in.b] + int64(in.y)}
			} else {
				a.X = [4]int64{int64(in.y)<<32 | int64(uint32(in.x)), int64(in.w)<<32 | int64(uint32(in.z))}
			}
			for _, bits := range a.X[:2] {
				if amount := math.Float64frombits(uint64(bits)); !(amount >= 0) || math.IsInf(amount, 1) {
					c.fail("%v of %v, want a finite number >= 0", Kind(in.flags), amount)
					return n, false
				}
			}
			n++
		// Most messages pass the first condition. Behind it are wildcards, receives of unknown
		// size, messages to nobody, and mistakes.
		case opMessage:
			peer, tag, size := r[in.a]+int64(in.x), r[in.b]+int64(in.y), r[in.c]+int64(in.z)
			if (uint64(peer) >= uint64(set.ranks) || size < 0 || tag != int64(int32(tag))) &&
				!c.receivable(Kind(in.flags), peer, tag, size) {
				if c.null(&buf[n], in, peer, tag, size) {
					n++
					continue
				}
				c.failMessage(Kind(in.flags), peer, tag, size)
				return n, false
			}
			a := &buf[n]
			a.set(Kind(in.flags), in.sym, peer, tag, in.w)
			a.Flags = in.d
			a.X[0], a.X[1], a.X[2], a.X[3] = size, 0, 0, 0
			n++
		// Sides of zero bytes are left out: what remains may be a plain send or receive, or nothing.
		case opExchange:
			peer, tag := r[in.a]+int64(in.x), r[in.b]+int64(in.y)
			out, into := r[in.c]+int64(in.z), r[in.d]+int64(in.w)
			if uint64(peer) >= uint64(set.ranks) || out|into < 0 || tag != int64(int32(tag)) {
				c.failMessage(KindExchange, peer, tag, min(out, into))
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
			a.Flags = in.flags
			a.X[0], a.X[1], a.X[2], a.X[3] = out, into, 0, 0
			n++
		case opSyncExchange:
			peer, tag := r[in.a]+int64(in.x), r[in.b]+int64(in.y)
			out, into := r[in.c]+int64(in.z), r[in.d]+int64(in.w)
			if uint64(peer) >= uint64(set.ranks) || out|into < 0 || tag != int64(int32(tag)) {
				c.failMessage(KindSyncExchange, peer, tag, min(out, into))
				return n, false
			}
			a := &buf[n]
			a.set(KindSyncExchange, in.sym, peer, tag, 0)
			a.X[0], a.X[1], a.X[2], a.X[3] = out, into, 0, 0
			n++
		case opAux:
			set.aux = [3]int64{r[in.a] + int64(in.x), r[in.b] + int64(in.y), r[in.c] + int64(in.z)}
		case opSendrecv:
			peer, tag, out := r[in.a]+int64(in.x), r[in.b]+int64(in.y), r[in.c]+int64(in.z)
			source, with, into := set.aux[0], set.aux[1], set.aux[2]
			if (peer == ProcNull || source == ProcNull) && c.nullSendrecv(&buf[n], in, peer, tag, out) {
				n++
				continue
			}
			if uint64(peer) >= uint64(set.ranks) || out < 0 || tag != int64(int32(tag)) {
				c.failMessage(KindSendrecv, peer, tag, out)
				return n, false
			}
			if uint64(source) >= uint64(set.ranks) || into < -1 || with != int64(int32(with)) {
				c.failMessage(KindSendrecv, source, with, into)
				return n, false
			}
			buf[n] = Action{Kind: KindSendrecv, Flags: in.flags, Sym: in.sym, Peer: int32(peer), Tag: int32(tag),
				X: [4]int64{out, into, source | with<<32}}
			n++
		case opRequest:
			buf[n] = Action{Kind: Kind(in.flags), Req: in.w}
			n++
		case opDefine:
			if !c.define(in, r) {
				return n, false
			}
		// A body without a guard runs at its first poll; with a guard, once the reader says that the message is there.
		case opPoll, opPollWait, opWorkPoll:
			if c.pending>>in.flags&1 == 0 {
				continue
			}
			c.stop(pc, at)
			if op := set.poll(c.index, in.flags); op.guarded {
				c.ask(&buf[n], op, in, r)
				return n + 1, false
			}
			c.runBody(in.flags, in.w)
			pc, at = int(c.pc), at+int(in.w)
		case opWorkTest:
			if r[in.d] < 1 {
				c.fail("work in chunks of %d", r[in.d])
				return n, false
			}
			if c.pending>>in.flags&1 == 0 {
				pc = int(in.z)
			}
		// Arguments of the opMark that follows.
		case opMarkInt:
			c.noted = true
			c.marks = append(c.marks, r[in.a]+int64(in.x))
		case opMarkVec:
			v := r[in.a]
			if v < 0 || v >= int64(len(c.win.vectors)) {
				c.fail("vector %d out of [0,%d)", v, len(c.win.vectors))
				return n, false
			}
			c.marks = append(c.marks, int64(len(c.lists)))
			c.list(v)
		case opMark:
			args, _ := c.set.trace.Header().Markers[in.sym].VectorArgs()
			buf[n] = Action{Kind: KindMark, Sym: in.sym, X: [4]int64{int64(len(c.marks) - args), int64(args)}}
			n++
		case opPhase:
			buf[n] = Action{Kind: KindPhase, Sym: in.sym, Flags: in.flags}
			n++
		case opComplete:
			buf[n] = Action{Kind: KindComplete, Sym: uint16(in.flags), X: [4]int64{int64(in.w)}}
			n++
		case opCollective, opIcollective:
			if !c.collective(&buf[n], in, r) {
				return n, false
			}
			n++
		case opAccess, opIaccess:
			if !c.access(&buf[n], in, r) {
				return n, false
			}
			n++
		case opSync:
			if !c.sync(&buf[n], in, r) {
				return n, false
			}
			n++
		case opFile:
			if !c.file(&buf[n], in, r) {
				return n, false
			}
			n++
		case opLaunch:
			if !c.launch(&buf[n], in, r) {
				return n, false
			}
			n++
		case opRelay:
			if !c.schedule(in, r) {
				return n, false
			}
		case opRelaysDone:
			if c.relays().done(in.flags) {
				pc = int(in.z)
			}
		case opAdvance, opRing:
			var stored, over bool
			if in.op == opAdvance {
				stored, over = c.advance(&buf[n], in)
			} else {
				stored, over = c.passRing(&buf[n], in, r)
			}
			if stored {
				n++
			}
			if !over {
				pc--
			}
			if c.waiting != -1 {
				c.stop(pc, at)
				return n, false
			}
		case opAskAll:
			s := c.relays()
			if s.answer == noAnswer {
				c.askFor(&buf[n], TestAll, 0, set.code.slots[in.w]...)
				c.stop(pc-1, at)
				return n + 1, false
			}
			if s.answer == answerHit {
				pc = int(in.z)
			}
			s.answer = noAnswer
		case opBeside:
			a := &buf[n]
			a.set(Kind(in.flags), 0, 0, int64(in.d), 0)
			if a.X = [4]int64{r[in.a] + int64(in.x)}; a.Kind == KindAfter && a.X[0] < 1 {
				c.fail("after the action beside the rank that was let go %d before, want at least 1", a.X[0])
				return n, false
			}
			n++
		case opQueue:
			buf[n] = Action{Kind: KindQueue, Sym: in.sym, Tag: int32(in.flags), X: [4]int64{int64(in.w)}}
			n++
		}
	}
	c.stop(pc, at)
	return n, false
}

// stop notes where run is in the code.
func (c *Cursor) stop(pc, at int) { c.pc, c.base = int32(pc), int32(at-int(c.index)*c.set.stride) }

// define makes a pollable pending; it fails on a guard that names no rank or no tag.
func (c *Cursor) define(in *instr, r *registers) bool {
	if c.Pending(int(in.flags)) {
		c.fail("pollable %d is defined again while pending", in.flags)
		return false
	}
	c.pending |= 1 << in.flags
	op := c.set.poll(c.index, in.flags)
	op.guarded, op.count, op.body = in.c != 0, in.d, in.z
	if op.guarded {
		peer, tag := r[in.a]+int64(in.x), r[in.b]+int64(in.y)
		if uint64(peer) >= uint64(c.set.ranks) || tag != int64(int32(tag)) {
			c.failMessage(KindPoll, peer, tag, 0)
			return false
		}
		op.family, op.peer, op.tag = in.sym, int32(peer), int32(tag)
	}
	copy(op.args[:op.count], r[in.w+1:])
	return true
}

// ask stores a KindPoll and notes where to go on after its answer. After a miss, an opPollWait is executed again; any
// other poll is passed. The poll has FlagSpin if the rank has nothing else to do until the message is there: in
// an opPollWait, and in an opWorkPoll with no columns left (r[in.a] <= 0), whose loop goes on with empty slices
// (see OpWork in linker.item).
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
