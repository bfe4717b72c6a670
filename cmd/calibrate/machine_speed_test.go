package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// recordedTrace is a command for the scripts: it writes a trace of two ranks that do nothing,
// recorded with a second as 2 Gflop.
func recordedTrace() {
	if err := writeRecorded(os.Args[1], "2e+09"); err != nil {
		panic(err)
	}
}

// writeRecorded writes a trace that says of a second how many flop it counts for; of "", nothing.
func writeRecorded(path, speed string, list ...trace.Kernel) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := &trace.Header{Program: "test", Ranks: 2, Steps: 1, Kernels: list,
		Axes:         []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CommFamilies: []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: 2}}}}}
	if speed != "" {
		h.Params = []trace.Param{{Name: capture.SpeedParam, Value: speed}}
	}
	w, err := trace.NewWriter(f, h, trace.WriterOptions{})
	if err != nil {
		return err
	}
	return errors.Join(w.Step(0), w.Close())
}

func TestRecordedSpeed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, speed string, list ...trace.Kernel) string {
		path := filepath.Join(dir, name)
		if err := writeRecorded(path, speed, list...); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, same, two := write("one", "1e+09"), write("same", "1000000000"), write("two", "2e+09")
	foreign, odd := write("foreign", ""), write("odd", "fast")
	blas := write("blas", "1e+09", trace.Kernel{Name: "dgemm"})
	for _, c := range []struct {
		runs []string
		want float64
		err  string
	}{
		{runs: []string{one}, want: 1e9},
		{runs: []string{one, same}, want: 1e9},
		{runs: []string{one, two}, err: "record them with the same --speed"},
		{runs: []string{foreign}},
		{runs: []string{one, blas}},
		{runs: []string{odd}, err: `odd: flop of a second "fast", want flop/s above 0`},
	} {
		got, err := recordedSpeed(c.runs)
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%v: %g, %v, want %g", c.runs, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%v: %v, want %q", c.runs, err, c.err)
		}
	}
}
