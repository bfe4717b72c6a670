package cut

import (
	"fmt"
	"math"

	"reprise/trace"
)

// This file writes a part between marks that are not steps, action by action: cutter.writeActions.

// numArgs are the columns of the call sites: the meaning of an argument depends on the block. Site
// siteCounted has two more, for the vectors of counts sent and received.
const numArgs = 6

// Call sites of a part that is written action by action.
const (
	siteFlat    = iota
	siteCounted // of operations with lists of counts
)

// Bounds of a unit. They keep the memory of a unit small, and that of its reader.
const (
	unitRank     = 4096    // actions of a rank
	unitActions  = 1 << 18 // actions of all ranks
	unitElements = 1 << 20 // elements of lists of counts
)

// form is what actions of one block share; all else of an action is an argument. It is comparable, so that it can be
// the key of a map. Each form costs a block in the part. Values that are mostly the same for a program, such as
// requests and sizes of elements, are part of the form; peers, tags and sizes are arguments.
type form struct {
	kind     trace.Kind
	sym      int // as in an item; of a phase: its marker
	req      int32
	slot     uint8  // as in an item
	args     int    // of the item
	labels   int32  // of a collective operation: communicator and operator, as in Action.Tag
	sizes    int64  // of its elements, as in Action.X[3]
	requests string // of a completion: its slots
}

// itemOps are the operations whose items become actions of a kind.
var itemOps = map[trace.Kind]trace.Op{
	trace.KindCompute: trace.OpCompute, trace.KindFlops: trace.OpFlops, trace.KindSleep: trace.OpSleep,
	trace.KindPhase: trace.OpMark, trace.KindSend: trace.OpSend, trace.KindSsend: trace.OpSsend,
	trace.KindIsend: trace.OpIsend, trace.KindIssend: trace.OpIssend, trace.KindStart: trace.OpStart,
	trace.KindRecv: trace.OpRecv, trace.KindIrecv: trace.OpIrecv, trace.KindExchange: trace.OpExchange,
	trace.KindSyncExchange: trace.OpSyncExchange, trace.KindSendrecv: trace.OpSendrecv,
	trace.KindIprobe: trace.OpIprobe, trace.KindProbe: trace.OpProbe, trace.KindWait: trace.OpWait,
	trace.KindTest: trace.OpTest, trace.KindFree: trace.OpFree, trace.KindWaitAll: trace.OpWaitAll,
	trace.KindComplete: trace.OpComplete, trace.KindAccess: trace.OpAccess, trace.KindIaccess: trace.OpIaccess,
	trace.KindSync: trace.OpSync, trace.KindFile: trace.OpFile, trace.KindLaunch: trace.OpLaunch, trace.KindQueue: trace.OpQueue,
}

// writer writes the actions of all ranks, unit by unit, side by side. Each action is an item of a call
// site with one column for each argument; actions that differ in their arguments alone share a block.
// In a unit, operations with lists of counts come after all others, as they have a call site of
// their own: the unit ends for a rank where an action without a list would follow one.
type writer struct {
	// The part: where it goes, its header, and the block of each form.
	w      *trace.Writer
	h      *trace.Header  // of the part
	blocks map[form]int64 // of the part
	// The ranks, by number.
	readers []trace.ActionReader
	next    []*trace.Action  // of each rank, nil at the end of its part
	at, to  []int64          // by rank: number of the next action, and of the first behind the part
	open    map[phaseKey]int // phases that have begun in the part, and not ended
	calls   [2]trace.Call    // of the unit, by site

	// The unit at hand, with the calls above.
	handles  map[*int64]int64 // vectors of the unit, by their running sums
	last     int64            // the newest handle
	elements int              // of these vectors
	actions  int64
}

// writeActions writes the actions [from, to) of each rank.
func (c *cutter) writeActions(from, to []int64) (*Summary, error) {
	// The header is that of the whole, but for two call sites whose items are actions, and for markers without a line:
	// begin and end of each phase. Kernels, phases and families stay, as actions refer to them by number.
	h := c.header()
	h.Axes = []trace.Axis{{Name: "rank", Kind: trace.AxisRank}}
	h.CallSites, h.Markers, h.Pollables = []trace.CallSite{{Name: "calls"}, {Name: "counts"}}, nil, 0
	for i := range h.CallSites {
		h.CallSites[i].Block = trace.PerItem
		for j, name := range []string{"peer", "tag", "bytes", "source", "source tag", "received", "sent",
			"counts received"}[:numArgs+2*i] {
			h.CallSites[i].Params = append(h.CallSites[i].Params,
				trace.ParamColumn{Name: name, Axis: trace.PerItem, Vector: j >= numArgs})
		}
	}
	for i := range h.Phases {
		h.Markers = append(h.Markers, trace.Marker{Phase: i + 1}, trace.Marker{Phase: i + 1, End: true})
	}
	out, err := trace.NewWriter(c.w, h, trace.WriterOptions{})
	if err != nil {
		return nil, err
	}
	cursors, err := c.t.Cursors(nil, trace.CursorOptions{})
	if err != nil {
		return nil, err
	}
	w := &writer{w: out, h: h, blocks: map[form]int64{}, at: make([]int64, h.Ranks), to: to,
		next: make([]*trace.Action, h.Ranks), open: map[phaseKey]int{}}
	for i := range cursors {
		w.readers = append(w.readers, trace.NewActionReader(&cursors[i], trace.Hit{}, 0))
	}

	// All ranks come to the begin of the part. They are kept close to each other.
	// Each rank reads some actions in turn, so that all pass through the same chunks together.
	for done := false; !done; {
		done = true
		for rank := range from {
			for n := 0; n < turn && w.at[rank] < from[rank]; n++ {
				if err := w.advance(rank); err != nil {
					return nil, err
				}
				w.at[rank]++
			}
			done = done && w.at[rank] == from[rank]
		}
	}
	for rank := range from {
		if err := w.advance(rank); err != nil {
			return nil, err
		}
	}

	// The next unit is of the lowest step that a rank is in.
	first := -1
	for {
		// Ranks that are ahead wait until the others have come to their step.
		step := math.MaxInt
		for rank, a := range w.next {
			if a != nil {
				step = min(step, w.readers[rank].Step())
			}
		}
		if step == math.MaxInt {
			break
		}
		if first < 0 {
			first = step
		}
		c.sum.Steps = step - first + 1
		if err := w.unit(step); err != nil {
			return nil, err
		}
	}
	c.sum.Ranks, c.sum.Actions = h.Ranks, w.actions
	return &c.sum, out.Close()
}

// advance reads the next action of a rank, unless its part has ended.
func (w *writer) advance(rank int) error {
	w.next[rank] = nil
	if w.at[rank] < w.to[rank] {
		w.next[rank] = w.readers[rank].Next()
	}
	return w.readers[rank].Err()
}

// unit writes a unit of a step.
func (w *writer) unit(step int) error {
	for i := range w.calls {
		w.calls[i] = trace.Call{Site: i, Counts: make([]int64, len(w.next)), Args: make([][]int64, numArgs+2*i)}
	}
	if len(w.handles) > 0 {
		w.w.ForgetVectors(w.last + 1)
	}
	w.handles, w.elements = map[*int64]int64{}, 0
	// A step of more actions takes several units. A replay needs no other order than that of each
	// rank's own actions, so that it does not matter where the cut is.
	limit := max(1, min(unitRank, unitActions/len(w.next)))
	for rank := range w.next {
		for n, site := 0, siteFlat; n < limit && w.next[rank] != nil && w.readers[rank].Step() == step; n++ {
			a := w.next[rank]
			kind := trace.CollectiveKind(a.Sym)
			if operates(a) && (kind.SendsPerRank() || kind.RecvsPerRank()) {
				site = siteCounted
			} else if site == siteCounted {
				break // those without lists come first in a unit
			}
			if site == siteCounted && w.elements >= unitElements {
				break
			}
			// Also an action that is not written counts as one of the trace, by which the end of the part is known.
			if w.keeps(rank, a) {
				if err := w.action(rank, site); err != nil {
					return err
				}
			}
			w.at[rank]++
			if err := w.advance(rank); err != nil {
				return err
			}
		}
	}
	// A call site without items in this unit is not called.
	if err := w.w.Step(step); err != nil {
		return err
	}
	for i := range w.calls {
		if len(w.calls[i].Blocks) > 0 {
			if err := w.w.Call(&w.calls[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// keeps reports whether an action of a rank is written: of phases, those that begin in the part. A phase that has begun
// before the part has no begin in it, so that its end is left out. What is still open where the part ends stays open.
func (w *writer) keeps(rank int, a *trace.Action) bool {
	phase := phaseKey{int32(rank), a.Sym}
	switch {
	case a.Kind != trace.KindPhase:
		return a.Kind != trace.KindNone && a.Kind != trace.KindProbed
	case a.Flags&trace.FlagEnd == 0:
		w.open[phase]++
	case w.open[phase] == 0:
		return false // it has begun before the part
	default:
		w.open[phase]--
	}
	return true
}

// action adds the next action of a rank to the unit, with its block if no action before had its form.
func (w *writer) action(rank, site int) error {
	a, c := w.next[rank], w.readers[rank].Cursor()
	// Start from the form of a message: three arguments, peer, tag and bytes.
	f := form{kind: a.Kind, sym: int(a.Sym), req: a.Req, args: 3, slot: uint8(a.Memory())}
	x := a.X
	args, none := [numArgs]int64{int64(a.Peer), int64(a.Tag), x[0]}, [numArgs]int64{}
	source, sourceTag := int32(trace.ProcNull), int32(0)
	switch a.Kind {
	case trace.KindNull: // the action that it would be with a peer
		f.kind, x[1] = trace.Kind(x[1]), 0
	case trace.KindSendrecv:
		source, sourceTag = a.Source()
	}

	// For each kind other than a message: the form, and the arguments.
	switch f.kind {
	case trace.KindCompute:
		f.args, args = len(w.h.Kernels[a.Sym].Dims), none
		copy(args[:], x[:])
	case trace.KindLaunch:
		f.slot, f.args, args = uint8(a.Tag)|a.Flags, len(w.h.Kernels[a.Sym].Dims), none
		copy(args[:], x[:])
		if a.Flags&trace.FlagParts != 0 {
			args[f.args] = x[3]
			f.args++
		}
	case trace.KindQueue:
		f.slot, f.args, args = trace.QueueSlot(a.QueueVerb(), int(a.Tag)), 0, none
	case trace.KindFlops:
		f.args, args = 1, [numArgs]int64{x[0], x[1]}
		if x[1] != 0 { // a deviation
			f.args = 2
		}
	case trace.KindSleep:
		f.args, args = 1, [numArgs]int64{x[0]}
	case trace.KindWait, trace.KindTest, trace.KindFree, trace.KindWaitAll:
		f.args, args = 0, none
	case trace.KindComplete:
		f.requests = fmt.Sprint(c.Requests(x[0]))
		f.args, args = 0, none
	case trace.KindExchange, trace.KindSyncExchange:
		f.args, args[3] = 4, x[1]
	case trace.KindSendrecv:
		f.args, args[3], args[4], args[5] = 6, int64(source), int64(sourceTag), x[1]
	case trace.KindIprobe, trace.KindProbe:
		f.args = 2
	case trace.KindAccess, trace.KindIaccess:
		f.slot, f.args, args[3] = uint8(a.AccessKind()), 4, x[1]
	case trace.KindSync:
		f.slot, args[2] = uint8(a.SyncKind()), x[1]
	case trace.KindFile:
		f.slot, f.args, args = trace.FileSlot(a.FileKind()), 1, [numArgs]int64{x[0]}
	case trace.KindPhase:
		f.slot = 0
		f.sym *= 2 // markers come in pairs
		if a.Flags&trace.FlagEnd != 0 {
			f.sym++
		}
		f.args, args = 0, none
	case trace.KindCollective, trace.KindIcollective:
		f.labels, f.sizes = a.Tag, x[3]
		args = [numArgs]int64{int64(a.Peer), x[0], x[1], x[2]}
	}

	// The block of the form, which is built for the first action of it only.
	block, known := w.blocks[f]
	if !known {
		b := trace.NewBuilder(f.kind.String(), numArgs+2*site)
		// Of an operation all that the kind has is a parameter, but for what the form fixes.
		// Operands that it does not have are ignored by the Builder.
		if kind := trace.CollectiveKind(a.Sym); operates(a) {
			o := trace.CollectiveOperands{
				Root:     b.Param(0),
				Send:     b.Param(1),
				SendSize: trace.Const(f.sizes & (1<<32 - 1)),
				Recv:     b.Param(2),
				RecvSize: trace.Const(f.sizes >> 32),
				Flops:    b.Param(3),
				Span:     b.Param(3),
				Operator: a.Operator(),
				Comm:     trace.Comm(a.Comm()),
			}
			if kind.SendsPerRank() {
				o.Send = b.Param(numArgs)
			}
			if kind.RecvsPerRank() {
				o.Recv = b.Param(numArgs + 1)
			}
			if f.kind == trace.KindIcollective {
				b.Icollective(f.req, kind, o)
			} else {
				b.Collective(kind, o)
			}
		} else {
			it := trace.Item{Op: itemOps[f.kind], Sym: f.sym, Req: f.req, Slot: f.slot}
			for i := range f.args {
				it.Args = append(it.Args, b.Param(i))
			}
			if f.requests != "" {
				for _, slot := range c.Requests(x[0]) {
					it.Coefs = append(it.Coefs, int64(slot))
				}
			}
			b.Add(it)
		}
		n, err := w.w.Program().Add(b)
		if err != nil {
			return err
		}
		block = int64(n)
		w.blocks[f] = block
	}

	// The item. An operation with one list only, sent or received, names it twice.
	list := args[:]
	if site == siteCounted {
		call := a.Collective(c)
		sent, received := call.SendSums, call.RecvSums
		if sent == nil {
			sent = received
		}
		if received == nil {
			received = sent
		}
		list = append(list, w.vector(sent), w.vector(received))
	}
	call := &w.calls[site]
	call.Counts[rank]++
	w.actions += a.Lines()
	call.Blocks = append(call.Blocks, block)
	for i, v := range list {
		call.Args[i] = append(call.Args[i], v)
	}
	return nil
}

// vector returns the handle of the vector with these running sums, which the trace keeps once: their address tells them
// apart. Ranks that name the same vector of a chunk get the same slice from their cursors.
func (w *writer) vector(sums []int64) int64 {
	h, ok := w.handles[&sums[0]]
	if !ok {
		h = w.w.Vector(vectorOf(sums))
		w.handles[&sums[0]], w.last = h, h
		w.elements += len(sums)
	}
	return h
}

// vectorOf returns the vector with these running sums.
func vectorOf(sums []int64) trace.Vector {
	values := make([]int64, len(sums)-1)
	for i := range values {
		values[i] = sums[i+1] - sums[i]
	}
	return trace.Vector{Values: values}
}
