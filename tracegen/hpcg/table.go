package hpcg

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/smpi/option"
	"reprise/trace"
	"reprise/tracegen"
)

// This file has the table of HPCG's parameters (Parameters); WithDefaults sets Params by it.

// Parameters returns the parameters in the order of help.
func Parameters() tracegen.Parameters[Params] { return parameters }

// parameters is the table of HPCG's parameters, in the order of help.
var parameters = tracegen.Parameters[Params]{
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
	ofAll(tracegen.Parameter[Params]{
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
		Option: option.Choice("phase", "", phases, func(p *Params) *Phase { return &p.Phase }),
		Usage:  "`part` of the run: timed (the timed sets, which are rated) or all (set-up, tests and report too)", Default: "timed",
	},
}

// count is a parameter that is a whole number from 0; Complete checks it further. def is the default for help.
func count(name, usage, def string, field func(*Params) *int) tracegen.Parameter[Params] {
	return tracegen.Parameter[Params]{Option: option.Parsed(name, "", tracegen.Number(0, math.MaxInt32), field),
		Usage: usage, Default: def}
}

// inDat marks a parameter that an hpcg.dat gives, ofAll one of the whole run only.
func inDat(p tracegen.Parameter[Params]) tracegen.Parameter[Params] { p.InDat = true; return p }
func ofAll(p tracegen.Parameter[Params]) tracegen.Parameter[Params] { p.Of = All.String(); return p }

// WithDefaults returns the parameters that are given, and all else as DefaultParams has it; of several values for
// one the last counts. The function dat, if not nil, sets what an hpcg.dat says first. Errors begin with the name
// of a parameter.
func WithDefaults(given []trace.Param, dat func(*Params) error) (Params, error) {
	// The defaults of a run depend on the number of ranks, and the parameters allowed on the phase: both are learnt first.
	var first Params
	has, err := parameters.Set(&first, "HPCG", given)
	switch {
	case err != nil:
		return first, err
	case !has["ranks"]:
		return first, errors.New("ranks is missing")
	}
	for _, par := range parameters {
		if has[par.Name] && par.Of != "" && first.Phase != All {
			return first, fmt.Errorf("%s goes with --phase all: the timed sets do not depend on it", par.Name)
		}
	}
	p := DefaultParams(first.Ranks, 0)
	p.Phase = first.Phase
	if dat != nil {
		if err := dat(&p); err != nil {
			return p, err
		}
	}
	_, err = parameters.Set(&p, "HPCG", given)
	if !has["setup-iterations"] {
		p.SetupIterations = p.Iterations
	}
	return p, err
}
