package replay

import (
	"fmt"

	"reprise/internal/bounds"
	"reprise/internal/textutil"
)

// HostSpeed has all hosts of a pattern compute so many times as quick as the platform and the
// kernel models say.
type HostSpeed struct {
	Pattern string // of names, as the key host of a kernel file
	Factor  float64
}

// String returns the text that ParseHostSpeed reads.
func (s HostSpeed) String() string { return fmt.Sprintf("%s=%g", s.Pattern, s.Factor) }

// ParseHostSpeed reads PATTERN=FACTOR, such as node-[3,17]=0.9.
func ParseHostSpeed(text string) (HostSpeed, error) {
	pattern, factor, err := textutil.ParsePatternFactor(text)
	return HostSpeed{pattern, factor}, err
}

// check returns the pattern, if that and the factor are possible.
func (s *HostSpeed) check() (textutil.Pattern, error) {
	p, err := textutil.ParsePattern(s.Pattern)
	if err == nil {
		err = bounds.Factor.Check("factor", s.Factor)
	}
	return p, err
}

// scaleHosts finds the hosts that compute quicker or slower than they are described. Of
// several patterns for a host the last one counts.
func (l *loader) scaleHosts() error {
	p := l.machine.Platform
	for i := range l.spec.HostSpeeds {
		s := &l.spec.HostSpeeds[i]
		pattern, err := s.check()
		if err != nil {
			return fmt.Errorf("speed of hosts %s: %w", textutil.Quote(s.String()), err)
		}
		if l.machine.Factors == nil {
			l.machine.Factors = onesOf(p.NumHosts())
		}
		found := false
		for h := range l.machine.Factors {
			if pattern.Match(p.Host(h).Name) {
				l.machine.Factors[h], found = s.Factor, true
			}
		}
		if !found {
			return fmt.Errorf("speed of hosts %s: %s has no such host; its first is %q", textutil.Quote(s.String()),
				l.spec.Platform, p.Host(0).Name)
		}
	}
	return nil
}

func onesOf(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// checkFactors checks Factors against the platform.
func (m *Machine) checkFactors() error {
	if m.Factors != nil && len(m.Factors) != m.Platform.NumHosts() {
		return fmt.Errorf("factors of %d hosts, but the platform has %d", len(m.Factors), m.Platform.NumHosts())
	}
	for h, f := range m.Factors {
		if err := bounds.Factor.Check("factor", f); err != nil {
			return fmt.Errorf("host %q: %w", m.Platform.Host(h).Name, err)
		}
	}
	return nil
}

// factor returns how many times as quick a host is as it is described.
func (m *Machine) factor(host int32) float64 {
	if m.Factors == nil {
		return 1
	}
	return m.Factors[host]
}
