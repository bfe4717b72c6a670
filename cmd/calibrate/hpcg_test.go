package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/calibrate/measure"
	"reprise/calibrate/runs"
	"reprise/trace"
	"reprise/tracegen/hpcg"
)

// hpcgTrace writes the trace of a run.
func hpcgTrace(t *testing.T, p hpcg.Params) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hpcg.trace.zst")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	must(t, hpcg.Generate(context.Background(), f, p, hpcg.Options{}))
	return path
}

// planOf plans the measurement of a run on one core.
func planOf(t *testing.T, path string) *measure.Plan {
	t.Helper()
	run, err := runs.Read([]string{path}, nil)
	must(t, err)
	o := measure.DefaultOptions()
	o.NoPin = true
	plan, err := measure.NewPlan(run, o)
	must(t, err)
	return plan
}

// namedCall is a call of a kernel, with the dimensions that the trace has.
type namedCall struct {
	kernel string
	dims   [4]int64
}

// callsOf returns the calls of a rank in their order.
func callsOf(t *testing.T, path string, rank int32) (list []namedCall) {
	t.Helper()
	tr, err := trace.Open(path)
	must(t, err)
	defer tr.Close()
	cursors, err := tr.Cursors([]int32{rank}, trace.CursorOptions{})
	must(t, err)
	var buf [512]trace.Action
	for {
		n, err := cursors[0].Fill(buf[:])
		must(t, err)
		if n == 0 {
			return list
		}
		for _, a := range buf[:n] {
			if a.Kind == trace.KindCompute {
				list = append(list, namedCall{tr.Header().Kernels[a.Sym].Name, a.X})
			}
		}
	}
}

// TestHPCGOrder: the calls that are measured are those of a rank of the run, each with its sizes, in their order.
// The traces equal recorded runs (tracegen/hpcg). Of the four ranks of a run that are looked at, that of the
// largest matrix is taken: of 27 the one in the middle.
func TestHPCGOrder(t *testing.T) {
	for _, c := range []struct {
		ranks, ny int
		like      int32 // the rank whose calls are measured
	}{{1, 16, 0}, {2, 24, 0}, {27, 16, 13}} {
		p := hpcg.DefaultParams(c.ranks, 16)
		p.NY = c.ny
		path := hpcgTrace(t, p)
		plan := planOf(t, path)
		want := callsOf(t, path, c.like)
		want = want[:len(want)/6] // the start of the set and eight of its 50 iterations
		first := slices.IndexFunc(plan.Order, func(turn measure.Turn) bool { return turn.Call >= 0 })
		for i, call := range want {
			at := &plan.Calls[plan.Order[first+i].Call]
			if got := (namedCall{plan.Kernels[at.Kernel].Name, at.Dims}); got != call {
				t.Fatalf("%d ranks: call %d is %+v, want %+v", c.ranks, i, got, call)
			}
		}
		for _, call := range callsOf(t, path, c.like) {
			if !slices.ContainsFunc(plan.Calls, func(at measure.Call) bool { return plan.Kernels[at.Kernel].Name == call.kernel && at.Dims == call.dims }) {
				t.Fatalf("%d ranks: %+v is not measured", c.ranks, call)
			}
		}
	}
}

// TestHPCGPhases: of the whole run, the kernels of the tests before the timed sets are left out, with a
// warning for each.
func TestHPCGPhases(t *testing.T) {
	p := hpcg.DefaultParams(2, 16)
	p.Phase = hpcg.All
	plan := planOf(t, hpcgTrace(t, p))
	var texts []string
	for _, w := range plan.Warnings {
		texts = append(texts, w.String())
	}
	if len(plan.Kernels) != 9 || len(texts) != 4 || !strings.HasPrefix(texts[0], "fill: no way to time it is known") {
		t.Errorf("%d kernels, warnings %q", len(plan.Kernels), texts)
	}
}
