// Package cut takes a part of a trace, from one mark to another: `trace cut`.
//
// A [Mark] is a place in the program that each rank comes to: the begin of a step, the begin or
// end of a phase, the first or last use of a communicator, a collective operation of all ranks.
// The part is a trace of its own:
//
//	from, err := cut.Parse("comm:comm3")
//	to, err := cut.Parse("end-of-comm:comm3")
//	summary, err := cut.Write(w, t, from, to, cut.Options{})
//
// From step to step its calls are copied as they are. Between other marks what ranks do is
// written action by action; that cannot be where ranks poll, as a poll has no outcome yet.
//
// # Units
//
// Sizes of messages are in bytes.
//
// # Errors
//
// A mark that is not there, or not for all ranks, is an error that names it and the rank. So are
// messages, requests and operations that are under way at a mark, as the part would lack their
// other half: the error names them.
//
// # Source
//
// None: it follows from what a trace is (docs/trace-format.md).
package cut
