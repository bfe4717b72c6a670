package hpl

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/portable"
	"reprise/internal/tracetest"
	"reprise/trace/stat"
	"reprise/trace/verify"
)

// totals returns the sums over all actions of the run's trace.
func totals(t *testing.T, p Params, o Options) stat.Counts {
	t.Helper()
	report := must(stat.Of(tracetest.Open(t, generate(t, p, o)), stat.Options{}))
	return report.Totals
}

// TestMessagesMatch draws parameters and checks that the messages sent are received, in order and with
// the same sizes.
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
		if _, err := verify.Trace(tracetest.Open(t, generate(t, p, Options{})), nil); err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
	}
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
		got := totals(t, p, Options{}).Flops
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
			p.NB, p.Depth, p.Pivots.Kind, p.FirstSteps = 30, depth, NoPivots, steps
			got, want := totals(t, p, Options{}).Flops, p.FirstFlops(steps)
			columns := float64(min(steps, (p.N+p.NB-1)/p.NB) * p.NB)
			if neglected := (float64(p.P+1)*float64(p.NB) + 3) * float64(p.N) * columns; math.Abs(got-want) > neglected {
				t.Errorf("depth %d, %d steps: %.4g flop, want %.4g, at most %.4g more or less", depth, steps, got, want, neglected)
			}
		}
	}
}

// splitMixSeed is the seed for which the pivot of column c is
// c + mix(c) mod (N-c), the rule of the recorded simulations: mix(seed) = 0.
const splitMixSeed = 0x61C8864680B583EB

// TestOracleTraffic compares messages and bytes with what the real code sent in
// recorded simulations, of up to 256 ranks and N = 65536.
func TestOracleTraffic(t *testing.T) {
	names, err := filepath.Glob("../../testdata/oracle/smpi-hpl/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recorded simulations: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) { checkTraffic(t, name) })
	}
}

func checkTraffic(t *testing.T, name string) {
	t.Parallel()
	data := must(os.ReadFile(name))
	var run struct {
		oracleCase
		Messages     int64
		MessageBytes int64 `json:"message_bytes"`
	}
	if err := json.Unmarshal(data, &run); err != nil {
		t.Fatal(err)
	}
	if testing.Short() && run.Messages > 500000 {
		t.Skip("many messages")
	}
	p := run.params(t)
	p.Pivots = Pivots{Kind: RandomPivots, Seed: splitMixSeed}
	if got := totals(t, p, Options{}); got.Messages != run.Messages || got.Bytes != run.MessageBytes {
		t.Errorf("%d messages of %d bytes, want %d of %d", got.Messages, got.Bytes, run.Messages, run.MessageBytes)
	}
}
