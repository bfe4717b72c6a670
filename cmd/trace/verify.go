package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"reprise/internal/terminal"
	"reprise/trace/verify"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a trace: checksums, totals, references, and that what is sent is received",
		ArgsUsage: "FILE|-",
		Description: "    trace verify run.trace.zst\n" +
			"    trace verify --quiet - < run.trace.zst",
		Flags: []cli.Flag{quietFlag()},
		Action: func(c *cli.Context) (err error) {
			t, err := openOnly(c)
			if err != nil {
				return err
			}
			defer closing(t, &err)
			bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), t.Header().Steps*t.Header().Ranks, "steps of ranks")
			v, err := verify.Trace(t, bar.Set)
			bar.Clear()
			var fault *verify.Fault
			if errors.As(err, &fault) {
				return fmt.Errorf("%s: %w", c.Args().First(), err) // other errors name the file
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.App.Writer, "ok: %v\n", v)
			return err
		},
	}
}
