package programs

import (
	"bytes"
	"context"
	"math/bits"
	"strings"

	"reprise/trace"
	"reprise/tracegen/hpcg"
)

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
	var list []trace.Param
	for _, p := range r.List() {
		if !strings.HasPrefix(p.Name, "flop ") { // HPCG's counts, which follow from the others
			list = append(list, trace.Param{Name: "parameter " + p.Name, Value: p.Value})
		}
	}
	return list
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
func (r *HPCG) Outline() (Outline, error) {
	return &headerOnly{trace.Header{Ranks: r.Ranks(), Kernels: hpcg.Kernels()}}, nil
}

// Trace implements Run.
func (r *HPCG) Trace(ctx context.Context, tool string) ([]byte, error) {
	var b bytes.Buffer
	err := hpcg.Generate(ctx, &b, r.Params, hpcg.Options{Tool: tool})
	return b.Bytes(), err
}
