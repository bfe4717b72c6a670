package timeline

import (
	"fmt"
	"math"
	"slices"

	"reprise/replay"
	"reprise/trace"
)

// Recorder hands a Sink the actions, phases and messages of one replay.
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

// rank is what a Recorder knows of a rank.
type rank struct {
	from, to float64 // what of its time is looked at; +Inf: not known yet
	clock    float64 // up to which it was told

	open   bool // it is in an action
	action trace.Action
	begin  float64
	spent  [numKinds]float64 // in the action, seconds
	sends  []Post            // in the action
	posted []int32           // receives, of messages.receives: in the action
	got    []int64           // messages that the action has received

	requests map[int32]request // by slot
	phases   []openPhase
	shown    int // phases that the sink has been told of
}

// request is what a nonblocking action has begun.
type request struct {
	verb      string // of trace cat
	peer, tag int32
	bytes     int64
	receive   int32 // of messages.receives; none if it is a send
}

// NewRecorder returns a recorder of what lies within a span of a run of h, which Span.Check
// must have accepted.
func NewRecorder(h *trace.Header, span Span, to Sink) *Recorder {
	r := &Recorder{names: newActionNames(h), span: span, to: to, last: none, ranks: make([]rank, span.ranks(h))}
	for i := range r.ranks {
		r.ranks[i].from, r.ranks[i].to = span.bounds()
	}
	return r
}

// Observer returns the functions of the recorder, for replay.Options.Observers: of the ranks and steps of
// its span, and of a few steps before, where requests begin that the span waits for.
func (r *Recorder) Observer() replay.Observer {
	return replay.Observer{
		FirstRank: int32(r.span.FirstRank), EndRank: int32(r.span.FirstRank + len(r.ranks)),
		FirstStep: int64(max(0, r.span.FirstStep-stepsBefore)), EndStep: int64(r.span.EndStep),
		ActionBegins: r.actionBegins, ActionEnds: r.actionEnds, TimePasses: r.timePasses, Marked: r.marked,
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

// meets reports whether a part of the rank's time is looked at, if it is of no length that
// point.
func (rk *rank) meets(begin, end float64) bool {
	return begin < rk.to && (end > rk.from || begin >= rk.from)
}

func (r *Recorder) actionBegins(rank int32, a trace.Action, at float64) {
	rk := r.rank(rank)
	rk.open, rk.action, rk.begin, rk.clock = true, a, at, at
	clear(rk.spent[:])
	rk.sends, rk.got = rk.sends[:0], rk.got[:0]
}

func (r *Recorder) timePasses(rank int32, k replay.TimeKind, kernel int32, from, to float64) {
	r.end = max(r.end, to)
	rk := r.rank(rank)
	rk.spent[k] += to - from
	rk.clock = to
}

func (r *Recorder) actionEnds(rank int32, at float64) {
	rk := r.rank(rank)
	rk.open, rk.clock = false, at
	of, known := r.settle(rk)
	if !rk.meets(rk.begin, at) {
		return
	}
	r.showPhases(rank, rk)
	s := &r.slice
	s.Rank, s.Begin, s.End, s.Name, s.State = rank, rk.begin, at, r.names.of(&rk.action), rk.state()
	s.Sends, s.Receives = rk.sends, rk.got
	if s.Args = s.Args[:0]; known {
		s.Args = r.names.args(s.Args, &rk.action, &of)
	} else {
		s.Args = r.names.args(s.Args, &rk.action, nil)
	}
	r.slices++
	r.to.Slice(s)
}

// state returns what most time of the action was spent on; of one without time what it would
// have been spent on.
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

// settle notes what the action that ends has done to the requests of its rank, and which
// messages it has received. It returns the request that the action is about, if there is one
// that is known.
func (r *Recorder) settle(rk *rank) (of request, known bool) {
	a := &rk.action
	switch a.Kind {
	case trace.KindIsend, trace.KindIssend, trace.KindStart:
		r.begins(rk, a, request{verb: "send", receive: none})
	case trace.KindIrecv:
		q := request{verb: "recv", receive: none}
		if len(rk.posted) > 0 {
			q.receive = rk.posted[0]
			rk.posted = slices.Delete(rk.posted, 0, 1)
		}
		r.begins(rk, a, q)
	case trace.KindTest: // one that succeeds does not say so
		of, known = rk.requests[a.Req]
	case trace.KindWait, trace.KindFree:
		if of, known = rk.requests[a.Req]; known {
			delete(rk.requests, a.Req)
			if number := r.takeReceive(of.receive); number > 0 && a.Kind == trace.KindWait {
				rk.got = append(rk.got, number)
			}
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
	for _, receive := range rk.posted {
		if number := r.takeReceive(receive); number > 0 {
			rk.got = append(rk.got, number)
		}
	}
	rk.posted = rk.posted[:0]
	return of, known
}

// begins notes a request, in place of one that a test has completed.
func (r *Recorder) begins(rk *rank, a *trace.Action, q request) {
	if rk.requests == nil {
		rk.requests = map[int32]request{}
	}
	if old, ok := rk.requests[a.Req]; ok {
		r.takeReceive(old.receive)
	}
	q.peer, q.tag, q.bytes = a.Peer, a.Tag, a.X[0]
	rk.requests[a.Req] = q
}

func (r *Recorder) marked(rank int32, mark trace.Action, at float64) {
	rk := r.rank(rank)
	rk.clock = max(rk.clock, at)
	switch {
	case mark.Kind == trace.KindStep:
		r.step(rk, mark.X[0], at)
	case mark.Flags&trace.FlagEnd == 0:
		rk.beginPhase(mark.Sym, at)
	default:
		r.endPhase(rank, rk, mark.Sym, at)
	}
}

// step opens and closes a window of steps on a rank.
func (r *Recorder) step(rk *rank, step int64, at float64) {
	first, end := int64(r.span.FirstStep), int64(r.span.EndStep)
	r.last = max(r.last, step)
	switch {
	case end == 0:
	case math.IsInf(rk.from, 1) && step >= first && step < end:
		rk.from = at
	case !math.IsInf(rk.from, 1) && math.IsInf(rk.to, 1) && step >= end:
		rk.to = at
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

// CheckSeen returns an error if there was nothing within the span.
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

// beginPhase begins a phase, unless the rank is in it.
func (rk *rank) beginPhase(phase uint16, at float64) {
	if rk.inPhase(phase) < 0 {
		rk.phases = append(rk.phases, openPhase{phase, at})
	}
}

// inPhase returns which of the open phases a phase is, -1 if none.
func (rk *rank) inPhase(phase uint16) int {
	for i := range rk.phases {
		if rk.phases[i].phase == phase {
			return i
		}
	}
	return -1
}

// endPhase ends a phase. Those that have begun within it end, and begin anew.
func (r *Recorder) endPhase(rank int32, rk *rank, phase uint16, at float64) {
	i := rk.inPhase(phase)
	if i < 0 {
		return
	}
	if rk.meets(rk.phases[i].begin, at) {
		r.showPhases(rank, rk)
	}
	again := rk.shown - 1 // those before it, from i on, have been shown
	for ; rk.shown > i; rk.shown-- {
		r.to.PhaseEnds(rank, at)
	}
	rk.phases = append(rk.phases[:i], rk.phases[i+1:]...)
	for j := i; j < again; j++ {
		rk.phases[j].begin = at
	}
}

// showPhases tells the sink of the open phases that it has not been told of.
func (r *Recorder) showPhases(rank int32, rk *rank) {
	for ; rk.shown < len(rk.phases); rk.shown++ {
		p := &rk.phases[rk.shown]
		r.to.PhaseBegins(rank, int(p.phase), p.begin)
	}
}
