package main

import (
	"bytes"
	"testing"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/vectors"
)

// golden is a small program that uses a feature of the format. Its listing in
// testdata/format is written by hand: what the blocks below do with the arguments
// below, the arithmetic in comments. Sizes and tags are small numbers that tell
// actions apart.
type golden struct {
	name     string
	features []string
	header   trace.Header
	write    func(*goldenWriter)
}

var goldens = []golden{
	{"base", nil, baseHeader(), writeBase},
	{"lists", []string{"lists"}, listsHeader(), writeLists},
	{"vectors", []string{"vectors"}, vectorsHeader(2, "at {list} ends {sums} n {}"), writeVectors},
	{"pivot-owners", []string{"vectors", "vectors:pivot-owners/1"}, vectorsHeader(1, "owners {list}"), writePivotOwners},
	{"polls", []string{"polls"}, pollsHeader(), writePolls},
	{"requests", []string{"requests"}, plainHeader(), writeRequests},
	{"collectives", []string{"collectives", "vectors"}, collectivesHeader(), writeCollectives},
	{"operators", []string{"collectives", "operators"}, operatorsHeader(), writeOperators},
	{"communicators", []string{"collectives", "communicators", "operators", "requests"}, communicatorsHeader(), writeCommunicators},
	{"nonblocking", []string{"collectives", "nonblocking", "requests"}, plainHeader(), writeNonblocking},
	{"completions", []string{"completions", "requests"}, plainHeader(), writeCompletions},
	{"spreads", []string{"spreads"}, plainHeader(), writeSpreads},
	{"one-sided", []string{"one-sided", "requests"}, plainHeader(), writeOneSided},
	{"files", []string{"files"}, plainHeader(), writeFiles},
	{"queues", []string{"queues", "requests"}, queuesHeader(), writeQueues},
	{"relays", []string{"collectives", "nonblocking", "relays", "requests"}, relaysHeader(), writeRelays},
	{"beside", []string{"beside", "requests"}, plainHeader(), writeBeside},
	{"late", []string{"requests", "vectors", "vectors:pivot-owners/1"}, vectorsHeader(1, "owners {list}"), writeLate},
}

// goldenWriter writes a golden file, a unit in a chunk.
type goldenWriter struct {
	*trace.Writer
	t testing.TB
}

func (g *golden) bytes(t testing.TB) []byte {
	var file bytes.Buffer
	h := g.header
	h.Program, h.Tool = "golden "+g.name, "golden_test.go"
	w := tracetest.Must(trace.NewWriter(&file, &h, trace.WriterOptions{ChunkUnits: 1}))
	g.write(&goldenWriter{w, t})
	tracetest.Check(t, w.Close())
	return file.Bytes()
}

func (w *goldenWriter) block(name string, params int, build func(*trace.Builder)) int64 {
	b := trace.NewBuilder(name, params)
	build(b)
	return int64(tracetest.Must(w.Program().Add(b)))
}

// step writes a unit.
func (w *goldenWriter) step(step int, calls ...*trace.Call) {
	tracetest.Check(w.t, w.Step(step))
	for _, c := range calls {
		tracetest.Check(w.t, w.Call(c))
	}
}

// Axes of the headers below.
const (
	all = iota
	byRank
	byRow
)

// plainHeader is that of two ranks with a call site that calls a block for each.
func plainHeader() trace.Header {
	return trace.Header{Ranks: 2, Steps: 2,
		CommFamilies: []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: 2}}}},
		Axes:         []trace.Axis{{Name: "all"}, {Name: "rank", Kind: trace.AxisRank}},
		CallSites:    []trace.CallSite{{Name: "call", Counts: trace.NoAxis, Block: byRank}},
	}
}

// baseHeader is that of a grid of two rows and two columns.
func baseHeader() trace.Header {
	return trace.Header{Command: "go test ./cmd/trace -run Golden -update", Ranks: 4, Steps: 2,
		Params: []trace.Param{{Name: "P", Value: "2"}, {Name: "Q", Value: "2"}},
		CommFamilies: []trace.CommFamily{
			{Name: "row", Groups: []trace.Group{{Start: 0, Stride: 1, Count: 2}, {Start: 2, Stride: 1, Count: 2}}},
			{Name: "-", Groups: []trace.Group{{Start: 3, Stride: -1, Count: 4}}},
			{Name: "col", Groups: []trace.Group{{Ranks: []int32{0, 2}}, {Ranks: []int32{1, 3}}}},
		},
		Axes: []trace.Axis{{Name: "all"}, {Name: "rank", Kind: trace.AxisRank}, {Name: "row", Kind: trace.AxisFamily, Family: 0}},
		Kernels: []trace.Kernel{
			{Name: "dgemm", Attrs: []trace.Param{{Name: "trans", Value: "N"}}, Dims: []trace.Dim{{Name: "M"}, {Name: "N"}, {Name: "K"}}, Flops: []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1, 1}}}},
			{Name: "dtrsm", Dims: []trace.Dim{{Name: "side", Enum: []string{"L", "R"}}, {Name: "N"}, {Name: "part", Label: true}}},
		},
		Phases:  []string{"work"},
		Markers: []trace.Marker{{Text: "begin {}", Phase: 1}, {Text: "end", Phase: 1, End: true}},
		CallSites: []trace.CallSite{
			{Name: "work", Masks: []int{byRow}, Counts: trace.NoAxis, Block: all, Params: []trace.ParamColumn{{Name: "i", Axis: byRank}, {Name: "n", Axis: all}}},
			{Name: "talk", Counts: trace.NoAxis, Block: byRank, Params: []trace.ParamColumn{{Name: "bytes", Axis: byRow}}},
		},
	}
}

// Families of baseHeader.
const row, col = 0, 2

// Row 0 works in step 0, with i = 4 and 5 and n = 9; then row 0 talks with 100 bytes,
// row 1 with 200.
func writeBase(w *goldenWriter) {
	pause := w.block("pause", 1, func(b *trace.Builder) { b.Sleep(b.Param(0)) })
	work := w.block("work", 2, func(b *trace.Builder) {
		i, n := b.Param(0), b.Param(1)
		b.Mark(0, i)
		// 3*4-9+2 = 5 and 3*5-9+2 = 8; 4*9 = 36 and 5*9 = 45
		b.Compute(0, b.Affine([]int64{3, -1}, i, n).Plus(2), b.Mul(i, n), b.Max(i, n))
		b.Compute(1, trace.Const(1), b.Min(i, n), trace.Const(0))
		b.If(b.Eq(i, trace.Const(5)), func() { b.Flops(trace.Const(trace.FloatArg(1234567.5))) })
		b.Loop(i.Plus(-3), func() { b.Call(int(pause), trace.Const(trace.FloatArg(0.25))) }) // once, twice
		b.Mark(1)
	})
	w.step(0, &trace.Call{Site: 0, Masks: [][]int64{{1, 0}}, Blocks: []int64{work}, Args: [][]int64{{4, 5, 6, 7}, {9}}})
	// The exchange of two empty sides leaves nothing.
	left := w.block("left", 1, func(b *trace.Builder) {
		bytes, peer := b.Param(0), b.Member(row, trace.Const(1))
		b.Message(trace.OpSend, row, 0, peer, trace.Const(1), bytes)
		b.Message(trace.OpSsend, row, 0, peer, trace.Const(2), bytes.Plus(1))
		b.Exchange(row, peer, trace.Const(3), bytes, trace.Const(20))
		b.Exchange(row, peer, trace.Const(3), trace.Const(7), trace.Const(0))
		b.Exchange(row, peer, trace.Const(3), trace.Const(0), trace.Const(0))
		b.SyncExchange(row, peer, trace.Const(4), trace.Const(0), trace.Const(30))
		b.Sendrecv(row, peer, trace.Const(5), trace.Const(6), peer, trace.Const(5), trace.Const(-1))
		b.Iprobe(col, b.Member(col, trace.Const(3)), trace.Const(9)) // member 3 mod 2 = 1 of {0, 2} is 2
	})
	right := w.block("right", 1, func(b *trace.Builder) {
		bytes, peer := b.Param(0), b.Member(row, trace.Const(-2)) // member 0
		b.Message(trace.OpRecv, row, 0, trace.Const(trace.AnySource), trace.Const(1), trace.Const(-1))
		b.Message(trace.OpRecv, row, 0, peer, trace.Const(trace.AnyTag), bytes.Plus(1))
		b.Exchange(row, peer, trace.Const(3), trace.Const(20), bytes)
		b.Exchange(row, peer, trace.Const(3), trace.Const(0), trace.Const(7))
		b.SyncExchange(row, peer, trace.Const(4), trace.Const(30), trace.Const(0))
		b.Sendrecv(row, peer, trace.Const(5), trace.Const(6), peer, trace.Const(5), trace.Const(6))
	})
	w.step(1, &trace.Call{Site: 1, Blocks: []int64{left, right, left, right}, Args: [][]int64{{100, 200}}})
}

func listsHeader() trace.Header {
	h := plainHeader()
	h.CallSites = []trace.CallSite{{Name: "list", Counts: byRank, Block: trace.PerItem, Params: []trace.ParamColumn{
		{Name: "bytes", Axis: trace.PerItem}, {Name: "tag", Axis: all}, {Name: "peer", Axis: byRank}}}}
	return h
}

// Rank 0 has three items, of which one calls nothing, rank 1 two; then one each.
func writeLists(w *goldenWriter) {
	message := func(op trace.Op) func(*trace.Builder) {
		return func(b *trace.Builder) { b.Message(op, 0, 0, b.Param(2), b.Param(1), b.Param(0)) }
	}
	send, recv := w.block("send", 3, message(trace.OpSend)), w.block("recv", 3, message(trace.OpRecv))
	peers := []int64{1, 0}
	w.step(0,
		&trace.Call{Counts: []int64{3, 2}, Blocks: []int64{send, trace.NoBlock, send, recv, recv}, Args: [][]int64{{10, 99, 20, 10, 20}, {6}, peers}},
		&trace.Call{Counts: []int64{1, 1}, Blocks: []int64{recv, send}, Args: [][]int64{{30, 30}, {7}, peers}})
}

// vectorsHeader is that of ranks with a kernel, a marker, and a vector for all and one for
// each rank.
func vectorsHeader(ranks int32, marker string) trace.Header {
	return trace.Header{Ranks: int(ranks), Steps: 3,
		CommFamilies: []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: ranks}}}},
		Axes:         []trace.Axis{{Name: "all"}, {Name: "rank", Kind: trace.AxisRank}},
		Kernels:      []trace.Kernel{{Name: "work", Dims: []trace.Dim{{Name: "N"}}}},
		Markers:      []trace.Marker{{Text: marker}},
		CallSites: []trace.CallSite{{Name: "call", Counts: trace.NoAxis, Block: all, Params: []trace.ParamColumn{
			{Name: "v", Axis: all, Vector: true}, {Name: "w", Axis: byRank, Vector: true}}}},
	}
}

func writeVectors(w *goldenWriter) {
	sums := w.block("sums", 2, func(b *trace.Builder) {
		v := b.Param(0)                                               // 5, 0, 7, 2
		b.Compute(0, b.VectorSum(v, trace.Const(1), trace.Const(3)))  // 0+7 = 7
		b.Compute(0, b.VectorSum(v, trace.Const(-1), trace.Const(2))) // 2+5+0 = 7
		b.Compute(0, b.VectorAt(v, trace.Const(7)))                   // element 7 mod 4 = 3: 2
		total := b.VectorSum(v, trace.Const(2), trace.Const(6))       // all: 14
		b.Mark(0, b.Param(1), b.Param(1), total)
	})
	v, own := w.Vector(trace.Vector{Values: []int64{5, 0, 7, 2}}), w.Vector(trace.Vector{Values: []int64{1, -2, 3}})
	w.step(0, &trace.Call{Blocks: []int64{sums}, Args: [][]int64{{v}, {own, v}}})
}

// showVector marks the elements of its first vector.
func showVector(b *trace.Builder) { b.Mark(0, b.Param(0)) }

// pivots are the elements of columns 60 to 63 of 100, in blocks of 8 dealt to 3 owners:
// docs/trace-format.md gives the rows 74, 91, 85, 94, in the blocks 9, 11, 10, 11; the
// first column is in block 7, so they are 1 + 2, 1 + 4 mod 3, 1 + 3 mod 3, 1 + 4 mod 3 =
// 3, 2, 1, 2.
var pivots = vectors.PivotOwners{Seed: 1, First: 60, Count: 4, Rows: 100, Block: 8, Owners: 3}

// lastPivot is that of column 99 of 100, where nothing but the diagonal is left: 0.
var lastPivot = vectors.PivotOwners{Seed: 1, First: 99, Count: 1, Rows: 100, Block: 8, Owners: 3}

func writePivotOwners(w *goldenWriter) {
	show := w.block("show", 2, showVector)
	var calls []*trace.Call
	for _, v := range []trace.Vector{{Generated: pivots.Generated()}, {Values: []int64{9}}, {Generated: lastPivot.Generated()}} {
		handle := w.Vector(v)
		calls = append(calls, &trace.Call{Blocks: []int64{show}, Args: [][]int64{{handle}, {handle}}})
	}
	w.step(0, calls...)
}

func pollsHeader() trace.Header {
	h := plainHeader()
	h.Pollables = 2
	h.Kernels = []trace.Kernel{{Name: "update", Dims: []trace.Dim{{Name: "N"}}}}
	return h
}

// Rank 0 updates 10 columns in chunks of 4 until the message is there, which is after the
// first chunk, and the 6 that are left at once; then 3, with nothing pending. What it
// defines without a guard at the end of step 0 runs in step 1.
func writePolls(w *goldenWriter) {
	update := w.block("update", 1, func(b *trace.Builder) { b.Compute(0, b.Param(0)) })
	receive := w.block("receive", 1, func(b *trace.Builder) {
		b.Probed(0, trace.Const(1), trace.Const(8))
		b.Message(trace.OpRecv, 0, 0, trace.Const(1), trace.Const(8), b.Param(0))
	})
	last := w.block("last", 0, func(b *trace.Builder) {
		b.Message(trace.OpRecv, 0, 0, trace.Const(1), trace.Const(9), trace.Const(50))
	})
	begin := w.block("begin", 0, func(b *trace.Builder) {
		b.DefineGuarded(0, 0, trace.Const(1), trace.Const(8), int(receive), trace.Const(100))
		b.Work(0, trace.Const(10), trace.Const(4), int(update))
		b.Work(0, trace.Const(3), trace.Const(4), int(update))
		b.Define(1, int(last))
		b.Poll(0)
	})
	end := w.block("end", 0, func(b *trace.Builder) { b.PollWait(1) })
	send := w.block("send", 0, func(b *trace.Builder) {
		b.Message(trace.OpSend, 0, 0, trace.Const(0), trace.Const(8), trace.Const(100))
		b.Message(trace.OpSend, 0, 0, trace.Const(0), trace.Const(9), trace.Const(50))
	})
	w.step(0, &trace.Call{Blocks: []int64{begin, send}})
	w.step(1, &trace.Call{Blocks: []int64{end, trace.NoBlock}})
}

func writeRequests(w *goldenWriter) {
	message := func(b *trace.Builder, op trace.Op, req int32, peer, tag, bytes int64) {
		b.Message(op, 0, req, trace.Const(peer), trace.Const(tag), trace.Const(bytes))
	}
	begin := w.block("begin", 0, func(b *trace.Builder) {
		message(b, trace.OpIsend, 0, 1, 1, 10)
		message(b, trace.OpIssend, 1, 1, 2, 20)
		message(b, trace.OpIrecv, 2, 1, 3, 30)
		message(b, trace.OpIsend, 3, 1, 4, 40)
		b.Test(0)
	})
	end := w.block("end", 0, func(b *trace.Builder) {
		b.Wait(0)
		b.Free(3)
		b.WaitAll()
	})
	other := w.block("other", 0, func(b *trace.Builder) {
		message(b, trace.OpRecv, 0, 0, 1, 10)
		message(b, trace.OpRecv, 0, 0, 2, 20)
		message(b, trace.OpSend, 0, 0, 3, 30)
		message(b, trace.OpRecv, 0, 0, 4, 40)
	})
	w.step(0, &trace.Call{Blocks: []int64{begin, other}})
	w.step(1, &trace.Call{Blocks: []int64{end, trace.NoBlock}})
}

// Rank 0 computes twice, with a spread and with one of nothing, and once without.
func writeSpreads(w *goldenWriter) {
	amount := func(v float64) trace.Operand { return trace.Const(trace.FloatArg(v)) }
	spread := w.block("spread", 0, func(b *trace.Builder) {
		b.SpreadFlops(amount(1000), amount(2.5))
		b.SpreadFlops(amount(3e6), amount(0))
		b.Flops(amount(7))
	})
	w.step(0, &trace.Call{Blocks: []int64{spread, trace.NoBlock}})
}

func collectivesHeader() trace.Header {
	h := vectorsHeader(2, "")
	h.Kernels, h.Markers = nil, nil
	h.CallSites = []trace.CallSite{{Name: "call", Counts: trace.NoAxis, Block: all, Params: []trace.ParamColumn{
		{Name: "out", Axis: byRank, Vector: true}, {Name: "in", Axis: byRank, Vector: true}, {Name: "parts", Axis: all, Vector: true}, {Name: "part", Axis: byRank}}}}
	return h
}

// Rank 0 sends 1 and 2 elements in alltoallv, rank 1 sends 3 and 4, so rank 0 receives 1
// and 3, rank 1 2 and 4; in other operations the parts of the two are 1 and 2 elements.
func writeCollectives(w *goldenWriter) {
	run := w.block("run", 4, func(b *trace.Builder) {
		out, in, parts, part := b.Param(0), b.Param(1), b.Param(2), b.Param(3)
		n, four, eight := trace.Const, trace.Const(4), trace.Const(8)
		flops := func(v float64) trace.Operand { return trace.Const(trace.FloatArg(v)) }
		for kind, c := range []trace.CollectiveOperands{
			trace.CollBarrier:       {},
			trace.CollBcast:         {Send: n(100), SendSize: eight, Root: n(1)},
			trace.CollReduce:        {Send: n(100), SendSize: eight, Root: n(0), Flops: flops(100)},
			trace.CollAllreduce:     {Send: n(100), SendSize: eight, Flops: flops(0.5)},
			trace.CollAlltoall:      {Send: n(5), SendSize: four, Recv: n(5), RecvSize: four},
			trace.CollAlltoallv:     {Send: out, SendSize: eight, Recv: in, RecvSize: eight},
			trace.CollGather:        {Send: n(5), SendSize: four, Recv: n(5), RecvSize: four, Root: n(0)},
			trace.CollGatherv:       {Send: part, SendSize: eight, Recv: parts, RecvSize: eight, Root: n(0)},
			trace.CollAllgather:     {Send: n(5), SendSize: four, Recv: n(5), RecvSize: four},
			trace.CollAllgatherv:    {Send: part, SendSize: eight, Recv: parts, RecvSize: eight, Span: n(3)},
			trace.CollScatter:       {Send: n(5), SendSize: four, Recv: n(5), RecvSize: four, Root: n(1)},
			trace.CollScatterv:      {Send: parts, SendSize: eight, Recv: part, RecvSize: eight, Root: n(0)},
			trace.CollReduceScatter: {Recv: parts, RecvSize: eight, Flops: flops(2)},
			trace.CollScan:          {Send: n(100), SendSize: eight, Flops: flops(100)},
			trace.CollExscan:        {Send: n(100), SendSize: eight, Flops: flops(1e-5)},
		} {
			b.Collective(trace.CollectiveKind(kind), c)
		}
	})
	vector := func(v ...int64) int64 { return w.Vector(trace.Vector{Values: v}) }
	w.step(0, &trace.Call{Blocks: []int64{run}, Args: [][]int64{
		{vector(1, 2), vector(3, 4)}, {vector(1, 3), vector(2, 4)}, {vector(1, 2)}, {1, 2}}})
}

func operatorsHeader() trace.Header {
	h := plainHeader()
	h.Phases = []string{"reduce"}
	h.Markers = []trace.Marker{{Phase: 1}, {Text: "end reduce", Phase: 1, End: true}}
	return h
}

// Reductions say what they do with two elements, or do not; the first marker has no text.
func writeOperators(w *goldenWriter) {
	run := w.block("run", 0, func(b *trace.Builder) {
		n, operands := trace.Const, trace.CollectiveOperands{Send: trace.Const(3), SendSize: trace.Const(8)}
		b.Mark(0)
		for _, o := range []trace.Operator{trace.NoOperator, trace.OperatorSum, trace.OperatorMax, trace.OperatorMin, trace.OperatorProd, trace.OperatorLand,
			trace.OperatorBand, trace.OperatorLor, trace.OperatorBor, trace.OperatorLxor, trace.OperatorBxor, trace.OperatorMaxloc, trace.OperatorMinloc} {
			operands.Operator = o
			b.Collective(trace.CollAllreduce, operands)
		}
		b.Mark(1)
		b.Collective(trace.CollReduce, trace.CollectiveOperands{Send: n(1), SendSize: n(4), Root: n(1), Flops: n(trace.FloatArg(2)), Operator: trace.OperatorSum})
	})
	w.step(0, &trace.Call{Blocks: []int64{run, run}})
}

// communicatorsHeader is that of two rows of two ranks, and of two communicators across.
func communicatorsHeader() trace.Header {
	const byRank = 0
	return trace.Header{Ranks: 4, Steps: 1, Communicators: true,
		CommFamilies: []trace.CommFamily{
			{Name: "world", Groups: []trace.Group{{Stride: 1, Count: 4}}},
			{Name: "row", Groups: []trace.Group{{Stride: 1, Count: 2}, {Start: 2, Stride: 1, Count: 2}}},
			{Groups: []trace.Group{{Ranks: []int32{0, 3}}, {Ranks: []int32{2, 1}}}},
		},
		Axes: []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CallSites: []trace.CallSite{{Name: "call", Counts: trace.NoAxis, Block: byRank,
			Params: []trace.ParamColumn{{Name: "to", Axis: byRank}, {Name: "from", Axis: byRank}}}},
	}
}

// Each rank sends to the next one of its row, where there is one, and receives from the one
// before.
func writeCommunicators(w *goldenWriter) {
	run := w.block("run", 2, func(b *trace.Builder) {
		n, to, from := trace.Const, b.Param(0), b.Param(1)
		b.Message(trace.OpIsend, 1, 0, to, n(5), n(10))
		b.Message(trace.OpIrecv, 1, 1, from, n(5), n(10))
		b.Wait(0)
		b.Wait(1)
		b.Sendrecv(1, to, n(6), n(20), from, n(6), n(20))
		b.Sendrecv(1, n(trace.ProcNull), n(7), n(30), n(trace.ProcNull), n(8), n(40))
		b.Message(trace.OpSend, 0, 0, n(trace.ProcNull), n(9), n(50))
		b.Collective(trace.CollBcast, trace.CollectiveOperands{Send: n(3), SendSize: n(8), Root: n(1), Comm: trace.Communicator(2)})
		b.Collective(trace.CollAllreduce, trace.CollectiveOperands{Send: n(2), SendSize: n(8), Operator: trace.OperatorMax, Comm: trace.Communicator(1)})
	})
	w.step(0, &trace.Call{Blocks: []int64{run, run, run, run}, Args: [][]int64{{1, trace.ProcNull, 3, trace.ProcNull}, {trace.ProcNull, 0, trace.ProcNull, 2}}})
}

func writeNonblocking(w *goldenWriter) {
	run := w.block("run", 0, func(b *trace.Builder) {
		n := trace.Const
		b.Icollective(0, trace.CollBcast, trace.CollectiveOperands{Send: n(3), SendSize: n(8), Root: n(1)})
		b.Icollective(1, trace.CollAllreduce, trace.CollectiveOperands{Send: n(2), SendSize: n(8), Flops: n(trace.FloatArg(4))})
		b.Icollective(2, trace.CollBarrier, trace.CollectiveOperands{})
		b.Test(0)
		b.Wait(1)
		b.WaitAll()
	})
	w.step(0, &trace.Call{Blocks: []int64{run, run}})
}

// Rank 0 sends by a persistent request and completes two receives in all the ways there are.
func writeCompletions(w *goldenWriter) {
	n := trace.Const
	run := w.block("run", 0, func(b *trace.Builder) {
		b.Message(trace.OpStart, 0, 0, n(1), n(1), n(10))
		b.Message(trace.OpIrecv, 0, 1, n(1), n(2), n(20))
		b.Message(trace.OpIrecv, 0, 2, n(1), n(3), n(30))
		for _, m := range []trace.Completion{trace.TestAny, trace.TestAll, trace.TestSome, trace.CompleteAny, trace.CompleteSome} {
			b.Complete(m, 1, 2)
		}
		b.Complete(trace.CompleteAll, 0, 1, 2)
	})
	other := w.block("other", 0, func(b *trace.Builder) {
		b.Probe(0, n(0), n(1))
		b.Message(trace.OpRecv, 0, 0, n(0), n(1), n(10))
		b.Message(trace.OpSend, 0, 0, n(0), n(2), n(20))
		b.Message(trace.OpSend, 0, 0, n(0), n(3), n(30))
	})
	w.step(0, &trace.Call{Blocks: []int64{run, other}})
}

// Rank 0 accesses windows of rank 1 between fences, between start and complete, and under locks.
func writeOneSided(w *goldenWriter) {
	n := trace.Const
	sync := func(b *trace.Builder, kind trace.SyncKind, peer, window, assert int64) {
		b.Sync(kind, 0, n(peer), n(window), n(assert))
	}
	access := func(b *trace.Builder, kind trace.AccessKind, req int32, window, out, in int64) {
		b.Access(kind, 0, req, n(1), n(window), n(out), n(in))
	}
	origin := w.block("origin", 0, func(b *trace.Builder) {
		sync(b, trace.SyncCreate, trace.AllRanks, 0, 0)
		sync(b, trace.SyncCreate, trace.AllRanks, 7, 0)
		sync(b, trace.SyncFence, trace.AllRanks, 0, trace.AssertNoPrecede)
		access(b, trace.AccessPut, -1, 0, 10, 0)
		access(b, trace.AccessGet, -1, 0, 0, 20)
		access(b, trace.AccessAccumulate, -1, 0, 30, 0)
		sync(b, trace.SyncFence, trace.AllRanks, 0, trace.AssertNoSucceed|trace.AssertNoStore|trace.AssertNoPut)
		sync(b, trace.SyncStart, 1, 7, 0)
		access(b, trace.AccessPut, 3, 7, 40, 0)
		b.Wait(3)
		sync(b, trace.SyncComplete, 1, 7, 0)
		sync(b, trace.SyncLockExclusive, 1, 0, 0)
		access(b, trace.AccessGetAccumulate, 4, 0, 50, 60)
		b.WaitAll()
		sync(b, trace.SyncFlush, 1, 0, 0)
		sync(b, trace.SyncUnlock, 1, 0, 0)
		sync(b, trace.SyncLockShared, 1, 0, trace.AssertNoCheck)
		sync(b, trace.SyncUnlock, 1, 0, 0)
		sync(b, trace.SyncLockAll, trace.AllRanks, 7, 0)
		access(b, trace.AccessFetchAndOp, -1, 7, 8, 8)
		access(b, trace.AccessCompareAndSwap, -1, 7, 16, 8)
		sync(b, trace.SyncFlush, trace.AllRanks, 7, 0)
		sync(b, trace.SyncFlushLocal, 1, 7, 0)
		sync(b, trace.SyncUnlockAll, trace.AllRanks, 7, 0)
		sync(b, trace.SyncFree, trace.AllRanks, 7, 0)
		sync(b, trace.SyncFree, trace.AllRanks, 0, 0)
	})
	target := w.block("target", 0, func(b *trace.Builder) {
		sync(b, trace.SyncCreate, trace.AllRanks, 0, 0)
		sync(b, trace.SyncCreate, trace.AllRanks, 7, 0)
		sync(b, trace.SyncFence, trace.AllRanks, 0, trace.AssertNoPrecede)
		sync(b, trace.SyncFence, trace.AllRanks, 0, trace.AssertNoSucceed)
		sync(b, trace.SyncPost, 0, 7, 0)
		sync(b, trace.SyncWait, 0, 7, 0)
		sync(b, trace.SyncFree, trace.AllRanks, 7, 0)
		sync(b, trace.SyncFree, trace.AllRanks, 0, 0)
	})
	w.step(0, &trace.Call{Blocks: []int64{origin, target}})
}

// Both ranks write a part of a file together; rank 0 reads another.
func writeFiles(w *goldenWriter) {
	n := trace.Const
	all := w.block("all", 0, func(b *trace.Builder) { b.File(trace.FileWrite, true, 0, n(100)) })
	own := w.block("own", 0, func(b *trace.Builder) {
		b.File(trace.FileRead, false, 0, n(30))
		b.File(trace.FileWrite, false, 0, n(0))
	})
	w.step(0, &trace.Call{Blocks: []int64{all, all}})
	w.step(1, &trace.Call{Blocks: []int64{own, trace.NoBlock}})
}

// Rank 0 receives 30 bytes beside itself, and passes them on when they are there, while two processors compute; the second
// begins when the first has.
func writeBeside(w *goldenWriter) {
	n := trace.Const
	pass := w.block("pass", 0, func(b *trace.Builder) {
		b.Beside(0)
		b.Message(trace.OpRecv, 0, 0, n(1), n(5), n(30))
		b.After(n(1), false)
		b.Beside(0)
		b.Message(trace.OpSend, 0, 0, n(1), n(6), n(30))
		b.Beside(1)
		b.Flops(n(trace.FloatArg(100)))
		b.After(n(1), true)
		b.Beside(254)
		b.Sleep(n(trace.FloatArg(0.5)))
		b.WaitAll()
	})
	back := w.block("back", 0, func(b *trace.Builder) {
		b.Message(trace.OpSend, 0, 0, n(0), n(5), n(30))
		b.Message(trace.OpRecv, 0, 0, n(0), n(6), n(30))
	})
	w.step(0, &trace.Call{Blocks: []int64{pass, back}})
}

// queuesHeader has two queues, an event, a copy, and a kernel of one and one of two dimensions.
func queuesHeader() trace.Header {
	h := plainHeader()
	h.Queues, h.Events = []string{"compute", "data"}, []string{"packed"}
	h.Kernels = []trace.Kernel{
		{Name: "pack", Dims: []trace.Dim{{Name: "N"}}},
		{Name: "leaf", Dims: []trace.Dim{{Name: "M"}, {Name: "N"}}},
		{Name: "copy", Attrs: []trace.Param{{Name: "kind", Value: "h2d"}}, Dims: []trace.Dim{{Name: "BYTES"}}},
	}
	return h
}

// Rank 0 packs 30 in queue compute, for which queue data and the rank wait, and sends 100 bytes of the device; then a
// kernel in two parts. Rank 1 receives into memory of the host, after it has copied 40 bytes with and without waiting.
func writeQueues(w *goldenWriter) {
	n := trace.Const
	pack := w.block("pack", 0, func(b *trace.Builder) {
		b.Launch(0, 0, false, n(30))
		b.Queue(trace.QueueRecord, 0, 0)
		b.Queue(trace.QueueWait, 1, 0)
		b.Queue(trace.QueueSyncEvent, 0, 0)
		b.In(trace.MemoryDevice)
		b.Message(trace.OpSend, 0, 0, n(1), n(5), n(100))
	})
	receive := w.block("receive", 0, func(b *trace.Builder) {
		b.Launch(1, 2, false, n(40))
		b.Launch(1, 2, true, n(40))
		b.In(trace.MemoryHost)
		b.Message(trace.OpIrecv, 0, 0, n(0), n(5), n(100))
		b.Wait(0)
	})
	parts := w.block("parts", 0, func(b *trace.Builder) {
		b.LaunchParts(0, 1, n(2), n(8), n(3))
		b.Loop(n(2), func() {
			b.Queue(trace.QueueTake, 0, 0)
			b.Queue(trace.QueueGive, 0, 0)
		})
		b.Queue(trace.QueueSync, 0, 0)
		b.Queue(trace.QueueSyncAll, 0, 0)
	})
	w.step(0, &trace.Call{Blocks: []int64{pack, receive}})
	w.step(1, &trace.Call{Blocks: []int64{parts, trace.NoBlock}})
}

// relaysHeader has a kernel for what is done until messages have come.
func relaysHeader() trace.Header {
	h := plainHeader()
	h.Kernels = []trace.Kernel{{Name: "work", Dims: []trace.Dim{{Name: "ROWS"}}}}
	return h
}

// Rank 0 relays 250 bytes in chunks of 100, two at a time, then rank 1 relays 100 bytes and finishes; then 8 bytes of rank 0
// are awaited. Last, a ring: 250 bytes of rank 0, of which two chunks go up and one goes down.
func writeRelays(w *goldenWriter) {
	n := trace.Const
	work := int(w.block("work", 1, func(b *trace.Builder) { b.Compute(0, b.Param(0)) }))
	relays := w.block("relays", 0, func(b *trace.Builder) {
		b.Relay(0, 0, 4, n(250), n(0), 100, 10, 2)
		b.Advance(trace.RelayPoll, 0)
		b.Compute(0, b.WhilePending([]int{0, 1}, n(5), n(2), work))
		b.Advance(trace.RelayEither, 0)
		b.Advance(trace.RelayFinish, 0)
		b.Relay(1, 0, 6, n(100), n(1), 100, 10, 2)
		b.Compute(0, b.UntilDone(1, n(3), n(1), work))
		b.Relay(1, 0, 6, n(10), n(1), 100, 10, 2)
		b.Advance(trace.RelayFinish, 1)
		b.Icollective(0, trace.CollBcast, trace.CollectiveOperands{Send: n(8), SendSize: n(1)})
		b.Compute(0, b.UntilComplete([]int32{0}, n(2), n(1), work))
	})
	ring := w.block("ring", 0, func(b *trace.Builder) { b.Ring(0, 12, n(250), n(0), 100, true, false) })
	w.step(0, &trace.Call{Blocks: []int64{relays, relays}})
	w.step(1, &trace.Call{Blocks: []int64{ring, ring}})
}

// Step 1 needs requests, step 2 a generated vector: what the header, written after step
// 0, cannot know.
func writeLate(w *goldenWriter) {
	show := w.block("show", 2, showVector)
	stated := w.Vector(trace.Vector{Values: []int64{4, 2}})
	last := w.Vector(trace.Vector{Generated: lastPivot.Generated()})
	w.step(0, &trace.Call{Blocks: []int64{show}, Args: [][]int64{{stated}, {stated}}})
	w.step(1)
	wait := w.block("wait", 0, func(b *trace.Builder) { b.WaitAll() })
	if err := w.Call(&trace.Call{Blocks: []int64{wait}, Args: [][]int64{{stated}, {stated}}}); err != nil {
		w.t.Fatal(err)
	}
	w.step(2, &trace.Call{Blocks: []int64{show}, Args: [][]int64{{last}, {last}}})
}
