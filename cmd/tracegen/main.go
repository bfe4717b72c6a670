// Command tracegen writes traces of what programs do, without running them. See
// docs/hpl.md.
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
	app := command.App("tracegen", "write the trace of a program, without running it", stdin, stdout, stderr)
	command.Subcommands(app, "program", &cli.Command{
		Name:      "hpl",
		Usage:     "High Performance Linpack 2.3",
		UsageText: "tracegen hpl -N n -P p -Q q [options] [-o FILE]\ntracegen hpl --hpl-dat FILE [--list | --combination k] [options] [-o FILE]",
		Flags:     hplFlags(),
		Action:    func(c *cli.Context) error { return runHPL(c, args) },
	})
	return command.Execute(ctx, app, args)
}
