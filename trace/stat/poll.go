package stat

import (
	"fmt"

	"reprise/trace"
)

// poll executes an item on a pollable.
func (w *summaryWriter) poll(it *trace.Item, weight poly) error {
	slot := int32(it.Slot)
	switch it.Op {
	case trace.OpDefine:
		if !w.done[it.Sym].phases.neutral() {
			return fmt.Errorf("body block %d does not end the phases that it begins", it.Sym)
		}
		w.slots[slot] = []pendingOp{{site: w.site(site{body: it.Sym, guarded: it.Guard != nil, args: w.operands(it.Args)}), factor: constPoly(1)}}
		return nil
	case trace.OpPoll:
		return w.pollOnce(slot, weight)
	case trace.OpPollWait:
		return w.finish(slot, weight)
	}
	return w.work(it, weight)
}

// present returns 1 if op is pending: at its site, and still.
func (w *summaryWriter) present(slot int32, op pendingOp) poly {
	switch op.site {
	case entryGuarded:
		return w.g.mul(op.factor, w.g.intern(atomGuarded, slot))
	case entryFree:
		return w.g.mul(op.factor, w.g.intern(atomFree, slot))
	}
	return op.factor
}

// pending returns 1 if one of ops that is guarded, or one that is not, is pending.
func (w *summaryWriter) pending(slot int32, ops []pendingOp, guarded bool) poly {
	var sum poly
	for _, op := range ops {
		if w.guarded(op.site) == guarded {
			sum = addPoly(sum, w.present(slot, op))
		}
	}
	return sum
}

// run counts weight runs of an operation's body if it is pending.
func (w *summaryWriter) run(slot int32, op pendingOp, weight poly, phase int32) error {
	weight = w.g.mul(weight, op.factor)
	if len(weight) == 0 {
		return nil
	}
	if op.site < 0 {
		w.out.runs = append(w.out.runs, runTerm{slot: slot, phase: phase, guarded: op.site == entryGuarded, factor: weight})
		w.terms += 1 + len(weight)
		return nil
	}
	s := &w.out.sites[op.site]
	return w.inline(w.done[s.body], s.args, weight, phaseStack{open: []int32{phase}})
}

// runAll counts the runs of all operations that are pending in a slot, and of the
// polls that let the guarded ones run. Nothing is pending afterwards.
func (w *summaryWriter) runAll(slot int32, ops []pendingOp, weight poly) error {
	w.count(countIprobe, w.g.mul(weight, w.pending(slot, ops, true)))
	for _, op := range ops {
		if err := w.run(slot, op, weight, w.phases.resolve(-1)); err != nil {
			return err
		}
	}
	return nil
}

// pollOnce polls a slot where the rank has other things to do.
func (w *summaryWriter) pollOnce(slot int32, weight poly) error {
	if !w.late {
		return w.finish(slot, weight)
	}
	var free, guarded []pendingOp
	for _, op := range w.slots[slot] {
		if w.guarded(op.site) {
			guarded = append(guarded, op)
		} else {
			free = append(free, op)
		}
	}
	w.count(countMiss, w.g.mul(weight, w.pending(slot, guarded, true)))
	w.slots[slot] = guarded
	return w.runAll(slot, free, weight)
}

// finish polls a slot until nothing is pending: once.
func (w *summaryWriter) finish(slot int32, weight poly) error {
	ops := w.slots[slot]
	w.slots[slot] = nil
	return w.runAll(slot, ops, weight)
}

// work counts work-while-pending: one piece if nothing is pending; a chunk and
// the rest if the poll after the first chunk ends it; else all chunks.
func (w *summaryWriter) work(it *trace.Item, weight poly) error {
	if w.program.PollsIn(it.Sym) || !w.done[it.Sym].phases.neutral() {
		return fmt.Errorf("a body (block %d) that polls, or begins a phase without ending it, cannot be counted", it.Sym)
	}
	args := w.operands(it.Args)
	body := func(columns, times poly) error {
		return w.call(it.Sym, append([]poly{columns}, args[2:]...), w.g.mul(weight, times))
	}
	slot := int32(it.Slot)
	guarded, free := w.pending(slot, w.slots[slot], true), w.pending(slot, w.slots[slot], false)
	n, chunk := args[0], args[1]
	early := free
	if !w.late {
		early = addPoly(guarded, free)
	}
	first := w.g.of(atomMin, chunk, n)
	left := subPoly(n, first)
	idle := w.g.not(addPoly(guarded, free))
	pieces := [][2]poly{
		{n, w.g.mul(idle, w.g.of(atomPositive, n))},
		{first, early},
		{left, w.g.mul(early, w.g.of(atomPositive, left))},
	}
	if w.late {
		full, part := w.g.of(atomDiv, n, chunk), w.g.of(atomMod, n, chunk)
		last, none := w.g.of(atomNonzero, part), w.g.not(w.g.of(atomPositive, n))
		polls := addPoly(addPoly(full, last), none)
		pieces = append(pieces, [2]poly{chunk, w.g.mul(guarded, full)}, [2]poly{part, w.g.mul(guarded, last)}, [2]poly{nil, w.g.mul(guarded, none)})
		w.count(countMiss, w.g.mul(weight, w.g.mul(guarded, subPoly(polls, constPoly(1)))))
	}
	for _, p := range pieces {
		if err := body(p[0], p[1]); err != nil {
			return err
		}
	}
	return w.finish(slot, weight)
}
