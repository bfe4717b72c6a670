package hpcg

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"reprise/trace/stat"
	"reprise/trace/verify"
)

// TestFlops: the flop of all calls, by their rows and nonzeros, are HPCG's formulas to the
// last digit, on the grid of Fugaku's run and on others.
func TestFlops(t *testing.T) {
	slabs := DefaultParams(12, 16)
	slabs.NZ, slabs.PZ, slabs.ZL, slabs.ZU = 0, 1, 32, 16
	sets := DefaultParams(30, 24)
	sets.Sets, sets.Iterations = 3, 53
	for _, p := range []Params{DefaultParams(1, 16), DefaultParams(7, 32), sets, slabs, DefaultParams(158976, 104)} {
		tr := open(t, p)
		report, err := stat.Of(tr, stat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Complete(); err != nil {
			t.Fatal(err)
		}
		if got, want := report.Totals.Flops, Total(p.Flops()); got != want || tr.Header().Flops != want {
			t.Errorf("%v: %.0f flop, header %.0f, want %.0f", p.Grid, got, tr.Header().Flops, want)
		}
		for i, part := range partNames {
			for _, phase := range report.Phases {
				if phase.Phase == part && phase.Totals.Flops != p.Flops()[i] {
					t.Errorf("%v: %s: %.0f flop, want %.0f", p.Grid, part, phase.Totals.Flops, p.Flops()[i])
				}
			}
		}
	}
}

// TestTraffic: 104^3 points, an interior rank has 26 neighbours; a set has 50 iterations of
// 11 exchanges and one more, 151 reductions, 350 symgs and 201 spmv. On the grid 3x3x3 the
// ranks have 2*2*2 (corners) to 3*3*3 (the inner one) positions around, themselves included:
// 7^3 pairs in all, 7 = 2 + 3 + 2, of which 27 are no messages.
func TestTraffic(t *testing.T) {
	report, err := stat.Of(open(t, DefaultParams(27, 104)), stat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := report.Totals.Messages, int64((7*7*7-27)*(50*11+1)); got != want {
		t.Errorf("%d messages, want %d", got, want)
	}
	for _, k := range report.Kinds {
		if k.Kind == "allreduce" && k.Actions != 27*151 {
			t.Errorf("%d reductions, want %d", k.Actions, 27*151)
		}
	}
	for _, k := range report.Kernels {
		if want, ok := map[string]int64{"symgs": 350, "spmv": 201}[k.Kernel]; ok && k.Calls != 27*want {
			t.Errorf("%d calls of %s, want %d", k.Calls, k.Kernel, 27*want)
		}
	}
}

// TestVerify: on random parameters what is sent is received, with its size.
func TestVerify(t *testing.T) {
	random, runs := rand.New(rand.NewPCG(1, 2)), 20
	if testing.Short() {
		runs = 7
	}
	for done := 0; done < runs; {
		p := DefaultParams(1+random.IntN(60), 0)
		side := func() int { return 8 * (2 + random.IntN(4)) }
		p.NX, p.NY, p.NZ = side(), side(), side()
		p.Iterations, p.Phase = 50, Phase(random.IntN(2))
		if random.IntN(2) == 0 {
			p.NZ, p.PZ, p.ZL, p.ZU = 0, 1, side(), side()
		}
		if _, err := p.Complete(); err != nil {
			continue // such as 11x1x1
		}
		done++
		if _, err := verify.Trace(open(t, p), nil); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestStops: a canceled context and a bad writer end the generator.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Generate(ctx, &bytes.Buffer{}, DefaultParams(8, 16), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	read, write := io.Pipe()
	read.Close()
	if err := Generate(context.Background(), write, DefaultParams(8, 16), Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
	if err := Generate(context.Background(), &bytes.Buffer{}, DefaultParams(11, 16), Options{}); err == nil {
		t.Error("11 ranks, which HPCG refuses")
	}
}

// TestBroadcast: parameters of an hpcg.dat are ten integers of 4 bytes from rank 0; those of a
// command line are nobody's message.
func TestBroadcast(t *testing.T) {
	p := DefaultParams(2, 16)
	p.Phase = All
	if first := list(t, open(t, p), 1)[0]; first != "begin generate 0" {
		t.Errorf("flags: first line %q", first)
	}
	p.FromFile = true
	if first := list(t, open(t, p), 1)[0]; first != "bcast 10 4 0" {
		t.Errorf("hpcg.dat: first line %q", first)
	}
}
