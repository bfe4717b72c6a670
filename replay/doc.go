// Package replay plays a trace on a model of a machine and says when everything
// would have happened.
//
// [Run] takes a trace (package trace), a [Machine] (a platform, kernel models, and
// the host of each rank) and [Options] (SimGrid's, and which steps), and returns
// a [Result]: the makespan, the end of each rank, and where the time went by kind,
// kernel and phase. [RunSource] plays actions that come from elsewhere; [Lists]
// holds them in memory. [Report] prints a result for people or as JSON.
//
// The engine is one event loop without goroutines. Each rank runs ahead on its own
// clock, through computations, overheads and posts, until it must wait for a
// transfer; the loop knows only the dates at which transfers begin and end to share
// links (package netmodel), and those of the ranks that must look at what others
// have done: polls, tests, and computations on processors that several ranks
// share. A message costs two events, a computation none.
//
// Polls are decided at simulated time: a KindPoll of the trace asks whether its
// message has been posted by then, and the trace goes on with what the program
// would have done.
//
// The semantics are those of SimGrid's SMPI, stated in docs/replay.md. Results are
// the same bits in every run, whatever GOMAXPROCS.
package replay
