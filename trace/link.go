package trace

import (
	"fmt"
	"math"
	"slices"
)

// This file links blocks (Program.code): the items of a block are a tree, of which linking makes a list of
// instructions, once for all ranks, with jumps in place of bodies and places in the code in place of block numbers. So
// a cursor that executes the list (expand.go) looks nothing up and does not recurse.

// opcode is an operation of the linked code. Operands are a register plus a
// 32-bit constant: A = r[a]+x, B = r[b]+y, C = r[c]+z, D = r[d]+w.
type opcode uint8

const (
	// Those that Cursor.compute executes, as they yield no action: opPoll only if nothing is pending.
	opRet       opcode = iota
	opSet              // r[z], r[z+1] = A, B (z beyond the frame: arguments of a callee)
	opFma              // r[d] = r[a]*x + r[b] + y
	opAdd64            // r[d] = r[a] + (y<<32 | x)
	opMul              // r[d] = A*B
	opMin              // r[d] = min(A, B)
	opMax              // r[d] = max(A, B)
	opEq               // r[d] = A == B
	opSum              // r[d] = sum of [B, C) of vector r[a]
	opJumpZero         // jump to z if A == 0
	opJumpLess1        // jump to z if A < 1
	opJump             // jump to z
	opLoopNext         // r[d]--; jump to z if r[d] > 0
	opCall             // call z with frame at w
	opPoll             // slot flags; frame of the body at w

	opMember      // r[d] = member A of the own group in family sym
	opAction      // kind flags; X = A, B, C, D
	opAmount      // kind flags; X[0], X[1] = A, B, the bits of float64s
	opConstAmount // kind flags; X[0], X[1] = y<<32|x, w<<32|z
	opMessage     // kind flags; peer A, tag B, X[0] = C, request w, memory d
	opExchange    // peer A, tag B, out C, in D
	opSyncExchange
	opAux         // aux = A, B, C for the next opSendrecv
	opSendrecv    // peer A, tag B, X[0] = C, the rest in aux
	opRequest     // kind flags; request w
	opDefine      // slot flags; guard A, B (c != 0), family sym, body at z, arguments in the frame at w
	opPollWait    // slot flags; frame at w
	opWorkTest    // slot flags; jump to z unless pending; r[d] must be a chunk >= 1
	opWorkPoll    // slot flags; spin if r[a] <= 0; frame at w
	opMarkInt     // marker argument A
	opMarkVec     // marker argument: vector A
	opMark        // marker sym
	opPhase       // phase sym, flags FlagEnd
	opCollective  // collective operation flags, communicator sym, Operator d; root A, send B, recv C, the rest in aux
	opComplete    // completion flags of the request slots w
	opIcollective // as opCollective; request w
	opAccess      // access flags, family sym; peer A, window B, out C, in D
	opIaccess     // as opAccess; request in aux
	opSync        // synchronisation flags, family sym; peer A, window B, assertions C
	opFile        // access flags, family sym; bytes A
	opLaunch      // kernel sym with A, B, C, D, queue and flags in flags
	opQueue       // verb w on queue flags, event sym
	opRelay       // relay flags: A bytes from member B of family sym; requests from w, bounds in slots z
	opAdvance     // verb and relays flags
	opRelaysDone  // jump to z if all relays of flags are done
	opAskAll      // tests the requests slots w; jump to z if they are complete
	opBeside      // kind flags; X[0] = A, tag d
	opRing        // flags; A bytes from member B of family sym; requests from w, size of a chunk in slots z
)

// lastComputed is the last opcode that Cursor.compute executes.
const lastComputed = opPoll

// instr is one instruction of 24 bytes. flags and sym hold what an opcode says of them: a slot, kind or symbol.
// Instructions never change once cursors can reach them.
type instr struct {
	op         opcode
	flags      uint8
	sym        uint16
	a, b, c, d uint8
	x, y, z, w int32
}

// code is the linked form of a program's blocks. The first instruction is an
// opRet: the place of a rank that runs no block.
type code struct {
	// markers and omit are the options that the code was made for.
	markers bool
	omit    []bool // by kernel: calls that are left out; nil for none
	instrs  []*instr
	entries []entry   // by block
	slots   [][]int32 // lists of request slots that completions name
	body    int       // registers that the largest body of a pollable needs
}

// entry is the start of a block and the registers that it and what it calls need; bodies of pollables come on top.
// need counts from register 0 of the block to the last register of its deepest callee.
type entry struct{ pc, need int32 }

// code returns the linked form with or without markers, without the calls of the kernels to omit. It is complete for
// the blocks that there are. A program has few of them: a replay asks for one, a comparison for another.
func (p *Program) code(markers bool, omit []bool) (*code, error) {
	for _, c := range p.codes {
		if c.markers == markers && slices.Equal(c.omit, omit) {
			return c, p.link(c)
		}
	}
	c := &code{markers: markers, omit: slices.Clone(omit), instrs: []*instr{{op: opRet}}}
	p.codes = append(p.codes, c)
	return c, p.link(c)
}

// link adds to c the blocks that it lacks. A stream defines blocks on the way, so that cursors that run the code find
// it growing. Instructions are reached by pointers, and hence stay valid when the list moves.
func (p *Program) link(c *code) error {
	// About how many instructions they take: one for each item, and few of them more.
	n := len(p.blocks) - len(c.entries)
	for i := len(c.entries); i < len(p.blocks); i++ {
		visitItems(p.blocks[i].Items, func(*Item) { n++ })
	}
	c.instrs = slices.Grow(c.instrs, n+n/8)

	var out []instr
	var live liveItems
	for n := len(c.entries); n < len(p.blocks); n++ {
		l := linker{program: p, code: c, top: p.blocks[n].Params, out: out[:0], live: live}
		visitItems(p.blocks[n].Items, func(it *Item) { l.top = max(l.top, int(it.Dst)) })
		l.live.read, l.live.live = [maxRegs]bool{}, l.live.live[:0]
		l.live.list(p, c, p.blocks[n].Items)
		l.items(p.blocks[n].Items)
		l.emit(instr{op: opRet})
		// The block is translated with its first instruction at 0.
		start := len(c.instrs)
		if start+len(l.out) > math.MaxInt32 {
			l.fail("more than %d instructions", math.MaxInt32)
		}
		if l.err != nil {
			return fmt.Errorf("%w %d %q: %w", ErrBlock, n, p.blocks[n].Name, l.err)
		}

		// What is relative to the end of the frame, or to the block's first instruction, gets its place.
		frame := int32(l.top+1+l.maxTemp) + 1 // with the link of a callee
		for _, i := range l.fixups {
			if in := &l.out[i]; in.op == opSet {
				in.z += frame
			} else {
				in.w += frame
			}
		}
		own := slices.Clone(l.out)
		for i := range own {
			switch in := &own[i]; in.op {
			case opJump, opJumpZero, opJumpLess1, opLoopNext, opWorkTest, opRelaysDone, opAskAll:
				in.z += int32(start)
			}
			c.instrs = append(c.instrs, &own[i])
		}
		c.entries = append(c.entries, entry{pc: int32(start), need: frame + l.need})
		out, live = l.out, l.live
	}
	return nil
}

// linker translates one block. Frames of callees begin where the block's own frame ends, which is known only at the
// end: instructions that need it hold an offset from there and are listed in fixups. A block that needs too much is
// translated to its end, and the first error stays in err.
type linker struct {
	// Where symbols are looked up, and the code that the block becomes part of.
	program *Program
	code    *code
	top     int // highest register of the definition
	temps   int // the linker's own registers in use, above top
	maxTemp int
	need    int32 // registers that callees need beyond the frame
	out     []instr
	fixups  []int // positions in out whose w (z for opSet) is relative to the frame's end
	live    liveItems
	err     error
}

// fail keeps the first error.
func (l *linker) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

// emit appends an instruction and returns its position, for jumps that get their target later.
func (l *linker) emit(in instr) int {
	l.out = append(l.out, in)
	return len(l.out) - 1
}

// emitFramed emits an instruction whose callee frame is relative to the frame's end.
func (l *linker) emitFramed(in instr) { l.fixups = append(l.fixups, l.emit(in)) }

// here returns the position of the next instruction, a target for jumps.
func (l *linker) here() int32 { return int32(len(l.out)) }

// temporary reserves a register until l.temps is set back.
func (l *linker) temporary() uint8 {
	r := l.top + 1 + l.temps
	if r > math.MaxUint8 {
		l.fail("needs more than %d registers", math.MaxUint8+1)
	}
	l.temps++
	l.maxTemp = max(l.maxTemp, l.temps)
	return uint8(r)
}

// operand returns a register and a 32-bit constant for o; a larger constant is added into a temporary first. Such
// constants are rare: they are the bits of floating-point amounts, or sizes of 2 GiB and more.
func (l *linker) operand(o Operand) (uint8, int32) {
	if fits(o.Const) {
		return uint8(o.Reg), int32(o.Const)
	}
	t := l.temporary()
	l.emit(instr{op: opAdd64, a: uint8(o.Reg), d: t, x: int32(uint32(o.Const)), y: int32(o.Const >> 32)})
	return t, 0
}

// with returns in with up to four operands filled in.
func (l *linker) with(in instr, args ...Operand) instr {
	regs := [4]*uint8{&in.a, &in.b, &in.c, &in.d}
	consts := [4]*int32{&in.x, &in.y, &in.z, &in.w}
	for i, a := range args {
		*regs[i], *consts[i] = l.operand(a)
	}
	return in
}

// items translates the items that are live, in order; those of a body that is not live are left out.
// Whether an item is live was found out before, from the last item to the first: the list ends with
// the answer for the first item, and is used up from its end.
func (l *linker) items(items []Item) {
	for i := range items {
		last := len(l.live.live) - 1
		live := l.live.live[last]
		if l.live.live = l.live.live[:last]; !live {
			continue
		}
		// Temporaries live as long as the item that needs them, its body included.
		temps := l.temps
		l.item(&items[i])
		l.temps = temps
	}
}

// kind returns the flat action of an operation that translates one to one.
func (op Op) kind() Kind { return Kind(slices.Index(kindOps[:], op)) }

// Op returns the operation of blocks whose items become actions of the kind: that of its name, OpNone if there is none.
func (k Kind) Op() Op { return kindOps[k] }

// item translates an item to instructions.
func (l *linker) item(it *Item) {
	// The checks of AddBlock have bounded all symbols: none needs more than 16 bits.
	sym := uint16(it.Sym)
	switch it.Op {
	case OpLetAffine: // a multiply-add for each term; a first one that is not multiplied is added to the second
		acc, rest := uint8(0), int64(0)
		for i, a := range it.Args {
			coef := it.Coefs[i]
			add := coef * a.Const // the constant's part
			if i == 0 && coef == 1 && len(it.Args) > 1 && fits(add+it.Coefs[1]*it.Args[1].Const) {
				acc, rest = uint8(a.Reg), add
				continue
			}
			l.emit(instr{op: opFma, a: uint8(a.Reg), b: acc, d: uint8(it.Dst), x: int32(coef), y: int32(rest + add)})
			acc, rest = uint8(it.Dst), 0
		}
	case OpLetMul, OpLetMin, OpLetMax, OpLetEq, OpLetMember:
		in := l.with(instr{op: itemCodes[it.Op], sym: sym}, it.Args...)
		in.d = uint8(it.Dst)
		l.emit(in)
	case OpLetSum: // the handle is a register without a constant
		in := l.with(instr{op: opSum}, it.Args...)
		in.d = uint8(it.Dst)
		l.emit(in)
	case OpCompute:
		l.emit(l.with(instr{op: opAction, flags: uint8(KindCompute), sym: sym}, it.Args...))
	case OpLaunch:
		args := it.Args
		if _, flags := it.LaunchQueue(); flags&FlagParts != 0 { // their number has its place behind all dimensions
			dims := len(args) - 1
			args = append(append(args[:dims:dims], make([]Operand, maxDims-1-dims)...), args[dims])
		}
		l.emit(l.with(instr{op: opLaunch, flags: it.Slot, sym: sym}, args...))
	case OpQueue:
		v, queue := it.QueueVerb()
		l.emit(instr{op: opQueue, flags: uint8(queue), sym: sym, w: int32(v)})
	case OpFlops, OpSleep: // a constant amount goes into one instruction, with all its bits
		in := instr{op: opConstAmount, flags: uint8(it.Op.kind())}
		halves := [2][2]*int32{{&in.x, &in.y}, {&in.z, &in.w}}
		for i, a := range it.Args {
			if a.Reg != 0 {
				in = l.with(instr{op: opAmount, flags: in.flags}, it.Args...)
				break
			}
			*halves[i][0], *halves[i][1] = int32(uint32(a.Const)), int32(a.Const>>32)
		}
		l.emit(in)
	case OpSend, OpSsend, OpIsend, OpIssend, OpRecv, OpIrecv, OpIprobe, OpProbed, OpProbe, OpStart:
		l.emit(l.with(instr{op: opMessage, flags: uint8(it.Op.kind()), sym: sym, d: it.Slot, w: it.Req}, it.Args...))
	case OpAfter, OpBeside:
		l.emit(l.with(instr{op: opBeside, flags: uint8(it.Op.kind()), d: it.Slot}, it.Args...))
	case OpWait, OpTest, OpWaitAll, OpFree:
		l.emit(instr{op: opRequest, flags: uint8(it.Op.kind()), w: it.Req})
	case OpSendrecv:
		l.emit(l.with(instr{op: opAux}, it.Args[3:]...))
		l.emit(l.with(instr{op: opSendrecv, flags: it.Slot, sym: sym}, it.Args[:3]...))
	case OpMark:
		m := &l.program.header.Markers[it.Sym]
		if !l.code.markers { // then only those of phases are live
			var flags uint8
			if m.End {
				flags = FlagEnd
			}
			l.emit(instr{op: opPhase, flags: flags, sym: uint16(m.Phase - 1)})
			return
		}
		_, vectors := m.VectorArgs()
		for i, a := range it.Args {
			op := opMarkInt
			if vectors>>min(i, 63)&1 != 0 {
				op = opMarkVec
			}
			l.emit(l.with(instr{op: op}, a))
		}
		l.emit(instr{op: opMark, sym: sym})
	case OpComplete: // the list of slots is one of the code's
		l.emit(instr{op: opComplete, flags: uint8(it.Sym), w: l.list(it.Coefs)})
	case OpCollective, OpIcollective: // two instructions, as there are six operands
		c := CollectiveKind(it.Sym).Operands(it.Args)
		extra := c.Flops
		if collectiveRules[it.Sym].span {
			extra = c.Span
		}
		l.emit(l.with(instr{op: opAux}, c.SendSize, c.RecvSize, extra))
		l.emit(l.with(instr{op: itemCodes[it.Op], flags: uint8(it.Sym), sym: uint16(it.Comm), d: it.Slot, w: it.Req},
			c.Root, c.Send, c.Recv))
	case OpExchange, OpSyncExchange, OpAccess, OpIaccess, OpSync, OpFile:
		if it.Op == OpIaccess { // its request is named in an instruction before, as there are four operands
			l.emit(instr{op: opAux, x: it.Req})
		}
		l.emit(l.with(instr{op: itemCodes[it.Op], flags: it.Slot, sym: sym}, it.Args...))
	// The body's arguments are stored in a callee's frame, from where opDefine copies them to the pollable.
	case OpDefine:
		l.arguments(it.Args)
		in := l.with(instr{op: opDefine, flags: it.Slot, sym: uint16(it.GuardSym)}, it.Guard...)
		if it.Guard != nil {
			in.c = 1
		}
		e := l.code.entries[it.Sym]
		in.d, in.z = uint8(len(it.Args)), e.pc
		l.code.body = max(l.code.body, int(e.need))
		l.emitFramed(in)
	case OpPoll, OpPollWait:
		l.emitFramed(instr{op: itemCodes[it.Op], flags: it.Slot})
	// Work-while-pending becomes
	//
	//	     left = n
	//	test: unless pending: goto rest
	//	     c = min(chunk, left); left -= c; body(c, ...); poll; goto test
	//	rest: if left > 0: body(left, ...)
	case OpWork:
		// left and chunk keep their values across the calls of the body, which has a frame of its own.
		left, columns, chunk := l.temporary(), l.temporary(), l.temporary()
		l.copyTo(left, it.Args[0])
		l.copyTo(chunk, it.Args[1])
		test := l.here()
		l.emit(instr{op: opWorkTest, flags: it.Slot, d: chunk})
		l.emit(instr{op: opMin, a: chunk, b: left, d: columns})
		l.emit(instr{op: opFma, a: columns, b: left, d: left, x: -1})
		args := append([]Operand{{Reg: Reg(columns)}}, it.Args[2:]...)
		l.call(it.Sym, args)
		l.emitFramed(instr{op: opWorkPoll, flags: it.Slot, a: left})
		l.emit(instr{op: opJump, z: test})
		// Nothing is pending any more: the rest is done in one call, if there is a rest.
		l.out[test].z = l.here()
		skip := l.emit(instr{op: opJumpLess1, a: left})
		args[0] = Operand{Reg: Reg(left)}
		l.call(it.Sym, args)
		l.out[skip].z = l.here()
	case OpRelay, OpRing:
		in := l.with(instr{op: itemCodes[it.Op], flags: it.Slot, sym: sym}, it.Args...)
		in.z, in.w = l.list(it.Coefs), it.Req
		l.emit(in)
	case OpAdvance:
		l.emit(instr{op: opAdvance, flags: it.Slot})
	// The rows that are left are in the result. Of relays that come with work first:
	//
	//	test: if all are done: goto end; if left < 1: goto end; c = min(slice, left); left -= c; body(c, ...); poll; goto test
	//
	// Else the poll is before the first jump, and of requests is the jump.
	case OpUntil:
		left, rows, slice := uint8(it.Dst), l.temporary(), l.temporary()
		l.copyTo(left, it.Args[0])
		l.copyTo(slice, it.Args[1])
		poll := instr{op: opAdvance, flags: it.Slot & relaySet}
		ends := []int{}
		if it.Slot&^untilWorks != 0 {
			ends = append(ends, l.emit(instr{op: opJumpLess1, a: left}))
		}
		test := l.here()
		done := instr{op: opRelaysDone, flags: it.Slot & relaySet}
		switch {
		case len(it.Coefs) > 0:
			done = instr{op: opAskAll, w: l.list(it.Coefs)}
		case it.Slot&untilWorks == 0:
			l.emit(poll)
		}
		ends = append(ends, l.emit(done))
		none := l.emit(instr{op: opJumpLess1, a: left})
		l.emit(instr{op: opMin, a: slice, b: left, d: rows})
		l.emit(instr{op: opFma, a: rows, b: left, d: left, x: -1})
		l.call(it.Sym, append([]Operand{{Reg: Reg(rows)}}, it.Args[2:]...))
		if it.Slot&untilWorks != 0 {
			l.emit(poll)
		}
		l.emit(instr{op: opJump, z: test})
		l.out[none].z = l.here()
		if len(it.Coefs) > 0 {
			l.emit(instr{op: opComplete, flags: uint8(CompleteAll), w: done.w})
		}
		for _, at := range ends {
			l.out[at].z = l.here()
		}
	case OpIf: // the jump past the body gets its target when the body is there
		at := l.emit(l.with(instr{op: opJumpZero}, it.Args...))
		l.items(it.Body)
		l.out[at].z = l.here()
	case OpLoop: // a register of the linker's own counts the turns down
		count := l.temporary()
		l.copyTo(count, it.Args[0])
		skip := l.emit(instr{op: opJumpLess1, a: count})
		start := l.here()
		l.items(it.Body)
		l.emit(instr{op: opLoopNext, d: count, z: start})
		l.out[skip].z = l.here()
	case OpCall:
		l.call(it.Sym, it.Args)
	}
}

// list adds numbers to the code's lists of request slots, and returns the number of the list.
func (l *linker) list(numbers []int64) int32 {
	slots := make([]int32, len(numbers))
	for i, s := range numbers {
		slots[i] = int32(s)
	}
	l.code.slots = append(l.code.slots, slots)
	return int32(len(l.code.slots) - 1)
}

// itemCodes are the instructions of operations that translate one to one.
var itemCodes = map[Op]opcode{
	OpLetMul: opMul, OpLetMin: opMin, OpLetMax: opMax, OpLetEq: opEq, OpLetMember: opMember,
	OpExchange: opExchange, OpSyncExchange: opSyncExchange, OpCollective: opCollective, OpIcollective: opIcollective,
	OpAccess: opAccess, OpIaccess: opIaccess, OpSync: opSync, OpFile: opFile, OpPoll: opPoll, OpPollWait: opPollWait,
	OpRelay: opRelay, OpRing: opRing,
}

// arguments stores operands as the parameters of a callee, two at a time; the register after an odd number is
// written too. The caller's frame may need two registers more than the arguments: register 0 of the callee, and the
// one that an odd last opSet writes.
func (l *linker) arguments(args []Operand) {
	for i := 0; i < len(args); i += 2 {
		in := l.with(instr{op: opSet}, args[i:min(i+2, len(args))]...)
		in.z = int32(i + 1)
		l.emitFramed(in)
	}
	l.need = max(l.need, int32(len(args)+2))
}

// call calls a block: its arguments go to where its frame begins, which is above all registers of this one.
func (l *linker) call(block int, args []Operand) {
	l.arguments(args)
	e := l.code.entries[block]
	l.emitFramed(instr{op: opCall, z: e.pc})
	l.need = max(l.need, e.need)
}

// fits reports whether a constant fits an instruction.
func fits(v int64) bool { return v == int64(int32(v)) }

// copyTo sets a register of the linker's own to an operand.
func (l *linker) copyTo(dst uint8, o Operand) {
	r, c := l.operand(o)
	l.emit(instr{op: opFma, a: r, b: 0, d: dst, x: 1, y: c})
}

// liveItems tells which items of a block have an effect: they yield an action, or set a register that
// such an item reads (liveness analysis, as compilers do it). Most values are needed for markers
// alone, or for kernels that cost nothing, and a replay without those skips them.
// A live item makes its operands read, and so the items before it that set them live.
type liveItems struct {
	read [maxRegs]bool // by items that are behind
	live []bool        // from the last item to the first; of bodies that are left out nothing
}

// list looks at items as they are linked, and reports whether any of them is live. Each register is set
// once, before it is read, so that one look from the end to the beginning tells all.
func (l *liveItems) list(p *Program, c *code, items []Item) bool {
	some := false
	// Each item is looked at after all those that may read its result. Bodies add the answers for
	// their items before that of the item they belong to.
	for i := len(items) - 1; i >= 0; i-- {
		it, body := &items[i], len(l.live)
		live := true
		switch it.Op {
		case OpIf, OpLoop:
			live = l.list(p, c, it.Body)
		case OpCall:
			live = c.instrs[c.entries[it.Sym].pc].op != opRet
		case OpCompute:
			live = it.Sym >= len(c.omit) || !c.omit[it.Sym]
		case OpMark:
			live = c.markers || p.header.Markers[it.Sym].Phase > 0
		default:
			if it.Op.Lets() {
				live = l.read[it.Dst] || it.Op == OpUntil
				// The register is set here: no item before can have set it.
				l.read[it.Dst] = false
			}
		}
		if live {
			for _, args := range [2][]Operand{it.Args, it.Guard} {
				for _, a := range args {
					l.read[a.Reg] = true
				}
			}
		} else {
			l.live = l.live[:body]
		}
		l.live = append(l.live, live)
		some = some || live
	}
	return some
}
