package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/smpi"
	"reprise/trace"
	"reprise/tracegen/programs"
)

// Setting is a parameter of the program, of the machine or of the replay, or a simulator option,
// with its value as a person writes it.
type Setting struct {
	Word  string `json:"word"`
	Value string `json:"value"`
}

// Sets returns the names of everything that a setting sets ([replay.Sets]).
func (s *Setting) Sets() []string { return replay.Sets(s.Word, s.Value) }

// Config is a configuration: all that a run depends on, but for its seed and its tolerance.
type Config struct {
	Run     programs.Run
	Machine replay.MachineSpec
}

// ownKernels is a setting behind that of a platform: the kernel models that go with it. Whether
// the name of a platform is that of a file is known only where the study is planned.
const ownKernels = "kernels of the platform"

// parameters are those of a study: of its program, and of every machine and replay.
type parameters struct{ program *programs.Program }

// ofProgram returns the program's parameter of a name, nil if there is none.
func (p parameters) ofProgram(name string) *programs.Parameter {
	if p.program == nil {
		return nil
	}
	list := p.program.Parameters
	if i := slices.IndexFunc(list, func(p programs.Parameter) bool { return p.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// OfMachine reports whether a parameter is one of the machine or of the replay.
func OfMachine(name string) bool { return replay.FindParameter(name) != nil }

// machineNames are the names of the parameters of machines and replays, which stand beside the
// program's in a study's file.
func machineNames() []string {
	var names []string
	for _, p := range replay.Parameters() {
		names = append(names, p.Name)
	}
	return names
}

// known returns an error with the nearest name unless there is a parameter of a name.
func (p parameters) known(name string) error {
	if strings.Contains(name, "/") || name == ownKernels || p.ofProgram(name) != nil || OfMachine(name) {
		return nil
	}
	// The error lists all parameters, and the most similar one.
	var names []string
	of := "the machine or the replay"
	if p.program != nil && len(p.program.Parameters) > 0 {
		of = "tracegen " + p.program.Name + ", of the machine or of the replay"
		for _, par := range p.program.Parameters {
			names = append(names, par.Name)
		}
	}
	names = append(names, machineNames()...)
	near := ""
	if n := textutil.Nearest(name, names); n != "" {
		near = ", did you mean " + n + "?"
	}
	return fmt.Errorf("no parameter of %s is called %s%s; there are %s, and simulator options such as smpi/iprobe", of,
		textutil.Quote(name), near, strings.Join(names, ", "))
}

// set sets a parameter of the machine or of the replay, or a simulator option, in m, the kernel
// models of a platform in own, and checks a parameter of the program.
func (p parameters) set(m *replay.MachineSpec, own *string, s Setting) (err error) {
	if err := p.known(s.Word); err != nil {
		return err
	}
	if s.Word == ownKernels {
		*own = s.Value
		return nil
	}
	par := p.ofProgram(s.Word)
	switch {
	case strings.Contains(s.Word, "/"):
		o := smpi.DefaultOptions()
		if err = o.Set(s.Word, s.Value); err == nil {
			m.SetOption(s.Word, s.Value)
		}
	case par != nil:
		_, err = par.Canonical(s.Value)
	default:
		err = replay.FindParameter(s.Word).Set(m, s.Value)
		if err == nil && isInline("kernels", s.Value) && s.Word == "kernels" { // platforms are checked by Set
			_, err = sampleOf(s.Value)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.Word, err)
	}
	return err
}

// CheckSetting checks a setting of a program by itself.
func CheckSetting(program string, s Setting) error {
	return parameters{programs.Find(program)}.set(&replay.MachineSpec{}, new(string), s)
}

// canonical returns a text that settings have in common if they are the same in other spellings.
// The settings have been checked.
func (p parameters) canonical(list []Setting) string {
	// A text rather than a struct, as it is the key of maps.
	m, own, text := &replay.MachineSpec{}, "", ""
	// Values of the program as it writes them, the machine as a struct, and options as the simulator has
	// them: 1e-6 and 0.000001 are one value.
	o := smpi.DefaultOptions()
	for _, s := range list {
		if par := p.ofProgram(s.Word); par != nil {
			value, _ := par.Canonical(s.Value)
			text += fmt.Sprintf("%s %s\n", s.Word, value)
		}
		_ = p.set(m, &own, s)
	}
	for _, s := range m.Settings {
		_ = o.Set(s.Name, s.Value)
	}
	m.Settings = nil
	return fmt.Sprintf("%s%#v %s %v", text, *m, own, o.Settings()) // %#v: as it is, whatever it prints as
}

// config returns the configuration of settings, of which later ones override earlier ones; all
// else is as the commands have it by default.
func (p parameters) config(settings []Setting) (*Config, error) {
	// The order of the settings matters: those of factors come behind the fixed ones, and override
	// them.
	c, own := &Config{}, ""
	m := &c.Machine
	var given []trace.Param
	for _, s := range settings {
		if err := p.set(m, &own, s); err != nil {
			return nil, err
		}
		if p.ofProgram(s.Word) != nil {
			given = append(given, trace.Param{Name: s.Word, Value: s.Value})
		}
	}
	// Without a platform the generic one, and its kernel models unless others are set.
	if m.Platform == "" {
		m.Platform, own = "default", "default"
	}
	m.Kernels = cmp.Or(m.Kernels, own)
	var err error
	c.Run, err = p.program.New(given)
	return c, err
}
