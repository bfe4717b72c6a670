// Package noise draws the random parts of durations: laws that files can state,
// over random numbers that depend on nothing but their name.
//
// A [Law] is what is added to a time that is known on average: normal or
// half-normal deviates, or a mixture of them, in seconds or as a part of that
// time. It is plain data; a [Source] has the randomness. Its numbers have no
// order. Each [Draw] is a function of a seed and of a name, the place of what is
// drawn in the program,
//
//	source := noise.NewSource(seed)
//	d := source.Draw(noise.Computation, rank, step, index)
//	seconds += law.Of(seconds, d)
//
// so that one rank's noise does not change with what other ranks do, with the
// order of events, or with the number of threads, and a part of a program that
// is played alone has the noise that it has in the whole.
//
// Numbers are the same bits on every machine: they come from integer arithmetic
// and from sums, products, quotients and square roots of doubles, each rounded
// by itself.
//
// # Units
//
// An [Amount] of a law is in seconds, plus a part of the time that it is added to.
//
// # Errors
//
// None: what cannot be drawn from is refused by those who read laws from files.
//
// # Source
//
// The numbers are those of Philox-4x32 (Salmon, Moraes, Dror, Shaw, SC 2011).
package noise
