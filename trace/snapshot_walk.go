package trace

import "fmt"

// walk follows the code of a block from its beginning to a place in it, without what has
// been left behind on the way there: bodies of conditions and loops. It computes what the
// registers that can still be read must hold.
type walk struct {
	c    *Cursor
	own  *registers // as they are
	want registers
	top  int     // highest register of the block's definition
	live []uint8 // results on the way
}

// run checks the registers of a block that was called with args.
func (w *walk) run(c *Cursor, block int, args []int64, f codeFrame) error {
	w.c, w.own = c, (*registers)(c.set.memory[f.at:])
	w.top, w.live = topRegister(&c.set.trace.Program().blocks[block]), w.live[:0]
	clear(w.want[:])
	copy(w.want[1:], args)
	for i := range 1 + len(args) {
		w.live = append(w.live, uint8(i))
	}
	for pc := c.set.code.entries[block].pc; pc < f.pc; {
		next, err := w.step(pc, f.pc)
		if err != nil {
			return err
		}
		pc = next
	}
	for _, r := range w.live {
		if w.own[r] != w.want[r] {
			return fmt.Errorf("register %d holds %d, and %d was computed", r, w.own[r], w.want[r])
		}
	}
	return nil
}

// step takes one instruction, on the way to the place end, and returns the next one.
func (w *walk) step(pc, end int32) (next int32, err error) {
	in := w.c.set.code.instrs[pc]
	r := &w.want
	switch in.op {
	case opSet:
		r[in.z], r[in.z+1] = r[in.a]+int64(in.x), r[in.b]+int64(in.y)
	case opFma:
		w.let(in, r[in.a]*int64(in.x)+r[in.b]+int64(in.y))
	case opAdd64:
		w.let(in, r[in.a]+int64(in.y)<<32+int64(uint32(in.x)))
	case opMul:
		w.let(in, (r[in.a]+int64(in.x))*(r[in.b]+int64(in.y)))
	case opMin:
		w.let(in, min(r[in.a]+int64(in.x), r[in.b]+int64(in.y)))
	case opMax:
		w.let(in, max(r[in.a]+int64(in.x), r[in.b]+int64(in.y)))
	case opEq:
		v := int64(0)
		if r[in.a]+int64(in.x) == r[in.b]+int64(in.y) {
			v = 1
		}
		w.let(in, v)
	case opMember:
		w.let(in, w.c.group(in.sym).member(r[in.a]+int64(in.x)))
	case opSum:
		return pc + 1, w.sum(in)
	case opJumpZero, opJumpLess1, opWorkTest:
		if in.op == opWorkTest {
			err = w.left(pc)
		}
		switch {
		case err != nil:
		case end >= in.z:
			return in.z, nil
		case in.op == opJumpZero:
			err = w.taken(r[in.a]+int64(in.x) != 0)
		case in.op == opJumpLess1:
			err = w.turns(pc, in)
		default:
			return w.chunk(pc, end)
		}
	case opJump, opLoopNext, opRet: // they end what has been passed over
		err = errPlace
	}
	return pc + 1, err
}

func (w *walk) let(in *instr, v int64) {
	w.want[in.d] = v
	if int(in.d) <= w.top {
		w.live = append(w.live, in.d)
	}
}

func (w *walk) sum(in *instr) error {
	r, vectors := &w.want, w.c.win.vectors
	v, lo, hi := r[in.a], r[in.b]+int64(in.y), r[in.c]+int64(in.z)
	if v < 0 || v >= int64(len(vectors)) || !vectors[v].spans(lo, hi) {
		return errPlace
	}
	w.let(in, vectors[v].sum(lo, hi))
	return nil
}

func (w *walk) taken(condition bool) error {
	if !condition {
		return errPlace
	}
	return nil
}

// turns checks the counter of a loop that is under way: of the turns that it began with
// some are left. Behind work in chunks, the same instruction guards the rest.
func (w *walk) turns(pc int32, in *instr) error {
	last := w.c.set.code.instrs[in.z-1]
	if last.op != opLoopNext || last.z != pc+1 {
		return w.taken(w.want[in.a] >= 1)
	}
	left, all := w.own[in.a], w.want[in.a]
	if left < 1 || left > all {
		return fmt.Errorf("%d turns left of a loop of %d", left, all)
	}
	w.want[in.a] = left
	return nil
}

// left checks how much is left of work in chunks, whose test is at pc.
func (w *walk) left(pc int32) error {
	split := w.c.set.code.instrs[pc+1]
	left, all := w.own[split.b], w.want[split.b]
	if left > max(all, 0) || left < min(all, 0) {
		return fmt.Errorf("%d columns left of %d", left, all)
	}
	w.want[split.b] = left
	return nil
}

// chunk goes into the body of work in chunks, behind the two instructions that split a
// chunk off.
func (w *walk) chunk(pc, end int32) (int32, error) {
	const split = 3
	in := w.c.set.code.instrs[pc+1]
	chunk, left, columns := w.want[in.a], w.want[in.b], w.own[in.d]
	if chunk < 1 || columns > chunk || columns < chunk && left != 0 || end < pc+split {
		return 0, fmt.Errorf("a chunk of %d columns, where %d are left, in chunks of %d", columns, left, chunk)
	}
	w.want[in.d] = columns
	return pc + split, nil
}
