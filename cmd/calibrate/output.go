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
	"reprise/calibrate/hosts"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/yamlfile"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/smpi"
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
		return o, fmt.Errorf("%s: not written, because it could not be read again: %w%s", o.what, err,
			lineOf(err, name, string(text)))
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
		return command.Usagef("%s: %s: standard output takes one of them: name a file", c.Command.Name,
			strings.Join(dashes, ", "))
	}
	if err := atomicfile.Distinct(paths...); err != nil {
		return command.Usagef("%s: outputs %w", c.Command.Name, err)
	}
	return nil
}

// machineOf returns the machine of --platform, of which replay must be able to read
// the cores and their speed.
func machineOf(c *cli.Context, name string, hosts int) (calibrate.Machine, error) {
	m := calibrate.Machine{Name: name, Hosts: hosts, Cores: c.Int("cores"), Speed: c.String("speed")}
	err := m.Validate()
	if err == nil {
		err = checkSpeed(m)
	}
	if err != nil {
		err = command.Usagef("%s: %w", c.Command.Name, err)
	}
	return m, err
}

// checkSpeed reads a platform with one host of the machine, as replay does.
func checkSpeed(m calibrate.Machine) error {
	m.Hosts = 1
	var b bytes.Buffer
	if err := calibrate.WritePlatform(&b, m, calibrate.Cables{Bandwidth: 1}, nil); err != nil {
		return err
	}
	if err := readPlatform(b.Bytes(), "platform"); err != nil {
		return fmt.Errorf("--cores %d, --speed %q: %w", m.Cores, m.Speed, err)
	}
	return nil
}

// readPlatform reads a platform and its properties, as replay does.
func readPlatform(text []byte, name string) error {
	p, err := platforms.Parse(bytes.NewReader(text), name)
	if err != nil {
		return err
	}
	o := smpi.DefaultOptions()
	if err := o.ApplyConfig(p); err != nil {
		return err
	}
	return o.Validate()
}

// checkProperties refuses properties that replay would refuse.
func checkProperties(list []calibrate.Property) error {
	o := smpi.DefaultOptions()
	for _, p := range list {
		if err := o.Set(p.Name, p.Value); err != nil {
			return err
		}
	}
	return o.Validate()
}

// propertiesOf reads --property.
func propertiesOf(c *cli.Context) ([]calibrate.Property, error) {
	var list []calibrate.Property
	for _, text := range c.StringSlice("property") {
		name, value, ok := strings.Cut(text, ":")
		if !ok || name == "" {
			return nil, command.Usagef("%s: --property %q, want NAME:VALUE", c.Command.Name, text)
		}
		list = append(list, calibrate.Property{Name: name, Value: value})
	}
	if err := checkProperties(list); err != nil {
		return nil, command.Usagef("%s: --property: %w", c.Command.Name, err)
	}
	return list, nil
}

// writePlots draws each series into a file of its own in dir, which is made if
// it is not there.
func writePlots(dir, format string, list []calibrate.Series) error {
	if err := atomicfile.MakeDir(dir); err != nil {
		return fmt.Errorf("plots: %w", err)
	}
	for _, s := range list {
		path := filepath.Join(dir, s.Name+"."+format)
		if err := atomicfile.Write(path, func(w io.Writer) error { return charts.Write(w, s, format) }); err != nil {
			return fmt.Errorf("plots: %w", err)
		}
	}
	return nil
}
