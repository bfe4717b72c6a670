package hpcg

import (
	"context"
	"io"

	"reprise/trace"
)

// Options say how to write a trace, not what is in it.
type Options struct {
	Tool    string // name and version of the program that writes, for the header
	Command string // its command line, for the header
	// Progress, if not nil, is called after each step with the number of steps
	// done and the number of all.
	Progress func(done, all int)
}

// Steps returns the number of steps: an iteration of a timed set is one, as is what comes
// before the first and what comes after the last, if these are traced.
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
	tw, err := trace.NewWriter(w, header(&p, &o), trace.WriterOptions{})
	if err != nil {
		return err
	}
	g := &generator{ctx: ctx, params: &p, options: &o, writer: tw, library: newLibrary(&p, tw.Program()), x: make([]int64, p.Grid.NX)}
	for i := range g.x {
		g.x[i] = int64(i)
	}
	if err := g.run(); err != nil {
		return err
	}
	return tw.Close()
}

// generator writes what all ranks do. The first failure stops it: later calls do nothing.
type generator struct {
	ctx     context.Context
	params  *Params
	options *Options
	writer  *trace.Writer
	library *library
	x       []int64 // the column of positions in x
	steps   int     // begun so far
	err     error
}

// run writes the whole trace.
func (g *generator) run() error {
	if g.params.Phase == All {
		before := g.byLine(g.library.before)
		g.step()
		g.call(before)
	}
	g.timed()
	if g.params.Phase == All {
		g.step()
		g.call(g.everywhere(g.library.after()))
	}
	if g.err == nil && g.options.Progress != nil {
		g.options.Progress(g.steps, g.steps)
	}
	return g.err
}

// timed writes the timed sets, an iteration a step.
func (g *generator) timed() {
	n := g.params.Iterations
	start := g.byLine(func(c column) int64 {
		b := g.library.newBody("start", c, true)
		b.start(timedCG, n)
		return b.done()
	})
	iteration := func(first bool) []int64 {
		return g.byLine(func(c column) int64 {
			b := g.library.newBody("iteration", c, true)
			b.iteration(timedCG, first)
			return b.done()
		})
	}
	first, next, end := iteration(true), iteration(false), g.everywhere(g.library.end(n))
	for range g.params.Sets {
		g.step()
		g.call(start)
		g.call(first)
		for range n - 1 {
			g.step()
			g.call(next)
		}
		g.call(end)
	}
}

// end returns the block of the end of a timed set of n iterations.
func (l *library) end(n int) int64 {
	b := trace.NewBuilder("end", 0)
	b.Mark(endTimed, trace.Const(int64(n)))
	return int64(l.add(b))
}

// byLine returns a column of blocks, which depend on the lines' class only.
func (g *generator) byLine(block func(column) int64) []int64 {
	grid := g.params.Grid
	known := map[column]int64{}
	list := make([]int64, 0, grid.NY*grid.NZ)
	for iz := range grid.NZ {
		for iy := range grid.NY {
			c := g.params.columnAt(iy, iz)
			if _, ok := known[c]; !ok {
				known[c] = block(c)
			}
			list = append(list, known[c])
		}
	}
	return list
}

// everywhere returns a column of one block.
func (g *generator) everywhere(block int64) []int64 {
	return g.byLine(func(column) int64 { return block })
}

// step begins the next step.
func (g *generator) step() {
	if g.err == nil {
		g.err = g.library.err
	}
	if g.err == nil {
		g.err = g.ctx.Err()
	}
	if g.err != nil {
		return
	}
	if g.options.Progress != nil {
		g.options.Progress(g.steps, g.params.Steps())
	}
	g.err = g.writer.Step(g.steps)
	g.steps++
}

// call writes what all ranks do next.
func (g *generator) call(blocks []int64) {
	if g.err == nil {
		g.err = g.library.err
	}
	if g.err == nil {
		g.err = g.writer.Call(&trace.Call{Site: callWork, Blocks: blocks, Args: [][]int64{g.x}})
	}
}
