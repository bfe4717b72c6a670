package stat

import (
	"encoding/binary"

	"reprise/trace"
)

// deferredCall is a call without side effects on slots and phases: its effect
// is proportional to how often it is made.
type deferredCall struct {
	block int
	phase int32
	args  []poly
	times accumulator
}

// call counts a call of a block.
func (w *summaryWriter) call(block int, args []poly, weight poly) error {
	if len(weight) == 0 {
		return nil
	}
	s := w.done[block]
	if w.program.PollsIn(block) || !s.phases.neutral() {
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
		w.terms += 1 + len(args)
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
		w.amountIn(phases.resolve(t.phase), t.count, w.g.mul(weight, sub.poly(t.times)), sub.poly(t.bits))
	}
	if err := w.bounded(); err != nil {
		return err
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
	for slot := range int32(trace.MaxPollables) {
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
				ops = addPending(ops, w.site(site{body: from.body, guarded: from.guarded, args: args}), factor)
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
	w.terms += 1 + len(s.args)
	return len(w.out.sites) - 1
}

func (w *summaryWriter) guarded(site int) bool {
	return site == entryGuarded || site >= 0 && w.out.sites[site].guarded
}
