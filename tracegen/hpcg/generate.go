// Package hpcg writes traces of the High Performance Conjugate Gradients benchmark: what
// every rank of a run does, without times.
//
// It knows HPCG 3.1's control flow: process grid, boxes and their four levels, the halo of
// the 27-point stencil, the multigrid cycle and the conjugate gradients around it. The trace
// holds the same kernel calls, messages and reductions, in the same order, with the same
// peers, tags, sizes and dimensions as the real code; docs/hpcg.md says how that is checked.
//
//	p := hpcg.DefaultParams(64, 104) // 64 ranks, 104^3 points each
//	err := hpcg.Generate(ctx, w, p, hpcg.Options{})
//
// What HPCG takes from time, the number of timed sets, and from floating-point values, the
// iterations of its tests, are parameters.
//
// The generator never handles ranks one by one. What a rank does follows from its position in the grid: a block
// (trace.Block) is made for each class of positions in y and z (first, inner, last, height of the slab), the
// position in x is an argument, and the peer in a direction is the own rank plus a constant. So the trace's size
// grows with the number of lines of ranks along x, not with that of the ranks.
//
// # Units
//
// Sizes of grids are in points, messages in bytes, of doubles of 8 bytes, flop by HPCG's own formulas.
//
// # Errors
//
// What is wrong with parameters is said all at once (Params.Complete), with a file and line
// where they come from an hpcg.dat.
//
// # Source
//
// HPCG 3.1 of Dongarra, Heroux and Luszczek, github.com/hpcg-benchmark/hpcg; M. Heroux,
// J. Dongarra, P. Luszczek, HPCG Benchmark Technical Specification, SAND2013-8752.
package hpcg

import (
	"context"
	"io"

	"reprise/trace"
	"reprise/tracegen"
)

// Options say how to write a trace, not what is in it.
type Options struct {
	Tool    string // name and version of the program that writes, for the header
	Command string // its command line, for the header
	// Progress, if not nil, is called after each step with the number of steps done and the number of all.
	Progress func(done, all int)
}

// Steps returns the number of steps: each iteration of a timed set is a step. If the whole run is traced, so is
// what comes before the first iteration, and what comes after the last.
func (p *Params) Steps() int {
	n := p.Sets * p.Iterations
	if p.Phase == All {
		n += 2
	}
	return n
}

// Generate writes the trace of a run of HPCG to w, in one pass, with the parameters as
// Complete leaves them. It fails if that does, if w does, or when ctx is done.
func Generate(ctx context.Context, w io.Writer, p Params, o Options) error {
	if _, err := p.Complete(); err != nil {
		return err
	}
	out, err := tracegen.New(ctx, w, header(&p, &o), p.Steps(), o.Progress)
	if err != nil {
		return err
	}
	g := &generator{Generator: out, params: &p, library: &library{p: &p, out: out, halos: map[haloKey]int{}}, x: make([]int64, p.Grid.NX)}
	for i := range g.x {
		g.x[i] = int64(i)
	}

	// The timed sets are an iteration a step. Before and after them come the parts of the whole run, if it is traced.
	if p.Phase == All {
		g.step()
		g.call(g.byLine(g.library.before))
	}
	n := p.Iterations
	timed := func(name string, body func(b *body)) []int64 {
		return g.byLine(func(c column) int64 {
			b := g.library.newBody(name, c, true)
			body(b)
			return b.done()
		})
	}
	start := timed("start", func(b *body) { b.start(timedCG, n) })
	first := timed("iteration", func(b *body) { b.iteration(timedCG, true) })
	next := timed("iteration", func(b *body) { b.iteration(timedCG, false) })
	ending := trace.NewBuilder("end", 0)
	ending.Mark(endTimed, trace.Const(int64(n)))
	end := g.everywhere(g.Block(ending))
	for range p.Sets {
		g.step()
		g.call(start)
		g.call(first)
		for range n - 1 {
			g.step()
			g.call(next)
		}
		g.call(end)
	}
	if p.Phase == All {
		g.step()
		// The report: minimum, maximum and sum of a time.
		report := g.library.newBody("report", p.columnAt(0, 0), false)
		report.Mark(beginReport)
		report.allreduce(trace.OperatorMin)
		report.allreduce(trace.OperatorMax)
		report.allreduce(trace.OperatorSum)
		report.Mark(endReport)
		g.call(g.everywhere(report.done()))
	}
	return g.Close()
}

// generator writes what all ranks do.
type generator struct {
	*tracegen.Generator
	params  *Params
	library *library
	x       []int64 // the column of positions in x
	steps   int     // begun so far
}

// byLine returns a column of blocks, which depend on the lines' class only.
func (g *generator) byLine(block func(column) int64) []int64 {
	grid := g.params.Grid
	return tracegen.Blocks(grid.NY*grid.NZ, func(line int) column { return g.params.columnAt(line%grid.NY, line/grid.NY) },
		block)
}

// everywhere returns a column of one block.
func (g *generator) everywhere(block int64) []int64 {
	return g.byLine(func(column) int64 { return block })
}

// step begins the next step.
func (g *generator) step() {
	g.Step(g.steps)
	g.steps++
}

// call writes what all ranks do next.
func (g *generator) call(blocks []int64) {
	g.Call(&trace.Call{Site: callWork, Blocks: blocks, Args: [][]int64{g.x}})
}
