package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"reprise/internal/wholefile"
	"reprise/trace"
	"reprise/tracegen/goal"
	"reprise/tracegen/simgrid"
)

func convertCommand() *cli.Command {
	return &cli.Command{
		Name:  "convert",
		Usage: "write a trace in another format, or read one",
		UsageText: "trace convert --to simgrid [-o FILE | -o DIR/] [options] TRACE|-\n" +
			"   trace convert --to goal [-o FILE] [options] TRACE|-\n" +
			"   trace convert --from simgrid [-o FILE] INDEX",
		OnUsageError: onUsageError,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "write `FORMAT`: simgrid (time-independent text) or goal (LogGOPSim's text)"},
			&cli.StringFlag{Name: "from", Usage: "read `FORMAT`: simgrid, by its index"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-", Usage: "write to `FILE` (default: standard output); for simgrid, to a file per rank and their index in DIR/"},
			&cli.StringFlag{Name: "polls", Value: "hit", Usage: "answer polls `hit|late`: all find their message, or only those of a rank with nothing else to do"},
			&cli.StringFlag{Name: "kernels", Usage: "kernel models, YAML `FILE` or built-in set: a call becomes its seconds times --speed (default: the flop that the trace declares)"},
			&cli.StringFlag{Name: "speed", Value: "1Gf", Usage: "flop/s of the hosts, as `1Gf`, for --kernels and --to goal"},
		},
		Action: func(c *cli.Context) error {
			o, err := convertOptionsOf(c)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			if o.from != "" {
				return o.fromSimgrid(ctx, c)
			}
			return o.export(ctx, c)
		},
	}
}

// convertOptions is what the command line of convert says.
type convertOptions struct {
	from, to string // one of them is ""
	input    string
	output   string // "-": standard output
	polls    string
	rule     trace.PollRule
	kernels  string
	speed    float64 // flop/s
	speedSet bool
}

func convertOptionsOf(c *cli.Context) (*convertOptions, error) {
	o := &convertOptions{from: c.String("from"), to: c.String("to"), output: c.String("output"), polls: c.String("polls"),
		kernels: c.String("kernels"), speedSet: c.IsSet("speed"), rule: trace.Hit{}}
	if err := o.checkFormats(c); err != nil {
		return nil, err
	}
	if c.NArg() != 1 {
		return nil, usagef("convert: want 1 trace, got %d (flags come before it)", c.NArg())
	}
	o.input = c.Args().First()
	if o.output == "" {
		return nil, usagef("convert: --output \"\", want the name of a file, or -")
	}
	late, err := parsePolls(c)
	if late {
		o.rule = trace.Late{}
	}
	if err == nil {
		o.speed, err = parseSpeed(c.String("speed"))
	}
	return o, err
}

func (o *convertOptions) checkFormats(c *cli.Context) error {
	switch {
	case (o.from == "") == (o.to == ""):
		return usagef("convert: want either --to simgrid|goal or --from simgrid")
	case o.from != "" && o.from != "simgrid":
		return usagef("convert: --from %q, want simgrid", o.from)
	case o.to != "" && o.to != "simgrid" && o.to != "goal":
		return usagef("convert: --to %q, want simgrid or goal", o.to)
	case o.from != "" && (c.IsSet("polls") || o.kernels != "" || o.speedSet):
		return usagef("convert: --polls, --kernels and --speed are for --to: SimGrid's text has no polls and no kernels")
	case o.to == "simgrid" && o.kernels == "" && o.speedSet:
		return usagef("convert: --speed without --kernels: SimGrid's text counts flop, which need no speed")
	}
	return nil
}

// fromSimgrid reads SimGrid's text and writes a trace.
func (o *convertOptions) fromSimgrid(ctx context.Context, c *cli.Context) error {
	text, err := simgrid.Open(o.input, "")
	if err != nil {
		return err
	}
	if o.output == "-" && isTerminal(c.App.Writer) {
		return usagef("convert: a trace is binary: name a file with -o, or send standard output to a pipe or a file")
	}
	h := text.Header()
	h.Tool, h.Command = "trace "+version, "trace convert --from simgrid "+o.input
	err = o.write(ctx, c, func(w io.Writer) error {
		tw, err := trace.NewWriter(w, h, trace.WriterOptions{})
		if err != nil {
			return err
		}
		if err := text.Convert(tw); err != nil {
			return err
		}
		return tw.Close()
	})
	if err == nil {
		warn(c, text.Warnings())
	}
	return err
}

// export writes a trace in another format.
func (o *convertOptions) export(ctx context.Context, c *cli.Context) (err error) {
	t, cleanup, err := o.open(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	flops, err := o.flops(t.Header())
	if err != nil {
		return err
	}
	var polls int64
	var warnings []string
	if o.to == "goal" {
		err = o.write(ctx, c, func(w io.Writer) error {
			sum, err := goal.Export(ctx, w, t, goal.Options{Polls: o.rule, Flops: flops, Speed: o.speed, Note: o.note()})
			if err == nil {
				polls, warnings = sum.Polls, sum.Warnings()
			}
			return err
		})
	} else {
		var sum *simgrid.Exported
		if sum, err = o.toSimgrid(ctx, c, t, simgrid.ExportOptions{Polls: o.rule, Flops: flops, Note: o.note()}); err == nil {
			polls, warnings = sum.Polls, sum.Warnings()
		}
	}
	if polls > 0 {
		warnings = append([]string{fmt.Sprintf("%d polls are answered %s, as this format has none: it holds one of many courses", polls, o.polls)}, warnings...)
	}
	warn(c, warnings)
	return err
}

// open opens the trace: for GOAL, which is written rank by rank, by way of a
// temporary file if it is a stream.
func (o *convertOptions) open(c *cli.Context) (t *trace.Trace, cleanup func() error, err error) {
	if o.to == "goal" {
		info, serr := os.Stat(o.input)
		if o.input == "-" || serr == nil && !info.Mode().IsRegular() {
			return o.spool(c)
		}
	}
	if t, err = open(c, o.input); err != nil {
		return nil, nil, err
	}
	return t, t.Close, nil
}

// spool copies a stream into a temporary file and opens that.
func (o *convertOptions) spool(c *cli.Context) (*trace.Trace, func() error, error) {
	from, name := c.App.Reader, "stdin"
	if o.input != "-" {
		f, err := os.Open(o.input)
		if err != nil {
			return nil, nil, err
		}
		defer f.Close()
		from, name = f, o.input
	}
	f, err := os.CreateTemp("", "trace-convert-*")
	if err != nil {
		return nil, nil, err
	}
	remove := func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	size, err := io.Copy(f, from)
	var t *trace.Trace
	if err == nil {
		t, err = trace.NewReaderAt(f, size, name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return t, func() error { return errors.Join(t.Close(), remove()) }, nil
}

// toSimgrid writes SimGrid's text: to standard output, a file with its index, or
// a directory.
func (o *convertOptions) toSimgrid(ctx context.Context, c *cli.Context, t *trace.Trace, e simgrid.ExportOptions) (sum *simgrid.Exported, err error) {
	if o.isDir() {
		return simgrid.ExportDir(ctx, o.output, t, e)
	}
	err = o.write(ctx, c, func(w io.Writer) error {
		sum, err = simgrid.Export(ctx, w, t, e)
		return err
	})
	if err == nil && o.output != "-" {
		err = wholefile.Write(o.output+".index", func(w io.Writer) error {
			_, err := fmt.Fprintln(w, o.output)
			return err
		})
	}
	return sum, err
}

// isDir reports whether the output is to be a directory.
func (o *convertOptions) isDir() bool {
	info, err := os.Stat(o.output)
	return strings.HasSuffix(o.output, "/") || err == nil && info.IsDir()
}

// write lets content write to the output.
func (o *convertOptions) write(ctx context.Context, c *cli.Context, content func(io.Writer) error) error {
	interruptible := func(w io.Writer) error { return content(contextWriter{ctx, w}) }
	if o.output == "-" {
		return wholefile.Buffered(c.App.Writer, interruptible)
	}
	return wholefile.Write(o.output, interruptible)
}

// contextWriter writes until its context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w contextWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// note says where an exported text comes from.
func (o *convertOptions) note() string {
	note := fmt.Sprintf("trace convert %s: %q, polls answered %s", version, o.input, o.polls)
	if o.kernels != "" {
		note += fmt.Sprintf(", kernels %q", o.kernels)
	}
	if o.kernels != "" || o.to == "goal" {
		note += fmt.Sprintf(", %g flop/s", o.speed)
	}
	return note
}

func warn(c *cli.Context, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(c.App.ErrWriter, "trace:", w)
	}
}

// isTerminal reports whether w is a character device, but not the null device.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
