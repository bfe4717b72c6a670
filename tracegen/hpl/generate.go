// Package hpl writes traces of High Performance Linpack: what every rank of a
// run does between the entry and the exit of HPL's timed solver, without times.
//
// It executes HPL 2.3's control flow symbolically, from the parameters of an HPL.dat alone: the recursive panel
// factorization with its pivot exchanges, the six panel broadcasts, the trailing update with its row swaps and
// polls, look-ahead of any depth, and the back substitution. The trace holds the same kernel calls, messages and
// polls, in the same order, with the same peers, tags, sizes and dimensions as the real code; docs/hpl.md says how
// that is checked and what is left out.
//
//	p := hpl.DefaultParams(20000, 4, 4)
//	err := hpl.Generate(ctx, w, p, hpl.Options{})
//
// What HPL takes from the values of its matrix is the choice of pivots: see Pivots. What it takes from time, the
// outcome of polls, is not in the trace: a poll is an action there.
//
// The generator never handles ranks one by one. It makes blocks (trace.Block) by role, that is by distance of a
// process row or column from the panel's, and calls them with arguments that belong to a process row, a process
// column or everybody. So its cost, and the trace's size, grow with P+Q, not with P*Q.
//
// # Units
//
// N, NB and thresholds are numbers of rows or columns; messages are in bytes, of doubles of 8 bytes.
//
// # Errors
//
// What is wrong with parameters is said all at once (Params.Validate), with a file and
// line where they come from an HPL.dat.
//
// # Source
//
// HPL 2.3 of Petitet, Whaley, Dongarra and Cleary, netlib.org/benchmark/hpl.
package hpl

import (
	"context"
	"io"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/vectors"
	"reprise/tracegen"
)

// Options say how to write a trace, not what is in it.
type Options struct {
	Tool    string // name and version of the program that writes, for the header
	Command string // its command line, for the header
	// Progress, if not nil, is called after each step with the number of steps done and the number of all.
	Progress func(done, all int)
}

// Generate writes the trace of an HPL run to w, in one pass. It fails if the
// parameters are not valid, if w does, or when ctx is done.
func Generate(ctx context.Context, w io.Writer, p Params, o Options) (err error) {
	defer textutil.Stopped(&err)
	textutil.Check(p.Validate())
	pivots := &pivotRows{Pivots: p.Pivots, n: int64(p.N), key: vectors.PivotKey(p.Pivots.Seed)}
	if p.Pivots.Kind == LUPivots { // the matrix is factored, until ctx is done
		pivots.Rows = textutil.Must(factorPivots(ctx, p.N, p.NB, p.P))
	}
	limit := p.Steps()
	if p.FirstSteps > 0 {
		limit = min(limit, p.FirstSteps)
	}
	out := textutil.Must(tracegen.New(ctx, w, header(&p, &o), limit, o.Progress))
	g := &generator{Generator: out, grid: newGrid(&p), params: &p, pivots: pivots,
		lib: newLibrary(&p, out), limit: limit, counts: make([]int64, p.P)}

	// The main loop, and before it the marker of HPL's timed solver.
	g.Step(0)
	begin := trace.NewBuilder("begin", 0)
	begin.Mark(beginSolver, trace.Const(g.n), trace.Const(g.nb))
	g.call(callBegin, nil, g.One(int64(g.lib.add(begin))))
	var pending []*panel
	switch {
	case p.Program.roc():
		g.roc()
	case p.lookAhead() == 0:
		g.plain()
	default:
		pending = g.lookAhead()
	}
	if limit < p.Steps() {
		return g.Close()
	}

	// The last step has the drain of the look-ahead, and the solve.
	if !p.Program.roc() {
		g.Step(p.Steps())
	}
	for _, x := range pending { // with the panels that are left, the right-hand side alone is updated
		g.update(x, noBcast, g.everyColumn(), g.byCol(func(q int64) int64 { return g.cols(g.n, 1, q) }))
	}
	g.call(callBegin, nil, g.One(g.markBlock("solve", beginSolve)))
	g.backSubstitution()
	g.call(callEnd, nil, g.One(g.markBlock("end", endSolve, endSolver)))
	return g.Close()
}

// generator executes HPL's control flow for all processes at once: each call
// below says what the process rows and columns do, not what one rank does.
type generator struct {
	*tracegen.Generator
	grid
	params *Params
	lib    *library
	pivots *pivotRows
	limit  int // steps to write

	counts []int64 // K of the panel at hand, by distance
}

// call writes a call of a site, with a column for each of its masks.
func (g *generator) call(site int, masks [][]int64, blocks []int64, args ...[]int64) {
	g.Call(&trace.Call{Site: site, Masks: masks, Blocks: blocks, Args: args})
}

// only returns a mask of n classes, open for one.
func (g *generator) only(n, class int64) []int64 {
	c := g.Column(int(n))
	clear(c)
	c[class] = 1
	return c
}

// onColumn returns the masks of a call that is open for one process column.
func (g *generator) onColumn(q int64) [][]int64 { return [][]int64{g.only(g.q, q)} }

// everyColumn returns the masks of a call that is open for all process columns.
func (g *generator) everyColumn() [][]int64 {
	return [][]int64{g.byCol(func(int64) int64 { return 1 })}
}

// byRow returns a column with a value for each process row, byCol one for each process column.
func (g *generator) byRow(value func(r int64) int64) []int64 { return g.By(g.p, value) }
func (g *generator) byCol(value func(q int64) int64) []int64 { return g.By(g.q, value) }

// byDistance returns, for each process row, the block of its distance from the panel's.
func (g *generator) byDistance(p *panel, blocks []int64) []int64 {
	return g.byRow(func(r int64) int64 { return blocks[mod(r-p.prow, g.p)] })
}

// markBlock returns the block of markers without arguments.
func (g *generator) markBlock(name string, markers ...int) int64 {
	b := trace.NewBuilder(name, 0)
	for _, m := range markers {
		b.Mark(m)
	}
	return int64(g.lib.add(b))
}
