package hpcg

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/smpi/option"
	"reprise/trace"
)

// This file has the table of HPCG's parameters (Parameters); WithDefaults sets Params by it.

// Parameter is one parameter of HPCG, with all that flags and checks say of it.
type Parameter struct {
	option.Option[Params]
	Usage   string // for help, the value's name in backquotes
	Default string // for help
	All     bool   // it matters for phase all only
	InDat   bool   // an hpcg.dat says it
}

// Parameters returns the parameters in the order of help.
func Parameters() []Parameter { return parameters }

// parameters is the table of HPCG's parameters, in the order of help.
var parameters = []Parameter{
	count("ranks", "`number` of ranks, must be given", "", func(p *Params) *int { return &p.Ranks }),
	inDat(count("nx", "`points` of each rank's box in x, divisible by 8", "as HPCG chooses: the larger of the others",
		func(p *Params) *int { return &p.NX })),
	inDat(count("ny", "`points` in y", "likewise", func(p *Params) *int { return &p.NY })),
	inDat(count("nz", "`points` in z", "likewise", func(p *Params) *int { return &p.NZ })),
	inDat(count("npx", "`ranks` of the process grid in x", "as HPCG chooses", func(p *Params) *int { return &p.Grid.NX })),
	inDat(count("npy", "`ranks` in y", "as HPCG chooses", func(p *Params) *int { return &p.Grid.NY })),
	inDat(count("npz", "`ranks` in z", "as HPCG chooses", func(p *Params) *int { return &p.Grid.NZ })),
	inDat(count("pz", "`ranks` in z, the lowest, whose boxes have --zl points in z; the others have --zu",
		"boxes of one height", func(p *Params) *int { return &p.PZ })),
	inDat(count("zl", "`points` in z below --pz, must be given with it", "boxes of one height",
		func(p *Params) *int { return &p.ZL })),
	inDat(count("zu", "`points` in z from --pz on, must be given with it", "boxes of one height",
		func(p *Params) *int { return &p.ZU })),
	count("sets", "`number` of timed sets, which HPCG finds by its clock", "1", func(p *Params) *int { return &p.Sets }),
	count("iterations", "`number` of iterations of a timed set", "50, as with HPCG's own kernels",
		func(p *Params) *int { return &p.Iterations }),
	ofAll(inDat(count("rt", "`seconds` that the run was asked to take; 0: one round of the reference timing, not ten", "0",
		func(p *Params) *int { return &p.Seconds }))),
	ofAll(count("setup-iterations", "`number` of iterations of the run before the timed sets", "those of a timed set",
		func(p *Params) *int { return &p.SetupIterations })),
	ofAll(Parameter{
		Option: option.Parsed("test-iterations", "", func(text string) (list [4]int, err error) {
			words := strings.Split(text, ",")
			for i, word := range words {
				v, err := strconv.Atoi(word)
				if err != nil || len(words) != len(list) {
					return list, fmt.Errorf("%q, want %d numbers with commas between", text, len(list))
				}
				list[i] = v
			}
			return list, nil
		}, func(p *Params) *[4]int { return &p.TestIterations }),
		Usage: "`numbers` of iterations of the four runs of the convergence test, as 11,11,2,2", Default: "11,11,2,2; 11,11,1,1 of one rank",
	}),
	{
		Option: option.Parsed("phase", "", func(text string) (Phase, error) {
			for _, phase := range []Phase{Timed, All} {
				if text == phase.String() {
					return phase, nil
				}
			}
			return 0, fmt.Errorf("%q, want timed or all", text)
		}, func(p *Params) *Phase { return &p.Phase }),
		Usage: "`part` of the run: timed (the timed sets, which are rated) or all (set-up, tests and report too)", Default: "timed",
	},
}

// count is a parameter that is a whole number from 0; Complete checks it further. def is the default for help.
func count(name, usage, def string, field func(*Params) *int) Parameter {
	// The text of a number must fit HPCG's int.
	parse := func(text string) (int, error) {
		v, err := strconv.ParseInt(text, 10, 32)
		if err != nil || v < 0 {
			return 0, fmt.Errorf("%q, want a whole number in digits, at most %d", text, math.MaxInt32)
		}
		return int(v), nil
	}
	return Parameter{Option: option.Parsed(name, "", parse, field), Usage: usage, Default: def}
}

// inDat marks a parameter that an hpcg.dat gives, ofAll one of the whole run only.
func inDat(p Parameter) Parameter { p.InDat = true; return p }
func ofAll(p Parameter) Parameter { p.All = true; return p }

// WithDefaults returns the parameters that are given, and all else as DefaultParams has it; of several values for
// one the last counts. The function dat, if not nil, sets what an hpcg.dat says first. Errors begin with the name
// of a parameter.
func WithDefaults(given []trace.Param, dat func(*Params) error) (Params, error) {
	set := func(p *Params, names ...string) error {
		for _, g := range given {
			i := slices.IndexFunc(parameters, func(p Parameter) bool { return p.Name == g.Name })
			if i < 0 {
				return fmt.Errorf("%s is no parameter of HPCG", g.Name)
			}
			if names != nil && !slices.Contains(names, g.Name) {
				continue
			}
			if err := parameters[i].Set(p, g.Value); err != nil {
				return fmt.Errorf("%s %w", g.Name, err)
			}
			if parameters[i].All && p.Phase != All {
				return fmt.Errorf("%s goes with --phase all: the timed sets do not depend on it", g.Name)
			}
		}
		return nil
	}
	// The defaults of a run depend on the number of ranks, and the parameters allowed on the phase: both are set first.
	var first Params
	if err := set(&first, "ranks", "phase"); err != nil {
		return first, err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(given, func(g trace.Param) bool { return g.Name == name })
	}
	if !has("ranks") {
		return first, errors.New("ranks is missing")
	}
	p := DefaultParams(first.Ranks, 0)
	p.Phase = first.Phase
	if dat != nil {
		if err := dat(&p); err != nil {
			return p, err
		}
	}
	err := set(&p)
	if !has("setup-iterations") {
		p.SetupIterations = p.Iterations
	}
	return p, err
}
