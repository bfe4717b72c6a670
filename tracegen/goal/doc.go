// Package goal writes traces as GOAL, the text that LogGOPSim (Hoefler,
// Schneider, Lumsdaine 2010) and the simulators after it play, once their
// txt2bin has made it binary.
//
// GOAL is a graph of calc, send and recv operations per rank; only dependencies
// order them. [Export] writes the order of the program:
//
//	blocking send, recv     the next operation requires it
//	isend, irecv            the next operation irequires it: it has started
//	wait, waitall           the next operation requires what is waited for
//	computation, sleep      calc, in nanoseconds
//
// Every operation has a label, l1, l2, ... in the order of the rank's program.
//
// Computations in a row are one calc. Durations are rounded to whole nanoseconds
// with what was cut off or added carried over, so that the calcs of a rank add up
// to its computing time within half a nanosecond, wherever one stops.
//
// What GOAL lacks is left out and counted in [Exported]: tests, recorded probes,
// and that a send is synchronous, which matters below the size from which
// LogGOPSim makes all sends rendezvous (option S, 65,535 bytes). A receive of
// unknown size and a negative tag are errors. Collective operations are the messages of
// SMPI's default selection.
//
//	exported, err := goal.Export(ctx, w, t, goal.Options{Polls: trace.Hit{}, Speed: 32e9})
//
// # Units
//
// Durations become nanoseconds, by a speed in flop/s; sizes are in bytes.
//
// # Errors
//
// They name the rank, the step and what GOAL cannot say.
//
// # Source
//
// T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim: Simulating Large-Scale Applications in the
// LogGOPS Model", HPDC 2010, and the tools of that simulator.
package goal
