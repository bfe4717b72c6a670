package main

import (
	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/stat"
)

// statCommand describes trace stat, which counts without expanding.
func statCommand() *cli.Command {
	return &cli.Command{
		Name:      "stat",
		Usage:     "sum up a trace: parameters, messages, bytes and flop by kind, kernel and phase",
		ArgsUsage: "FILE|-",
		Description: "    trace stat run.trace.zst\n" +
			"    trace stat --polls late --json run.trace.zst",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "polls", Value: "hit", Usage: "count the actions if polls are answered `hit|late`"},
			command.Switch("json", "print JSON"),
			command.Quiet(),
		},
		Action: func(c *cli.Context) error {
			checkPolls(c)
			return onTrace(c, func(t *trace.Trace) error {
				bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), t.Header().Steps, "steps")
				s, err := stat.Of(t, stat.Options{Late: c.String("polls") == "late", Progress: bar.Set})
				bar.Clear()
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return textutil.WriteJSON(c.App.Writer, s)
				}
				return s.WriteText(c.App.Writer)
			})
		},
	}
}

// pollRules answer polls by the value of --polls, where no file answers them.
var pollRules = map[string]trace.PollAnswers{"hit": trace.Hit{}, "late": trace.Late{}}

// checkPolls checks --polls of a command that takes no file for it.
func checkPolls(c *cli.Context) {
	command.Choice(c, "polls", "hit", "late")
}
