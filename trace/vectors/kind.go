// Package vectors makes vectors of integers from a few numbers, so that a file can
// state how a vector is made instead of its elements.
//
// A [Kind] is a rule with a name and a version, such as "pivot-owners/1". It makes element i from its integer arguments
// and from i alone: in integer arithmetic, so that all machines make the same bits, and without state, so that elements
// can be made in any order. A vector that is made so is a [Generated]: a kind, its arguments and a number of elements.
//
//	g := vectors.PivotOwners{Seed: 1, First: 0, Count: 64, Rows: 1000, Block: 64, Owners: 4}.Generated()
//	values := g.Append(nil)
//
// The kinds are a fixed table: what a program can read does not depend on what else is linked into it. A new rule
// is a file of this package with a row in the table, and a section in the appendix of docs/trace-format.md; a rule
// never changes once files were written with it, it gets the next version and another row.
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

import "fmt"

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

// Args names the arguments, in the order of Generated.Args; the result must not be changed.
func (k *Kind) Args() []string { return k.args }

// Generated is a vector stated by how it is made.
type Generated struct {
	Kind  *Kind
	Args  []int64 // one for each of Kind.Args
	Count int64   // elements
}

// Check reports what the kind cannot make. It does not bound Count, which is as much as Append allocates.
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
