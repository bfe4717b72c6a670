// Package tracegen holds the programs whose traces can be written without
// running them, a package each. So far that is High Performance Linpack,
// package hpl.
//
// A generator is a function of a program's parameters that calls a trace.Writer.
// It knows the program; trace knows none. A second one needs nothing but the
// exported API of package trace.
package tracegen
