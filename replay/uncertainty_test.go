package replay_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/kernels/noise"
	"reprise/replay"
	"reprise/trace"
)

// uncertain draws a rank that calls kernel k, of terms {N: 1}, 100 times with N = 1.
func uncertain(t *testing.T, kernels string, o replay.Options, uo replay.UncertaintyOptions) (*replay.Uncertainty, error) {
	t.Helper()
	b := newBench(t, star(1), 1)
	b.setKernels(t, kernels, "k")
	return replay.Uncertain(t.Context(), &b.header, b.Machine, o, uo, func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Played, error) {
		r, err := replay.RunSource(ctx, &b.header, replay.NewLists([][]trace.Action{calls(100)}), m, o)
		if err != nil {
			return nil, err
		}
		return replay.PlayedExactly(r), nil
	})
}

// TestUncertainty: 100 calls of 1 s, whose coefficient has a deviation of 2 %, on a host that
// is off by 3 %, with noise of 10 % of each call: 2, 3 and 1 s, and the root of the sum of the
// squares, sqrt(14), of all. Deviations of n draws have one of 1/sqrt(2n), and six of them are
// allowed. By Student's distribution, as good as normal here, 90 % are within 1.645 deviations.
func TestUncertainty(t *testing.T) {
	const n = 2000
	file := "version: 1\nunit: s\nhost_scatter: 3%\nkernels:\n  k: {terms: {N: 1}, covariance: [[4e-4]], noise: {normal: 0.1}}\n"
	u, err := uncertain(t, file, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: n, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 6/math.Sqrt(2*n) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	near("mean", u.Makespan.Mean, 100)
	near("sd", u.Makespan.SD, math.Sqrt(14))
	near("interval", u.Makespan.High-u.Makespan.Low, 2*1.645*math.Sqrt(14))
	var names []string
	for i, p := range u.Parts {
		names = append(names, p.Name)
		near(p.Name, p.SD, float64([]int{2, 3, 1}[i]))
	}
	if diff := cmp.Diff([]string{"calibration", "hosts", "noise"}, names); diff != "" {
		t.Error(diff)
	}
	again, err := uncertain(t, file, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: n, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(u.Draws, again.Draws); diff != "" {
		t.Error("with another number of workers:", diff)
	}
}

// TestUncertaintyCovers: of 400 kernel files whose coefficient is off by a normal deviate of
// 2 %, which they say, the intervals of 20 draws hold the truth, 100 s, in 90 % of cases: a
// binomial number with a deviation of 6, of which four are allowed.
func TestUncertaintyCovers(t *testing.T) {
	const files = 400
	held := 0
	for i := range files {
		d := noise.NewSource(99).Draw(noise.Computation, 0, 0, uint32(i))
		file := fmt.Sprintf("version: 1\nunit: s\nkernels:\n  k: {terms: {N: %.17g}, covariance: [[4e-4]]}\n", 1+0.02*d.Normal())
		o := replay.DefaultOptions()
		o.Seed = uint64(1000 * i)
		u, err := uncertain(t, file, o, replay.UncertaintyOptions{Draws: 20, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if u.Makespan.Low <= 100 && 100 <= u.Makespan.High {
			held++
		}
	}
	if math.Abs(float64(held)-0.9*files) > 24 {
		t.Errorf("%d of %d intervals hold the truth, want 360 within 24", held, files)
	}
}

// TestUncertaintyOfEstimates: a standard error of 3 s beside draws that scatter by 4 s is one
// of 5 s.
func TestUncertaintyOfEstimates(t *testing.T) {
	b := newBench(t, star(1), 1)
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  k: {terms: {N: 1}, covariance: [[1]]}\n", "k")
	u, err := replay.Uncertain(t.Context(), &b.header, b.Machine, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: 4}, func(_ context.Context, _ replay.Machine, o replay.Options) (*replay.Played, error) {
		return &replay.Played{Header: &b.header, Sampling: 3}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []replay.UncertaintyPart{{Name: "calibration", SD: 0}, {Name: "sampling", SD: 3}}
	if diff := cmp.Diff(want, u.Parts); diff != "" || u.Makespan.SD != 3 {
		t.Error(diff, u.Makespan)
	}
}

// TestUncertaintyErrors are drawings that cannot be, or that fail.
func TestUncertaintyErrors(t *testing.T) {
	certain := "version: 1\nunit: s\nkernels:\n  k: {terms: {N: 1}}\n"
	if _, err := uncertain(t, certain, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: 20}); !errors.Is(err, replay.ErrCertain) {
		t.Errorf("a certain machine: %v", err)
	}
	if _, err := uncertain(t, noisyFile, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: 2}); err == nil {
		t.Error("two draws are enough")
	}
	b := noisyBench(t, 1)
	failed := errors.New("failed")
	_, err := replay.Uncertain(t.Context(), &b.header, b.Machine, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: 20, Workers: 3}, func(context.Context, replay.Machine, replay.Options) (*replay.Played, error) {
		return nil, failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("%v, want that of the replay", err)
	}
}
