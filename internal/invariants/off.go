//go:build !invariants

// Package invariants says whether the program checks, at a cost, what its own code guarantees: Enabled is true in a
// build with the tag "invariants" (make invariants). Input from outside is always checked, elsewhere.
package invariants

// Enabled is a constant, so that a program without it does not contain the code that it guards.
const Enabled = false
