package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/hosts"
	"reprise/internal/builtin"
	"reprise/internal/command"
	"reprise/internal/yamlfile"
	"reprise/kernels"
)

// drawFlags are those of calibrate hosts that say which machine to draw.
func drawFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "draw", Usage: "draw `N` hosts", DefaultText: "estimate a model"},
		&cli.StringFlag{Name: "from", Usage: "draw from the machine model in `FILE`, or a built-in one: " + strings.Join(hosts.BuiltinNames(), ", ")},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of the draws: each draws another machine"},
		&cli.IntFlag{Name: "day", Value: 1, Usage: "the machine on day `D`; 0: on average over days"},
		&cli.StringFlag{Name: "host-name", Value: "node-{}", Usage: "`NAME` of a host on the platform, {} being its number from 0"},
		&cli.StringFlag{Name: "empty", Value: "free", Usage: "calls with a dimension of zero are `free|charged` the constant"},
		&cli.StringFlag{Name: "base", Usage: "kernel `FILE` with the models of all other kernels, and of other hosts"},
		&cli.StringFlag{Name: "platform", Usage: "write a platform (XML) of the hosts on one switch to `FILE`; -: to standard output, without a report"},
		&cli.Float64Flag{Name: "bandwidth", Value: 12.5e9, Usage: "`BYTE/S` of its routes"},
		&cli.Float64Flag{Name: "latency", Value: 2e-5, Usage: "`SECONDS` of its routes"},
		&cli.IntFlag{Name: "cores", Value: 1, Usage: "`NUMBER` of cores of a host"},
		&cli.StringFlag{Name: "speed", Value: "1Gf", Usage: "flop/s of a core, as `1Gf`"},
		&cli.StringSliceFlag{Name: "property", Usage: "`NAME:VALUE` of a SimGrid property of the platform, as calibrate network prints them; may be repeated"},
	}
}

func runDraw(c *cli.Context) error {
	if c.NArg() > 0 {
		return command.Usagef("hosts: --draw reads no table, but there is %q", c.Args().First())
	}
	if err := checkDrawFlags(c); err != nil {
		return err
	}
	from := c.String("from")
	if from == "" {
		return command.Usagef("hosts: --draw needs --from FILE, a machine model that calibrate hosts -o wrote")
	}
	o := hosts.DrawOptions{Hosts: c.Int("draw"), Seed: c.Uint64("seed"), Day: c.Int("day")}
	if err := o.Validate(); err != nil {
		return command.Usagef("hosts: %w", err)
	}
	file := hosts.FileOptions{Source: c.String("source"), BaseName: c.String("base"), HostName: c.String("host-name"), Empty: c.String("empty"),
		Description: fmt.Sprintf("%d hosts drawn by calibrate hosts %s from %s, seed %d, day %d", o.Hosts, command.Version(), from, o.Seed, o.Day)}
	if err := (&calibrate.FileOptions{HostName: file.HostName, Empty: file.Empty}).Validate(); err != nil {
		return command.Usagef("hosts: %w", err)
	}
	inputs := []string{c.String("base")}
	if !slices.Contains(hosts.BuiltinNames(), from) {
		inputs = append(inputs, from)
	}
	if err := checkOutputs(c, inputs...); err != nil {
		return err
	}
	platform, err := drawnPlatform(c, o.Hosts)
	if err != nil {
		return err
	}
	model, err := hosts.Find(from)
	if err != nil {
		return err
	}
	if file.Base, err = readBase(c.String("base")); err != nil {
		return err
	}
	if file.Source == "" {
		file.Source = model.SourceOfDraw(from)
	}
	machine, err := model.Draw(o)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	kernelFile := output{"kernel file", c.String("output"), func(w io.Writer) error { return machine.WriteYAML(w, file) }, readKernels}
	if printed, err := writeOutputs(c, platform, kernelFile); printed || err != nil {
		return err
	}
	s := machine.Summary()
	return printReport(c, s, s.WriteText)
}

// checkDrawFlags refuses flags without effect. Hosts have names in the kernel file and
// on the platform.
func checkDrawFlags(c *cli.Context) error {
	inFile := []string{"source", "empty", "base"}
	if !c.IsSet("platform") {
		inFile = append(inFile, "host-name")
	}
	return cmp.Or(
		excludes(c, "draw", namesOf(slices.Concat(estimateFlags(), fitFlags()))...),
		needs(c, "output", inFile...),
	)
}

// readBase returns the text of a kernel file, nil without one.
func readBase(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	text, err := kernelText(path)
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	if _, err := kernels.Parse(bytes.NewReader(text), path); err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte(yamlfile.ByteOrderMark)) // it will not stand at the beginning
	if err := calibrate.CheckBase(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// kernelText reads a kernel file, or that of a built-in set.
func kernelText(name string) ([]byte, error) {
	if !builtin.IsFile(name) {
		text, err := kernels.BuiltinText(name)
		return text, builtin.Missing(name, err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, yamlfile.MaxBytes+1))
	return text, errors.Join(err, f.Close())
}

// drawnPlatform is the platform of --platform; its hosts have the names of
// --host-name, of which {} is the end.
func drawnPlatform(c *cli.Context, hosts int) (output, error) {
	o := output{what: "platform", path: c.String("platform"), read: readPlatform}
	if o.path == "" {
		return o, needs(c, "platform", "bandwidth", "latency", "cores", "speed", "property")
	}
	name, ok := strings.CutSuffix(c.String("host-name"), "-{}")
	if !ok {
		return o, command.Usagef("hosts: --platform needs a --host-name that ends in -{}, found %q", c.String("host-name"))
	}
	machine, err := machineOf(c, name, hosts)
	if err != nil {
		return o, err
	}
	properties, err := propertiesOf(c)
	if err != nil {
		return o, err
	}
	o.content = func(w io.Writer) error {
		return calibrate.WritePlatform(w, machine, calibrate.Cables{Bandwidth: c.Float64("bandwidth"), Latency: c.Float64("latency")}, properties)
	}
	if err := o.content(io.Discard); err != nil {
		return o, command.Usagef("hosts: %w", err)
	}
	return o, nil
}
