package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/charts"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/kernels"
	"reprise/platforms"
	"reprise/smpi"
)

// This file writes the files that commands of calibrate make besides their reports: writeOutputs.

// output is a file that a command may write besides its report.
// Its reader makes sure that no command writes a file that the next one refuses.
type output struct {
	what    string // for messages
	path    string // "": none; "-": standard output
	content func(io.Writer) error
	// read reads the text as the command that the file is for does, name standing for the file
	// in errors; nil: the file has no reader that could refuse it.
	read func(text []byte, name string) error
}

// writeOutputs writes the outputs that have a path, if their readers accept them. Files appear whole, and if one cannot
// be written none does. It reports whether the standard output got something, which then has room for no report.
func writeOutputs(c *cli.Context, list ...output) (printed bool) {
	var files []output
	var shown output // on standard output
	for _, o := range list {
		if o.path == "" {
			continue
		}
		// The content is kept in memory and read again. An error NAME:LINE: ... has the line behind it, as the file
		// that would show it is not written.
		if o.read != nil {
			var b bytes.Buffer
			textutil.Check(o.content(&b))
			text, name := b.Bytes(), o.path
			if name == "-" {
				name = "stdout"
			}
			if err := o.read(text, name); err != nil {
				rest, _ := strings.CutPrefix(err.Error(), name+":")
				number, _, _ := strings.Cut(rest, ":")
				lines, line := strings.Split(string(text), "\n"), ""
				if n, wrong := strconv.Atoi(number); wrong == nil && n >= 1 && n <= len(lines) {
					line = "; the line is " + yamlfile.Quote(lines[n-1])
				}
				textutil.Stop(fmt.Errorf("%s: not written, because it could not be read again: %w%s", o.what, err, line))
			}
			o.content = atomicfile.Bytes(text)
		}
		if o.path == "-" {
			shown = o
		} else {
			files = append(files, o)
		}
	}
	// Standard output comes last, when nothing else can fail.
	textutil.Check(writeFiles(files))
	if shown.path == "" {
		return false
	}
	textutil.Check(shown.content(c.App.Writer))
	return true
}

// writeFiles writes files, each of which is finished when all after it are.
func writeFiles(list []output) error {
	if len(list) == 0 {
		return nil
	}
	// An error of a file behind this one has its name already.
	var after error
	err := atomicfile.Write(list[0].path, func(w io.Writer) error {
		if err := list[0].content(w); err != nil {
			return err
		}
		after = writeFiles(list[1:])
		return after
	})
	if err != nil && after == nil {
		err = fmt.Errorf("%s: %w", list[0].what, err)
	}
	return err
}

// readKernels reads a kernel file, as replay does.
func readKernels(text []byte, name string) error {
	if len(text) > yamlfile.MaxBytes {
		return fmt.Errorf("%s: %d bytes, want at most %d: fewer hosts make it shorter", name, len(text), yamlfile.MaxBytes)
	}
	_, err := kernels.Parse(bytes.NewReader(text), name)
	return err
}

// checkOutputs refuses outputs that would replace a file that is read, a table or
// another input, or one another, and several results for the standard output.
func checkOutputs(c *cli.Context, inputs ...string) {
	// Inputs are the arguments, with and without the operation that may stand before them.
	for _, arg := range c.Args().Slice() {
		_, path, _ := strings.Cut(arg, "=") // network's tables may name their operation
		inputs = append(inputs, arg, path)
	}
	// A file has one output, and so has the standard output.
	var paths, dashes []string
	for _, flag := range []string{"output", "platform", "mixture"} {
		path := c.String(flag)
		if err := atomicfile.CheckOverwrite(path, inputs...); err != nil {
			command.Refuse(c, "--%s %w", flag, err)
		}
		if paths = append(paths, path); path == "-" {
			dashes = append(dashes, "--"+flag+" -")
		}
	}
	if len(dashes) > 0 && c.Bool("json") {
		dashes = append(dashes, "--json")
	}
	if len(dashes) > 1 {
		command.Refuse(c, "%s: standard output takes one of them: name a file", strings.Join(dashes, ", "))
	}
	if err := atomicfile.Distinct(paths...); err != nil {
		command.Refuse(c, "outputs %w", err)
	}
}

// machineOf returns the machine of --platform. Its cores and their speed must be such that replay can read a platform
// with one of its hosts.
func machineOf(c *cli.Context, name string, hosts int) calibrate.Machine {
	m := calibrate.Machine{Name: name, Hosts: hosts, Cores: c.Int("cores"), Speed: c.String("speed")}
	checkUsage(c, m.Validate())
	// The number of hosts does not matter, and takes time.
	one := m
	one.Hosts = 1
	var b bytes.Buffer
	checkUsage(c, calibrate.WritePlatform(&b, one, calibrate.Cables{Bandwidth: 1}, nil))
	if err := readPlatform(b.Bytes(), "platform"); err != nil {
		command.Refuse(c, "--cores %d, --speed %q: %w", m.Cores, m.Speed, err)
	}
	return m
}

// readPlatform reads a platform and its properties, as replay does.
func readPlatform(text []byte, name string) (err error) {
	defer textutil.Stopped(&err)
	p := textutil.Must(platforms.Parse(bytes.NewReader(text), name))
	// Properties of SMPI are checked by the options of a replay.
	o := smpi.DefaultOptions()
	textutil.Check(o.ApplyConfig(p))
	return o.Validate()
}

// checkProperties refuses properties that replay would refuse.
func checkProperties(list []calibrate.Property) (err error) {
	defer textutil.Stopped(&err)
	o := smpi.DefaultOptions()
	for _, p := range list {
		textutil.Check(o.Set(p.Name, p.Value))
	}
	return o.Validate()
}

// checkPlotFormat refuses formats of --plot-format that plots cannot have.
func checkPlotFormat(c *cli.Context) {
	command.Choice(c, "plot-format", "svg", "png")
	needs(c, "plots", "plot-format")
}

// writePlots draws each series into a file of its own in the directory of --plots, if that is given. The directory is
// made if it is missing.
func writePlots(c *cli.Context, list []calibrate.Series) {
	dir, format := c.String("plots"), c.String("plot-format")
	if dir == "" {
		return
	}
	err := atomicfile.MakeDir(dir)
	// The names of series are those of kernels and hosts, or of operations, and can be names of files.
	for i := 0; i < len(list) && err == nil; i++ {
		path := filepath.Join(dir, list[i].Name+"."+format)
		err = atomicfile.Write(path, func(w io.Writer) error { return charts.Write(w, list[i], format) })
	}
	if err != nil {
		textutil.Stop(fmt.Errorf("plots: %w", err))
	}
}
