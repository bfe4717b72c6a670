package main

import (
	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/trace/diff"
)

// trouble is the exit code of a comparison that could not be made.
const trouble = 2

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare two traces; exit 0 if they are the same, 1 if not, 2 in trouble",
		ArgsUsage: "A B",
		Description: "    trace diff base.trace.zst new.trace.zst\n" +
			"    trace diff --actions --json base.trace.zst new.trace.zst",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "actions", Usage: "print the first diverging action of each rank, with the lines around it", DisableDefaultText: true},
			&cli.BoolFlag{Name: "json", Usage: "print JSON", DisableDefaultText: true},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing", DisableDefaultText: true},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return command.Usagef("diff: want 2 traces, got %d (flags come before them)", c.NArg())
			}
			if c.Bool("quiet") && (c.Bool("json") || c.Bool("actions")) {
				return command.Usagef("diff: --quiet prints nothing: leave out --json and --actions")
			}
			command.InterruptedCode(trouble)
			same, err := compare(c, c.Args().Get(0), c.Args().Get(1))
			if err != nil {
				return command.Code(err, trouble)
			}
			if !same {
				return command.Silent
			}
			return nil
		},
	}
}

// compare compares two files and prints what was asked for.
func compare(c *cli.Context, a, b string) (same bool, err error) {
	x, err := open(c, a)
	if err != nil {
		return false, err
	}
	defer closing(x, &err)
	y, err := open(c, b)
	if err != nil {
		return false, err
	}
	defer closing(y, &err)
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), 1, "chunks")
	d, err := diff.Traces(x, y, diff.Options{Actions: c.Bool("actions"), Summary: c.Bool("json"), Progress: bar.SetOf})
	bar.Clear()
	switch {
	case err != nil:
		return false, err
	case c.Bool("quiet"):
	case c.Bool("json"):
		err = writeJSON(c.App.Writer, d)
	default:
		err = d.WriteText(c.App.Writer, a, b)
	}
	return d.Same, err
}
