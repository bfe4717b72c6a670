package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate/hosts"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/yamlfile"
	"reprise/kernels"
	"reprise/netmodel"
)

// output is a file that a command may write besides its report.
type output struct {
	what    string // for messages
	path    string // "": none; "-": standard output
	content func(io.Writer) error
	// read reads a text as those do that the file is for, name standing for the file
	// in errors; nil: nobody refuses it.
	read func(text []byte, name string) error
}

// writeOutputs writes what is asked for, if those who are to read it can. Files appear
// whole, and if one cannot be written none does. It reports whether the standard output
// got something, which then has room for no report.
func writeOutputs(c *cli.Context, list ...output) (printed bool, err error) {
	var files []output
	var shown output // on standard output
	for _, o := range list {
		if o.path == "" {
			continue
		}
		if o, err = o.readBack(); err != nil {
			return false, err
		}
		if o.path == "-" {
			shown = o
		} else {
			files = append(files, o)
		}
	}
	if err := writeFiles(files); err != nil || shown.path == "" {
		return false, err
	}
	return true, shown.content(c.App.Writer)
}

// readBack returns the output with its content in memory, after it was read.
func (o output) readBack() (output, error) {
	if o.read == nil {
		return o, nil
	}
	var b bytes.Buffer
	if err := o.content(&b); err != nil {
		return o, err
	}
	text, name := b.Bytes(), o.path
	if name == "-" {
		name = stdoutName
	}
	if err := o.read(text, name); err != nil {
		return o, fmt.Errorf("%s: not written, because it could not be read again: %w%s", o.what, err, lineOf(err, name, string(text)))
	}
	o.content = func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
	return o, nil
}

// lineOf returns the line of a text that an error NAME:LINE: ... is about, for the end
// of a message; "" if it says none. The file that would show it is not there.
func lineOf(err error, name, text string) string {
	rest, _ := strings.CutPrefix(err.Error(), name+":")
	number, _, _ := strings.Cut(rest, ":")
	lines := strings.Split(text, "\n")
	n, parseErr := strconv.Atoi(number)
	if parseErr != nil || n < 1 || n > len(lines) {
		return ""
	}
	return "; the line is " + yamlfile.Quote(lines[n-1])
}

// readKernels reads a kernel file, as replay does.
func readKernels(text []byte, name string) error {
	if len(text) > yamlfile.MaxBytes {
		return fmt.Errorf("%s: %d bytes, want at most %d: fewer hosts make it shorter", name, len(text), yamlfile.MaxBytes)
	}
	_, err := kernels.Parse(bytes.NewReader(text), name)
	return err
}

// readNoise reads network noise, as replay does.
func readNoise(text []byte, name string) error {
	_, err := netmodel.ParseNoise(bytes.NewReader(text), name)
	return err
}

// readModel reads a machine model, as calibrate hosts --draw does.
func readModel(text []byte, name string) error {
	_, err := hosts.Parse(bytes.NewReader(text), name)
	return err
}

// writeFiles writes files, each of which is finished when all after it are.
func writeFiles(list []output) error {
	if len(list) == 0 {
		return nil
	}
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

// checkOutputs refuses outputs that would replace a file that is read, a table or
// another input, or one another, and several results for the standard output.
func checkOutputs(c *cli.Context, inputs ...string) error {
	for _, arg := range c.Args().Slice() {
		_, path, _ := strings.Cut(arg, "=") // network's tables may name their operation
		inputs = append(inputs, arg, path)
	}
	var paths, dashes []string
	for _, flag := range []string{"output", "platform", "mixture"} {
		path := c.String(flag)
		if err := atomicfile.CheckOverwrite(path, inputs...); err != nil {
			return command.Usagef("%s: --%s %w", c.Command.Name, flag, err)
		}
		if paths = append(paths, path); path == "-" {
			dashes = append(dashes, "--"+flag+" -")
		}
	}
	if len(dashes) > 0 && c.Bool("json") {
		dashes = append(dashes, "--json")
	}
	if len(dashes) > 1 {
		return command.Usagef("%s: %s: standard output takes one of them: name a file", c.Command.Name, strings.Join(dashes, ", "))
	}
	if err := atomicfile.Distinct(paths...); err != nil {
		return command.Usagef("%s: outputs %w", c.Command.Name, err)
	}
	return nil
}
