// Package path finds the critical path of a replay while it runs: the longest chain of
// computations, overheads and transfers, each of which begins where the one before it ends,
// from the begin of the run to its makespan.
//
//	p := path.New(header, machine, options)
//	options.Observer = p
//	result, err := replay.Run(ctx, trace, machine, options)
//	data := p.Data()
//	fmt.Println(data.Parts[0].Name, data.Parts[0].Seconds)
//
// Each rank carries what the longest path to its clock consists of. A rank that a message
// releases goes on with the path of the message: that of its sender up to the post, or of its
// receiver if the receive was posted later, and of the transfer. In the end the rank that is
// last has the answer. Memory is a few kilobytes for each rank and message under way.
//
// # Units
//
// Times are in seconds of the replay, sizes in bytes.
//
// # Errors
//
// There are none: a path that did not meet would be an error of this package, and tests count
// them (Path.Gaps).
//
// # Source
//
// D. Böhme, F. Wolf, B. R. de Supinski, M. Schulz, M. Geimer, "Characterizing Load and
// Communication Imbalance in Parallel Applications", IPDPS 2012, go along the path backwards,
// with the whole trace at hand. Forwards, by the maximum of what meets, it is a longest path in
// the order of time. That slopes follow from what the path consists of: S. Shen, T. Hoefler
// and others, "LLAMP: Assessing Network Latency Tolerance of HPC Applications with Linear
// Programming", SC 2024; contention is not in there: docs/report.md says how it is charged.
package path
