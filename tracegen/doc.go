// Package tracegen holds the programs whose traces can be written without
// running them, a package each. So far that is High Performance Linpack,
// package hpl.
//
// A generator is a function of a program's parameters that calls a trace.Writer.
// It knows the program; trace knows none. A second one needs nothing but the
// exported API of package trace.
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
// They name rank and step.
//
// # Source
//
// There is none: each generator has its own.
package tracegen
