// Package study makes many replays for one question: which levels of which factors give which makespan.
//
// A file says what is varied (docs/studies.md, [Load]). A [Plan] has its runs, in a directory
// that any number of workers share ([Plan.Work]); the results are a [Table].
//
//	s, err := study.Load("nb.yaml")
//	plan, err := study.NewPlan(s, version)
//	found, err := plan.Create("nb")               // or study.Open("nb", version)
//	work, err := plan.Work(ctx, study.WorkOptions{Jobs: 4, Lease: 30 * time.Second})
//	results := plan.NewResults()
//	err = results.Update()
//	table := plan.NewTable(results)
//
// An [Evaluator] makes one run of any configuration, for callers who choose the next run by the
// last, as package tune. Package report sums up results, package slurm starts workers, package
// estimates shares one large estimate. The package knows programs by package tracegen/programs
// only, and machines and replays by the table of parameters of package replay.
//
// # Directory
//
//	plan.json            the plan: factors, inputs, and each run with its ID; never changes
//	inputs/HASH.xml      copies of the files that runs depend on, by the hash of their content
//	workers/NAME         a worker that lives: two lines, "held" and itself as JSON; written to
//	                     again four times a lease, removed when the worker leaves
//	leases/ID.K          the K-th lease of a run, K = 1, 2 ...: two lines, "held" or "free", and its
//	                     worker as JSON; created exclusively; that of the largest K counts; removed
//	                     once the run is done
//	journals/NAME.jsonl  the results of a worker: a line for each run that has ended, an [Entry];
//	                     appended to by that worker alone, with the first 16 digits of the SHA-256 of
//	                     the line without it as the last field, "sum"; a torn last line does not count,
//	                     nor does a line with another checksum or without a figure, which is reported
//	checkpoints/ID       state of a long exact replay that was interrupted; removed once it is done
//	table.csv            all rows in the order of the design, written by the worker that ends the study
//	table.parquet        the same
//
// A run is named by its ID, 20 hexadecimal digits of the hash of all that its result depends on: version of Reprise,
// parameters of the trace, bytes of platform and kernel models, options, tolerance, seed. A worker takes a lease, looks
// whether the run has been done meanwhile, makes it, appends the result to its journal, and removes the lease. A run
// with a line in a journal is done, whatever leases say; a run without a line, and without a lease of a living worker,
// is free.
//
// # Units
//
// Times are in seconds, rates in Gflop/s, memory in bytes; names of columns have the unit.
//
// # Errors
//
// Errors of a study's file have the line. A run that fails is no error: its row has the reason.
// Directories of another study or of another version of Reprise are refused.
//
// # Source
//
// Designs: package design. Leases: package workqueue. Common random numbers: Law, Simulation
// Modeling and Analysis, chapter 11.
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

// Names of responses in files.
const (
	responsePath = "critical-path"
	responsePOP  = "pop"
)

// Study is the content of a study's file.
type Study struct {
	File      string // its name, for messages
	Program   string // hpl, hpcg, or the file of a trace, by its name in the study's file
	Fixed     []Setting
	Factors   []Factor
	Rows      [][]int // of the design: a level of each factor
	Design    string  // name of the design, for people
	Tolerance float64 // half-width of each estimate's interval, relative; 0: exact
	Seeds     []uint64
	Responses Responses

	parameters
	trace *Input // of which all runs are replays; nil: the program makes their traces
}

// Responses are further results of each run, which take longer.
type Responses struct {
	CriticalPath bool `json:"critical_path,omitempty"` // parts of the longest chain of computations and messages
	POP          bool `json:"pop,omitempty"`           // POP's efficiencies, by two further replays
}

// Factor is something that is varied.
type Factor struct {
	Name   string  `json:"name"`
	Levels []Level `json:"levels"`
	// Range: levels are places of a range of numbers, in the order in which they come.
	Range bool `json:"range,omitempty"`
}

// Level is one of the values of a factor.
type Level struct {
	Label    string    `json:"label"`
	Settings []Setting `json:"settings"`
}

// settings returns the settings of a row of a design. Later ones override earlier ones.
func settings(fixed []Setting, factors []Factor, row []int) []Setting {
	list := slices.Clone(fixed)
	for f, level := range row {
		list = append(list, factors[f].Levels[level].Settings...)
	}
	return list
}

// factorNames returns the names of factors.
func factorNames(factors []Factor) []string {
	return mapped(factors, func(f Factor) string { return f.Name })
}

// mapped returns what a function makes of each element of a list: nil of an empty one.
func mapped[S, T any](list []S, of func(S) T) (all []T) {
	for _, v := range list {
		all = append(all, of(v))
	}
	return all
}

// describe names the levels of a row, as "NB 64, DEPTH 0".
func describe(factors []Factor, row []int) string {
	var parts []string
	for f, level := range row {
		parts = append(parts, factors[f].Name+" "+factors[f].Levels[level].Label)
	}
	if len(parts) == 0 {
		return "without factors"
	}
	return strings.Join(parts, ", ")
}

// errorOf adds the row of the design to an error.
func (s *Study) errorOf(row int, err error) error {
	return fmt.Errorf("%s: run %d (%s): %w", s.File, row+1, describe(s.Factors, s.Rows[row]), textutil.OneLine(err))
}

// Config returns the configuration of a row of the design.
func (s *Study) Config(row int) (*Config, error) {
	c, err := s.config(settings(s.Fixed, s.Factors, s.Rows[row]))
	if err != nil {
		return nil, s.errorOf(row, err)
	}
	return c, nil
}

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
	Run     *programs.Run
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
	return mapped(replay.Parameters(), func(p replay.Parameter) string { return p.Name })
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
		names = mapped(p.program.Parameters, func(par programs.Parameter) string { return par.Name })
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
	// The order of the settings matters: those of factors come behind the fixed ones, and override them.
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
