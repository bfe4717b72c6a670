package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/replay"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen"
	"reprise/tracegen/goal"
	"reprise/tracegen/simgrid"
)

// fromSimgrid reads SimGrid's text and writes a trace.
func (o *convertOptions) fromSimgrid(ctx context.Context, c *cli.Context) error {
	text, err := simgrid.Open(o.input, "")
	if err != nil {
		return err
	}
	if err := o.spare(text.Files()...); err != nil {
		return err
	}
	if o.output == "-" && terminal.Is(c.App.Writer) {
		return command.Usagef("convert: a trace is binary: name a file with -o, or send standard output to a pipe or a file")
	}
	h := text.Header()
	h.Tool, h.Command = "trace "+command.Version(), command.Quoted("trace", "convert", "--from", "simgrid", o.input)
	bar := terminal.NewCount(c.App.ErrWriter, c.Bool("quiet"), "actions")
	defer bar.Clear()
	err = o.write(ctx, c, func(w io.Writer) error {
		tw, err := trace.NewWriter(w, h, trace.WriterOptions{})
		if err != nil {
			return err
		}
		if err := text.Convert(tw, bar.Set); err != nil {
			return err
		}
		return tw.Close()
	})
	if err != nil {
		return warning.With(err, text.Warnings())
	}
	command.Warn(c, text.Warnings())
	return nil
}

// export writes a trace in another format.
func (o *convertOptions) export(ctx context.Context, c *cli.Context) (err error) {
	t, cleanup, err := o.open(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	flops, err := o.flops(t.Header())
	if err != nil {
		return err
	}
	write := o.toSimgrid
	if o.to == "goal" {
		write = o.toGOAL
	}
	polls, warnings, err := write(ctx, c, t, flops)
	if err != nil {
		return err
	}
	if polls > 0 {
		command.Warn(c, []warning.Warning{warning.New("%d polls are answered %s, as this format has none: it holds one of many courses", polls, o.polls)})
	}
	if o.noisy > 0 {
		command.Warn(c, []warning.Warning{warning.New("%s written without the noise that the kernel models have: the format has none", textutil.Count(o.noisy, "call"))})
	}
	command.Warn(c, warnings)
	return nil
}

// open opens the trace: for GOAL, which is written rank by rank, by way of a
// temporary file if it is a stream.
func (o *convertOptions) open(ctx context.Context, c *cli.Context) (t *trace.Trace, cleanup func() error, err error) {
	if o.to == "goal" {
		info, serr := os.Stat(o.input)
		if o.input == "-" || serr == nil && !info.Mode().IsRegular() {
			return o.spool(ctx, c)
		}
	}
	if t, err = open(c, o.input); err != nil {
		return nil, nil, err
	}
	return t, t.Close, nil
}

// spool copies a stream into a temporary file and opens that.
func (o *convertOptions) spool(ctx context.Context, c *cli.Context) (*trace.Trace, func() error, error) {
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
	err = os.Remove(f.Name()) // it lives as long as it is open
	var size int64
	if err == nil {
		size, err = io.Copy(contextWriter{ctx, f}, from)
	}
	var t *trace.Trace
	if err == nil {
		t, err = trace.NewReaderAt(f, size, name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return t, func() error { return errors.Join(t.Close(), f.Close()) }, nil
}

// toSimgrid writes SimGrid's text: to standard output, a file with its index, or
// a directory. It returns the polls answered, and what the text lacks.
func (o *convertOptions) toSimgrid(ctx context.Context, c *cli.Context, t *trace.Trace,
	flops tracegen.FlopsFunc) (polls int64, warnings []warning.Warning, err error) {
	var sum *simgrid.Exported
	bar := o.bar(c, t.Header().Steps, "steps")
	defer bar.Clear()
	e := simgrid.ExportOptions{Polls: o.rule, Flops: flops, Note: o.note(), Progress: bar.Set}
	switch {
	case o.isDir():
		sum, err = simgrid.ExportDir(ctx, o.output, t, e)
	case o.output != "-":
		sum, err = simgrid.ExportFile(ctx, o.output, t, e)
	default:
		err = o.write(ctx, c, func(w io.Writer) error {
			sum, err = simgrid.Export(ctx, w, t, e)
			return err
		})
	}
	if err != nil {
		return 0, nil, err
	}
	return sum.Polls, sum.Warnings(), nil
}

// toGOAL writes GOAL. It returns the polls answered, and what the text lacks.
func (o *convertOptions) toGOAL(ctx context.Context, c *cli.Context, t *trace.Trace,
	flops tracegen.FlopsFunc) (polls int64, warnings []warning.Warning, err error) {
	bar := o.bar(c, t.Header().Ranks, "ranks")
	defer bar.Clear()
	var sum *goal.Exported
	err = o.write(ctx, c, func(w io.Writer) error {
		sum, err = goal.Export(ctx, w, t,
			goal.Options{Polls: o.rule, Flops: flops, Speed: o.speed, Note: o.note(), Progress: bar.Set})
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return sum.Polls, sum.Warnings(), nil
}

// bar returns a progress bar, unless the text goes to the terminal itself.
func (o *convertOptions) bar(c *cli.Context, number int, things string) *terminal.Bar {
	shown := o.output == "-" && terminal.Is(c.App.Writer)
	return terminal.NewBar(c.App.ErrWriter, shown || c.Bool("quiet"), number, things)
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
		return atomicfile.Buffered(c.App.Writer, interruptible)
	}
	return atomicfile.Write(o.output, interruptible)
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
	note := fmt.Sprintf("trace convert %s: %q, polls answered %s", command.Version(), o.input, o.polls)
	if o.kernels != "" {
		note += fmt.Sprintf(", kernels %q", o.kernels)
	}
	if o.kernels != "" || o.to == "goal" {
		note += fmt.Sprintf(", %g flop/s", o.speed)
	}
	return note
}

// flops returns what the calls of a trace's kernels cost by the models asked for:
// the flop that take their seconds at the reference speed. It is nil without
// models.
func (o *convertOptions) flops(h *trace.Header) (tracegen.FlopsFunc, error) {
	if o.kernels == "" {
		return nil, nil
	}
	set, err := kernels.Find(o.kernels)
	if err != nil {
		return nil, err
	}
	models := make([]kernels.Model, len(h.Kernels))
	missing := make([]error, len(h.Kernels)) // counts only if the kernel is called
	for i := range models {
		models[i], missing[i] = set.Bind(kernels.Host{Speed: o.speed}, replay.SignatureOf(&h.Kernels[i]))
	}
	return func(kernel int, dims *[4]int64) (float64, error) {
		if models[kernel].Noisy() {
			o.noisy++
		}
		return models[kernel].Seconds(dims) * o.speed, missing[kernel]
	}, nil
}
