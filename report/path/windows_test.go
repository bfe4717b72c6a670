package path_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/replay"
	"reprise/report/path"
	"reprise/trace"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
)

// TestWindows: the path of an estimate is as long as the estimate says, and consists of what
// that of the exact replay does, to 2 % of the makespan for each part. The sleep before the first
// action is in it once.
func TestWindows(t *testing.T) {
	open := written(t, 12000, 2, 2)
	first, err := open()
	noError(t, err)
	defer first.Close()
	for _, entry := range []float64{0, 10} {
		windows(t, open, first, entry)
	}
}

// windows compares the path of an estimate with that of the exact replay, where ranks sleep for some
// seconds before they begin.
func windows(t *testing.T, open func() (*trace.Trace, error), first *trace.Trace, entry float64) {
	m, o := machine(t, flat, 4, "smpi/iprobe:1e-6", fmt.Sprintf("smpi/init:%g", entry))
	e, got, want := sampled(t, open, first, m, o)
	sum := 0.0
	for _, part := range got.Parts {
		sum += part.Seconds
	}
	if math.Abs(sum-e.Seconds) > 1e-9*e.Seconds || got.Seconds != e.Seconds {
		t.Errorf("parts add up to %v s, want %v s", sum, e.Seconds)
	}
	for kind, seconds := range sums(want, kindOf) {
		if off := sums(got, kindOf)[kind] - seconds; math.Abs(off) > 0.02*(want.Seconds-entry) {
			t.Errorf("%s: %v s, want %v s of %v s", kind, sums(got, kindOf)[kind], seconds, want.Seconds)
		}
	}
	if slept := sums(got, kindOf)[path.KindSleep]; math.Abs(slept-entry) > 1e-9 {
		t.Errorf("asleep for %v s, want %v s", slept, entry)
	}
	if got.WhatIfs[0].What != want.WhatIfs[0].What {
		t.Errorf("first %s, want %s", got.WhatIfs[0].What, want.WhatIfs[0].What)
	}
}

// sampled returns an estimate to 2 %, and the path of its windows.
func sampled(t *testing.T, open func() (*trace.Trace, error), first *trace.Trace, m replay.Machine, o replay.Options) (
	e *replay.Estimate, got, want *path.Data) {
	t.Helper()
	w := path.NewWindows(first.Header(), m, o)
	so := replay.SampleOptions{Tolerance: 0.02, Workers: 2, Observe: w.Observe}
	e, err := replay.Sample(t.Context(), open, m, o, so)
	noError(t, err)
	_, want = player(func(m replay.Machine, o replay.Options) (*replay.Result, error) {
		return replay.Run(t.Context(), first, m, o)
	}).run(t, first.Header(), m, o)
	return e, w.Data(e), want
}

// TestWindowsOfKinds: of 3 sets of HPCG each begins with a step of its own kind, which is in two of three
// windows and stands for those 3 of 150 steps. With its set-up, HPCG has one step that takes most of the
// time, in a window with two of 50 iterations, which are in no other but with the last step. So calls of
// each kernel take of the path, phase by phase, what they take in the exact replay, to 1 % of the makespan.
func TestWindowsOfKinds(t *testing.T) {
	sets, all := hpcg.DefaultParams(12, 16), hpcg.DefaultParams(8, 16)
	sets.Sets, all.Phase = 3, hpcg.All
	for _, p := range []hpcg.Params{sets, all} {
		windowsOfKinds(t, p)
	}
}

// windowsOfKinds compares the path of an estimate of HPCG with that of the exact replay.
func windowsOfKinds(t *testing.T, p hpcg.Params) {
	open := saved(t, func(w io.Writer) error { return hpcg.Generate(t.Context(), w, p, hpcg.Options{}) })
	first, err := open()
	noError(t, err)
	defer first.Close()
	m, o := machine(t, flat, first.Header().Ranks)
	m.Kernels, err = kernels.Parse(strings.NewReader("version: 1\nunit: s\nkernels: {spmv: {terms: {ROWS: 1e-6}}, symgs: {terms: {ROWS: 1e-6}}, \"*\": 1e-5}\n"), "models.yaml")
	noError(t, err)
	_, estimated, want := sampled(t, open, first, m, o)
	got := sums(estimated, nameOf)
	for name, seconds := range sums(want, nameOf) {
		if math.Abs(got[name]-seconds) > 0.01*want.Seconds {
			t.Errorf("%s: %v s, want %v s of %v s", name, got[name], seconds, want.Seconds)
		}
	}
}

// sums returns the seconds of the parts that have a text alike.
func sums(d *path.Data, text func(path.Part) string) map[string]float64 {
	sums := map[string]float64{}
	for _, p := range d.Parts {
		sums[text(p)] += p.Seconds
	}
	return sums
}

func nameOf(p path.Part) string { return p.Name + " in " + p.Phase }
func kindOf(p path.Part) string { return p.Kind }

// written writes the trace of HPL with a matrix of n columns in blocks of 24 on p x q ranks, and returns
// what opens it.
func written(t *testing.T, n, p, q int) func() (*trace.Trace, error) {
	t.Helper()
	params := hpl.DefaultParams(n, p, q)
	params.NB = 24
	return saved(t, func(w io.Writer) error { return hpl.Generate(t.Context(), w, params, hpl.Options{}) })
}

// saved saves a trace in a file and returns what opens it.
func saved(t *testing.T, write func(io.Writer) error) func() (*trace.Trace, error) {
	t.Helper()
	var text bytes.Buffer
	noError(t, write(&text))
	file := filepath.Join(t.TempDir(), "run.trace.zst")
	noError(t, os.WriteFile(file, text.Bytes(), 0o600))
	return func() (*trace.Trace, error) { return trace.Open(file) }
}
