// Package replay plays a trace on a model of a machine and says when everything would have
// happened.
//
//	machine, options, warnings, err := replay.LoadMachine(replay.MachineSpec{Platform: "dahu"}, t)
//	...
//	result, err := replay.Run(ctx, t, machine, options)
//	...
//	fmt.Println(result.Makespan, result.Gflops)
//
// # Functions
//
// [Run] takes a trace (package trace), a [Machine] and [Options], and returns a [Result]: the
// makespan, the end of each rank, and where the time went by kind, kernel and phase. Its
// siblings take the same: [RunSource] plays actions that come from elsewhere, which [Lists]
// holds in memory; [Runs] replays with many seeds; [Sample] estimates from windows of steps.
// All of them end with their context, a few milliseconds after it.
//
// [LoadMachine] loads a machine by the names of files and of what is built in, with the
// options that its platform's file sets, and says what is odd about it. A [Machine] may also
// be put together from its parts: see the example of Run.
//
// [NewReport], [NewEnsembleReport] and [NewEstimateReport] print a result for people or as
// JSON. [Checkpoints] and [Options].Resume save the state of a replay and go on from there. An
// [Observer] has functions that a replay calls as actions, messages and waits begin and end.
//
// # Units
//
// Times are in seconds from the entry of all ranks, sizes in bytes, speeds in flop/s. Ranks,
// hosts, steps, kernels and phases are numbers from 0.
//
// # Errors
//
// An error of a file names it and the line. A replay that fails says which rank was in which
// action; a deadlock, what each rank waits for. Errors to tell apart are [ErrOtherRun],
// [ErrTooManyRanks], [SettingError], sampling.ErrExact and the causes of contexts. What is odd but no error
// is a list of [warning.Warning], in results and, of what came before an error, in that
// ([warning.Of]).
//
// # Engine
//
// The engine is one event loop without goroutines. Each rank runs ahead on its own
// clock, through computations, overheads and posts, until it must wait for a
// transfer; the loop knows only the times at which transfers begin and end to share
// links (package netmodel), and those of the ranks that must look at what others
// have done: polls, tests, receives from any source, and computations on processors that
// several ranks share. A message costs two events, a computation none.
//
// Polls are decided at simulated time: a KindPoll of the trace asks whether its
// message has been posted by then, and the trace goes on with what the program
// would have done.
//
// Results are the same bits in every run, whatever GOMAXPROCS. One replay is for one
// goroutine; a Machine may be shared by several, a trace may not.
//
// # Source
//
// The semantics are those of SMPI in SimGrid 3.32, stated in docs/replay.md; the sharing of
// links is that of its max-min solver, and the protocol LogGPS (docs/network-model.md).
package replay
