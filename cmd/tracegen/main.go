// Command tracegen writes traces of what programs do: of some without running them, of any
// MPI program by recording it. See docs/hpl.md, docs/hpcg.md and docs/capture.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/tracegen"
)

func main() { command.Main("tracegen", run) }

// run is the command: stdout gets the trace or a list, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return command.Execute(ctx, newApp(args, stdin, stdout, stderr), args)
}

// newApp returns the command with a subcommand for each program.
func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := command.App("tracegen", "write the trace of a program, without running it or by recording it", stdin, stdout,
		stderr)
	app.Description = "A trace says what each rank of a program does, without times: replay plays it on a machine.\n\n" +
		"    tracegen hpl -N 20000 -P 2 -Q 2 -o run.trace.zst\n" +
		"    tracegen hpcg --ranks 64 --nx 104 -o run.trace.zst\n" +
		"    tracegen mpi -o run.trace.zst -- mpirun -np 16 ./app"
	command.Subcommands(app, "program", hplCommand(args), hpcgCommand(args), mxpCommand(args), mpiCommand(args))
	return app
}

// tell prints a note for users on the standard error.
func tell(c *cli.Context, notes ...any) {
	fmt.Fprintln(c.App.ErrWriter, append([]any{"tracegen:"}, notes...)...)
}

// withDat calls read with the file of parameters at path, or with standard input for "-".
func withDat(c *cli.Context, path string, read func(in io.Reader, name string) error) error {
	if path == "-" {
		return read(c.App.Reader, "stdin")
	}
	// The name stands for the file in messages of the reader.
	f := textutil.Must(os.Open(path))
	defer f.Close()
	return read(f, path)
}

// flagsOf returns the flags of parameters. All but switches are strings: the library parses them, and its errors tell the
// bounds.
func flagsOf[T any](list tracegen.Parameters[T]) (flags []cli.Flag) {
	for _, par := range list {
		if par.Switch {
			flags = append(flags, command.Switch(par.Name, par.Usage))
		} else {
			flags = append(flags, &cli.StringFlag{Name: par.Name, Usage: par.Usage, DefaultText: par.Default})
		}
	}
	return flags
}

// givenOf returns the parameters whose flags are given.
func givenOf[T any](c *cli.Context, list tracegen.Parameters[T]) (given []trace.Param) {
	for _, par := range list {
		if c.IsSet(par.Name) && (!par.Switch || c.Bool(par.Name)) {
			given = append(given, trace.Param{Name: par.Name, Value: fmt.Sprint(c.Value(par.Name))})
		}
	}
	return given
}

// outputFlags are the flags of what generators write.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-", Usage: "write the trace to `FILE`",
			DefaultText: "-, standard output"},
		command.Switch("quiet", "no progress and no notes on stderr"),
	}
}

// checkOutput ends the command at arguments, which no generator takes, and at an output that has no name or would replace
// one of the inputs.
func checkOutput(c *cli.Context, inputs ...string) {
	switch {
	case c.NArg() != 0:
		textutil.Stop(command.Usagef("%s: unexpected argument %q", c.Command.Name, c.Args().First()))
	case c.String("output") == "":
		textutil.Stop(command.Usagef("%s: --output \"\", want the name of a file, or -", c.Command.Name))
	}
	command.CheckFlag(c, "output", atomicfile.CheckOverwrite(c.String("output"), inputs...))
}

// generate has a generator write the trace, with a bar for its steps.
func generate(c *cli.Context, steps int, write func(w io.Writer, progress func(done, all int)) error) error {
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), steps, "steps")
	defer bar.Clear()
	return writeTrace(c.String("output"), c.App.Writer, func(w io.Writer) error { return write(w, bar.SetOf) })
}

// writeTrace calls write with a writer to the file at path, which appears whole or not at all, or to stdout if path is
// "-". It refuses to write binary data to a terminal.
func writeTrace(path string, stdout io.Writer, write func(io.Writer) error) error {
	switch {
	case path == "-" && terminal.Is(stdout):
		return command.Usagef("a trace is binary: name a file with -o, or send standard output to a pipe or a file")
	case path == "-":
		return atomicfile.Buffered(stdout, write)
	case terminal.IsPath(path):
		return command.Usagef("%s: a trace is binary, and this is a terminal", path)
	}
	return atomicfile.Write(path, write)
}

// commandLine joins the arguments as a person would have typed them. The output and --quiet are left out: the same
// parameters give the same bytes of the trace, whose header has the line.
func commandLine(args []string, flags []cli.Flag) string {
	// takesValue reports whether a flag has a value as its next argument.
	takesValue := func(name string) bool {
		return slices.ContainsFunc(flags, func(f cli.Flag) bool {
			_, isSwitch := f.(*cli.BoolFlag)
			return !isSwitch && slices.Contains(f.Names(), name)
		})
	}
	words := []string{"tracegen"}
	// The first argument is the path of the program, which is no part of how the trace was made.
	for i := 1; i < len(args); i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		// A flag and its value are kept or left out together.
		first := i
		if strings.HasPrefix(args[i], "-") && !hasValue && takesValue(name) && i+1 < len(args) {
			i++
		}
		if strings.HasPrefix(args[first], "-") && (name == "o" || name == "output" || name == "quiet") {
			continue
		}
		for _, arg := range args[first : i+1] {
			words = append(words, command.Quoted(arg))
		}
	}
	return strings.Join(words, " ")
}
