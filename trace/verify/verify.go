// Package verify checks what a trace means: that what is sent is received, in order and size; that waits have requests
// and phases nest; that ranks agree in their collective operations; and that the file holds what its index says.
//
// [Trace] expands all ranks side by side, a chunk of the file at a time. What is wrong in the
// meaning is a [Fault], which names the rank, the step and the action.
//
//	verified, err := verify.Trace(t, nil)
//	var fault *verify.Fault
//	if errors.As(err, &fault) {
//		fmt.Println(fault.Rank, fault.Step, fault.Action)
//	}
//
// # Units
//
// Sizes are in bytes; ranks and steps are counted from 0, actions from 1.
//
// # Errors
//
// A [Fault], or what is wrong with the file, which wraps errors of package trace.
//
// # Source
//
// The rules are MPI's: messages between two ranks with one tag do not overtake each other, and
// all ranks call the same collective operations in the same order.
package verify

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// Verified is what Trace has checked.
type Verified struct {
	Chunks   int
	Blocks   int
	Ranks    int
	Actions  int64 // flat actions of all ranks, polls answered as Hit does
	Messages int64
}

// String sums it up for people.
func (v *Verified) String() string {
	return fmt.Sprintf("%s, %s, %s, %s, %s sent and received",
		textutil.Counted(int64(v.Chunks), "chunk"),
		textutil.Counted(int64(v.Blocks), "block"),
		textutil.Counted(int64(v.Ranks), "rank"),
		textutil.Counted(v.Actions, "action"),
		textutil.Counted(v.Messages, "message"))
}

// Fault is what is wrong with the meaning of a trace, and where: action counts from 1 the lines that a listing of the
// rank has for its actions (not for markers). Action 0: at the end of the rank's stream.
type Fault struct {
	Rank   int32
	Step   int
	Action int64
	Text   string
}

// Error names the place and what is wrong there.
func (f *Fault) Error() string {
	if f.Action == 0 {
		return fmt.Sprintf("rank %d at its end: %s", f.Rank, f.Text)
	}
	return fmt.Sprintf("rank %d step %d action %d: %s", f.Rank, f.Step, f.Action, f.Text)
}

// before orders faults by step, then rank. The first fault is the one that is reported, so that the same trace
// gives the same error in each run.
func (f *Fault) before(g *Fault) bool {
	return g == nil || cmp.Or(cmp.Compare(f.Step, g.Step), cmp.Compare(f.Rank, g.Rank), cmp.Compare(f.Action, g.Action)) < 0
}

// Trace reads the whole trace and checks it:
//
//   - the checksum and the hash of each record, the totals, and that all that is referred to exists;
//   - each action is possible, each wait has its request, and phases nest;
//   - for each source, destination and tag the sizes received are the sizes sent, in order, on each communicator if the
//     trace tells them apart; receives from any source or with any tag are as many as the messages that others leave;
//   - all ranks of a communicator call the same collective operations on it, with counts that agree;
//   - windows exist where they are used, what begins in a window ends, and posts meet starts.
//
// A receive of unknown size takes any size. The sizes of its source, destination and tag are not compared until
// both ends have come to the same number of messages again.
//
// The first fault, a *Fault, is that of the lowest step and rank. If messages do not balance, it is looked for in
// a second pass, among at most 64 triples of source, destination and tag, and so only in a file: for a stream the
// error names the triple. Memory grows with the number of triples that are out of balance at the end of a chunk,
// not with the number of messages.
//
// Unless progress is nil, it is called after each rank of a chunk, with the number of steps that all ranks
// together have done.
func Trace(t *trace.Trace, progress func(steps int)) (_ *Verified, err error) {
	defer textutil.Stopped(&err)
	h := t.Header()
	v := &verifier{t: t, ranks: make([]rankCheck, h.Ranks)}
	for i := range v.ranks {
		v.ranks[i] = rankCheck{rank: int32(i), h: h, program: t.Program(), mask: commMask(h), calls: map[int32]*calls{},
			requests: map[int32]bool{}}
	}

	// All ranks go through the trace, a chunk at a time. The first fault of a chunk is known at its end:
	// a later rank may have one in an earlier step.
	var first *Fault
	var sums trace.Totals // that the index must state
	steps := 0            // of the chunks before
	textutil.Check(t.Walk(trace.Walk{
		See: func(c *trace.ActionReader, a *trace.Action) (more bool, err error) {
			r := &v.ranks[c.Cursor().Rank()]
			r.c = c
			r.action(a)
			return r.fault == nil, nil
		},
		End: func(c *trace.ActionReader) error {
			r, err := &v.ranks[c.Cursor().Rank()], c.Err()
			r.c = c
			// The cursor has found an action that is impossible by itself. Its text has the place
			// in front, which the fault states in another way.
			if r.fault == nil && errors.Is(err, trace.ErrAction) { // found by the cursor
				r.fail("%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("rank %d step %d: ", r.rank, c.Cursor().Step())))
			}
			if r.fault == nil {
				return err
			}
			if r.fault.before(first) {
				first = r.fault
			}
			return nil
		},
		Passed: func(chunk *trace.Chunk, ranks int) error {
			units := chunk.Units()
			end := max(steps, units[len(units)-1].Step+1)
			if progress != nil {
				progress(steps*h.Ranks + (end-steps)*ranks)
			}
			if ranks < h.Ranks {
				return nil
			}
			if steps = end; first != nil {
				return first
			}
			// All ranks have passed the chunk: it is added to the totals, and its calls are never seen again.
			sums.Chunks++
			sums.Units += int64(len(units))
			for _, unit := range units {
				sums.Calls += int64(len(unit.Calls))
				for i := range unit.Calls {
					if s := unit.Calls[i].Starts; len(s) > 0 {
						sums.Items += int64(s[len(s)-1])
					}
				}
			}
			v.settle()
			return nil
		},
	}))
	if first != nil {
		return nil, first
	}
	// The reader of a stream has compared totals on the way; that of a file has believed the index so far.
	if totals, ok := t.Totals(); !ok || totals != sums {
		return nil, fmt.Errorf("%s: %w: totals %+v, the chunks hold %+v", t.Name(), trace.ErrCorrupt, totals, sums)
	}

	// What must hold at the end: windows are left, pollables polled, messages and operations agree.
	var worst *Fault
	end := func(rank int, format string, args ...any) {
		if worst == nil {
			worst = &Fault{Rank: int32(rank), Step: math.MaxInt, Text: fmt.Sprintf(format, args...)}
		}
	}
	for i := range v.ranks {
		r := &v.ranks[i]
		v.Actions += r.c.Actions()
		v.Messages += r.messages
		for _, key := range slices.SortedFunc(maps.Keys(r.windows), func(a, b windowKey) int {
			return cmp.Or(cmp.Compare(a.family, b.family), cmp.Compare(a.number, b.number))
		}) {
			if left := r.windows[key].left(); left != "" {
				end(i, "in window %d %s", key.number, left)
			}
		}
		if r.before != trace.KindNone {
			end(i, "nothing follows the last %v", r.before)
		} else if r.joined < r.beside {
			end(i, "actions beside the rank are not waited for")
		}
		for slot := range h.Pollables {
			if r.c.Cursor().Pending(slot) {
				end(i, "the operation in slot %d is never polled", slot)
			}
		}
	}
	for _, f := range []*Fault{v.unbalanced(), v.disagreeing()} {
		if f != nil && f.before(worst) {
			worst = f
		}
	}
	if worst != nil {
		return nil, worst
	}
	v.Chunks, v.Blocks, v.Ranks = sums.Chunks, t.Program().NumBlocks(), h.Ranks
	return &v.Verified, nil
}

// verifier holds what is known of all ranks.
type verifier struct {
	Verified
	t     *trace.Trace
	ranks []rankCheck
}

// settle forgets the channels whose two ends agree so far, so that memory only grows with what is open. A
// receiver that does not know sizes agrees with any.
func (v *verifier) settle() {
	for i := range v.ranks {
		out := &v.ranks[i].channels
		for j := range out.entries {
			e := &out.entries[j]
			if e.messages == 0 || e.key.receives() {
				continue
			}
			in := v.ranks[e.key.peer()].channels.find(channelKeyOf(int32(i), e.key.tag(), e.key.comm, true))
			if in != nil && in.messages == e.messages && (in.unknown || in.sizes == e.sizes) {
				e.messages, in.messages = 0, 0
			}
		}
	}
	for i := range v.ranks {
		t, live := &v.ranks[i].channels, 0
		for j := range t.entries {
			if t.entries[j].messages > 0 {
				live++
			}
		}
		if live < t.used {
			t.rebuild(len(t.entries))
		}
	}
}

// rankCheck follows the actions of one rank. It keeps only what is open: channels out of balance,
// requests without a wait, phases and windows. At its first fault the rank is read no further.
type rankCheck struct {
	// What it reads.
	c       *trace.ActionReader
	rank    int32
	h       *trace.Header
	program *trace.Program
	mask    uint16 // of families by which messages are told apart
	// Messages: the number sent, and what is out of balance at the ends of channels.
	messages int64
	channels channelTable
	wild     int64            // receives with wildcards
	calls    map[int32]*calls // of collective operations by communicator: 1 + family, or 0
	counts   uint64           // its part in the sum that is 0 if what ranks say in them agrees
	requests map[int32]bool   // by slot of those that are open: it may have been completed, the replay decides
	beside   int64            // actions beside the rank
	joined   int64            // of these, those that it has waited for
	before   trace.Kind       // of the action before, if it concerns the next one: KindAfter, KindBeside
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
	before := r.before
	r.before = trace.KindNone
	switch {
	case before == trace.KindBeside && !a.Kind.GoesBeside():
		r.fail("%v beside the rank, where only messages, collective operations and computations go", a.Kind)
		return
	case before == trace.KindBeside && a.Kind == trace.KindRecv && a.X[0] < 0:
		r.fail("a receive of unknown size beside the rank")
		return
	case before == trace.KindBeside && a.Kind == trace.KindCollective:
		a.Flags |= flagBeside
	case before == trace.KindAfter && a.Kind != trace.KindAfter && a.Kind != trace.KindBeside:
		r.fail("%v behind an after, where only another one or a beside may be", a.Kind)
		return
	}
	switch a.Kind {
	case trace.KindAfter:
		if r.before = a.Kind; a.X[0] > r.beside {
			r.fail("after the action %d before, of the %d that have gone beside the rank", a.X[0], r.beside)
		}
	case trace.KindBeside:
		r.before = a.Kind
		r.beside++
	// A dimension that has names is an index into them.
	case trace.KindCompute, trace.KindLaunch:
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
	case trace.KindAsk: // which is a hit: all of them are complete, or the first
		for _, slot := range a.X {
			delete(r.requests, int32(slot))
			if trace.Completion(a.Sym) == trace.CompleteAny {
				break
			}
		}
	case trace.KindRound:
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
		r.joined = r.beside
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
	case trace.KindCollective, trace.KindFile:
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
	default:
		r.message(a)
	}
}

// message notes what an action sends and receives.
func (r *rankCheck) message(a *trace.Action) {
	// What a wildcard receives is known only in a replay. These are counted, and compared with what
	// the other receives of the rank leave over.
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

// start notes that a request begins. Its slot must be free, which it also is if the request before may have been
// completed.
func (r *rankCheck) start(slot int32) {
	if loose, open := r.requests[slot]; open && !loose {
		r.fail("request %d is used again before its wait", slot)
		return
	}
	r.requests[slot] = false
}
