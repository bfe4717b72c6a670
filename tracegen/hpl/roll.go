package hpl

import (
	"fmt"

	"reprise/trace"
)

// rollBlocks are the blocks of rolls whose pieces all differ in size. Two steps
// are a turn, and a chain of 2^k turns is two chains of half as many: so a roll
// of n positions takes log(n) blocks that all positions share.
type rollBlocks struct {
	lib *library
	// step emits a step, in place: it is what most of a program's time goes to. The pieces out
	// and in are numbers that are taken mod n.
	step   func(b *trace.Builder, operands [2]trace.Operand, peer, out, in trace.Operand)
	chains map[chainKey]int
}

// chainKey names a chain of 2^log turns. Its parameters are the two operands of
// the roll, the peers of the first and of the second step of a turn, and the
// pieces a and b that these send. The first receives b+sign, the second a-sign;
// with each turn a falls and b rises by sign.
type chainKey struct {
	sign int64
	log  int
}

// chain returns the block of a chain.
func (r *rollBlocks) chain(key chainKey) int {
	if block, ok := r.chains[key]; ok {
		return block
	}
	b := trace.NewBuilder(fmt.Sprintf("roll turns=%d", 1<<key.log), 6)
	p := params(b, 6)
	x, y, first, second, out, back := p[0], p[1], p[2], p[3], p[4], p[5]
	if key.log == 0 {
		r.step(b, [2]trace.Operand{x, y}, first, out, back.Plus(key.sign))
		r.step(b, [2]trace.Operand{x, y}, second, back, out.Plus(-key.sign))
	} else {
		half := chainKey{key.sign, key.log - 1}
		b.Call(r.chain(half), p...)
		by := key.sign << half.log
		b.Call(r.chain(half), x, y, first, second, out.Plus(-by), back.Plus(by))
	}
	r.chains[key] = r.lib.add(b)
	return r.chains[key]
}

// emit calls the roll of position y of n, with two operands and the ranks of the
// positions before and after.
func (r *rollBlocks) emit(b *trace.Builder, y, n int, operands [2]trace.Operand, before, after trace.Operand) {
	first, second, sign := after, before, int64(1)
	if y%2 == 1 {
		first, second, sign = before, after, -1
	}
	out, back := int64(y), int64(y)
	for turns := (n - 1) / 2; turns > 0; {
		log := log2(turns)
		b.Call(r.chain(chainKey{sign, log}), operands[0], operands[1], first, second, trace.Const(out), trace.Const(back))
		out, back = out-sign<<log, back+sign<<log
		turns -= 1 << log
	}
	if n%2 == 0 {
		r.step(b, operands, first, trace.Const(out), trace.Const(back+sign))
	}
}
