// Package trace holds what the ranks of a program do, without times: actions, in blocks,
// in a file.
//
// The meaning of a trace is a sequence of flat [Action]s for each rank: computations,
// messages, collective operations. Polls are actions too: a KindPoll asks whether a message
// is there, and what follows depends on the answer, which the reader gives with
// [Cursor.Answer]: the trace records the decision, not its outcome.
//
// A trace of billions of actions is small because it is stored as structure. A [Block] is
// what a call does: messages, computations, polls, conditions, loops and calls of other
// blocks, over registers; a [Builder] makes one, a [Program] holds them. A [CallSite] is
// a call site with columns: which ranks take part, which block each calls, with which
// arguments. Each column belongs to an [Axis], a partition of the ranks: a value that is the same for a
// process row is there once. Vectors, such as the pivot counts of a panel, are stated
// once and shared. Calls belong to steps and are kept in chunks, the frames of the file.
//
// [NewWriter] writes a file in one pass, [NewReader] reads one from a pipe and [Open] from
// a file. A trace is read in two ways: [Trace.Cursors] expand any steps to actions, a rank
// each, and [Trace.Chunks] yields the structure: units of calls with their columns and
// vectors. Packages text, stat, verify and diff are built on these; docs/trace-format.md
// says what every byte means.
//
//	t, err := trace.Open("run.trace.zst")
//	cursors, err := t.Cursors(nil, trace.CursorOptions{}) // of all ranks
//	n, err := cursors[0].Fill(buf)                         // flat actions, a batch at a time
//
// # Units
//
// Sizes of messages are in bytes, plain computations in flop, sleeps in seconds;
// dimensions of kernels are integers. Ranks, steps, kernels and phases are numbers from 0.
//
// # Errors
//
// An error of a file names it and the place. [ErrNotTrace], [ErrVersion], [ErrFeature],
// [ErrTruncated], [ErrCorrupt] and [ErrHeader] tell what is wrong with a file, [ErrBlock]
// with a definition, [ErrAction] with what a block does for a rank; [ErrStream] is that of
// a pipe where a file is wanted.
//
// # Source
//
// The format is our own, docs/trace-format.md; its frames are zstd (RFC 8878), its
// messages protobuf.
package trace
