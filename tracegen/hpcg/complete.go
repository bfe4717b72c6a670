package hpcg

import (
	"errors"
	"fmt"
	"math"

	"reprise/trace"
)

// Complete sets what HPCG sets where parameters are 0 or too small, as HPCG does it, and
// returns a note for each value that was given and is not taken. It fails, with all reasons,
// on what HPCG refuses, and on what it accepts and hangs on. Source: HPCG 3.1, init.cpp,
// GenerateGeometry.cpp, CheckAspectRatio.cpp, GenerateCoarseProblem.cpp.
func (p *Params) Complete() (notes []string, err error) {
	if p.Ranks < 1 || p.Ranks > trace.MaxRanks {
		return nil, fmt.Errorf("ranks = %d, allowed 1 to %d", p.Ranks, trace.MaxRanks)
	}
	if err := p.checkNumbers(); err != nil {
		return nil, err
	}
	notes = append(p.raise(), p.chooseGrid()...)
	c := checks{}
	p.checkGrid(&c)
	p.checkSlabs(&c)
	p.checkBoxes(&c)
	p.checkRun(&c)
	return notes, errors.Join(c...)
}

// checks collects what is wrong.
type checks []error

func (c *checks) need(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Errorf(format, args...))
	}
}

// maxSide bounds the points of a box, and the positions of a grid, in a direction, so that
// products of three fit.
const maxSide = 1 << 20

func (p *Params) checkNumbers() error {
	c := checks{}
	for _, v := range []struct {
		name  string
		value int
	}{{"nx", p.NX}, {"ny", p.NY}, {"nz", p.NZ}, {"zl", p.ZL}, {"zu", p.ZU}, {"pz", p.PZ},
		{"npx", p.Grid.NX}, {"npy", p.Grid.NY}, {"npz", p.Grid.NZ}} {
		c.need(v.value >= 0 && v.value <= maxSide, "%s = %d, allowed 0 (HPCG chooses) to %d", v.name, v.value, maxSide)
	}
	c.need(p.NX|p.NY|p.NZ|p.ZL|p.ZU != 0, "no size of the boxes: give nx, ny, nz")
	return errors.Join(c...)
}

// minSide is the least number of points of a box in a direction.
const minSide = 16

// raise gives sizes below 16, in this order, that of the larger of the others, 16 at least.
func (p *Params) raise() (notes []string) {
	if p.slabs() {
		return nil // checkSlabs
	}
	n := [3]*int{&p.NX, &p.NY, &p.NZ}
	for i, name := range []string{"nx", "ny", "nz"} {
		if *n[i] >= minSide {
			continue
		}
		was := *n[i]
		*n[i] = max(minSide, *n[(i+1)%3], *n[(i+2)%3])
		if was > 0 {
			notes = append(notes, fmt.Sprintf("%s = %d is below %d: HPCG takes %d", name, was, minSide, *n[i]))
		}
	}
	return notes
}

// chooseGrid sets the process grid unless the given one can be taken.
func (p *Params) chooseGrid() (notes []string) {
	given := p.Grid
	if n := given.Ranks(); n >= 1 && n <= p.Ranks {
		return nil
	}
	p.Grid = ChooseGrid(p.Ranks)
	if given != (Grid{}) && given != p.Grid {
		notes = append(notes, fmt.Sprintf("the grid %v is not one of %d ranks: HPCG takes %v", given, p.Ranks, p.Grid))
	}
	return notes
}

// String returns a grid as 4x2x1.
func (g Grid) String() string { return fmt.Sprintf("%dx%dx%d", g.NX, g.NY, g.NZ) }

// maxRatio is the largest side of a box or grid relative to its smallest.
const maxRatio = 8

func (p *Params) checkGrid(c *checks) {
	g := p.Grid
	c.need(g.Ranks() >= p.Ranks, "the grid %v has %d positions for %d ranks: HPCG takes it, the surplus ranks own points outside of the domain, and the first halo exchange hangs; leave the grid out or run %d ranks",
		g, g.Ranks(), p.Ranks, g.Ranks())
	c.need(max(g.NX, g.NY, g.NZ) <= maxRatio*min(g.NX, g.NY, g.NZ),
		"process grid %v of %d ranks: the smallest side is less than 1/%d of the largest, where HPCG aborts: take another number of ranks",
		g, p.Ranks, maxRatio)
}

func (p *Params) checkSlabs(c *checks) {
	if !p.slabs() {
		c.need(p.ZL == 0 && p.ZU == 0, "zl = %d, zu = %d without pz: HPCG does not look at them; give pz, or nz alone", p.ZL,
			p.ZU)
		return
	}
	c.need(p.NZ == 0, "nz = %d with pz: the heights are zl and zu, and with another nz HPCG hangs", p.NZ)
	c.need(p.PZ < p.Grid.NZ, "pz = %d, allowed 1 to %d, npz - 1: an assertion of HPCG", p.PZ, p.Grid.NZ-1)
	for _, v := range []struct {
		name  string
		value int
	}{{"nx", p.NX}, {"ny", p.NY}, {"zl", p.ZL}, {"zu", p.ZU}} {
		c.need(v.value >= minSide, "%s = %d with slabs, allowed %d or more: HPCG raises smaller ones, each rank for itself, and then hangs", v.name, v.value, minSide)
	}
}

// heights returns the heights of boxes that occur, each once.
func (p *Params) heights() []int {
	switch {
	case !p.slabs():
		return []int{p.NZ}
	case p.ZL == p.ZU:
		return []int{p.ZL}
	}
	return []int{p.ZL, p.ZU}
}

// halvings is how often a box is halved: it has one more level.
const halvings = 3

func (p *Params) checkBoxes(c *checks) {
	for _, v := range []struct {
		name  string
		value int
	}{{"nx", p.NX}, {"ny", p.NY}, {"nz", p.NZ}, {"zl", p.ZL}, {"zu", p.ZU}} {
		c.need(v.value%(1<<halvings) == 0,
			"%s = %d is not divisible by %d: an assertion of HPCG stops the run where it halves the box, %d times",
			v.name, v.value, 1<<halvings, halvingOf(v.value))
	}
	for _, nz := range p.heights() {
		x, y, z := int64(p.NX), int64(p.NY), int64(nz)
		if min(x, y, z) < minSide {
			continue // checkSlabs
		}
		c.need(max(x, y, z) <= maxRatio*min(x, y, z),
			"box of %dx%dx%d points: the smallest side is less than 1/%d of the largest, where HPCG aborts", x, y, z, maxRatio)
		c.need(x*y*z <= math.MaxInt32 && p.mostNonzeros(nz) <= math.MaxInt32,
			"box of %dx%dx%d points: more nonzeros than HPCG can count for a rank (32 bits)", x, y, z)
	}
}

// mostNonzeros returns the nonzeros of the rank that has the most, of those with boxes of this height: the one with
// the most neighbours. HPCG counts the entries inside of the domain, in 32 bits (GenerateProblem_ref.cpp); totals
// have 64.
func (p *Params) mostNonzeros(nz int) int64 {
	var most int64
	for iz := range p.Grid.NZ {
		if p.height(iz) == nz {
			most = max(most, p.crossSection(p.columnAt(min(1, p.Grid.NY-1), iz), 0))
		}
	}
	return most * int64(3*p.NX-max(0, 3-p.Grid.NX))
}

// halvingOf returns which halving of n fails.
func halvingOf(n int) int {
	k := 1
	for ; n%2 == 0 && n > 0; n /= 2 {
		k++
	}
	return k
}

// maxSteps bounds the iterations of all timed sets: each is a step of the trace.
const maxSteps = 1 << 24

func (p *Params) checkRun(c *checks) {
	c.need(p.Sets >= 1 && p.Sets <= maxSteps, "sets = %d, allowed 1 to %d", p.Sets, maxSteps)
	c.need(p.Iterations >= 1 && p.Iterations <= maxSteps, "iterations = %d, allowed 1 to %d", p.Iterations, maxSteps)
	c.need(int64(p.Sets)*int64(p.Iterations) <= maxSteps || len(*c) > 0, "%d sets of %d iterations are more than %d steps",
		p.Sets, p.Iterations, maxSteps)
	quick := p.Seconds == 0 && (p.Phase == All || p.FromFile)
	c.need(!quick || p.Sets == 1, "rt = 0 is HPCG's quick path, which has one timed set, not %d: give rt, the seconds of the timed sets", p.Sets)
	if p.Phase != All {
		return
	}
	c.need(p.Seconds >= 0, "rt = %d, allowed 0 (quick path) or more seconds", p.Seconds)
	c.need(p.SetupIterations >= 1 && p.SetupIterations <= maxSetupIterations, "setup iterations = %d, allowed 1 to %d",
		p.SetupIterations, maxSetupIterations)
	least := max(leastIterations, p.SetupIterations)
	c.need(p.Iterations == least, "iterations = %d, but HPCG takes %d: those of the set-up run, %d, and %d at least",
		p.Iterations, least, p.SetupIterations, leastIterations)
	for _, n := range p.TestIterations {
		c.need(n >= 1 && n <= maxTestIterations, "iterations of the convergence test = %d, allowed 1 to %d", n,
			maxTestIterations)
	}
}

// Iterations after which HPCG gives up.
const (
	maxTestIterations  = 50
	maxSetupIterations = 500
	refIterations      = 50 // of the reference run
)
