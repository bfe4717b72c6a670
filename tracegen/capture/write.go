package capture

import (
	"fmt"
	"iter"
	"slices"

	"reprise/trace"
)

// Call sites of the trace: steps and loops, those with lists of counts, and a step of the run,
// without such lists and with them.
const (
	siteFlat = iota
	siteCounted
	siteStep
	siteCountedStep
	numCounted = numArgs + mostLists
)

// A unit holds so many items of a rank, and of all ranks together; vectors of so many elements.
const (
	unitRank     = 4096
	unitItems    = 1 << 18
	unitElements = 1 << 20
	unitsOfChunk = 1 << 16 // at most: steps of a run take hardly any bytes
)

func callSites() []trace.CallSite {
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
	return []trace.CallSite{flat, counted, step, countedStep}
}

// writer writes what the ranks do, unit by unit, all ranks side by side.
type writer struct {
	w      *trace.Writer
	blocks *blocks
	table  *table
	each   [][]float64 // by rank: what the computations to come were; nil: their means
	ranks  []source    // of the part that is written
	step   int
	calls  [siteStep]trace.Call
	limit  int

	handles  map[int32]int64 // vectors of the unit, by list
	last     int64
	elements int
}

func newWriter(w *trace.Writer, t *table, l *loops, ranks int, each [][]float64) *writer {
	return &writer{w: w, table: t, each: each, ranks: make([]source, ranks), limit: max(1, min(unitRank, unitItems/ranks)),
		blocks: &blocks{program: w.Program(), table: t, loops: l, sharing: newSharing(l), forms: map[form]int64{},
			ofLoops: map[int32]int64{}}}
}

// write writes all: what comes before the steps of the run as its first step, and what comes
// behind them as its last one.
func (w *writer) write(ranks []outline, steps int) error {
	if w.each == nil {
		for rank := range ranks {
			for _, items := range [][]item{ranks[rank].before, ranks[rank].step, ranks[rank].after} {
				w.blocks.sharing.count(items)
			}
		}
	}
	if err := w.part(ranks, func(o *outline) []item { return o.before }); err != nil || steps == 0 {
		return err
	}
	if err := w.steps(ranks, steps); err != nil {
		return err
	}
	w.step++
	return w.part(ranks, func(o *outline) []item { return o.after })
}

// steps writes the steps of the run: each the same call, unless computations are what they were, or
// the call has lists that are too long for one.
func (w *writer) steps(ranks []outline, steps int) error {
	if w.each != nil || w.listed(ranks) > unitElements {
		for range steps {
			w.step++
			if err := w.part(ranks, func(o *outline) []item { return o.step }); err != nil {
				return err
			}
		}
		return nil
	}
	call, err := w.stepOf(ranks)
	if err != nil {
		return err
	}
	for range steps {
		w.step++
		if err := w.w.Step(w.step); err != nil {
			return err
		}
		if err := w.w.Call(call); err != nil {
			return err
		}
	}
	return nil
}

// listed returns how many elements the lists of a step of the run have.
func (w *writer) listed(ranks []outline) (elements int) {
	seen := map[int32]bool{}
	for rank := range ranks {
		for _, list := range w.blocks.loops.listsOf(ranks[rank].step) {
			if !seen[list] {
				seen[list] = true
				elements += len(w.table.lists[list])
			}
		}
	}
	return elements
}

// stepOf returns the call of a step of the run.
func (w *writer) stepOf(ranks []outline) (*trace.Call, error) {
	w.begin()
	call := &trace.Call{Site: siteStep}
	lists := make([][]int32, len(ranks))
	some := int32(0)
	for rank := range ranks {
		block, err := w.blocks.ofStep(ranks[rank].step)
		if err != nil {
			return nil, err
		}
		call.Blocks = append(call.Blocks, block)
		if lists[rank] = w.blocks.loops.listsOf(ranks[rank].step); len(lists[rank]) > 0 {
			some = lists[rank][0]
		}
	}
	if some == 0 {
		return call, nil
	}
	call.Site, call.Args = siteCountedStep, make([][]int64, mostLists)
	for i := range call.Args {
		for rank := range ranks {
			list := some // of a rank that has none, which passes it over
			if i < len(lists[rank]) {
				list = lists[rank][i]
			}
			call.Args[i] = append(call.Args[i], w.handle(list))
		}
	}
	return call, nil
}

// part writes a part of what the ranks do as one step.
func (w *writer) part(ranks []outline, of func(*outline) []item) error {
	for rank := range ranks {
		items := of(&ranks[rank])
		if w.each != nil {
			w.ranks[rank] = source{walker: w.blocks.loops.walk(items, 1)}
		} else {
			w.ranks[rank] = source{items: w.blocks.sharing.share(items)}
		}
		w.ranks[rank].advance()
	}
	for {
		w.begin()
		n := 0
		for rank := range w.ranks {
			m, err := w.rank(rank)
			if err != nil {
				return err
			}
			n += m
		}
		if n == 0 {
			return nil
		}
		if err := w.end(); err != nil {
			return err
		}
	}
}

func (w *writer) begin() {
	for i := range w.calls {
		w.calls[i] = trace.Call{Site: i, Counts: make([]int64, len(w.ranks)), Args: make([][]int64, numArgs+mostLists*i)}
	}
	if len(w.handles) > 0 {
		w.w.ForgetVectors(w.last + 1)
	}
	w.handles, w.elements = map[int32]int64{}, 0
}

func (w *writer) end() error {
	if err := w.w.Step(w.step); err != nil {
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

// source is what is left of a part of a rank: items, or, where each computation is what it was, the
// steps in them.
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

// rank appends the next items of a rank to the unit: some without lists of counts, then some with.
func (w *writer) rank(rank int) (n int, err error) {
	s := &w.ranks[rank]
	for ; s.ok && n < w.limit && len(w.lists(s.next)) == 0; n++ {
		if err := w.item(siteFlat, rank, s.next); err != nil {
			return 0, err
		}
		s.advance()
	}
	for ; s.ok && len(w.lists(s.next)) > 0 && w.elements < unitElements; n++ {
		if err := w.item(siteCounted, rank, s.next); err != nil {
			return 0, err
		}
		s.advance()
	}
	return n, nil
}

// lists returns the lists of counts of an item: of a loop, each once; of an operation, what it
// sends and what it receives, which may be the same.
func (w *writer) lists(it item) []int32 {
	if it.turns > 0 {
		return w.blocks.loops.lists[it.what]
	}
	s := &w.table.steps[it.what]
	switch {
	case s.lists == [2]int32{}:
		return nil
	case s.lists[0] == 0:
		return []int32{s.lists[1], s.lists[1]}
	case s.lists[1] == 0:
		return []int32{s.lists[0], s.lists[0]}
	}
	return s.lists[:]
}

func (w *writer) item(site, rank int, it item) error {
	var args [numCounted]int64
	var block int64
	var err error
	if it.turns > 0 {
		block, err = w.blocks.loop(it.what)
		args[0] = int64(it.turns)
	} else {
		s := w.table.steps[it.what]
		if w.each != nil && s.kind == trace.KindFlops {
			s = w.own(rank)
		}
		block, err = w.blocks.form(s.form)
		copy(args[:], s.args[:])
	}
	if err != nil {
		return err
	}
	if lists := w.lists(it); site == siteCounted {
		for i := range mostLists {
			args[numArgs+i] = w.handle(lists[min(i, len(lists)-1)])
		}
	}
	c := &w.calls[site]
	c.Counts[rank]++
	c.Blocks = append(c.Blocks, block)
	for i := range c.Args {
		c.Args[i] = append(c.Args[i], args[i])
	}
	return nil
}

// own returns the next computation of a rank as it was.
func (w *writer) own(rank int) step {
	s := step{form: form{kind: trace.KindFlops}}
	s.args[argPeer] = trace.FloatArg(w.each[rank][0])
	w.each[rank] = w.each[rank][1:]
	return s
}

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

// blocks makes the blocks of the trace: one for each form of steps, with their arguments as
// its own, and one for each loop, whose steps are constant and whose arguments are the turns and
// the lists of counts.
type blocks struct {
	program *trace.Program
	table   *table
	loops   *loops
	sharing *sharing
	forms   map[form]int64
	ofLoops map[int32]int64
}

// form returns the block of steps of a form.
func (b *blocks) form(f form) (int64, error) {
	n, ok := b.forms[f]
	if ok {
		return n, nil
	}
	params := numArgs
	if f.counted() {
		params = numArgs + 2
	}
	builder := trace.NewBuilder(f.name(), params)
	var lists [2]trace.Operand
	if f.counted() {
		lists = [2]trace.Operand{builder.Param(numArgs), builder.Param(numArgs + 1)}
	}
	f.put(builder, b.table, builder.Param, lists)
	id, err := b.program.Add(builder)
	b.forms[f] = int64(id)
	return int64(id), err
}

func (f *form) name() string {
	switch f.kind {
	case trace.KindCollective:
		return f.collective.String()
	case trace.KindIcollective:
		return "i" + f.collective.String()
	case trace.KindAccess:
		return f.access.String()
	case trace.KindIaccess:
		return "r" + f.access.String()
	case trace.KindSync:
		return f.sync.String()
	case trace.KindFile:
		return f.file.String()
	}
	return f.kind.String()
}

// counted reports whether steps of the form have lists of counts.
func (f *form) counted() bool {
	return (f.kind == trace.KindCollective || f.kind == trace.KindIcollective) &&
		(f.collective.SendsPerRank() || f.collective.RecvsPerRank())
}

// put adds a step to a block, with its arguments as operands.
func (f *form) put(b *trace.Builder, t *table, arg func(int) trace.Operand, lists [2]trace.Operand) {
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
		f.putCollective(b, arg, lists)
	default:
		b.Message(messageOps[f.kind], family, f.request, arg(argPeer), arg(argTag), arg(argBytes))
	}
}

var messageOps = map[trace.Kind]trace.Op{
	trace.KindSend: trace.OpSend, trace.KindSsend: trace.OpSsend, trace.KindIsend: trace.OpIsend, trace.KindIssend: trace.OpIssend,
	trace.KindRecv: trace.OpRecv, trace.KindIrecv: trace.OpIrecv, trace.KindStart: trace.OpStart,
}

func (f *form) putCollective(b *trace.Builder, arg func(int) trace.Operand, lists [2]trace.Operand) {
	c := trace.CollectiveOperands{Root: arg(argPeer), Flops: trace.Const(0), Span: arg(argTag), Operator: f.operator,
		Send: arg(argBytes), SendSize: trace.Const(f.sendSize), Recv: arg(argReceived), RecvSize: trace.Const(f.recvSize)}
	if f.collective.SendsPerRank() {
		c.Send = lists[0]
	}
	if f.collective.RecvsPerRank() {
		c.Recv = lists[1]
	}
	if f.family != world {
		c.Comm = trace.Communicator(int(f.family))
	}
	if f.kind == trace.KindIcollective {
		b.Icollective(f.request, f.collective, c)
		return
	}
	b.Collective(f.collective, c)
}

// loop returns the block of a loop.
func (b *blocks) loop(number int32) (int64, error) {
	n, ok := b.ofLoops[number]
	if ok {
		return n, nil
	}
	lists := b.loops.lists[number]
	builder := trace.NewBuilder("loop", numArgs+len(lists))
	var err error
	builder.Loop(builder.Param(0), func() { err = b.items(builder, b.loops.bodies[number], lists, numArgs) })
	if err != nil {
		return 0, err
	}
	id, err := b.program.Add(builder)
	b.ofLoops[number] = int64(id)
	return int64(id), err
}

// ofStep returns the block of a step of the run.
func (b *blocks) ofStep(items []item) (int64, error) {
	lists := b.loops.listsOf(items)
	builder := trace.NewBuilder("step", len(lists))
	if err := b.items(builder, items, lists, 0); err != nil {
		return 0, err
	}
	id, err := b.program.Add(builder)
	return int64(id), err
}

// items adds steps and loops of a loop's body. Its lists of counts are parameters, from one on.
func (b *blocks) items(builder *trace.Builder, items []item, lists []int32, from int) error {
	param := func(list int32) trace.Operand { return builder.Param(from + slices.Index(lists, list)) }
	for _, it := range b.sharing.share(items) {
		if it.turns > 0 {
			block, err := b.loop(it.what)
			if err != nil {
				return err
			}
			args := make([]trace.Operand, numArgs, numArgs+mostLists)
			args[0] = trace.Const(int64(it.turns))
			for _, list := range b.loops.lists[it.what] {
				args = append(args, param(list))
			}
			builder.Call(int(block), args...)
			continue
		}
		s := &b.table.steps[it.what]
		var counts [2]trace.Operand
		for i, list := range s.lists {
			if list > 0 {
				counts[i] = param(list)
			}
		}
		s.put(builder, b.table, func(i int) trace.Operand { return trace.Const(s.args[i]) }, counts)
	}
	return nil
}

// What a rank does again, though not in a row, or what another rank does as well, is written
// once. Items are parted where some of them in a row say so, and so alike wherever they come; a
// part that comes twice is a loop of one turn, whose block is called from both places.

// Lengths of parts. The end of one comes after one in partMean of the items; a call takes as
// much room as partLeast of them.
const (
	partLeast = 6
	partMean  = 16
	partMost  = 128
)

// sharing is how often parts come.
type sharing struct {
	loops *loops
	times map[uint64]int // by hash of the part
	seen  map[int32]bool // bodies of loops
}

func newSharing(l *loops) *sharing {
	return &sharing{loops: l, times: map[uint64]int{}, seen: map[int32]bool{}}
}

// count counts the parts of items, and of the loops in them.
func (s *sharing) count(items []item) {
	for part := range parts(items) {
		s.times[hashOf(part)]++
	}
	for _, it := range items {
		if it.turns > 0 && !s.seen[it.what] {
			s.seen[it.what] = true
			s.count(s.loops.bodies[it.what])
		}
	}
}

// share returns items with each part that comes twice as a loop of one turn.
func (s *sharing) share(items []item) (shared []item) {
	for part := range parts(items) {
		if len(part) >= partLeast && len(part) < len(items) && s.times[hashOf(part)] > 1 &&
			len(s.loops.listsOf(part)) <= mostLists {
			shared = append(shared, item{s.loops.number(part), 1})
		} else {
			shared = append(shared, part...)
		}
	}
	return shared
}

func hashOf(items []item) (hash uint64) {
	for _, it := range items {
		hash = hash*multiplier + it.hash()
	}
	return hash
}

// parts yields items part by part.
func parts(items []item) iter.Seq[[]item] {
	return func(yield func([]item) bool) {
		from := 0
		for n := range items {
			n++
			if n == len(items) || n-from == partMost || n-from >= partLeast && hashOf(items[n-gram:n])>>32%partMean == 0 {
				if !yield(items[from:n]) {
					return
				}
				from = n
			}
		}
	}
}
