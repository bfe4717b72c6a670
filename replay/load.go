package replay

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"reprise/internal/regular"
	"reprise/kernels"
	"reprise/machines"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/smpi"
	"reprise/trace"
	"reprise/warning"
)

// MachineSpec says which machine a trace is to be played on, by the names of files and of
// what is built in; a file goes before. The zero value is the built-in machine "default",
// sized to the ranks.
type MachineSpec struct {
	// Machine is a machine directory or a built-in machine ([machines.Find]), in place of
	// Platform and Kernels.
	Machine      string
	Platform     string // SimGrid XML, or a built-in machine ([platforms.BuiltinNames])
	Kernels      string // kernel models in YAML, or a built-in set ([kernels.BuiltinNames]); "": those of the built-in machine, of another one "default"
	NetworkNoise string // YAML ([netmodel.LoadNoise]); "": none
	Hostfile     string // where the ranks are ([ParseHostfile]); "": FillHosts
	// HostSpeeds have hosts compute quicker or slower; of several for a host the last counts.
	HostSpeeds   []HostSpeed
	RanksPerHost int // for FillHosts; 0: as few as fit
	// Without has patterns of hosts that get no ranks, as the key host of a kernel file.
	Without []string
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

// SettingError is the error of MachineSpec.Settings that cannot be set, alone or together.
type SettingError struct{ Err error }

func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *SettingError) Unwrap() error { return e.Err }

// LoadMachine loads a machine for a trace, with the options that its platform's file and the
// settings ask for, and says what is odd about all of that: what was chosen because nothing
// says it, descriptions without effect, or with one that is hardly meant. An error carries
// what was found odd before it ([warning.Of]), not what was chosen, which causes none.
func LoadMachine(spec MachineSpec, t Traced) (Machine, Options, []warning.Warning, error) {
	l := &loader{spec: spec, header: t.Header(), options: DefaultOptions()}
	l.know(t)
	for _, step := range []func() error{l.findMachine, l.loadPlatform, l.scaleHosts, l.loadKernels, l.loadNoise, l.mapRanks, l.set} {
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
		return
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
		l.builtin = !regular.IsFile(name)
		m.Platform, err = platforms.Find(name, l.header.Ranks)
	}
	if err == nil {
		l.odd = warning.Join(m.Platform.Warnings(), smpi.ObsoleteOptions(m.Platform))
	}
	return err
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
		l.odd = append(l.odd, warning.New("%s has no %s: the replay ends where a kernel is called", l.spec.Machine, machines.KernelsFile).As(warning.Risk))
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
			return &SettingError{fmt.Errorf("%s has no effect: %s has these times itself", name, l.spec.NetworkNoise)}
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
		m.Hosts, err = FillHosts(m.Platform, l.header.Ranks, l.spec.RanksPerHost, l.spec.Without...)
		return err
	}
	if len(l.spec.Without) > 0 {
		return fmt.Errorf("a hostfile says where ranks are: with it no hosts can be left out")
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
			return &SettingError{err}
		}
		if err := knownAlgorithm(smpi.OptionName(s.Name), s.Value); err != nil {
			return &SettingError{err}
		}
	}
	switch err := o.Validate(); {
	case err == nil:
		return nil
	case before == nil:
		return &SettingError{err}
	default:
		return fmt.Errorf("%s: %w", l.spec.Platform, err)
	}
}
