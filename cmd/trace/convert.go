package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen"
	"reprise/tracegen/foreign"
	"reprise/tracegen/goal"
	"reprise/tracegen/simgrid"
)

// convertCommand describes trace convert, to and from the text formats of other simulators.
func convertCommand() *cli.Command {
	return &cli.Command{
		Name:  "convert",
		Usage: "write a trace in another format, or read one",
		UsageText: "trace convert --to simgrid [-o FILE | -o DIR/] [options] TRACE|-\n" +
			"trace convert --to goal [-o FILE] [options] TRACE|-\n" +
			"trace convert --from FORMAT [-o FILE] FILE",
		Description: "    trace convert --to simgrid -o text/ run.trace.zst\n" +
			"    trace convert --to goal --kernels dahu --polls late -o run.goal run.trace.zst\n" +
			"    trace convert --from simgrid -o run.trace.zst text/trace.index\n" +
			"    trace convert --from liballprof -o run.trace.zst pmpi-trace-rank-0.txt",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "write `FORMAT`: simgrid (time-independent text) or goal (LogGOPSim's text)"},
			&cli.StringFlag{Name: "from", Usage: "read `FORMAT`: simgrid, by its index, or " + strings.Join(foreign.Formats(), ", ")},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-",
				Usage: "write to `FILE`; for simgrid, to a file per rank and their index in DIR/", DefaultText: "-, standard output"},
			&cli.StringFlag{Name: "polls", Value: "hit",
				Usage: "answer polls `hit|late`: all find their message, or only those of a rank with nothing else to do"},
			&cli.StringFlag{Name: "kernels",
				Usage: "kernel models, YAML `FILE` or built-in set: a call becomes its seconds times --speed (default: the flop that the trace declares)"},
			&cli.StringFlag{Name: "speed", Value: "1Gf", Usage: "flop/s of the hosts, as `1Gf`, for --kernels and --to goal"},
			command.Quiet(),
		},
		Action: convert,
	}
}

// convertOptions is a conversion as its command line says it.
type convertOptions struct {
	from, to string // formats, one of them ""
	input    string
	output   string // "-": standard output
	kernels  string
	speed    float64 // flop/s
}

// convert reads the command line and does what it says.
// Mistakes in the command line are found before any file is opened.
func convert(c *cli.Context) error {
	formats := append([]string{"simgrid"}, foreign.Formats()...)
	o := &convertOptions{from: c.String("from"), to: c.String("to"), output: c.String("output"),
		kernels: c.String("kernels")}
	switch {
	case (o.from == "") == (o.to == ""):
		return command.Usagef("convert: want either --to simgrid|goal or --from %s", strings.Join(formats, "|"))
	case o.from != "" && !slices.Contains(formats, o.from):
		return command.Usagef("convert: --from %q, want %s", o.from, strings.Join(formats, ", "))
	case o.to != "" && o.to != "simgrid" && o.to != "goal":
		return command.Usagef("convert: --to %q, want simgrid or goal", o.to)
	case o.from != "" && (c.IsSet("polls") || o.kernels != "" || c.IsSet("speed")):
		return command.Usagef("convert: --polls, --kernels and --speed are for --to: other formats have no polls and no kernels")
	case o.to == "simgrid" && o.kernels == "" && c.IsSet("speed"):
		return command.Usagef("convert: --speed without --kernels: SimGrid's text counts flop, which need no speed")
	case c.NArg() != 1:
		return command.Usagef("convert: want 1 trace, got %d", c.NArg())
	case o.output == "":
		return command.Usagef("convert: --output \"\", want the name of a file, or -")
	}
	o.input = c.Args().First()
	checkPolls(c)
	var err error
	if o.speed, err = platforms.ParseSpeed(c.String("speed")); err != nil {
		return command.Usagef("convert: --speed: %w: want flop/s, such as 1Gf", err)
	}
	o.spare(c, o.input, o.kernels)
	if o.from != "" {
		if o.output == "-" && terminal.Is(c.App.Writer) {
			return command.Usagef("convert: a trace is binary: name a file with -o, or send standard output to a pipe or a file")
		}
		return o.read(c)
	}
	return o.export(c)
}

// spare refuses to write over a file that is read. Conversions to several files write an index beside the others.
func (o *convertOptions) spare(c *cli.Context, inputs ...string) {
	outputs := []string{o.output}
	if o.to == "simgrid" {
		outputs = append(outputs, simgrid.IndexOf(o.output))
	}
	for _, output := range outputs {
		command.CheckFlag(c, "output", atomicfile.CheckOverwrite(output, inputs...))
	}
}

// read reads a trace of another tool and writes one of ours. Warnings are printed with the result, or come along with
// the error.
func (o *convertOptions) read(c *cli.Context) error {
	bar := terminal.NewCount(c.App.ErrWriter, c.Bool("quiet"), "actions")
	defer bar.Clear()
	tool, line := "trace "+command.Version(), command.Quoted("trace", "convert", "--from", o.from, o.input)
	var warnings []warning.Warning
	content := func(w io.Writer) (err error) {
		warnings, err = foreign.Convert(w, o.from, o.input,
			foreign.Options{Tool: tool, Command: line, Progress: bar.Set})
		return err
	}
	if o.from == "simgrid" {
		text := textutil.Must(simgrid.Open(o.input, ""))
		o.spare(c, text.Files()...) // the index names further files, which are inputs, too
		h := text.Header()
		h.Tool, h.Command = tool, line
		content = func(w io.Writer) error {
			tw, err := trace.NewWriter(w, h, trace.WriterOptions{})
			if err == nil {
				err = text.Convert(tw, bar.Set)
				warnings = text.Warnings()
			}
			if err != nil {
				return err
			}
			return tw.Close()
		}
	}
	if err := o.write(c, content); err != nil {
		return warning.With(err, warnings)
	}
	command.Warn(c, warnings)
	return nil
}

// export writes a trace in another format, of those that a program can be played from elsewhere. They have
// no polls and no noise: what is lost is said.
func (o *convertOptions) export(c *cli.Context) (err error) {
	t, cleanup := o.open(c)
	defer func() { err = errors.Join(err, cleanup()) }()
	noisy := int64(0) // calls of kernels whose models have noise
	// With models a call costs the flop that take its seconds at the reference speed; without, what the trace declares.
	var flops tracegen.FlopsFunc
	if o.kernels != "" {
		set := textutil.Must(kernels.Find(o.kernels))
		list := t.Header().Kernels
		models := make([]kernels.Model, len(list))
		// A model that is missing is an error of the call, not of the conversion: the trace may declare
		// kernels that it never calls.
		missing := make([]error, len(list)) // counts only if the kernel is called
		for i := range models {
			models[i], missing[i] = set.Bind(kernels.Host{Speed: o.speed}, replay.SignatureOf(&list[i]))
		}
		flops = func(kernel int, dims *[4]int64) (float64, error) {
			if models[kernel].Noisy() {
				noisy++
			}
			return models[kernel].Seconds(dims) * o.speed, missing[kernel]
		}
	}
	rule := pollRules[c.String("polls")]
	// The text begins with a comment that says what it was made of, and with which assumptions.
	note := fmt.Sprintf("trace convert %s: %q, polls answered %s", command.Version(), o.input, c.String("polls"))
	if o.kernels != "" {
		note += fmt.Sprintf(", kernels %q", o.kernels)
	}
	if o.kernels != "" || o.to == "goal" {
		note += fmt.Sprintf(", %g flop/s", o.speed)
	}

	// SimGrid's text is written step by step, GOAL rank by rank. There is no bar where the text goes to the
	// terminal itself.
	number, things := t.Header().Steps, "steps"
	if o.to == "goal" {
		number, things = t.Header().Ranks, "ranks"
	}
	bar := terminal.NewBar(c.App.ErrWriter, o.output == "-" && terminal.Is(c.App.Writer) || c.Bool("quiet"), number, things)
	info, serr := os.Stat(o.output)
	e := tracegen.ExportOptions{Polls: rule, Flops: flops, Speed: o.speed, Note: note, Progress: bar.Set}
	var sum *tracegen.Exported
	switch {
	case o.to == "goal":
		err = o.write(c, func(w io.Writer) (err error) {
			sum, err = goal.Export(c.Context, w, t, e)
			return err
		})
	// A directory gets a file per rank; a file gets all ranks, with an index beside it.
	case strings.HasSuffix(o.output, "/") || serr == nil && info.IsDir():
		sum, err = simgrid.ExportDir(c.Context, o.output, t, e)
	case o.output != "-":
		sum, err = simgrid.ExportFile(c.Context, o.output, t, e)
	default:
		err = o.write(c, func(w io.Writer) (err error) {
			sum, err = simgrid.Export(c.Context, w, t, e)
			return err
		})
	}
	bar.Clear()
	if err != nil {
		return err
	}
	if sum.Polls > 0 {
		command.Warn(c, []warning.Warning{warning.New("%d polls are answered %s, as this format has none: it holds one of many courses", sum.Polls, c.String("polls"))})
	}
	if noisy > 0 {
		command.Warn(c, []warning.Warning{warning.New("%s written without the noise that the kernel models have: the format has none", textutil.Count(noisy, "call"))})
	}
	command.Warn(c, sum.Warnings())
	return nil
}

// open opens the trace. GOAL is written rank by rank, for which a stream is copied into a temporary file.
// cleanup ends both the trace and the file.
func (o *convertOptions) open(c *cli.Context) (t *trace.Trace, cleanup func() error) {
	info, serr := os.Stat(o.input)
	if o.to != "goal" || o.input != "-" && (serr != nil || info.Mode().IsRegular()) {
		t = open(c, o.input)
		return t, t.Close
	}
	from, name := c.App.Reader, "stdin"
	if o.input != "-" {
		f := textutil.Must(os.Open(o.input))
		defer f.Close()
		from, name = f, o.input
	}
	f := textutil.Must(os.CreateTemp("", "trace-convert-*"))
	// The name goes at once, so that the file is gone whatever ends the program.
	err := os.Remove(f.Name()) // it lives as long as it is open
	var size int64
	if err == nil {
		size, err = io.Copy(contextWriter{c.Context, f}, from)
	}
	if err == nil {
		t, err = trace.NewReaderAt(f, size, name)
	}
	if err != nil {
		textutil.Stop(errors.Join(err, f.Close()))
	}
	return t, func() error { return errors.Join(t.Close(), f.Close()) }
}

// write lets content write to the output. A file appears under its name only once it is complete. An interrupt ends
// the writing at its next write.
func (o *convertOptions) write(c *cli.Context, content func(io.Writer) error) error {
	interruptible := func(w io.Writer) error { return content(contextWriter{c.Context, w}) }
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
