package trace

// compute executes the instructions that yield no action, for run, from pc on with the frame at index at of the
// registers. It returns the place of the first instruction that it leaves to run: one that yields an action, the opRet
// of a block that the stream calls, or an opSum of elements that are not in a row. patience is the number of turns of
// loops, calls and ends of blocks that it may still do; the returned rest is below 0 if there were more. It is a
// function of its own because its few variables then stay in registers of the processor, which makes it twice as quick:
// most instructions of a program yield no action. In the inner loop only the place in the code changes.
func (c *Cursor) compute(code []*instr, pc, at, patience int) (nextPC, nextAt, left int) {
	for ; ; patience-- {
		if patience < 0 {
			return pc, at, patience
		}
		memory := c.set.memory
		r := (*registers)(memory[at:])
	frame: // until another one begins or goes on, or a turn of a loop ends
		for {
			in := code[pc]
			pc++
			switch in.op {
			// The frame of the caller, and its place in the code. It is left to run if no block has called this one.
			case opRet:
				link := memory[at-1]
				if link == noCaller {
					return pc - 1, at, patience
				}
				pc = int(link >> 32)
				at -= int(int32(link))
				break frame
			// Both registers may be beyond the frame: they are parameters of the next callee.
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
			case opSum:
				v, lo, hi := r[in.a], r[in.b]+int64(in.y), r[in.c]+int64(in.z)
				vectors := c.win.vectors
				if uint64(v) >= uint64(len(vectors)) {
					return pc - 1, at, patience
				}
				sums := vectors[v].sums
				if uint64(lo) > uint64(hi) || uint64(hi) >= uint64(len(sums)) {
					return pc - 1, at, patience
				}
				r[in.d] = sums[hi] - sums[lo]
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
			// The end of each turn counts against the caller's patience, even if the loop ends here.
			case opLoopNext:
				if r[in.d]--; r[in.d] > 0 {
					pc = int(in.z)
				}
				break frame
			case opCall:
				at += int(in.w)
				memory[at-1] = frameLink(int32(pc), in.w)
				memory[at] = 0
				pc = int(in.z)
				break frame
			// A poll of nothing is passed over here, as most are; any other one is an action.
			case opPoll:
				if c.pending>>in.flags&1 != 0 {
					return pc - 1, at, patience
				}
			default:
				return pc - 1, at, patience
			}
		}
	}
}

// sum executes an opSum of any elements; it fails at one that is not possible. compute has taken the sums of
// elements that lie in a row; here are those whose indices wrap around, and the mistakes.
func (c *Cursor) sum(in *instr, r *registers) bool {
	v, lo, hi := r[in.a], r[in.b]+int64(in.y), r[in.c]+int64(in.z)
	if v < 0 || v >= int64(len(c.win.vectors)) {
		c.fail("vector %d out of [0,%d)", v, len(c.win.vectors))
		return false
	}
	vec := &c.win.vectors[v]
	if !vec.spans(lo, hi) {
		c.fail("sum of elements [%d,%d) of a vector of %d", lo, hi, len(vec.sums)-1)
		return false
	}
	r[in.d] = vec.sum(lo, hi)
	return true
}
