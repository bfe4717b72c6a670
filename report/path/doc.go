// Package path finds the critical path of a replay while it runs: the longest chain of
// computations, overheads and transfers, each of which begins where the one before it ends,
// from the begin of the run to its makespan.
//
//	p := path.New(header, machine, options)
//	options.Observers = []replay.Observer{p.Observer()}
//	result, err := replay.Run(ctx, trace, machine, options)
//	if err != nil {
//		return err
//	}
//	for _, part := range p.Data().Parts { // none if nothing takes time
//		fmt.Println(part.Name, part.Seconds)
//	}
//
// Package [reprise/replay/eventlog] finds it; this one names what it consists of, and says how the
// makespan would change with that.
//
// # Units
//
// Times are in seconds of the replay, sizes in bytes.
//
// # Errors
//
// A replay of a trace that Check refuses fails. Data is for replays that did not.
//
// # Source
//
// That slopes follow from what the path consists of: S. Shen, T. Hoefler
// and others, "LLAMP: Assessing Network Latency Tolerance of HPC Applications with Linear
// Programming", SC 2024; contention is not in there: docs/replay.md says how it is charged.
package path
