// Package tracegen holds the programs whose traces can be written without
// running them, a package each: High Performance Linpack, package hpl, and High
// Performance Conjugate Gradients, package hpcg.
//
// A generator is a function of a program's parameters that says what the ranks do in each
// step. It knows the program; trace knows none. What generators share is [Generator], which
// writes a trace and keeps the first failure, so that they have no errors to pass on;
// docs/generators.md shows how to write one.
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
