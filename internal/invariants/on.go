//go:build invariants

package invariants

// Enabled is a constant, so that a program without it does not contain the code that it guards.
const Enabled = true
