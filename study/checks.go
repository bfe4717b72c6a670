package study

import (
	"bytes"
	"fmt"
	"slices"

	"reprise/internal/namepattern"
	"reprise/internal/wording"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// checkMachines checks, for all configurations, that hosts, levels of links and kernels that
// they name exist, and that there are places for all ranks: that is better told now than by
// each run.
func (p *Plan) checkMachines(s *Study, configs []*Config) error {
	l := &loadedMachines{plan: p, parts: map[string]*part{}}
	known := map[string]bool{}
	for i, c := range configs {
		m, ranks := &c.Machine, c.HPL.P*c.HPL.Q
		key := fmt.Sprintf("%q %q %q %d %q", m.Platform, m.Kernels, m.Hostfile, ranks, m.words())
		if known[key] {
			continue
		}
		known[key] = true
		if err := l.check(m, ranks); err != nil {
			return s.errorOf(i, err)
		}
	}
	return nil
}

// check checks the machine of a configuration for so many ranks.
func (l *loadedMachines) check(m *Machine, ranks int) error {
	var parts replay.Parts
	for _, in := range m.inputs() {
		of := l.part(in, m, ranks)
		switch {
		case in.Word == "hostfile":
			continue
		case of.err != nil:
			return of.err
		case in.Word == "platform":
			parts.Platform = of.Platform
		case in.Word == "kernels":
			parts.Kernels = of.Kernels
		}
	}
	if err := m.checkPatterns(parts.Platform); err != nil {
		return err
	}
	without, err := m.leftOut(parts.Platform, parts.Kernels)
	if err != nil {
		return err
	}
	if m.Hostfile == "" {
		_, err = replay.FillHosts(parts.Platform, ranks, m.RanksPerHost, without...)
		return err
	}
	_, err = replay.ParseHostfile(bytes.NewReader(l.plan.input("hostfile", m.Hostfile).text), m.Hostfile, parts.Platform, ranks)
	return err
}

// checkPatterns checks that each pattern is that of a host, or of a kernel.
func (m *Machine) checkPatterns(p *platforms.Platform) error {
	for _, text := range m.Without {
		if err := findHost(p, "without", text); err != nil {
			return err
		}
	}
	for _, s := range m.HostSpeeds {
		if err := findHost(p, "host-speed", s.Pattern); err != nil {
			return err
		}
	}
	for _, n := range m.KernelNoise {
		if err := findKernel(n.Pattern); err != nil {
			return err
		}
	}
	return nil
}

func findHost(p *platforms.Platform, word, text string) error {
	pattern, err := namepattern.Parse(text)
	if err != nil {
		return err
	}
	for h := range p.NumHosts() {
		if pattern.Match(p.Host(h).Name) {
			return nil
		}
	}
	return fmt.Errorf("%s: %s has no host %s; its first is %q", word, p.Name(), wording.Quote(text), p.Host(0).Name)
}

func findKernel(text string) error {
	pattern, err := namepattern.Parse(text)
	if err == nil && !slices.ContainsFunc(hpl.Kernels(), func(k trace.Kernel) bool { return pattern.Match(k.Name) }) {
		err = fmt.Errorf("kernel-noise: HPL calls no kernel %s, but dgemm, dtrsm, and others (trace stat)", wording.Quote(text))
	}
	return err
}
