package path_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"reprise/replay"
	"reprise/report/path"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// TestWindows: the path of an estimate is as long as the estimate says, and consists of what
// that of the exact replay does, to 2 % of the makespan for each part.
func TestWindows(t *testing.T) {
	p := hpl.DefaultParams(12000, 2, 2)
	p.NB = 24
	var text bytes.Buffer
	if err := hpl.Generate(t.Context(), &text, p, hpl.Options{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.trace.zst")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() (*trace.Trace, error) { return trace.Open(file) }
	first, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	m, o := machine(t, flat, 4, "smpi/iprobe:1e-6")
	w := path.NewWindows(first.Header(), m, o)
	e, err := replay.Sample(t.Context(), open, m, o, replay.SampleOptions{Tolerance: 0.02, Workers: 2, Observe: w.Observe})
	if err != nil {
		t.Fatal(err)
	}
	got := w.Data(e)
	_, want := player(func(m replay.Machine, o replay.Options) (*replay.Result, error) {
		return replay.Run(t.Context(), first, m, o)
	}).run(t, first.Header(), m, o)
	sum := 0.0
	for _, part := range got.Parts {
		sum += part.Seconds
	}
	if math.Abs(sum-e.Seconds) > 1e-9*e.Seconds || got.Seconds != e.Seconds {
		t.Errorf("parts add up to %v s, want %v s", sum, e.Seconds)
	}
	for kind, seconds := range byKind(want) {
		if off := byKind(got)[kind] - seconds; math.Abs(off) > 0.02*want.Seconds {
			t.Errorf("%s: %v s, want %v s of %v s", kind, byKind(got)[kind], seconds, want.Seconds)
		}
	}
	if got.WhatIfs[0].What != want.WhatIfs[0].What {
		t.Errorf("first %s, want %s", got.WhatIfs[0].What, want.WhatIfs[0].What)
	}
}

// byKind returns the seconds of the parts of each kind.
func byKind(d *path.Data) map[string]float64 {
	sums := map[string]float64{}
	for _, p := range d.Parts {
		sums[p.Kind] += p.Seconds
	}
	return sums
}
