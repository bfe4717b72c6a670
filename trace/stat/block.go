package stat

import (
	"fmt"
	"math"
	"slices"

	"reprise/trace"
)

// summarizer makes the summaries of a program's blocks.
type summarizer struct {
	program  *trace.Program
	counters *counters
	late     bool // polls as Late answers them, else as Hit
	done     []*summary
	terms    int // of all summaries
	items    int // of their blocks
}

// Limits of what is held, so that a small file whose blocks call each other with
// ever new arguments cannot ask for more: in terms, of 32 bytes. HPL on 77x78
// processes takes 70 thousand, 4 thousand in one block; on 256x256 with spread-roll
// 8 million, 150 for each item of its blocks and up to 25 thousand in one block.
const (
	maxBlockTerms = 1 << 18
	maxTerms      = 1 << 22 // of all blocks, and
	maxItemTerms  = 1 << 8  // more for each of their items
)

// summary returns the summary of a block.
func (z *summarizer) summary(block int) (*summary, error) {
	for n := len(z.done); n <= block; n++ {
		w := newSummaryWriter(z, z.program.Block(n))
		s, err := w.write()
		if err != nil {
			return nil, fmt.Errorf("block %d %q: %w", n, z.program.Block(n).Name, err)
		}
		z.terms += w.terms + w.g.terms
		z.items += countItems(w.block.Items)
		if limit := maxTerms + maxItemTerms*z.items; z.terms > limit {
			return nil, fmt.Errorf("blocks 0 to %d: formulas of more than %d terms cannot be counted", n, limit)
		}
		z.done = append(z.done, s)
	}
	return z.done[block], nil
}

func countItems(items []trace.Item) int {
	n := len(items)
	for i := range items {
		n += countItems(items[i].Body)
	}
	return n
}

// compiled returns the summary of a block, ready to be evaluated.
func (z *summarizer) compiled(block int) (*summary, error) {
	s, err := z.summary(block)
	if err == nil && s.code == nil {
		s.compile(z.done)
	}
	return s, err
}

// slotState says for each slot what may be pending.
type slotState [trace.MaxPollables][]pendingOp

// summaryWriter executes one block symbolically.
type summaryWriter struct {
	*summarizer
	block    *trace.Block
	g        *algebra
	regs     [math.MaxUint8 + 1]poly // by Reg
	slots    slotState
	phases   phaseStack
	out      *summary
	counts   map[countTermKey]*accumulator
	order    []countTermKey
	deferred map[string]*deferredCall
	calls    []*deferredCall
	terms    int // added so far
}

type countTermKey struct {
	phase int32
	count counter
	term  bool
}

func newSummaryWriter(z *summarizer, b *trace.Block) *summaryWriter {
	w := &summaryWriter{summarizer: z, block: b, g: newAlgebra(), counts: map[countTermKey]*accumulator{}, deferred: map[string]*deferredCall{}}
	w.out = &summary{algebra: w.g}
	for i := range b.Params {
		w.regs[i+1] = w.g.intern(atomParam, int32(i))
	}
	for i := range w.slots {
		w.slots[i] = []pendingOp{{site: entryGuarded, factor: constPoly(1)}, {site: entryFree, factor: constPoly(1)}}
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
			w.out.counts = append(w.out.counts, countTerm{phase: k.phase, count: k.count, term: k.term, value: p})
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
	return w.out, nil
}

func equalPending(a, b []pendingOp) bool {
	return slices.EqualFunc(a, b, func(x, y pendingOp) bool { return x.site == y.site && slices.Equal(x.factor, y.factor) })
}

func (w *summaryWriter) operand(o trace.Operand) poly {
	return addPoly(w.regs[o.Reg], constPoly(o.Const))
}

func (w *summaryWriter) operands(args []trace.Operand) []poly {
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
	w.terms += len(value)
}

// bounded reports an error if the block's formulas are too long.
func (w *summaryWriter) bounded() error {
	if w.terms+w.g.terms > maxBlockTerms {
		return fmt.Errorf("a formula of more than %d terms cannot be counted", maxBlockTerms)
	}
	return nil
}

// items executes items as often as weight says.
func (w *summaryWriter) items(items []trace.Item, weight poly) error {
	for i := range items {
		it := &items[i]
		var err error
		switch {
		case it.Op.Lets():
			w.regs[it.Dst] = w.let(it)
		case it.Op.Polls():
			err = w.poll(it, weight)
		case it.Op == trace.OpIf:
			err = w.cond(it, weight)
		case it.Op == trace.OpLoop:
			err = w.loop(it, weight)
		case it.Op == trace.OpCall:
			err = w.call(it.Sym, w.operands(it.Args), weight)
		case it.Op == trace.OpMark:
			w.mark(it)
		default:
			w.action(it, weight)
		}
		if err == nil {
			err = w.bounded()
		}
		if err != nil {
			return fmt.Errorf("item %d (%v): %w", i, it.Op, err)
		}
	}
	return nil
}

func (w *summaryWriter) let(it *trace.Item) poly {
	args := w.operands(it.Args)
	switch it.Op {
	case trace.OpLetAffine:
		var sum accumulator
		for i, a := range args {
			sum.add(scalePoly(it.Coefs[i], a)...)
		}
		return sum.poly()
	case trace.OpLetMul:
		return w.g.mul(args[0], args[1])
	case trace.OpLetMin:
		return w.g.of(atomMin, args...)
	case trace.OpLetMax:
		return w.g.of(atomMax, args...)
	case trace.OpLetEq:
		return w.g.of(atomEq, args...)
	case trace.OpLetMember:
		return w.g.intern(atomMember, int32(it.Sym), args...)
	}
	return w.g.of(atomSum, args...) // OpLetSum
}

func (w *summaryWriter) mark(it *trace.Item) {
	switch m := &w.program.Header().Markers[it.Sym]; {
	case m.Phase == 0:
	case m.End:
		w.phases.leave()
	default:
		w.phases.enter(int32(m.Phase - 1))
	}
}

// action counts an item that neither branches nor calls.
func (w *summaryWriter) action(it *trace.Item, weight poly) {
	switch it.Op {
	case trace.OpProbed:
	case trace.OpCompute:
		w.compute(it, weight)
	case trace.OpFlops:
		w.count(countFlops, weight)
		w.amount(countFlops, weight, w.operand(it.Args[0]))
	case trace.OpSleep:
		w.count(countSleep, weight)
		w.amount(countSleep, weight, w.operand(it.Args[0]))
	case trace.OpCollective, trace.OpIcollective:
		c := countCollective + counter(it.Sym)
		if it.Op == trace.OpIcollective {
			c = countIcollective + counter(it.Sym)
		}
		w.count(c, weight)
		if kind := trace.CollectiveKind(it.Sym); kind.Reduces() {
			w.amount(c, weight, w.operand(kind.Operands(it.Args).Flops))
		}
	case trace.OpExchange:
		w.exchange(w.operand(it.Args[2]), w.operand(it.Args[3]), weight)
	case trace.OpSyncExchange:
		w.count(countIssend, weight)
		w.count(countRecv, weight)
		w.count(countWait, weight)
		w.count(countBytes+countIssend, w.g.mul(weight, w.operand(it.Args[2])))
	case trace.OpComplete:
		w.count(countComplete+counter(it.Sym), weight)
	case trace.OpAccess, trace.OpIaccess:
		c, kind := countAccess+counter(it.Slot), trace.AccessKind(it.Slot)
		if it.Op == trace.OpIaccess {
			c += countIaccess - countAccess
		}
		out, back := w.operand(it.Args[2]), w.operand(it.Args[3])
		switch {
		case kind == trace.AccessGet:
			out = back
		case kind.Fetches(): // what it fetches, if it has no operand
			out = addPoly(out, w.g.mul(w.g.not(w.g.of(atomNonzero, out)), back))
		}
		w.moved(c, weight, out)
	case trace.OpFile:
		w.moved(countFile+counter(it.Slot), weight, w.operand(it.Args[0]))
	case trace.OpSync:
		w.count(countSync+counter(it.Slot), weight)
	case trace.OpSendrecv:
		w.sendrecv(it, weight)
	case trace.OpSend, trace.OpSsend, trace.OpIsend, trace.OpIssend, trace.OpRecv, trace.OpIrecv, trace.OpIprobe, trace.OpStart, trace.OpProbe:
		some := w.somebody(it.Args[0])
		w.count(countNull, w.g.mul(weight, w.g.not(some)))
		w.message(opCounts[it.Op], it, w.g.mul(weight, some))
	default:
		w.count(opCounts[it.Op], weight)
	}
}

// moved counts an access, and its bytes.
func (w *summaryWriter) moved(c counter, weight, bytes poly) {
	w.count(c, weight)
	w.count(countMoved+c-countAccess, w.g.mul(weight, bytes))
}

// message counts one, and its bytes if it is sent.
func (w *summaryWriter) message(c counter, it *trace.Item, weight poly) {
	w.count(c, weight)
	if int(c) < numSenders {
		w.count(countBytes+c, w.g.mul(weight, w.operand(it.Args[2])))
	}
}

// somebody is 1 if a peer is a rank, and 0 if it is null.
func (w *summaryWriter) somebody(peer trace.Operand) poly {
	if !w.program.Header().Communicators {
		return constPoly(1)
	}
	return w.g.of(atomNonzero, w.operand(peer.Plus(-trace.ProcNull)))
}

// sendrecv counts one, of which sides whose peer is null are left out.
func (w *summaryWriter) sendrecv(it *trace.Item, weight poly) {
	to, from := w.somebody(it.Args[0]), w.somebody(it.Args[3])
	sends, quiet := w.g.mul(weight, to), w.g.mul(weight, w.g.not(to))
	both := w.g.mul(sends, from)
	w.message(countSendrecv, it, both)
	w.message(countSend, it, subPoly(sends, both))
	receives := w.g.mul(quiet, from)
	w.count(countRecv, receives)
	w.count(countNull, subPoly(quiet, receives))
}

// exchange counts an exchange, of which empty sides vanish.
func (w *summaryWriter) exchange(out, in, weight poly) {
	sends, receives := w.g.mul(weight, w.g.of(atomNonzero, out)), w.g.mul(weight, w.g.of(atomNonzero, in))
	both := w.g.mul(sends, w.g.of(atomNonzero, in))
	w.count(countSend, sends)
	w.count(countIrecv, both)
	w.count(countWait, both)
	w.count(countRecv, subPoly(receives, both))
	w.count(countBytes+countSend, w.g.mul(weight, out))
}

func (w *summaryWriter) amount(c counter, times, bits poly) {
	w.amountIn(w.phases.resolve(-1), c, times, bits)
}

func (w *summaryWriter) amountIn(phase int32, c counter, times, bits poly) {
	if len(times) > 0 {
		w.out.amounts = append(w.out.amounts, amountTerm{phase: phase, count: c, times: times, bits: bits})
		w.terms += len(times) + len(bits)
	}
}

// compute counts a kernel and the terms of its flop count.
func (w *summaryWriter) compute(it *trace.Item, weight poly) {
	calls := w.counters.calls[it.Sym]
	w.count(calls, weight)
	for i, term := range w.program.Header().Kernels[it.Sym].Flops {
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
func (w *summaryWriter) cond(it *trace.Item, weight poly) error {
	holds := w.g.of(atomNonzero, w.operand(it.Args[0]))
	return w.branch(it.Body, holds, w.g.mul(weight, holds))
}

// branch executes items weight times in all, and has their effect on the slots
// if holds is 1.
func (w *summaryWriter) branch(items []trace.Item, holds, weight poly) error {
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
	return append(ops, pendingOp{site: site, factor: factor})
}

// loop executes the body of a Loop. Its turns differ only in what is pending: the
// first may find what later ones do not, and what it leaves all others leave.
func (w *summaryWriter) loop(it *trace.Item, weight poly) error {
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

func (w *summaryWriter) touchesSlots(items []trace.Item) bool {
	return slices.ContainsFunc(items, func(it trace.Item) bool {
		return it.Op.Polls() || it.Op == trace.OpCall && w.program.PollsIn(it.Sym) || w.touchesSlots(it.Body)
	})
}
