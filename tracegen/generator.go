// Package tracegen holds the programs whose traces can be written without running them, a package each: High
// Performance Linpack, package hpl, and High Performance Conjugate Gradients, package hpcg.
//
// A generator is a function of a program's parameters that says what the ranks do in each step. It knows the
// program; trace knows none. What generators share is [Generator], which writes a trace and keeps the first
// failure, so that they have no errors to pass on; docs/generators.md shows how to write one.
//
//	g, err := tracegen.New(ctx, w, header, steps, nil)
//	block := g.Block(builder)
//	g.Step(0)
//	g.Call(&trace.Call{Blocks: []int64{block}})
//	err = g.Close()
//
// [Plain] goes the other way, for tools that know no kernels or polls:
//
//	p := tracegen.Plain{Polls: trace.Hit{}, Flops: tracegen.KernelFlops(t.Header())}
//	n, err := p.Fill(&cursor, actions) // without polls and phases, for other tools
//
// # Units
//
// Amounts of work are in flop, sizes in bytes.
//
// # Errors
//
// Those of Plain name rank and step, those of a Generator the block or the call site.
//
// # Source
//
// There is none: each generator has its own.
package tracegen

import (
	"context"
	"io"

	"reprise/trace"
)

// Generator writes the trace of a program: blocks, and steps in which ranks call them. The
// first failure stops it: what is asked for later does nothing, and Close returns the failure.
// So the code that says what a program does has no errors to pass on.
type Generator struct {
	ctx      context.Context
	writer   *trace.Writer
	steps    int
	progress func(done, all int)
	err      error
	arena    []int64 // columns of the step at hand
}

// New begins a trace on w. Steps is how many will be written; progress, if not nil, is called
// at the beginning of each step and at the end, with the number of steps done and of all.
func New(ctx context.Context, w io.Writer, h *trace.Header, steps int,
	progress func(done, all int)) (*Generator, error) {
	writer, err := trace.NewWriter(w, h, trace.WriterOptions{})
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	return &Generator{ctx: ctx, writer: writer, steps: steps, progress: progress}, nil
}

// OK reports whether nothing has failed, and the context is not done.
func (g *Generator) OK() bool {
	if g.err == nil {
		g.err = g.ctx.Err()
	}
	return g.err == nil
}

// Fail stops the generator with err, unless it is nil.
func (g *Generator) Fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// Block adds a block and returns its number; of an equal one that is there already, its
// number. After a failure it returns 0.
func (g *Generator) Block(b *trace.Builder) int64 {
	if !g.OK() {
		return 0
	}
	n, err := g.writer.Program().Add(b)
	g.Fail(err)
	return int64(n)
}

// Step begins a unit of a step. What Column has returned is used anew.
func (g *Generator) Step(step int) {
	if g.OK() {
		g.progress(min(step, g.steps), g.steps)
		g.Fail(g.writer.Step(step))
	}
	g.arena = g.arena[:0]
}

// Call writes a call of a call site.
func (g *Generator) Call(c *trace.Call) {
	if g.OK() {
		g.Fail(g.writer.Call(c))
	}
}

// Column returns room for the n values of a column, until the next step.
func (g *Generator) Column(n int) []int64 {
	at := len(g.arena)
	if cap(g.arena)-at < n {
		g.arena = make([]int64, 0, 2*cap(g.arena)+n) // columns in use keep the old one
		at = 0
	}
	g.arena = g.arena[:at+n]
	return g.arena[at:]
}

// One returns a column of one value for everybody.
func (g *Generator) One(v int64) []int64 { return g.By(1, func(int64) int64 { return v }) }

// By returns a column of n classes.
func (g *Generator) By(n int64, value func(class int64) int64) []int64 {
	c := g.Column(int(n))
	for i := range c {
		c[i] = value(int64(i))
	}
	return c
}

// Writer returns the writer, for what a generator does not have, such as vectors.
func (g *Generator) Writer() *trace.Writer { return g.writer }

// Close completes the trace, or returns what has failed.
func (g *Generator) Close() error {
	if !g.OK() {
		return g.err
	}
	g.progress(g.steps, g.steps)
	return g.writer.Close()
}

// Groups returns n groups of count members: group i begins at rank i*start and goes on in steps of stride. So a grid of
// P*Q ranks, row by row, has the rows Groups(P, Q, 1, Q) and the columns Groups(Q, 1, Q, P).
func Groups(n, start, stride, count int) []trace.Group {
	list := make([]trace.Group, n)
	for i := range list {
		list[i] = trace.Group{Start: int32(i * start), Stride: int32(stride), Count: int32(count)}
	}
	return list
}

// Blocks returns a column of n blocks, one for each class of an axis: those of equal keys are made once.
func Blocks[K comparable](n int, key func(class int) K, block func(K) int64) []int64 {
	known := map[K]int64{}
	column := make([]int64, n)
	for class := range column {
		k := key(class)
		if _, ok := known[k]; !ok {
			known[k] = block(k)
		}
		column[class] = known[k]
	}
	return column
}
