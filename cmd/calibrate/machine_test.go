package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// machineIn returns a run that makes a machine in a new directory, with its first step done.
func machineIn(t *testing.T) (*machineRun, machineStep) {
	t.Helper()
	r := &machineRun{dir: t.TempDir(), done: map[string]machineStep{}}
	r.c = cli.NewContext(newApp(nil, nil, io.Discard, io.Discard), flag.NewFlagSet("machine", flag.ContinueOnError), nil)
	r.c.Context = context.Background()
	if err := os.Mkdir(r.path("measured"), 0o777); err != nil {
		t.Fatal(err)
	}
	s := machineStep{name: stepKernelTimes, Args: []string{"measure", "kernels"}, outputs: []string{kernelTable}}
	r.done[s.name] = s
	r.replace(t, "of the first runs")
	if err := r.keepSteps(); err != nil {
		t.Fatal(err)
	}
	return r, s
}

// replace writes the table of kernels anew, as measurements do.
func (r *machineRun) replace(t *testing.T, text string) {
	t.Helper()
	part := r.path("measured/part")
	if err := errors.Join(os.WriteFile(part, []byte(text), 0o600), os.Rename(part, r.path(kernelTable))); err != nil {
		t.Fatal(err)
	}
}

// kept returns the names of the steps that the directory says are done.
func (r *machineRun) kept(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile(r.path(stepsFile))
	var steps map[string]machineStep
	if err = errors.Join(err, json.Unmarshal(text, &steps)); err != nil {
		t.Fatal(err)
	}
	for name := range steps {
		names = append(names, name)
	}
	return names
}

// TestMeasuredAgain: a measurement for other runs that is interrupted leaves its table in place of that of
// the first, which then is not done any more; one that fails before it has measured leaves what there was.
func TestMeasuredAgain(t *testing.T) {
	interrupted := errors.New("interrupted")
	for _, test := range []struct {
		name string
		do   func(r *machineRun) error
		want []string
	}{
		{"interrupted", func(r *machineRun) error { r.replace(t, "of the other runs"); return interrupted }, nil},
		{"no compiler", func(*machineRun) error { return interrupted }, []string{stepKernelTimes}},
	} {
		r, s := machineIn(t)
		err := r.again(s, func() error {
			if got := r.kept(t); len(got) > 0 {
				t.Errorf("%s: %v is done as long as it is measured again", test.name, got)
			}
			return test.do(r)
		})
		if got := r.kept(t); !errors.Is(err, interrupted) || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, done %v, want %v", test.name, err, got, test.want)
		}
	}
}

// TestOwnPlots: a fit leaves no plots of an earlier one beside its own.
func TestOwnPlots(t *testing.T) {
	r, _ := machineIn(t)
	table := "function,n,seconds\ndscal,10,1e-7\ndscal,100,1e-6\ndscal,1000,1e-5\n"
	dir := r.path(plotDirs[stepKernelModels])
	if err := errors.Join(os.WriteFile(r.path(kernelTable), []byte(table), 0o600), os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, "dgemm-all.svg"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s := machineStep{name: stepKernelModels, Args: []string{"kernels", "--plots", dir, r.path(kernelTable)}}
	if err := r.fit(s); err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if want := []string{filepath.Join(dir, "dscal-all.svg")}; err != nil || !slices.Equal(list, want) {
		t.Errorf("plots %v, want %v", list, want)
	}
}

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
