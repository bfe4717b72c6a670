// Package hpl writes traces of High Performance Linpack: what every rank of a
// run does between the entry and the exit of HPL's timed solver, without times.
//
// It executes HPL 2.3's control flow symbolically, from the parameters of an
// HPL.dat alone: the recursive panel factorization with its pivot exchanges, the
// six panel broadcasts, the trailing update with its row swaps and polls,
// look-ahead of any depth, and the back substitution. The trace holds the same
// kernel calls, messages and polls, in the same order, with the same peers,
// tags, sizes and dimensions as the real code; docs/hpl.md says how that is
// checked and what is left out.
//
//	p := hpl.DefaultParams(20000, 4, 4)
//	err := hpl.Generate(ctx, w, p, hpl.Options{})
//
// What HPL takes from the values of its matrix is the choice of pivots: see
// Pivots. What it takes from time, the outcome of polls, is not in the trace:
// a poll is an action there.
//
// The generator never handles ranks one by one. It makes blocks (trace.Block) by
// role, that is by distance of a process row or column from the panel's, and
// calls them with arguments that belong to a process row, a process column or
// everybody. So its cost, and the trace's size, grow with P+Q, not with P*Q.
//
// # Units
//
// N, NB and thresholds are numbers of rows or columns; messages are in bytes, of doubles
// of 8 bytes.
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
