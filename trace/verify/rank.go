package verify

import (
	"errors"
	"fmt"
	"strings"

	"reprise/trace"
)

// rankCheck follows the actions of one rank.
type rankCheck struct {
	c        *trace.Cursor
	h        *trace.Header
	program  *trace.Program
	mask     uint16 // of families by which messages are told apart
	step     int
	actions  int64
	messages int64
	channels channelTable
	wild     int64            // receives with wildcards
	calls    map[int32]*calls // of collective operations by communicator: 1 + family, or 0
	counts   uint64           // its part in the sum that is 0 if what ranks say in them agrees
	requests pending
	phases   []uint16
	windows  map[windowKey]*window
	fault    *Fault
}

// fill checks the next actions. An error that the cursor finds in an action is a
// fault; others, of reading, are returned.
func (r *rankCheck) fill(buf []trace.Action) error {
	n, err := r.c.Fill(buf)
	for i := range buf[:n] {
		if r.fault == nil {
			r.action(&buf[i])
		}
	}
	if errors.Is(err, trace.ErrAction) {
		if r.fault == nil {
			r.fail("%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("rank %d step %d: ", r.c.Rank(), r.c.Step())))
		}
		return nil
	}
	if err != nil {
		return err
	}
	if n > 0 && buf[n-1].Kind == trace.KindPoll {
		r.c.Answer(true)
	}
	return nil
}

// fail notes a fault in the action after those counted.
func (r *rankCheck) fail(format string, args ...any) {
	r.fault = &Fault{Rank: r.c.Rank(), Step: r.step, Action: r.actions + 1, Text: fmt.Sprintf(format, args...)}
}

func (r *rankCheck) action(a *trace.Action) {
	switch a.Kind {
	case trace.KindCompute:
		r.compute(a)
	case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart:
		r.start(a.Req)
		r.message(a)
	case trace.KindComplete:
		r.complete(a)
	case trace.KindNull:
		r.null(a)
	case trace.KindWait, trace.KindFree:
		r.settle(a)
	case trace.KindWaitAll:
		r.requests.clear()
	case trace.KindPhase:
		r.phase(a)
	case trace.KindStep:
		r.step = int(a.X[0])
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
	if r.fault == nil {
		r.actions += a.Lines()
	}
}

// message notes what an action sends and receives.
func (r *rankCheck) message(a *trace.Action) {
	if wildcard(a) {
		r.wild++
	}
	eachEnvelope(a, r.mask, func(key channelKey, bytes int64) {
		r.member(a, key)
		r.channels.add(key, bytes)
		if !key.receives() && !key.ofWindow() {
			r.messages++
		}
	})
}

// null notes the request of a message to or from nobody.
func (r *rankCheck) null(a *trace.Action) {
	switch trace.Kind(a.X[1]) {
	case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart:
		r.start(a.Req)
	}
}

// complete notes which requests are no longer pending, or may not be.
func (r *rankCheck) complete(a *trace.Action) {
	for _, slot := range r.c.Requests(a.X[0]) {
		q := r.requests.find(slot)
		switch {
		case q == nil || q.loose:
		case trace.Completion(a.Sym) == trace.CompleteAll:
			r.requests.remove(q)
		default:
			q.loose = true
		}
	}
}

// member checks that the other end of a message is in the communicator.
func (r *rankCheck) member(a *trace.Action, key channelKey) {
	if r.mask == 0 || len(r.h.CommFamilies) == 0 || key.ofWindow() {
		return
	}
	if family := int(key.comm); r.program.Group(family, key.peer()) != r.program.Group(family, r.c.Rank()) {
		r.fail("%v with rank %d, which is not in its communicator, of family %q", a.Kind, key.peer(), r.h.CommFamilies[family].Name)
	}
}

func (r *rankCheck) compute(a *trace.Action) {
	k := &r.h.Kernels[a.Sym]
	for i := range k.Dims {
		if enum := k.Dims[i].Enum; enum != nil && a.X[i] >= int64(len(enum)) {
			r.fail("kernel %s: %s is %d, allowed 0 to %d", k.FullName(), k.Dims[i].Name, a.X[i], len(enum)-1)
		}
	}
}

func (r *rankCheck) start(slot int32) {
	if q := r.requests.find(slot); q != nil && !q.loose {
		r.fail("request %d is used again before its wait", slot)
		return
	}
	r.requests.add(slot)
}

// settle takes away the request that an action waits for or lets go of.
func (r *rankCheck) settle(a *trace.Action) {
	q := r.requests.find(a.Req)
	if q == nil {
		r.fail("%v of request %d, which is not pending", a.Kind, a.Req)
		return
	}
	r.requests.remove(q)
}

func (r *rankCheck) phase(a *trace.Action) {
	if a.Flags&trace.FlagEnd == 0 {
		r.phases = append(r.phases, a.Sym)
		return
	}
	n := len(r.phases)
	if n == 0 || r.phases[n-1] != a.Sym {
		open := "none is"
		if n > 0 {
			open = r.h.Phases[r.phases[n-1]] + " is"
		}
		r.fail("phase %s ends, but %s the innermost open one", r.h.Phases[a.Sym], open)
		return
	}
	r.phases = r.phases[:n-1]
}
