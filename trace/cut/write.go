package cut

import (
	"fmt"
	"math"

	"reprise/trace"
)

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

// form is what actions of one block share; all else of an action is an argument. It is comparable, so
// that it can be the key of a map.
type form struct {
	kind     trace.Kind
	sym      uint16
	req      int32
	labels   int32  // communicator and operator of a collective operation; kind of access to a window or file
	sizes    int64  // of the elements of a collective operation, as in Action.X[3]
	spread   bool   // of an amount of work: it has a deviation
	end      bool   // of a phase; of an access to a file: it is collective
	requests string // of a completion: its slots
}

// messageOps are the operations that Builder.Message adds.
var messageOps = map[trace.Kind]trace.Op{
	trace.KindSend: trace.OpSend, trace.KindSsend: trace.OpSsend, trace.KindIsend: trace.OpIsend, trace.KindIssend: trace.OpIssend,
	trace.KindRecv: trace.OpRecv, trace.KindIrecv: trace.OpIrecv, trace.KindStart: trace.OpStart,
}

// writer writes the actions of all ranks, unit by unit, side by side. Each action is an item of a call
// site with one column for each argument; actions that differ in their arguments alone share a block.
// In a unit, operations with lists of counts come after all others, as they have a call site of
// their own: the unit ends for a rank where an action without a list would follow one.
type writer struct {
	w       *trace.Writer
	h       *trace.Header  // of the part
	blocks  map[form]int64 // of the part
	readers []trace.ActionReader
	next    []*trace.Action  // of each rank, nil at the end of its part
	at, to  []int64          // by rank: number of the next action, and of the first behind the part
	open    []map[uint16]int // by rank: phases that have begun in the part
	calls   [2]trace.Call    // of the unit, by site

	handles  map[*int64]int64 // vectors of the unit, by their running sums
	last     int64            // the newest handle
	elements int              // of these vectors
	actions  int64
}

// writeActions writes the actions [from, to) of each rank.
func (c *cutter) writeActions(from, to []int64) (*Summary, error) {
	// The header is that of the whole, but for two call sites whose items are actions, and for
	// markers without a line: begin and end of each phase.
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
		next: make([]*trace.Action, h.Ranks), open: make([]map[uint16]int, h.Ranks)}
	for i := range cursors {
		w.readers = append(w.readers, trace.NewActionReader(&cursors[i], trace.Hit{}, 0))
	}

	// All ranks come to the begin of the part. They are kept close to each other.
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

// keeps reports whether an action of a rank is written: of phases, those that begin in the part.
func (w *writer) keeps(rank int, a *trace.Action) bool {
	switch {
	case a.Kind == trace.KindNone || a.Kind == trace.KindProbed:
		return false
	case a.Kind != trace.KindPhase:
		return true
	case a.Flags&trace.FlagEnd != 0 && w.open[rank][a.Sym] == 0:
		return false // it has begun before the part
	case a.Flags&trace.FlagEnd != 0:
		w.open[rank][a.Sym]--
		return true
	case w.open[rank] == nil:
		w.open[rank] = map[uint16]int{}
	}
	w.open[rank][a.Sym]++
	return true
}

// action adds the next action of a rank to the unit, with its block if no action before had its form.
func (w *writer) action(rank, site int) error {
	a, c := w.next[rank], w.readers[rank].Cursor()
	f := form{kind: a.Kind, sym: a.Sym, req: a.Req}
	family, x := int(a.Sym), a.X
	args := [numArgs]int64{int64(a.Peer), int64(a.Tag), x[0]}
	source, sourceTag := int32(trace.ProcNull), int32(0)
	switch a.Kind {
	case trace.KindNull: // the action that it would be with a peer
		f.kind, x[1] = trace.Kind(x[1]), 0
	case trace.KindSendrecv:
		source, sourceTag = a.Source()
	}

	// For each kind: the form, the arguments, and how its block is built. The builder's functions are
	// called for the first action of a form only.
	var put func(b *trace.Builder)
	none := [numArgs]int64{}
	switch f.kind {
	case trace.KindCompute:
		copy(args[:], x[:])
		put = func(b *trace.Builder) {
			dims := make([]trace.Operand, len(w.h.Kernels[a.Sym].Dims))
			for i := range dims {
				dims[i] = b.Param(i)
			}
			b.Compute(int(a.Sym), dims...)
		}
	case trace.KindFlops:
		f.spread, args = x[1] != 0, [numArgs]int64{x[0], x[1]}
		put = func(b *trace.Builder) {
			if f.spread {
				b.SpreadFlops(b.Param(0), b.Param(1))
			} else {
				b.Flops(b.Param(0))
			}
		}
	case trace.KindSleep:
		args = [numArgs]int64{x[0]}
		put = func(b *trace.Builder) { b.Sleep(b.Param(0)) }
	case trace.KindWait:
		args, put = none, func(b *trace.Builder) { b.Wait(f.req) }
	case trace.KindTest:
		args, put = none, func(b *trace.Builder) { b.Test(f.req) }
	case trace.KindFree:
		args, put = none, func(b *trace.Builder) { b.Free(f.req) }
	case trace.KindWaitAll:
		args, put = none, func(b *trace.Builder) { b.WaitAll() }
	case trace.KindComplete:
		slots := c.Requests(x[0])
		f.requests, args = fmt.Sprint(slots), none
		put = func(b *trace.Builder) { b.Complete(trace.Completion(a.Sym), slots...) }
	case trace.KindExchange:
		args[3] = x[1]
		put = func(b *trace.Builder) { b.Exchange(family, b.Param(0), b.Param(1), b.Param(2), b.Param(3)) }
	case trace.KindSyncExchange:
		args[3] = x[1]
		put = func(b *trace.Builder) { b.SyncExchange(family, b.Param(0), b.Param(1), b.Param(2), b.Param(3)) }
	case trace.KindSendrecv:
		args[3], args[4], args[5] = int64(source), int64(sourceTag), x[1]
		put = func(b *trace.Builder) {
			b.Sendrecv(family, b.Param(0), b.Param(1), b.Param(2), b.Param(3), b.Param(4), b.Param(5))
		}
	case trace.KindIprobe:
		put = func(b *trace.Builder) { b.Iprobe(family, b.Param(0), b.Param(1)) }
	case trace.KindProbe:
		put = func(b *trace.Builder) { b.Probe(family, b.Param(0), b.Param(1)) }
	case trace.KindAccess, trace.KindIaccess:
		f.labels, args[3] = int32(a.AccessKind()), x[1]
		put = func(b *trace.Builder) {
			req := int32(-1)
			if f.kind == trace.KindIaccess {
				req = f.req
			}
			b.Access(a.AccessKind(), family, req, b.Param(0), b.Param(1), b.Param(2), b.Param(3))
		}
	case trace.KindSync:
		f.labels, args[2] = int32(a.SyncKind()), x[1]
		put = func(b *trace.Builder) { b.Sync(a.SyncKind(), family, b.Param(0), b.Param(1), b.Param(2)) }
	case trace.KindFile:
		f.labels, f.end, args = int32(x[1]), x[2] != 0, [numArgs]int64{x[0]}
		put = func(b *trace.Builder) { b.File(trace.FileKind(f.labels), f.end, family, b.Param(0)) }
	case trace.KindPhase:
		f.end, args = a.Flags&trace.FlagEnd != 0, none
		put = func(b *trace.Builder) {
			marker := 2 * int(a.Sym) // markers come in pairs
			if f.end {
				marker++
			}
			b.Mark(marker)
		}
	case trace.KindCollective, trace.KindIcollective:
		f.labels, f.sizes = a.Tag, x[3]
		args = [numArgs]int64{int64(a.Peer), x[0], x[1], x[2]}
		put = func(b *trace.Builder) {
			kind := trace.CollectiveKind(a.Sym)
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
		}
	default:
		put = func(b *trace.Builder) {
			b.Message(messageOps[f.kind], family, f.req, b.Param(0), b.Param(1), b.Param(2))
		}
	}

	// The block of the form.
	block, known := w.blocks[f]
	if !known {
		builder := trace.NewBuilder(f.kind.String(), numArgs+2*site)
		put(builder)
		n, err := w.w.Program().Add(builder)
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

// vector returns the handle of the vector with these running sums, which the trace keeps once: their
// address tells them apart.
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
