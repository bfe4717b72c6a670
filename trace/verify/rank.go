package verify

import (
	"fmt"

	"reprise/trace"
)

// rankCheck follows the actions of one rank. It keeps only what is open: channels out of balance,
// requests without a wait, phases and windows. At its first fault the rank is read no further.
type rankCheck struct {
	c        *trace.ActionReader
	rank     int32
	h        *trace.Header
	program  *trace.Program
	mask     uint16 // of families by which messages are told apart
	messages int64
	channels channelTable
	wild     int64            // receives with wildcards
	calls    map[int32]*calls // of collective operations by communicator: 1 + family, or 0
	counts   uint64           // its part in the sum that is 0 if what ranks say in them agrees
	requests map[int32]bool   // by slot of those that are open: it may have been completed, the replay decides
	phases   []uint16
	windows  map[windowKey]*window
	fault    *Fault
}

// fail notes a fault in the action after those counted.
func (r *rankCheck) fail(format string, args ...any) {
	r.fault = &Fault{Rank: r.rank, Step: r.c.Step(), Action: r.c.Actions() + 1, Text: fmt.Sprintf(format, args...)}
}

// action notes an action of the rank and checks it against those before.
func (r *rankCheck) action(a *trace.Action) {
	switch a.Kind {
	case trace.KindCompute:
		k := &r.h.Kernels[a.Sym]
		for i := range k.Dims {
			if enum := k.Dims[i].Enum; enum != nil && a.X[i] >= int64(len(enum)) {
				r.fail("kernel %s: %s is %d, allowed 0 to %d", k.FullName(), k.Dims[i].Name, a.X[i], len(enum)-1)
			}
		}
	case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart:
		r.start(a.Req)
		r.message(a)
	case trace.KindComplete:
		// Of a completion other than of all, the replay decides which requests are no longer pending.
		for _, slot := range r.c.Cursor().Requests(a.X[0]) {
			loose, open := r.requests[slot]
			switch {
			case !open || loose:
			case trace.Completion(a.Sym) == trace.CompleteAll:
				delete(r.requests, slot)
			default:
				r.requests[slot] = true
			}
		}
	case trace.KindNull:
		switch trace.Kind(a.X[1]) { // nothing is sent, but a request is there
		case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart:
			r.start(a.Req)
		}
	case trace.KindWait, trace.KindFree:
		if _, open := r.requests[a.Req]; !open {
			r.fail("%v of request %d, which is not pending", a.Kind, a.Req)
		}
		delete(r.requests, a.Req)
	case trace.KindWaitAll:
		clear(r.requests)
	case trace.KindPhase:
		n := len(r.phases)
		switch {
		case a.Flags&trace.FlagEnd == 0:
			r.phases = append(r.phases, a.Sym)
		case n == 0:
			r.fail("phase %s ends, but none is the innermost open one", r.h.Phases[a.Sym])
		case r.phases[n-1] != a.Sym:
			r.fail("phase %s ends, but %s is the innermost open one", r.h.Phases[a.Sym], r.h.Phases[r.phases[n-1]])
		default:
			r.phases = r.phases[:n-1]
		}
	case trace.KindCollective:
		r.collective(a)
	case trace.KindIcollective:
		r.start(a.Req)
		r.collective(a)
	case trace.KindAccess:
		r.exists(a)
	case trace.KindIaccess:
		r.start(a.Req)
		r.exists(a)
	case trace.KindSync:
		r.sync(a)
	case trace.KindFile:
		if _, collective := a.FileKind(); collective {
			r.together(a)
		}
	default:
		r.message(a)
	}
}

// message notes what an action sends and receives.
func (r *rankCheck) message(a *trace.Action) {
	if wildcard(a) {
		r.wild++
	}
	eachEnvelope(a, r.mask, func(key channelKey, bytes int64) {
		// The other end is in the communicator, if the trace tells communicators apart.
		if r.mask != 0 && len(r.h.CommFamilies) > 0 && !key.ofWindow() {
			family := int(key.comm)
			if r.program.Group(family, key.peer()) != r.program.Group(family, r.rank) {
				r.fail("%v with rank %d, which is not in its communicator, of family %q", a.Kind, key.peer(),
					r.h.CommFamilies[family].Name)
			}
		}
		r.channels.add(key, bytes)
		if !key.receives() && !key.ofWindow() {
			r.messages++
		}
	})
}

// start notes that a request begins, whose slot must be free. One that may have been completed is.
func (r *rankCheck) start(slot int32) {
	if loose, open := r.requests[slot]; open && !loose {
		r.fail("request %d is used again before its wait", slot)
		return
	}
	r.requests[slot] = false
}
