package main

import (
	"cmp"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/trace/diff"
)

// diffCommand describes trace diff. As of diff(1), its exit code tells a difference from trouble.
func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare two traces; exit 0 if they are the same, 1 if not, 2 in trouble",
		ArgsUsage: "A B",
		Description: "    trace diff base.trace.zst new.trace.zst\n" +
			"    trace diff --actions --json base.trace.zst new.trace.zst\n" +
			"    trace diff --markdown --junit diff.xml --report diff.html base.trace.zst new.trace.zst",
		Flags: []cli.Flag{
			command.Switch("actions", "print the first diverging action of each rank, with the lines around it"),
			command.Switch("markdown", "print Markdown, with the actions"),
			command.Switch("json", "print JSON"),
			&cli.StringFlag{Name: "junit", Usage: "write checks of parameters, counts and actions to `FILE`, too, as JUnit's XML"},
			&cli.StringFlag{Name: "report", Usage: "write a page with all of it to `FILE`, too, as HTML"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing", DisableDefaultText: true},
		},
		Action: runDiff,
	}
}

// runDiff refuses what a command line cannot mean, and compares.
func runDiff(c *cli.Context) error {
	switch {
	case c.NArg() != 2:
		return command.Usagef("diff: want 2 traces, got %d", c.NArg())
	case c.Bool("quiet") && (c.Bool("json") || c.Bool("actions") || c.Bool("markdown")):
		return command.Usagef("diff: --quiet prints nothing: leave out --json, --actions and --markdown")
	case c.Bool("json") && c.Bool("markdown"):
		return command.Usagef("diff: --json and --markdown exclude each other")
	}
	for _, name := range []string{"junit", "report"} {
		if c.String(name) == "-" {
			return command.Usagef("diff: --%s wants a file, as the difference goes to standard output; write ./- for a file named -",
				name)
		}
		if err := atomicfile.CheckOverwrite(c.String(name), c.Args().Slice()...); err != nil {
			return command.Usagef("diff: --%s %w", name, err)
		}
		if err := atomicfile.Check(c.String(name)); err != nil {
			return command.Code(err, command.Trouble)
		}
	}
	if err := atomicfile.Distinct(c.String("junit"), c.String("report")); err != nil {
		return command.Usagef("diff: %w", err)
	}

	// An interrupted comparison has no result: it must not look like a difference.
	command.InterruptedCode(command.Trouble)
	same, err := compare(c, c.Args().Get(0), c.Args().Get(1))
	return command.Compared(!same, err)
}

// compare compares two files, and prints and writes what was asked for.
// same is true if the traces mean the same, whatever was printed.
func compare(c *cli.Context, a, b string) (same bool, err error) {
	defer textutil.Stopped(&err)
	x := open(c, a)
	defer func() { err = cmp.Or(err, x.Close()) }()
	y := open(c, b)
	defer func() { err = cmp.Or(err, y.Close()) }()
	// Pages and checks show the actions that diverge, and the counts even if they are equal.
	shown := c.Bool("markdown") || c.String("junit") != "" || c.String("report") != ""
	counting := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), 1, "steps counted")
	// The second bar takes the place of the first when counting is done and actions are compared.
	var comparing *terminal.Bar
	progress := func(chunks, all int) {
		if counting != nil && comparing == nil {
			counting.Clear()
			comparing = terminal.NewBar(c.App.ErrWriter, false, all, "chunks compared")
		}
		comparing.Set(chunks)
	}
	d, err := diff.Traces(x, y, diff.Options{Actions: c.Bool("actions") || shown, Summary: c.Bool("json") || shown,
		Progress: progress, Counting: counting.SetOf})
	counting.Clear()
	comparing.Clear()
	if err != nil {
		return false, err
	}

	// The files that were asked for are written even if printing fails.
	var printed error
	switch {
	case c.Bool("quiet"):
	case c.Bool("json"):
		printed = textutil.WriteJSON(c.App.Writer, d)
	case c.Bool("markdown"):
		printed = d.WriteMarkdown(c.App.Writer, a, b)
	default:
		printed = d.WriteText(terminal.Wide(c.App.Writer), a, b)
	}
	write := func(flag string, content func(io.Writer, string, string) error) error {
		path := c.String(flag)
		if path == "" {
			return nil
		}
		return atomicfile.Write(path, func(w io.Writer) error { return content(w, a, b) })
	}
	return d.Same, errors.Join(printed, write("junit", d.WriteJUnit), write("report", d.WriteHTML))
}
