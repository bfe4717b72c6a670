package capture

import (
	"errors"
	"fmt"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file translates messages between two ranks, and probes for them (translator.message, probe), for translate.go.

// sendKinds are the actions of sends. A ready send is a plain one, as the trace knows no mode that fails without a
// receive; a buffered one is a nonblocking one that is let go of.
var sendKinds = map[procedureNumber]trace.Kind{
	procSend: trace.KindSend, procRsend: trace.KindSend, procSsend: trace.KindSsend, procBsend: trace.KindIsend,
	procIsend: trace.KindIsend, procIrsend: trace.KindIsend, procIssend: trace.KindIssend, procIbsend: trace.KindIsend,
	procPsendinit: trace.KindIsend, procSendinit: trace.KindIsend, procRsendinit: trace.KindIsend,
	procSsendinit: trace.KindIssend, procBsendinit: trace.KindIsend,
}

// errNeverEnds is the error of a receive of which no record tells the message.
var errNeverEnds = fmt.Errorf("a receive from any rank, or of any tag, that never ends: %w", errUnfinished)

// message adds a send or a receive, whose request is r.
func (t *translator) message(e *event, r request) {
	// The receive of a message that a matched probe has found may have been posted behind the probe.
	if q, ok := t.early[e.message]; ok {
		delete(t.early, e.message)
		if r.number == 0 {
			t.release(q, trace.KindWait)
			return
		}
		t.slots[t.started.instance(r)] = t.slots[t.started.instance(q)]
		delete(t.slots, t.started.instance(q))
		return
	}
	// The arguments may leave the source, the tag and the size open; the survey knows what the receive got.
	kind, sends := sendKinds[e.proc]
	source, tag, bytes := e.ranks[0], e.tags[0], e.of[anySide].count*e.of[anySide].size
	// Partitioned messages match among themselves alone (MPI 4.1, section 4.2), so their tags are apart.
	if e.partitions > 0 {
		tag = partitionedTag - tag
	}
	found := status{found: true, bytes: -1}
	// A receive that never ended is listed for merger.answer, in the translation before the one that counts.
	if r.number > 0 {
		i := t.started.instance(r)
		if _, open := t.v.open[i]; open && t.open != nil && source != procNull {
			*t.open = append(*t.open, unended{instance: i, comm: t.own[e.comm].of, source: source, tag: tag})
			found.found = false
		} else if seen, ok := t.v.finds[i]; ok {
			found = seen
		}
	}
	if !sends {
		kind = trace.KindRecv
		// For a nonblocking receive the status of the call that completed it counts.
		if r.number > 0 {
			kind = trace.KindIrecv
		} else {
			found = e.status
		}
		source, tag, bytes = found.resolve(source, tag, bytes)
	}
	if source == procNull || !found.found { // cancelled, or never answered
		t.nothing(r)
		return
	}
	if source == anyRank || tag == anyTag {
		textutil.Stop(errNeverEnds)
	}
	peer, family := t.peerOf(e, source)
	// A start costs the sender what a blocking send does, so the trace tells it from MPI_Isend.
	if kind == trace.KindIsend && r.persistent {
		kind = trace.KindStart
	}
	s := step{form: form{kind: kind, family: family}}
	s.args[argPeer], s.args[argTag], s.args[argBytes] = peer, int64(tag), bytes
	buffered := e.proc == procBsend || e.proc == procIbsend || e.proc == procBsendinit
	if r.number > 0 || buffered {
		s.request = t.take(r)
	}
	t.add(s)
	// The program may reuse its buffer and never waits; the message itself is still under way.
	if buffered {
		t.release(r, trace.KindFree)
		t.nothing(r)
	}
}

// resolve returns the source, the tag and the bytes of the message that a receive got. What its arguments leave
// open comes from the status; bytes are -1 if the status has too many to count.
func (s *status) resolve(source, tag int32, bytes int64) (int32, int32, int64) {
	if s.wild {
		source, tag = s.source, s.tag
	}
	switch {
	case s.bytes == mostCount:
		bytes = -1
	case s.bytes >= 0:
		bytes = s.bytes
	}
	return source, tag, bytes
}

// sendrecv adds a send and a receive at once, or only one of them if the other is to or from MPI_PROC_NULL.
func (t *translator) sendrecv(e *event) {
	out, in := e.of[sends], e.of[receives]
	if e.proc == procSendrecvreplace {
		out, in = e.of[anySide], e.of[anySide]
	}
	source, tag, bytes := e.status.resolve(e.ranks[1], e.tags[1], in.count*in.size)
	var s step
	peer, tagAt, size := argPeer, argTag, argBytes // the arguments of what is received
	if e.ranks[0] != procNull {
		s.args[argPeer], s.family = t.peerOf(e, e.ranks[0])
		s.args[argTag], s.args[argBytes] = int64(e.tags[0]), out.count*out.size
		s.kind = trace.KindSend
		peer, tagAt, size = argSource, argSent, argReceived
	}
	if source != procNull {
		s.args[peer], s.family = t.peerOf(e, source)
		s.args[tagAt], s.args[size] = int64(tag), bytes
		if s.kind == trace.KindSend {
			s.kind = trace.KindSendrecv
		} else {
			s.kind = trace.KindRecv
		}
	}
	if s.kind != trace.KindNone {
		t.add(s)
	}
}

// isendrecv adds a nonblocking send and a nonblocking receive, both of which the one request of the call completes.
func (t *translator) isendrecv(e *event) {
	out, in := e.of[sends], e.of[receives]
	if e.proc == procIsendrecvreplace {
		out, in = e.of[anySide], e.of[anySide]
	}
	found, ok := t.v.finds[t.started.instance(e.request)]
	if !ok || found.bytes == 0 {
		found.bytes = -1 // MPICH says 0 of every message: it has as many bytes as there was room for
	}
	source, tag, bytes := found.resolve(e.ranks[1], e.tags[1], in.count*in.size)
	if source != procNull && (source == anyRank || tag == anyTag) {
		textutil.Stop(errNeverEnds)
	}
	// The receive is posted first: a rank may send to itself.
	var requests []request
	t.post(e, &requests, trace.KindIrecv, source, int64(tag), bytes)
	t.post(e, &requests, trace.KindIsend, e.ranks[0], int64(e.tags[0]), out.count*out.size)
	t.slots[t.started.instance(e.request)] = slot{none: true, rest: requests}
}

// probe adds a recorded probe, of the message that it has found.
func (t *translator) probe(e *event) {
	// A probe that has found something names that message in the trace; one in vain keeps its arguments.
	source, tag := e.ranks[0], e.tags[0]
	if e.status.found {
		source, tag = e.status.source, e.status.tag
	}
	if source < 0 || tag == anyTag {
		t.hold(e, nil) // for no rank in particular, and in vain
		return
	}
	peer, family := t.peerOf(e, source)
	s := step{form: form{kind: trace.KindIprobe, family: family}}
	// A blocking probe waits, unless the message that it found may have been cancelled by its sender.
	if (e.proc == procProbe || e.proc == procMprobe) && !t.recalls {
		s.kind = trace.KindProbe
	}
	s.args[argPeer], s.args[argTag] = peer, int64(tag)
	switch {
	case !e.status.found:
		t.hold(e, &s)
		return
	case t.spin.found == t.s.key && e.proc == procIprobe:
		t.hold(e, nil) // the message is still there
		return
	}
	t.add(s)
	t.spin.found = t.s.key

	// The receive of the message that was found may have to be posted here.
	m, ok := t.v.early[e.message]
	if !ok {
		return
	}
	found := m.found
	if m.request.number > 0 {
		if found, ok = t.v.finds[m.request]; !ok {
			found.bytes = -1
		}
	}
	var posted []request
	_, _, bytes := found.resolve(0, 0, m.bytes)
	t.post(e, &posted, trace.KindIrecv, source, int64(tag), bytes)
	t.early[e.message] = posted[0]
}

// early is a message whose receive is posted behind its probe. A matched probe takes a message out of the queue,
// which is received later (MPI 4.1, section 3.8.2). The trace receives the message later, too, unless the rank
// asks for another message in between, which would get this one. Then the receive is posted directly behind the
// probe, and waited for where the program receives the message.
type early struct {
	bytes   int64    // there is room for
	found   status   // of a blocking receive
	request instance // of a nonblocking one
}

// partitionedTag is the first of the tags of partitioned messages, from which the program's tag is subtracted:
// they match no other messages.
const partitionedTag = -1 << 20

// makeReady counts the partitions of a message that are ready. With the last one the whole message is sent, as
// the trace has no parts of messages.
func (t *translator) makeReady(e *event) {
	// The request is that of the plan: a partitioned message is sent under the number with which it was made.
	r := e.requests[0]
	if r.number == 0 {
		return // of a call that was left out
	}
	p, ok := t.plans[r.number]
	if !ok || !r.persistent || p.partitions == 0 {
		textutil.Stop(errors.New("a partition of a request that was not made"))
	}
	before := p.ready
	p.ready += e.partitions
	t.plans[r.number] = p
	if before < p.partitions && p.ready >= p.partitions {
		t.message(&p.event, r)
	}
}
