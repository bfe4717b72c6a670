package machine

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/regular/regulartest"
	"reprise/trace"
)

// newMaker returns a maker of a machine in a new directory, where kernels were measured for the first runs.
func newMaker(t *testing.T) *maker {
	t.Helper()
	m := &maker{Options: Options{Dir: t.TempDir()}, done: map[string]step{stepKernelTimes: {Args: []string{"first"}}}}
	must(t, errors.Join(os.Mkdir(m.path("measured"), 0o777), m.keepSteps()))
	m.replace(t, "of the first runs")
	return m
}

// replace writes the table of kernels anew, as measurements do.
func (m *maker) replace(t *testing.T, text string) {
	t.Helper()
	part := m.path("measured/part")
	must(t, errors.Join(os.WriteFile(part, []byte(text), 0o600), os.Rename(part, m.path(kernelTable))))
}

// TestMeasuredAgain: a measurement for other runs that is interrupted leaves its table in place of that of
// the first, which then is not done any more; one that fails before it has measured leaves what there was.
func TestMeasuredAgain(t *testing.T) {
	interrupted := errors.New("interrupted")
	for name, test := range map[string]struct{ replace, kept bool }{"interrupted": {true, false}, "no compiler": {false, true}} {
		m := newMaker(t)
		isKept := func() bool {
			text, err := os.ReadFile(m.path(stepsFile))
			var steps map[string]step
			must(t, errors.Join(err, json.Unmarshal(text, &steps)))
			return len(steps) > 0
		}
		m.Run = func([]string, io.Writer) error {
			if isKept() {
				t.Errorf("%s: kernels are done as long as they are measured again", name)
			}
			if test.replace {
				m.replace(t, "of the other runs")
			}
			return interrupted
		}
		if err := m.measure(stepKernelTimes, step{Args: []string{"other"}}); !errors.Is(err, interrupted) || isKept() != test.kept {
			t.Errorf("%s: %v, kept %v, want %v", name, err, isKept(), test.kept)
		}
	}
}

// TestOwnPlots: a fit finds no plots of an earlier one beside its own.
func TestOwnPlots(t *testing.T) {
	m := newMaker(t)
	dir := m.path(plotDirs[stepKernelModels])
	must(t, errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, "dgemm-all.svg"), nil, 0o600)))
	m.Run = func([]string, io.Writer) error {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", dir, err)
		}
		return nil
	}
	must(t, m.step(stepKernelModels, step{}))
}

// TestSpecialSteps: a directory whose notes of an earlier call are no file is refused at once.
func TestSpecialSteps(t *testing.T) {
	regulartest.Special(t, func(t *testing.T, what string, put func(string)) {
		m := newMaker(t)
		must(t, os.Remove(m.path(stepsFile)))
		put(m.path(stepsFile))
		if err, want := m.begin(), m.path(stepsFile)+": want a regular file, this is "+what; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

func TestRecordedSpeed(t *testing.T) {
	dir := t.TempDir()
	// write writes a trace that says of a second how many flop it counts for; of "", nothing.
	write := func(name, speed string, kernels ...trace.Kernel) string {
		f, err := os.Create(filepath.Join(dir, name))
		must(t, err)
		h := &trace.Header{Program: "test", Ranks: 1, Steps: 1, Kernels: kernels,
			Axes:         []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
			CommFamilies: []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: 1}}}}}
		if speed != "" {
			h.Params = []trace.Param{{Name: trace.ParamRate, Value: speed}}
		}
		w, err := trace.NewWriter(f, h, trace.WriterOptions{})
		if err == nil {
			err = errors.Join(w.Step(0), w.Close(), f.Close())
		}
		must(t, err)
		return f.Name()
	}
	one, same, two := write("one", "1e+09"), write("same", "1000000000"), write("two", "2e+09")
	foreign, odd := write("foreign", ""), write("odd", "fast")
	blas := write("blas", "1e+09", trace.Kernel{Name: "dgemm"})
	for _, c := range []struct {
		runs []string
		want float64
		err  string
	}{
		{runs: []string{one, same}, want: 1e9},
		{runs: []string{one, two}, err: "record them with the same --speed"},
		{runs: []string{foreign}},
		{runs: []string{one, blas}},
		{runs: []string{odd}, err: `odd: flop of a second "fast", want flop/s above 0`},
	} {
		got, err := recordedSpeed(c.runs)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %g, %v, want %g, %q", c.runs, got, err, c.want, c.err)
		}
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
