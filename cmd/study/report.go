package main

import (
	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/study/report"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:        "report",
		Usage:       "say what a study has found out",
		UsageText:   "study report DIR [-o FILE.html] [--json]",
		Description: "The best configurations, those that cannot be told from them, and what each factor does.\n\n    study report nb\n    study report nb -o nb.html",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "write a page for a browser to `FILE`, beside the text"},
			&cli.BoolFlag{Name: "json", Usage: "print the findings as JSON", DisableDefaultText: true},
		},
		Action: func(c *cli.Context) error {
			dir, err := directory(c)
			if err != nil {
				return err
			}
			path := c.String("output")
			if path == "-" {
				return command.Usagef("report: --output -: a page goes to a file")
			}
			p, r, err := results(c, dir)
			if err != nil {
				return err
			}
			f, err := report.Of(p, r)
			if err != nil {
				return err
			}
			if path != "" {
				if err := p.CheckOutput(path); err != nil {
					return command.Usagef("report: --output %w", err)
				}
				if err := atomicfile.Write(path, f.WriteHTML); err != nil {
					return err
				}
			}
			if c.Bool("json") {
				return writeJSON(c.App.Writer, f)
			}
			return f.WriteText(c.App.Writer)
		},
	}
}
