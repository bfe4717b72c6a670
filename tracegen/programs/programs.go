// Package programs has the programs whose traces can be generated, and traces that are files, behind one
// interface for those who run any of them: studies.
//
//	p := programs.Find("hpcg")
//	run, err := p.New([]trace.Param{{Name: "ranks", Value: "4"}, {Name: "nx", Value: "16"}})
//	text, err := run.Trace(ctx, "my tool")
//
// A further program is a further entry of [All]; nobody else needs to know it.
//
// # Units
//
// Flop counts are in flop, not in 1e9.
//
// # Errors
//
// Errors of parameters begin with the name of the parameter.
//
// # Source
//
// The packages of the programs: tracegen/hpl, tracegen/hpcg.
package programs

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"reprise/smpi/option"
	"reprise/trace"
)

// Program is a program with parameters, or a trace without.
type Program struct {
	Name       string // as files of studies name it
	Title      string // for messages
	Parameters []Parameter
	// New returns the run of parameters, each by the text of its value; of several values for one the last
	// counts. All else is as the program's own command has it by default.
	New func(given []trace.Param) (Run, error)

	// SeedName is the name of the parameter that the program's own command calls seed, which of a study is
	// that of noise; "": there is none.
	SeedName string
	// DatName is the name of the program's own input file, such as hpl-dat; "": there is none that ReadDat reads.
	DatName string
	// ReadDat returns the lists of parameters in such a file; the name is for messages.
	ReadDat func(text []byte, name string) ([]List, error)
}

// Parameter is a parameter of a program.
type Parameter struct {
	Name, Doc string
	// Canonical checks a value, and returns a text that is the same for equal values.
	Canonical func(value string) (string, error)
}

// List is values of parameters that change together.
type List struct {
	Names  []string
	Values [][]string // of these, each time
}

// Run is a program with all its parameters.
type Run interface {
	// Identity returns all that the trace depends on. Results of studies are found by it: names and order never
	// change.
	Identity() []trace.Param
	Ranks() int
	// Flops returns the operations that the program counts; 0: none.
	Flops() float64
	// Size returns about how many steps the run has, and how many messages each: what a replay costs goes by that.
	Size() (steps, messages float64)
	// Reseeded returns the run with other random choices of the program itself, such as pivots, for each n > 0, if
	// it makes any.
	Reseeded(n uint64) Run
	// Outline returns what is known of the trace before it is made: ranks and kernels at least.
	Outline() (Outline, error)
	// Trace returns the trace, as a file has it.
	Trace(ctx context.Context, tool string) ([]byte, error)
}

// Outline is a trace, or its header alone.
type Outline interface{ Header() *trace.Header }

type headerOnly struct{ header trace.Header }

func (h *headerOnly) Header() *trace.Header { return &h.header }

// All returns the programs that have a name.
func All() []*Program { return []*Program{newHPL(), newHPCG()} }

// Find returns the program of a name, nil if there is none.
func Find(name string) *Program {
	all := All()
	if i := slices.IndexFunc(all, func(p *Program) bool { return p.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// parameter makes a parameter of an option.
func parameter[T any](o option.Option[T], doc string) Parameter {
	return Parameter{o.Name, doc, func(value string) (string, error) {
		var v T
		err := o.Set(&v, value)
		return fmt.Sprintf("%#v", v), err
	}}
}

// File returns a trace that is a file, whose text is given, as a program without parameters.
func File(name string, text []byte) (*Program, error) {
	f := &file{name: name, text: text}
	t, err := f.open()
	if err != nil {
		return nil, err
	}
	f.header = *t.Header()
	// Items of the file stand for messages: both go with the cost of a replay.
	totals, _ := t.Totals()
	f.steps = float64(max(1, f.header.Steps))
	f.messages = float64(totals.Items) / f.steps
	return &Program{Name: name, Title: name, New: func([]trace.Param) (Run, error) { return f, nil }}, t.Close()
}

// file is the run of a trace that is a file. What its trace depends on is its text, which studies name themselves.
type file struct {
	name            string
	text            []byte
	header          trace.Header
	steps, messages float64
}

// open reads the trace anew: each call has its own cursors.
func (f *file) open() (*trace.Trace, error) {
	return trace.NewReaderAt(bytes.NewReader(f.text), int64(len(f.text)), f.name)
}

func (f *file) Identity() []trace.Param                       { return nil }
func (f *file) Ranks() int                                    { return f.header.Ranks }
func (f *file) Flops() float64                                { return f.header.Flops }
func (f *file) Size() (steps, messages float64)               { return f.steps, f.messages }
func (f *file) Reseeded(uint64) Run                           { return f }
func (f *file) Trace(context.Context, string) ([]byte, error) { return f.text, nil }
func (f *file) Outline() (Outline, error)                     { return f.open() }
