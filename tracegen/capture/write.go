package capture

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file writes steps and loops as blocks and calls of the trace (writer.write), stage 6 of a merge. An error of the
// trace ends it where it is met (textutil.Stop).

// Call sites of the trace. Items that are called one by one have their arguments in columns; items with lists of
// counts have more columns, for vectors. Each step of the run is one block.
const (
	siteFlat        = iota // a step, or a loop
	siteCounted            // the same, with lists of counts
	siteStep               // a step of the run
	siteCountedStep        // the same, with lists of counts
	siteAlike              // of traces of many ranks: all items of each rank, as one block for ranks that are alike
	numCounted      = numArgs + mostLists
)

// Limits of a unit, the part of a trace that is read at once.
const (
	unitRank     = 4096    // items of a rank
	unitItems    = 1 << 18 // items of all ranks together
	unitElements = 1 << 20 // elements of vectors
	unitsOfChunk = 1 << 16 // units of a chunk, at most: equal steps of a run take hardly any bytes

	// Units of a chunk if steps differ and ranks have blocks of their own: who plays some steps reads their chunks. Ranks
	// that share blocks make a file that is small as a whole, and would be ten times as large in such chunks.
	unitsOfDifferent = 16
)

// callSites returns the call sites of the trace, for its header.
func callSites(ranks int) []trace.CallSite {
	// The parameters have the names that listings of the trace show.
	flat, counted := trace.CallSite{Name: "calls", Block: trace.PerItem}, trace.CallSite{Name: "counts",
		Block: trace.PerItem}
	for _, name := range []string{"peer", "tag", "bytes", "received", "source", "source tag"} {
		flat.Params = append(flat.Params, trace.ParamColumn{Name: name, Axis: trace.PerItem})
	}
	step := trace.CallSite{Name: "step", Counts: trace.NoAxis} // of the only axis, that of ranks
	countedStep := trace.CallSite{Name: "step with counts", Counts: trace.NoAxis}
	counted.Params = append(counted.Params, flat.Params...)
	for i := range mostLists {
		name := fmt.Sprint("counts ", i)
		counted.Params = append(counted.Params, trace.ParamColumn{Name: name, Axis: trace.PerItem, Vector: true})
		countedStep.Params = append(countedStep.Params, trace.ParamColumn{Name: name, Vector: true})
	}
	sites := []trace.CallSite{flat, counted, step, countedStep}
	if ranks >= leastAlike {
		sites = append(sites, trace.CallSite{Name: "ranks", Counts: trace.NoAxis,
			Params: []trace.ParamColumn{{Name: "place"}, {Name: "columns", Vector: true}}})
	}
	return sites
}

// writer writes the actions of the ranks, unit by unit, all ranks side by side. It makes the blocks of the trace: one
// for each form of steps, with their arguments as its own, and one for each loop, whose steps are constant and whose
// arguments are the turns and the lists of counts.
type writer struct {
	w       *trace.Writer
	table   *table
	loops   *loops
	sharing *sharing
	forms   map[form]int64  // blocks of steps
	bodies  map[int32]int64 // blocks of loops

	// For alike.
	way        int              // to make groups
	several    bool             // other ways make other groups
	keys, uses map[key]int32    // numbers
	columns    []int64          // the vector
	offsets    map[string]int64 // of columns in it, by their names
	waiting    []waiting        // for the vector

	each  [][]float64 // by rank: the true computations to come; nil: their means are written
	ranks []source    // of the part that is written
	step  int
	limit int // of items of a rank in a unit

	// Of the unit.
	calls    [siteStep]trace.Call
	handles  map[int32]int64 // vectors, by list
	last     int64           // the handle that was made last
	elements int             // of the vectors
}

// write writes the whole trace. Its first step is what comes before the steps of the run, its last one what comes
// behind them.
func (w *writer) write(ranks []outline, steps int) {
	// If each computation has a time of its own, no two parts are alike, and none is shared.
	if w.each == nil && w.way == apart {
		for rank := range ranks {
			for _, items := range append([][]item{ranks[rank].before, ranks[rank].step, ranks[rank].after}, ranks[rank].marked...) {
				w.sharing.count(items)
			}
		}
	}
	w.part(ranks, func(o *outline) []item { return o.before })
	if steps == 0 {
		return
	}
	if len(ranks[0].marked) > 0 {
		w.marked(ranks, steps)
	} else {
		w.repeated(ranks, steps)
	}
	w.step++
	w.part(ranks, func(o *outline) []item { return o.after })
}

// repeated writes steps that do not differ.
func (w *writer) repeated(ranks []outline, steps int) {
	// The steps of the run are the same call, unless each computation is written, or the call has lists that are too
	// long for one.
	seen, elements := map[int32]bool{}, 0
	for rank := range ranks {
		for _, list := range w.loops.listsOf(ranks[rank].step) {
			if !seen[list] {
				seen[list] = true
				elements += len(w.table.lists[list])
			}
		}
	}
	if w.each != nil || elements > unitElements {
		for range steps {
			w.step++
			w.part(ranks, func(o *outline) []item { return o.step })
		}
		return
	}
	w.begin()
	call := w.blocks(ranks, func(o *outline) []item { return o.step })
	for range steps {
		w.step++
		w.call(call)
	}
}

// marked writes steps that differ. Those that all ranks do alike several times are calls of the same blocks, unless they
// are too large for a block, or have lists of counts.
func (w *writer) marked(ranks []outline, steps int) {
	hashes, times, known := make([]uint64, steps), map[uint64]int{}, map[uint64]*trace.Call{}
	for n := range hashes {
		for rank := range ranks {
			items := ranks[rank].marked[n]
			hashes[n] = hashes[n]*multiplier + hashOf(items) + uint64(len(items))
		}
		times[hashes[n]]++
	}
	for n, hash := range hashes {
		w.step++
		call, block, of := known[hash], w.each == nil && times[hash] > 1, func(o *outline) []item { return o.marked[n] }
		for rank := 0; call == nil && block && rank < len(ranks); rank++ {
			items := of(&ranks[rank])
			block = w.loops.bytes(items) <= mostBytes && len(w.loops.listsOf(items)) == 0
		}
		if !block {
			w.part(ranks, of)
			continue
		}
		if call == nil {
			call = w.blocks(ranks, of)
			known[hash] = call
		}
		w.call(call)
	}
}

// call writes a call as all of a step, those of ranks later.
func (w *writer) call(c *trace.Call) {
	w.waiting = append(w.waiting, waiting{w.step, c})
	if c.Site != siteAlike {
		w.flush()
	}
}

// block adds a block to the trace and returns its number.
func (w *writer) block(b *trace.Builder) int64 { return int64(textutil.Must(w.w.Program().Add(b))) }

// blocks returns a part of the outlines as a call of blocks: one for each group of ranks that do the same, or one for
// each rank.
func (w *writer) blocks(ranks []outline, of func(*outline) []item) *trace.Call {
	if call := w.alike(ranks, of); call != nil {
		return call
	}
	call := &trace.Call{Site: siteStep}
	lists := make([][]int32, len(ranks))
	some := int32(0)
	for rank := range ranks {
		items := of(&ranks[rank])
		lists[rank] = w.loops.listsOf(items)
		// Only the lists of counts are arguments.
		builder := trace.NewBuilder("step", len(lists[rank]))
		w.items(builder, items, lists[rank], 0)
		call.Blocks = append(call.Blocks, w.block(builder))
		if len(lists[rank]) > 0 {
			some = lists[rank][0]
		}
	}
	// Every rank has the same number of list arguments. Those that its block does not use may be any vector.
	if some > 0 {
		call.Site, call.Args = siteCountedStep, make([][]int64, mostLists)
	}
	for i := range call.Args {
		for rank := range ranks {
			list := some // of a rank that has fewer, which does not use it
			if i < len(lists[rank]) {
				list = lists[rank][i]
			}
			call.Args[i] = append(call.Args[i], w.handle(list))
		}
	}
	return call
}

// part writes a part of the outlines as one step of the trace, in as many units as it takes.
func (w *writer) part(ranks []outline, of func(*outline) []item) {
	if call := w.alike(ranks, of); call != nil {
		w.call(call)
		return
	}
	w.flush()
	for rank := range ranks {
		// With each computation written, no two turns of a loop are alike, so the loops are unrolled.
		items := of(&ranks[rank])
		if w.each != nil {
			w.ranks[rank] = source{walker: w.loops.walk(items, 1)}
		} else {
			w.ranks[rank] = source{items: w.sharing.share(items)}
		}
		w.ranks[rank].advance()
	}
	for {
		w.begin()
		all := 0
		for rank := range w.ranks { // some items without lists of counts, then some with
			s, n := &w.ranks[rank], 0
			for ; s.ok && n < w.limit && len(w.lists(s.next)) == 0; n++ {
				w.item(siteFlat, rank, s.next)
				s.advance()
			}
			for ; s.ok && len(w.lists(s.next)) > 0 && w.elements < unitElements; n++ {
				w.item(siteCounted, rank, s.next)
				s.advance()
			}
			all += n
		}
		if all == 0 {
			return
		}
		textutil.Check(w.w.Step(w.step))
		for i := range w.calls {
			if len(w.calls[i].Blocks) > 0 {
				textutil.Check(w.w.Call(&w.calls[i]))
			}
		}
	}
}

// begin begins a unit, in which no vectors are known.
func (w *writer) begin() {
	for i := range w.calls {
		w.calls[i] = trace.Call{Site: i, Counts: make([]int64, len(w.ranks)), Args: make([][]int64, numArgs+mostLists*i)}
	}
	// The writer lets go of vectors of units before, which no later call names.
	if len(w.handles) > 0 {
		w.w.ForgetVectors(w.last + 1)
	}
	w.handles, w.elements = map[int32]int64{}, 0
}

// source has what is left of a part of a rank: its items or, if each computation is written, their single steps.
type source struct {
	items  []item
	walker *walker // nil: items
	next   item
	ok     bool
}

// advance takes the next item.
func (s *source) advance() {
	switch {
	case s.walker != nil:
		s.next.what, s.ok = s.walker.next()
	case len(s.items) > 0:
		s.next, s.items, s.ok = s.items[0], s.items[1:], true
	default:
		s.ok = false
	}
}

// lists returns the lists of counts of an item: of a loop, each once; of an operation, the one that it sends and the
// one that it receives, which may be the same.
func (w *writer) lists(it item) []int32 {
	if it.turns > 0 {
		return w.loops.bodies[it.what].lists
	}
	lists := w.table.steps[it.what].lists
	if lists == [2]int32{} {
		return nil
	}
	return []int32{cmp.Or(lists[0], lists[1]), cmp.Or(lists[1], lists[0])}
}

// item adds an item of a rank to the call of a site.
func (w *writer) item(site, rank int, it item) {
	var args [numCounted]int64
	var block int64
	if it.turns > 0 {
		block = w.loop(it.what)
		args[0] = int64(it.turns)
	} else {
		s := w.table.steps[it.what]
		if w.each != nil && s.kind == trace.KindFlops { // as it was
			s = step{form: form{kind: trace.KindFlops}}
			s.args[argPeer] = trace.FloatArg(w.each[rank][0])
			w.each[rank] = w.each[rank][1:]
		}
		block = w.form(s.form)
		copy(args[:], s.args[:])
	}
	// The vectors go to the columns behind those of plain arguments.
	if lists := w.lists(it); site == siteCounted {
		for i := range mostLists { // the last one fills the columns that are left
			args[numArgs+i] = w.handle(lists[min(i, len(lists)-1)])
		}
	}
	c := &w.calls[site]
	c.Counts[rank]++
	c.Blocks = append(c.Blocks, block)
	for i := range c.Args {
		c.Args[i] = append(c.Args[i], args[i])
	}
}

// handle returns the vector of a list in the unit, which it adds at the first call.
func (w *writer) handle(list int32) int64 {
	h, ok := w.handles[list]
	if !ok {
		values := w.table.lists[list]
		h = w.w.Vector(trace.Vector{Values: values})
		w.handles[list], w.last = h, h
		w.elements += len(values)
	}
	return h
}

// form returns the block of steps of a form.
func (w *writer) form(f form) int64 {
	if n, ok := w.forms[f]; ok {
		return n
	}
	// Blocks are named as their actions; the name has no meaning.
	name := f.kind.String()
	switch f.kind {
	case trace.KindCollective:
		name = f.collective.String()
	case trace.KindIcollective:
		name = "i" + f.collective.String()
	case trace.KindAccess:
		name = f.access.String()
	case trace.KindIaccess:
		name = "r" + f.access.String()
	case trace.KindSync:
		name = f.sync.String()
	case trace.KindFile:
		name = f.file.String()
	}
	// The block of an operation with lists has two more parameters, one for each direction.
	counted := (f.kind == trace.KindCollective || f.kind == trace.KindIcollective) &&
		(f.collective.SendsPerRank() || f.collective.RecvsPerRank())
	params := numArgs
	if counted {
		params = numArgs + 2
	}
	builder := trace.NewBuilder(name, params)
	var lists [2]trace.Operand
	if counted {
		lists = [2]trace.Operand{builder.Param(numArgs), builder.Param(numArgs + 1)}
	}
	f.put(builder, w.table, builder.Param, lists)
	w.forms[f] = w.block(builder)
	return w.forms[f]
}

// put adds a step to a block, with its arguments as operands, and those of its lists.
func (f *form) put(b *trace.Builder, t *table, arg func(int) trace.Operand, lists [2]trace.Operand) {
	// The form becomes constants of the block; what varies from step to step comes by arg.
	family := int(f.family)
	switch f.kind {
	case trace.KindFlops:
		if f.spread {
			b.SpreadFlops(arg(argPeer), arg(argSpread))
		} else {
			b.Flops(arg(argPeer))
		}
	case trace.KindCompute:
		var dims []trace.Operand
		for i := range f.dims {
			dims = append(dims, arg(int(i)))
		}
		b.Compute(int(f.marker), dims...)
	case trace.KindSendrecv:
		b.Sendrecv(family, arg(argPeer), arg(argTag), arg(argBytes), arg(argSource), arg(argSent), arg(argReceived))
	case trace.KindWait:
		b.Wait(f.request)
	case trace.KindTest:
		b.Test(f.request)
	case trace.KindFree:
		b.Free(f.request)
	case trace.KindWaitAll:
		b.WaitAll()
	case trace.KindIprobe:
		b.Iprobe(family, arg(argPeer), arg(argTag))
	case trace.KindProbe:
		b.Probe(family, arg(argPeer), arg(argTag))
	case trace.KindComplete:
		var slots []int32
		for _, slot := range t.lists[f.slots] {
			slots = append(slots, int32(slot))
		}
		b.Complete(f.completion, slots...)
	case trace.KindMark:
		b.Mark(int(f.marker))
	case trace.KindAccess:
		b.Access(f.access, family, -1, arg(argPeer), arg(argTag), arg(argBytes), arg(argReceived))
	case trace.KindIaccess:
		b.Access(f.access, family, f.request, arg(argPeer), arg(argTag), arg(argBytes), arg(argReceived))
	case trace.KindSync:
		b.Sync(f.sync, family, arg(argPeer), arg(argTag), arg(argBytes))
	case trace.KindFile:
		b.File(f.file, f.together, family, arg(argBytes))
	case trace.KindCollective, trace.KindIcollective:
		c := trace.CollectiveOperands{Root: arg(argPeer), Flops: trace.Const(0), Span: arg(argTag), Operator: f.operator,
			Send: arg(argBytes), SendSize: trace.Const(f.sendSize), Recv: arg(argReceived), RecvSize: trace.Const(f.recvSize)}
		if f.collective.SendsPerRank() {
			c.Send = lists[0]
		}
		if f.collective.RecvsPerRank() {
			c.Recv = lists[1]
		}
		if f.family != world {
			c.Comm = trace.Communicator(family)
		}
		if f.kind == trace.KindIcollective {
			b.Icollective(f.request, f.collective, c)
		} else {
			b.Collective(f.collective, c)
		}
	default:
		b.Message(f.kind.Op(), family, f.request, arg(argPeer), arg(argTag), arg(argBytes))
	}
}

// loop returns the block of a loop.
func (w *writer) loop(number int32) int64 {
	if n, ok := w.bodies[number]; ok {
		return n
	}
	// A loop has its turns as parameter 0. Its body is constant, but for its lists of counts.
	lists := w.loops.bodies[number].lists
	builder := trace.NewBuilder("loop", numArgs+len(lists))
	builder.Loop(builder.Param(0), func() { w.items(builder, w.loops.bodies[number].items, lists, numArgs) })
	w.bodies[number] = w.block(builder)
	return w.bodies[number]
}

// items adds steps and loops to a block, whose parameters from one on are the lists of counts.
func (w *writer) items(builder *trace.Builder, items []item, lists []int32, from int) {
	// The position of a list among the block's lists is that of its parameter.
	param := func(list int32) trace.Operand { return builder.Param(from + slices.Index(lists, list)) }
	for _, it := range w.sharing.share(items) {
		if it.turns > 0 {
			args := make([]trace.Operand, numArgs, numArgs+mostLists)
			args[0] = trace.Const(int64(it.turns))
			for _, list := range w.loops.bodies[it.what].lists {
				args = append(args, param(list))
			}
			builder.Call(int(w.loop(it.what)), args...)
			continue
		}
		s := &w.table.steps[it.what]
		var counts [2]trace.Operand
		for i, list := range s.lists {
			if list > 0 {
				counts[i] = param(list)
			}
		}
		s.put(builder, w.table, func(i int) trace.Operand { return trace.Const(s.args[i]) }, counts)
	}
}
