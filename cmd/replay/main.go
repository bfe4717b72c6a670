// Command replay plays a trace on a model of a machine and prints when it would
// have ended. See docs/replay.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"
)

// version is set by the build.
var version = "unknown"

func main() {
	err := run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "replay:", err)
	var usage usageError
	if errors.As(err, &usage) {
		os.Exit(2)
	}
	os.Exit(1)
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the command: stdout gets the results, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	app := &cli.App{
		Name:            "replay",
		Usage:           "play a trace on a model of a machine",
		UsageText:       "replay [options] FILE|-\nreplay platform FILE|NAME [--ranks N] [--route FROM TO] [--json]",
		Version:         version,
		HideHelpCommand: true,
		Writer:          stdout,
		ErrWriter:       stderr,
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    func(_ *cli.Context, err error, _ bool) error { return usageError{err} },
		Flags:           slices.Concat(flags(), seedFlags(), sampleFlags(), keepFlags()),
		Commands:        []*cli.Command{platformCommand(stdout)},

		DisableSliceFlagSeparator: true,
		Action: func(c *cli.Context) error {
			s, err := settingsOf(c)
			if err != nil {
				return err
			}
			if s.sample.on() {
				return sampleTrace(c.Context, s, stdout, stderr)
			}
			if s.noise.runs > 0 {
				return replayRuns(c.Context, s, stdout, stderr)
			}
			return replayTrace(s, stdin, stdout, stderr)
		},
	}
	return app.RunContext(ctx, args)
}

func flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "platform", Usage: "SimGrid XML `FILE`, or a built-in machine: dahu, default, stampede", DefaultText: "default, sized to the ranks"},
		&cli.StringFlag{Name: "kernels", Usage: "kernel models, YAML `FILE` or built-in set", DefaultText: "those of the built-in machine"},
		&cli.StringFlag{Name: "hostfile", Usage: "`FILE` with a host, or host:k, per line; ranks take them in turn"},
		&cli.IntFlag{Name: "ranks-per-host", Usage: "`N` consecutive ranks on each host", DefaultText: "as few as fit, at most one per core"},
		&cli.StringFlag{Name: "network", Usage: "`MODEL` of the network: smpi, lv08, cm02, or contention-free, where no message slows another (default: as the platform says, else smpi)"},
		&cli.StringSliceFlag{Name: "cfg", Usage: "simulator option `NAME:VALUE`, as smpirun's --cfg=NAME:VALUE; may be repeated"},
		&cli.StringFlag{Name: "steps", Usage: "play steps `A:B` only, B not included; either may be left out", DefaultText: "all"},
		&cli.BoolFlag{Name: "json", Usage: "print the result as JSON", DisableDefaultText: true},
		&cli.BoolFlag{Name: "quiet", Usage: "no progress and no notes on stderr", DisableDefaultText: true},
	}
}
