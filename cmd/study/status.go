package main

import (
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/study"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:        "status",
		Usage:       "say how far a study has come",
		UsageText:   "study status DIR [--json]",
		Description: "Runs that are done, who makes which, and the workers that study submit has in the queue.\n\n    study status nb\n    study status nb --json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print the status as JSON", DisableDefaultText: true},
		},
		Action: func(c *cli.Context) error {
			dir, err := directory(c)
			if err != nil {
				return err
			}
			p, err := study.Open(dir, "")
			if err != nil {
				return err
			}
			s, err := p.NewStatus()
			if err != nil {
				return err
			}
			full := newFullStatus(c, dir, s)
			if c.Bool("json") {
				return writeJSON(c.App.Writer, full)
			}
			if err := s.WriteText(c.App.Writer); err != nil {
				return err
			}
			return writeTasks(c, full.Tasks)
		},
	}
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
