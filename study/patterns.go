package study

import (
	"fmt"

	"reprise/internal/namepattern"
	"reprise/internal/wording"
	"reprise/platforms"
)

// checkPatterns checks that hosts and levels of links of all configurations exist: a mistake in
// a pattern is better told now than by each run.
func (p *Plan) checkPatterns(s *Study, configs []*Config) error {
	l := &loadedMachines{plan: p, parts: map[string]*part{}}
	known := map[string]bool{}
	for i, c := range configs {
		m, ranks := &c.Machine, c.HPL.P*c.HPL.Q
		if len(m.Bandwidth)+len(m.Latency)+len(m.Without)+len(m.HostSpeeds) == 0 {
			continue
		}
		key := fmt.Sprintf("%q %d %q", m.Platform, ranks, m.words())
		if known[key] {
			continue
		}
		known[key] = true
		loaded := l.part(m.inputs()[0], m, ranks)
		err := loaded.err
		if err == nil {
			err = m.checkHosts(loaded.Platform)
		}
		if err != nil {
			return s.errorOf(i, err)
		}
	}
	return nil
}

// checkHosts checks that each pattern of hosts is that of one.
func (m *Machine) checkHosts(p *platforms.Platform) error {
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
