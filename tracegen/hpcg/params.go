package hpcg

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/tracegen"
)

// Phase says which part of a run is traced.
type Phase uint8

// Timed stands for the timed sets of conjugate gradients, which are rated, All for the whole run, with set-up,
// tests and report.
const (
	Timed Phase = iota
	All
)

// phases are the names of the phases.
var phases = []string{"timed", "all"}

// String returns the phase as flags and headers name it.
func (p Phase) String() string { return phases[p] }

// Params are the parameters of a run. Complete sets those that may be 0 as HPCG does.
type Params struct {
	Ranks      int
	NX, NY, NZ int // points of a rank's box; NZ is 0 with slabs

	Grid Grid // process grid; zero: HPCG chooses

	// Slabs: ranks whose position in z is below PZ have boxes of ZL points in z, the others of ZU. PZ = 0: no slabs.
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

// List returns all parameters by name, as they stand in the header of the trace, and HPCG's counts of flop behind them.
func (p *Params) List() []trace.Param {
	var list []trace.Param
	names := "ranks nx ny nz npx npy npz pz zl zu sets iterations phase rt setup-iterations test-iterations"
	for name := range strings.FieldsSeq(names) {
		par := &parameters[slices.IndexFunc(parameters, func(of tracegen.Parameter[Params]) bool { return of.Name == name })]
		slabs := name == "pz" || name == "zl" || name == "zu"
		if par.Of != "" && p.Phase != All || slabs && !p.slabs() || name == "nz" && p.slabs() {
			continue
		}
		value := strings.Trim(strings.ReplaceAll(par.Get(p), " ", ","), "[]") // of a list without its brackets
		list = append(list, trace.Param{Name: name, Value: value})
	}
	f := p.Flops()
	for i, name := range partNames {
		list = append(list, trace.Param{Name: "flop " + name, Value: strconv.FormatFloat(f[i], 'f', -1, 64)})
	}
	return list
}

// Bounds of HPCG and of this package.
const (
	minSide  = 16      // least points of a box in a direction
	maxRatio = 8       // largest side of a box or grid relative to its smallest
	halvings = 3       // how often a box is halved: it has one more level
	maxSide  = 1 << 20 // most points of a box, and positions of a grid, in a direction: products of three fit
	maxSteps = 1 << 24 // most iterations of all timed sets: each is a step of the trace
)

// Iterations after which HPCG gives up.
const (
	maxTestIterations  = 50
	maxSetupIterations = 500
	refIterations      = 50 // of the reference run
)

// side is one of the sizes of a box or a grid, by its name.
type side struct {
	name  string
	value int
}

// Complete sets what HPCG sets where parameters are 0 or too small, and returns a note for each given value that HPCG
// replaces. It fails, with all reasons, on parameters that HPCG refuses, and on those with which it hangs. Source: HPCG
// 3.1, init.cpp, GenerateGeometry.cpp, CheckAspectRatio.cpp, GenerateCoarseProblem.cpp.
func (p *Params) Complete() (notes []string, err error) {
	if p.Ranks < 1 || p.Ranks > trace.MaxRanks {
		return nil, fmt.Errorf("ranks = %d, allowed 1 to %d", p.Ranks, trace.MaxRanks)
	}
	var faults textutil.Faults
	need := faults.Want
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, v := range []side{{"nx", p.NX}, {"ny", p.NY}, {"nz", p.NZ}, {"zl", p.ZL}, {"zu", p.ZU}, {"pz", p.PZ},
		{"npx", p.Grid.NX}, {"npy", p.Grid.NY}, {"npz", p.Grid.NZ}} {
		need(v.value >= 0 && v.value <= maxSide, "%s = %d, allowed 0 (HPCG chooses) to %d", v.name, v.value, maxSide)
	}
	need(p.NX|p.NY|p.NZ|p.ZL|p.ZU != 0, "no size of the boxes: give nx, ny, nz")
	if len(faults) > 0 {
		return nil, faults.Err()
	}

	// Sizes below 16 get, in this order, that of the larger of the others, 16 at least.
	n := [3]*int{&p.NX, &p.NY, &p.NZ}
	for i, name := range []string{"nx", "ny", "nz"} {
		if p.slabs() || *n[i] >= minSide { // of slabs, see below
			continue
		}
		was := *n[i]
		*n[i] = max(minSide, *n[(i+1)%3], *n[(i+2)%3])
		if was > 0 {
			note("%s = %d is below %d: HPCG takes %d", name, was, minSide, *n[i])
		}
	}

	// The process grid is HPCG's own unless the given one can be taken.
	given, g := p.Grid, &p.Grid
	if given.Ranks() < 1 || given.Ranks() > p.Ranks {
		*g = ChooseGrid(p.Ranks)
		if given != (Grid{}) && given != *g {
			note("the grid %v is not one of %d ranks: HPCG takes %v", given, p.Ranks, *g)
		}
	}
	need(g.Ranks() >= p.Ranks, "the grid %v has %d positions for %d ranks: HPCG takes it, the surplus ranks own points "+
		"outside of the domain, and the first halo exchange hangs; leave the grid out or run %d ranks",
		*g, g.Ranks(), p.Ranks, g.Ranks())
	need(max(g.NX, g.NY, g.NZ) <= maxRatio*min(g.NX, g.NY, g.NZ), "process grid %v of %d ranks: the smallest side is "+
		"less than 1/%d of the largest, where HPCG aborts: take another number of ranks", *g, p.Ranks, maxRatio)

	// Slabs have heights of their own.
	heights := []int{p.NZ} // of boxes that occur, each once
	if !p.slabs() {
		need(p.ZL == 0 && p.ZU == 0, "zl = %d, zu = %d without pz: HPCG does not look at them; give pz, or nz alone", p.ZL,
			p.ZU)
	} else {
		need(p.NZ == 0, "nz = %d with pz: the heights are zl and zu, and with another nz HPCG hangs", p.NZ)
		need(p.PZ < g.NZ, "pz = %d, allowed 1 to %d, npz - 1: an assertion of HPCG", p.PZ, g.NZ-1)
		for _, v := range []side{{"nx", p.NX}, {"ny", p.NY}, {"zl", p.ZL}, {"zu", p.ZU}} {
			need(v.value >= minSide, "%s = %d with slabs, allowed %d or more: HPCG raises smaller ones, each rank for "+
				"itself, and then hangs", v.name, v.value, minSide)
		}
		heights = slices.Compact([]int{p.ZL, p.ZU})
	}

	// Boxes are halved, are not too flat, and have nonzeros that HPCG can count.
	for _, v := range []side{{"nx", p.NX}, {"ny", p.NY}, {"nz", p.NZ}, {"zl", p.ZL}, {"zu", p.ZU}} {
		failing := bits.TrailingZeros(uint(v.value)) + 1 // the halving that fails
		need(v.value%(1<<halvings) == 0, "%s = %d is not divisible by %d: an assertion of HPCG stops the run where it "+
			"halves the box, %d times", v.name, v.value, 1<<halvings, failing)
	}
	for _, nz := range heights {
		x, y, z := int64(p.NX), int64(p.NY), int64(nz)
		if min(x, y, z) < minSide {
			continue // already refused
		}
		need(max(x, y, z) <= maxRatio*min(x, y, z),
			"box of %dx%dx%d points: the smallest side is less than 1/%d of the largest, where HPCG aborts", x, y, z, maxRatio)
		// HPCG counts the entries inside of the domain in 32 bits (GenerateProblem_ref.cpp); totals have 64. Of the
		// ranks with boxes of this height the one with the most neighbours has the most.
		var most int64
		for iz := range g.NZ {
			if p.height(iz) == nz {
				most = max(most, p.crossSection(p.columnAt(min(1, g.NY-1), iz), 0))
			}
		}
		most *= int64(3*p.NX - max(0, 3-g.NX))
		need(x*y*z <= math.MaxInt32 && most <= math.MaxInt32,
			"box of %dx%dx%d points: more nonzeros than HPCG can count for a rank (32 bits)", x, y, z)
	}

	// The counts of sets and iterations fit each other and the part of the run that is traced.
	need(p.Sets >= 1 && p.Sets <= maxSteps, "sets = %d, allowed 1 to %d", p.Sets, maxSteps)
	need(p.Iterations >= 1 && p.Iterations <= maxSteps, "iterations = %d, allowed 1 to %d", p.Iterations, maxSteps)
	need(int64(p.Sets)*int64(p.Iterations) <= maxSteps || len(faults) > 0,
		"%d sets of %d iterations are more than %d steps", p.Sets, p.Iterations, maxSteps)
	quick := p.Seconds == 0 && (p.Phase == All || p.FromFile)
	need(!quick || p.Sets == 1, "rt = 0 is HPCG's quick path, which has one timed set, not %d: give rt, the seconds of "+
		"the timed sets", p.Sets)
	if p.Phase != All {
		return notes, faults.Err()
	}
	need(p.Seconds >= 0, "rt = %d, allowed 0 (quick path) or more seconds", p.Seconds)
	need(p.SetupIterations >= 1 && p.SetupIterations <= maxSetupIterations, "setup iterations = %d, allowed 1 to %d",
		p.SetupIterations, maxSetupIterations)
	least := max(leastIterations, p.SetupIterations)
	need(p.Iterations == least, "iterations = %d, but HPCG takes %d: those of the set-up run, %d, and %d at least",
		p.Iterations, least, p.SetupIterations, leastIterations)
	for _, n := range p.TestIterations {
		need(n >= 1 && n <= maxTestIterations, "iterations of the convergence test = %d, allowed 1 to %d", n,
			maxTestIterations)
	}
	return notes, faults.Err()
}
