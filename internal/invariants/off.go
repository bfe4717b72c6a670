//go:build !invariants

// Package invariants says whether the program checks, at a cost, what its own code
// guarantees: in a build with the tag "invariants" (make invariants). What comes from
// outside is checked always, and elsewhere.
package invariants

// Enabled is a constant, so that what it guards is not in a program without.
const Enabled = false
