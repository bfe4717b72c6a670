package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/machines"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/warning"
)

// loadedMachines loads machines for traces, and keeps the parts that were used last.
type loadedMachines struct {
	plan       *Plan
	mu         sync.Mutex
	young, old map[string]*part // used since old ones were forgotten for the last time, and before
}

func newLoadedMachines(p *Plan) *loadedMachines {
	return &loadedMachines{plan: p, young: map[string]*part{}}
}

// mostParts is how many parts are kept, to twice as many.
const mostParts = 64

// part is a part of a machine: one of the four.
type part struct {
	once sync.Once
	replay.Parts
	err error
}

// load loads the machine of a configuration for its trace, with the options that its
// platform and its settings ask for.
func (l *loadedMachines) load(c *Config, t *trace.Trace) (replay.Machine, replay.Options, []warning.Warning, error) {
	m := &c.Machine
	spec := replay.MachineSpec{Platform: m.Platform, Kernels: m.Kernels, NetworkNoise: m.NetworkNoise, Hostfile: m.Hostfile, RanksPerHost: m.RanksPerHost, HostSpeeds: m.HostSpeeds, Settings: m.Options}
	for _, in := range m.inputs() {
		p := l.part(in, m, t.Header().Ranks)
		if p.err != nil {
			return replay.Machine{}, replay.Options{}, nil, p.err
		}
		switch in.Word {
		case "platform":
			spec.Loaded.Platform = p.Platform
		case "kernels":
			spec.Loaded.Kernels = p.Kernels
		case "network-noise":
			spec.Loaded.NetworkNoise = p.NetworkNoise
		case "hostfile":
			spec.Loaded.Hostfile = p.Hostfile
		}
	}
	var err error
	if spec.Without, err = m.leftOut(spec.Loaded.Platform, spec.Loaded.Kernels); err != nil {
		return replay.Machine{}, replay.Options{}, nil, err
	}
	return replay.LoadMachine(spec, t)
}

// leftOut returns patterns of the hosts that get no ranks.
func (m *Machine) leftOut(p *platforms.Platform, set *kernels.Set) ([]string, error) {
	if m.Slowest == 0 {
		return m.Without, nil
	}
	return m.slowest(p, set, m.Slowest)
}

// part returns a part of a machine for so many ranks.
func (l *loadedMachines) part(in Input, m *Machine, ranks int) *part {
	key := in.Word + " " + in.Name
	switch in.Word {
	case "platform":
		key = fmt.Sprintf("%s %d %v %v", key, ranks, m.Bandwidth, m.Latency)
	case "kernels":
		key = fmt.Sprintf("%s %v", key, m.KernelNoise)
	}
	p := l.use(key)
	p.once.Do(func() { p.err = l.fill(p, in, m, ranks) })
	return p
}

// use returns what there is under a key.
func (l *loadedMachines) use(key string) *part {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.young[key]
	if p != nil {
		return p
	}
	if p = l.old[key]; p == nil {
		p = &part{}
	}
	if len(l.young) >= mostParts {
		l.old, l.young = l.young, map[string]*part{}
	}
	l.young[key] = p
	return p
}

// fill loads a part.
func (l *loadedMachines) fill(p *part, in Input, m *Machine, ranks int) error {
	found := l.plan.input(in.Word, in.Name)
	text, err := l.plan.textOf(found)
	if err != nil {
		return err
	}
	switch {
	case in.Word == "kernels":
		if p.Kernels, err = kernels.Parse(bytes.NewReader(text), in.Name); err == nil {
			p.Kernels, err = m.noisy(p.Kernels)
		}
		return err
	case in.Word == "network-noise":
		p.NetworkNoise, err = netmodel.ParseNoise(bytes.NewReader(text), in.Name)
		return err
	case in.Word == "hostfile":
		p.Hostfile = text
		return nil
	case found.File == "":
		p.Platform, err = platforms.Builtin(in.Name, ranks)
	default:
		p.Platform, err = platforms.ParseAlone(bytes.NewReader(text), in.Name)
	}
	if err == nil {
		p.Platform, err = m.scaled(p.Platform)
	}
	return err
}

// path returns where the copy of an input is; before the plan is written, the input itself.
func (p *Plan) path(in *Input) string {
	if p.dir == "" {
		return in.at
	}
	return filepath.Join(p.dir, in.File)
}

// textOf returns what an input holds, as it was when the study was planned.
func (p *Plan) textOf(in *Input) (text []byte, err error) {
	switch {
	case in.text != nil:
		return in.text, nil
	case in.File != "":
		text, err = regular.Read(p.path(in), maxInput)
	case in.Word == "platform":
		text, err = machines.Platform(in.Name)
	default:
		text, err = machines.Kernels(in.Name)
	}
	if err != nil {
		return nil, err
	}
	return text, in.unchanged(text, p.path(in))
}

// unchanged returns an error if a text, which is found somewhere, is not the input's.
func (in *Input) unchanged(text []byte, at string) error {
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != in.SHA256 {
		return fmt.Errorf("%s %s is not what it was when the study was planned (SHA-256 %x, was %s)", in.Word, at, sum, in.SHA256)
	}
	return nil
}

// scaled returns the platform with the links of a configuration.
func (m *Machine) scaled(p *platforms.Platform) (*platforms.Platform, error) {
	if len(m.Bandwidth)+len(m.Latency) == 0 {
		return p, nil
	}
	levels := p.Levels()
	bandwidth, err := factorsOf(levels, "bandwidth", m.Bandwidth)
	if err != nil {
		return nil, err
	}
	latency, err := factorsOf(levels, "latency", m.Latency)
	if err != nil {
		return nil, err
	}
	return p.Scaled(func(link int32) (float64, float64) {
		level := p.LevelOf(link)
		return bandwidth[level], latency[level]
	}), nil
}

// noisy returns the kernel models with the noise of a configuration.
func (m *Machine) noisy(set *kernels.Set) (_ *kernels.Set, err error) {
	for _, n := range m.KernelNoise {
		if set, err = set.Noisy(n.Pattern, n.Deviation); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// quoted lists names that may have blanks and commas.
func quoted(names []string) string {
	var list []string
	for _, n := range names {
		list = append(list, textutil.Quote(n))
	}
	return strings.Join(list, ", ")
}

// factorsOf returns the factor of each level of links.
func factorsOf(levels []string, word string, list []LinkFactor) ([]float64, error) {
	factors := make([]float64, len(levels))
	for i := range factors {
		factors[i] = 1
	}
	for _, f := range list {
		pattern, err := textutil.ParsePattern(f.Pattern)
		if err != nil {
			return nil, err
		}
		found := false
		for i, name := range levels {
			if pattern.Match(name) {
				factors[i], found = f.Factor, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: no level of links is called %s; there are %s", word, textutil.Quote(f.Pattern), quoted(levels))
		}
	}
	return factors, nil
}
