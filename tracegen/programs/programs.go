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
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"reprise/smpi/option"
	"reprise/trace"
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
type List = hpl.List

// Run is a program with all its parameters.
type Run interface {
	// Identity returns all that the trace depends on. Results of studies are found by it: names and order never change.
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

// headerOnly is the outline of a trace that is not made yet.
type headerOnly struct{ header trace.Header }

func (h *headerOnly) Header() *trace.Header { return &h.header }

// outline returns the outline of a trace of so many ranks and these kernels.
func outline(ranks int, kernels []trace.Kernel) (Outline, error) {
	return &headerOnly{trace.Header{Ranks: ranks, Kernels: kernels}}, nil
}

// identity returns parameters as those of an identity.
func identity(params []trace.Param) (list []trace.Param) {
	for _, p := range params {
		list = append(list, trace.Param{Name: "parameter " + p.Name, Value: p.Value})
	}
	return list
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

// HPL is a run of HPL.
type HPL struct {
	hpl.Params
	FirstSteps int // so many panels are factored only; 0: all, and the system is solved
}

// newHPL makes a program from the tables of parameters of package hpl, with those that no HPL.dat
// has: the build option or those of rocHPL, the source of pivots, their seed, and how much of the run is traced.
func newHPL(variant hpl.Variant, title string) *Program {
	p := &Program{Name: variant.String(), Title: title, SeedName: "pivot-seed", DatName: "hpl-dat"}
	p.ReadDat = func(text []byte, name string) ([]List, error) { return readHPLDat(variant, text, name) }
	list := hpl.Parameters()
	if variant != hpl.HPL23 {
		list = slices.Concat(list, hpl.VariantParameters())
	}
	var params option.Table[hpl.Params]
	for _, par := range list {
		params = append(params, par.Option)
	}
	table := option.Of(params, func(r *HPL) *hpl.Params { return &r.Params })
	if variant == hpl.HPL23 {
		table = append(table, option.YesNo("copy-l", "HPL is built with HPL_COPY_L: yes or no", func(r *HPL) *bool { return &r.CopyL }))
	}
	table = append(table,
		option.Option[HPL]{Name: "pivots", Doc: "random, lu or none",
			Set: func(r *HPL, v string) error { return r.Pivots.Set(v) }},
		option.Parsed("first-steps", "so many panels only, which tell how a long run begins; all: the whole run",
			func(text string) (int, error) {
				n, err := strconv.Atoi(text)
				if text != "all" && (err != nil || n < 1) {
					return 0, fmt.Errorf("%q, want a positive number of panels, or all", text)
				}
				return n, nil
			}, func(r *HPL) *int { return &r.FirstSteps }),
		option.Parsed("pivot-seed", "of random pivots", func(text string) (uint64, error) {
			seed, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				err = fmt.Errorf("%q, want a whole number of at least 0", text)
			}
			return seed, err
		}, func(r *HPL) *uint64 { return &r.Pivots.Seed }))
	for _, o := range table {
		p.Parameters = append(p.Parameters, parameter(o, o.Doc))
	}
	// Parameters are set twice: once to learn N, P and Q, by which the defaults go, and once over these.
	p.New = func(given []trace.Param) (Run, error) {
		r := &HPL{}
		var err error
		r.Params, err = hpl.WithDefaults(func(p *hpl.Params) error {
			p.Program = variant
			of := &HPL{Params: *p}
			for _, g := range given {
				o := table.Find(g.Name)
				if o == nil {
					return fmt.Errorf("%s is no parameter of %s", g.Name, title)
				}
				if err := o.Set(of, g.Value); err != nil {
					return fmt.Errorf("%s: %w", g.Name, err)
				}
			}
			*p, r.FirstSteps = of.Params, of.FirstSteps
			return nil
		})
		if err == nil {
			err = r.Validate()
		}
		if err == nil && r.FirstSteps >= r.Steps() { // all of them
			r.FirstSteps = 0
		}
		return r, err
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

// Identity implements Run.
func (r *HPL) Identity() []trace.Param {
	list := identity(r.List())
	if r.FirstSteps > 0 {
		list = append(list, trace.Param{Name: "first-steps", Value: strconv.Itoa(r.FirstSteps)})
	}
	return list
}

// Ranks implements Run.
func (r *HPL) Ranks() int { return r.P * r.Q }

// Flops returns what HPL counts for its matrix, of the first steps their part.
func (r *HPL) Flops() float64 {
	if r.FirstSteps > 0 {
		return r.FirstFlops(r.FirstSteps)
	}
	return r.Params.Flops()
}

// Size counts in each step a broadcast along P rows and a swap along Q columns, and for each column of the matrix a
// pivot exchange. Long broadcasts and long swaps roll: each rank of a row, or column, sends as often as there are
// others.
func (r *HPL) Size() (steps, messages float64) {
	rows, cols, n := float64(r.P), float64(r.Q), float64(r.N)
	steps = math.Ceil(n / float64(r.NB))
	depth := float64(bits.Len(uint(r.P - 1))) // rounds of an exchange by halves
	swap := cols * rows * depth
	if r.Swap != hpl.BinaryExchange && rows > 1 {
		swap = cols * rows * rows
	}
	messages = float64(rows*(cols-1)) + swap + float64(n/steps*rows*depth)
	if r.Bcast.IsLong() {
		messages += float64(rows * cols * (cols - 1))
	}
	if r.FirstSteps > 0 {
		steps = min(steps, float64(r.FirstSteps))
	}
	return steps, messages
}

// Reseeded returns the run with other random pivots.
func (r *HPL) Reseeded(n uint64) Run {
	other := *r
	if other.Pivots.Kind == hpl.RandomPivots {
		other.Pivots.Seed += n
	}
	return &other
}

// Outline implements Run.
func (r *HPL) Outline() (Outline, error) { return outline(r.Ranks(), r.Kernels()) }

// Trace implements Run.
func (r *HPL) Trace(ctx context.Context, tool string) ([]byte, error) {
	var b bytes.Buffer
	err := hpl.Generate(ctx, &b, r.Params, hpl.Options{Tool: tool, FirstSteps: r.FirstSteps})
	return b.Bytes(), err
}

// MXP is a run of HPL-MxP.
type MXP struct{ mxp.Params }

// newMXP makes the program from the table of parameters of package mxp.
func newMXP() *Program {
	p := &Program{Name: mxp.Program, Title: "HPL-MxP"}
	for _, par := range mxp.Parameters() {
		p.Parameters = append(p.Parameters, parameter(par.Option, strings.ReplaceAll(par.Usage, "`", "")))
	}
	p.New = func(given []trace.Param) (Run, error) {
		params, err := mxp.WithDefaults(given)
		return &MXP{params}, err
	}
	return p
}

// Identity implements Run.
func (r *MXP) Identity() []trace.Param { return identity(r.List()) }

// Ranks implements Run.
func (r *MXP) Ranks() int { return r.P * r.Q }

// Size counts in each step the broadcasts of two panels, along the rows and along the columns. A chain passes on up to
// a hundred chunks.
func (r *MXP) Size() (steps, messages float64) {
	messages = 4 * float64(r.Ranks())
	if r.Bcast == "chain" {
		messages *= 50
	}
	return float64(r.Steps()), messages
}

// Reseeded returns the run itself: nothing in HPL-MxP is random.
func (r *MXP) Reseeded(uint64) Run { return r }

// Outline implements Run.
func (r *MXP) Outline() (Outline, error) { return outline(r.Ranks(), r.Kernels()) }

// Trace implements Run.
func (r *MXP) Trace(ctx context.Context, tool string) ([]byte, error) {
	var b bytes.Buffer
	err := mxp.Generate(ctx, &b, r.Params, mxp.Options{Tool: tool})
	return b.Bytes(), err
}

// HPCG is a run of HPCG.
type HPCG struct{ hpcg.Params }

// newHPCG makes the program from the table of parameters of package hpcg. Runs are completed as
// HPCG does it; the notes about replaced values are for its own command.
func newHPCG() *Program {
	p := &Program{Name: "hpcg", Title: "HPCG"}
	for _, par := range hpcg.Parameters() {
		p.Parameters = append(p.Parameters, parameter(par.Option, strings.ReplaceAll(par.Usage, "`", "")))
	}
	p.New = func(given []trace.Param) (Run, error) {
		params, err := hpcg.WithDefaults(given, nil)
		if err == nil {
			_, err = params.Complete()
		}
		return &HPCG{params}, err
	}
	return p
}

// Identity implements Run.
func (r *HPCG) Identity() []trace.Param {
	return identity(slices.DeleteFunc(r.List(), func(p trace.Param) bool {
		return strings.HasPrefix(p.Name, "flop ") // HPCG's counts, which follow from the others
	}))
}

// Ranks implements Run.
func (r *HPCG) Ranks() int { return r.Params.Ranks }

// Flops implements Run.
func (r *HPCG) Flops() float64 { return hpcg.Total(r.Params.Flops()) }

// Size counts in each iteration 11 exchanges of halos, of which each rank has neighbours in up to 26 directions, and
// three allreduce.
func (r *HPCG) Size() (steps, messages float64) {
	// Ranks at the sides of the grid have fewer neighbours.
	pairs := 1.0
	for _, n := range []int{r.Grid.NX, r.Grid.NY, r.Grid.NZ} {
		pairs *= float64(3*n - 2) // places with a neighbour in a direction, themselves included
	}
	ranks := float64(r.Ranks())
	return float64(r.Steps()), float64(11*(pairs-ranks)) + float64(3*ranks*float64(bits.Len(uint(r.Ranks()-1))))
}

// Reseeded returns the run itself: nothing in HPCG is random.
func (r *HPCG) Reseeded(uint64) Run { return r }

// Outline implements Run.
func (r *HPCG) Outline() (Outline, error) { return outline(r.Ranks(), hpcg.Kernels()) }

// Trace implements Run.
func (r *HPCG) Trace(ctx context.Context, tool string) ([]byte, error) {
	var b bytes.Buffer
	err := hpcg.Generate(ctx, &b, r.Params, hpcg.Options{Tool: tool})
	return b.Bytes(), err
}
