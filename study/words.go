package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/internal/bounds"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/machines"
	"reprise/replay"
	"reprise/smpi"
	"reprise/tracegen/hpl"
)

// Setting is a word of tracegen hpl or of replay with its value, as a person writes it.
type Setting struct {
	Word  string `json:"word"`
	Value string `json:"value"`
}

// Config is a configuration: all that a run depends on, but for its seed and its tolerance.
type Config struct {
	HPL        hpl.Params
	FirstSteps int // so many panels are factored only; 0: all, and the system is solved
	Machine    Machine
}

// Machine says what a trace is played on, by names of files and of what is built in.
type Machine struct {
	Platform, Kernels, NetworkNoise, Hostfile string

	ownKernels   string // of the platform, where Kernels is ""
	RanksPerHost int
	HostSpeeds   []replay.HostSpeed
	Without      []string      // patterns of hosts
	Slowest      int           // so many hosts are left out as well, the slowest
	KernelNoise  []KernelNoise // of several for a kernel the last counts
	Bandwidth    []LinkFactor  // of several for a link the last counts
	Latency      []LinkFactor
	Options      []replay.Property
}

// LinkFactor is how many times its bandwidth or latency a link has, by the level of links that
// it belongs to ([platforms.Platform.Levels]).
type LinkFactor struct {
	Pattern string
	Factor  float64
}

// KernelNoise is noise of kernels in place of what their models say: half-normal, with a
// standard deviation relative to their mean times.
type KernelNoise struct {
	Pattern   string
	Deviation float64
}

// word is something that can be set.
type word struct {
	name, doc string
	input     bool // its value is a file or something built in
	set       func(c *Config, value string) error
}

// machineWords are those of replay.
var machineWords = []word{
	{"machine", "machine directory, built-in machine, or the file of a platform", true, func(c *Config, v string) (err error) {
		c.Machine.Platform, c.Machine.Kernels, err = machines.Find(v)
		return err
	}},
	{"platform", "SimGrid XML, a built-in machine, or new with flags of replay platform new", true, func(c *Config, v string) error {
		c.Machine.Platform = v
		return checkDescribed("platform", v)
	}},
	{"kernels", "kernel models, a built-in set, or hosts with flags of calibrate hosts --draw", true, func(c *Config, v string) error {
		c.Machine.Kernels = v
		return checkDescribed("kernels", v)
	}},
	{"network-noise", "noise in overheads and latencies", true, func(c *Config, v string) error {
		c.Machine.NetworkNoise = v
		return nil
	}},
	{"hostfile", "where the ranks are", true, func(c *Config, v string) error {
		c.Machine.Hostfile = v
		return nil
	}},
	{"ranks-per-host", "consecutive ranks on each host", false, func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return fmt.Errorf("%s, want a positive number", textutil.Quote(v))
		}
		c.Machine.RanksPerHost = n
		return nil
	}},
	{"host-speed", "PATTERN=FACTOR: hosts that compute quicker or slower; several with blanks between", false, func(c *Config, v string) error {
		c.Machine.HostSpeeds = nil
		for _, text := range strings.Fields(v) {
			s, err := replay.ParseHostSpeed(text)
			if err != nil {
				return err
			}
			c.Machine.HostSpeeds = append(c.Machine.HostSpeeds, s)
		}
		return nil
	}},
	{"without", "patterns of hosts that get no ranks, with blanks between, or slowest N; none: all get some", false, func(c *Config, v string) error {
		return c.Machine.leaveOut(v)
	}},
	{"kernel-noise", "PATTERN=PERCENT: half-normal noise of kernels with that standard deviation, in place of what their models say; several with blanks between", false, func(c *Config, v string) (err error) {
		c.Machine.KernelNoise, err = parseKernelNoise(v)
		return err
	}},
	{"bandwidth", "FACTOR of the bandwidth of all links, or LEVEL=FACTOR of those of a level, as replay platform lists them", false, func(c *Config, v string) (err error) {
		c.Machine.Bandwidth, err = parseLinkFactors(v)
		return err
	}},
	{"latency", "likewise, of the latency", false, func(c *Config, v string) (err error) {
		c.Machine.Latency, err = parseLinkFactors(v)
		return err
	}},
	{"network", "model of the network: smpi, lv08, cm02 or contention-free", false, func(c *Config, v string) error {
		list, err := replay.NetworkSettings(v)
		for _, p := range list {
			c.Machine.setOption(p)
		}
		return err
	}},
}

// leaveOut reads "none", patterns of hosts, or "slowest 4".
func (m *Machine) leaveOut(text string) error {
	m.Without, m.Slowest = nil, 0
	words := strings.Fields(text)
	switch {
	case text == "none":
		return nil
	case len(words) == 2 && words[0] == "slowest":
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 0 {
			return fmt.Errorf("slowest %s, want a number of hosts", textutil.Quote(words[1]))
		}
		m.Slowest = n
		return nil
	}
	for _, w := range words {
		if _, err := textutil.ParsePattern(w); err != nil {
			return err
		}
	}
	m.Without = words
	return nil
}

// parseKernelNoise reads dgemm=4%; several with blanks between.
func parseKernelNoise(text string) ([]KernelNoise, error) {
	var list []KernelNoise
	for _, part := range strings.Fields(text) {
		name, share, both := strings.Cut(part, "=")
		if !both {
			return nil, fmt.Errorf("%s, want KERNEL=PERCENT, such as dgemm=3%%", textutil.Quote(part))
		}
		if _, err := textutil.ParsePattern(name); err != nil {
			return nil, err
		}
		v, err := textutil.ParsePercent(share, "the time", true)
		if err != nil {
			return nil, err
		}
		list = append(list, KernelNoise{name, v})
	}
	return list, nil
}

// parseLinkFactors reads 2, or "*: switch to switch=2"; several with commas between.
func parseLinkFactors(text string) ([]LinkFactor, error) {
	var list []LinkFactor
	for _, part := range strings.Split(text, ",") {
		f := LinkFactor{Pattern: "*"}
		number := strings.TrimSpace(part)
		if at := strings.LastIndexByte(number, '='); at >= 0 {
			f.Pattern, number = strings.TrimSpace(number[:at]), number[at+1:]
		}
		if _, err := textutil.ParsePattern(f.Pattern); err != nil {
			return nil, err
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return nil, fmt.Errorf("%s, want a factor, or LEVEL=FACTOR", textutil.Quote(part))
		}
		if err := bounds.Factor.Check("factor", v); err != nil {
			return nil, err
		}
		f.Factor = v
		list = append(list, f)
	}
	return list, nil
}

// setOption sets a simulator option, in place of what it was.
func (m *Machine) setOption(p replay.Property) {
	m.Options = slices.DeleteFunc(m.Options, func(o replay.Property) bool { return o.Name == p.Name })
	m.Options = append(m.Options, p)
}

// programWords are those of tracegen hpl.
func programWords() []word {
	var list []word
	for _, par := range hpl.Parameters() {
		list = append(list, word{par.Name, par.Doc, false, func(c *Config, v string) error { return par.Set(&c.HPL, v) }})
	}
	return append(list,
		word{"copy-l", "HPL is built with HPL_COPY_L: yes or no", false, func(c *Config, v string) error {
			switch v {
			case "yes", "no":
				c.HPL.CopyL = v == "yes"
				return nil
			}
			return fmt.Errorf("%s, want yes or no", textutil.Quote(v))
		}},
		word{"pivots", "random, lu or none", false, func(c *Config, v string) error { return c.HPL.Pivots.Set(v) }},
		word{"first-steps", "so many panels only, which tell how a long run begins; all: the whole run", false, func(c *Config, v string) error {
			n, err := strconv.Atoi(v)
			if v != "all" && (err != nil || n < 1) {
				return fmt.Errorf("%s, want a positive number of panels, or all", textutil.Quote(v))
			}
			c.FirstSteps = n
			return nil
		}},
		word{pivotSeed, "of random pivots", false, func(c *Config, v string) error {
			seed, err := strconv.ParseUint(v, 10, 64)
			if err != nil {
				return fmt.Errorf("%s, want a whole number of at least 0", textutil.Quote(v))
			}
			c.HPL.Pivots.Seed = seed
			return nil
		}},
	)
}

// pivotSeed is the seed of tracegen hpl. That of replay is a key of its own.
const pivotSeed = "pivot-seed"

// option returns the word of a simulator option, whose names have a slash.
func option(name string) word {
	return word{name, "a simulator option", false, func(c *Config, v string) error {
		o := smpi.DefaultOptions()
		if err := o.Set(name, v); err != nil {
			return err
		}
		c.Machine.setOption(replay.Property{Name: smpi.OptionName(name), Value: v})
		return nil
	}}
}

// words are all but the options.
var words = sync.OnceValue(func() []word { return append(programWords(), machineWords...) })

// findWord returns a word by its name. Those of HPL are found in any case.
func findWord(name string) (word, error) {
	switch {
	case strings.Contains(name, "/"):
		return option(name), nil
	case name == ownKernels:
		return word{name, "", false, func(c *Config, v string) error { c.Machine.ownKernels = v; return nil }}, nil
	}
	all := words()
	if i := slices.IndexFunc(all, func(w word) bool { return w.name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, w := range all {
		names = append(names, w.name)
	}
	near := ""
	if n := textutil.Nearest(name, names); n != "" {
		near = ", did you mean " + n + "?"
	}
	return word{}, fmt.Errorf("no parameter of tracegen hpl or of the machine is called %s%s; there are %s, and simulator options such as smpi/iprobe", textutil.Quote(name), near, strings.Join(names, ", "))
}

// Check checks a setting by itself.
func (s *Setting) Check() error {
	w, err := findWord(s.Word)
	if err == nil {
		if err = w.set(&Config{}, s.Value); err != nil {
			err = fmt.Errorf("%s: %w", s.Word, err)
		}
	}
	return err
}

// Sets returns what a setting sets: its word, of a simulator option the name that it has now, and for a
// model of the network the options that it stands for as well.
func (s *Setting) Sets() []string {
	switch {
	case strings.Contains(s.Word, "/"):
		return []string{smpi.OptionName(s.Word)}
	case s.Word == "network":
		names := []string{s.Word}
		list, _ := replay.NetworkSettings(s.Value) // that it is one is checked elsewhere
		for _, p := range list {
			names = append(names, p.Name)
		}
		return names
	}
	return []string{s.Word}
}

// valueOf returns a text that settings have in common if they are the same in other spellings.
func valueOf(list []Setting) string {
	c, o := &Config{}, smpi.DefaultOptions()
	for _, s := range list { // that each can be set is checked before
		w, _ := findWord(s.Word)
		_ = w.set(c, s.Value)
	}
	for _, p := range c.Machine.Options {
		_ = o.Set(p.Name, p.Value)
	}
	c.Machine.Options = nil
	return fmt.Sprintf("%#v %v", *c, o.Settings()) // %#v: as it is, whatever it prints as
}

// ConfigOf returns the configuration of settings, of which later ones go before earlier ones;
// what none says is as the commands have it by default.
func ConfigOf(settings []Setting) (*Config, error) {
	c := &Config{}
	for _, s := range settings { // of the machine, first
		if w, err := findWord(s.Word); err != nil {
			return nil, err
		} else if err := w.set(c, s.Value); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Word, err)
		}
	}
	p, err := hpl.WithDefaults(func(p *hpl.Params) error {
		only := &Config{HPL: *p}
		for _, s := range settings {
			w, _ := findWord(s.Word)
			if err := w.set(only, s.Value); err != nil {
				return fmt.Errorf("%s: %w", s.Word, err)
			}
		}
		*p, c.FirstSteps = only.HPL, only.FirstSteps
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.HPL = p
	c.Machine.complete()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if c.FirstSteps >= p.Steps() { // all of them
		c.FirstSteps = 0
	}
	return c, nil
}

// ownKernels is a setting behind that of a platform: the kernel models that go with it. Whether
// a name is that of a file is known where the study is planned only.
const ownKernels = "kernels of the platform"

// kernelsOf returns the kernel models of a platform as replay has them: those of a built-in
// machine, for a file the generic ones. Found is where the platform is, if it is a file.
func kernelsOf(platform, found string) string {
	if _, ok := described("platform", platform); ok || regular.IsFile(found) {
		return "default"
	}
	return platform
}

// complete names what the settings leave open, as replay does.
func (m *Machine) complete() {
	if m.Platform == "" {
		m.Platform, m.ownKernels = "default", "default"
	}
	if m.Kernels == "" {
		m.Kernels = m.ownKernels
	}
}

// OfMachine reports whether a word is one of the machine, which stands beside the parameters in a
// study's file.
func OfMachine(word string) bool { return isMachineWord(word) }
