package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/smpi"
	"reprise/trace/warning"
)

// settings is what the command line says.
type settings struct {
	args        []string // the command line
	trace       string   // "-": standard input
	spec        replay.MachineSpec
	odd         []warning.Warning
	from, to    int
	json, quiet bool
	verbose     bool
	sample      sampleSettings
	keep        keepSettings
	noise       seedSettings
	draws       int // of --uncertainty; 0: one replay
	outputs     outputs
	setupTime   float64 // of HPCG, in seconds
}

// machineFlags are the parameters of the machine and of the replay, and simulator options.
func machineFlags() []cli.Flag {
	var list []cli.Flag
	for _, p := range replay.Parameters() {
		switch {
		case p.Switch:
			list = append(list, &cli.BoolFlag{Name: p.Name, Usage: p.Usage, DisableDefaultText: true})
		case p.Between != "":
			list = append(list, &cli.StringSliceFlag{Name: p.Name, Usage: p.Usage + "; may be repeated"})
		default:
			list = append(list, &cli.StringFlag{Name: p.Name, Usage: p.Usage, DefaultText: p.Default})
		}
	}
	return append(list, &cli.StringSliceFlag{Name: "cfg",
		Usage: "simulator option `NAME:VALUE`, as smpirun's --cfg=NAME:VALUE; may be repeated"})
}

// setMachine sets what the flags say of the machine.
func (s *settings) setMachine(c *cli.Context) error {
	for _, name := range []string{"platform", "kernels"} {
		if c.IsSet("machine") && c.IsSet(name) {
			return command.Usagef("--machine %s has its own platform and kernel models: leave --%s out", c.String("machine"),
				name)
		}
	}
	for _, name := range []string{"ranks-per-host", "without"} {
		if c.IsSet("hostfile") && c.IsSet(name) {
			return command.Usagef("--hostfile and --%s exclude each other", name)
		}
	}
	for _, p := range replay.Parameters() {
		if !c.IsSet(p.Name) {
			continue
		}
		value := c.String(p.Name)
		switch {
		case p.Switch:
			value = map[bool]string{true: "yes", false: "no"}[c.Bool(p.Name)]
		case p.Between != "":
			value = strings.Join(c.StringSlice(p.Name), p.Between)
		}
		if err := p.Set(&s.spec, value); err != nil {
			return command.Usagef("--%s: %w", p.Name, err)
		}
	}
	network := slices.Clone(s.spec.Settings)
	for _, text := range c.StringSlice("cfg") {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return command.Usagef("--cfg %q, want NAME:VALUE", text)
		}
		if note := smpi.Obsolete(name); note != "" {
			s.odd = append(s.odd, warning.New("--cfg: %s", note))
		}
		if slices.ContainsFunc(network, func(c replay.Property) bool { return c.Name == smpi.OptionName(name) }) {
			return command.Usagef("--network %s and --cfg %s both set %s: leave one out", c.String("network"), text,
				smpi.OptionName(name))
		}
		s.spec.SetOption(name, value)
	}
	return nil
}

func settingsOf(c *cli.Context) (*settings, error) {
	if first := c.Args().First(); c.NArg() > 1 {
		if near := textutil.Nearest(first, []string{"platform", "compare"}); near != "" {
			return nil, command.Usagef("unknown command %q, did you mean %s?", first, near)
		}
	}
	if c.NArg() == 0 {
		return nil, command.Usagef("want a trace. The first steps:\n\n%s\nreplay --help has all options.", firstSteps)
	}
	if c.NArg() != 1 {
		return nil, command.Usagef("want 1 trace, got %d", c.NArg())
	}
	s := &settings{trace: c.Args().First(), setupTime: c.Float64("setup-time"), json: c.Bool("json"),
		quiet: c.Bool("quiet"), verbose: c.Bool("verbose")}
	if s.quiet && s.verbose {
		return nil, command.Usagef("--quiet and --verbose exclude each other")
	}
	err := s.setMachine(c)
	if err != nil {
		return nil, err
	}
	if s.sample, err = sampleSettingsOf(c); err != nil {
		return nil, err
	}
	if s.keep, err = keepSettingsOf(c, s); err != nil {
		return nil, err
	}
	if s.noise, err = seedSettingsOf(c, s); err != nil {
		return nil, err
	}
	if s.draws, err = drawsOf(c, s); err != nil {
		return nil, err
	}
	if s.from, s.to, err = command.Steps(c.String("steps")); err != nil {
		return nil, err
	}
	s.outputs, err = outputsOf(c, s)
	return s, err
}
