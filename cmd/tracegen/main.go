// Command tracegen writes traces of what programs do: of some without running them, of any
// MPI program by recording it. See docs/hpl.md, docs/hpcg.md and docs/capture.md.
package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
)

func main() {
	command.Main("tracegen", run)
}

// run is the command: stdout gets the trace or a list, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return command.Execute(ctx, newApp(args, stdin, stdout, stderr), args)
}

// newApp returns the command as its command line says it.
func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := command.App("tracegen", "write the trace of a program, without running it or by recording it", stdin, stdout,
		stderr)
	app.Description = "A trace says what each rank of a program does, without times: replay plays it on a machine.\n\n" +
		"    tracegen hpl -N 20000 -P 2 -Q 2 -o run.trace.zst\n" +
		"    tracegen hpcg --ranks 64 --nx 104 -o run.trace.zst\n" +
		"    tracegen mpi -o run.trace.zst -- mpirun -np 16 ./app"
	command.Subcommands(app, "program", &cli.Command{
		Name:      "hpl",
		Usage:     "High Performance Linpack 2.3",
		UsageText: "tracegen hpl -N n -P p -Q q [options] [-o FILE]\ntracegen hpl --hpl-dat FILE [--list | --combination k] [options] [-o FILE]",
		Description: "Parameters are those of HPL.dat, by flags or from the file itself.\n\n" +
			"    tracegen hpl -N 50000 --NB 128 -P 8 -Q 16 -o run.trace.zst\n" +
			"    tracegen hpl -N 20000 --NB 192 -P 4 -Q 4 --BCAST 2rM --DEPTH 1 | replay -\n" +
			"    tracegen hpl --hpl-dat HPL.dat --list\n" +
			"    tracegen hpl --hpl-dat HPL.dat --combination 3 -o run.trace.zst",
		Flags:  hplFlags(),
		Action: func(c *cli.Context) error { return runHPL(c, args) },
	}, hpcgCommand(args), mpiCommand(args))
	return app
}
