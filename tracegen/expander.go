package tracegen

import (
	"fmt"
	"math"
	"slices"

	"reprise/replay/collective"
	"reprise/trace"
)

// Expander rewrites the plain actions of one rank for a text that only has messages between ranks: collective
// operations become the messages of SMPI's default selection, completions of several requests become waits, and
// communicators become tags.
type Expander struct {
	// What is expanded, and for which rank.
	keep    func(*trace.Collective) bool
	program *trace.Program
	rank    int32
	// The selector chooses SMPI's algorithm of a call, the schedule plays it one step at a time.
	selector *collective.Selector
	schedule collective.Schedule
	open     map[int32]*operation // nonblocking operations, by request slot
	slots    int32                // of messages in use, and before them

	// Beside says that the next operation goes on beside the rank. Its messages have a tag of their own, as ranks may begin
	// such operations in different orders.
	Beside bool
	beside map[int32]int32 // by communicator: how many have
}

// operation is a nonblocking collective operation under way.
type operation struct {
	requests []int32
	flops    float64
}

// Tags of messages that stand for collective operations. The tags of a trace must be below.
const (
	firstCollectiveTag = 1 << 30
	tagsBeside         = firstCollectiveTag + 1<<20 // of operations beside ranks
	tagsOfComm         = 1 << 16                    // of each communicator, where they are told apart
)

// firstSlot is the first request slot of such messages, beyond those of traces.
const firstSlot = trace.MaxRequests

// NewExpander returns the expander of a rank. Keep tells which blocking operations on all ranks stay as they are.
func NewExpander(p *trace.Program, rank int32, keep func(*trace.Collective) bool) *Expander {
	// The name is a constant that the package knows, so an error is a fault of this program.
	selector, err := collective.NewSelector("default")
	if err != nil {
		panic(err)
	}
	return &Expander{keep: keep, program: p, rank: rank, selector: selector, open: map[int32]*operation{},
		slots: firstSlot, beside: map[int32]int32{}}
}

// Expand calls yield with what an action becomes; lists holds its vectors, c its requests.
func (x *Expander) Expand(a *trace.Action, c *trace.Cursor, yield func(*trace.Action) error) error {
	switch a.Kind {
	case trace.KindCollective, trace.KindIcollective:
		return x.collective(a, c, yield)
	case trace.KindWait, trace.KindTest:
		return x.complete(a, yield)
	case trace.KindWaitAll:
		flops := 0.0 // of the operations that it completes with all messages
		for _, o := range x.open {
			flops += o.flops
		}
		clear(x.open)
		x.slots = firstSlot
		if err := yield(a); err != nil || flops == 0 {
			return err
		}
		return yield(&trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(flops)}})
	case trace.KindComplete:
		if m := trace.Completion(a.Sym); m != trace.CompleteAll {
			return fmt.Errorf("%v is decided by a replay: it has no counterpart in text", m)
		}
		for _, slot := range c.Requests(a.X[0]) {
			if err := x.complete(&trace.Action{Kind: trace.KindWait, Req: slot}, yield); err != nil {
				return err
			}
		}
		return nil
	case trace.KindAccess, trace.KindIaccess:
		return fmt.Errorf("%v in window %d: one-sided communication has no counterpart in text", a.AccessKind(), a.Tag)
	case trace.KindSync:
		return fmt.Errorf("win_%v of window %d: one-sided communication has no counterpart in text", a.SyncKind(), a.Tag)
	case trace.KindFile:
		kind, _ := a.FileKind()
		return fmt.Errorf("%v of %d bytes: accesses to files have no counterpart in text", kind, a.X[0])
	case trace.KindNull, trace.KindProbe: // the receive behind a probe waits for the message, too
		return nil
	}

	// A message gets the tag of its communicator.
	b := *a
	if b.Kind == trace.KindStart {
		b.Kind = trace.KindIsend
	}
	// Completions name a request and no tag. Without communicators in the header all messages are of the world.
	tagged := []trace.Kind{trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindRecv, trace.KindIrecv,
		trace.KindExchange, trace.KindSyncExchange, trace.KindSendrecv, trace.KindIprobe}
	if !x.program.Header().Communicators || !slices.Contains(tagged, b.Kind) {
		return yield(&b)
	}
	// Text has one space of tags for all communicators.
	var err error
	if b.Tag, err = tagOn(&b, b.Tag); err != nil {
		return err
	}
	// Its receive has a tag of its own, which shares a word with the source (trace.Action.Source).
	if b.Kind == trace.KindSendrecv {
		source, tag := b.Source()
		if tag, err = tagOn(&b, tag); err != nil {
			return err
		}
		b.X[2] = int64(uint32(source)) | int64(tag)<<32
	}
	return yield(&b)
}

// tagOn returns what stands for a tag of the communicator of an action.
func tagOn(a *trace.Action, tag int32) (int32, error) {
	if tag == trace.AnyTag {
		return 0, fmt.Errorf("%v with any tag, which text would let match on all communicators", a.Kind)
	}
	if tag < 0 || tag >= tagsOfComm {
		return 0, fmt.Errorf("%v with tag %d: where communicators are told apart, text has tags from 0 to %d", a.Kind, tag,
			tagsOfComm-1)
	}
	return int32(a.Sym)*tagsOfComm + tag, nil
}

// collective plays a call.
func (x *Expander) collective(a *trace.Action, c *trace.Cursor, yield func(*trace.Action) error) error {
	call := a.Collective(c)
	if call.Comm == 0 && !call.Nonblocking && x.keep(&call) {
		return yield(a)
	}
	// The schedule counts in members of the communicator; its steps are turned into ranks below.
	size, member := x.program.Header().Ranks, int(x.rank)
	var group *trace.Group // nil: all ranks
	if call.Comm > 0 {
		of := x.program.Group(int(call.Comm-1), x.rank)
		group = &x.program.Header().CommFamilies[call.Comm-1].Groups[of]
		size, member = group.Len(), group.Find(x.rank)
	}
	x.schedule.Start(x.selector, &call, size, member, nil)

	// Each communicator has three tags: for blocking operations, for nonblocking barriers, which
	// receive from any rank, and for other nonblocking operations.
	tag := firstCollectiveTag + 3*call.Comm
	switch {
	case call.Nonblocking && call.Kind == trace.CollBarrier:
		tag++
	case call.Nonblocking:
		tag += 2
	case x.Beside:
		x.beside[call.Comm]++
		number := int64(x.beside[call.Comm])*int64(len(x.program.Header().CommFamilies)+1) + int64(call.Comm)
		if number > math.MaxInt32-tagsBeside {
			return fmt.Errorf("%v is number %d beside the rank: text has no tag for so many", call.Kind, x.beside[call.Comm])
		}
		tag = tagsBeside + int32(number)
	}
	o := &operation{flops: call.Flops}
	slots := map[int32]int32{} // by slot of the schedule: that of the message

	// step yields the action of one step of the schedule. Requests of the operation get slots behind those of the
	// trace, in the order in which they begin, so that no wait of the program meets them.
	step := func(s *collective.Step) error {
		switch s.Op {
		// Waits of a schedule are for its own requests only; those of the program stay open.
		case collective.WaitAll:
			pending := &operation{requests: slices.Clone(o.requests)}
			o.requests = o.requests[:0]
			clear(slots)
			return x.finish(pending, yield)
		case collective.Wait:
			slot, ok := slots[s.Slot]
			if !ok {
				return nil
			}
			delete(slots, s.Slot)
			i := slices.Index(o.requests, slot)
			o.requests = slices.Delete(o.requests, i, i+1)
			return yield(&trace.Action{Kind: trace.KindWait, Req: slot})
		}
		// A step is a send or a receive, blocking or not.
		peer := s.Peer
		switch {
		case peer == collective.AnyPeer:
			peer = trace.AnySource
		case group != nil:
			peer = group.Member(int(peer))
		}
		a := trace.Action{Kind: stepKinds[s.Op], Peer: peer, Tag: tag, X: [4]int64{s.Bytes}}
		if s.Op == collective.Isend || s.Op == collective.Irecv {
			a.Req = x.slots
			x.slots++
			slots[s.Slot] = a.Req
			o.requests = append(o.requests, a.Req)
		}
		return yield(&a)
	}
	for steps := x.schedule.Next(); len(steps) > 0; steps = x.schedule.Next() {
		for i := range steps {
			// A nonblocking operation begins all of its messages here, and ends with the wait for its request.
			if call.Nonblocking && steps[i].Op == collective.WaitAll {
				x.open[a.Req] = o
				return nil
			}
			if err := step(&steps[i]); err != nil {
				return err
			}
		}
	}
	if err := x.schedule.Err(); err != nil {
		return err
	}
	if call.Nonblocking { // of one rank
		x.open[a.Req] = o
		return nil
	}
	return x.finish(o, yield)
}

// finish yields what is left to do of an operation: its waits, and its computation.
func (x *Expander) finish(o *operation, yield func(*trace.Action) error) error {
	for _, slot := range o.requests {
		if err := yield(&trace.Action{Kind: trace.KindWait, Req: slot}); err != nil {
			return err
		}
	}
	o.requests = o.requests[:0]
	// No operation is under way, so the slots can be used again.
	if len(x.open) == 0 {
		x.slots = firstSlot
	}
	if o.flops > 0 {
		return yield(&trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(o.flops)}})
	}
	return nil
}

// complete yields a wait or a test; that of an operation tells nothing.
func (x *Expander) complete(a *trace.Action, yield func(*trace.Action) error) error {
	o := x.open[a.Req]
	switch {
	case o == nil:
		return yield(a)
	case a.Kind == trace.KindTest:
		return nil
	}
	delete(x.open, a.Req)
	return x.finish(o, yield)
}

// stepKinds are the actions of the steps of a schedule that send or receive.
var stepKinds = map[collective.Op]trace.Kind{collective.Send: trace.KindSend, collective.Recv: trace.KindRecv,
	collective.Isend: trace.KindIsend, collective.Irecv: trace.KindIrecv}
