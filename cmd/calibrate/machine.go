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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/measure/network"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/trace/warning"
	"reprise/tracegen/hpl"
)

func machineCommand() *cli.Command {
	return &cli.Command{
		Name:      "machine",
		Usage:     "measure this machine and fit its model, for replay --machine",
		UsageText: "calibrate machine DIR [--for TRACE] [options] -- LAUNCHER [ARGUMENT...]",
		Description: "Times the kernels that the runs in the traces call, with as many ranks at once as they have on a host, and\n" +
			"messages between the ranks that the launcher starts; fits both; and leaves a directory that replay --machine\n" +
			"takes: platform.xml, kernels.yaml and machine.md, which says what was measured and how sure it is. Kernels are\n" +
			"timed on the host that this runs on, which should have nothing else to do.\n\n" +
			"    calibrate machine laptop --for run.trace.zst -- mpirun -np 2\n" +
			"    calibrate machine cluster --for run.trace.zst --budget 45m --hosts 64 -- srun -N 2 -n 4\n\n" +
			"Called again it goes on with what is missing: what was measured with the same options is not measured again.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "for", Usage: "time what the run in the `TRACE` calls; may be repeated",
				DefaultText: "runs of HPL, N = 4000 and 12000, with a rank per core"},
			&cli.DurationFlag{Name: "budget", Value: 15 * time.Minute,
				Usage: "measure for this `TIME`, two thirds of it kernels"},
			&cli.StringFlag{Name: "blas", Usage: "`LIBRARY` with the BLAS of the runs",
				DefaultText: "the first of OpenBLAS, BLIS, MKL that is found"},
			&cli.StringFlag{Name: "cc", Usage: "C `COMPILER` of the program that times kernels (default: cc, gcc or clang)"},
			&cli.StringFlag{Name: "cflags", Usage: "its `FLAGS` (default: those of measure kernels)"},
			&cli.StringFlag{Name: "mpicc", Value: "mpicc",
				Usage: "`COMPILER` of MPI programs, of the MPI that the launcher is of"},
			&cli.StringFlag{Name: "noise", Value: calibrate.NoNoise,
				Usage: "write the scatter of timings into kernels.yaml, `none|normal|half-normal|auto`: what ranks wait for one another shows in a replay then"},
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
type machineStep struct {
	Args    []string  `json:"args"`
	Inputs  []string  `json:"inputs,omitempty"` // hashes of the files that it reads
	End     time.Time `json:"end"`              // zero: it has not ended
	Seconds float64   `json:"seconds"`

	name    string
	outputs []string // files in the directory
}

// machineRun makes a machine directory step by step.
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

func runMachine(c *cli.Context) error {
	dir, launcher, err := machineArguments(c)
	if err != nil {
		return err
	}
	r := &machineRun{c: c, dir: dir, done: map[string]machineStep{}}
	if err := r.begin(); err != nil {
		return err
	}
	if r.runs = c.StringSlice("for"); len(r.runs) == 0 {
		if r.runs, err = r.defaultRuns(); err != nil {
			return err
		}
	}
	if r.recorded, err = recordedSpeed(r.runs); err != nil {
		return err
	}
	if err := r.makeParts(launcher); err != nil {
		return err
	}
	if err := r.writeManual(); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "%s: a machine for replay --machine; %s says how sure it is\n", dir, r.path(manualFile))
	return nil
}

// makeParts measures and fits all parts of the machine.
func (r *machineRun) makeParts(launcher []string) error {
	messages := r.timeMessages(launcher)
	if r.recorded == 0 {
		times, err := r.timeKernels()
		if err != nil {
			return err
		}
		if err := r.checkTools(messages, launcher); err != nil {
			return err
		}
		if err := r.measure(times); err != nil {
			return err
		}
	}
	if err := r.measure(messages); err != nil {
		return err
	}
	models := r.writeDefaultKernels
	if r.recorded == 0 {
		models = func() error { return r.fit(r.fitKernels()) }
	}
	if err := models(); err != nil {
		return err
	}
	step, err := r.fitNetwork()
	if err != nil {
		return err
	}
	return r.fit(step)
}

// machineArguments returns the directory and the launcher with its arguments.
func machineArguments(c *cli.Context) (dir string, launcher []string, err error) {
	args := c.Args().Slice()
	if len(args) == 0 {
		return "", nil, command.Usagef("machine: want a directory for the machine")
	}
	dir, launcher = args[0], args[1:]
	switch {
	case len(launcher) == 0 || strings.HasPrefix(launcher[0], "-"):
		return "", nil, command.Usagef("machine: want the launcher of MPI programs behind --, as -- mpirun -np 2")
	case c.Duration("budget") < time.Second:
		return "", nil, command.Usagef("machine: --budget %v, want at least 1s", c.Duration("budget"))
	case c.IsSet("hosts") && c.Int("hosts") < 1:
		return "", nil, command.Usagef("machine: --hosts %d, want at least 1", c.Int("hosts"))
	}
	file := calibrate.FileOptions{Noise: c.String("noise")}
	if err := file.Validate(); err != nil {
		return "", nil, command.Usagef("machine: --noise: %w", err)
	}
	return dir, launcher, nil
}

func (r *machineRun) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// maxMachineFile bounds the files of a machine's directory that are read whole, in bytes.
const maxMachineFile = 64 << 20

// begin makes the directory, or learns what an earlier call has done in it. Nobody else's
// directory is touched.
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

// defaultRuns writes traces of runs of HPL on this host alone, for who has none.
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

// timeKernels is the step that times kernels.
func (r *machineRun) timeKernels() (machineStep, error) {
	args := []string{"measure", "kernels", "-o", r.path(kernelTable), "--json", "--budget",
		(r.c.Duration("budget") * 2 / 3).Round(time.Second).String(), "--threads", strconv.Itoa(r.c.Int("threads"))}
	for _, flag := range []string{"blas", "cc", "cflags", "ranks-per-host"} {
		if r.c.IsSet(flag) {
			args = append(args, "--"+flag, r.c.String(flag))
		}
	}
	s := machineStep{name: stepKernelTimes, Args: append(args, r.traces()...), outputs: []string{kernelTable}}
	for _, path := range r.runs {
		hash, err := hashOf(path)
		if err != nil {
			return s, fmt.Errorf("%s: %w", s.name, err)
		}
		s.Inputs = append(s.Inputs, hash)
	}
	return s, nil
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

// traces returns the flags that name the runs.
func (r *machineRun) traces() (args []string) {
	for _, path := range r.runs {
		args = append(args, "--for", path)
	}
	return args
}

// timeMessages is the step that times messages.
func (r *machineRun) timeMessages(launcher []string) machineStep {
	args := []string{"measure", "network", "-o", r.path(networkTable), "--json", "--budget",
		(r.c.Duration("budget") / 3).Round(time.Second).String(), "--mpicc", r.c.String("mpicc"), "--"}
	return machineStep{name: stepMessageTimes, Args: append(args, launcher...), outputs: []string{networkTable}}
}

// checkTools looks for what messages are timed with, unless they have been: kernels take long, and come first.
func (r *machineRun) checkTools(messages machineStep, launcher []string) error {
	if r.isDone(messages) {
		return nil
	}
	o := network.Options{Launcher: launcher, Compiler: r.c.String("mpicc")}
	if _, err := o.FindTools(); err != nil {
		return fmt.Errorf("%s: %w", messages.name, err)
	}
	return nil
}

// fitKernels is the step that fits kernels. What could not be timed has the model of the
// built-in set, which goes by the speed of the host, and the fit warns of it.
func (r *machineRun) fitKernels() machineStep {
	args := append([]string{"kernels", "-o", r.path("kernels.yaml"), "--base", "default", "--noise", r.c.String("noise"),
		"--plots", r.path(plotDirs[stepKernelModels])}, r.traces()...)
	return machineStep{name: stepKernelModels, Args: append(args, r.path(kernelTable)), outputs: []string{"kernels.yaml"}}
}

// fitNetwork is the step that fits the network and writes the platform.
func (r *machineRun) fitNetwork() (machineStep, error) {
	hosts, cores, err := r.places()
	if err != nil {
		return machineStep{}, err
	}
	args := []string{"network", "--platform", r.path("platform.xml"), "--plots", r.path(plotDirs[stepNetworkModel]),
		"--hosts", strconv.Itoa(hosts), "--cores", strconv.Itoa(cores)}
	speed, err := r.speed()
	if err != nil {
		return machineStep{}, err
	}
	if speed > 0 {
		args = append(args, "--speed", fmt.Sprintf("%.3gGf", speed/1e9))
	} else {
		command.Warn(r.c, []warning.Warning{warning.New("the runs call no dgemm and no symgs: hosts have a speed of 1 Gflop/s, by which amounts of flop and kernels that were not timed go")})
	}
	return machineStep{name: stepNetworkModel, Args: append(args, r.path(networkTable)),
		outputs: []string{"platform.xml"}}, nil
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

// measure runs a step that takes long, unless it is done: fits, which take a second, follow
// what is there.
func (r *machineRun) measure(s machineStep) error {
	if r.isDone(s) {
		return nil
	}
	return r.again(s, func() error { return r.step(s) })
}

// isDone reports whether a step was done, with the same options for the same runs, and left what it makes.
func (r *machineRun) isDone(s machineStep) bool {
	old, ok := r.done[s.name]
	return ok && !old.End.IsZero() && slices.Equal(old.Args, s.Args) && slices.Equal(old.Inputs, s.Inputs) &&
		r.has(s.outputs) && exists(r.report(s.name))
}

// again runs a step of which an earlier call may have left the tables. As long as it runs it counts as not done: what
// interrupts it may leave other tables under the same names. If it fails and has left them as they were,
// so is what is known of them.
func (r *machineRun) again(s machineStep, do func() error) error {
	old, done := r.done[s.name]
	tables := r.files(s.outputs)
	delete(r.done, s.name)
	if err := r.keepSteps(); err != nil {
		return err
	}
	err := do()
	if err != nil && done && slices.EqualFunc(tables, r.files(s.outputs), os.SameFile) {
		r.done[s.name] = old
		err = errors.Join(err, r.keepSteps())
	}
	return err
}

// files returns what there is of files in the directory: one that is written anew is another.
func (r *machineRun) files(names []string) (list []fs.FileInfo) {
	for _, name := range names {
		if info, err := os.Stat(r.path(name)); err == nil {
			list = append(list, info)
		}
	}
	return list
}

// plotDirs are the directories with those of the steps that fit.
var plotDirs = map[string]string{stepKernelModels: "plots/kernels", stepNetworkModel: "plots/network"}

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
	if !r.c.Bool("quiet") {
		fmt.Fprintln(r.c.App.ErrWriter, "$ calibrate", command.Quoted(s.Args...))
	}
	args := s.Args
	if r.c.Bool("quiet") && args[0] == "measure" {
		args = slices.Insert(slices.Clone(args), 2, "--quiet")
	}
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

// keepSteps writes which steps have ended, and how.
func (r *machineRun) keepSteps() error {
	return atomicfile.Write(r.path(stepsFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r.done)
	})
}

// report is the file with what a step says: figures of what was measured, text of the fits.
func (r *machineRun) report(step string) string {
	if step == stepKernelTimes || step == stepMessageTimes {
		return r.path("measured/" + step + ".json")
	}
	return r.path("measured/" + step + ".txt")
}

func (r *machineRun) has(files []string) bool {
	return !slices.ContainsFunc(files, func(f string) bool { return !exists(r.path(f)) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// places returns how many hosts the launcher's ranks were on, or --hosts, and how many cores
// a host has for ranks.
func (r *machineRun) places() (hosts, cores int, err error) {
	var m struct {
		Ranks []struct {
			Host string `json:"host"`
		} `json:"ranks"`
	}
	if err := r.readReport(stepMessageTimes, &m); err != nil {
		return 0, 0, err
	}
	seen := map[string]bool{}
	for _, rank := range m.Ranks {
		seen[rank.Host] = true
	}
	if len(seen) > 1 && len(seen) == len(m.Ranks) {
		command.Warn(r.c, []warning.Warning{warning.New("the launcher put one rank on each host, so messages within a host were not timed, and cost what the network model's own loopback does: start two on each, as -- srun -N 2 -n 4")})
	}
	hosts = max(1, len(seen))
	if r.c.IsSet("hosts") {
		hosts = r.c.Int("hosts")
	}
	if r.c.IsSet("ranks-per-host") {
		return hosts, r.c.Int("ranks-per-host"), nil
	}
	return hosts, coresFor(r.c.Int("threads")), nil
}
