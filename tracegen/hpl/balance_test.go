package hpl

import (
	"math"
	"slices"
	"testing"

	"reprise/internal/portable"
	"reprise/trace"
)

// channel is where messages match in order.
type channel struct {
	from, to, tag int32
	family        uint16
}

// flow collects the sizes sent and received per channel.
type flow struct{ sent, received map[channel][]int64 }

func (f *flow) add(rank int32, a *trace.Action) {
	out := channel{rank, a.Peer, a.Tag, a.Sym}
	in := channel{a.Peer, rank, a.Tag, a.Sym}
	switch a.Kind {
	case trace.KindSend, trace.KindSsend:
		f.sent[out] = append(f.sent[out], a.X[0])
	case trace.KindRecv, trace.KindIrecv:
		f.received[in] = append(f.received[in], a.X[0])
	case trace.KindExchange, trace.KindSyncExchange:
		f.sent[out] = append(f.sent[out], a.X[0])
		f.received[in] = append(f.received[in], a.X[1])
	}
}

// each calls visit for all actions of all ranks.
func each(t testing.TB, tr *trace.Trace, rule trace.PollAnswers, visit func(rank int32, a *trace.Action)) {
	t.Helper()
	cursors, err := tr.Cursors(nil, trace.CursorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var buf [64]trace.Action
	for i := range cursors {
		for {
			n, err := cursors[i].Fill(buf[:])
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			for k := range buf[:n] {
				visit(cursors[i].Rank(), &buf[k])
			}
			if last := &buf[n-1]; last.Kind == trace.KindPoll {
				arrived, err := rule.Answer(last)
				if err != nil {
					t.Fatal(err)
				}
				cursors[i].Answer(arrived)
			}
		}
	}
}

// TestMessagesMatch draws parameters and checks that what is sent on each
// channel is received, in order and with the same sizes.
func TestMessagesMatch(t *testing.T) {
	draw := uint64(0)
	pick := func(n int) int { draw++; return int(portable.Mix(draw) % uint64(n)) }
	runs := 150
	if testing.Short() {
		runs = 40
	}
	for range runs {
		p := DefaultParams(1+pick(60), 1+pick(9), 1+pick(7))
		p.NB, p.NBMin, p.NDiv = 1+pick(12), 1+pick(5), 2+pick(3)
		p.PMap, p.PFact, p.RFact = Order(pick(2)), Fact(pick(3)), Fact(pick(3))
		p.Bcast, p.Depth = Bcast(pick(6)), pick(4)
		p.Swap, p.SwapThreshold = Swap(pick(3)), pick(12)
		p.L1, p.U, p.Equil, p.CopyL = Form(pick(2)), Form(pick(2)), pick(2) == 1, pick(2) == 1
		p.Pivots.Seed = uint64(pick(1000))
		tr := openTrace(t, generate(t, p, Options{}))
		for _, rule := range []trace.PollAnswers{trace.Hit{}, trace.Late{}} {
			f := flow{map[channel][]int64{}, map[channel][]int64{}}
			each(t, tr, rule, f.add)
			for c, sizes := range f.sent {
				if !slices.Equal(sizes, f.received[c]) {
					t.Fatalf("%+v: channel %+v: sent %v, received %v", p, c, sizes, f.received[c])
				}
			}
			if len(f.received) != len(f.sent) {
				t.Fatalf("%+v: %d channels sent to, %d received from", p, len(f.sent), len(f.received))
			}
		}
	}
}

// flopCount evaluates the terms of all kernel calls of a trace.
func flopCount(t *testing.T, tr *trace.Trace) float64 {
	kernels := tr.Header().Kernels
	var sum float64
	each(t, tr, trace.Hit{}, func(_ int32, a *trace.Action) {
		if a.Kind != trace.KindCompute {
			return
		}
		for _, term := range kernels[a.Sym].Flops {
			v := term.Coef
			for i, power := range term.Pow {
				v *= math.Pow(float64(a.X[i]), float64(power))
			}
			sum += v
		}
	})
	return sum
}

// TestFlops compares the flop of all kernels with HPL's operation count,
// 2/3 N^3 + 3/2 N^2. It neglects what process rows compute more than once: the
// triangular solves with L1, NB^2 n for the n columns right of a panel, by the
// P-1 other process rows, (P-1) NB N^2/2 in all, and as much again inside the
// panels at most; and it takes multiply-adds with the unit diagonal and within
// panels for nothing, some NB N^2.
func TestFlops(t *testing.T) {
	for _, tt := range []struct{ n, nb, p, q int }{{600, 20, 1, 1}, {600, 20, 2, 3}, {900, 30, 4, 2}} {
		p := DefaultParams(tt.n, tt.p, tt.q)
		p.NB, p.Pivots.Kind = tt.nb, NoPivots
		got := flopCount(t, openTrace(t, generate(t, p, Options{})))
		neglected := float64(tt.p+1) * float64(tt.nb) * float64(tt.n) * float64(tt.n)
		if got < p.Flops() || got > p.Flops()+neglected {
			t.Errorf("%+v: %.4g flop, HPL counts %.4g, at most %.4g more", tt, got, p.Flops(), neglected)
		}
	}
}

// TestFirstFlops: the same of the first steps, with look-ahead of several depths. Each step has its share of what
// TestFlops neglects, (P+1) NB^2 N. HPL's count also has the solution's 2 N^2, the right-hand side's part of which
// comes with the steps: up to 3 N for each column more or less.
func TestFirstFlops(t *testing.T) {
	for _, depth := range []int{0, 1, 2, 4} {
		for _, steps := range []int{1, 2, 3, 10, 29, 30, 31} {
			p := DefaultParams(900, 2, 3)
			p.NB, p.Depth, p.Pivots.Kind = 30, depth, NoPivots
			got, want := flopCount(t, openTrace(t, generate(t, p, Options{FirstSteps: steps}))), p.FirstFlops(steps)
			columns := float64(min(steps, p.Panels()) * p.NB)
			if neglected := (float64(p.P+1)*float64(p.NB) + 3) * float64(p.N) * columns; math.Abs(got-want) > neglected {
				t.Errorf("depth %d, %d steps: %.4g flop, want %.4g, at most %.4g more or less", depth, steps, got, want, neglected)
			}
		}
	}
}
