package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/trace"
	"reprise/trace/verify"
)

// verifyCommand describes trace verify, which reads all of a trace and checks that it makes sense.
func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a trace: checksums, totals, references, and that messages sent are received",
		ArgsUsage: "FILE|-",
		Description: "    trace verify run.trace.zst\n" +
			"    trace verify --quiet - < run.trace.zst",
		Flags: []cli.Flag{command.Quiet()},
		Action: func(c *cli.Context) error {
			return onTrace(c, func(t *trace.Trace) error {
				bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), t.Header().Steps*t.Header().Ranks, "steps of ranks")
				v, err := verify.Trace(t, bar.Set)
				bar.Clear()
				// A fault names rank and step only.
				if errors.As(err, new(*verify.Fault)) {
					return fmt.Errorf("%s: %w", c.Args().First(), err) // other errors name the file
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.App.Writer, "ok: %v\n", v)
				return err
			})
		},
	}
}
