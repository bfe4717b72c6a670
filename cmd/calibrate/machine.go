package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/machine"
	"reprise/calibrate/sheet"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/trace/warning"
)

// machineCommand is calibrate machine, which does in one go what the other commands do step by step.
func machineCommand() *cli.Command {
	return &cli.Command{
		Name:  "machine",
		Usage: "measure this machine and fit its model, or take one from a data sheet, for replay --machine",
		UsageText: "calibrate machine DIR [--for TRACE] [options] -- LAUNCHER [ARGUMENT...]\n" +
			"calibrate machine DIR --sheet FILE",
		Description: "Times the kernels that the runs in the traces call, with as many ranks at once as they have on " +
			"a host, and\n" +
			"messages between the ranks that the launcher starts; fits both; and leaves a directory that replay --machine\n" +
			"takes: platform.xml, kernels.yaml and machine.md, which says what was measured and how sure it is. Kernels are\n" +
			"timed on the host that this runs on, which should have nothing else to do.\n\n" +
			"    calibrate machine laptop --for run.trace.zst -- mpirun -np 2\n" +
			"    calibrate machine cluster --for run.trace.zst --budget 45m --hosts 64 -- srun -N 2 -n 4\n\n" +
			"Called again it goes on with what is missing: what was measured with the same options is not measured again.\n\n" +
			"With --sheet nothing is measured: the machine is that of a data sheet, such as\n\n" +
			"    nodes: 64\n    sockets: 2\n    cores: 32                 # of a socket\n" +
			"    clock: 2.45GHz\n    flop_per_cycle: 16        # of a core, double precision\n" +
			"    memory: 256GB             # of a node\n    memory_bandwidth: 205GBps # of a socket\n    network: 100Gbps\n\n" +
			"    calibrate machine planned --sheet sheet.yaml",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "sheet", Usage: "make the machine of a data sheet, a YAML `FILE`; measure nothing"},
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
				Usage: "write the scatter of timings as noise into kernels.yaml, `none|normal|half-normal|auto`: replays then show " +
					"the waits that it causes"},
			// The shape of a host, and of the platform.
			&cli.IntFlag{Name: "ranks-per-host", Usage: "`N` ranks on each host",
				DefaultText: "all of the run, up to a rank per core"},
			&cli.IntFlag{Name: "threads", Value: 1, Usage: "`N` threads of the BLAS in each rank"},
			&cli.IntFlag{Name: "hosts", Usage: "`N` hosts of the platform",
				DefaultText: "those that the launcher's ranks are on"},
			command.Quiet(),
		},
		Action: runMachine,
	}
}

// runMachine leaves the steps to calibrate/machine. Each of them is a command line of calibrate, which runs in this
// process: its flags are checked where they are used, and users can repeat it by hand.
func runMachine(c *cli.Context) error {
	// The first argument is the directory, and all behind it the launcher, whose own flags urfave/cli leaves alone.
	// A sheet leaves nothing to measure, and its flag may stand behind the directory.
	args := c.Args().Slice()
	if i := slices.IndexFunc(args, isSheetFlag); i > 0 || c.IsSet("sheet") {
		return runSheet(c, args, i)
	}
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
	o := machine.Options{Dir: args[0], Runs: c.StringSlice("for"), Launcher: args[1:], Budget: c.Duration("budget"),
		Compiler: c.String("mpicc"), Noise: c.String("noise"), Threads: c.Int("threads"), Hosts: c.Int("hosts"),
		Warn: func(w warning.Warning) { command.Warn(c, []warning.Warning{w}) }}
	// Flags of the kernels go on as they were given: the step that measures checks them, and its line in machine.md has
	// them.
	for _, flag := range []string{"blas", "cc", "cflags", "ranks-per-host"} {
		if c.IsSet(flag) {
			o.KernelFlags = append(o.KernelFlags, "--"+flag, c.String(flag))
		}
	}
	// Numbers that are not given follow from the measurement.
	if c.IsSet("ranks-per-host") {
		o.RanksPerHost = new(c.Int("ranks-per-host"))
	}
	// A step is a command of this process, which shows its line in place of a bar of its own.
	o.Run = func(args []string, report io.Writer) error {
		if !c.Bool("quiet") {
			fmt.Fprintln(c.App.ErrWriter, "$ calibrate", command.Quoted(args...))
		} else if args[0] == "measure" {
			args = slices.Insert(slices.Clone(args), 2, "--quiet")
		}
		return run(c.Context, append([]string{"calibrate"}, args...), c.App.Reader, report, c.App.ErrWriter)
	}
	textutil.Check(machine.Make(c.Context, o))
	fmt.Fprintf(c.App.Writer, "%s: a machine for replay --machine; %s says how sure it is\n", o.Dir,
		machine.Manual(o.Dir))
	return nil
}

// isSheetFlag reports whether an argument is --sheet, or --sheet=FILE.
func isSheetFlag(arg string) bool { return arg == "--sheet" || strings.HasPrefix(arg, "--sheet=") }

// runSheet makes the machine of a data sheet. at is the place of --sheet among the arguments, -1 if it came before them.
func runSheet(c *cli.Context, args []string, at int) error {
	path := c.String("sheet")
	if at > 0 {
		value, rest := "", args[at+1:]
		if _, v, ok := strings.Cut(args[at], "="); ok {
			value = v
		} else if len(rest) > 0 {
			value, rest = rest[0], rest[1:]
		}
		path, args = value, append(slices.Clone(args[:at]), rest...)
	}
	if path == "" || len(args) != 1 {
		return command.Usagef("machine: want calibrate machine DIR --sheet FILE, and nothing else: a sheet is not measured")
	}
	for _, flag := range c.FlagNames() {
		if flag != "sheet" && flag != "quiet" {
			return command.Usagef("machine: --%s is of a measured machine: leave it or --sheet out", flag)
		}
	}
	text := textutil.Must(regular.Read(path, yamlfile.MaxBytes))
	s, warnings, err := sheet.Parse(bytes.NewReader(text), path)
	command.Warn(c, warnings)
	textutil.Check(err)
	textutil.Check(sheet.Make(args[0], s, text))
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.Writer, "%s: a machine for replay --machine, of which nothing was measured; %s says what was assumed\n",
			args[0], machine.Manual(args[0]))
	}
	return nil
}
