package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/study"
)

func planCommand() *cli.Command {
	return &cli.Command{
		Name:        "plan",
		Usage:       "plan a study whose runs others make",
		UsageText:   "study plan FILE.yaml -o DIR",
		Description: "Writes the plan into DIR, for study submit or for workers on any hosts.\n\n    study plan nb.yaml -o nb",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "the study's directory `DIR`, which workers share"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return command.Usagef("plan: want the file of a study, got %d arguments", c.NArg())
			}
			dir := c.String("output")
			if dir == "" {
				return command.Usagef("plan: --output DIR is missing: where the plan is to be")
			}
			s, err := study.Load(c.Args().First())
			if err != nil {
				return err
			}
			p, err := study.NewPlan(s, version())
			if err != nil {
				return err
			}
			tellNotes(c, p)
			if _, err := p.Create(dir); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.App.Writer, "%s: %s\n", dir, textutil.Count(p.Different(), "run"))
			return err
		},
	}
}
