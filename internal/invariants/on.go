//go:build invariants

package invariants

// Enabled is a constant, so that what it guards is not in a program without.
const Enabled = true
