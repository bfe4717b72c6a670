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
// The generator never handles ranks one by one. What a rank does follows from its position
// in the grid: a block (trace.Block) is made for each class of positions in y and z (first,
// inner, last, height of the slab), the position in x is an argument, and the peer in a
// direction is the own rank plus a constant. So the trace's size grows with the number of
// lines of ranks along x, not with that of the ranks.
//
// # Units
//
// Sizes of grids are in points, messages in bytes, of doubles of 8 bytes, flop by HPCG's own
// formulas.
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
