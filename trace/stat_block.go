package trace

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// summary is what one call of a block does, as polynomials in its algebra.
//
// A phase is the index of one, or -1-d for the phase that was the d-th innermost
// when the block was called. Slots that the block does not touch are absent from
// outs.
type summary struct {
	algebra *algebra
	counts  []countTerm
	amounts []amountTerm
	runs    []runTerm
	sites   []site
	outs    map[int32][]pendingOp
	phases  phaseStack
	needed  []atomID     // atoms that the polynomials use, in order
	depends []dependence // what each of them depends on
	values  evaluated
	member  bool // they, or the bodies at sites, differ from rank to rank
}

// stateless reports that a call leaves phases and slots as they are.
func (s *summary) stateless() bool { return len(s.runs) == 0 && s.outs == nil && s.phases.neutral() }

// idle reports that a call changes and counts nothing.
func (s *summary) idle() bool { return s.stateless() && len(s.counts) == 0 && len(s.amounts) == 0 }

// countTerm adds value to a counter of a phase; term: as floating point.
type countTerm struct {
	phase int32
	count counter
	term  bool
	value poly
}

// amountTerm adds times * float64frombits(bits) to a counter of a phase.
type amountTerm struct {
	phase       int32
	count       counter
	times, bits poly
}

// runTerm says that the operation that was pending in a slot when the block was
// called runs, in a phase, if factor is 1.
type runTerm struct {
	slot, phase int32
	guarded     bool
	factor      poly
}

// site is a Define whose operation may be pending.
type site struct {
	body    int
	guarded bool
	args    []poly
}

// pendingOp is an operation that is pending in a slot if factor is 1: that of
// sites[site], or the one that was when the block was called.
type pendingOp struct {
	site   int
	factor poly
}

// Sites of operations that were pending when the block was called: their factor
// holds for a block that was called with such a one.
const (
	entryGuarded = -1
	entryFree    = -2
)

// phaseStack is what a block does to the open phases: it leaves popped of its
// caller's and has opened others, innermost last.
type phaseStack struct {
	popped int
	open   []int32
}

func (s *phaseStack) neutral() bool { return s.popped == 0 && len(s.open) == 0 }

// resolve translates a phase of a callee to one of the block.
func (s *phaseStack) resolve(phase int32) int32 {
	if phase >= 0 {
		return phase
	}
	d := int(-1 - phase)
	if d < len(s.open) {
		return s.open[len(s.open)-1-d]
	}
	return int32(-1 - (s.popped + d - len(s.open)))
}

func (s *phaseStack) leave() {
	if n := len(s.open); n > 0 {
		s.open = slices.Clone(s.open[:n-1])
		return
	}
	s.popped++
}

func (s *phaseStack) enter(phases ...int32) { s.open = append(slices.Clone(s.open), phases...) }

// summarizer makes the summaries of a program's blocks.
type summarizer struct {
	program  *Program
	counters *counters
	late     bool // polls as Late answers them, else as Hit
	done     []*summary
}

// summary returns the summary of a block.
func (z *summarizer) summary(block int) (*summary, error) {
	for n := len(z.done); n <= block; n++ {
		w := newSummaryWriter(z, z.program.Block(n))
		s, err := w.write()
		if err != nil {
			return nil, fmt.Errorf("block %d %q: %w", n, z.program.Block(n).Name, err)
		}
		z.done = append(z.done, s)
	}
	return z.done[block], nil
}

// slotState says for each slot what may be pending.
type slotState [maxPollables][]pendingOp

// summaryWriter executes one block symbolically.
type summaryWriter struct {
	*summarizer
	block    *Block
	g        *algebra
	regs     [maxRegs]poly
	slots    slotState
	phases   phaseStack
	out      *summary
	counts   map[countTermKey]*accumulator
	order    []countTermKey
	deferred map[string]*deferredCall
	calls    []*deferredCall
}

type countTermKey struct {
	phase int32
	count counter
	term  bool
}

// deferredCall is a call without side effects on slots and phases: its effect
// is proportional to how often it is made.
type deferredCall struct {
	block int
	phase int32
	args  []poly
	times accumulator
}

func newSummaryWriter(z *summarizer, b *Block) *summaryWriter {
	w := &summaryWriter{summarizer: z, block: b, g: newAlgebra(), counts: map[countTermKey]*accumulator{}, deferred: map[string]*deferredCall{}}
	w.out = &summary{algebra: w.g}
	for i := range b.Params {
		w.regs[i+1] = w.g.intern(atomParam, int32(i))
	}
	for i := range w.slots {
		w.slots[i] = []pendingOp{{entryGuarded, constPoly(1)}, {entryFree, constPoly(1)}}
	}
	return w
}

func (w *summaryWriter) write() (*summary, error) {
	start := w.slots
	if err := w.items(w.block.Items, constPoly(1)); err != nil {
		return nil, err
	}
	for _, c := range w.calls {
		top := phaseStack{open: []int32{c.phase}}
		if err := w.inline(w.done[c.block], c.args, c.times.poly(), top); err != nil {
			return nil, err
		}
	}
	for _, k := range w.order {
		if p := w.counts[k].poly(); len(p) > 0 {
			w.out.counts = append(w.out.counts, countTerm{k.phase, k.count, k.term, p})
		}
	}
	for i := range w.slots {
		if !equalPending(start[i], w.slots[i]) {
			if w.out.outs == nil {
				w.out.outs = map[int32][]pendingOp{}
			}
			w.out.outs[int32(i)] = w.slots[i]
		}
	}
	w.out.phases = w.phases
	w.out.find()
	for i := range w.out.sites {
		w.out.member = w.out.member || w.done[w.out.sites[i].body].member
	}
	return w.out, nil
}

func equalPending(a, b []pendingOp) bool {
	return slices.EqualFunc(a, b, func(x, y pendingOp) bool { return x.site == y.site && slices.Equal(x.factor, y.factor) })
}

func (w *summaryWriter) operand(o Operand) poly { return addPoly(w.regs[o.Reg], constPoly(o.Const)) }

func (w *summaryWriter) operands(args []Operand) []poly {
	out := make([]poly, len(args))
	for i, a := range args {
		out[i] = w.operand(a)
	}
	return out
}

// count adds times to a counter of the current phase.
func (w *summaryWriter) count(c counter, times poly) {
	w.add(countTermKey{w.phases.resolve(-1), c, false}, times)
}

func (w *summaryWriter) add(k countTermKey, value poly) {
	if len(value) == 0 {
		return
	}
	sum := w.counts[k]
	if sum == nil {
		sum = &accumulator{}
		w.counts[k] = sum
		w.order = append(w.order, k)
	}
	sum.add(value...)
}

// items executes items as often as weight says.
func (w *summaryWriter) items(items []Item, weight poly) error {
	for i := range items {
		it := &items[i]
		var err error
		switch {
		case opRules[it.Op].let:
			w.regs[it.Dst] = w.let(it)
		case opRules[it.Op].polls:
			err = w.poll(it, weight)
		case it.Op == OpIf:
			err = w.cond(it, weight)
		case it.Op == OpLoop:
			err = w.loop(it, weight)
		case it.Op == OpCall:
			err = w.call(it.Sym, w.operands(it.Args), weight)
		case it.Op == OpMark:
			w.mark(it)
		default:
			w.action(it, weight)
		}
		if err != nil {
			return fmt.Errorf("item %d (%v): %w", i, it.Op, err)
		}
	}
	return nil
}

func (w *summaryWriter) let(it *Item) poly {
	args := w.operands(it.Args)
	switch it.Op {
	case OpLetAffine:
		var sum accumulator
		for i, a := range args {
			sum.add(scalePoly(it.Coefs[i], a)...)
		}
		return sum.poly()
	case OpLetMul:
		return w.g.mul(args[0], args[1])
	case OpLetMin:
		return w.g.of(atomMin, args...)
	case OpLetMax:
		return w.g.of(atomMax, args...)
	case OpLetEq:
		return w.g.of(atomEq, args...)
	case OpLetMember:
		return w.g.intern(atomMember, int32(it.Sym), args...)
	}
	return w.g.of(atomSum, args...) // OpLetSum
}

func (w *summaryWriter) mark(it *Item) {
	switch m := &w.program.header.Markers[it.Sym]; {
	case m.Phase == 0:
	case m.End:
		w.phases.leave()
	default:
		w.phases.enter(int32(m.Phase - 1))
	}
}

// action counts an item that neither branches nor calls.
func (w *summaryWriter) action(it *Item, weight poly) {
	switch it.Op {
	case OpProbed:
	case OpCompute:
		w.compute(it, weight)
	case OpFlops:
		w.count(countFlops, weight)
		w.amount(countAmount, weight, w.operand(it.Args[0]))
	case OpSleep:
		w.count(countSleep, weight)
		w.amount(countSeconds, weight, w.operand(it.Args[0]))
	case OpExchange:
		out, in := w.operand(it.Args[2]), w.operand(it.Args[3])
		sends, receives := w.g.mul(weight, w.g.of(atomNonzero, out)), w.g.mul(weight, w.g.of(atomNonzero, in))
		both := w.g.mul(sends, w.g.of(atomNonzero, in))
		w.count(countSend, sends)
		w.count(countIrecv, both)
		w.count(countWait, both)
		w.count(countRecv, subPoly(receives, both))
		w.count(countBytes+countSend, w.g.mul(weight, out))
	case OpSyncExchange:
		w.count(countIssend, weight)
		w.count(countRecv, weight)
		w.count(countWait, weight)
		w.count(countBytes+countIssend, w.g.mul(weight, w.operand(it.Args[2])))
	default:
		c := kindCounts[messageKinds[it.Op]]
		if it.Op == OpSendrecv {
			c = countSendrecv
		}
		w.count(c, weight)
		if int(c) < numSenders {
			w.count(countBytes+c, w.g.mul(weight, w.operand(it.Args[2])))
		}
	}
}

func (w *summaryWriter) amount(c counter, times, bits poly) {
	w.out.amounts = append(w.out.amounts, amountTerm{w.phases.resolve(-1), c, times, bits})
}

// compute counts a kernel and the terms of its flop count.
func (w *summaryWriter) compute(it *Item, weight poly) {
	calls := w.counters.calls[it.Sym]
	w.count(calls, weight)
	for i, term := range w.program.header.Kernels[it.Sym].Flops {
		value := weight
		for d, a := range it.Args {
			for range term.Pow[d] {
				value = w.g.mul(value, w.operand(a))
			}
		}
		w.add(countTermKey{w.phases.resolve(-1), calls + counter(1+i), true}, value)
	}
}

// cond executes the body of an If. Afterwards a slot is as the body left it or as
// it was.
func (w *summaryWriter) cond(it *Item, weight poly) error {
	holds := w.g.of(atomNonzero, w.operand(it.Args[0]))
	return w.branch(it.Body, holds, w.g.mul(weight, holds))
}

// branch executes items weight times in all, and has their effect on the slots
// if holds is 1.
func (w *summaryWriter) branch(items []Item, holds, weight poly) error {
	slots, phases := w.slots, w.phases
	if err := w.items(items, weight); err != nil {
		return err
	}
	if w.phases.popped != phases.popped || !slices.Equal(w.phases.open, phases.open) {
		return fmt.Errorf("phases that begin or end under a condition only cannot be counted")
	}
	for i := range w.slots {
		if !equalPending(slots[i], w.slots[i]) {
			w.slots[i] = w.choose(holds, w.slots[i], slots[i])
		}
	}
	return nil
}

// choose returns what is pending if it is yes where holds is 1 and no elsewhere.
func (w *summaryWriter) choose(holds poly, yes, no []pendingOp) []pendingOp {
	var out []pendingOp
	for _, op := range yes {
		out = addPending(out, op.site, w.g.mul(holds, op.factor))
	}
	for _, op := range no {
		out = addPending(out, op.site, w.g.mul(w.g.not(holds), op.factor))
	}
	return out
}

func addPending(ops []pendingOp, site int, factor poly) []pendingOp {
	if len(factor) == 0 {
		return ops
	}
	for i := range ops {
		if ops[i].site == site {
			ops[i].factor = addPoly(ops[i].factor, factor)
			return ops
		}
	}
	return append(ops, pendingOp{site, factor})
}

// loop executes the body of a Loop. Its turns differ only in what is pending: the
// first may find what later ones do not, and what it leaves all others leave.
func (w *summaryWriter) loop(it *Item, weight poly) error {
	count := w.operand(it.Args[0])
	some := w.g.of(atomPositive, count)
	turns := w.g.mul(weight, w.g.mul(some, count))
	if !w.touchesSlots(it.Body) {
		return w.branch(it.Body, some, turns)
	}
	first := w.g.mul(weight, some)
	if err := w.branch(it.Body, some, first); err != nil {
		return err
	}
	after := w.slots
	err := w.branch(it.Body, constPoly(1), subPoly(turns, first))
	w.slots = after
	return err
}

func (w *summaryWriter) touchesSlots(items []Item) bool {
	return slices.ContainsFunc(items, func(it Item) bool {
		return opRules[it.Op].polls || it.Op == OpCall && w.program.infos[it.Sym].polls || w.touchesSlots(it.Body)
	})
}

// call counts a call of a block.
func (w *summaryWriter) call(block int, args []poly, weight poly) error {
	if len(weight) == 0 {
		return nil
	}
	s := w.done[block]
	if w.program.infos[block].polls || !s.phases.neutral() {
		return w.inline(s, args, weight, w.phases)
	}
	phase := w.phases.resolve(-1)
	key := binary.AppendVarint(binary.AppendUvarint(nil, uint64(block)), int64(phase))
	for _, p := range args {
		key = appendPoly(key, p)
	}
	c := w.deferred[string(key)]
	if c == nil {
		c = &deferredCall{block: block, phase: phase, args: args}
		w.deferred[string(key)] = c
		w.calls = append(w.calls, c)
	}
	c.times.add(weight...)
	return nil
}

// inline adds what a call does to counts, slots and phases; phases are those open at
// the call.
func (w *summaryWriter) inline(s *summary, args []poly, weight poly, phases phaseStack) error {
	before := w.slots
	sub := &substitution{to: w.g, from: s.algebra, params: args,
		guarded: func(slot int32) poly { return w.pending(slot, before[slot], true) },
		free:    func(slot int32) poly { return w.pending(slot, before[slot], false) }}
	for _, t := range s.counts {
		w.add(countTermKey{phases.resolve(t.phase), t.count, t.term}, w.g.mul(weight, sub.poly(t.value)))
	}
	for _, t := range s.amounts {
		if times := w.g.mul(weight, sub.poly(t.times)); len(times) > 0 {
			w.out.amounts = append(w.out.amounts, amountTerm{phases.resolve(t.phase), t.count, times, sub.poly(t.bits)})
		}
	}
	for _, t := range s.runs {
		for _, op := range before[t.slot] {
			if w.guarded(op.site) != t.guarded {
				continue
			}
			if err := w.run(t.slot, op, w.g.mul(weight, sub.poly(t.factor)), phases.resolve(t.phase)); err != nil {
				return err
			}
		}
	}
	if s.phases.neutral() && s.outs == nil {
		return nil
	}
	w.leaveSlots(s, sub, before)
	for range s.phases.popped {
		w.phases.leave()
	}
	w.phases.enter(s.phases.open...)
	return nil
}

// leaveSlots sets the slots to what a callee leaves.
func (w *summaryWriter) leaveSlots(s *summary, sub *substitution, before slotState) {
	for slot := range int32(maxPollables) {
		left, touched := s.outs[slot]
		if !touched {
			continue
		}
		var ops []pendingOp
		for _, op := range left {
			factor := sub.poly(op.factor)
			if op.site >= 0 {
				from := &s.sites[op.site]
				args := make([]poly, len(from.args))
				for i, a := range from.args {
					args[i] = sub.poly(a)
				}
				ops = addPending(ops, w.site(site{from.body, from.guarded, args}), factor)
				continue
			}
			for _, was := range before[slot] {
				if w.guarded(was.site) == (op.site == entryGuarded) {
					ops = addPending(ops, was.site, w.g.mul(factor, was.factor))
				}
			}
		}
		w.slots[slot] = ops
	}
}

func (w *summaryWriter) site(s site) int {
	w.out.sites = append(w.out.sites, s)
	return len(w.out.sites) - 1
}

func (w *summaryWriter) guarded(site int) bool {
	return site == entryGuarded || site >= 0 && w.out.sites[site].guarded
}

// find lists the atoms that evaluating the summary needs.
func (s *summary) find() {
	needed := make([]bool, len(s.algebra.atoms))
	var visit func(polys ...poly)
	visit = func(polys ...poly) {
		for _, p := range polys {
			for i := range p {
				for _, id := range p[i].atoms {
					if id != 0 && !needed[id] {
						needed[id] = true
						visit(s.algebra.atoms[id].args...)
					}
				}
			}
		}
	}
	for i := range s.counts {
		visit(s.counts[i].value)
	}
	for i := range s.amounts {
		visit(s.amounts[i].times, s.amounts[i].bits)
	}
	for i := range s.runs {
		visit(s.runs[i].factor)
	}
	for slot := range int32(maxPollables) {
		for _, op := range s.outs[slot] {
			visit(op.factor)
			if op.site >= 0 {
				visit(s.sites[op.site].args...)
			}
		}
	}
	depends := make([]dependence, len(needed))
	for id, is := range needed {
		if !is {
			continue
		}
		a := &s.algebra.atoms[id]
		depends[id] = a.dependence(depends)
		s.needed = append(s.needed, atomID(id))
		s.depends = append(s.depends, depends[id])
		s.member = s.member || a.op == atomMember
	}
}

// dependence returns what an atom depends on, given that of the atoms before it.
func (a *atom) dependence(before []dependence) (d dependence) {
	switch a.op {
	case atomParam:
		d = onParam(int(a.sym))
	case atomGuarded, atomFree:
		d = onPending
	case atomSum:
		d = onWindow
	case atomMember:
		d = onRank
	}
	for _, p := range a.args {
		for i := range p {
			for _, id := range p[i].atoms {
				d |= before[id] // 0 for no atom
			}
		}
	}
	if d == 0 {
		d = onWindow // a constant, evaluated once a window
	}
	return d
}
