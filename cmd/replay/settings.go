package main

import (
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/words"
	"reprise/netmodel"
	"reprise/warning"
)

// settings is what the command line says.
type settings struct {
	trace        string // "-": standard input
	platform     string
	kernels      string
	networkNoise string
	hostfile     string
	ranksPerHost int
	cfg          [][2]string // names, those of today, and values
	odd          []warning.Warning
	from, to     int
	json, quiet  bool
	sample       sampleSettings
	keep         keepSettings
	noise        seedSettings
}

func settingsOf(c *cli.Context) (*settings, error) {
	if first := c.Args().First(); c.NArg() > 1 && words.Nearest(first, []string{"platform"}) != "" {
		return nil, command.Usagef("unknown command %q, did you mean platform?", first)
	}
	if c.NArg() != 1 {
		return nil, command.Usagef("want 1 trace, got %d (flags come before it)", c.NArg())
	}
	s := &settings{
		trace: c.Args().First(), platform: c.String("platform"), kernels: c.String("kernels"), hostfile: c.String("hostfile"), networkNoise: c.String("network-noise"),
		ranksPerHost: c.Int("ranks-per-host"), json: c.Bool("json"), quiet: c.Bool("quiet"),
	}
	if c.IsSet("ranks-per-host") && (s.ranksPerHost < 1 || s.ranksPerHost > math.MaxInt32) {
		return nil, command.Usagef("--ranks-per-host %d, want a positive number", s.ranksPerHost)
	}
	if c.IsSet("ranks-per-host") && s.hostfile != "" {
		return nil, command.Usagef("--hostfile and --ranks-per-host exclude each other")
	}
	if model := c.String("network"); model != "" {
		option, ok := networks[strings.ToLower(model)]
		if !ok {
			return nil, command.Usagef("--network %q, want smpi, lv08, cm02 or contention-free", model)
		}
		if option[0] == "network/model" { // not for a platform's host/model:default to overrule
			s.cfg = append(s.cfg, [2]string{"host/model", "compound"})
		}
		s.cfg = append(s.cfg, option)
	}
	network := slices.Clone(s.cfg)
	for _, text := range c.StringSlice("cfg") {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, command.Usagef("--cfg %q, want NAME:VALUE", text)
		}
		if note := netmodel.Obsolete(name); note != "" {
			s.odd = append(s.odd, warning.New("--cfg: %s", note))
		}
		name = netmodel.OptionName(name)
		if slices.ContainsFunc(network, func(c [2]string) bool { return c[0] == name }) {
			return nil, command.Usagef("--network %s and --cfg %s both set %s: leave one out", c.String("network"), text, name)
		}
		s.cfg = append(s.cfg, [2]string{name, value})
	}
	var err error
	if s.sample, err = sampleSettingsOf(c); err != nil {
		return nil, err
	}
	if s.keep, err = keepSettingsOf(c, s); err != nil {
		return nil, err
	}
	if s.noise, err = seedSettingsOf(c, s); err != nil {
		return nil, err
	}
	s.from, s.to, err = command.Steps(c.String("steps"))
	return s, err
}

// checkReplaced refuses options that have no effect beside the noise of the network.
func (s *settings) checkReplaced(options []string) error {
	for _, name := range options {
		if s.sets(name) {
			return command.Usagef("--cfg %s has no effect: --network-noise %s has these times itself", name, s.networkNoise)
		}
	}
	return nil
}

// sets reports whether the command line sets an option of the simulator.
func (s *settings) sets(name string) bool {
	return slices.ContainsFunc(s.cfg, func(c [2]string) bool { return c[0] == name })
}

// networks are the simulator options that --network stands for.
var networks = map[string][2]string{
	"smpi": {"network/model", "SMPI"}, "lv08": {"network/model", "LV08"}, "cm02": {"network/model", "CM02"},
	"contention-free": {"reprise/contention", "no"},
}
