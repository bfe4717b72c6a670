package trace

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// What a checkpoint says of a cursor must follow from the trace: where in the stream of
// calls it is, which blocks have called each other there, and the values that these have
// computed. Only how often loops and work in chunks have still to go round, and the arguments of
// pending operations, depend on more than that; of the former the bounds are known.

// errPlace is the error of a place in the code that no call has come to.
var errPlace = errors.New("a place in a block that its calls do not lead to")

// checkStream checks the place in the stream of calls.
func (c *Cursor) checkStream() error {
	if c.step < -1 {
		return fmt.Errorf("step %d", c.step)
	}
	if c.win == nil || c.unit < 0 || int(c.unit) >= len(c.win.units) {
		return nil
	}
	if step := c.win.units[c.unit].Step; c.step != -1 && int(c.step) != step {
		return fmt.Errorf("step %d in a unit of step %d", c.step, step)
	}
	if c.item == 0 && c.items == 0 {
		return nil
	}
	if from, to := c.span(c.callSite()); c.items != to || c.item < from {
		return fmt.Errorf("item %d of %d where the call has [%d,%d)", c.item, c.items, from, to)
	}
	return nil
}

// callSite returns the call of the stream that the cursor is at, which must be at one.
func (c *Cursor) callSite() *CallColumns { return &c.win.units[c.unit].Calls[c.call-1] }

// codeFrame is a block under way.
type codeFrame struct {
	pc int32 // where it goes on
	at int   // its first register in cursorSet.memory
}

// checkCode checks the place in the code, and the registers.
func (c *Cursor) checkCode(w *walk) error {
	first := int(c.index)*c.set.stride + firstFrame
	if c.pc == 0 {
		if int(c.base) != firstFrame || c.set.memory[first-1] != noCaller || c.waiting >= 0 {
			return errPlace
		}
		return nil
	}
	frames, err := c.frames(first)
	if err != nil {
		return err
	}
	if err := c.checkWaiting(); err != nil {
		return err
	}
	block, args, err := c.calledBlock()
	if err != nil {
		return err
	}
	code := c.set.code
	if need := firstFrame + int(code.entries[block].need) + code.body; need > c.set.stride {
		return fmt.Errorf("%d registers, block %d needs %d", c.set.stride, block, need)
	}
	for i, f := range frames {
		if code.blockAt(f.pc) != block {
			return errPlace
		}
		calls := i+1 < len(frames)
		if calls {
			f.pc-- // it is not behind the call yet, and so not behind a body that ends with it
		}
		if err := w.run(c, block, args, f); err != nil {
			return fmt.Errorf("block %d: %w", block, err)
		}
		if calls {
			block, args = c.calledFrom(f, w)
		}
	}
	return nil
}

// frames returns the blocks under way, the first one that the stream calls.
func (c *Cursor) frames(first int) ([]codeFrame, error) {
	code, memory := c.set.code.instrs, c.set.memory
	f := codeFrame{c.pc, first - firstFrame + int(c.base)}
	list := []codeFrame{f}
	for memory[f.at-1] != noCaller {
		link := memory[f.at-1]
		pc, offset := int32(link>>32), int32(link)
		if pc < 1 || int(pc) >= len(code) || !code[pc-1].callsAt(offset) || f.at-int(offset) < first {
			return nil, errPlace
		}
		f = codeFrame{pc, f.at - int(offset)}
		list = append(list, f)
	}
	if f.at != first {
		return nil, errPlace
	}
	slices.Reverse(list)
	return list, nil
}

// callsAt reports whether an instruction calls something with its frame at an offset.
func (in *instr) callsAt(offset int32) bool {
	return (in.op == opCall || in.polls()) && in.w == offset && offset > 0
}

func (in *instr) polls() bool {
	return in.op == opPoll || in.op == opPollWait || in.op == opWorkPoll
}

// checkWaiting checks what a poll that waits for its answer has noted.
func (c *Cursor) checkWaiting() error {
	if c.waiting < 0 {
		return nil
	}
	in := c.set.code.instrs[c.pc-1]
	miss := c.pc
	if in.op == opPollWait {
		miss--
	}
	op := c.set.poll(c.index, uint8(c.waiting))
	if !in.polls() || in.flags != uint8(c.waiting) || !c.Pending(int(c.waiting)) || !op.guarded ||
		c.hitPC != c.pc || c.missPC != miss || c.hitFrame != in.w {
		return errors.New("no poll that an answer could be for")
	}
	return nil
}

// calledBlock returns the block that the stream calls at the cursor's place, and its
// arguments.
func (c *Cursor) calledBlock() (block int, args []int64, err error) {
	if c.win == nil || c.call == 0 || c.items == 0 {
		return 0, nil, errPlace
	}
	call := c.callSite()
	if from, _ := c.span(call); c.item <= from {
		return 0, nil, errPlace
	}
	t := &c.set.trace.Header().CallSites[call.Site]
	class := func(axis int) int {
		if axis == PerItem {
			return int(c.item) - 1
		}
		return int(c.class(axis))
	}
	block = int(call.Blocks[class(t.Block)])
	if block < 0 || block >= len(c.set.code.entries) {
		return 0, nil, errPlace
	}
	params := c.set.trace.Program().blocks[block].Params
	if params > len(t.Params) {
		return 0, nil, errPlace
	}
	for i := range params {
		args = append(args, call.Args[i][class(t.Params[i].Axis)])
	}
	return block, args, nil
}

// calledFrom returns the block that a frame calls, and its arguments. w has followed the
// frame up to there.
func (c *Cursor) calledFrom(f codeFrame, w *walk) (block int, args []int64) {
	code := c.set.code
	in := code.instrs[f.pc]
	if in.op == opCall {
		block = code.blockAt(in.z)
		params := c.set.trace.Program().blocks[block].Params
		return block, slices.Clone(w.want[in.w+1:][:params])
	}
	op := c.set.poll(c.index, in.flags)
	return code.blockAt(op.body), op.args[:op.count]
}

// blockAt returns the block that a place in the code belongs to, -1 for that of none.
func (c *code) blockAt(pc int32) int {
	return sort.Search(len(c.entries), func(i int) bool { return c.entries[i].pc > pc }) - 1
}

// pollSite is what an opDefine says of a pollable, but for the values.
type pollSite struct {
	slot, count uint8
	guarded     bool
	family      uint16
	body        int32
}

// definitions returns those in the code.
func (c *code) definitions() map[pollSite]bool {
	all := map[pollSite]bool{}
	for i := range c.instrs {
		if in := c.instrs[i]; in.op == opDefine {
			d := pollSite{slot: in.flags, count: in.d, guarded: in.c != 0, body: in.z}
			if d.guarded {
				d.family = in.sym
			}
			all[d] = true
		}
	}
	return all
}

// checkPolls checks the pollables of the cursor against the definitions.
func (c *Cursor) checkPolls(all map[pollSite]bool) error {
	if slots := c.set.slots; c.pending>>slots != 0 {
		return fmt.Errorf("pollables beyond the %d that there are", slots)
	}
	for slot := range c.set.slots {
		op := c.set.poll(c.index, uint8(slot))
		d := pollSite{slot: uint8(slot), count: op.count, guarded: op.guarded, body: op.body}
		if op.guarded {
			d.family = op.family
		}
		if (c.Pending(slot) || *op != (pollable{})) && !all[d] {
			return fmt.Errorf("pollable %d as nothing defines it", slot)
		}
		if uint32(op.peer) >= uint32(c.set.ranks) {
			return fmt.Errorf("pollable %d: peer %d out of [0,%d)", slot, op.peer, c.set.ranks)
		}
	}
	return nil
}
