package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"reprise/internal/bounds"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/platforms/compose"
	"reprise/platforms/machines"
	"reprise/replay/collective"
	"reprise/smpi"
	"reprise/trace"
	"reprise/trace/warning"
)

// LoadMachine loads a machine in steps, each of which may need the results of those before it. Warnings are collected
// on the way, so that an error comes with the warnings that explain it. They are of three kinds: choices made for the
// user, risks that may end the replay later, and oddities.

// MachineSpec says on which machine a trace is to be played, by names of files or of built-in parts; a file goes before
// a built-in part of its name. The zero value is the built-in machine "default", sized to the ranks.
type MachineSpec struct {
	// Machine is a machine directory or a built-in machine ([machines.Find]), in place of Platform and Kernels.
	Machine string
	// SimGrid XML, a built-in machine ([platforms.BuiltinNames]), or an inline specification ([compose.Inline])
	Platform string
	// kernel models in YAML, or a built-in set ([kernels.BuiltinNames]); "": those of the built-in machine, of another
	// one "default"
	Kernels      string
	NetworkNoise string // YAML ([netmodel.LoadNoise]); "": none
	Hostfile     string // where the ranks are ([ParseHostfile]); "": FillHosts, of texts of SimGrid SpreadHosts
	RanksPerHost int    // for FillHosts; 0: as many as the machine says, or one a core

	// Of several HostSpeeds for a host, of several numbers of KernelNoise for a kernel and of several factors for a
	// link the last counts.
	HostSpeeds  []HostSpeed
	Without     []string    // patterns of hosts that get no ranks
	Slowest     int         // so many hosts get no ranks either: those on which dgemm takes longest
	KernelNoise []ByPattern // standard deviation of half-normal noise, relative to mean times, by kernels
	Bandwidth   []ByPattern // factors by names of levels ([platforms.Platform.Levels])
	Latency     []ByPattern

	ComputeScale  float64 // of amounts of flop, in addition to what the machine says of recorded ones; 0: 1
	ComputeNoise  bool
	FileBandwidth float64

	// Settings are options of SimGrid by name ([smpi.Options.Set]), set after those in the platform's file.
	Settings []Property
	// Loaded has parts that are there already, in place of the files of these names.
	Loaded Parts
}

// Parts are loaded parts of a machine, for playing many traces on a few machines. Parts that are nil are loaded.
type Parts struct {
	Platform     *platforms.Platform
	Kernels      *kernels.Set
	NetworkNoise *netmodel.Noise
	Hostfile     []byte // its text
}

// A Traced is a trace of either form. A [trace.Trace] that is a file tells which kernels it calls;
// others tell which their header declares.
type Traced interface{ Header() *trace.Header }

// SettingError is the error of a parameter, or of MachineSpec.Settings ("cfg"), that cannot be set for this
// trace or this machine, alone or together.
type SettingError struct {
	Name string
	Err  error
}

// Error names the parameter, and leaves it out where the error itself names an option.
func (e *SettingError) Error() string {
	if e.Name == "cfg" { // the error names the option
		return e.Err.Error()
	}
	return e.Name + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *SettingError) Unwrap() error { return e.Err }

// LoadMachine loads a machine for a trace, with the options that its platform's file and the settings ask for. The
// warnings list defaults that were chosen, descriptions without effect, and descriptions whose effect is hardly meant.
// An error carries the warnings found before it ([warning.Of]), but for the defaults, which cause no error.
func LoadMachine(spec MachineSpec, t Traced) (Machine, Options, []warning.Warning, error) {
	l := &loader{spec: spec, header: t.Header(), options: DefaultOptions()}
	// If it is not known which kernels the trace calls, they are all that its header declares. Text does not tell
	// whether it polls; a stream tells whether its program has operations that may.
	all := l.header.Kernels
	l.called, l.polls, l.streams = all, l.header.Pollables > 0, true
	if tr, ours := t.(*trace.Trace); ours {
		if _, file := tr.Totals(); !file {
			l.spreads = true
		} else {
			l.spreads, l.noFlops = slices.Contains(tr.Features(), "spreads"), true
			if spec.ComputeScale != 0 {
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
	}
	l.options.ComputeNoise, l.options.FileBandwidth = spec.ComputeNoise, spec.FileBandwidth
	if spec.ComputeScale != 0 {
		l.options.ComputeScale = spec.ComputeScale
	}
	if spec.ComputeNoise && !l.spreads {
		return Machine{}, Options{}, nil,
			&SettingError{"compute-noise", errors.New("the trace states no spread of its computations")}
	}
	// The order matters: models are chosen by the platform, noise replaces that of models, and the
	// slowest hosts are known once factors and models are.
	for _, step := range []func() error{l.loadPlatform, l.scaleLinks, l.scaleHosts, l.loadKernels, l.loadNoise,
		l.mapRanks, l.set, l.recordedTime} {
		if err := step(); err != nil {
			return Machine{}, Options{}, nil, warning.With(err, l.odd)
		}
	}
	l.machine.Source = l.spec
	return l.machine, l.options, l.warnings(), nil
}

// loader holds a machine while it is loaded.
type loader struct {
	spec    MachineSpec // with the names of defaults filled in
	builtin bool        // the platform is built in
	plain   bool        // the machine directory has no kernel models
	header  *trace.Header
	called  []trace.Kernel // kernels that may cost time
	polls   bool           // the trace may poll
	streams bool           // the calls are not known before the end of the trace
	spreads bool           // computations may state their spread
	noFlops bool           // it is known that no computation is in flop

	machine Machine
	options Options
	chosen  []warning.Warning // defaults that the spec leaves open
	odd     []warning.Warning // from the platform's description
}

// choose notes a default that was chosen where the spec leaves a choice.
func (l *loader) choose(format string, args ...any) {
	l.chosen = append(l.chosen, warning.New(format, args...).As(warning.Choice))
}

// loadPlatform finds the files of the machine directory, if there is one, and loads the platform.
func (l *loader) loadPlatform() (err error) {
	s := &l.spec
	if s.Machine != "" {
		if s.Platform != "" || s.Kernels != "" {
			return fmt.Errorf("machine %s has its own platform and kernel models: leave those that are given out", s.Machine)
		}
		if s.Platform, s.Kernels, err = machines.Find(s.Machine); err != nil {
			return err
		}
		l.plain = s.Kernels == ""
	}
	// A file goes before a built-in machine of the same name. Only a built-in one knows what polls cost and which
	// kernel models belong to it.
	m := &l.machine
	switch {
	case s.Loaded.Platform != nil:
		m.Platform = s.Loaded.Platform
	case s.Platform == "":
		s.Platform, l.builtin = "default", true
		l.choose("no platform is given: using the built-in machine \"default\", a generic cluster sized to the ranks")
		m.Platform, err = platforms.Builtin("default", l.header.Ranks)
	default:
		_, inline, _ := compose.Inline(s.Platform)
		l.builtin = !inline && !regular.IsFile(s.Platform)
		m.Platform, err = FindPlatform(s.Platform, l.header.Ranks)
	}
	if err == nil {
		l.odd = warning.Join(m.Platform.Warnings(), smpi.ObsoleteOptions(m.Platform))
	}
	return err
}

// FindPlatform loads the platform that the parameter platform names or describes. A file of that
// name comes before both. The generic machine is sized to the ranks.
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

// scaleLinks multiplies the bandwidths and the latencies of links by level. The last factor of a level counts.
func (l *loader) scaleLinks() error {
	if len(l.spec.Bandwidth)+len(l.spec.Latency) == 0 {
		return nil
	}
	p := l.machine.Platform
	levels := p.Levels()
	var factors [2][]float64 // of bandwidth and latency, by level
	for i, word := range []string{"bandwidth", "latency"} {
		factors[i] = slices.Repeat([]float64{1}, len(levels))
		for _, f := range [][]ByPattern{l.spec.Bandwidth, l.spec.Latency}[i] {
			pattern, err := textutil.ParsePattern(f.Pattern)
			if err != nil {
				return &SettingError{word, err}
			}
			found := false
			var names []string
			for level, name := range levels {
				names = append(names, textutil.Quote(name))
				if pattern.Match(name) {
					factors[i][level], found = f.Factor, true
				}
			}
			if !found {
				return &SettingError{word, fmt.Errorf("no level of links is called %s; there are %s",
					textutil.Quote(f.Pattern), strings.Join(names, ", "))}
			}
		}
	}
	// The platform itself may be used by others and stays as it is.
	l.machine.Platform = p.Scaled(func(link int32) (bandwidth, latency float64) {
		level := p.LevelOf(link)
		return factors[0][level], factors[1][level]
	})
	return nil
}

// scaleHosts sets the factors of hosts that compute quicker or slower than they are described. The
// last pattern that fits a host counts.
func (l *loader) scaleHosts() error {
	// A pattern that fits no host is a slip, as is one without effect: it is refused, and the first host is named
	// as an example of what there is.
	p, m := l.machine.Platform, &l.machine
	for _, s := range l.spec.HostSpeeds {
		pattern, err := textutil.ParsePattern(s.Pattern)
		if err = cmp.Or(err, bounds.Factor.Check("factor", s.Factor)); err != nil {
			return fmt.Errorf("speed of hosts %s: %w", textutil.Quote(s.String()), err)
		}
		if m.Factors == nil {
			m.Factors = slices.Repeat([]float64{1}, p.NumHosts())
		}
		found := false
		for h := range m.Factors {
			if pattern.Match(p.Host(h).Name) {
				m.Factors[h], found = s.Factor, true
			}
		}
		if !found {
			return fmt.Errorf("speed of hosts %s: %s has no such host; its first is %q", textutil.Quote(s.String()),
				l.spec.Platform, p.Host(0).Name)
		}
	}
	return nil
}

// loadKernels loads the kernel models: those that were asked for, those of the built-in machine, or the generic ones,
// which go by the speed of the hosts. Then noise that the user states replaces that of the models.
func (l *loader) loadKernels() (err error) {
	s, m := &l.spec, &l.machine
	switch {
	case s.Loaded.Kernels != nil:
		m.Kernels = s.Loaded.Kernels
	case s.Kernels != "":
		m.Kernels, err = kernels.Find(s.Kernels)
	case len(l.header.Kernels) == 0:
	case l.plain:
		// A machine directory without models plays traces that call no kernel. Whether a stream
		// calls one is not known yet.
		var names []string
		for i := range l.called {
			if name := l.called[i].Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		switch {
		case len(names) == 0:
		case l.streams:
			l.odd = append(l.odd, warning.New("%s has no %s: the replay ends where a kernel is called", s.Machine,
				machines.KernelsFile).As(warning.Risk))
		default:
			return fmt.Errorf("%s has no %s, and the trace calls %s: put models there, or give the platform and the kernel models each by itself", s.Machine, machines.KernelsFile, andOthers(names))
		}
	default:
		s.Kernels = s.Platform
		if !l.builtin {
			s.Kernels = "default"
			l.choose("no kernel models are given: using the built-in models \"default\", which go by the speed of the hosts")
		}
		m.Kernels, err = kernels.Builtin(s.Kernels)
	}
	if err != nil {
		return err
	}
	for _, n := range s.KernelNoise {
		pattern, err := textutil.ParsePattern(n.Pattern)
		if err != nil {
			return &SettingError{"kernel-noise", err}
		}
		var names []string
		found := false
		for i := range l.header.Kernels {
			names = append(names, l.header.Kernels[i].Name)
			found = found || pattern.Match(names[i])
		}
		if !found {
			others := ""
			if len(names) > 0 {
				others = ", but " + andOthers(names)
			}
			return &SettingError{"kernel-noise", fmt.Errorf("the program calls no kernel %s%s (trace stat lists them)",
				textutil.Quote(n.Pattern), others)}
		}
		if m.Kernels, err = m.Kernels.Noisy(n.Pattern, n.Factor); err != nil {
			return &SettingError{"kernel-noise", err}
		}
	}
	return nil
}

// loadNoise loads the noise of the network. It has overheads of its own, in whose place options would have no effect.
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
	return slices.ContainsFunc(l.spec.Settings, func(s Property) bool { return smpi.OptionName(s.Name) == name })
}

// platformSets reports whether the platform's file has an option.
func (l *loader) platformSets(name string) bool {
	return slices.ContainsFunc(l.machine.Platform.Config(), func(p platforms.Prop) bool { return smpi.OptionName(p.Name) == name })
}

// mapRanks gives each rank its host, by the hostfile or in the order of the platform.
func (l *loader) mapRanks() (err error) {
	m, s := &l.machine, &l.spec
	if s.Hostfile == "" {
		slowest, err := l.slowest()
		if err != nil {
			return err
		}
		without := append(slowest, s.Without...)
		if s.RanksPerHost == 0 && isText(l.header) {
			m.Hosts, err = SpreadHosts(m.Platform, l.header.Ranks, without...)
		} else {
			m.Hosts, err = FillHosts(m.Platform, l.header.Ranks, s.RanksPerHost, without...)
		}
		return err
	}
	if len(s.Without) > 0 || s.Slowest > 0 {
		return &SettingError{"without", errors.New("a hostfile says where ranks are: with it no hosts can be left out")}
	}
	// Callers that play many traces on a few machines have loaded the text.
	var text io.Reader = bytes.NewReader(s.Loaded.Hostfile)
	if s.Loaded.Hostfile == nil {
		f, err := os.Open(s.Hostfile)
		if err != nil {
			return err
		}
		defer f.Close()
		text = f
	}
	m.Hosts, err = ParseHostfile(text, s.Hostfile, m.Platform, l.header.Ranks)
	return err
}

// set sets the options: the defaults, then those of the platform's file, then the settings. A
// combination that makes no sense is a mistake in the settings if it made sense before them.
func (l *loader) set() error {
	o := &l.options
	chosen := chooseCollectives(l.header)
	o.Network.CollSelector = chosen.Value
	if err := o.Network.ApplyConfig(l.machine.Platform); err != nil {
		return err
	}
	// If the options do not fit together even without the settings, the error is one of the platform.
	before := o.Validate()
	// smpirun sets the network model of SMPI on SimGrid's command line, where it wins over the
	// platform: a platform that asks for another one is played otherwise there.
	smpirun := o.Network
	if err := smpirun.Set("network/model", "SMPI"); err == nil && smpirun.Model != o.Network.Model &&
		!l.sets("network/model") && !l.sets("host/model") {
		l.odd = append(l.odd, warning.New("%s asks for the network model %v, which is played: smpirun would play %v, whatever a platform asks for; network/model:SMPI (replay --network smpi) does that here", l.spec.Platform, o.Network.Model, smpirun.Model))
	}
	for _, s := range l.spec.Settings {
		if err := o.Network.Set(s.Name, s.Value); err != nil {
			return &SettingError{"cfg", err}
		}
		// An unknown algorithm in a platform's file is no error where nobody calls the operation; in a setting it is.
		name := strings.TrimSpace(s.Value)
		operation, ok := strings.CutPrefix(smpi.OptionName(s.Name), "smpi/")
		if known := collective.Algorithms(operation); ok && known != nil && !slices.Contains(known, name) {
			return &SettingError{"cfg", fmt.Errorf("algorithm %s of %s, known are %s", textutil.Quote(name), operation,
				strings.Join(known, ", "))}
		}
	}
	l.collectives(chosen)
	l.placement()
	if err := l.memory(); err != nil {
		return err
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

// warnings returns all that is odd about the machine that was loaded. Where it is not known
// beforehand whether the trace polls, the result warns of the cost of polls.
func (l *loader) warnings() []warning.Warning {
	m, o, p := &l.machine, &l.options.Network, l.machine.Platform

	// Polls cost SimGrid's default, which was measured on no machine, if the platform is a file and
	// neither that nor the settings state a cost. Built-in machines are as they were published.
	const cost = "smpi/iprobe"
	if !l.builtin && !l.platformSets(cost) && !l.sets(cost) {
		grows, and := "", ""
		if o.GrowInjectedTimes {
			grows, and = " and more with each miss", " and smpi/grow-injected-times:no"
		}
		w := warning.New("a poll costs SimGrid's default of %g s%s: set smpi/iprobe:SECONDS%s for predictions (docs/replay.md#polls)",
			o.IprobeCost, grows, and).As(warning.Choice)
		if l.polls {
			l.chosen = append(l.chosen, w)
		} else {
			m.pollCost = []warning.Warning{w}
		}
	}
	list := slices.Concat(l.chosen, l.odd, netmodel.Windowed(p, &o.Options, m.Hosts))

	// Ranks share cores. Kernels in seconds are not slowed down by that.
	if host, ranks, ok := m.Oversubscribed(); ok {
		ph, shares := p.Host(int(host)), ", which they share"
		if names := m.kernelsIn(kernels.Seconds, l.called, host); len(names) > 0 {
			shares = fmt.Sprintf(", and %s is not slowed down by that: models in seconds take theirs, only those in flop share the cores", andOthers(names))
		}
		list = append(list, warning.New("host %s runs %s on %s%s", ph.Name, textutil.Count(ranks, "rank"),
			textutil.Count(ph.Cores, "core"), shares))
	}
	noFlops := l.spec.ComputeScale != 0 && l.noFlops
	compute := warning.New("compute-scale changes nothing: the trace has no computations in flop, and kernels take what their models say")
	if m.Kernels == nil {
		if noFlops {
			list = append(list, compute)
		}
		return warning.Join(list)
	}

	// Models for hosts that the platform does not have. A built-in set of models may be for more hosts
	// than the platform has, as long as some are there.
	unknown, some := m.Kernels.Unmatched(func(yield func(string) bool) {
		for i := 0; i < p.NumHosts() && yield(p.Host(i).Name); i++ {
		}
	})
	switch {
	case len(unknown) == 0 || some && !regular.IsFile(l.spec.Kernels):
	case !some:
		list = append(list, warning.New("%s has models for hosts by name, but none is a host of %s, whose first is %q", l.spec.Kernels,
			l.spec.Platform, p.Host(0).Name))
	default:
		text := ""
		for _, name := range unknown[:min(len(unknown), mostUnknown)] {
			text += ", " + textutil.Quote(name)
		}
		if more := len(unknown) - mostUnknown; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		list = append(list, warning.New("%s has models for hosts that %s does not have: %s", l.spec.Kernels, l.spec.Platform, text[2:]))
	}

	// Kernels in flop go by a speed that is not that of the cores.
	if p.NominalSpeed() {
		if names := m.kernelsIn(kernels.Flop, l.called, m.Hosts[0]); len(names) > 0 {
			list = append(list, warning.New("the speed of %s's hosts, %.4g flop/s, is nominal, but %s of %s goes by it: the machine's own models, %s, are in seconds",
				l.spec.Platform, p.Host(0).Speed, andOthers(names), l.spec.Kernels, l.spec.Platform))
		}
	}

	// Kernels without a model on some or all hosts. Whether they are called where there is none, and
	// of a stream whether they are called at all, is not known before the end; a file is refused.
	var nowhere, somewhere []string // each once
	classes := map[kernels.Class]kernels.Host{}
	for _, h := range slices.Compact(slices.Sorted(slices.Values(m.Hosts))) {
		ph := p.Host(int(h))
		host := kernels.Host{Name: ph.Name, Speed: ph.Speed}
		classes[m.Kernels.Class(host)] = host
	}
	for i := range l.called {
		sig, models := SignatureOf(&l.called[i]), 0
		for _, host := range classes {
			if _, err := m.Kernels.Bind(host, sig); err == nil {
				models++
			}
		}
		names := &somewhere
		if models == 0 {
			names = &nowhere
		}
		if models < len(classes) && !slices.Contains(*names, sig.Name) {
			*names = append(*names, sig.Name)
		}
	}
	if len(nowhere) > 0 && l.streams {
		list = append(list, warning.New("%s has no model for %s, which the trace declares: the replay ends where it is called", l.spec.Kernels, andOthers(nowhere)).As(warning.Risk))
	}
	if len(somewhere) > 0 {
		list = append(list, warning.New("%s has a model for %s on some of the hosts only: the replay ends where it is called on another one", l.spec.Kernels, andOthers(somewhere)).As(warning.Risk))
	}

	// Kernels in seconds do not follow the speed of a host that changes, nor a profile that is one
	// constant factor. The first such host stands for all.
	for _, use := range p.Profiles() {
		if use.Kind == platforms.HostSpeed && slices.Contains(m.Hosts, use.Host) {
			if names := m.kernelsIn(kernels.Seconds, l.called, use.Host); len(names) > 0 {
				list = append(list, warning.New("the speed of host %q has a profile, which %s does not follow: models in seconds are measured times, only those in flop go by the speed", use.Target, andOthers(names)))
				break
			}
		}
	}
	for _, use := range p.ConstantSpeeds() {
		if slices.Contains(m.Hosts, use.Host) {
			if names := m.kernelsIn(kernels.Seconds, l.called, use.Host); len(names) > 0 {
				list = append(list, warning.New("host %q has %g of its speed, which %s does not follow: models in seconds are measured times, only those in flop go by the speed; replay --host-speed scales both", use.Target, use.Factor(), andOthers(names)))
				break
			}
		}
	}
	if noFlops {
		list = append(list, compute)
	}
	return warning.Join(list)
}

// mostUnknown is how many names of hosts a warning lists.
const mostUnknown = 5

// andOthers names the first of one or more kernels and says how many others there are.
func andOthers(names []string) string {
	if len(names) == 1 {
		return "kernel " + names[0]
	}
	return fmt.Sprintf("kernel %s (and %s)", names[0], textutil.Count(len(names)-1, "other"))
}
