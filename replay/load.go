package replay

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/platforms/compose"
	"reprise/platforms/machines"
	"reprise/smpi"
	"reprise/trace"
	"reprise/trace/warning"
)

// MachineSpec says which machine a trace is to be played on, by the names of files and of
// what is built in; a file goes before. The zero value is the built-in machine "default",
// sized to the ranks.
type MachineSpec struct {
	// Machine is a machine directory or a built-in machine ([machines.Find]), in place of
	// Platform and Kernels.
	Machine string
	// SimGrid XML, a built-in machine ([platforms.BuiltinNames]), or an inline specification ([compose.Inline])
	Platform string
	// kernel models in YAML, or a built-in set ([kernels.BuiltinNames]); "": those of the built-in machine, of another
	// one "default"
	Kernels      string
	NetworkNoise string // YAML ([netmodel.LoadNoise]); "": none
	Hostfile     string // where the ranks are ([ParseHostfile]); "": FillHosts
	RanksPerHost int    // for FillHosts; 0: as few as fit

	// Of several HostSpeeds for a host, of several KernelNoise for a kernel and of several factors for a link
	// the last counts.
	HostSpeeds  []HostSpeed
	Without     []string // patterns of hosts that get no ranks
	Slowest     int      // so many hosts get no ranks either: those on which dgemm takes longest
	KernelNoise []KernelNoise
	Bandwidth   []LinkFactor
	Latency     []LinkFactor

	ComputeScale  float64 // Options.ComputeScale; 0: 1
	ComputeNoise  bool
	FileBandwidth float64

	// Settings are options of SimGrid by name ([smpi.Options.Set]), set after those in
	// the platform's file.
	Settings []Property
	// Loaded has parts that are there already, in place of the files of these names.
	Loaded Parts
}

// Parts are parts of a machine, for those who play many traces on a few machines. Nil: load it.
type Parts struct {
	Platform     *platforms.Platform
	Kernels      *kernels.Set
	NetworkNoise *netmodel.Noise
	Hostfile     []byte // its text
}

// A Traced is a trace of either form: of a [trace.Trace] that is a file it is known what it
// calls, and of others what their header declares.
type Traced interface{ Header() *trace.Header }

// SettingError is the error of a parameter, or of MachineSpec.Settings ("cfg"), that cannot be set for this
// trace or this machine, alone or together.
type SettingError struct {
	Name string
	Err  error
}

func (e *SettingError) Error() string {
	if e.Name == "cfg" { // which option it is says the error
		return e.Err.Error()
	}
	return e.Name + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *SettingError) Unwrap() error { return e.Err }

// LoadMachine loads a machine for a trace, with the options that its platform's file and the
// settings ask for, and says what is odd about all of that: what was chosen because nothing
// says it, descriptions without effect, or with one that is hardly meant. An error carries
// what was found odd before it ([warning.Of]), not what was chosen, which causes none.
func LoadMachine(spec MachineSpec, t Traced) (Machine, Options, []warning.Warning, error) {
	l := &loader{spec: spec, header: t.Header(), options: DefaultOptions()}
	l.know(t)
	l.options.ComputeNoise, l.options.FileBandwidth = spec.ComputeNoise, spec.FileBandwidth
	if spec.ComputeScale != 0 {
		l.options.ComputeScale = spec.ComputeScale
	}
	if spec.ComputeNoise && !l.spreads {
		return Machine{}, Options{}, nil,
			&SettingError{"compute-noise", errors.New("the trace states no spread of its computations")}
	}
	for _, step := range []func() error{l.findMachine, l.loadPlatform, l.scaleLinks, l.scaleHosts, l.loadKernels,
		l.addNoise, l.loadNoise, l.mapRanks, l.set} {
		if err := step(); err != nil {
			return Machine{}, Options{}, nil, warning.With(err, l.odd)
		}
	}
	l.machine.Source = l.spec
	return l.machine, l.options, l.warnings(), nil
}

// loader is a machine that is being loaded.
type loader struct {
	spec    MachineSpec // with the names of what was chosen
	builtin bool        // the platform is
	plain   bool        // the machine directory has no kernel models
	header  *trace.Header
	called  []trace.Kernel // that may cost time
	polls   bool           // the trace may poll
	streams bool           // what is called is not known before the end
	spreads bool           // computations may state their spread
	noFlops bool           // it is known that no computation is in flop

	machine Machine
	options Options
	chosen  []warning.Warning // what the spec leaves open
	odd     []warning.Warning // in the platform's description
}

// know notes what the trace calls: all that its header declares if no more is known. Whether
// it polls is not known of text; of a stream whether there is a place for operations that may.
func (l *loader) know(t Traced) {
	all := l.header.Kernels
	l.called, l.polls, l.streams = all, l.header.Pollables > 0, true
	tr, ours := t.(*trace.Trace)
	if !ours {
		return
	}
	if _, file := tr.Totals(); !file {
		l.spreads = true
		return
	}
	l.spreads, l.noFlops = slices.Contains(tr.Features(), "spreads"), true
	if l.spec.ComputeScale != 0 {
		tr.Program().Visit(func(it *trace.Item) { l.noFlops = l.noFlops && it.Op != trace.OpFlops })
	}
	calls, _ := tr.Program().Called(len(all))
	l.called, l.polls, l.streams = nil, tr.Program().Polls(), false
	for i, k := range all {
		if calls[i] {
			l.called = append(l.called, k)
		}
	}
}

// choose notes what was chosen where the spec leaves it open.
func (l *loader) choose(format string, args ...any) {
	l.chosen = append(l.chosen, warning.New(format, args...).As(warning.Choice))
}

// findMachine names the files of the machine directory, if there is one.
func (l *loader) findMachine() (err error) {
	s := &l.spec
	switch {
	case s.Machine == "":
		return nil
	case s.Platform != "" || s.Kernels != "":
		return fmt.Errorf("machine %s has its own platform and kernel models: leave those that are given out", s.Machine)
	}
	s.Platform, s.Kernels, err = machines.Find(s.Machine)
	l.plain = s.Kernels == ""
	return err
}

func (l *loader) loadPlatform() (err error) {
	m := &l.machine
	switch name := l.spec.Platform; {
	case l.spec.Loaded.Platform != nil:
		m.Platform = l.spec.Loaded.Platform
	case name == "":
		l.spec.Platform, l.builtin = "default", true
		l.choose("no platform is given: using the built-in machine \"default\", a generic cluster sized to the ranks")
		m.Platform, err = platforms.Builtin("default", l.header.Ranks)
	default:
		_, inline, _ := compose.Inline(name)
		l.builtin = !inline && !regular.IsFile(name)
		m.Platform, err = FindPlatform(name, l.header.Ranks)
	}
	if err == nil {
		l.odd = warning.Join(m.Platform.Warnings(), smpi.ObsoleteOptions(m.Platform))
	}
	return err
}

// FindPlatform loads what the parameter platform names or describes, of which a file goes before; the generic
// machine for so many ranks.
func FindPlatform(name string, ranks int) (*platforms.Platform, error) {
	spec, inline, err := compose.Inline(name)
	switch {
	case !inline || regular.IsFile(name):
		return platforms.Find(name, ranks)
	case err != nil:
		return nil, fmt.Errorf("platform %s: %w", name, err)
	}
	return spec.Parse(name)
}

// scaleLinks multiplies bandwidths and latencies.
func (l *loader) scaleLinks() error {
	if len(l.spec.Bandwidth)+len(l.spec.Latency) == 0 {
		return nil
	}
	p := l.machine.Platform
	levels := p.Levels()
	factorsOf := func(word string, list []LinkFactor) ([]float64, error) {
		factors := onesOf(len(levels))
		for _, f := range list {
			pattern, err := textutil.ParsePattern(f.Pattern)
			if err != nil {
				return nil, &SettingError{word, err}
			}
			found := false
			for i, name := range levels {
				if pattern.Match(name) {
					factors[i], found = f.Factor, true
				}
			}
			if !found {
				var names []string
				for _, name := range levels {
					names = append(names, textutil.Quote(name))
				}
				return nil, &SettingError{word, fmt.Errorf("no level of links is called %s; there are %s",
					textutil.Quote(f.Pattern), strings.Join(names, ", "))}
			}
		}
		return factors, nil
	}
	bandwidth, err := factorsOf("bandwidth", l.spec.Bandwidth)
	if err != nil {
		return err
	}
	latency, err := factorsOf("latency", l.spec.Latency)
	if err != nil {
		return err
	}
	l.machine.Platform = p.Scaled(func(link int32) (float64, float64) {
		level := p.LevelOf(link)
		return bandwidth[level], latency[level]
	})
	return nil
}

// addNoise puts noise of kernels in place of what their models say.
func (l *loader) addNoise() (err error) {
	for _, n := range l.spec.KernelNoise {
		pattern, err := textutil.ParsePattern(n.Pattern)
		if err != nil {
			return &SettingError{"kernel-noise", err}
		}
		if !slices.ContainsFunc(l.header.Kernels, func(k trace.Kernel) bool { return pattern.Match(k.Name) }) {
			others := ""
			if len(l.header.Kernels) > 0 {
				var names []string
				for i := range l.header.Kernels {
					names = append(names, l.header.Kernels[i].Name)
				}
				others = ", but " + andOthers(names)
			}
			return &SettingError{"kernel-noise", fmt.Errorf("the program calls no kernel %s%s (trace stat lists them)",
				textutil.Quote(n.Pattern), others)}
		}
		if l.machine.Kernels, err = l.machine.Kernels.Noisy(n.Pattern, n.Deviation); err != nil {
			return &SettingError{"kernel-noise", err}
		}
	}
	return nil
}

// loadKernels loads the kernel models that were asked for. A built-in machine
// brings its own; with another one the generic ones go by the speed of its hosts.
func (l *loader) loadKernels() (err error) {
	switch {
	case l.spec.Loaded.Kernels != nil:
		l.machine.Kernels = l.spec.Loaded.Kernels
		return nil
	case l.spec.Kernels != "":
	case len(l.header.Kernels) == 0:
		return nil
	case l.plain:
		return l.withoutKernels()
	case l.builtin:
		l.spec.Kernels = l.spec.Platform
		l.machine.Kernels, err = kernels.Builtin(l.spec.Kernels)
		return err
	default:
		l.spec.Kernels = "default"
		l.choose("no kernel models are given: using the built-in models \"default\", which go by the speed of the hosts")
		l.machine.Kernels, err = kernels.Builtin(l.spec.Kernels)
		return err
	}
	l.machine.Kernels, err = kernels.Find(l.spec.Kernels)
	return err
}

// withoutKernels refuses a trace that calls kernels, on a machine directory that has no models
// of them. Of a stream it is not known yet whether it does.
func (l *loader) withoutKernels() error {
	var names []string
	for i := range l.called {
		if name := l.called[i].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 0:
	case l.streams:
		l.odd = append(l.odd, warning.New("%s has no %s: the replay ends where a kernel is called", l.spec.Machine,
			machines.KernelsFile).As(warning.Risk))
	default:
		return fmt.Errorf("%s has no %s, and the trace calls %s: put models there, or give the platform and the kernel models each by itself", l.spec.Machine, machines.KernelsFile, andOthers(names))
	}
	return nil
}

func (l *loader) loadNoise() (err error) {
	switch {
	case l.spec.Loaded.NetworkNoise != nil:
		l.machine.NetworkNoise = l.spec.Loaded.NetworkNoise
	case l.spec.NetworkNoise == "":
		return nil
	default:
		if l.machine.NetworkNoise, err = netmodel.LoadNoise(l.spec.NetworkNoise); err != nil {
			return err
		}
	}
	for _, name := range l.machine.NetworkNoise.Replaces() {
		if l.sets(name) {
			return &SettingError{"cfg", fmt.Errorf("%s has no effect: %s has these times itself", name, l.spec.NetworkNoise)}
		}
	}
	return nil
}

// sets reports whether the settings have an option.
func (l *loader) sets(name string) bool {
	for _, s := range l.spec.Settings {
		if smpi.OptionName(s.Name) == name {
			return true
		}
	}
	return false
}

func (l *loader) mapRanks() (err error) {
	m := &l.machine
	if l.spec.Hostfile == "" {
		slowest, err := l.slowest()
		if err != nil {
			return err
		}
		m.Hosts, err = FillHosts(m.Platform, l.header.Ranks, l.spec.RanksPerHost, append(slowest, l.spec.Without...)...)
		return err
	}
	if len(l.spec.Without) > 0 || l.spec.Slowest > 0 {
		return &SettingError{"without", errors.New("a hostfile says where ranks are: with it no hosts can be left out")}
	}
	if text := l.spec.Loaded.Hostfile; text != nil {
		m.Hosts, err = ParseHostfile(bytes.NewReader(text), l.spec.Hostfile, m.Platform, l.header.Ranks)
		return err
	}
	f, err := os.Open(l.spec.Hostfile)
	if err != nil {
		return err
	}
	defer f.Close()
	m.Hosts, err = ParseHostfile(f, l.spec.Hostfile, m.Platform, l.header.Ranks)
	return err
}

// set sets the options: the defaults, what the platform's file says, and the settings. A
// combination that makes no sense is a mistake in these if it made sense before them.
func (l *loader) set() error {
	o := &l.options
	if err := o.Network.ApplyConfig(l.machine.Platform); err != nil {
		return err
	}
	before := o.Validate()
	l.ownModel(o.Network)
	for _, s := range l.spec.Settings {
		if err := o.Network.Set(s.Name, s.Value); err != nil {
			return &SettingError{"cfg", err}
		}
		if err := knownAlgorithm(smpi.OptionName(s.Name), s.Value); err != nil {
			return &SettingError{"cfg", err}
		}
	}
	switch err := o.Validate(); {
	case err == nil:
		return nil
	case before == nil:
		return &SettingError{"cfg", err}
	default:
		return fmt.Errorf("%s: %w", l.spec.Platform, err)
	}
}
