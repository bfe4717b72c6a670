package replay

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/bounds"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/platforms"
	"reprise/platforms/compose"
	"reprise/smpi"
)

// Parameter is what a user can set about a machine or its replay by one name and one text: as a flag of replay
// (--name), or as a key or a factor of a study or sweep. Only the table below (parameters) knows how a text becomes a
// field of MachineSpec and back. Simulator options, whose names have a slash, are no parameters:
// [MachineSpec.SetOption] sets them.
type Parameter struct {
	Name    string
	Usage   string // for help, the name of the value in backquotes
	Default string // for help
	File    bool   // the value names a file or something built in
	Switch  bool   // the value is yes or no; a flag has none
	Between string // what stands between several values, of which a flag takes one each time; "": there is one
	// Set sets the parameter by the text of its value, in place of what it was.
	Set func(s *MachineSpec, value string) error
	// Get returns the values that are set, one by one; nil: none, or a file. Results of studies are found by
	// them: their form never changes.
	Get func(s *MachineSpec) []string
}

// Parameters returns the parameters of machines and replays, in the order of help.
func Parameters() []Parameter { return parameters }

// FindParameter returns the parameter of a name, nil if there is none.
func FindParameter(name string) *Parameter {
	if i := slices.IndexFunc(parameters, func(p Parameter) bool { return p.Name == name }); i >= 0 {
		return &parameters[i]
	}
	return nil
}

// parameters are in the order of help. Names, the form of values and the order of those with Get are part
// of what studies keep: they never change.
var parameters = []Parameter{
	file("machine", "machine directory `DIR`, with platform.xml and kernels.yaml, or a built-in machine, in place of platform and kernels", "",
		func(s *MachineSpec) *string { return &s.Machine }),
	inline(file("platform", "SimGrid XML `FILE`, a built-in machine ("+strings.Join(platforms.BuiltinNames(),
		", ")+"), or new with the options of replay platform new, such as 'new --nodes 64'", "default, sized to the ranks",
		func(s *MachineSpec) *string { return &s.Platform })),
	file("kernels", "kernel models, YAML `FILE`, or a built-in set: "+strings.Join(kernels.BuiltinNames(), ", "),
		"those of the built-in machine; of a platform's file, default",
		func(s *MachineSpec) *string { return &s.Kernels }),
	file("network-noise", "noise in overheads and latencies, YAML `FILE`", "none",
		func(s *MachineSpec) *string { return &s.NetworkNoise }),
	file("hostfile", "hostfile `FILE` of smpirun, Open MPI, MPICH or Slurm; ranks take its hosts in turn", "",
		func(s *MachineSpec) *string { return &s.Hostfile }),
	{Name: "ranks-per-host", Usage: "`N` consecutive ranks on each host", Default: "ranks_per_host of the machine, else a rank per core until the host is full; of texts of SimGrid as few as fit",
		Set: func(s *MachineSpec, v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 || n > math.MaxInt32 {
				return fmt.Errorf("%s, want a positive number", textutil.Quote(v))
			}
			s.RanksPerHost = n
			return nil
		},
		Get: func(s *MachineSpec) []string { return []string{strconv.Itoa(s.RanksPerHost)} }},
	byPattern("host-speed", "multiply the speed of the hosts of a pattern, `PATTERN=FACTOR`, such as node-[3,17]=0.9, for flop and kernels", " ",
		ParseHostSpeed, func(s *MachineSpec) *[]ByPattern { return &s.HostSpeeds }),
	{Name: "without", Usage: "place no ranks on `HOSTS`, a pattern; 'slowest 4': nor on the four on which dgemm takes longest; none: all hosts may get ranks", Between: " ",
		Set: (*MachineSpec).leaveOut,
		Get: func(s *MachineSpec) []string {
			if s.Slowest > 0 {
				return append(slices.Clone(s.Without), fmt.Sprintf("slowest %d", s.Slowest))
			}
			return s.Without
		}},
	byPattern("kernel-noise", "half-normal noise of the kernels of a pattern in place of their models' noise, `PATTERN=PERCENT` of their mean times, such as dgemm=4%", " ",
		parseKernelNoise, func(s *MachineSpec) *[]ByPattern { return &s.KernelNoise }),
	byPattern("bandwidth", "multiply the bandwidth"+ofLinks, ",", parseLinkFactor, func(s *MachineSpec) *[]ByPattern { return &s.Bandwidth }),
	byPattern("latency", "multiply the latency"+ofLinks, ",", parseLinkFactor, func(s *MachineSpec) *[]ByPattern { return &s.Latency }),
	{Name: "network", Usage: "`MODEL` of the network: smpi, lv08, cm02, or contention-free, where no message slows another", Default: "as the platform says, else smpi",
		Set: func(s *MachineSpec, v string) error {
			list, err := NetworkSettings(v)
			for _, p := range list {
				s.SetOption(p.Name, p.Value)
			}
			return err
		}},
	{Name: "compute-scale", Usage: "amounts of flop, and computations of recorded programs, take `FACTOR` times as long; kernels keep the times of their models", Default: "1: recorded time plays as recorded",
		Set: func(s *MachineSpec, v string) (err error) {
			if s.ComputeScale, err = strconv.ParseFloat(v, 64); err != nil {
				s.ComputeScale = 0
				return fmt.Errorf("%s, want a number without unit", textutil.Quote(v))
			}
			err = bounds.Factor.Check("factor", s.ComputeScale)
			if s.ComputeScale == 1 {
				s.ComputeScale = 0
			}
			return err
		},
		Get: func(s *MachineSpec) []string { return number(s.ComputeScale) }},
	{Name: "compute-noise", Usage: "draw computations in flop by the spread that the trace states, instead of taking their means", Switch: true,
		Set: func(s *MachineSpec, v string) error {
			if v != "yes" && v != "no" {
				return fmt.Errorf("%s, want yes or no", textutil.Quote(v))
			}
			s.ComputeNoise = v == "yes"
			return nil
		},
		Get: func(s *MachineSpec) []string {
			if s.ComputeNoise {
				return []string{"yes"}
			}
			return nil
		}},
	{Name: "file-bandwidth", Usage: "a rank reads files and writes them at `RATE`, such as 1GBps", Default: "in no time",
		Set: func(s *MachineSpec, v string) (err error) {
			s.FileBandwidth, err = platforms.ParseBandwidth(v)
			return err
		},
		Get: func(s *MachineSpec) []string { return number(s.FileBandwidth) }},
}

// file is a parameter that names a file or something built in, which LoadMachine opens. It has no Get:
// studies tell files apart by their contents.
func file(name, usage, def string, field func(*MachineSpec) *string) Parameter {
	return Parameter{Name: name, Usage: usage, Default: def, File: true, Set: func(s *MachineSpec, v string) error {
		*field(s) = v
		return nil
	}}
}

// inline is a parameter whose value may describe a platform in place of naming it.
func inline(p Parameter) Parameter {
	set := p.Set
	p.Set = func(s *MachineSpec, v string) error {
		if _, _, err := compose.Inline(v); err != nil && !regular.IsFile(v) {
			return err
		}
		return set(s, v)
	}
	return p
}

// ofLinks is what bandwidth and latency say of their values.
const ofLinks = " of all links by `FACTOR`, or by LEVEL=FACTOR that of the links of a level, as replay platform lists them"

// byPattern is a parameter of numbers by patterns, with blanks or commas between.
func byPattern(name, usage, between string, parse func(string) (ByPattern, error),
	field func(*MachineSpec) *[]ByPattern) Parameter {
	return Parameter{
		Name: name, Usage: usage, Between: between,
		Set: func(s *MachineSpec, v string) error {
			*field(s) = nil
			parts := strings.Split(v, between)
			if between == " " {
				parts = strings.Fields(v)
			}
			var list []ByPattern
			for _, text := range parts {
				b, err := parse(text)
				if err != nil {
					return err
				}
				list = append(list, b)
			}
			*field(s) = list
			return nil
		},
		Get: func(s *MachineSpec) []string { return texts(*field(s)) },
	}
}

// texts returns the texts of numbers by patterns, which their parsers would read.
func texts(list []ByPattern) (all []string) {
	for _, v := range list {
		all = append(all, v.String())
	}
	return all
}

// number returns the text of a number, of 0 none.
func number(v float64) []string {
	if v == 0 {
		return nil
	}
	return []string{strconv.FormatFloat(v, 'g', -1, 64)}
}

// leaveOut reads "none", or patterns of hosts and "slowest 4", alone or together.
func (s *MachineSpec) leaveOut(text string) error {
	// The text replaces all that was set before, so that none has an effect.
	s.Without, s.Slowest = nil, 0
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		switch {
		case words[i] == "none" && len(words) == 1:
		case words[i] == "none":
			return fmt.Errorf("%s, want none alone, or hosts", textutil.Quote(text))
		case words[i] == "slowest" && s.Slowest > 0:
			return fmt.Errorf("%s, want one number of the slowest", textutil.Quote(text))
		case words[i] == "slowest" && i+1 < len(words):
			i++
			n, err := strconv.Atoi(words[i])
			if err != nil || n < 0 {
				return fmt.Errorf("slowest %s, want a number of hosts", textutil.Quote(words[i]))
			}
			s.Slowest = n
		default:
			if _, err := textutil.ParsePattern(words[i]); err != nil {
				return err
			}
			s.Without = append(s.Without, words[i])
		}
	}
	return nil
}

// ByPattern is a number for all that a pattern of names fits.
type ByPattern struct {
	Pattern string // as the key host of a kernel file
	Factor  float64
}

// String returns the text that ParseHostSpeed and the parsers of other parameters read.
func (b ByPattern) String() string { return fmt.Sprintf("%s=%g", b.Pattern, b.Factor) }

// HostSpeed has all hosts of a pattern compute so many times as quick as the platform and the kernel models say.
type HostSpeed = ByPattern

// ParseHostSpeed reads PATTERN=FACTOR, such as node-[3,17]=0.9.
func ParseHostSpeed(text string) (HostSpeed, error) {
	pattern, factor, err := textutil.ParsePatternFactor(text)
	return HostSpeed{pattern, factor}, err
}

// parseKernelNoise reads dgemm=4%.
func parseKernelNoise(text string) (ByPattern, error) {
	name, share, both := strings.Cut(text, "=")
	if !both {
		return ByPattern{}, fmt.Errorf("%s, want PATTERN=PERCENT, such as dgemm=3%%", textutil.Quote(text))
	}
	if _, err := textutil.ParsePattern(name); err != nil {
		return ByPattern{}, err
	}
	v, err := textutil.ParsePercent(share, "the time", true)
	return ByPattern{name, v}, err
}

// parseLinkFactor reads 2, or "*: switch to switch=2".
func parseLinkFactor(text string) (ByPattern, error) {
	// The last equals sign ends the name of the level, which may have one itself.
	f, value := ByPattern{Pattern: "*"}, strings.TrimSpace(text)
	if at := strings.LastIndexByte(value, '='); at >= 0 {
		f.Pattern, value = strings.TrimSpace(value[:at]), value[at+1:]
	}
	if _, err := textutil.ParsePattern(f.Pattern); err != nil {
		return f, err
	}
	var err error
	if f.Factor, err = strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
		return f, fmt.Errorf("%s, want a factor, or LEVEL=FACTOR", textutil.Quote(text))
	}
	return f, bounds.Factor.Check("factor", f.Factor)
}

// SetOption sets a simulator option by any of its names, in place of what it was.
func (s *MachineSpec) SetOption(name, value string) {
	name = smpi.OptionName(name)
	s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(o Property) bool { return o.Name == name })
	s.Settings = append(s.Settings, Property{Name: name, Value: value})
}

// Sets returns the names of all that a parameter or a simulator option sets: its own, of an option the
// present one, and of a model of the network those of the options that it stands for.
func Sets(name, value string) []string {
	if strings.Contains(name, "/") {
		return []string{smpi.OptionName(name)}
	}
	names := []string{name}
	if name == "network" {
		list, _ := NetworkSettings(value) // that it is a model is checked where it is set
		for _, p := range list {
			names = append(names, p.Name)
		}
	}
	return names
}

// Values returns what is set besides files, by the names of parameters and of simulator options. Results of
// studies are found by them: their form and their order never change.
func (s *MachineSpec) Values() []Property {
	var list []Property
	for i := range parameters {
		p := &parameters[i]
		if p.Get == nil {
			continue
		}
		for _, v := range p.Get(s) {
			list = append(list, Property{Name: p.Name, Value: v})
		}
	}
	return append(list, s.Settings...)
}

// networks are the simulator options that names of network models stand for.
var networks = map[string]Property{
	"smpi": {Name: "network/model", Value: "SMPI"}, "lv08": {Name: "network/model",
		Value: "LV08"}, "cm02": {Name: "network/model", Value: "CM02"},
	"contention-free": {Name: "reprise/contention", Value: "no"},
}

// NetworkSettings returns the settings that a model of the network stands for: smpi, lv08, cm02, or contention-free.
func NetworkSettings(model string) ([]Property, error) {
	option, ok := networks[strings.ToLower(model)]
	if !ok {
		return nil, fmt.Errorf("%q, want smpi, lv08, cm02 or contention-free", model)
	}
	if option.Name == "network/model" { // not for a platform's host/model:default to overrule
		return []Property{{Name: "host/model", Value: "compound"}, option}, nil
	}
	return []Property{option}, nil
}
