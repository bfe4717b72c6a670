package replay

import "reprise/trace"

// What a rank is in the midst of is a few numbers: no goroutine and no stack belong to it. An action that cannot
// end at once leaves its stage here and is called again from its beginning.

// rank is the state of one rank: what the event loop touches when it runs it. Its
// 128 bytes are two cache lines, and messages with blocking calls need the first.
type rank struct {
	clock   float64 // seconds; a rank runs ahead of the event loop
	charged float64 // up to which its time is in the accounts: clock, unless it waits
	after   float64 // seconds to pay once waits is 0: the receive overhead of an exchange

	// Unmatched posts addressed to this rank, oldest first: sends of others and
	// its own receives.
	sends, recvs postList
	wild         int32 // receives with wildcards among recvs

	waits       int32 // transfers that must end before the rank goes on
	next        int32 // in the list of runnable ranks
	awaitedPeer int32 // whose message the rank is parked on, or trace.AnySource; noneAwaited: none

	pos    uint8 // next of the buffered actions
	filled uint8
	stage  stage    // of the action at pos
	charge TimeKind // of the time that passes while blocked
	serial bool     // receive overheads are paid as transfers end, not at the end
	over   bool     // no action is left
	shared bool     // on one of the processors (processor.go)

	collective bool // in a collective operation, or in the midst of what synchronises a window

	// The second line.

	spinning    bool   // in a busy wait that the event loop takes on (takeTurns)
	awaitedComm uint16 // of the message that the rank is parked on: its label
	awaitedTag  int32
	lastMiss    float64 // time of the last miss of a spinning poll; < 0: none
	between     float64 // seconds of a turn of a busy wait that are not the probe's
	arrival     float64 // time from which on its probes see the message; +Inf: not yet known

	reqs     [inlineRequests]int32
	overflow int32 // index into requestSlots.overflow of further requests; 0: none
	calls    int64 // of collective operations that were begun
}

// await parks the rank on a message.
func (rk *rank) await(src int32, l label) {
	rk.awaitedPeer, rk.awaitedTag, rk.awaitedComm = src, l.tag, l.comm
}

// awaited returns the label of the message that the rank is parked on.
func (rk *rank) awaited() label { return label{rk.awaitedTag, rk.awaitedComm} }

// stage says how far the current action of a rank has got.
type stage uint8

const (
	stageFresh   stage = iota // not begun
	stageBegin                // the event loop has come to the rank's clock
	stageCompute              // computes, or probes, on a shared processor
	stageLook                 // has spent its time: a probe or test looks, a computation has ended
	stageTested               // a test that has found its request complete and has completed it
	stageAny                  // waits for one of several messages
	stageStands               // the rank stands before its first message of a step (repeats)
)

// noneAwaited is the awaitedPeer of a rank that is not parked on a message.
const noneAwaited = trace.AnySource - 1

// inlineRequests is the number of request slots in a rank itself.
const inlineRequests = 4

// bufferedActions is the number of actions that are decoded at once for a rank.
const bufferedActions = 8

// TimeKind is what the time of a rank is spent on.
type TimeKind uint8

// What time is spent on.
const (
	TimeCompute    TimeKind = iota // kernels and flops
	TimeSleep                      // recorded sleeps
	TimeSend                       // blocked in a send
	TimeRecv                       // blocked in a receive
	TimeExchange                   // blocked in an exchange or sendrecv
	TimeWait                       // blocked in wait or waitall
	TimeCollective                 // blocked in a collective operation
	TimePoll                       // probes and tests, and turns of busy waits
	TimeOverhead                   // os, ois and or of the protocol
	numKinds
)

var kindNames = [numKinds]string{"compute", "sleep", "send", "recv", "exchange", "wait", "collective", "poll",
	"overhead"}

// NumTimeKinds is how many of them there are.
const NumTimeKinds = int(numKinds)

// String returns the name that results give to k.
func (k TimeKind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "unknown"
}

// Waits reports whether a rank is blocked in such time, until a message releases it.
func (k TimeKind) Waits() bool { return k >= TimeSend && k <= TimeCollective }
