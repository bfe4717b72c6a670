package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"reprise/calibrate/measure"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/kernels"
	"reprise/trace"
	"reprise/tracegen/capture"
)

// coresFor returns how many ranks of so many threads a host has cores for.
func coresFor(threads int) int { return max(1, runtime.NumCPU()/max(1, threads)) }

// writeManual writes what was measured, and how sure it is, for people.
func (r *machineRun) writeManual() error {
	name := filepath.Base(r.dir)
	return atomicfile.Write(r.path(manualFile), func(w io.Writer) error {
		fmt.Fprintf(w, "# Machine %s\n\nMade by calibrate %s, for `replay --machine`.\n", name, command.Version())
		fmt.Fprintf(w, "`platform.xml` and `kernels.yaml` are what replays read; the timings that they were fitted to are in `measured`.\n")
		if r.recorded > 0 {
			fmt.Fprintf(w, "The runs call no kernel: hosts have the %.3g Gflop/s of which their traces were recorded, and `kernels.yaml` is the built-in set `default`.\n", r.recorded/1e9)
		}
		fmt.Fprintf(w, "\n## How it was made\n\n")
		for _, step := range r.steps() {
			s := r.done[step]
			fmt.Fprintf(w, "- %s, %s, %.0f s: `calibrate %s`\n", step, s.End.Format("2006-01-02 15:04 UTC"), s.Seconds,
				command.Quoted(s.Args...))
		}
		for _, step := range r.steps() {
			table, measured := tables[step]
			if !measured {
				continue
			}
			facts, err := tableFacts(r.path(table))
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "\n## %s\n\n| what | |\n| --- | --- |\n", table)
			for _, f := range facts {
				fmt.Fprintf(w, "| %s | %s |\n", f[0], strings.ReplaceAll(f[1], "|", "\\|"))
			}
		}
		for _, step := range r.steps() {
			if _, measured := tables[step]; measured {
				continue
			}
			text, err := regular.Read(r.report(step), maxMachineFile)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "\n## Fit: %s\n\n```text\n%s\n```\n", step, strings.TrimSpace(string(text)))
			if err := r.writePlots(w, step); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, unmeasured)
		return err
	})
}

// steps returns the steps that make the machine, in their order.
func (r *machineRun) steps() []string {
	if r.recorded > 0 {
		return []string{stepMessageTimes, stepNetworkModel}
	}
	return []string{stepKernelTimes, stepMessageTimes, stepKernelModels, stepNetworkModel}
}

// tables are what those of the steps write that measure.
var tables = map[string]string{stepKernelTimes: kernelTable, stepMessageTimes: networkTable}

// unmeasured is what a machine's maker must know.
const unmeasured = `
## What is not in it

- Links between switches: between hosts there is one switch, with what was measured between two of them. ` + "`replay platform new`" + ` writes other topologies.
- Hosts that differ: kernels were timed on one. How much others are off can be said in kernels.yaml (` + "`host_scatter`" + `), for ` + "`replay --uncertainty`" + `.
- Other load, other frequencies, other versions of libraries than those of the tables above.
`

// tableFacts returns the facts in the comments at the head of a table.
func tableFacts(path string) (facts [][2]string, err error) {
	text, err := regular.Read(path, maxMachineFile)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		if name, value, ok := strings.Cut(strings.TrimSpace(rest), ": "); ok {
			facts = append(facts, [2]string{name, value})
		}
	}
	return facts, nil
}

// writePlots shows the plots of a fit.
func (r *machineRun) writePlots(w io.Writer, step string) error {
	dir := plotDirs[step]
	list, err := os.ReadDir(r.path(dir))
	if err != nil {
		return err
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	fmt.Fprintln(w)
	for _, name := range names {
		fmt.Fprintf(w, "![%s](%s/%s)\n", strings.TrimSuffix(name, filepath.Ext(name)), dir, name)
	}
	return nil
}

// speed returns the flop/s of a core in the largest product of matrices that was timed or, of HPCG, those
// with which the set default says what the largest symgs takes, or those that the runs were recorded with; 0
// if they have none of these.
func (r *machineRun) speed() (speed float64, err error) {
	if r.recorded > 0 {
		return r.recorded, nil
	}
	var m struct {
		Kernels []measure.Summary `json:"kernels"`
	}
	if err := r.readReport(stepKernelTimes, &m); err != nil {
		return 0, err
	}
	longest := 0.0
	for i := range m.Kernels {
		k := &m.Kernels[i]
		flop, err := flopOfLargest(k)
		if err != nil {
			return 0, err
		}
		if flop > 0 && k.Seconds > longest {
			longest, speed = k.Seconds, flop/k.Seconds
		}
	}
	return speed, nil
}

// flopOfLargest returns what the largest call of dgemm or symgs costs, in flop; 0 of another kernel.
func flopOfLargest(k *measure.Summary) (flop float64, err error) {
	var d [4]int64
	for i, text := range strings.SplitN(k.Largest, "x", len(d)) {
		d[i], _ = strconv.ParseInt(text, 10, 64) // 0 of what is none
	}
	switch {
	case strings.HasPrefix(k.Kernel, "dgemm "):
		return 2 * float64(d[0]) * float64(d[1]) * float64(d[2]), nil
	case k.Kernel != "symgs":
		return 0, nil
	}
	set, err := kernels.Builtin("default")
	if err != nil {
		return 0, err
	}
	model, err := set.Bind(kernels.Host{Name: "host", Speed: 1},
		kernels.Signature{Name: "symgs", Dims: []string{"LEVEL", "ROWS", "NNZ", "COLS"}})
	if err != nil {
		return 0, err
	}
	return model.Seconds(&d), nil
}

// recordedSpeed returns the flop that a second of computation counts for in traces that
// tracegen mpi recorded, if they call no kernel: then there are none to time, and hosts of
// that speed take for each computation what it took. Of other traces it is 0.
func recordedSpeed(paths []string) (speed float64, err error) {
	for i, path := range paths {
		s, err := speedOfRecording(path)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", stepKernelTimes, err)
		}
		switch {
		case s == 0:
			return 0, nil
		case i > 0 && s != speed:
			return 0, fmt.Errorf("a second of computation is %g flop in %s and %g in %s: record them with the same --speed",
				speed, paths[0], s, path)
		}
		speed = s
	}
	return speed, nil
}

// speedOfRecording returns what recordedSpeed does, of one trace.
func speedOfRecording(path string) (speed float64, err error) {
	t, err := trace.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	text, ok := t.Header().Param(capture.SpeedParam)
	if !ok || len(t.Header().Kernels) > 0 {
		return 0, nil
	}
	if speed, err = strconv.ParseFloat(text, 64); err != nil || !(speed > 0) {
		return 0, fmt.Errorf("%s: %s %q, want flop/s above 0", path, capture.SpeedParam, text)
	}
	return speed, nil
}

// writeDefaultKernels writes the models that stand for kernels where the runs call none.
func (r *machineRun) writeDefaultKernels() error {
	text, err := kernels.BuiltinText("default")
	if err != nil {
		return err
	}
	return atomicfile.Write(r.path("kernels.yaml"), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
