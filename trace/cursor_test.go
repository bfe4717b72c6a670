package trace

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gridHeader describes 2x3 ranks, row-major, with one call site of two arguments
// per process row and one vector.
func gridHeader() *Header {
	h := &Header{Program: "test", Ranks: 6, Steps: 3, Pollables: 1, Phases: []string{"work"}}
	row, col := CommFamily{Name: "row"}, CommFamily{Name: "col"}
	for r := range 2 {
		row.Groups = append(row.Groups, Group{Start: int32(3 * r), Stride: 1, Count: 3})
	}
	for q := range 3 {
		col.Groups = append(col.Groups, Group{Start: int32(q), Stride: 3, Count: 2})
	}
	h.CommFamilies = []CommFamily{row, col}
	h.Axes = []Axis{{Name: "all"}, {Name: "row", Kind: AxisFamily, Family: 0}, {Name: "col", Kind: AxisFamily, Family: 1}, {Name: "rank", Kind: AxisRank}}
	h.Kernels = []Kernel{{Name: "k", Dims: []Dim{{Name: "M"}, {Name: "N"}}}}
	h.Markers = []Marker{{Text: "begin work n={} sums={sums} list={list}", Phase: 1}, {Text: "end work", Phase: 1, End: true}}
	h.CallSites = []CallSite{{Name: "t", Masks: []int{2}, Counts: NoAxis, Block: 1,
		Params: []ParamColumn{{Name: "m", Axis: 1}, {Name: "n", Axis: 2}, {Name: "v", Axis: 0, Vector: true}}}}
	return h
}

// traced writes a trace of one call per step of the block and reads it back.
func traced(t testing.TB, h *Header, steps int, b *Builder) *Trace {
	t.Helper()
	var buf bytes.Buffer
	w := must(NewWriter(&buf, h, WriterOptions{}))
	block := must(w.Program().Add(b))
	n := int64(block)
	v := w.Vector(Vector{Values: []int64{5, 0, 7, 1}})
	for s := range steps {
		check(t, w.Step(s))
		check(t, w.Call(&Call{Masks: [][]int64{{1, 1, 0}}, Blocks: []int64{n, n}, Args: [][]int64{{10, 20}, {1, 2, 3}, {v}}}))
	}
	check(t, w.Close())
	return must(NewReader(&buf, "test.trace.zst"))
}

// flatten returns a rank's actions without steps, with polls answered in turn.
func flatten(t testing.TB, tr *Trace, rank int32, o CursorOptions, answers ...bool) []Action {
	t.Helper()
	c := must(tr.Cursors([]int32{rank}, o))
	var all []Action
	buf := make([]Action, 3)
	for {
		n := must(c[0].Fill(buf))
		if n == 0 {
			return all
		}
		for _, a := range buf[:n] {
			if a.Kind != KindStep {
				all = append(all, a)
			}
		}
		if buf[n-1].Kind == KindPoll {
			c[0].Answer(answers[0])
			answers = answers[1:]
		}
	}
}

func compute(m, n int64) Action { return Action{Kind: KindCompute, X: [4]int64{m, n}} }

func TestOperandsOfRank(t *testing.T) {
	// Rank 4 is in row 1, column 1: m = 20, n = 2, vector 5 0 7 1.
	b := NewBuilder("operands", 3)
	m, n, v := b.Param(0), b.Param(1), b.Param(2)
	b.Compute(0, b.Affine([]int64{2, -3}, m.Plus(1), n), b.Mul(m, n.Plus(1))) // 2*21-3*2, 20*3
	b.Compute(0, b.Min(m, n), b.Max(m, n))                                    // 2, 20
	b.Compute(0, b.Eq(n, Const(2)), b.Eq(n, Const(3)))                        // 1, 0
	b.Compute(0, b.VectorSum(v, n, n.Plus(3)), b.VectorAt(v, Const(6)))       // 7+1+5, 7
	b.Compute(0, b.Member(0, n), b.Member(1, n.Plus(-3)))                     // member 2 of ranks 3,4,5; member -1 = 1 of ranks 1,4
	b.Compute(0, b.Sum(b.Scale(3, n), Const(1<<40)), b.Diff(m, n).Plus(-1))   // 6+2^40, 17
	b.Compute(0, n.Plus(1<<33), b.Mul(Const(4), n))                           // 2+2^33, 8
	want := []Action{compute(36, 60), compute(2, 20), compute(1, 0), compute(13, 7), compute(5, 4), compute(6+1<<40, 17), compute(2+1<<33, 8)}
	if diff := cmp.Diff(want, flatten(t, traced(t, gridHeader(), 1, b), 4, CursorOptions{})); diff != "" {
		t.Error(diff)
	}
}

// TestControlFlow: a loop of no or fewer turns than that does nothing, nor does a condition of less than 1. Rank 4 has
// m = 20, n = 2.
func TestControlFlow(t *testing.T) {
	b := NewBuilder("control", 3)
	m, n := b.Param(0), b.Param(1)
	b.Loop(n, func() {
		b.Compute(0, m, n)
		b.Loop(Const(2), func() { b.Compute(0, Const(7), Const(8)) })
	})
	b.Loop(n.Plus(-2), func() { b.Compute(0, Const(9), Const(9)) })
	b.Loop(n.Plus(-3), func() { b.Compute(0, Const(6), Const(6)) })
	b.If(n.Plus(-2), func() { b.Compute(0, Const(3), Const(3)) })
	b.If(n.Plus(-1), func() { b.Compute(0, Const(4), Const(4)) })
	b.If(Const(0), func() { b.Compute(0, Const(5), Const(5)) })
	turn := []Action{compute(20, 2), compute(7, 8), compute(7, 8)}
	want := append(slices.Repeat(turn, 2), compute(4, 4))
	if diff := cmp.Diff(want, flatten(t, traced(t, gridHeader(), 1, b), 4, CursorOptions{})); diff != "" {
		t.Error(diff)
	}
}

// pollBlock defines a pollable (guarded by a message from rank 5 or not) whose
// body computes (99, arg), polls it once, and works 10 columns in chunks of 4.
func pollBlock(t *testing.T, h *Header, guarded bool) *Trace {
	t.Helper()
	var buf bytes.Buffer
	w := must(NewWriter(&buf, h, WriterOptions{}))
	add := func(b *Builder) int {
		return must(w.Program().Add(b))
	}
	body := NewBuilder("body", 1)
	body.Compute(0, Const(99), body.Param(0))
	work := NewBuilder("work", 2)
	work.Compute(0, work.Param(0), work.Param(1))
	bodyBlock, workBlock := add(body), add(work)
	b := NewBuilder("polls", 3)
	if guarded {
		b.DefineGuarded(0, 0, Const(5), Const(77), bodyBlock, b.Param(0))
	} else {
		b.Define(0, bodyBlock, b.Param(0))
	}
	b.Compute(0, Const(1), Const(1))
	b.Poll(0)
	b.Compute(0, Const(2), Const(2))
	b.Work(0, b.Param(1).Plus(8), Const(4), workBlock, b.Param(1))
	b.PollWait(0)
	b.Poll(0)
	n := int64(add(b))
	check(t, errors.Join(w.Step(0), w.Call(&Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{n, n}, Args: [][]int64{{10, 20}, {1, 2, 3}, {w.Vector(Vector{Values: []int64{1}})}}}), w.Close()))
	return must(NewReader(&buf, "polls"))
}

func TestPolls(t *testing.T) {
	// Rank 1: column 1, so n = 2 and 10 columns; row 0, so the body's argument is 10.
	poll := Action{Kind: KindPoll, Peer: 5, Tag: 77}
	spin := Action{Kind: KindPoll, Peer: 5, Tag: 77, Flags: FlagSpin}
	body := compute(99, 10)
	one, two := compute(1, 1), compute(2, 2)
	for _, test := range []struct {
		name    string
		guarded bool
		answers []bool
		want    []Action
	}{
		{"no guard: at the first poll", false, nil, []Action{one, body, two, compute(10, 2)}},
		{"hit at once", true, []bool{true}, []Action{one, poll, body, two, compute(10, 2)}},
		{"hit after the first chunk", true, []bool{false, true},
			[]Action{one, poll, two, compute(4, 2), poll, body, compute(6, 2)}},
		{"hit when the columns are done", true, []bool{false, false, false, true},
			[]Action{one, poll, two, compute(4, 2), poll, compute(4, 2), poll, compute(2, 2), spin, body}},
		{"spin twice", true, []bool{false, false, false, false, false, true},
			[]Action{one, poll, two, compute(4, 2), poll, compute(4, 2), poll, compute(2, 2), spin, compute(0, 2), spin, compute(0, 2), spin, body}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := flatten(t, pollBlock(t, gridHeader(), test.guarded), 1, CursorOptions{}, test.answers...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestImpossibleActions(t *testing.T) {
	for name, build := range map[string]func(b *Builder){
		"peer too large": func(b *Builder) { b.Message(OpSend, 0, 0, Const(6), Const(0), Const(0)) },
		"peer negative":  func(b *Builder) { b.Message(OpRecv, 0, 0, b.Diff(Const(0), b.Param(0)), Const(0), Const(0)) },
		"bytes negative": func(b *Builder) { b.Exchange(0, Const(1), Const(0), Const(-8), Const(8)) },
		"tag too large":  func(b *Builder) { b.Message(OpRecv, 0, 0, Const(1), Const(1<<31), Const(8)) },
		"tag of both":    func(b *Builder) { b.Exchange(0, Const(1), Const(-1<<31-1), Const(8), Const(8)) },
		"dimension":      func(b *Builder) { b.Compute(0, b.Param(0).Plus(-11), Const(1)) },
		"sum too long":   func(b *Builder) { b.Compute(0, b.VectorSum(b.Param(2), Const(0), Const(5)), Const(1)) },
		"sum that wraps": func(b *Builder) {
			b.Compute(0, b.VectorSum(b.Param(2), Const(math.MinInt64), Const(math.MaxInt64)), Const(1))
		},
		"bytes unknown":  func(b *Builder) { b.Message(OpSend, 0, 0, Const(1), Const(0), Const(-1)) },
		"flops of NaN":   func(b *Builder) { b.Flops(Const(FloatArg(math.NaN()))) },
		"sleep below 0":  func(b *Builder) { b.Sleep(Const(FloatArg(-1))) },
		"sleep for ever": func(b *Builder) { b.Sleep(Const(FloatArg(math.Inf(1)))) },
		"empty chunks":   func(b *Builder) { b.Work(0, Const(3), Const(0), 0, b.Param(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := gridHeader()
			var buf bytes.Buffer
			w := must(NewWriter(&buf, h, WriterOptions{}))
			callee := NewBuilder("callee", 2)
			callee.Compute(0, callee.Param(0), callee.Param(1))
			must(w.Program().Add(callee))
			b := NewBuilder(name, 3)
			build(b)
			n := must(w.Program().Add(b))
			v := w.Vector(Vector{Values: []int64{1, 2, 3, 4}})
			check(t, errors.Join(w.Step(0), w.Call(&Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{int64(n), int64(n)}, Args: [][]int64{{10, 20}, {1, 2, 3}, {v}}}), w.Close()))
			tr := must(NewReader(&buf, name))
			c := must(tr.Cursors(nil, CursorOptions{}))
			if _, err := c[0].Fill(make([]Action, 8)); !errors.Is(err, ErrAction) {
				t.Errorf("error %v, want an impossible action", err)
			}
		})
	}
}

func TestBlockRules(t *testing.T) {
	for _, test := range []struct {
		name  string
		block Block
	}{
		{"unknown operation", Block{Items: []Item{{Op: numOps}}}},
		{"kernel that does not exist", Block{Items: []Item{{Op: OpCompute, Sym: 1, Args: make([]Operand, 2)}}}},
		{"too few dimensions", Block{Items: []Item{{Op: OpCompute, Args: make([]Operand, 1)}}}},
		{"call of a later block", Block{Items: []Item{{Op: OpCall, Sym: 0}}}},
		{"register not set", Block{Params: 1, Items: []Item{{Op: OpLoop, Args: []Operand{{Reg: 2}}}}}},
		{"register set twice", Block{Params: 1, Items: []Item{{Op: OpLetMul, Dst: 1, Args: make([]Operand, 2)}}}},
		{"register 0 set", Block{Items: []Item{{Op: OpLetMul, Args: make([]Operand, 2)}}}},
		{"register of an if used after it", Block{Params: 1, Items: []Item{
			{Op: OpIf, Args: []Operand{{Reg: 1}}, Body: []Item{{Op: OpLetMul, Dst: 2, Args: make([]Operand, 2)}}},
			{Op: OpLoop, Args: []Operand{{Reg: 2}}}}}},
		{"pollable that does not exist", Block{Items: []Item{{Op: OpPoll, Slot: 1}}}},
		{"coefficients missing", Block{Items: []Item{{Op: OpLetAffine, Dst: 1, Args: make([]Operand, 1)}}}},
		{"body where none belongs", Block{Items: []Item{{Op: OpWaitAll, Body: []Item{{Op: OpWaitAll}}}}}},
		{"request slot beyond the last", Block{Items: []Item{{Op: OpFree, Req: MaxRequests}}}},
		{"too many parameters", Block{Params: maxRegs}},
		{"result where none belongs", Block{Items: []Item{{Op: OpWaitAll, Dst: 1}}}},
		{"pollable where none belongs", Block{Items: []Item{{Op: OpWaitAll, Slot: 1}}}},
		{"request where none belongs", Block{Items: []Item{{Op: OpSend, Req: 1, Args: make([]Operand, 3)}}}},
		{"symbol where none belongs", Block{Items: []Item{{Op: OpWaitAll, Sym: 1}}}},
		{"family without a guard", Block{Items: []Item{{Op: OpSend, GuardSym: 1, Args: make([]Operand, 3)}}}},
		{"vector with a constant", Block{Params: 1, Items: []Item{{Op: OpLetSum, Dst: 2, Args: []Operand{{Reg: 1, Const: 1}, {}, {}}}}}},
		{"coefficient of 33 bits", Block{Params: 1, Items: []Item{{Op: OpLetAffine, Dst: 2, Coefs: []int64{1 << 31}, Args: []Operand{{Reg: 1}}}}}},
		{"marker without its arguments", Block{Items: []Item{{Op: OpMark}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := must(NewProgram(gridHeader()))
			if n, err := p.AddBlock(test.block); !errors.Is(err, ErrBlock) {
				t.Errorf("accepted as block %d, error %v", n, err)
			}
		})
	}
}

func TestEqualBlocksShareANumber(t *testing.T) {
	p := must(NewProgram(gridHeader()))
	add := func(name string, dim int64) int {
		b := NewBuilder(name, 0)
		b.Compute(0, Const(dim), Const(1))
		return must(p.Add(b))
	}
	if a, b, c := add("one", 1), add("other name", 1), add("one", 2); a != b || a == c {
		t.Errorf("numbers %d, %d, %d: want the first two equal, the third not", a, b, c)
	}
}

func TestHeaderRules(t *testing.T) {
	for name, mutate := range map[string]func(h *Header){
		"no ranks":             func(h *Header) { h.Ranks = 0 },
		"too many ranks":       func(h *Header) { h.Ranks = MaxRanks + 1 },
		"rank in two groups":   func(h *Header) { h.CommFamilies[0].Groups[1].Start = 2 },
		"rank in no group":     func(h *Header) { h.CommFamilies[0].Groups[0].Count = 2 },
		"axis without family":  func(h *Header) { h.Axes[1].Family = 2 },
		"mask without axis":    func(h *Header) { h.CallSites[0].Masks[0] = 4 },
		"per item, no list":    func(h *Header) { h.CallSites[0].Block = PerItem },
		"phase does not exist": func(h *Header) { h.Markers[0].Phase = 2 },
		"negative flop":        func(h *Header) { h.Flops = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			h := gridHeader()
			mutate(h)
			if err := h.Check(); !errors.Is(err, ErrHeader) {
				t.Errorf("error %v, want a bad header", err)
			}
		})
	}
}

func TestFillAllocatesNothing(t *testing.T) {
	b := NewBuilder("loop", 3)
	b.Loop(Const(1<<40), func() {
		b.Exchange(0, b.Member(0, b.Param(1)), Const(1), b.Scale(8, b.Param(0)), Const(8))
	})
	c := must(traced(t, gridHeader(), 1, b).Cursors([]int32{0}, CursorOptions{}))
	buf := make([]Action, 64)
	fill := func() {
		must(c[0].Fill(buf))
	}
	fill()
	if n := testing.AllocsPerRun(100, fill); n != 0 {
		t.Errorf("%g allocations per Fill", n)
	}
}

func BenchmarkFill(b *testing.B) {
	block := NewBuilder("loop", 3)
	block.Loop(Const(1<<40), func() {
		block.Compute(0, block.Param(0), block.Param(1))
		block.SyncExchange(0, Const(1), Const(1), block.Param(0), Const(8))
		block.Compute(0, block.Param(0), Const(4))
	})
	c := must(traced(b, gridHeader(), 1, block).Cursors([]int32{0}, CursorOptions{}))
	buf := make([]Action, 64)
	actions := 0
	b.ReportAllocs()
	for b.Loop() {
		n := must(c[0].Fill(buf))
		actions += n
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(actions), "ns/action")
}

// TestLive: what is linked of a block is actions and what they need: no values that nobody reads,
// no kernels that are left out, no markers that nobody wants, and no conditions or calls of those.
// A sum of two registers is one instruction.
func TestLive(t *testing.T) {
	h := gridHeader()
	h.Phases, h.Markers = nil, []Marker{{Text: "n={}"}}
	p := must(NewProgram(h))
	silent := NewBuilder("silent", 1)
	silent.Mark(0, silent.Param(0))
	nothing := must(p.Add(silent))
	b := NewBuilder("block", 2)
	x, y := b.Param(0), b.Param(1)
	product := b.Mul(x, y) // for the kernel, and the condition of what is not linked
	b.Compute(0, product, x)
	b.If(b.Diff(product, x), func() {
		b.Mark(0, y)
		b.Loop(product, func() { b.Call(nothing, y) })
	})
	b.Message(OpSend, 0, 0, Const(1), Const(0), b.Sum(x.Plus(3), y))
	n := must(p.Add(b))
	for _, c := range []struct {
		name    string
		markers bool
		omit    []bool
		want    []opcode
	}{
		{"all", true, nil, []opcode{opMul, opAction, opFma, opJumpZero, opMarkInt, opMark,
			opFma, opJumpLess1, opSet, opCall, opLoopNext, opFma, opMessage, opRet}},
		{"without markers", false, nil, []opcode{opMul, opAction, opFma, opMessage, opRet}},
		{"without the kernel", false, []bool{true}, []opcode{opFma, opMessage, opRet}},
	} {
		code := must(p.code(c.markers, c.omit))
		var got []opcode
		for _, in := range code.instrs[code.entries[n].pc:] {
			got = append(got, in.op)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// must returns a value of what cannot fail in a test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// check ends a test at an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
