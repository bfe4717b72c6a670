package hpcg

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/trace"
)

// Phase says which part of a run is traced.
type Phase uint8

// Timed: the timed sets of conjugate gradients, which are rated. All: the whole run, with
// set-up, tests and report.
const (
	Timed Phase = iota
	All
)

// String returns the phase as flags and headers name it.
func (p Phase) String() string {
	if p == All {
		return "all"
	}
	return "timed"
}

// Params are the parameters of a run. Those that are 0 and may be are completed by Complete
// as HPCG does it.
type Params struct {
	Ranks      int
	NX, NY, NZ int // points of a rank's box; NZ is 0 with slabs

	Grid Grid // process grid; zero: HPCG chooses

	// Slabs: of the ranks those whose position in z is below PZ have ZL points in z, the
	// others ZU. PZ = 0: none.
	PZ, ZL, ZU int

	Sets       int // timed sets of conjugate gradients
	Iterations int // of a timed set
	Phase      Phase

	// What matters for Phase All only. Seconds is HPCG's --rt: 0 means the quick path, with
	// one round of the reference timing instead of ten.
	Seconds         int
	FromFile        bool   // the parameters come from an hpcg.dat, and are broadcast
	SetupIterations int    // of the run that finds the number of sets
	TestIterations  [4]int // of the convergence test
}

// Iterations that HPCG's reference kernels come to.
const (
	leastIterations = 50 // of a timed set
	plainIterations = 11 // of the convergence test without preconditioner
)

// DefaultParams returns those of one timed set of ranks with boxes of n^3 points.
func DefaultParams(ranks, n int) Params {
	p := Params{Ranks: ranks, NX: n, NY: n, NZ: n, Sets: 1, Iterations: leastIterations,
		SetupIterations: leastIterations, TestIterations: [4]int{plainIterations, plainIterations, 2, 2}}
	if ranks == 1 {
		p.TestIterations[2], p.TestIterations[3] = 1, 1
	}
	return p
}

// slabs reports whether heights of boxes differ.
func (p *Params) slabs() bool { return p.PZ != 0 }

// height returns the points in z of a rank at position iz.
func (p *Params) height(iz int) int {
	switch {
	case !p.slabs():
		return p.NZ
	case iz < p.PZ:
		return p.ZL
	}
	return p.ZU
}

// List returns all parameters by name, as they stand in the header of the trace, and HPCG's
// counts of flop behind them.
func (p *Params) List() []trace.Param {
	var list []trace.Param
	number := func(name string, v int) {
		list = append(list, trace.Param{Name: name, Value: strconv.Itoa(v)})
	}
	number("ranks", p.Ranks)
	number("nx", p.NX)
	number("ny", p.NY)
	if !p.slabs() {
		number("nz", p.NZ)
	}
	number("npx", p.Grid.NX)
	number("npy", p.Grid.NY)
	number("npz", p.Grid.NZ)
	if p.slabs() {
		number("pz", p.PZ)
		number("zl", p.ZL)
		number("zu", p.ZU)
	}
	number("sets", p.Sets)
	number("iterations", p.Iterations)
	list = append(list, trace.Param{Name: "phase", Value: p.Phase.String()})
	if p.Phase == All {
		number("rt", p.Seconds)
		number("setup-iterations", p.SetupIterations)
		list = append(list, trace.Param{Name: "test-iterations",
			Value: strings.Trim(strings.ReplaceAll(fmt.Sprint(p.TestIterations), " ", ","), "[]")})
	}
	f := p.Flops()
	for i, name := range partNames {
		list = append(list, trace.Param{Name: "flop " + name, Value: strconv.FormatFloat(f[i], 'f', -1, 64)})
	}
	return list
}
