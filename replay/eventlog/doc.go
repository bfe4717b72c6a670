// Package eventlog finds the longest path to the clock of each rank while a replay runs: the
// chain of computations, overheads and transfers, each of which begins where the one before it
// ends, from the begin of the run. That of the rank which is last is the critical path.
//
//	t := eventlog.New(header, kinds, probing, levels)
//	t.Spend(0, account, 0, 1e-3) // what the engine does for rank 0
//	t.Post(message, 0)
//	rank, end := t.Last()
//	parts, _ := t.Path(rank)
//
// A rank that a message releases goes on with the path of the message: that of its sender up to
// the post, or of its receiver if the receive was posted later, and of the transfer. So most of
// what ranks do is soon on nobody's path. The log appends a record for it, in a few instructions, and
// one where another path becomes the rank's own. From time to time the records that are still on a path
// are added up to vectors, of which ranks and messages with one path have one, and the log begins anew.
// Memory is that of the records, 3.5 kB for each rank and at least 14 MB, and of the vectors: at most one for each
// rank and for each number of a message that there has been.
//
// # Units
//
// Times are in seconds of the replay, sizes in bytes, rates in byte/s. A rank's time is spent on
// accounts, whose numbers are the caller's: the kinds of time first, then the kernels.
//
// # Errors
//
// A trace that Check refuses has no log, and Err says so. Two stretches of a path that do
// not meet are an error of the caller; they are counted (Gaps).
//
// # Source
//
// D. Böhme, F. Wolf, B. R. de Supinski, M. Schulz, M. Geimer, "Characterizing Load and
// Communication Imbalance in Parallel Applications", IPDPS 2012, go along the path backwards,
// with the whole trace at hand. Forwards, by the maximum of what meets, it is a longest path in
// the order of time.
package eventlog
