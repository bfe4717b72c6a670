// Package mxp writes traces of HPL-MxP (HPL-AI), which solves HPL's system with products of low precision and refines
// the solution: what every rank of a run does, without times.
//
// It knows two programs, RIKEN's HPL-AI, which ran on Fugaku, and rocHPL-MxP, for AMD's GPUs: no pivoting, a
// look-ahead of one step, panels of low precision, and a refinement whose matrix is generated on the fly. The trace
// holds the same kernel calls, messages and polls, in the same order, as the real programs.
//
//	p, err := mxp.WithDefaults([]trace.Param{{"N", "480"}, {"NB", "20"}, {"P", "4"}, {"Q", "4"}, {"bcast", "chain"}})
//	err = mxp.Generate(ctx, w, p, mxp.Options{})
//
// How many residuals it takes until the solution is good depends on values of the matrix, and is a parameter.
//
// # Units
//
// Sizes of messages are in bytes, of kernels in rows and columns.
//
// # Errors
//
// An error of parameters lists all that is wrong with them.
//
// # Source
//
// github.com/RIKEN-RCCS/hpl-ai of 2021-06-29, github.com/ROCm/rocHPL-MxP of 2025-04-24.
package mxp

import (
	"context"
	"io"

	"reprise/trace"
	"reprise/tracegen"
)

// Options say how to write a trace, not what is in it.
type Options struct {
	Tool, Command string // for the header
	Progress      func(done, all int)
}

// generator writes what all ranks do.
type generator struct {
	*tracegen.Generator
	p          *Params
	b, nb      int64 // NB, and blocks in a direction
	rows, cols int64 // P and Q
	high, gemm string
	highBytes  int64
	lowBytes   int64
	kernels    map[string]int
	blocks     map[blockKey]int64

	// Columns that stay: by process row its number and rows, and by process column, and the entries of vectors by rank.
	row, col, height, width, diagonal []int64
}

// blockKey names a block that is made once.
type blockKey struct {
	name             string
	first, row, col  bool // of step 0; on the step's process row and column
	distance, parity int64
}

// newGenerator returns a generator of a run, which knows the names of its kernels.
func newGenerator(p *Params) *generator {
	g := &generator{p: p, b: int64(p.NB), nb: p.Blocks(), rows: int64(p.P), cols: int64(p.Q),
		blocks: map[blockKey]int64{}, high: "s", highBytes: 4, lowBytes: 2}
	deck := p.Deck != "none"
	switch {
	case p.High == "fp64" && deck:
		g.gemm = "sgemm"
	case p.High == "fp64":
		g.gemm = "dsgemm"
	case p.packed():
		g.gemm = "hgemmp"
	case deck:
		g.gemm = "hgemm"
	default:
		g.gemm = "shgemm"
	}
	if p.High == "fp64" {
		g.high, g.highBytes, g.lowBytes = "d", 8, 4
		if p.packed() {
			g.gemm += "p"
		}
	}
	return g
}

// Kernels returns the kernels that the trace of a run has.
func (p *Params) Kernels() []trace.Kernel { return newGenerator(p).kernelTable() }

// Generate writes the trace of a run to w, in one pass. Parameters are those of WithDefaults.
func Generate(ctx context.Context, w io.Writer, p Params, o Options) error {
	g := newGenerator(&p)
	out, err := tracegen.New(ctx, w, g.header(o.Tool, o.Command), p.Steps(), o.Progress)
	if err != nil {
		return err
	}
	g.Generator = out
	for r := range g.rows {
		g.row = append(g.row, r)
		g.height = append(g.height, g.b*g.local(r, g.rows))
	}
	for q := range g.cols {
		g.col = append(g.col, q)
		g.width = append(g.width, g.b*g.local(q, g.cols))
	}
	g.factorize()
	g.refine()
	return g.Close()
}

// local returns the blocks that a process row or column of n has.
func (g *generator) local(at, n int64) int64 { return (g.nb - at + n - 1) / n }

// left returns the blocks of a process row or column of n from step k on.
func (g *generator) left(k, at, n int64) int64 {
	done := k / n
	if k%n > at {
		done++
	}
	return g.local(at, n) - done
}

// k returns the number of a kernel.
func (g *generator) k(name string) int {
	n, ok := g.kernels[name]
	if !ok {
		panic("no kernel " + name)
	}
	return n
}

// block returns a block, which is made once for each key, with n parameters.
func (g *generator) block(key blockKey, n int, body func(b *trace.Builder, a []trace.Operand)) int64 {
	if block, ok := g.blocks[key]; ok {
		return block
	}
	b := trace.NewBuilder(key.name, n)
	var a []trace.Operand
	for i := range n {
		a = append(a, b.Param(i))
	}
	body(b, a)
	g.blocks[key] = g.Block(b)
	return g.blocks[key]
}

// call writes a call of a site: its mask, if it has one, blocks and arguments.
func (g *generator) call(site int, mask, blocks []int64, args ...[]int64) {
	c := &trace.Call{Site: site, Blocks: blocks, Args: args}
	if mask != nil {
		c.Masks = [][]int64{mask}
	}
	g.Call(c)
}

// run writes what all ranks do, of whose block the parameters are rows, columns and the iteration.
func (g *generator) run(name string, it int64, body func(b *trace.Builder, a []trace.Operand)) {
	g.call(callRun, nil, g.One(g.block(blockKey{name: name}, 3, body)), g.height, g.width, g.One(it))
}

// vectors writes what all ranks do with vectors: the parameters are rows, entries and the iteration.
func (g *generator) vectors(name string, it int64, body func(b *trace.Builder, a []trace.Operand)) {
	if g.diagonal == nil {
		g.diagonal = make([]int64, g.rows*g.cols)
		for w := range g.diagonal {
			r, q := g.p.Place(w)
			for i := int64(r); i < g.nb; i += g.rows {
				if i%g.cols == int64(q) {
					g.diagonal[w] += g.b
				}
			}
		}
	}
	g.call(callVectors, nil, g.One(g.block(blockKey{name: name}, 3, body)), g.height, g.diagonal, g.One(it))
}

// reduce appends an allreduce of bytes, in all ranks or the own group of a family.
func reduce(b *trace.Builder, comm trace.Comm, op trace.Operator, bytes trace.Operand) {
	b.Collective(trace.CollAllreduce, trace.CollectiveOperands{Send: b.Scale(1, bytes), SendSize: trace.Const(1),
		Operator: op, Comm: comm})
}

// barrier appends a barrier of all ranks.
func barrier(b *trace.Builder) { b.Collective(trace.CollBarrier, trace.CollectiveOperands{}) }

// not returns 1 - x.
func not(b *trace.Builder, x trace.Operand) trace.Operand { return b.Affine([]int64{-1}, x).Plus(1) }

// isOne returns 1 if the condition holds, else 0.
func isOne(cond bool) int64 {
	if cond {
		return 1
	}
	return 0
}
