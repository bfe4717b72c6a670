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
	"testing"

	"github.com/urfave/cli/v2"
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

// TestMeasuredAgain: a measurement for other runs that is interrupted leaves its table in place of that of the first, which
// then is not done any more; one that fails before it has measured leaves what there was.
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
