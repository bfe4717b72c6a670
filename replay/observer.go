package replay

import (
	"reprise/netmodel"
	"reprise/replay/eventlog"
	"reprise/trace"
)

// An Observer has functions that a replay calls as things happen (Options.Observers). Each of them may
// be nil: who leaves out what it does not need makes the replay faster. Observers change nothing:
// results are the same bits with them and without, except for a run whose steps repeat
// (Result.Repeated), all of which are played if there is an observer.
//
// Times are seconds of the replay. Each rank runs ahead on its own clock, so calls come in the order of
// time for each rank and for each message, but not for all of them together. The calls of a replay come
// one after the other, from one goroutine. An observer serves one replay at a time.
//
// # Ranks
//
// The actions of a rank begin and end, and its time passes: the times of a rank lie end to end, without
// holes, from its begin to its end, and all of them but Options.Network.InitTime lie within an action.
// Those of a kind add up to Result.Kinds. A collective operation is one action with the messages of this
// rank inside, whose tag is CollectiveTag. A busy wait (trace.FlagSpin) is one action from its first
// probe to the probe that sees the message, with all probes and all kernels between them.
//
// After the time that a rank has waited, Released names the message that ended the wait: by the end of its transfer, or
// in a busy wait by the post of its send. A message that was there already releases nobody.
//
// # Messages
//
// A message has a number, which both of its posts carry, in either order. The number may be given to another message
// once the transfer has ended and both sides have been posted. The transfer starts when both sides are posted, or if
// the message is eager when the send is. It takes its latency first, from its start to its first part (Carried); then
// the network carries it in parts, end to end, up to its end. As the network takes together all that lies within its
// precision, a nanosecond by default, the first part may begin that much too early.
//
// # Left out
//
// Actions that take no time and concern no other rank are left out (trace.KindNone, KindProbed and KindMark). A replay
// that ends early leaves actions and messages open. A replay from a checkpoint begins with the actions and messages
// that are open there: actions at the time up to which the rank was charged, messages at the time of their first post.
type Observer struct {
	// Ranks [FirstRank, EndRank) are observed, and of messages those that one of them may receive, with
	// the posts of those that one of them sends. EndRank 0: all ranks.
	FirstRank, EndRank int32
	// Steps [FirstStep, EndStep) are observed: from the time when the first of the ranks comes to
	// FirstStep, when the open actions and messages are reported first, until the last of them has come
	// to EndStep, and Merged, Started and Ended beyond that. Marked is called in all steps. EndStep 0: all.
	FirstStep, EndStep int64

	// ActionBegins: a rank begins an action.
	ActionBegins func(rank int32, a trace.Action, at float64)
	// ActionEnds: the last action that a rank has begun ends.
	ActionEnds func(rank int32, at float64)
	// Marked: a rank comes to a mark of the trace: a step begins (trace.KindStep, X[0] is its number), a
	// phase begins or with trace.FlagEnd ends (trace.KindPhase, Sym is its number).
	Marked func(rank int32, mark trace.Action, at float64)
	// TimePasses: a rank has spent the time from its last clock to this one, to > from. kernel is the
	// number of a kernel in the header of the trace, -1 if it is none.
	TimePasses func(rank int32, k TimeKind, kernel int32, from, to float64)
	// Queued: a kernel, or a part of one, that a rank has put into a queue of its device runs there from a time to
	// another, which the rank does not wait for: it may be later than its clock. It is called within the action.
	Queued func(rank, queue, kernel int32, from, to float64)
	// Released: a message has ended a wait of a rank, from since (> 0 s before) to its clock.
	Released func(rank, message int32, since, at float64)
	// SendPosted: rank src posts a send of so many bytes.
	SendPosted func(message, src, dst, tag int32, bytes int64, at float64)
	// ReceivePosted: rank dst posts a receive for at most so many bytes; src may be trace.AnySource, tag trace.AnyTag.
	ReceivePosted func(message, dst, src, tag int32, bytes int64, at float64)
	// Merged: a send and a receive that had been posted as two messages are one, as happens at ranks
	// with receives from any source or with any tag pending. Its number is that of the send.
	Merged func(send, receive int32)
	// Started: the transfer of a message starts: at the post of its send or, if that is later and the
	// message is not eager, of its receive.
	Started func(message int32, at float64)
	// Ended: the transfer of a message has ended.
	Ended func(message int32, at float64)

	// The functions below are called for all ranks and steps.

	// Carried: the network carried a message at a steady rate from a time to another. rate and alone are in byte/s:
	// that of the transfer, and the one that it would have alone on its route (0 while a link has no bandwidth). link
	// is the platform's number of the link that bounded it, -1 if the TCP window or a factor of the model did. A part
	// ends where one of the three changes; the rate*(to-from) of all parts add up to bytes and an envelope of 16.
	Carried func(message int32, from, to, rate, alone float64, link int32)
	// Transferred: these transfers have ended, in their order: all of them by the end of the replay, many
	// at once. That takes less time than Carried. The list is the caller's.
	Transferred func(list []Transferred)
	// Spent: a rank has spent its time on sums by now, in seconds: a number for each kind of time, with
	// kernels, for each kernel, and for each phase, of which an open one counts up to now; behind them those
	// of the rank's device. That takes less time than TimePasses. It is called when the rank begins, at 0 s or at a checkpoint, before each
	// Marked of a step, and when its time is over. The numbers are the caller's, up to its next call.
	Spent func(rank int32, at float64, sums []float64, over bool)

	// Log, of at most one observer, gets the events from which the longest paths to the clocks of ranks
	// follow, which takes less time than functions.
	Log *eventlog.Log
}

// Transferred is a transfer that has ended.
type Transferred struct {
	Src, Dst int32   // ranks
	At       float64 // its end, seconds
	Factor   float64 // of its rate: see netmodel.Network.Factor
	netmodel.Summary
}

// rankRange is the ranks [first, end).
type rankRange struct{ first, end int32 }

// has reports whether a rank is in the range: the test that is made wherever something happens.
func (a rankRange) has(r int32) bool { return r >= a.first && r < a.end }

// join returns a range that holds two.
func (a rankRange) join(b rankRange) rankRange {
	switch {
	case a.first == a.end:
		return b
	case b.first == b.end:
		return a
	}
	return rankRange{min(a.first, b.first), max(a.end, b.end)}
}
