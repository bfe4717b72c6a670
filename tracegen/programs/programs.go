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
// The packages of the programs: tracegen/hpl, tracegen/mxp, tracegen/hpcg.
package programs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"reprise/smpi/option"
	"reprise/trace"
	"reprise/tracegen"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
	"reprise/tracegen/mxp"
)

// Program is a program with parameters, or a trace without.
type Program struct {
	Name       string // as files of studies name it
	Title      string // for messages
	Parameters []Parameter
	// New returns the run of parameters, each by the text of its value; of several values for one the last
	// counts. All else is as the program's own command has it by default.
	New func(given []trace.Param) (*Run, error)

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
	Name string
	// Canonical checks a value, and returns a text that is the same for equal values.
	Canonical func(value string) (string, error)
}

// List is values of parameters that change together.
type List = hpl.List

// Run is a program with all its parameters.
type Run struct {
	HPL  *hpl.Params  // nil: another program
	HPCG *hpcg.Params // likewise

	Ranks int
	Flops float64 // operations that the program counts; 0: none
	// About how many steps the run has, and how many messages each: what a replay costs goes by that.
	Steps, Messages float64
	// Identity returns all that the trace depends on. Results of studies are found by it: names and order never change.
	Identity func() []trace.Param
	// Outline returns what is known of the trace before it is made: ranks and kernels at least.
	Outline func() (Outline, error)
	// Trace returns the trace, as a file has it.
	Trace func(ctx context.Context, tool string) ([]byte, error)
}

// Outline is a trace, or its header alone.
type Outline interface{ Header() *trace.Header }

// headerOnly is the outline of a trace that is not made yet.
type headerOnly struct{ header trace.Header }

func (h *headerOnly) Header() *trace.Header { return &h.header }

// generated makes r a run whose trace generate writes, with parameters as the header of the trace lists them.
func (r *Run) generated(params func() []trace.Param, kernels func() []trace.Kernel,
	generate func(ctx context.Context, w io.Writer, tool string) error) *Run {
	r.Identity = func() (list []trace.Param) {
		for _, p := range params() {
			if !strings.HasPrefix(p.Name, "flop ") { // HPCG's counts, which follow from the others
				list = append(list, trace.Param{Name: "parameter " + p.Name, Value: p.Value})
			}
		}
		if r.HPL != nil && r.HPL.FirstSteps > 0 {
			list = append(list, trace.Param{Name: "first-steps", Value: strconv.Itoa(r.HPL.FirstSteps)})
		}
		return list
	}
	r.Outline = func() (Outline, error) {
		return &headerOnly{trace.Header{Ranks: r.Ranks, Kernels: kernels()}}, nil
	}
	r.Trace = func(ctx context.Context, tool string) ([]byte, error) {
		var b bytes.Buffer
		err := generate(ctx, &b, tool)
		return b.Bytes(), err
	}
	return r
}

// Reseeded returns the run with other random choices of the program itself, such as pivots, for each n > 0, if it makes
// any.
func (r *Run) Reseeded(n uint64) *Run {
	if r.HPL == nil || r.HPL.Pivots.Kind != hpl.RandomPivots {
		return r
	}
	other := *r.HPL
	other.Pivots.Seed += n
	return runHPL(&other)
}

// All returns the programs that have a name.
func All() []*Program {
	return []*Program{newHPL(hpl.HPL23, "HPL"), newHPL(hpl.RocHPL, "rocHPL 7"), newHPL(hpl.RocHPL6, "rocHPL 6"), newMXP(),
		newHPCG()}
}

// Find returns the program of a name, nil if there is none.
func Find(name string) *Program {
	for _, p := range All() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// parametersOf returns the parameters of a program's package as those of a program.
func parametersOf[T any](of tracegen.Parameters[T]) (list []Parameter) {
	for _, o := range of {
		list = append(list, Parameter{o.Name, func(value string) (string, error) {
			var v T
			err := o.Set(&v, value)
			return fmt.Sprintf("%#v", v), err
		}})
	}
	return list
}

// File returns a program without parameters whose trace is a file: text is its content, name is for messages. Its
// identity is empty, since studies know such a file by its content.
func File(name string, text []byte) (*Program, error) {
	open := func() (*trace.Trace, error) { // anew: each call has its own cursors
		return trace.NewReaderAt(bytes.NewReader(text), int64(len(text)), name)
	}
	t, err := open()
	if err != nil {
		return nil, err
	}
	// Items of the file stand for messages: both go with the cost of a replay.
	totals, _ := t.Totals()
	h := t.Header()
	r := &Run{Ranks: h.Ranks, Flops: h.Flops, Steps: float64(max(1, h.Steps)),
		Identity: func() []trace.Param { return nil }, Outline: func() (Outline, error) { return open() },
		Trace: func(context.Context, string) ([]byte, error) { return text, nil }}
	r.Messages = float64(totals.Items) / r.Steps
	return &Program{Name: name, Title: name, New: func([]trace.Param) (*Run, error) { return r, nil }}, t.Close()
}

// newHPL makes a program from the tables of parameters of package hpl, with those that no HPL.dat
// has: the build option or those of rocHPL, the source of pivots, their seed, and how much of the run is traced.
func newHPL(variant hpl.Variant, title string) *Program {
	p := &Program{Name: variant.String(), Title: title, SeedName: "pivot-seed", DatName: "hpl-dat"}
	p.ReadDat = func(text []byte, name string) ([]List, error) { return readHPLDat(variant, text, name) }
	list := hpl.Parameters()
	var options []option.Option[hpl.Params]
	if variant != hpl.HPL23 {
		list = append(list, hpl.VariantParameters()...)
	} else {
		options = append(options, option.YesNo("copy-l", "", func(p *hpl.Params) *bool { return &p.CopyL }))
	}
	options = append(options,
		option.Option[hpl.Params]{Name: "pivots", Set: func(p *hpl.Params, v string) error { return p.Pivots.Set(v) }},
		option.Parsed("first-steps", "", // so many panels, or all
			func(text string) (int, error) {
				n, err := strconv.Atoi(text)
				if text != "all" && (err != nil || n < 1) {
					return 0, fmt.Errorf("%q, want a positive number of panels, or all", text)
				}
				return n, nil
			}, func(p *hpl.Params) *int { return &p.FirstSteps }),
		option.Parsed("pivot-seed", "", func(text string) (uint64, error) {
			seed, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				err = fmt.Errorf("%q, want a whole number of at least 0", text)
			}
			return seed, err
		}, func(p *hpl.Params) *uint64 { return &p.Pivots.Seed }))
	for _, o := range options {
		list = append(list, tracegen.Parameter[hpl.Params]{Option: o})
	}
	p.Parameters = parametersOf(list)
	// Parameters are set twice: once to learn N, P and Q, by which the defaults go, and once over these.
	p.New = func(given []trace.Param) (*Run, error) {
		r, err := hpl.WithDefaults(func(p *hpl.Params) error {
			p.Program = variant
			_, err := list.Set(p, title, given)
			return err
		})
		if err == nil {
			err = r.Validate()
		}
		if err != nil {
			return nil, err
		}
		if r.FirstSteps >= r.Steps() { // all of them
			r.FirstSteps = 0
		}
		return runHPL(&r), nil
	}
	return p
}

// readHPLDat returns the lists of an HPL.dat. A file that HPL reads in another way than it stands
// there is refused: a study is kept, and read by people.
func readHPLDat(variant hpl.Variant, text []byte, name string) ([]List, error) {
	dat, err := variant.ReadDat(bytes.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	if odd := dat.Warnings(); len(odd) > 0 {
		return nil, fmt.Errorf("%s; a study wants a file that says what HPL reads", odd[0])
	}
	return dat.Lists(), nil
}

// runHPL returns a run of HPL: its flop are what HPL counts for its matrix, of the first steps their part.
func runHPL(p *hpl.Params) *Run {
	// Each step has a broadcast along P rows and a swap along Q columns, and each column of the matrix a pivot exchange.
	// Long broadcasts and long swaps roll: each rank of a row, or column, sends as often as there are others.
	rows, cols, n := float64(p.P), float64(p.Q), float64(p.N)
	r := &Run{HPL: p, Ranks: p.P * p.Q, Flops: p.Flops(), Steps: math.Ceil(n / float64(p.NB))}
	depth := float64(bits.Len(uint(p.P - 1))) // rounds of an exchange by halves
	swap := cols * rows * depth
	if p.Swap != hpl.BinaryExchange && rows > 1 {
		swap = cols * rows * rows
	}
	r.Messages = float64(rows*(cols-1)) + swap + float64(n/r.Steps*rows*depth)
	if p.Bcast.IsLong() {
		r.Messages += float64(rows * cols * (cols - 1))
	}
	if p.FirstSteps > 0 {
		r.Flops, r.Steps = p.FirstFlops(p.FirstSteps), min(r.Steps, float64(p.FirstSteps))
	}
	return r.generated(p.List, p.Kernels, func(ctx context.Context, w io.Writer, tool string) error {
		return hpl.Generate(ctx, w, *p, hpl.Options{Tool: tool})
	})
}

// newMXP makes the program from the table of parameters of package mxp.
func newMXP() *Program {
	program := &Program{Name: mxp.Program, Title: "HPL-MxP", Parameters: parametersOf(mxp.Parameters())}
	program.New = func(given []trace.Param) (*Run, error) {
		p, err := mxp.WithDefaults(given)
		if err != nil {
			return nil, err
		}
		// Each step has the broadcasts of two panels, along the rows and along the columns. A chain passes on up to a
		// hundred chunks.
		r := &Run{Ranks: p.P * p.Q, Flops: p.Flops(), Steps: float64(p.Steps()), Messages: float64(4 * p.P * p.Q)}
		if p.Bcast == "chain" {
			r.Messages *= 50
		}
		return r.generated(p.List, p.Kernels, func(ctx context.Context, w io.Writer, tool string) error {
			return mxp.Generate(ctx, w, p, mxp.Options{Tool: tool})
		}), nil
	}
	return program
}

// newHPCG makes the program from the table of parameters of package hpcg. Runs are completed as
// HPCG does it; the notes about replaced values are for its own command.
func newHPCG() *Program {
	program := &Program{Name: "hpcg", Title: "HPCG", Parameters: parametersOf(hpcg.Parameters())}
	program.New = func(given []trace.Param) (*Run, error) {
		p, err := hpcg.WithDefaults(given, nil)
		if err == nil {
			_, err = p.Complete()
		}
		if err != nil {
			return nil, err
		}
		// Each iteration has 11 exchanges of halos, of which each rank has neighbours in up to 26 directions, and three
		// allreduce. Ranks at the sides of the grid have fewer neighbours.
		pairs, ranks := 1.0, float64(p.Ranks)
		for _, n := range []int{p.Grid.NX, p.Grid.NY, p.Grid.NZ} {
			pairs *= float64(3*n - 2) // places with a neighbour in a direction, themselves included
		}
		r := &Run{HPCG: &p, Ranks: p.Ranks, Flops: hpcg.Total(p.Flops()), Steps: float64(p.Steps()),
			Messages: float64(11*(pairs-ranks)) + float64(3*ranks*float64(bits.Len(uint(p.Ranks-1))))}
		return r.generated(p.List, hpcg.Kernels, func(ctx context.Context, w io.Writer, tool string) error {
			return hpcg.Generate(ctx, w, p, hpcg.Options{Tool: tool})
		}), nil
	}
	return program
}
