package main

import (
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/measure"
	"reprise/calibrate/measure/network"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/kernels"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/capture"
	"reprise/tracegen/hpl"
)

func machineCommand() *cli.Command {
	return &cli.Command{
		Name:      "machine",
		Usage:     "measure this machine and fit its model, for replay --machine",
		UsageText: "calibrate machine DIR [--for TRACE] [options] -- LAUNCHER [ARGUMENT...]",
		Description: "Times the kernels that the runs in the traces call, with as many ranks at once as they have on " +
			"a host, and\n" +
			"messages between the ranks that the launcher starts; fits both; and leaves a directory that replay --machine\n" +
			"takes: platform.xml, kernels.yaml and machine.md, which says what was measured and how sure it is. Kernels are\n" +
			"timed on the host that this runs on, which should have nothing else to do.\n\n" +
			"    calibrate machine laptop --for run.trace.zst -- mpirun -np 2\n" +
			"    calibrate machine cluster --for run.trace.zst --budget 45m --hosts 64 -- srun -N 2 -n 4\n\n" +
			"Called again it goes on with what is missing: what was measured with the same options is not measured again.",
		Flags: []cli.Flag{
			// The runs to measure for, and the time.
			&cli.StringSliceFlag{Name: "for", Usage: "time what the run in the `TRACE` calls; may be repeated",
				DefaultText: "runs of HPL, N = 4000 and 12000, with a rank per core"},
			&cli.DurationFlag{Name: "budget", Value: 15 * time.Minute,
				Usage: "measure for this `TIME`, two thirds of it kernels"},
			// Tools and libraries, as the subcommands have them.
			&cli.StringFlag{Name: "blas", Usage: "`LIBRARY` with the BLAS of the runs",
				DefaultText: "the first of OpenBLAS, BLIS, MKL that is found"},
			&cli.StringFlag{Name: "cc", Usage: "C `COMPILER` of the program that times kernels (default: cc, gcc or clang)"},
			&cli.StringFlag{Name: "cflags", Usage: "its `FLAGS` (default: those of measure kernels)"},
			&cli.StringFlag{Name: "mpicc", Value: "mpicc",
				Usage: "`COMPILER` of MPI programs, of the MPI that the launcher is of"},
			&cli.StringFlag{Name: "noise", Value: calibrate.NoNoise,
				Usage: "write the scatter of timings into kernels.yaml, `none|normal|half-normal|auto`: what ranks wait for " +
					"one another shows in a replay then"},
			// The shape of a host, and of the platform.
			&cli.IntFlag{Name: "ranks-per-host", Usage: "`N` ranks on each host",
				DefaultText: "all of the run, up to a rank per core"},
			&cli.IntFlag{Name: "threads", Value: 1, Usage: "`N` threads of the BLAS in each rank"},
			&cli.IntFlag{Name: "hosts", Usage: "`N` hosts of the platform",
				DefaultText: "those that the launcher's ranks are on"},
			quietFlag(),
		},
		Action: runMachine,
	}
}

// machineStep is a command of calibrate that makes a part of a machine.
// It is kept in the directory as JSON; names are its keys.
type machineStep struct {
	Args    []string  `json:"args"`
	Inputs  []string  `json:"inputs,omitempty"` // hashes of the files that it reads
	End     time.Time `json:"end"`              // zero: it has not ended
	Seconds float64   `json:"seconds"`

	name    string
	outputs []string // files in the directory
}

// machineRun makes a machine directory step by step. Each step is a command that users could give themselves, so that
// the description of the machine says how to make its parts again.
type machineRun struct {
	c    *cli.Context
	dir  string
	runs []string               // traces that it is for
	done map[string]machineStep // by name, of this call and of earlier ones

	recorded float64 // flop of a second of the runs, if they were recorded and call no kernel
}

// Files in a machine directory beside those that replay reads.
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

// maxMachineFile bounds the files of a machine's directory that are read whole, in bytes.
const maxMachineFile = 64 << 20

func runMachine(c *cli.Context) error {
	args := c.Args().Slice()
	switch {
	case len(args) == 0:
		return command.Usagef("machine: want a directory for the machine")
	case len(args) == 1 || strings.HasPrefix(args[1], "-"):
		return command.Usagef("machine: want the launcher of MPI programs behind --, as -- mpirun -np 2")
	case c.Duration("budget") < time.Second:
		return command.Usagef("machine: --budget %v, want at least 1s", c.Duration("budget"))
	case c.IsSet("hosts") && c.Int("hosts") < 1:
		return command.Usagef("machine: --hosts %d, want at least 1", c.Int("hosts"))
	}
	file := calibrate.FileOptions{Noise: c.String("noise")}
	if err := file.Validate(); err != nil {
		return command.Usagef("machine: --noise: %w", err)
	}
	launcher := args[1:]
	r := &machineRun{c: c, dir: args[0], done: map[string]machineStep{}}
	if err := r.begin(); err != nil {
		return err
	}
	var err error
	if r.runs = c.StringSlice("for"); len(r.runs) == 0 {
		if r.runs, err = r.defaultRuns(); err != nil {
			return err
		}
	}
	// Recorded runs without kernels have computations in seconds, which need a speed and no model.
	if r.recorded, err = recordedSpeed(r.runs); err != nil {
		return err
	}

	// Kernels take two thirds of the budget, messages one.
	budget := func(part time.Duration) string { return part.Round(time.Second).String() }
	var traces []string
	for _, path := range r.runs {
		traces = append(traces, "--for", path)
	}
	messages := machineStep{name: stepMessageTimes, outputs: []string{networkTable},
		Args: append([]string{"measure", "network", "-o", r.path(networkTable), "--json", "--budget",
			budget(c.Duration("budget") / 3), "--mpicc", c.String("mpicc"), "--"}, launcher...)}
	if r.recorded == 0 {
		times := machineStep{name: stepKernelTimes, outputs: []string{kernelTable},
			Args: []string{"measure", "kernels", "-o", r.path(kernelTable), "--json", "--budget",
				budget(c.Duration("budget") * 2 / 3), "--threads", strconv.Itoa(c.Int("threads"))}}
		for _, flag := range []string{"blas", "cc", "cflags", "ranks-per-host"} {
			if c.IsSet(flag) {
				times.Args = append(times.Args, "--"+flag, c.String(flag))
			}
		}
		times.Args = append(times.Args, traces...)
		for _, path := range r.runs {
			hash, err := hashOf(path)
			if err != nil {
				return fmt.Errorf("%s: %w", times.name, err)
			}
			times.Inputs = append(times.Inputs, hash)
		}
		// Kernels take long, and come first: the tools that time messages must be there before.
		if !r.isDone(messages) {
			o := network.Options{Launcher: launcher, Compiler: c.String("mpicc")}
			if _, err := o.FindTools(); err != nil {
				return fmt.Errorf("%s: %w", messages.name, err)
			}
		}
		if err := r.measure(times); err != nil {
			return err
		}
	}
	if err := r.measure(messages); err != nil {
		return err
	}

	// Kernels that could not be timed have the model of the built-in set, which goes by the speed of the host, and the
	// fit warns of it. Where the runs call none, there is that set alone.
	if r.recorded > 0 {
		text, err := kernels.BuiltinText("default")
		if err != nil {
			return err
		}
		err = atomicfile.Write(r.path("kernels.yaml"), func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
		if err != nil {
			return err
		}
	} else {
		args := append([]string{"kernels", "-o", r.path("kernels.yaml"), "--base", "default", "--noise", c.String("noise"),
			"--plots", r.path(plotDirs[stepKernelModels])}, traces...)
		err := r.fit(machineStep{name: stepKernelModels, Args: append(args, r.path(kernelTable)),
			outputs: []string{"kernels.yaml"}})
		if err != nil {
			return err
		}
	}
	if err := r.fitNetwork(); err != nil {
		return err
	}
	if err := r.writeManual(); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "%s: a machine for replay --machine; %s says how sure it is\n", r.dir, r.path(manualFile))
	return nil
}

// path returns the path of a file in the directory.
func (r *machineRun) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// begin makes the directory, or reads from it the steps of an earlier call. No other directory that has files is
// touched.
func (r *machineRun) begin() error {
	text, err := regular.Read(r.path(stepsFile), maxMachineFile)
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &r.done); err != nil {
			return fmt.Errorf("%s: %w", r.path(stepsFile), err)
		}
		if r.done == nil {
			return fmt.Errorf("%s: it says nothing of steps; remove it with what is beside it, or give another directory",
				r.path(stepsFile))
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	// The directory may be there, if it is empty.
	list, err := os.ReadDir(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(list) > 0 {
		return fmt.Errorf("%s: there are files, but no %s: not a directory that calibrate machine has begun", r.dir,
			stepsFile)
	}
	if err := os.MkdirAll(r.path("measured"), 0o777); err != nil {
		return err
	}
	return r.keepSteps()
}

// coresFor returns how many ranks of so many threads a host has cores for.
func coresFor(threads int) int { return max(1, runtime.NumCPU()/max(1, threads)) }

// defaultRuns writes traces of runs of HPL on this host alone, for users without a run. The process grid is as square
// as the number of ranks allows.
func (r *machineRun) defaultRuns() (paths []string, err error) {
	ranks := coresFor(r.c.Int("threads"))
	rows := int(math.Sqrt(float64(ranks)))
	for ranks%rows != 0 {
		rows--
	}
	for _, n := range []int{4000, 12000} {
		path := r.path(fmt.Sprintf("measured/hpl-%d.trace.zst", n))
		err := atomicfile.Write(path, func(w io.Writer) error {
			return hpl.Generate(r.c.Context, w, hpl.DefaultParams(n, rows, ranks/rows), hpl.Options{})
		})
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// recordedSpeed returns the flop that a second of computation counts for in traces that
// tracegen mpi recorded, if they call no kernel: then there are none to time, and hosts of
// that speed take for each computation the time that was recorded. Of other traces it is 0.
func recordedSpeed(paths []string) (speed float64, err error) {
	read := func(path string) (speed float64, err error) {
		t, err := trace.Open(path)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, t.Close()) }()
		// Traces of generators have no such parameter; those with kernels are timed.
		text, ok := t.Header().Param(capture.SpeedParam)
		if !ok || len(t.Header().Kernels) > 0 {
			return 0, nil
		}
		if speed, err = strconv.ParseFloat(text, 64); err != nil || !(speed > 0) {
			return 0, fmt.Errorf("%s: %s %q, want flop/s above 0", path, capture.SpeedParam, text)
		}
		return speed, nil
	}
	for i, path := range paths {
		s, err := read(path)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s: %w", stepKernelTimes, err)
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

// hashOf returns the SHA-256 of a file.
func hashOf(path string) (string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// isDone reports whether a step was done, with the same options for the same runs, and its files are there.
func (r *machineRun) isDone(s machineStep) bool {
	old, ok := r.done[s.name]
	if !ok || old.End.IsZero() || !slices.Equal(old.Args, s.Args) || !slices.Equal(old.Inputs, s.Inputs) {
		return false
	}
	_, err := os.Stat(r.report(s.name))
	return err == nil && len(r.files(s.outputs)) == len(s.outputs)
}

// measure runs a step that takes long, unless it is done. Fits take a second, and are always made anew.
func (r *machineRun) measure(s machineStep) error {
	if r.isDone(s) {
		return nil
	}
	return r.again(s, func() error { return r.step(s) })
}

// again runs a step of which an earlier call may have left the tables. As long as it runs it counts as not done: an
// interrupted one may leave other tables under the same names. If it fails and has left them as they were,
// the notes on them stay, too.
func (r *machineRun) again(s machineStep, do func() error) error {
	old, done := r.done[s.name]
	before := r.files(s.outputs)
	delete(r.done, s.name)
	if err := r.keepSteps(); err != nil {
		return err
	}
	err := do()
	if err != nil && done && slices.EqualFunc(before, r.files(s.outputs), os.SameFile) {
		r.done[s.name] = old
		err = errors.Join(err, r.keepSteps())
	}
	return err
}

// files describes those of the files in the directory that there are. A file that is written anew is another one.
func (r *machineRun) files(names []string) (list []fs.FileInfo) {
	for _, name := range names {
		if info, err := os.Stat(r.path(name)); err == nil {
			list = append(list, info)
		}
	}
	return list
}

// fit runs a step that fits. There are no plots but its own: an earlier call may have been for other runs.
func (r *machineRun) fit(s machineStep) error {
	if dir, ok := plotDirs[s.name]; ok {
		if err := os.RemoveAll(r.path(dir)); err != nil {
			return err
		}
	}
	return r.step(s)
}

// step runs a step, and keeps its report.
func (r *machineRun) step(s machineStep) error {
	args := s.Args
	if !r.c.Bool("quiet") {
		fmt.Fprintln(r.c.App.ErrWriter, "$ calibrate", command.Quoted(args...))
	} else if args[0] == "measure" {
		args = slices.Insert(slices.Clone(args), 2, "--quiet")
	}
	// The step is run in this process, its standard output being the report.
	begin := time.Now()
	if err := atomicfile.Write(r.report(s.name), func(w io.Writer) error {
		return run(r.c.Context, append([]string{"calibrate"}, args...), r.c.App.Reader, w, r.c.App.ErrWriter)
	}); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.End, s.Seconds = time.Now().UTC().Truncate(time.Second), time.Since(begin).Seconds()
	r.done[s.name] = s
	return r.keepSteps()
}

// keepSteps writes the steps that have ended.
func (r *machineRun) keepSteps() error {
	return atomicfile.Write(r.path(stepsFile), func(w io.Writer) error { return writeJSON(w, r.done) })
}

// report returns the file with the report of a step: figures of measurements, text of fits.
func (r *machineRun) report(step string) string {
	if _, measured := tables[step]; measured {
		return r.path("measured/" + step + ".json")
	}
	return r.path("measured/" + step + ".txt")
}

// readReport reads the report of a step that wrote it as JSON.
func (r *machineRun) readReport(step string, report any) error {
	text, err := regular.Read(r.report(step), maxMachineFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, report); err != nil {
		return fmt.Errorf("%s: %w", r.report(step), err)
	}
	return nil
}

// fitNetwork fits the network and writes the platform: as many hosts as the launcher's ranks were on, or --hosts, each
// with as many cores as it has for ranks, of the speed of the largest kernel.
func (r *machineRun) fitNetwork() error {
	var m struct {
		Ranks []struct {
			Host string `json:"host"`
		} `json:"ranks"`
	}
	if err := r.readReport(stepMessageTimes, &m); err != nil {
		return err
	}
	// The report of the messages has the host of each rank.
	seen := map[string]bool{}
	for _, rank := range m.Ranks {
		seen[rank.Host] = true
	}
	if len(seen) > 1 && len(seen) == len(m.Ranks) {
		command.Warn(r.c, []warning.Warning{warning.New("the launcher put one rank on each host, so messages within a host " +
			"were not timed, and cost what the network model's own loopback does: start two on each, as -- srun -N 2 -n 4")})
	}
	hosts, cores := max(1, len(seen)), coresFor(r.c.Int("threads"))
	if r.c.IsSet("hosts") {
		hosts = r.c.Int("hosts")
	}
	if r.c.IsSet("ranks-per-host") {
		cores = r.c.Int("ranks-per-host")
	}
	args := []string{"network", "--platform", r.path("platform.xml"), "--plots", r.path(plotDirs[stepNetworkModel]),
		"--hosts", strconv.Itoa(hosts), "--cores", strconv.Itoa(cores)}
	speed, err := r.speed()
	if err != nil {
		return err
	}
	if speed > 0 {
		args = append(args, "--speed", fmt.Sprintf("%.3gGf", speed/1e9))
	} else {
		command.Warn(r.c, []warning.Warning{warning.New("the runs call no dgemm and no symgs: hosts have a speed of 1 " +
			"Gflop/s, " +
			"by which amounts of flop and kernels that were not timed go")})
	}
	return r.fit(machineStep{name: stepNetworkModel, Args: append(args, r.path(networkTable)),
		outputs: []string{"platform.xml"}})
}

// speed returns the flop/s of a core in the largest product of matrices that was timed; of HPCG, the speed at which
// the set default predicts the time of the largest symgs; or the speed that the runs were recorded with. It is 0
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
	set, err := kernels.Builtin("default")
	if err != nil {
		return 0, err
	}
	symgs, err := set.Bind(kernels.Host{Name: "host", Speed: 1}, // a second is a flop
		kernels.Signature{Name: "symgs", Dims: []string{"LEVEL", "ROWS", "NNZ", "COLS"}})
	if err != nil {
		return 0, err
	}
	// The largest call is the one of the longest median.
	longest := 0.0
	for _, k := range m.Kernels {
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
	return speed, nil
}

// writeManual describes the machine for people: how it was made, the facts of its measurements, and how sure it is.
func (r *machineRun) writeManual() error {
	steps := []string{stepKernelTimes, stepMessageTimes, stepKernelModels, stepNetworkModel}
	if r.recorded > 0 {
		steps = []string{stepMessageTimes, stepNetworkModel}
	}
	return atomicfile.Write(r.path(manualFile), func(w io.Writer) error {
		fmt.Fprintf(w, "# Machine %s\n\nMade by calibrate %s, for `replay --machine`.\n", filepath.Base(r.dir),
			command.Version())
		fmt.Fprintf(w, "`platform.xml` and `kernels.yaml` are what replays read; the timings that they were fitted to "+
			"are in "+
			"`measured`.\n")
		if r.recorded > 0 {
			fmt.Fprintf(w, "The runs call no kernel: hosts have the %.3g Gflop/s of which their traces were recorded, and "+
				"`kernels.yaml` is the built-in set `default`.\n", r.recorded/1e9)
		}
		// Commands stand as users would give them, to repeat a part by hand.
		fmt.Fprintf(w, "\n## How it was made\n\n")
		for _, step := range steps {
			s := r.done[step]
			fmt.Fprintf(w, "- %s, %s, %.0f s: `calibrate %s`\n", step, s.End.Format("2006-01-02 15:04 UTC"), s.Seconds,
				command.Quoted(s.Args...))
		}

		// The facts of a measurement are comments at the head of its table.
		for _, step := range steps {
			table, measured := tables[step]
			if !measured {
				continue
			}
			text, err := regular.Read(r.path(table), maxMachineFile)
			if err != nil {
				return err
			}
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
		}

		// The reports of the fits stand beside their plots.
		for _, step := range steps {
			dir, fitted := plotDirs[step]
			if !fitted {
				continue
			}
			text, err := regular.Read(r.report(step), maxMachineFile)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "\n## Fit: %s\n\n```text\n%s\n```\n\n", step, strings.TrimSpace(string(text)))
			list, err := os.ReadDir(r.path(dir)) // by name
			if err != nil {
				return err
			}
			for _, e := range list {
				fmt.Fprintf(w, "![%s](%s/%s)\n", strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), dir, e.Name())
			}
		}
		_, err := io.WriteString(w, unmeasured)
		return err
	})
}

// unmeasured ends the description with the limits of a machine.
const unmeasured = `
## What is not in it

- Links between switches: between hosts there is one switch, with what was measured between two of them. ` + "`replay platform new`" + ` writes other topologies.
- Hosts that differ: kernels were timed on one. How much others are off can be said in kernels.yaml (` + "`host_scatter`" + `), for ` + "`replay --uncertainty`" + `.
- Other load, other frequencies, other versions of libraries than those of the tables above.
`
