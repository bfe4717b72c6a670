// Package profile adds up where the time of a replay goes, as a profile for pprof.
//
// A [Recorder] observes a replay. Its stacks lead from the phases that a rank is in, the
// outermost first, over what its time is spent on and the kernel to a group of ranks: those
// of a host, or of a row of the process grid where there are very many hosts.
//
//	groups := profile.GroupsOf(header, hosts)
//	recorder := profile.NewRecorder(header, groups)
//	options.Observers = []replay.Observer{recorder.Observer()}
//	result, err := replay.Run(ctx, trace, machine, options)
//	err = recorder.Write(file)
//
// The sums of a kind of time, a kernel or a phase are those of the result's tables, of all
// ranks together.
//
// [Several] has the mean of several seeds, and what the windows of an estimate tell of a run.
//
// # Units
//
// The samples are nanoseconds of simulated time, of all ranks together.
//
// # Errors
//
// What would need more than MaxSums sums, or more nanoseconds than 63 bits hold, is an error
// of Write.
//
// # Source
//
// The format is that of github.com/google/pprof, profile.proto.
package profile
