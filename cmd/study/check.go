package main

import (
	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/study"
)

// trouble is the exit code of a check that could not be made: 1 means worse.
const trouble = 2

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:        "check",
		Usage:       "tell whether a study has become slower since another one",
		UsageText:   "study check DIR --against DIR [--threshold T] [--json]",
		Description: "Exit 0: no configuration is slower by more than --threshold; 1: one is; 2: trouble.\n\n    study check today --against yesterday --threshold 1%",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "against", Usage: "`DIR` of the study that is the base"},
			&cli.StringFlag{Name: "threshold", Usage: "allow a slowdown of up to `T` (1%, or 0.01)", Value: "0%"},
			&cli.BoolFlag{Name: "json", Usage: "print the comparison as JSON", DisableDefaultText: true},
		},
		Action: func(c *cli.Context) error {
			d, err := check(c)
			if err != nil {
				return command.Code(err, trouble)
			}
			if c.Bool("json") {
				err = writeJSON(c.App.Writer, d)
			} else {
				err = d.WriteText(c.App.Writer)
			}
			switch {
			case err != nil:
				return command.Code(err, trouble)
			case d.Worse:
				return command.Silent
			}
			return nil
		},
	}
}

func check(c *cli.Context) (*study.Check, error) {
	dir, err := directory(c)
	if err != nil {
		return nil, err
	}
	if c.String("against") == "" {
		return nil, command.Usagef("check: --against DIR is missing: the study to compare with")
	}
	threshold, err := textutil.ParsePercent(c.String("threshold"), "the makespan", true)
	if err != nil {
		return nil, command.Usagef("check: --threshold %w", err)
	}
	a, ra, err := results(c, c.String("against"))
	if err != nil {
		return nil, err
	}
	b, rb, err := results(c, dir)
	if err != nil {
		return nil, err
	}
	return study.NewCheck(a, b, ra, rb, threshold)
}
