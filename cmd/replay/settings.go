package main

import (
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/bounds"
	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/platforms"
	"reprise/replay"
	"reprise/smpi"
	"reprise/warning"
)

// settings is what the command line says.
type settings struct {
	args          []string // the command line
	trace         string   // "-": standard input
	machine       string
	platform      string
	kernels       string
	networkNoise  string
	hostfile      string
	ranksPerHost  int
	hostSpeeds    []replay.HostSpeed
	computeScale  float64
	computeNoise  bool
	fileBandwidth float64           // byte/s; 0: none given
	cfg           []replay.Property // by the names of today
	odd           []warning.Warning
	from, to      int
	json, quiet   bool
	verbose       bool
	sample        sampleSettings
	keep          keepSettings
	noise         seedSettings
	draws         int // of --uncertainty; 0: one replay
	outputs       outputs
	setupTime     float64 // of HPCG, in seconds
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
	s := &settings{
		trace: c.Args().First(), machine: c.String("machine"), platform: c.String("platform"), kernels: c.String("kernels"), hostfile: c.String("hostfile"), networkNoise: c.String("network-noise"),
		ranksPerHost: c.Int("ranks-per-host"), computeScale: c.Float64("compute-scale"), computeNoise: c.Bool("compute-noise"), setupTime: c.Float64("setup-time"), json: c.Bool("json"), quiet: c.Bool("quiet"), verbose: c.Bool("verbose"),
	}
	if s.quiet && s.verbose {
		return nil, command.Usagef("--quiet and --verbose exclude each other")
	}
	for _, name := range []string{"platform", "kernels"} {
		if s.machine != "" && c.IsSet(name) {
			return nil, command.Usagef("--machine %s has its own platform and kernel models: leave --%s out", s.machine, name)
		}
	}
	if c.IsSet("ranks-per-host") && (s.ranksPerHost < 1 || s.ranksPerHost > math.MaxInt32) {
		return nil, command.Usagef("--ranks-per-host %d, want a positive number", s.ranksPerHost)
	}
	if err := bounds.Factor.Check("factor", s.computeScale); err != nil {
		return nil, command.Usagef("--compute-scale: %w", err)
	}
	if text := c.String("file-bandwidth"); text != "" {
		var err error
		if s.fileBandwidth, err = platforms.ParseBandwidth(text); err == nil {
			err = bounds.Bandwidth.Check("rate", s.fileBandwidth)
		}
		if err != nil {
			return nil, command.Usagef("--file-bandwidth: %w", err)
		}
	}
	if c.IsSet("ranks-per-host") && s.hostfile != "" {
		return nil, command.Usagef("--hostfile and --ranks-per-host exclude each other")
	}
	if model := c.String("network"); model != "" {
		list, err := replay.NetworkSettings(model)
		if err != nil {
			return nil, command.Usagef("--network %w", err)
		}
		s.cfg = append(s.cfg, list...)
	}
	for _, text := range c.StringSlice("host-speed") {
		speed, err := replay.ParseHostSpeed(text)
		if err != nil {
			return nil, command.Usagef("--host-speed %w", err)
		}
		s.hostSpeeds = append(s.hostSpeeds, speed)
	}
	network := slices.Clone(s.cfg)
	for _, text := range c.StringSlice("cfg") {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, command.Usagef("--cfg %q, want NAME:VALUE", text)
		}
		if note := smpi.Obsolete(name); note != "" {
			s.odd = append(s.odd, warning.New("--cfg: %s", note))
		}
		name = smpi.OptionName(name)
		if slices.ContainsFunc(network, func(c replay.Property) bool { return c.Name == name }) {
			return nil, command.Usagef("--network %s and --cfg %s both set %s: leave one out", c.String("network"), text, name)
		}
		s.cfg = append(s.cfg, replay.Property{Name: name, Value: value})
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
	if s.draws, err = drawsOf(c, s); err != nil {
		return nil, err
	}
	if s.from, s.to, err = command.Steps(c.String("steps")); err != nil {
		return nil, err
	}
	s.outputs, err = outputsOf(c, s)
	return s, err
}

// spec says which machine to load.
func (s *settings) spec() replay.MachineSpec {
	return replay.MachineSpec{
		Machine: s.machine, Platform: s.platform, Kernels: s.kernels, NetworkNoise: s.networkNoise,
		Hostfile: s.hostfile, RanksPerHost: s.ranksPerHost, HostSpeeds: s.hostSpeeds, Settings: s.cfg,
	}
}
