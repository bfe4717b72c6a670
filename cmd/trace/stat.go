package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/trace/stat"
	"reprise/trace/verify"
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
			&cli.BoolFlag{Name: "json", Usage: "print JSON", DisableDefaultText: true},
			quietFlag(),
		},
		Action: func(c *cli.Context) (err error) {
			late, err := parsePolls(c)
			if err != nil {
				return err
			}
			t, err := openOnly(c)
			if err != nil {
				return err
			}
			defer closing(t, &err)
			bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), t.Header().Steps, "steps")
			s, err := stat.Of(t, stat.Options{Late: late, Progress: bar.Set})
			bar.Clear()
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return writeJSON(c.App.Writer, s)
			}
			return s.WriteText(c.App.Writer)
		},
	}
}

// parsePolls reads --polls where no file can answer them: it is true for late.
func parsePolls(c *cli.Context) (late bool, err error) {
	switch p := c.String("polls"); p {
	case "hit":
		return false, nil
	case "late":
		return true, nil
	default:
		return false, command.Usagef("%s: --polls %q, want hit or late", c.Command.Name, p)
	}
}

// writeJSON writes a result as JSON that people can read, too.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// verifyCommand describes trace verify, which reads all of a trace and checks that it makes sense.
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
