// Package vectors makes vectors of integers from a few numbers, so that a file can
// state how a vector is made instead of its elements.
//
// A [Kind] is a rule with a name and a version, such as "pivot-owners/1". It makes
// element i from its integer arguments and from i alone: in integer arithmetic, so
// that all machines make the same bits, and without state, so that elements can be
// made in any order. A vector that is made so is a [Generated]: a kind, its
// arguments and a number of elements.
//
//	g := vectors.PivotOwners{Seed: 1, First: 0, Count: 64, Rows: 1000, Block: 64, Owners: 4}.Generated()
//	values := g.Append(nil)
//
// The kinds are a fixed table: what a program can read does not depend on what else
// is linked into it. A new rule is a file of this package with a row in the table, and
// a section in the appendix of docs/trace-format.md; a rule never changes once files
// were written with it, it gets the next version and another row.
//
// # Units
//
// Elements and arguments are integers without a unit.
//
// # Errors
//
// A [Generated] says by its Check what is wrong with it, naming the argument.
//
// # Source
//
// docs/trace-format.md has each kind's rule; the mixing of bits is that of SplitMix64 (Steele,
// Lea, Flood, OOPSLA 2014).
package vectors
