// Package trace reads and writes traces: files of what the ranks of a program do, without times.
//
// The meaning of a trace is a sequence of flat [Action]s for each rank: computations, messages, collective
// operations. Polls are actions too: a KindPoll asks whether a message is there. The reader of the trace answers
// it with [Cursor.Answer], and the answer decides which actions follow. A trace has the polls, but not their
// answers.
//
// A trace of billions of actions is small because it is stored as structure. A [Block] is what a call does:
// messages, computations, polls, conditions, loops and calls of other blocks, over registers. A [Builder] makes
// a block, a [Program] holds all blocks of a trace. A [CallSite] is a place from which ranks call blocks. It has
// columns, which say which ranks take part, which block each of them calls, and with which arguments. Each
// column belongs to an [Axis], a partition of the ranks: a value that all ranks of a process row share is stored
// once. Vectors, such as the pivot counts of a panel, are stored once and shared. Calls belong to steps and are
// kept in chunks, the frames of the file.
//
// [NewWriter] writes a file in one pass, [NewReader] reads one from a pipe and [Open] from a file. A trace is read
// in two ways: [Trace.Cursors] expand any steps to actions, a rank each, and [Trace.Chunks] yields the structure:
// units of calls with their columns and vectors. Packages text, stat, verify and diff are built on these;
// docs/trace-format.md says what every byte means.
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
// An error of a file names it and the place. [ErrNotTrace], [ErrVersion], [ErrFeature], [ErrTruncated],
// [ErrCorrupt] and [ErrHeader] tell what is wrong with a file, [ErrBlock] with a definition, [ErrAction] with what
// a block does for a rank; [ErrStream] is that of a pipe where a file is wanted.
//
// # Source
//
// The format is our own, docs/trace-format.md; its frames are zstd (RFC 8878), its messages protobuf.
package trace

import (
	"fmt"
	"math"
)

// Kind says what a flat action is. The set is closed by the format's version.
type Kind uint8

// Flat actions, as a Cursor yields them. "X" is Action.X.
const (
	KindNone         Kind = iota
	KindCompute           // kernel Sym with dimensions X[0..3]
	KindFlops             // X[0]: float64 bits of an amount of flop; X[1]: of its spread
	KindSleep             // X[0]: float64 bits of seconds
	KindSend              // to Peer: Tag, X[0] bytes
	KindSsend             // synchronous send
	KindIsend             // like send, completed by a wait on Req
	KindIssend            // like ssend, completed by a wait on Req
	KindRecv              // from Peer: Tag, X[0] bytes (-1: size unknown to the receiver)
	KindIrecv             // like recv, completed by a wait on Req
	KindWait              // completes Req
	KindTest              // one MPI_Test of Req: it costs time, and completes Req if its message has ended
	KindWaitAll           // completes all pending requests
	KindExchange          // irecv of X[1] bytes, send of X[0] bytes, wait: same Peer and Tag, both sizes > 0
	KindSyncExchange      // issend of X[0] bytes, recv of X[1] bytes, wait of the issend: same Peer and Tag
	KindSendrecv          // send X[0] bytes to Peer with Tag, receive X[1] bytes from whom Source says
	KindIprobe            // a recorded MPI_Iprobe of Peer, Tag that cost time and decided nothing
	KindPoll              // asks whether a probe of Peer, Tag sees its message now: the consumer must Answer
	KindProbed            // the poll before found its message: free, the place where a listing names the probe
	KindPhase             // enters phase Sym (FlagEnd: leaves it); free
	KindMark              // marker Sym with Cursor.MarkArgs(X[0]); free; only for a Cursor that asks for markers
	KindStep              // step X[0] begins; free
	KindCollective        // collective operation Sym with root Peer and Operator Tag; Collective decodes X
	KindFree              // lets go of Req, whose message goes on: MPI_Request_free
	KindIcollective       // like collective, completed by a wait on Req
	KindComplete          // completion Sym of the requests Cursor.Requests(X[0])
	KindProbe             // waits for a message of Peer with Tag, and leaves it there
	KindStart             // like isend, of a persistent request, which costs what a send does
	// an action of Kind X[1] whose peer is ProcNull: nothing is sent; Req, if it has one, is complete
	KindNull
	KindAccess  // access of kind X[2] to window Tag of family Sym: X[0] bytes go to Peer, X[1] come back
	KindIaccess // like access, completed by a wait on Req
	KindSync    // synchronisation X[0] of window Tag of family Sym with Peer, or AllRanks; X[1]: assertions
	KindFile    // access of kind X[1] to a file of family Sym: X[0] bytes; X[2] is 1 if it is collective
	// a call of kernel Sym in queue Tag of the rank's device, with the dimensions X; FlagBlocking, FlagParts
	KindLaunch
	KindQueue // verb X[0] on queue Tag, or on all, with event Sym
	// asks whether the request slots X, -1 for none, are complete, by Completion Sym; the consumer must Answer. TestAny has one
	// of them, TestAll completes all or none, and CompleteAny asks whether the one for which it waits is number Tag of the list,
	// and takes that if so; if none was, it is the last.
	KindAsk
	// a round of polls of the requests X, -1 for none, found none complete; the next one may begin when one is. If it found
	// one, all are -1
	KindRound
	KindAfter  // the action of the next KindBeside waits for the end, or with Tag 1 the begin, of that of X[0] KindBesides before
	KindBeside // the next action goes on beside the rank, on its processor Tag; 0: on none
	numKinds
)

// kindNames are the verbs of the kinds.
var kindNames = [numKinds]string{"none", "compute", "flops", "sleep", "send", "ssend", "isend", "issend", "recv",
	"irecv", "wait", "test", "waitall", "exchange", "syncexchange", "sendrecv", "iprobe", "poll", "probed", "phase",
	"mark", "step", "collective", "free", "icollective", "complete", "probe", "start", "null", "access", "iaccess", "sync",
	"file", "launch", "queue", "ask", "round", "after", "beside"}

// String returns the verb of the kind.
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "unknown"
}

// The numbers of values of the enumerations whose values actions have.
const (
	NumCollectives = int(numCollectives)
	NumCompletions = int(numCompletions)
	NumAccesses    = int(numAccesses)
	NumSyncs       = int(numSyncs)
	NumFileKinds   = int(numFileKinds)
	NumQueueVerbs  = int(numQueueVerbs)
)

// nameOf returns the name of a number, or the word and the number if it has no name.
func nameOf(names []string, n uint8, word string) string {
	if int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("%s %d", word, n)
}

// Flags of a flat action.
const (
	// FlagSpin on a KindPoll: the rank has nothing else to do; after a miss it
	// runs zero-sized kernels (the same at each turn) and polls again.
	FlagSpin uint8 = 1 << iota
	// FlagEnd on a KindPhase: the phase ends.
	FlagEnd
)

// Wildcards of a receive, and the peer that is none.
const (
	AnySource = -1                // as Peer: from any rank
	ProcNull  = -2                // as peer of a block's message: MPI_PROC_NULL
	AnyTag    = math.MinInt32 + 1 // as Tag: with any tag
)

// Action is one flat action of one rank: 48 bytes, no pointers.
type Action struct {
	Kind  Kind
	Flags uint8
	Sym   uint16 // kernel, marker, phase or, for messages, polls, windows and files, the family of the communicator
	Peer  int32  // world rank
	Tag   int32
	Req   int32 // request slot of nonblocking actions and their wait
	X     [4]int64
}

// set stores all fields but X, one by one. A composite literal is built elsewhere and copied, with which a cursor
// takes three times as long.
func (a *Action) set(k Kind, sym uint16, peer, tag int64, req int32) {
	a.Kind, a.Flags, a.Sym = k, 0, sym
	a.Peer, a.Tag, a.Req = int32(peer), int32(tag), req
}

// Asks reports whether the consumer must Answer the action, which is the last of its Fill.
func (a *Action) Asks() bool { return a.Kind == KindPoll || a.Kind == KindAsk }

// Operates reports whether the action is a collective operation.
func (a *Action) Operates() bool { return a.Kind == KindCollective || a.Kind == KindIcollective }

// Family returns the family of the communicator that an action is on, -1 if it is on none, or on that of all ranks. A
// message is on a communicator if its family is one (Header.Communicators); a message to nobody is as any other.
func (a *Action) Family() int {
	switch {
	case a.Operates():
		return int(a.Comm()) - 1
	case a.Kind == KindPoll || a.Kind == KindNull || opRules[kindOps[a.Kind]].symbol == symbolFamily:
		return int(a.Sym)
	}
	return -1
}

// Together returns the communicator of an action, 1 + its family or 0, if all its ranks call it together: a collective
// operation, or one of a window or a file.
func (a *Action) Together() (comm int32, all bool) {
	switch a.Kind {
	case KindCollective, KindIcollective:
		all = true
	case KindSync:
		all = a.SyncKind().Collective()
	case KindFile:
		_, all = a.FileKind()
	}
	if !all {
		return 0, false
	}
	return int32(a.Family()) + 1, true
}

// Seconds returns the duration of a KindSleep action.
func (a *Action) Seconds() float64 { return math.Float64frombits(uint64(a.X[0])) }

// Flops returns the amount of a KindFlops action.
func (a *Action) Flops() float64 { return math.Float64frombits(uint64(a.X[0])) }

// Spread returns the standard deviation of the amount of a KindFlops action, which is a mean then; 0: it has none.
func (a *Action) Spread() float64 { return math.Float64frombits(uint64(a.X[1])) }

// Source returns the rank that a KindSendrecv receives from, and the tag of what it receives.
func (a *Action) Source() (rank, tag int32) { return int32(a.X[2]), int32(a.X[2] >> 32) }

// FloatArg packs a float64 into an argument of a block or action.
func FloatArg(v float64) int64 { return int64(math.Float64bits(v)) }
