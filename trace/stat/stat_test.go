package stat

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// TestStatEqualsExpansion compares the counts from structure with those of the flat actions, and the number of steps with
// that written, of a file and of a stream, for programs of random blocks that use all operations; half of them begin and end phases anywhere: under conditions, in
// loops, in blocks that these call.
func TestStatEqualsExpansion(t *testing.T) {
	for seed := range uint64(400) {
		data := blockTrace(t, seed, seed%4 < 2)
		for _, late := range []bool{false, true} {
			tr := tracetest.Open(t, data)
			var want Report
			tracetest.Must(expand(tr, rules[late])).fill(&want, tr.Header())
			stream := tracetest.Must(trace.NewReader(bytes.NewReader(data), "stream"))
			for _, tr := range []*trace.Trace{tr, stream} {
				got, err := Of(tr, Options{Late: late, few: 1 + int(seed)%2*fewItems})
				if err != nil {
					t.Fatalf("seed %d late %t stream %t: %v", seed, late, tr.IsStream(), err)
				}
				if diff := cmp.Diff([]any{want.Totals, want.Kinds, want.Kernels, want.Phases, randomSteps}, []any{got.Totals, got.Kinds, got.Kernels, got.Phases, got.Steps}); diff != "" {
					t.Fatalf("seed %d late %t stream %t (-expanded +counted):\n%s", seed, late, tr.IsStream(), diff)
				}
			}
		}
	}
}

// TestStatOfRelays: in each group all members but the first receive 250 bytes in three chunks, whatever is complete when
// it is asked for.
func TestStatOfRelays(t *testing.T) {
	h := randomHeader()
	data := oneBlock(t, func(b *trace.Builder) {
		b.Relay(0, 0, 4, trace.Const(250), trace.Const(0), 100, 10, 2)
		b.Advance(trace.RelayFinish, 0)
	})
	n := 0
	for _, g := range h.CommFamilies[0].Groups {
		n += 3 * (g.Len() - 1)
	}
	for _, late := range []bool{false, true} {
		got := tracetest.Must(Of(tracetest.Open(t, data), Options{Late: late}))
		if got.Totals.Messages != int64(n) || got.Totals.Bytes != int64(n/3*250) {
			t.Errorf("late %t: %d messages of %d bytes, want %d", late, got.Totals.Messages, got.Totals.Bytes, n)
		}
	}
	if _, err := Of(tracetest.Must(trace.NewReader(bytes.NewReader(data), "stream")), Options{}); !errors.Is(err, errRelays) {
		t.Errorf("of a stream: %v", err)
	}
}

// oneBlock is a trace in which six ranks call a block, of which m is 0 for three and 1 for the others.
func oneBlock(t *testing.T, write func(b *trace.Builder)) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tracetest.Must(trace.NewWriter(&buf, randomHeader(), trace.WriterOptions{}))
	b := trace.NewBuilder("block", 3)
	write(b)
	n := tracetest.Must(w.Program().Add(b))
	v := w.Vector(trace.Vector{Values: []int64{1}})
	c := &trace.Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{int64(n), int64(n)}, Args: [][]int64{{0, 1}, {4, 4, 4}, {v}}}
	tracetest.Check(t, errors.Join(w.Step(0), w.Call(c), w.Close()))
	return buf.Bytes()
}

// TestStatOfConditions: the numbers are those of the blocks, for three ranks with m = 0 and three with m = 1.
func TestStatOfConditions(t *testing.T) {
	sleep := trace.Const(trace.FloatArg(1))
	for _, c := range []struct {
		name  string
		write func(b *trace.Builder)
		want  map[string]int64 // actions by phase
	}{
		{"a sum of elements that no vector has, where nothing asks for it", func(b *trace.Builder) {
			b.If(b.Min(b.Param(0), trace.Const(0)), func() { b.Compute(1, b.VectorSum(b.Param(2), trace.Const(3), trace.Const(1)), trace.Const(1)) })
			b.Sleep(sleep)
		}, map[string]int64{NoPhase: 6}},
	} {
		got, err := Of(tracetest.Open(t, oneBlock(t, c.write)), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, p := range got.Phases {
			if p.Totals.Actions != c.want[p.Phase] {
				t.Errorf("%s: %d actions in phase %s, want %d", c.name, p.Totals.Actions, p.Phase, c.want[p.Phase])
			}
		}
	}
}

// randomProgram makes blocks and calls by chance.
type randomProgram struct {
	*rand.Rand
	t     *testing.T
	w     *trace.Writer
	plain []int // blocks that do not poll
	even  []int // blocks that end the phases that they begin, and no others
	any   []int
	wild  bool // phases begin and end anywhere
}

// randomHeader is that of 2x3 ranks with two pollables, three phases and call sites
// with and without lists.
func randomHeader() *trace.Header {
	h := tracetest.GridHeader()
	h.Pollables = 2
	h.Phases = []string{"a", "b", "c"}
	h.Kernels = []trace.Kernel{
		{Name: "gemm", Dims: []trace.Dim{{Name: "M"}, {Name: "N"}, {Name: "K"}}, Flops: []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1, 1}}}},
		{Name: "trsm", Attrs: []trace.Param{{Name: "SIDE", Value: "L"}}, Dims: []trace.Dim{{Name: "M"}, {Name: "N"}}, Flops: []trace.Term{{Coef: 1, Pow: [4]uint8{2, 1}}, {Coef: 3, Pow: [4]uint8{0, 1}}}},
	}
	h.Markers = nil
	for i, name := range h.Phases {
		h.Markers = append(h.Markers, trace.Marker{Text: "begin " + name, Phase: i + 1}, trace.Marker{Text: "end " + name, Phase: i + 1, End: true})
	}
	h.CallSites = []trace.CallSite{
		{Name: "grid", Masks: []int{2}, Counts: trace.NoAxis, Block: 1, Params: []trace.ParamColumn{{Name: "m", Axis: 1}, {Name: "n", Axis: 2}, {Name: "v", Axis: 0, Vector: true}}},
		{Name: "list", Counts: 1, Block: trace.PerItem, Params: []trace.ParamColumn{{Name: "m", Axis: trace.PerItem}, {Name: "n", Axis: 2}, {Name: "v", Axis: trace.PerItem, Vector: true}}},
		{Name: "rank", Masks: []int{1, 2}, Counts: 3, Block: 2, Params: []trace.ParamColumn{{Name: "m", Axis: 3}, {Name: "n", Axis: trace.PerItem}, {Name: "v", Axis: 0, Vector: true}}},
	}
	return h
}

// randomSteps is the number of steps of a random program.
const randomSteps = 4

func blockTrace(t *testing.T, seed uint64, wild bool) []byte {
	t.Helper()
	var buf bytes.Buffer
	h := randomHeader()
	h.Communicators = seed%2 == 0
	w := tracetest.Must(trace.NewWriter(&buf, h, trace.WriterOptions{}))
	r := &randomProgram{Rand: rand.New(rand.NewPCG(seed, 0)), t: t, w: w, wild: wild}
	for i := range 4 {
		r.addBlock(i, false)
	}
	for i := range 5 {
		r.addBlock(4+i, true)
	}
	for step := range randomSteps {
		tracetest.Check(t, w.Step(step))
		for range 1 + r.IntN(3) {
			tracetest.Check(t, w.Call(r.call()))
		}
	}
	tracetest.Check(t, w.Close())
	return buf.Bytes()
}

// Every block has the parameters m, n (0 to 9) and v (a vector of four).
func (r *randomProgram) addBlock(i int, polls bool) {
	b := trace.NewBuilder(fmt.Sprint("block ", i), 3)
	g := &randomBlock{randomProgram: r, b: b, nums: []trace.Operand{trace.Const(0), trace.Const(3), b.Param(0), b.Param(1)}, polls: polls, even: true}
	g.items(2 + r.IntN(6))
	if r.IntN(4) == 0 && polls {
		b.Mark(r.IntN(6)) // a phase that begins or ends in another call
		g.action()
		g.even = false
	}
	n, err := r.w.Program().Add(b)
	if err != nil {
		r.t.Fatal(err)
	}
	r.any = append(r.any, n)
	if !polls {
		r.plain = append(r.plain, n)
	}
	if g.even {
		r.even = append(r.even, n)
	}
}

func (r *randomProgram) values(n, limit int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(r.IntN(limit))
	}
	return v
}

func (r *randomProgram) blocks(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(r.any[r.IntN(len(r.any))])
		if r.IntN(10) == 0 {
			v[i] = trace.NoBlock
		}
	}
	return v
}

func (r *randomProgram) vectors(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = r.w.Vector(trace.Vector{Values: r.values(4, 5)})
	}
	return v
}

func (r *randomProgram) call() *trace.Call {
	c := &trace.Call{Site: r.IntN(3)}
	switch c.Site {
	case 0:
		c.Masks = [][]int64{r.values(3, 4)}
		c.Blocks = r.blocks(2)
		c.Args = [][]int64{r.values(2, 10), r.values(3, 10), r.vectors(1)}
	case 1:
		c.Counts = r.values(2, 3)
		items := int(c.Counts[0] + c.Counts[1])
		c.Blocks = r.blocks(items)
		c.Args = [][]int64{r.values(items, 10), r.values(3, 10), r.vectors(items)}
	case 2:
		c.Masks = [][]int64{{1, int64(r.IntN(2))}, r.values(3, 4)}
		c.Counts = r.values(6, 3)
		items := 0
		for _, n := range c.Counts {
			items += int(n)
		}
		c.Blocks = r.blocks(3)
		c.Args = [][]int64{r.values(6, 10), r.values(items, 10), r.vectors(1)}
	}
	return c
}

// randomBlock fills a block; nums are operands of small nonnegative values.
type randomBlock struct {
	*randomProgram
	b     *trace.Builder
	nums  []trace.Operand
	polls bool
	even  bool // so far
	depth int  // of If and Loop
}

func (g *randomBlock) num() trace.Operand {
	o := g.nums[g.IntN(len(g.nums))]
	return o.Plus(int64(g.IntN(3)))
}

func (g *randomBlock) items(n int) {
	known := len(g.nums)
	for range n {
		switch g.IntN(9) {
		case 0, 1:
			g.let()
		case 2:
			g.nested()
		case 3:
			g.phase()
		case 4:
			g.call()
		case 5, 6:
			if g.polls {
				g.poll()
				continue
			}
			fallthrough
		default:
			g.action()
		}
	}
	g.nums = g.nums[:known]
}

func (g *randomBlock) call() {
	blocks := g.plain
	if g.polls {
		blocks = g.any
	}
	if g.depth > 0 && g.polls && !g.wild {
		blocks = g.randomProgram.even
	}
	if len(blocks) == 0 {
		return
	}
	block := blocks[g.IntN(len(blocks))]
	g.b.Call(block, g.num(), g.num(), g.b.Param(2))
	g.even = g.even && slices.Contains(g.randomProgram.even, block)
}

func (g *randomBlock) let() {
	b, x, y := g.b, g.num(), g.num()
	var v trace.Operand
	switch g.IntN(9) {
	case 0:
		v = b.Affine([]int64{2, 3}, x, y)
	case 1:
		v = b.Mul(x, b.Min(y, trace.Const(3)))
	case 2:
		v = b.Min(x, y)
	case 3:
		v = b.Max(b.Diff(x, y), trace.Const(0))
	case 4:
		v = b.Eq(x, y)
	case 5:
		v = b.Member(g.IntN(2), x)
	case 6:
		v = b.VectorAt(b.Param(2), x)
	case 7:
		v = b.VectorSum(b.Param(2), x, x.Plus(int64(g.IntN(5))))
	case 8:
		v = b.Max(b.Mul(b.Diff(x, y), b.Diff(x, y)), trace.Const(0))
	}
	g.nums = append(g.nums, b.Min(v, trace.Const(20)))
}

func (g *randomBlock) nested() {
	g.depth++
	defer func() { g.depth-- }()
	if g.IntN(2) == 0 {
		g.b.If(g.num().Plus(-1), func() { g.items(1 + g.IntN(3)) })
		return
	}
	g.b.Loop(g.b.Min(g.num().Plus(-2), trace.Const(3)), func() { g.items(1 + g.IntN(3)) })
}

// phase runs items inside of a phase.
func (g *randomBlock) phase() {
	p := g.IntN(3)
	if g.wild && g.IntN(3) == 0 {
		g.b.Mark(2*p + g.IntN(2))
		g.even = false
		return
	}
	g.b.Mark(2 * p)
	g.items(1 + g.IntN(3))
	g.b.Mark(2*p + 1)
}

func (g *randomBlock) poll() {
	b, slot := g.b, g.IntN(2)
	body := g.plain[g.IntN(len(g.plain))]
	switch g.IntN(6) {
	case 0:
		b.PollWait(slot) // a slot must be free
		b.DefineGuarded(slot, 0, trace.Const(1), trace.Const(7), body, g.num(), g.num(), b.Param(2))
	case 1:
		b.PollWait(slot)
		b.Define(slot, body, g.num(), g.num(), b.Param(2))
	case 2, 3:
		b.Poll(slot)
	case 4:
		b.PollWait(slot)
	case 5:
		b.Work(slot, g.num(), g.num().Plus(1), body, g.num(), b.Param(2))
	}
}

func (g *randomBlock) action() {
	b, peer, tag := g.b, trace.Const(int64(g.IntN(6))), trace.Const(5)
	if g.w.Program().Header().Communicators && g.IntN(3) == 0 {
		g.null(tag)
		return
	}
	switch g.IntN(22) {
	case 19:
		out, back := g.num(), g.b.Mul(g.num(), g.num())
		kind := trace.AccessKind(g.IntN(trace.NumAccesses))
		if kind == trace.AccessGet {
			out = trace.Const(0)
		} else if !kind.Fetches() {
			back = trace.Const(0)
		} else if g.IntN(2) == 0 {
			out, back = back, out
		}
		b.Access(kind, 0, int32(g.IntN(2))*4-1, b.Member(0, trace.Const(int64(g.IntN(3)))), g.num(), out, back)
	case 20:
		kind, peer := trace.SyncKind(g.IntN(trace.NumSyncs)), b.Member(0, trace.Const(1))
		if kind.Collective() || kind == trace.SyncLockAll || kind == trace.SyncUnlockAll {
			peer = trace.Const(trace.AllRanks)
		}
		b.Sync(kind, 0, peer, g.num(), trace.Const(int64(g.IntN(32))))
	case 21:
		b.File(trace.FileKind(g.IntN(trace.NumFileKinds)), g.IntN(2) == 0, 0, g.num())
	case 16:
		b.Complete(trace.Completion(g.IntN(trace.NumCompletions)), 3, 4)
	case 17:
		b.Message(trace.OpStart, 0, 3, peer, tag, g.num())
	case 18:
		b.Probe(0, peer, tag)
	case 14:
		b.Icollective(4, trace.CollReduce, trace.CollectiveOperands{Send: g.num(), SendSize: trace.Const(4), Flops: trace.Const(trace.FloatArg(float64(g.IntN(9)))),
			Comm: trace.Communicator(g.IntN(2))})
	case 15:
		b.Collective(trace.CollAllgather, trace.CollectiveOperands{Send: g.num(), SendSize: trace.Const(4), Recv: g.num(), RecvSize: trace.Const(4), Comm: trace.Communicator(1)})
	case 12:
		b.Collective(trace.CollAllreduce, trace.CollectiveOperands{Send: g.num(), SendSize: trace.Const(8), Flops: trace.Const(trace.FloatArg(float64(g.IntN(9))))})
	case 13:
		b.Collective(trace.CollBarrier, trace.CollectiveOperands{})
	case 0:
		b.Compute(0, g.num(), g.num(), g.num())
	case 1:
		b.Compute(1, g.num(), g.num())
	case 2:
		b.Flops(trace.Const(trace.FloatArg(float64(g.IntN(100)))))
	case 3:
		b.Sleep(trace.Const(trace.FloatArg(0.25 * float64(g.IntN(4)))))
	case 4, 5:
		op := []trace.Op{trace.OpSend, trace.OpSsend, trace.OpIsend, trace.OpIssend, trace.OpRecv, trace.OpIrecv}[g.IntN(6)]
		b.Message(op, 0, 3, peer, tag, g.num())
	case 6:
		b.Exchange(0, peer, tag, g.num(), g.num())
	case 7:
		b.SyncExchange(0, peer, tag, g.num(), g.num())
	case 8:
		b.Sendrecv(0, peer, tag, g.num(), peer, tag, g.num())
	case 9:
		b.Iprobe(0, peer, tag)
	case 10:
		b.Wait(3)
	case 11:
		b.Exchange(0, peer, tag, b.Scale(8, g.num()), b.Scale(8, g.num()))
	}
}

// null appends a message whose peers are null or rank 5.
func (g *randomBlock) null(tag trace.Operand) {
	b := g.b
	peer := b.Scale(7, b.Eq(g.num(), g.num())).Plus(trace.ProcNull)
	source := b.Scale(7, b.Eq(g.num(), g.num())).Plus(trace.ProcNull)
	switch g.IntN(3) {
	case 0:
		op := []trace.Op{trace.OpSend, trace.OpSsend, trace.OpIsend, trace.OpIssend, trace.OpRecv, trace.OpIrecv}[g.IntN(6)]
		b.Message(op, 0, 3, peer, tag, g.num())
	case 1:
		b.Sendrecv(0, peer, tag, g.num(), source, tag, g.num())
	case 2:
		b.Iprobe(0, peer, tag)
	}
}

// TestEndlessBlocks counts blocks of which each calls the one before twice, with arguments that are all different. Loops
// cost nothing, but their turns may be too many.
func TestEndlessBlocks(t *testing.T) {
	tr := tracetest.Open(t, doubled(t, 18))
	if got, err := Of(tr, Options{}); err != nil || got.Totals.KernelCalls != 6<<18 {
		t.Errorf("%v, %+v, want 6*2^18 calls", err, got)
	}
	tr = tracetest.Open(t, doubled(t, 40))
	c := newRunner(tr.Program(), false)
	c.left = 1e6
	for chunk, err := range tr.Chunks(0, 0) {
		if err == nil {
			err = c.unitCall(chunk, &chunk.Units()[0].Calls[0])
		}
		if !errors.Is(err, errItems) {
			t.Errorf("error %v, want %v", err, errItems)
		}
	}
	const turns = 1 << 30
	loops := func(inner func(b *trace.Builder)) []byte {
		return oneBlock(t, func(b *trace.Builder) {
			b.Loop(trace.Const(turns), func() { b.Loop(trace.Const(turns), func() { b.Loop(trace.Const(turns), func() { inner(b) }) }) })
		})
	}
	if got, err := Of(tracetest.Open(t, loops(func(b *trace.Builder) { b.Loop(trace.Const(0), func() { b.WaitAll() }) })), Options{}); err != nil || got.Totals.Actions != 0 {
		t.Errorf("%v, %+v, want no actions", err, got)
	}
	if _, err := Of(tracetest.Open(t, loops(func(b *trace.Builder) { b.WaitAll() })), Options{}); !errors.Is(err, errTotals) {
		t.Errorf("error %v, want %v", err, errTotals)
	}
}

// doubled returns a trace of 6 ranks that each call a kernel 2^n times.
func doubled(t *testing.T, n int) []byte {
	t.Helper()
	var buf bytes.Buffer
	h := tracetest.GridHeader()
	w := tracetest.Must(trace.NewWriter(&buf, h, trace.WriterOptions{}))
	b := trace.NewBuilder("leaf", 3)
	b.If(b.Param(0), func() { b.Compute(0, trace.Const(1), trace.Const(1)) })
	for i := range n {
		n := tracetest.Must(w.Program().Add(b))
		b = trace.NewBuilder("caller", 3)
		b.Call(n, b.Param(0), b.Param(1), b.Param(2))
		b.Call(n, b.Param(0).Plus(1<<i), b.Param(1), b.Param(2))
	}
	last := tracetest.Must(w.Program().Add(b))
	v := w.Vector(trace.Vector{Values: []int64{0}})
	c := &trace.Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{int64(last), int64(last)}, Args: [][]int64{{1, 2}, {1, 2, 3}, {v}}}
	tracetest.Check(t, errors.Join(w.Step(0), w.Call(c), w.Close()))
	return buf.Bytes()
}
