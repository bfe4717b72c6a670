package study

import (
	"bytes"
	"fmt"
	"slices"

	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// checkMachines checks, for all configurations, that hosts, levels of links and kernels that
// they name exist, and that there are places for all ranks: that is better told now than by
// each run. It returns which have noise.
func (p *Plan) checkMachines(s *Study, configs []*Config) (noisy []bool, err error) {
	l := newLoadedMachines(p)
	known := map[string]bool{} // machines, and whether they have noise
	for i, c := range configs {
		m, ranks := &c.Machine, c.HPL.P*c.HPL.Q
		key := fmt.Sprintf("%q %q %q %q %d %q", m.Platform, m.Kernels, m.NetworkNoise, m.Hostfile, ranks, m.words())
		has, checked := known[key]
		if !checked {
			if has, err = l.check(m, ranks); err != nil {
				return nil, s.errorOf(i, err)
			}
			known[key] = has
		}
		noisy = append(noisy, has)
	}
	return noisy, nil
}

// check checks the machine of a configuration for so many ranks, and reports whether it has noise.
func (l *loadedMachines) check(m *Machine, ranks int) (noisy bool, err error) {
	var parts replay.Parts
	for _, in := range m.inputs() {
		of := l.part(in, m, ranks)
		switch {
		case of.err != nil:
			return false, of.err
		case in.Word == "platform":
			parts.Platform = of.Platform
		case in.Word == "kernels":
			parts.Kernels = of.Kernels
		case in.Word == "hostfile":
			parts.Hostfile = of.Hostfile
		}
	}
	if err := m.checkPatterns(parts.Platform); err != nil {
		return false, err
	}
	without, err := m.leftOut(parts.Platform, parts.Kernels)
	if err != nil {
		return false, err
	}
	var hosts []int32
	if m.Hostfile == "" {
		hosts, err = replay.FillHosts(parts.Platform, ranks, m.RanksPerHost, without...)
	} else {
		hosts, err = replay.ParseHostfile(bytes.NewReader(parts.Hostfile), m.Hostfile, parts.Platform, ranks)
	}
	return m.NetworkNoise != "" || hasNoise(parts.Platform, parts.Kernels, hosts), err
}

// hasNoise reports whether the times of a kernel of HPL are random on one of the hosts. Kernels
// without a model are the replay's to refuse.
func hasNoise(p *platforms.Platform, set *kernels.Set, hosts []int32) bool {
	var signatures []kernels.Signature
	for _, k := range hpl.Kernels() {
		signatures = append(signatures, replay.SignatureOf(&k))
	}
	before, known := map[int32]int{}, map[kernels.Class]bool{}
	for _, h := range hosts {
		ph := p.Host(int(h))
		host := kernels.Host{Name: ph.Name, Slot: before[h], Speed: ph.Speed}
		before[h]++
		class := set.Class(host)
		if known[class] {
			continue
		}
		known[class] = true
		for _, sig := range signatures {
			if model, err := set.Bind(host, sig); err == nil && model.Noisy() {
				return true
			}
		}
	}
	return false
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
	pattern, err := textutil.ParsePattern(text)
	if err != nil {
		return err
	}
	for h := range p.NumHosts() {
		if pattern.Match(p.Host(h).Name) {
			return nil
		}
	}
	return fmt.Errorf("%s: %s has no host %s; its first is %q", word, p.Name(), textutil.Quote(text), p.Host(0).Name)
}

func findKernel(text string) error {
	pattern, err := textutil.ParsePattern(text)
	if err == nil && !slices.ContainsFunc(hpl.Kernels(), func(k trace.Kernel) bool { return pattern.Match(k.Name) }) {
		err = fmt.Errorf("kernel-noise: HPL calls no kernel %s, but dgemm, dtrsm, and others (trace stat)", textutil.Quote(text))
	}
	return err
}
