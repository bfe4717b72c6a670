package replay_test

import (
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/trace"
)

// Kinds of steps: what repeats, what an estimate makes of it, and for how many steps of each kind its windows stand.

// TestRepeatsTables: steps whose calls name tables repeat where the tables are the same, in a file of one chunk and in
// one of many, whose tables all have the same numbers: each block of 20 steps sends other sizes. Makespans are those of
// a replay that plays all steps, as it does for an observer.
func TestRepeatsTables(t *testing.T) {
	write := func(chunk int) func(io.Writer) error {
		return func(out io.Writer) error {
			h := &trace.Header{Program: "tables", Ranks: 2, Steps: 60, Axes: []trace.Axis{{Name: "all", Kind: trace.AxisAll}},
				CallSites: []trace.CallSite{{Name: "step", Counts: trace.NoAxis, Block: 0, Params: []trace.ParamColumn{{Name: "sizes", Vector: true}}}}}
			w, err := trace.NewWriter(out, h, trace.WriterOptions{ChunkUnits: chunk})
			if err != nil {
				return err
			}
			b, one := trace.NewBuilder("step", 1), trace.Const(1)
			b.Sleep(trace.Const(int64(math.Float64bits(0.01))))
			b.Collective(trace.CollAlltoallv, trace.CollectiveOperands{Send: b.Param(0), SendSize: one, Recv: b.Param(0), RecvSize: one})
			block, err := w.Program().Add(b)
			for k, v := 0, int64(0); k < 60; k++ {
				if size := int64(1e6 * (1 + k/20)); chunk > 0 || k%20 == 0 {
					v = w.Vector(trace.Vector{Values: []int64{size, size}})
				}
				err = errors.Join(err, w.Step(k), w.Call(&trace.Call{Blocks: []int64{int64(block)}, Args: [][]int64{{v}}}))
			}
			return errors.Join(err, w.Close())
		}
	}
	for _, chunk := range []int{0, 1} {
		tr, err := opener(t, write(chunk))()
		noError(t, err)
		defer tr.Close()
		b := newBench(t, star(2), 2)
		got, err := replay.Run(t.Context(), tr, b.Machine, b.Options)
		noError(t, err)
		b.Options.Observers = []replay.Observer{{}}
		want, err := replay.Run(t.Context(), tr, b.Machine, b.Options)
		noError(t, err)
		sameTime(t, "makespan", got.Makespan, want.Makespan)
		if got.Bytes != want.Bytes || want.Makespan < 60*0.01+120e6/starBandwidth {
			t.Errorf("%d bytes in %v s, want %d", got.Bytes, want.Makespan, want.Bytes)
		}
		if many := len(tr.ChunkInfos()) > 3; many != (chunk > 0) || !many && got.Repeated < 30 {
			t.Errorf("%d chunks, %d steps repeat", len(tr.ChunkInfos()), got.Repeated)
		}
	}
}

// TestSampleKinds: 25 blocks of 20 steps, of which the first one is dear and the others are alike; each block is a
// little dearer than the one before, the ranks take turns in being the slower one, and a barrier ends the step. Windows
// among such steps scatter, where 50 kinds of steps, each measured once, tell the sum.
func TestSampleKinds(t *testing.T) {
	b := newBench(t, star(2), 2)
	seconds := func(k int) (first, second float64) {
		slow := 1 + float64(k/20)/50
		if k%20 == 0 {
			slow *= 3
		}
		if k/20%2 == 0 {
			return slow, 0.6
		}
		return 0.6, slow
	}
	open := opener(t, writePair(500, seconds, func(b *trace.Builder, s trace.Operand) {
		b.Sleep(s)
		b.Collective(trace.CollBarrier, trace.CollectiveOperands{})
	}))
	all := 0.0
	for k := range 500 {
		all += max(seconds(k))
	}
	e, err := replay.Sample(t.Context(), open, b.Machine, b.Options, replay.SampleOptions{Tolerance: 0.01, Workers: 2})
	noError(t, err)
	const barriers = 500 * 1e-3 // at most
	if math.Abs(e.Seconds-all) > e.Interval+barriers || e.Interval > 0.01*all || e.Simulated > 125 {
		t.Errorf("%v s +- %v s by %d steps, want %v s", e.Seconds, e.Interval, e.Simulated, all)
	}
}

// TestWindowWeight: of steps 0 to 19 the middles of 0:4 and 10:15 are 2 and 12.5, and half-way
// between these is 7.25.
func TestWindowWeight(t *testing.T) {
	e := &replay.Estimate{Estimate: &sampling.Estimate{Windows: []sampling.Window{{Start: 0, To: 4}, {From: 8, Start: 10, To: 15}}}, First: 0, Last: 19}
	if first, second := e.WindowWeight(0), e.WindowWeight(1); first != 7.25 || second != 12.75 {
		t.Errorf("%v and %v steps, want 7.25 and 12.75", first, second)
	}
}

// TestWindowWeightKinds: of 20 steps the first and the last are of a kind of their own, a and c, which
// windows 0:2 and 18:20 have, with one b each, and 9:11 has two b. a and c are there once, so these
// windows are taken once, and the other 8 times for the other 16 b. By what is nearest a stands for 5.
//
// With only the two windows 0:2 and 18:20 no weights fit all three kinds. Where a takes 100 times as long as b, and
// c nothing, these must be right: once and 17 times, 101*1 + 1*17 = 100 + 18 s. Where all take as long the two are
// taken as often, 5*4 = 20 s, and where all take nothing by what is nearest.
func TestWindowWeightKinds(t *testing.T) {
	const a, b, c = 0, 1, 2
	work := slices.Concat([]int32{a}, slices.Repeat([]int32{b}, 18), []int32{c})
	first, last := sampling.Window{From: 0, To: 2}, sampling.Window{From: 18, Start: 18, To: 20}
	for _, test := range []struct {
		windows       []sampling.Window
		seconds, want []float64
	}{
		{[]sampling.Window{first, {From: 9, Start: 9, To: 11}, last}, []float64{1, 1, 1}, []float64{2, 16, 2}},
		{[]sampling.Window{first, last}, []float64{100, 1, 0}, []float64{2 * 1, 2 * 17}},
		{[]sampling.Window{first, last}, []float64{1, 1, 1}, []float64{2 * 5, 2 * 5}},
		{[]sampling.Window{first, last}, []float64{0, 0, 0}, []float64{10, 10}},
	} {
		e := &replay.Estimate{Estimate: &sampling.Estimate{Windows: test.windows}, First: 0, Last: 19}
		e.SetWork(work, test.seconds)
		for i, want := range test.want {
			if got := e.WindowWeight(i); math.Abs(got-want) > 1e-9 {
				t.Errorf("with %v s window %d stands for %v steps, want %v", test.seconds, i, got, want)
			}
		}
	}
}
