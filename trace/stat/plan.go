package stat

import (
	"math"

	"reprise/trace"
)

// This file leaves out of a block what no count depends on (runner.plan).

// plan is a block without the items that no count depends on: values that only peers and tags depend on, markers of no
// phase, calls of blocks without counts. Most items of a block compute peers and tags, so that counting is fast.
type plan struct {
	items     []trace.Item
	registers int    // with register 0
	used      []bool // by parameter: counts depend on it
	member    bool   // counts depend on which rank calls
	even      bool   // it leaves phases and slots as they are
	loose     bool   // counts depend on vectors, or are sums of amounts that are no integers
	size      int    // items, with those of blocks that it calls
}

// loopChanges in the Slot of a loop says that a turn may change phases or slots.
const loopChanges = 1

// plan makes the plans of all blocks up to a number. A block calls blocks of smaller numbers only, so that the plans of
// its callees are there when its own is made. The pointer is valid until the next block is planned.
func (r *runner) plan(block int) *plan {
	for n := len(r.plans); n <= block; n++ {
		b := r.program.Block(n)
		l := planner{runner: r, top: b.Params}
		p := plan{items: l.items(b.Items), member: l.member, used: l.read[1 : 1+b.Params], even: r.even(b.Items)}
		p.registers, p.size, p.loose = 1+l.top, l.size, l.loose
		r.plans = append(r.plans, p)
	}
	return &r.plans[block]
}

// planner goes through the items of a block from the last to the first: each register is set once, before it is read.
// It is the liveness analysis of liveItems in package trace, with counts in place of actions.
type planner struct {
	*runner
	// These describe the items that the planner has gone through. size counts them, and the items of blocks that they call.
	read   [1 << 8]bool // registers that items behind read
	top    int          // register
	size   int
	member bool
	loose  bool
}

// reads notes that the registers of operands are read.
func (l *planner) reads(args ...trace.Operand) {
	for _, a := range args {
		l.read[a.Reg] = true
	}
}

// items returns the items that count, in order.
func (l *planner) items(items []trace.Item) []trace.Item {
	kept := make([]trace.Item, len(items))
	at := len(kept)
	for i := len(items) - 1; i >= 0; i-- {
		it := items[i]
		if l.item(&it) {
			at--
			l.size++
			kept[at] = it
		}
	}
	return kept[at:]
}

// item reports whether an item counts, and notes what it reads. The item is a copy, which item may change: it
// drops what does not count from a body, and sets loopChanges.
func (l *planner) item(it *trace.Item) bool {
	h := l.program.Header()
	if it.Op.Relays() {
		l.err = errRelays
		return false
	}
	if it.Op.Lets() {
		l.top = max(l.top, int(it.Dst))
		if !l.read[it.Dst] {
			return false
		}
		l.member = l.member || it.Op == trace.OpLetMember
		l.loose = l.loose || it.Op == trace.OpLetSum
		l.reads(it.Args...)
		return true
	}
	switch it.Op {
	case trace.OpIf, trace.OpLoop:
		if it.Op == trace.OpLoop && !l.even(it.Body) {
			it.Slot = loopChanges
		}
		if it.Body = l.items(it.Body); len(it.Body) == 0 {
			return false
		}
		l.reads(it.Args[0])
	// Arguments count if the callee's counts depend on the parameter. Those of a work are the number of columns, the
	// size of a piece, and the arguments of the body after its first one, the columns.
	case trace.OpCall, trace.OpDefine, trace.OpWork:
		p, args := &l.plans[it.Sym], it.Args
		if it.Op == trace.OpCall && len(p.items) == 0 {
			return false
		}
		if it.Op == trace.OpWork {
			l.reads(args[:2]...)
			args = args[1:]
		}
		for i, a := range args {
			if p.used[i] {
				l.reads(a)
			}
		}
		l.member, l.loose = l.member || p.member, l.loose || p.loose
		l.size = min(l.size+p.size, math.MaxInt32)
		l.memberBodies = l.memberBodies || it.Op == trace.OpDefine && p.member
	case trace.OpMark:
		return h.Markers[it.Sym].Phase > 0
	case trace.OpProbed:
		return false
	case trace.OpFlops, trace.OpSleep:
		l.loose = true
		l.reads(it.Args[0])
	case trace.OpFile:
		l.reads(it.Args[0])
	case trace.OpCompute, trace.OpLaunch:
		if len(h.Kernels[it.Sym].Flops) > 0 {
			l.reads(it.Args...)
		}
	case trace.OpCollective, trace.OpIcollective:
		if kind := trace.CollectiveKind(it.Sym); kind.Reduces() {
			l.loose = true
			l.reads(kind.Operands(it.Args).Flops)
		}
	case trace.OpExchange, trace.OpSyncExchange, trace.OpAccess, trace.OpIaccess:
		l.reads(it.Args[2:]...)
	case trace.OpSend, trace.OpSsend, trace.OpIsend, trace.OpIssend, trace.OpStart, trace.OpSendrecv:
		l.reads(it.Args[2])
	}
	if h.Communicators && len(it.Args) > 0 { // a peer may be nobody
		switch it.Op {
		case trace.OpSendrecv:
			l.reads(it.Args[0], it.Args[3])
		case trace.OpSend, trace.OpSsend, trace.OpIsend, trace.OpIssend, trace.OpStart,
			trace.OpRecv, trace.OpIrecv, trace.OpIprobe, trace.OpProbe:
			l.reads(it.Args[0])
		}
	}
	return true
}

// even reports whether items leave phases and slots as they are. A phase that begins and ends among the items leaves
// things even, one that only begins or ends does not. A body that may not run must be even by itself.
func (r *runner) even(items []trace.Item) bool {
	open := 0
	for i := range items {
		it := &items[i]
		switch {
		case it.Op.Polls():
			return false
		case it.Op == trace.OpIf || it.Op == trace.OpLoop:
			if !r.even(it.Body) {
				return false
			}
		case it.Op == trace.OpCall:
			if !r.plans[it.Sym].even {
				return false
			}
		case it.Op == trace.OpMark:
			m := &r.program.Header().Markers[it.Sym]
			switch {
			case m.Phase == 0:
			case !m.End:
				open++
			case open == 0:
				return false
			default:
				open--
			}
		}
	}
	return open == 0
}
