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

import (
	"fmt"

	"reprise/internal/portable"
)

// Kind is a rule that makes vectors.
type Kind struct {
	name string
	args []string
	// check says what is wrong with arguments, of which there are as many as args.
	check func(args []int64, count int64) error
	// fill sets all of dst.
	fill func(dst, args []int64)
}

// kinds are the rules that there are.
var kinds = [...]*Kind{&pivotOwners}

// Find returns the kind of a name, nil if there is none.
func Find(name string) *Kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

// Names lists the kinds.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Name returns the kind's name with its version: NAME/VERSION.
func (k *Kind) Name() string { return k.name }

// Args names the arguments, in the order of Generated.Args; the result must not be
// changed.
func (k *Kind) Args() []string { return k.args }

// Generated is a vector stated by how it is made.
type Generated struct {
	Kind  *Kind
	Args  []int64 // one for each of Kind.Args
	Count int64   // elements
}

// Check reports what the kind cannot make. It does not bound Count, which is as much
// as Append allocates.
func (g *Generated) Check() error {
	if g.Kind == nil {
		return fmt.Errorf("vector of no kind")
	}
	if len(g.Args) != len(g.Kind.args) {
		return fmt.Errorf("%s: %d arguments, want %d", g.Kind.name, len(g.Args), len(g.Kind.args))
	}
	if g.Count < 0 {
		return fmt.Errorf("%s: %d elements", g.Kind.name, g.Count)
	}
	if err := g.Kind.check(g.Args, g.Count); err != nil {
		return fmt.Errorf("%s: %w", g.Kind.name, err)
	}
	return nil
}

// Append appends the Count elements to dst. The vector must pass Check.
func (g *Generated) Append(dst []int64) []int64 {
	n := len(dst)
	dst = append(dst, make([]int64, g.Count)...)
	g.Kind.fill(dst[n:], g.Args)
	return dst
}

// PivotOwners says which processes own the pivot rows of a block of columns, if
// pivots are drawn uniformly from the rows that remain: of the LU factorization of a
// matrix of Rows rows, in blocks of Block rows that are dealt cyclically to Owners
// process rows. Element i, 0 <= i < Count, belongs to column c = First+i. With r the
// row that [PivotRow] draws it is 0 if r = c, else 1 + the distance from the owner of
// row First to that of row r,
//
//	(r/Block - First/Block) mod Owners
//
// so elements are from 0 to Owners. As the owners themselves they would cost
// log2(Owners) bits each.
type PivotOwners struct {
	Seed                uint64
	First, Count        int64
	Rows, Block, Owners int64
}

// pivotOwners is the kind of PivotOwners.
var pivotOwners = Kind{
	name:  "pivot-owners/1",
	args:  []string{"seed", "first", "rows", "block", "owners"},
	check: checkPivotOwners,
	fill:  fillPivotOwners,
}

// Generated returns the vector.
func (p PivotOwners) Generated() *Generated {
	return &Generated{Kind: &pivotOwners, Args: []int64{int64(p.Seed), p.First, p.Rows, p.Block, p.Owners}, Count: p.Count}
}

// pivotOwnersOf undoes Generated: it names the arguments.
func pivotOwnersOf(args []int64, count int64) PivotOwners {
	return PivotOwners{Seed: uint64(args[0]), First: args[1], Count: count, Rows: args[2], Block: args[3], Owners: args[4]}
}

// checkPivotOwners bounds the columns by the rows, without sums that could overflow.
func checkPivotOwners(args []int64, count int64) error {
	p := pivotOwnersOf(args, count)
	switch {
	case p.First < 0 || p.Rows < p.Count || p.First > p.Rows-p.Count:
		return fmt.Errorf("columns [%d,%d+%d) of %d rows", p.First, p.First, p.Count, p.Rows)
	case p.Block < 1 || p.Owners < 1:
		return fmt.Errorf("blocks of %d rows dealt to %d owners", p.Block, p.Owners)
	}
	return nil
}

// fillPivotOwners computes each element by itself, so that it costs no state.
func fillPivotOwners(dst, args []int64) {
	p := pivotOwnersOf(args, int64(len(dst)))
	key := PivotKey(p.Seed)
	base := p.First / p.Block
	for i := range dst {
		c := p.First + int64(i)
		dst[i] = 0
		if r := PivotRow(key, c, p.Rows); r != c {
			dst[i] = 1 + (r/p.Block-base)%p.Owners
		}
	}
}

// PivotKey returns what PivotRow takes for a seed.
func PivotKey(seed uint64) uint64 { return portable.Mix(seed) }

// PivotRow draws the pivot of column c, 0 <= c < rows, uniformly from the rows [c, rows):
//
//	c + mix(key + c) mod (rows - c)
//
// in 64-bit unsigned arithmetic, with mix the finalizer of SplitMix64.
func PivotRow(key uint64, c, rows int64) int64 {
	return c + int64(portable.Mix(key+uint64(c))%uint64(rows-c))
}
