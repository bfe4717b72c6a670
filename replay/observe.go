package replay

import "reprise/trace"

// An Observer is told what happens in a replay (Options.Observer). It changes nothing:
// results are the same bits with it and without, but of a run whose steps repeat
// (Result.Repeated): who observes is told of every step, so that all of them are played.
//
// Times are seconds of the replay. Each rank runs ahead on its own clock, so calls come in
// the order of time for each rank and for each message, but not of all together: a rank
// that is told of first may be ahead of another. The calls of a replay come one after the
// other, from one goroutine. An observer serves one replay at a time.
//
// # Ranks
//
// What a rank does is told as actions of the trace, which begin and end, and as time that
// passes: the times of a rank lie end to end, without holes, from its begin to its end, and
// every one of them but that of Options.Network.InitTime lies within an action. Those of a
// kind add up to Result.Kinds. A collective operation is one action with the messages of
// this rank inside, whose tag is CollectiveTag. A busy wait (trace.FlagSpin) is one action
// from its first probe to the one that sees the message, whatever number of probes, and of
// kernels between them, that takes.
//
// Where a rank had to wait, it is told after the time that has passed what has released
// it: the end of a transfer, or for busy waits the post of a message. What released it is
// what the rank would have come further without; a message that was there already
// releases nobody.
//
// # Messages
//
// A message has a number, which both of its posts carry, in whatever order they come. The
// number may be given to another message once the transfer has ended and both sides have
// been posted. Its transfer starts when both sides are posted, or if the message is eager
// when the send is. It takes its latency first, from the time of its start to that of its
// first part (Carried); then the network carries it in parts, end to end, up to its end. As
// the network takes together what lies within its precision, a nanosecond by default, the
// first part may begin that much too early.
//
// # Not told
//
// Actions that take no time and concern nobody are not told (trace.KindNone, KindProbed and
// KindMark). A replay that ends early leaves actions and messages open. One that goes on
// from a checkpoint begins with what is open there: actions at the time up to which the
// rank's time has been told, messages at the time of their first post.
//
// Embed [Ignore] in a type that cares for some of this.
type Observer interface {
	// ActionBegins tells that a rank begins an action.
	ActionBegins(rank int32, a trace.Action, at float64)
	// ActionEnds tells that the action of a rank that began last ends.
	ActionEnds(rank int32, at float64)
	// Marked tells of a mark of the trace: a step begins (trace.KindStep, X[0] is its number),
	// a phase begins or with trace.FlagEnd ends (trace.KindPhase, Sym is its number).
	Marked(rank int32, mark trace.Action, at float64)
	// TimePasses tells what a rank has spent the time on from its last one to its clock, to >
	// from. kernel is its number in the header of the trace, -1 if it is none.
	TimePasses(rank int32, k TimeKind, kernel int32, from, to float64)
	// Released tells that a message has ended a wait of a rank, from since (> 0 s before) to
	// its clock.
	Released(rank, message int32, since, at float64)

	// SendPosted tells that rank src posts a send of so many bytes.
	SendPosted(message, src, dst, tag int32, bytes int64, at float64)
	// ReceivePosted tells that rank dst posts a receive for at most so many bytes; src may be
	// trace.AnySource, tag trace.AnyTag.
	ReceivePosted(message, dst, src, tag int32, bytes int64, at float64)
	// Merged tells that a send and a receive that had been posted as two messages are one,
	// as happens at ranks with receives from any source or with any tag pending. Its number is
	// that of the send.
	Merged(send, receive int32)
	// Started tells when the transfer of a message starts: at the post of its send or, if
	// that is later and the message is not eager, of its receive.
	Started(message int32, at float64)
	// Carried tells that the network carried a message at a steady rate from a time to another.
	// rate and alone are in byte/s: what the transfer got, and what it would have got alone on
	// its route (0 while a link has no bandwidth). link is the platform's number of the link
	// that bounded it, -1 if the TCP window or a factor of the model did. A part ends where one
	// of the three changes; the rate*(to-from) of all add up to bytes and an envelope of 16.
	Carried(message int32, from, to, rate, alone float64, link int32)
	// Ended tells that the transfer of a message has ended.
	Ended(message int32, at float64)
}

// Ignore is an Observer that ignores everything, to be embedded.
type Ignore struct{}

// ActionBegins implements Observer.
func (Ignore) ActionBegins(rank int32, a trace.Action, at float64) {}

// ActionEnds implements Observer.
func (Ignore) ActionEnds(rank int32, at float64) {}

// Marked implements Observer.
func (Ignore) Marked(rank int32, mark trace.Action, at float64) {}

// TimePasses implements Observer.
func (Ignore) TimePasses(rank int32, k TimeKind, kernel int32, from, to float64) {}

// Released implements Observer.
func (Ignore) Released(rank, message int32, since, at float64) {}

// SendPosted implements Observer.
func (Ignore) SendPosted(message, src, dst, tag int32, bytes int64, at float64) {}

// ReceivePosted implements Observer.
func (Ignore) ReceivePosted(message, dst, src, tag int32, bytes int64, at float64) {}

// Merged implements Observer.
func (Ignore) Merged(send, receive int32) {}

// Started implements Observer.
func (Ignore) Started(message int32, at float64) {}

// Carried implements Observer.
func (Ignore) Carried(message int32, from, to, rate, alone float64, link int32) {}

// Ended implements Observer.
func (Ignore) Ended(message int32, at float64) {}
