package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/platforms"
	"reprise/tracegen/capture"
)

// mpiCommand is tracegen mpi, of docs/capture.md. args is the command line, which the header of the trace has.
func mpiCommand(args []string) *cli.Command {
	return &cli.Command{
		Name:  "mpi",
		Usage: "any MPI program, recorded while it runs",
		UsageText: "tracegen mpi -o FILE [options] -- mpirun -np n PROGRAM [arguments]\ntracegen mpi -o FILE " +
			"[options] --recordings DIR",
		Description: "The program is neither changed nor linked again; its input, output and exit status pass through.\n\n" +
			"    tracegen mpi -o run.trace.zst -- mpirun -np 16 ./app input\n" +
			"    tracegen mpi -o run.trace.zst --recordings recorded -- mpirun -np 4 --oversubscribe ./app\n" +
			"    tracegen mpi -o each.trace.zst --recordings recorded --gaps all",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the trace to `FILE`; must be given"},
			&cli.StringFlag{Name: "recordings", Usage: "keep the recordings in `DIR`; without a command, make the trace of those in it",
				DefaultText: "a hidden directory beside the trace, removed at the end"},
			// How computations become amounts of flop or kernels.
			&cli.StringFlag{Name: "speed", Value: "1Gf",
				Usage: "`flop/s` of the recording processor: a second of computation becomes so many flop", DefaultText: "1Gf"},
			&cli.StringFlag{Name: "gaps", Value: "mean",
				Usage: "time of a computation, `mean|all`: mean and spread of all at its place in the program and rank, or " +
					"its own", DefaultText: "mean"},
			command.Switch("blas", "record calls of BLAS, LAPACK and FFTW (dgemm, dgetrf, ...) as kernels "+
				"with their dimensions, not as time"),
			&cli.StringFlag{Name: "step-mark", DefaultText: "turns of the outermost loop",
				Usage: "begin a step at each `CALL` of a collective, such as allreduce, or phase, such as 'pcontrol 1'"},
			// How strict merging is.
			command.Switch("partial", "accept ranks without MPI_Finalize: keep what they have recorded"),
			command.Switch("leave-out", "leave out calls that a trace cannot have, such as MPI_Comm_spawn, and warn"),
			command.Switch("quiet", "no progress and no notes on stderr"),
		},
		Action: func(c *cli.Context) error { return runMPI(c, args) },
	}
}

// runMPI runs the program with the recorder in it and merges the recordings of its ranks into a trace, or merges those
// of an earlier run. The exit status is that of the program, also where the trace could be written.
func runMPI(c *cli.Context, args []string) error {
	output := c.String("output")
	switch {
	case output == "":
		return command.Usagef("mpi: --output is missing, the name of the trace")
	case output == "-":
		return command.Usagef("mpi: --output -: standard output is the program's; name a file")
	case terminal.IsPath(output):
		return command.Usagef("%s: a trace is binary, and this is a terminal", output)
	case c.NArg() == 0 && !c.IsSet("recordings"):
		return command.Usagef("mpi: the program is missing: tracegen mpi -o FILE -- mpirun -np n PROGRAM")
	case c.NArg() == 0 && c.Bool("blas"):
		return command.Usagef("--blas is for recording: name the program")
	case c.String("gaps") != "mean" && c.String("gaps") != "all":
		return command.Usagef("--gaps %q, want mean or all", c.String("gaps"))
	}
	// The rate turns seconds between calls into flop: a replay on a host of that speed takes the recorded time.
	o := capture.Options{EachGap: c.String("gaps") == "all", StepMark: c.String("step-mark"),
		Partial: c.Bool("partial"), LeaveOut: c.Bool("leave-out"),
		Tool: "tracegen " + command.Version(), Command: commandLine(args, c.Command.Flags)}
	var err error
	if o.Rate, err = platforms.ParseSpeed(c.String("speed")); err != nil || !(o.Rate > 0) {
		return command.Usagef("--speed %q, want flop/s, such as 1Gf", c.String("speed"))
	}
	textutil.Check(atomicfile.Check(output))
	// Recordings of an earlier call can be merged again with other flags.
	if c.NArg() == 0 {
		return mergeMPI(c, c.String("recordings"), output, o)
	}

	// A directory that users name stays, and must be empty; another one goes with the command.
	dir := c.String("recordings")
	if dir != "" {
		entries, err := os.ReadDir(dir)
		switch {
		case err == nil && len(entries) > 0:
			return command.Usagef("--recordings %s: the directory is not empty", dir)
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return err
		}
		textutil.Check(os.MkdirAll(dir, 0o777))
	} else {
		var remove func() error
		if dir, remove, err = atomicfile.HiddenDir(output + ".recordings"); err != nil {
			return err
		}
		defer func() { _ = remove() }() // the next command removes leftovers
	}

	// A signal that would end the command ends the program first.
	stop := func() {}
	failed := capture.Record(c.Context, dir, capture.Command{
		Args: c.Args().Slice(), Stdin: c.App.Reader, Stdout: raw(c.App.Writer), Stderr: raw(c.App.ErrWriter),
		BLAS: c.Bool("blas"),
		Compiling: func() {
			if !c.Bool("quiet") {
				tell(c, "compiling the recorder, once; this takes some seconds")
			}
		},
		Started: func(p *os.Process) { stop = command.OnEnding(func(sig os.Signal) { _ = p.Signal(sig) }) },
	})
	stop()
	// A program that failed may have recorded enough: the trace is written, and the exit status is that of the program.
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		return failed
	}
	// A Failure says that nothing was recorded that could be merged.
	if err = failed; !errors.As(failed, new(*capture.Failure)) {
		err = mergeMPI(c, dir, output, o)
	}
	if exit == nil {
		return err
	}
	// The error is told with the exit status of the program; without one, that status is all there is to tell.
	// Shells count the end by a signal as 128 and its number.
	code := exit.ExitCode()
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return command.Code(cmp.Or[error](err, command.Silent), code)
}

// raw returns the file behind a writer of the command: a program has the same terminal, if there is one.
func raw(w io.Writer) io.Writer {
	if o, ok := w.(interface{ Raw() io.Writer }); ok {
		return o.Raw()
	}
	return w
}

// mergeMPI merges the recordings of a directory into the trace.
func mergeMPI(c *cli.Context, dir, output string, o capture.Options) error {
	// The number of parts is known once their files are open.
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), 1, "parts")
	defer bar.Clear()
	o.Progress = bar.SetOf
	var s *capture.Summary
	err := atomicfile.Write(output, func(w io.Writer) (err error) {
		s, err = capture.Merge(dir, w, o)
		return err
	})
	if err != nil {
		return err
	}
	// Warnings stand below the cleared bar.
	bar.Clear()
	for _, w := range s.Warnings {
		tell(c, "warning:", w)
	}
	if !c.Bool("quiet") {
		steps := textutil.Count(s.Steps, "step")
		if s.NoSteps != nil {
			steps = fmt.Sprintf("no steps (%v)", s.NoSteps)
		}
		tell(c, fmt.Sprintf("%s: %s, %s, %s, %s", output, textutil.Count(s.Ranks, "rank"), textutil.Count(s.Calls, "call"),
			steps, s.Library))
	}
	return nil
}
