// Package machine measures a machine and fits its model, for replay --machine.
//
//	err := machine.Make(ctx, machine.Options{
//		Dir: "here", Runs: []string{"run.trace.zst"}, Launcher: []string{"mpirun", "-np", "2"},
//		Budget: 15 * time.Minute, Threads: 1, Compiler: "mpicc", Noise: calibrate.NoNoise,
//		Run: run, Warn: warn,
//	})
//
// The machine is a directory, which [Make] makes step by step: kernels and messages are measured,
// then both are fitted, and machine.md describes how, and how sure the model is. Each step is a
// command of calibrate that users could give themselves: machine.md has its line, so that a part
// can be made again by hand. Another call of [Make] goes on where the last one has stopped.
//
// [Options] say for which runs, how long and how to start MPI programs. How a command runs, and how its progress is
// shown, is left to the caller; measuring to measure and measure/network, fitting to calibrate.
//
// # Units
//
// Speeds are in flop/s, sizes of files in bytes.
//
// # Errors
//
// An error of a step begins with its name. A directory that has files, but not those of an earlier call, is refused.
//
// # Source
//
// The method is that of docs/calibrate.md.
package machine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/calibrate/measure"
	"reprise/calibrate/measure/network"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/hpl"
)

// Options says of which machine the model is, and for which runs.
type Options struct {
	Dir      string        // of the machine, made if it is missing
	Runs     []string      // traces of the runs whose kernels are timed; none: two runs of HPL on this host
	Launcher []string      // the command that starts MPI programs, such as mpirun -np 2
	Budget   time.Duration // of both measurements
	Compiler string        // of MPI programs
	Noise    string        // in the models of kernels, as calibrate.FileOptions has it

	// KernelFlags are further flags of measure kernels, such as --blas LIBRARY.
	KernelFlags []string
	Threads     int // of the BLAS in each rank

	Hosts        int  // of the platform; 0: those that the launcher's ranks are on
	RanksPerHost *int // cores of a host; nil: as many ranks as it has cores for

	// Run runs a command of calibrate, whose standard output is report.
	Run func(args []string, report io.Writer) error
	// Warn tells users of something odd at once, as the steps behind it take long.
	Warn func(warning.Warning)
}

// Files in the directory beside those that replay reads.
const (
	stepsFile    = "measured/steps.json"
	kernelTable  = "measured/kernels.csv"
	networkTable = "measured/network.csv"
	manualFile   = "machine.md"
)

// The steps, by which their reports are named.
const (
	stepKernelTimes  = "kernel-times"
	stepMessageTimes = "message-times"
	stepKernelModels = "kernel-models"
	stepNetworkModel = "network-model"
)

// tables are the outputs of the steps that measure, plotDirs the directories with the plots of those that fit.
var (
	tables   = map[string]string{stepKernelTimes: kernelTable, stepMessageTimes: networkTable}
	plotDirs = map[string]string{stepKernelModels: "plots/kernels", stepNetworkModel: "plots/network"}
)

// maxFile bounds the files of the directory that are read whole, in bytes.
const maxFile = 64 << 20

// Orders of the matrices of the runs of HPL that stand for those of users without a trace: a short
// run, and one in which nearly all of the time is that of large products.
var defaultOrders = []int{4000, 12000}

// step is a command of calibrate that makes a part of a machine, as stepsFile keeps it.
type step struct {
	Args    []string  `json:"args"`
	Inputs  []string  `json:"inputs,omitempty"` // hashes of the traces that it reads
	End     time.Time `json:"end"`              // zero: it has not ended
	Seconds float64   `json:"seconds"`
}

// maker makes a machine.
type maker struct {
	Options
	done map[string]step // by name, of this call and of earlier ones

	// recorded is what a second of the runs counts for, in flop, if they were recorded and call no
	// kernel: there are none to time or to fit then. It is 0 of other runs.
	recorded float64
}

// Make measures the machine and fits its model, as far as an earlier call has not measured with the
// same options. Its stages end it at their first error (textutil.Stop).
func Make(ctx context.Context, o Options) (err error) {
	defer textutil.Stopped(&err)
	m := &maker{Options: o, done: map[string]step{}}
	textutil.Check(m.begin())

	// Users without a run get two of HPL on this host alone. The process grid is as square as the
	// number of ranks allows.
	ranks := max(1, runtime.NumCPU()/max(1, m.Threads)) // that this host has cores for
	if len(m.Runs) == 0 {
		rows := int(math.Sqrt(float64(ranks)))
		for ranks%rows != 0 {
			rows--
		}
		for _, n := range defaultOrders {
			path := m.path(fmt.Sprintf("measured/hpl-%d.trace.zst", n))
			textutil.Check(atomicfile.Write(path, func(w io.Writer) error {
				return hpl.Generate(ctx, w, hpl.DefaultParams(n, rows, ranks/rows), hpl.Options{})
			}))
			m.Runs = append(m.Runs, path)
		}
	}
	var traces, hashes []string
	for _, path := range m.Runs {
		traces = append(traces, "--for", path)
	}
	m.recorded = textutil.Must(recordedSpeed(m.Runs))

	// Kernels take two thirds of the budget, messages a third. Kernels are timed first, which takes long, so that the
	// tools that time messages are looked for before.
	budget := func(part time.Duration) string { return part.Round(time.Second).String() }
	messages := step{Args: append([]string{"measure", "network", "-o", m.path(networkTable), "--json",
		"--budget", budget(m.Budget / 3), "--mpicc", m.Compiler, "--"}, m.Launcher...)}
	if m.recorded == 0 {
		for _, path := range m.Runs {
			hash, err := regular.Hash(path)
			if err != nil {
				return fmt.Errorf("%s: %w", stepKernelTimes, err)
			}
			hashes = append(hashes, hash)
		}
		if !m.isDone(stepMessageTimes, messages) {
			o := network.Options{Launcher: m.Launcher, Compiler: m.Compiler}
			if _, err := o.FindTools(); err != nil {
				return fmt.Errorf("%s: %w", stepMessageTimes, err)
			}
		}
		args := slices.Concat([]string{"measure", "kernels", "-o", m.path(kernelTable), "--json", "--budget", budget(m.Budget * 2 / 3),
			"--threads", strconv.Itoa(m.Threads)}, m.KernelFlags, traces)
		textutil.Check(m.measure(stepKernelTimes, step{Args: args, Inputs: hashes}))
	}
	textutil.Check(m.measure(stepMessageTimes, messages))

	// A kernel that could not be timed keeps its model of the built-in set, which scales with the speed of the host;
	// the fit warns of it. If the runs call no kernel, the machine has the built-in set only.
	if m.recorded > 0 {
		text := textutil.Must(kernels.BuiltinText("default"))
		textutil.Check(atomicfile.Write(m.path("kernels.yaml"), atomicfile.Bytes(text)))
	} else {
		args := slices.Concat([]string{"kernels", "-o", m.path("kernels.yaml"), "--base", "default", "--noise", m.Noise,
			"--plots", m.path(plotDirs[stepKernelModels])}, traces, []string{m.path(kernelTable)})
		textutil.Check(m.step(stepKernelModels, step{Args: args}))
	}

	// The platform has the hosts that the launcher's ranks were on, each with the speed of the largest kernel.
	var report struct {
		Ranks []network.Rank `json:"ranks"`
	}
	m.readReport(stepMessageTimes, &report)
	seen := map[string]bool{}
	for _, rank := range report.Ranks {
		seen[rank.Host] = true
	}
	if len(seen) > 1 && len(seen) == len(report.Ranks) {
		m.Warn(warning.New("the launcher put one rank on each host, so messages within a host were not timed, and cost what " +
			"the network model's own loopback does: start two on each, as -- srun -N 2 -n 4"))
	}
	if m.RanksPerHost != nil {
		ranks = *m.RanksPerHost
	}
	args := []string{"network", "--platform", m.path("platform.xml"), "--plots", m.path(plotDirs[stepNetworkModel]),
		"--hosts", strconv.Itoa(cmp.Or(m.Hosts, max(1, len(seen)))), "--cores", strconv.Itoa(ranks)}
	if speed := m.speed(); speed > 0 {
		args = append(args, "--speed", fmt.Sprintf("%.3gGf", speed/1e9))
	} else {
		m.Warn(warning.New("the runs call no dgemm and no symgs: hosts have a speed of 1 Gflop/s, by which amounts of flop " +
			"and kernels that were not timed go"))
	}
	textutil.Check(m.step(stepNetworkModel, step{Args: append(args, m.path(networkTable))}))
	return atomicfile.Write(m.path(manualFile), m.writeManual)
}

// Manual returns the path of the description of the machine in a directory.
func Manual(dir string) string { return filepath.Join(dir, manualFile) }

// path returns the path of a file in the directory, whose name has slashes.
func (m *maker) path(name string) string { return filepath.Join(m.Dir, filepath.FromSlash(name)) }

// begin makes the directory, or reads from it the steps of an earlier call. No other directory that
// has files is touched.
func (m *maker) begin() (err error) {
	defer textutil.Stopped(&err)
	text, err := regular.Read(m.path(stepsFile), maxFile)
	if err == nil {
		err := json.Unmarshal(text, &m.done)
		if err == nil && m.done == nil { // the text is null
			err = errors.New("it says nothing of steps; remove it with what is beside it, or give another directory")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.path(stepsFile), err)
		}
		return nil
	}
	// A directory without notes is made, or it is empty.
	var list []fs.DirEntry
	if errors.Is(err, fs.ErrNotExist) {
		list, err = os.ReadDir(m.Dir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		textutil.Check(err)
	}
	if len(list) > 0 {
		return fmt.Errorf("%s: there are files, but no %s: not a directory that calibrate machine has begun", m.Dir,
			stepsFile)
	}
	textutil.Check(os.MkdirAll(m.path("measured"), 0o777))
	return m.keepSteps()
}

// keepSteps writes the steps that have ended, for the next call.
func (m *maker) keepSteps() error {
	return atomicfile.Write(m.path(stepsFile), func(w io.Writer) error { return textutil.WriteJSON(w, m.done) })
}

// recordedSpeed returns the flop that a second of computation counts for in traces that tracegen mpi recorded, if they
// call no kernel: hosts of that speed take for each computation the time that was recorded. It is 0 of other traces,
// those of generators among them, which do not have the parameter.
func recordedSpeed(paths []string) (speed float64, err error) {
	for i, path := range paths {
		t, err := trace.Open(path)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", stepKernelTimes, err)
		}
		text, ok := t.Header().Param(trace.ParamRate)
		hasKernels := len(t.Header().Kernels) > 0
		if err := t.Close(); err != nil {
			return 0, fmt.Errorf("%s: %w", stepKernelTimes, err)
		}
		if !ok || hasKernels {
			return 0, nil
		}
		s, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || !(s > 0):
			return 0, fmt.Errorf("%s: %s: %s %q, want flop/s above 0", stepKernelTimes, path, trace.ParamRate, text)
		case i > 0 && s != speed:
			return 0, fmt.Errorf("a second of computation is %g flop in %s and %g in %s: record them with the same --speed",
				speed, paths[0], s, path)
		}
		speed = s
	}
	return speed, nil
}

// isDone reports whether a step that measures was done, with the same options for the same runs,
// and its files are there.
func (m *maker) isDone(name string, s step) bool {
	old := m.done[name]
	if old.End.IsZero() || !slices.Equal(old.Args, s.Args) || !slices.Equal(old.Inputs, s.Inputs) {
		return false
	}
	_, err1 := os.Stat(m.report(name))
	_, err2 := os.Stat(m.path(tables[name]))
	return err1 == nil && err2 == nil
}

// measure runs a step that takes long, unless it is done. As long as it runs the one of an earlier
// call counts as not done: an interrupted one may leave another table under the same name. If it
// fails and has left the table as it was, the notes on that stay, too.
func (m *maker) measure(name string, s step) (err error) {
	defer textutil.Stopped(&err)
	if m.isDone(name, s) {
		return nil
	}
	old, done := m.done[name]
	before, _ := os.Stat(m.path(tables[name])) // nil if there is none
	delete(m.done, name)
	textutil.Check(m.keepSteps())
	err = m.step(name, s)
	if err != nil && done {
		// A file that is written anew is another one.
		if after, _ := os.Stat(m.path(tables[name])); os.SameFile(before, after) {
			m.done[name] = old
			err = errors.Join(err, m.keepSteps())
		}
	}
	return err
}

// step runs a step, and keeps its report. A fit takes a second and is always made anew, with no
// plots but its own: an earlier call may have been for other runs.
func (m *maker) step(name string, s step) error {
	if dir, ok := plotDirs[name]; ok {
		if err := os.RemoveAll(m.path(dir)); err != nil {
			return err
		}
	}
	begin := time.Now()
	if err := atomicfile.Write(m.report(name), func(w io.Writer) error { return m.Run(s.Args, w) }); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.End, s.Seconds = time.Now().UTC().Truncate(time.Second), time.Since(begin).Seconds()
	m.done[name] = s
	return m.keepSteps()
}

// report returns the file with the report of a step: JSON of measurements, text of fits.
func (m *maker) report(name string) string {
	extension := ".json"
	if tables[name] == "" {
		extension = ".txt"
	}
	return m.path("measured/" + name + extension)
}

// readReport reads the report of a step that measures.
func (m *maker) readReport(name string, report any) {
	text := textutil.Must(regular.Read(m.report(name), maxFile))
	if err := json.Unmarshal(text, report); err != nil {
		textutil.Stop(fmt.Errorf("%s: %w", m.report(name), err))
	}
}

// speed returns the flop/s of a core in the largest product of matrices that was timed; of HPCG,
// the speed at which the set default predicts the time of the largest symgs; or the speed that the
// runs were recorded with. It is 0 if they have none of these.
func (m *maker) speed() (speed float64) {
	if m.recorded > 0 {
		return m.recorded
	}
	var report struct {
		Kernels []measure.Summary `json:"kernels"`
	}
	m.readReport(stepKernelTimes, &report)
	set := textutil.Must(kernels.Builtin("default"))
	symgs := textutil.Must(set.Bind(kernels.Host{Name: "host", Speed: 1}, // a second is a flop
		kernels.Signature{Name: "symgs", Dims: []string{"LEVEL", "ROWS", "NNZ", "COLS"}}))
	// The largest call is the one of the longest median.
	longest := 0.0
	for _, k := range report.Kernels {
		var d [4]int64
		for i, text := range strings.SplitN(k.Largest, "x", len(d)) {
			d[i], _ = strconv.ParseInt(text, 10, 64) // 0 of a size that is no number
		}
		flop := 0.0
		switch {
		case strings.HasPrefix(k.Kernel, "dgemm "):
			flop = 2 * float64(d[0]) * float64(d[1]) * float64(d[2])
		case k.Kernel == "symgs":
			flop = symgs.Seconds(&d)
		}
		if flop > 0 && k.Seconds > longest {
			longest, speed = k.Seconds, flop/k.Seconds
		}
	}
	return speed
}

// writeManual describes the machine for people: how it was made, the facts of its measurements, and how sure it is.
func (m *maker) writeManual(w io.Writer) (err error) {
	defer textutil.Stopped(&err)
	fmt.Fprintf(w, "# Machine %s\n\nMade by calibrate %s, for `replay --machine`.\n", filepath.Base(m.Dir),
		command.Version())
	fmt.Fprintf(w, "`platform.xml` and `kernels.yaml` are what replays read; the timings that they were fitted to are in "+
		"`measured`.\n")
	steps := []string{stepKernelTimes, stepMessageTimes, stepKernelModels, stepNetworkModel}
	if m.recorded > 0 {
		steps = []string{stepMessageTimes, stepNetworkModel}
		fmt.Fprintf(w, "The runs call no kernel: hosts have the %.3g Gflop/s of which their traces were recorded, and "+
			"`kernels.yaml` is the built-in set `default`.\n", m.recorded/1e9)
	}
	steps = slices.DeleteFunc(steps, func(name string) bool { return m.done[name].End.IsZero() })
	// Commands stand as users would give them, to repeat a part by hand.
	fmt.Fprintf(w, "\n## How it was made\n\n")
	for _, name := range steps {
		s := m.done[name]
		fmt.Fprintf(w, "- %s, %s, %.0f s: `calibrate %s`\n", name, s.End.Format("2006-01-02 15:04 UTC"), s.Seconds,
			command.Quoted(s.Args...))
	}

	// The measurements come before the fits. The facts of one are comments at the head of its
	// table, and the reports of the fits stand beside their plots.
	for _, name := range steps {
		table, dir := tables[name], plotDirs[name]
		file := m.report(name)
		if table != "" {
			file = m.path(table)
		}
		text := textutil.Must(regular.Read(file, maxFile))
		if table != "" {
			fmt.Fprintf(w, "\n## %s\n\n| what | |\n| --- | --- |\n", table)
			for line := range strings.Lines(string(text)) {
				rest, ok := strings.CutPrefix(line, "# ")
				if !ok {
					break
				}
				if name, value, ok := strings.Cut(strings.TrimSpace(rest), ": "); ok {
					fmt.Fprintf(w, "| %s | %s |\n", name, strings.ReplaceAll(value, "|", "\\|"))
				}
			}
			continue
		}
		fmt.Fprintf(w, "\n## Fit: %s\n\n```text\n%s\n```\n\n", name, strings.TrimSpace(string(text)))
		for _, e := range textutil.Must(os.ReadDir(m.path(dir))) { // by name
			fmt.Fprintf(w, "![%s](%s/%s)\n", strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), dir, e.Name())
		}
	}
	return textutil.Write(w, unmeasured)
}

// unmeasured ends the description with the limits of a machine.
const unmeasured = `
## What is not in it

- Links between switches: between hosts there is one switch, with what was measured between two of them. ` + "`replay platform new`" + ` writes other topologies.
- Hosts that differ: kernels were timed on one. How much others are off can be said in kernels.yaml (` + "`host_scatter`" + `), for ` + "`replay --uncertainty`" + `.
- Other load, other frequencies, other versions of libraries than those of the tables above.
`
