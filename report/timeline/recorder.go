// Package timeline tells what ranks do when, action by action, from a replay that it watches.
//
// A [Recorder] observes a replay: it makes slices, one for each action of a rank, and messages
// between them, within a [Span] of steps or time and of
// ranks, and hands them to a [Sink] as they come. A Format is a sink that writes a file for
// other programs; a [Collector] keeps a [Window] for the page of a report.
//
//	format, zipped, err := timeline.FormatOf("run.pftrace")
//	sink := format.Sink(file, &timeline.Run{Header: header, Hosts: hosts, Span: span})
//	recorder := timeline.NewRecorder(header, span, sink)
//	options.Observers = []replay.Observer{recorder.Observer()}
//	result, err := replay.Run(ctx, trace, machine, options)
//	recorder.End()
//	err = sink.Close()
//
// Files are opened, compressed and closed by the caller; sums of times are those of report/table and report/profile.
//
// Memory is that of the ranks, of the messages and requests that are open, and of a sink:
// that of Pajé keeps the whole file, whose events must be in the order of time.
//
// # Units
//
// Times are in seconds of the replay, sizes in bytes. Perfetto has whole
// nanoseconds, to which times are rounded: their order stays.
//
// # Errors
//
// A sink keeps its first error, of writing or of a time that its format cannot hold, for
// Close, and tells Run.Fail at once, so that a replay need not go on in vain.
//
// # Source
//
// Perfetto: perfetto_trace.proto and "Writing TrackEvent Protos Synthetically" of its
// documentation. Pajé: "The Paje trace
// file format" by L. Schnorr, B. de Oliveira Stein, J. Chassin de Kergommeaux and G. Mounié.
package timeline

import (
	"fmt"
	"math"
	"slices"

	"reprise/replay"
	"reprise/trace"
)

// Recorder hands a Sink the actions, phases and messages of one replay.
//
// A slice is handed over when its action ends, a phase before the first slice in it or at its end, a message when
// its transfer has ended. The observer is called from the goroutine of the replay only, and the sink from there.
type Recorder struct {
	names actionNames
	span  Span
	to    Sink
	ranks []rank // of the span
	messages

	slices int64
	end    float64 // the latest time that it was told of, seconds
	last   int64   // the last step that a rank came to; none
	slice  Slice   // handed to the sink
}

// rank is the state of a rank of the span.
type rank struct {
	from, to float64 // the part of its time that is looked at, seconds; +Inf: not known yet
	clock    float64 // time up to which it was told, seconds

	open   bool // it is in an action
	action trace.Action
	begin  float64           // of the action, seconds
	spent  [numKinds]float64 // in the action, seconds
	sends  []Post            // in the action
	posted []int32           // receives, of messages.receives: in the action
	got    []int64           // messages that the action has received

	requests map[int32]request // by slot
	phases   []openPhase
	shown    int // phases that the sink has been told of
}

// request is a message that a nonblocking action has begun.
type request struct {
	verb      string // of trace cat
	peer, tag int32
	bytes     int64
	receive   int32 // of messages.receives; none if it is a send
}

// NewRecorder returns a recorder of what lies within a span of a run of h, which Span.Check must have accepted.
func NewRecorder(h *trace.Header, span Span, to Sink) *Recorder {
	r := &Recorder{names: newActionNames(h), span: span, to: to, last: none, ranks: make([]rank, span.ranks(h))}
	for i := range r.ranks {
		rk := &r.ranks[i]
		rk.from, rk.to = span.From, math.Inf(1)
		switch {
		case span.EndStep > 0: // until its steps begin
			rk.from = math.Inf(1)
		case span.To > 0:
			rk.to = span.To
		}
	}
	return r
}

// Observer returns the functions of the recorder, for replay.Options.Observers: of the ranks and steps of
// its span, and of a few steps before, where requests begin that the span waits for.
func (r *Recorder) Observer() replay.Observer {
	return replay.Observer{
		FirstRank: int32(r.span.FirstRank), EndRank: int32(r.span.FirstRank + len(r.ranks)),
		FirstStep: int64(max(0, r.span.FirstStep-stepsBefore)), EndStep: int64(r.span.EndStep),
		ActionBegins: r.actionBegins, ActionEnds: r.actionEnds, TimePasses: r.timePasses, Queued: r.queued, Marked: r.marked,
		SendPosted: r.sendPosted, ReceivePosted: r.receivePosted, Merged: r.merged, Ended: r.messageEnded,
	}
}

// numKinds is how many kinds of time there are.
const numKinds = replay.NumTimeKinds

// stepsBefore is how many steps before those that are looked at a request may have begun for its
// wait to say which it is.
const stepsBefore = 2

// rank returns the state of a rank of the span.
func (r *Recorder) rank(n int32) *rank { return &r.ranks[int(n)-r.span.FirstRank] }

// within reports whether a rank is in the span.
func (r *Recorder) within(n int32) bool {
	return int(n) >= r.span.FirstRank && int(n) < r.span.FirstRank+len(r.ranks)
}

// holds reports whether a point of the rank's time is looked at.
func (rk *rank) holds(at float64) bool { return at >= rk.from && at < rk.to }

// meets reports whether a part of the rank's time is looked at, if it is of no length that point.
func (rk *rank) meets(begin, end float64) bool {
	return begin < rk.to && (end > rk.from || begin >= rk.from)
}

// actionBegins opens the slice of a rank.
func (r *Recorder) actionBegins(rank int32, a trace.Action, at float64) {
	rk := r.rank(rank)
	rk.open, rk.action, rk.begin, rk.clock = true, a, at, at
	clear(rk.spent[:])
	rk.sends, rk.got = rk.sends[:0], rk.got[:0]
}

// timePasses adds time to the open action of a rank, by kind: the most of them is the state of its slice.
func (r *Recorder) timePasses(rank int32, k replay.TimeKind, kernel int32, from, to float64) {
	r.end = max(r.end, to)
	rk := r.rank(rank)
	rk.spent[k] += to - from
	rk.clock = to
}

// queued hands what runs in a queue of the rank's device to the sink, if that lies within the span. The arguments are
// those of the launch, which is the open action; a later part of a kernel has none.
func (r *Recorder) queued(rank, queue, kernel int32, from, to float64) {
	r.end = max(r.end, to)
	rk := r.rank(rank)
	if !rk.meets(from, to) {
		return
	}
	s := Slice{Rank: rank, Queue: int(queue) + 1, Begin: from, End: to, Name: int(kernel), State: replay.TimeDevice}
	if rk.action.Kind == trace.KindLaunch {
		s.Args = r.names.args(nil, &rk.action, nil)
	}
	r.slices++
	r.to.Slice(&s)
}

// actionEnds ends the action of a rank and hands its slice to the sink, if that lies within the span.
func (r *Recorder) actionEnds(rank int32, at float64) {
	rk := r.rank(rank)
	rk.open, rk.clock = false, at

	// The requests of the rank, of which the action may be about one, and the messages that it has received.
	var of *request // nil: none that is known
	a := &rk.action
	switch a.Kind {
	case trace.KindIsend, trace.KindIssend, trace.KindStart:
		r.begins(rk, request{verb: "send", receive: none})
	case trace.KindIrecv:
		q := request{verb: "recv", receive: none}
		if len(rk.posted) > 0 {
			q.receive = rk.posted[0]
			rk.posted = slices.Delete(rk.posted, 0, 1)
		}
		r.begins(rk, q)
	case trace.KindTest, trace.KindWait, trace.KindFree: // a test that succeeds does not say so
		q, known := rk.requests[a.Req]
		if !known {
			break
		}
		of = &q
		if a.Kind == trace.KindTest {
			break
		}
		delete(rk.requests, a.Req)
		if number := r.takeReceive(q.receive); number > 0 && a.Kind == trace.KindWait {
			rk.got = append(rk.got, number)
		}
	case trace.KindWaitAll:
		for _, q := range rk.requests {
			if number := r.takeReceive(q.receive); number > 0 {
				rk.got = append(rk.got, number)
			}
		}
		clear(rk.requests)
		slices.Sort(rk.got)
	}
	// A blocking receive, or a collective operation, has received all that it has posted.
	for _, receive := range rk.posted {
		if number := r.takeReceive(receive); number > 0 {
			rk.got = append(rk.got, number)
		}
	}
	rk.posted = rk.posted[:0]

	// Requests are followed outside of the span, too, as waits within it may be for them; slices are not shown.
	if !rk.meets(rk.begin, at) {
		return
	}
	r.showPhases(rank, rk)
	s := &r.slice
	s.Rank, s.Begin, s.End, s.Name, s.State = rank, rk.begin, at, r.names.of(a), rk.state()
	s.Sends, s.Receives = rk.sends, rk.got
	s.Args = r.names.args(s.Args[:0], a, of)
	r.slices++
	r.to.Slice(s)
}

// state returns the kind of most time of the action; of an action without time the kind that it would have had.
func (rk *rank) state() replay.TimeKind {
	most := replay.TimeKind(0)
	for k, seconds := range rk.spent {
		if seconds > rk.spent[most] {
			most = replay.TimeKind(k)
		}
	}
	if rk.spent[most] > 0 {
		return most
	}
	switch rk.action.Kind {
	case trace.KindCompute, trace.KindFlops:
		return replay.TimeCompute
	case trace.KindSleep:
		return replay.TimeSleep
	case trace.KindPoll, trace.KindIprobe, trace.KindTest, trace.KindProbe:
		return replay.TimePoll
	}
	return replay.TimeOverhead
}

// begins notes a request, in place of one that a test has completed: a test that succeeds is no other action than one
// that fails, so that the slot shows it when it is used again.
func (r *Recorder) begins(rk *rank, q request) {
	a := &rk.action
	if rk.requests == nil {
		rk.requests = map[int32]request{}
	}
	if old, ok := rk.requests[a.Req]; ok {
		r.takeReceive(old.receive)
	}
	q.peer, q.tag, q.bytes = a.Peer, a.Tag, a.X[0]
	rk.requests[a.Req] = q
}

// marked opens and closes the window of steps on a rank, and begins and ends its phases. A phase that is entered
// twice counts once. Phases that have begun within one that ends are ended for the sink, and begin anew.
func (r *Recorder) marked(rank int32, mark trace.Action, at float64) {
	rk := r.rank(rank)
	rk.clock = max(rk.clock, at)
	if mark.Kind == trace.KindStep {
		step, first, end := mark.X[0], int64(r.span.FirstStep), int64(r.span.EndStep)
		r.last = max(r.last, step)
		switch {
		case end == 0:
		case math.IsInf(rk.from, 1) && step >= first && step < end:
			rk.from = at
		case !math.IsInf(rk.from, 1) && math.IsInf(rk.to, 1) && step >= end:
			rk.to = at
		}
		return
	}
	i := slices.IndexFunc(rk.phases, func(p openPhase) bool { return p.phase == mark.Sym })
	if mark.Flags&trace.FlagEnd == 0 {
		if i < 0 {
			rk.phases = append(rk.phases, openPhase{mark.Sym, at})
		}
		return
	}
	if i < 0 {
		return
	}
	if rk.meets(rk.phases[i].begin, at) {
		r.showPhases(rank, rk)
	}
	// A sink closes the innermost phase first. Those within the one that ends are closed, and shown again from now on
	// when the next slice needs them.
	again := rk.shown - 1 // those before it, from i on, have been shown
	for ; rk.shown > i; rk.shown-- {
		r.to.PhaseEnds(rank, at)
	}
	rk.phases = slices.Delete(rk.phases, i, i+1)
	for j := i; j < again; j++ {
		rk.phases[j].begin = at
	}
}

// End tells what is still open when the replay has ended, or been stopped.
func (r *Recorder) End() {
	for i := range r.ranks {
		rk, n := &r.ranks[i], int32(r.span.FirstRank+i)
		if rk.open {
			r.actionEnds(n, rk.clock)
		}
		if r.span.EndStep > 0 && !math.IsInf(rk.to, 1) { // up to there its time was told, or beyond
			rk.clock = max(rk.clock, rk.to)
		}
		for ; rk.shown > 0; rk.shown-- {
			r.to.PhaseEnds(n, rk.clock)
		}
	}
}

// Slices returns how many slices the sink was told of.
func (r *Recorder) Slices() int64 { return r.slices }

// CheckSeen returns an error if there was nothing within the span. It says where the run ended instead, by steps where
// the span is one of steps, so that the user can name a better one.
func (r *Recorder) CheckSeen() error {
	if r.slices > 0 {
		return nil
	}
	who := "the run ends"
	if r.span.Ranks > 0 { // of the others nothing was told
		who = "these ranks end"
	}
	if r.span.EndStep > 0 && r.last != none {
		return fmt.Errorf("nothing is done in the window, %v: %s with step %d", r.span, who, r.last)
	}
	return fmt.Errorf("nothing is done in the window, %v: %s at %.9g s", r.span, who, r.end)
}

// openPhase is a phase that a rank is in.
type openPhase struct {
	phase uint16
	begin float64
}

// showPhases tells the sink of the open phases that it has not been told of.
func (r *Recorder) showPhases(rank int32, rk *rank) {
	for ; rk.shown < len(rk.phases); rk.shown++ {
		p := &rk.phases[rk.shown]
		r.to.PhaseBegins(rank, int(p.phase), p.begin)
	}
}
