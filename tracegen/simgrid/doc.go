// Package simgrid reads and writes SimGrid's time-independent text traces, the ones
// that smpirun -replay plays: an index file that names one text file per rank, or
// one file that all ranks share, with an action per line,
//
//	RANK ACTION ARGS...
//
// [Open] reads the index; the [Trace] then either yields flat actions rank by
// rank, as a replay asks for them ([Trace.Fill]), or writes them to a
// trace.Writer ([Trace.Convert]).
//
// Supported are init, finalize, compute, sleep, send, isend, recv, irecv, wait,
// waitall, test, sendRecv; barrier, bcast, reduce, allreduce, alltoall, alltoallv,
// gather, gatherv, allgather, allgatherv, scatter, scatterv, reducescatter, scan,
// exscan; and comm_size, comm_split, comm_dup and location, which have no effect. Any
// other action is an error that names it, with file and line. What is odd in a text but
// can be read is a warning ([Trace.Warnings]).
//
// Three rules of the format are worth knowing. A wait names a message (source,
// destination, tag), not a request: it means the oldest pending one, and does
// nothing if there is none. SimGrid 3.20 to 3.28 wrote ranks plus one there; such texts
// are recognised by what their waits name, and those from before 3.20, whose waits name nothing and mean the
// newest request, by that or by messages without a tag. A rank waits for what is pending after its last line,
// of requests for one and the same message only the newest. And a count without a
// datatype means bytes, or doubles if the init lines have an argument. In SimGrid the
// last init executed by any rank decides for all, so they must agree.
//
// [Export], [ExportFile] and [ExportDir] write a trace of ours as such text, with
// its polls answered by a rule and its kernels turned into flop.
//
//	t, err := simgrid.Open("trace.index", "")
//	n, err := t.Fill(rank, buf)
//	...
//	fmt.Println(t.Warnings())
//
// # Units
//
// Sizes are in bytes, computations in flop, sleeps in seconds.
//
// # Errors
//
// Errors have file and line, and the rank where a file is that of one.
//
// # Source
//
// The text is that of SimGrid's smpirun -replay; docs/interop.md has the rules.
package simgrid
