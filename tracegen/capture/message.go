package capture

import (
	"errors"
	"fmt"

	"reprise/trace"
)

// sendKinds are the actions of sends.
var sendKinds = map[procedureNumber]trace.Kind{
	procSend: trace.KindSend, procRsend: trace.KindSend, procSsend: trace.KindSsend, procBsend: trace.KindIsend,
	procIsend: trace.KindIsend, procIrsend: trace.KindIsend, procIssend: trace.KindIssend, procIbsend: trace.KindIsend,
	procPsendinit: trace.KindIsend, procSendinit: trace.KindIsend, procRsendinit: trace.KindIsend, procSsendinit: trace.KindIssend, procBsendinit: trace.KindIsend,
}

// message adds a send or a receive.
func (t *translator) message(e *event, r request) error {
	if t.receiveEarly(e, r) {
		return nil
	}
	kind, sends := sendKinds[e.proc]
	source, tag, bytes := e.ranks[0], e.tags[0], e.of[anySide].count*e.of[anySide].size
	if e.partitions > 0 {
		tag = partitionedTag - tag
	}
	found := status{found: true, bytes: -1}
	if r.number > 0 {
		i := t.started.instance(r)
		if _, open := t.v.open[i]; open && t.open != nil && source != procNull {
			*t.open = append(*t.open, unended{instance: i, comm: t.own.of[e.comm], source: source, tag: tag})
			found.found = false
		} else if seen, ok := t.v.finds[i]; ok {
			found = seen
		}
	}
	if !sends {
		kind = trace.KindRecv
		if r.number > 0 {
			kind = trace.KindIrecv
		} else {
			found = e.status
		}
		source, tag, bytes = found.resolve(source, tag, bytes)
	}
	if source == procNull || !found.found { // cancelled, or never answered
		t.nothing(r)
		return nil
	}
	if source == anyRank || tag == anyTag {
		return fmt.Errorf("a receive from any rank, or of any tag, that never ends: %w", errUnfinished)
	}
	peer, family, err := t.peerOf(e, source)
	if err != nil {
		return err
	}
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
	if buffered {
		t.release(r, trace.KindFree)
		t.nothing(r)
	}
	return nil
}

// resolve returns what a receive got, where its arguments leave it open.
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

// sendrecv adds a send and a receive at once, or the one that is not of MPI_PROC_NULL.
func (t *translator) sendrecv(e *event) error {
	out, in := e.of[sends], e.of[receives]
	if e.proc == procSendrecvreplace {
		out, in = e.of[anySide], e.of[anySide]
	}
	source, tag, bytes := e.status.resolve(e.ranks[1], e.tags[1], in.count*in.size)
	to, family, err := int64(0), int32(0), error(nil)
	if e.ranks[0] != procNull {
		if to, family, err = t.peerOf(e, e.ranks[0]); err != nil {
			return err
		}
	}
	from := int64(0)
	if source != procNull {
		if from, family, err = t.peerOf(e, source); err != nil {
			return err
		}
	}
	s := step{form: form{family: family}}
	s.args[argPeer], s.args[argTag], s.args[argBytes] = to, int64(e.tags[0]), out.count*out.size
	switch {
	case e.ranks[0] == procNull && source == procNull:
		return nil
	case source == procNull:
		s.kind = trace.KindSend
	case e.ranks[0] == procNull:
		s.kind = trace.KindRecv
		s.args[argPeer], s.args[argTag], s.args[argBytes] = from, int64(tag), bytes
	default:
		s.kind = trace.KindSendrecv
		s.args[argSource], s.args[argSent], s.args[argReceived] = from, int64(tag), bytes
	}
	t.add(s)
	return nil
}

// isendrecv adds a nonblocking send and a nonblocking receive, which one request stands for.
func (t *translator) isendrecv(e *event) error {
	out, in := e.of[sends], e.of[receives]
	if e.proc == procIsendrecvreplace {
		out, in = e.of[anySide], e.of[anySide]
	}
	found, ok := t.v.finds[t.started.instance(e.request)]
	if !ok {
		found = status{bytes: -1}
	}
	if found.bytes == 0 {
		found.bytes = -1 // MPICH says so of whatever came: as many as there was room for
	}
	source, tag, bytes := found.resolve(e.ranks[1], e.tags[1], in.count*in.size)
	var requests []request
	for _, m := range []struct {
		kind  trace.Kind
		rank  int32
		tag   int32
		bytes int64
	}{{trace.KindIrecv, source, tag, bytes}, {trace.KindIsend, e.ranks[0], e.tags[0], out.count * out.size}} {
		switch {
		case m.rank == procNull:
			continue
		case m.rank == anyRank || m.tag == anyTag:
			return fmt.Errorf("a receive from any rank, or of any tag, that never ends: %w", errUnfinished)
		}
		peer, family, err := t.peerOf(e, m.rank)
		if err != nil {
			return err
		}
		t.ours--
		q := request{number: t.ours}
		requests = append(requests, q)
		s := step{form: form{kind: m.kind, family: family, request: t.take(q)}}
		s.args[argPeer], s.args[argTag], s.args[argBytes] = peer, int64(m.tag), m.bytes
		t.add(s)
	}
	t.slots[t.started.instance(e.request)] = slot{none: true, rest: requests}
	return nil
}

// probe adds a recorded probe, of the message that it has found.
func (t *translator) probe(e *event) error {
	waits := e.proc == procProbe || e.proc == procMprobe
	source, tag := e.ranks[0], e.tags[0]
	if e.status.found {
		source, tag = e.status.source, e.status.tag
	}
	if source < 0 || tag == anyTag {
		t.hold(e, nil) // from nobody in particular, and in vain
		return nil
	}
	peer, family, err := t.peerOf(e, source)
	if err != nil {
		return err
	}
	s := step{form: form{kind: trace.KindIprobe, family: family}}
	if waits && !t.recalls {
		s.kind = trace.KindProbe
	}
	s.args[argPeer], s.args[argTag] = peer, int64(tag)
	switch {
	case !e.status.found:
		t.hold(e, &s)
		return nil
	case t.spin.found == t.s.key && e.proc == procIprobe:
		t.hold(e, nil) // the message is still there
		return nil
	}
	t.add(s)
	t.spin.found = t.s.key
	t.postEarly(e, &s)
	return nil
}

// A matched probe takes a message that is received later. The trace receives it then, too, unless
// another message was asked for in between, which would get this one: then its receive is
// posted behind the probe, and waited for where the program receives it.

// early is a message whose receive is posted behind its probe.
type early struct {
	bytes   int64    // there is room for
	found   status   // of a blocking receive
	request instance // of a nonblocking one
}

// matching looks for messages of matched probes that others are received before.
func (v *survey) matching(e *event) {
	switch e.proc {
	case procMrecv, procImrecv:
		at, ok := v.probed[e.message]
		if delete(v.probed, e.message); ok && at != v.taken {
			v.early[e.message] = early{e.of[anySide].count * e.of[anySide].size, e.status, instance{number: e.request.number}}
		}
		v.taken++
	case procMprobe, procImprobe:
		if e.message > 0 {
			v.taken++
			v.probed[e.message] = v.taken
		}
	case procRecv, procIrecv, procSendrecv, procSendrecvreplace, procStart, procStartall:
		v.taken++
	}
}

// postEarly posts the receive of a message that a probe has found, if that is to be.
func (t *translator) postEarly(e *event, probe *step) {
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
	t.ours--
	q := request{number: t.ours}
	t.early[e.message] = q
	s := step{form: form{kind: trace.KindIrecv, family: probe.family, request: t.take(q)}}
	s.args[argPeer], s.args[argTag] = probe.args[argPeer], probe.args[argTag]
	_, _, s.args[argBytes] = found.resolve(0, 0, m.bytes)
	t.add(s)
}

// receiveEarly receives a message whose receive was posted behind its probe, and reports whether it
// was.
func (t *translator) receiveEarly(e *event, r request) bool {
	q, ok := t.early[e.message]
	if !ok {
		return false
	}
	delete(t.early, e.message)
	if r.number == 0 {
		t.release(q, trace.KindWait)
		return true
	}
	t.slots[t.started.instance(r)] = t.slots[t.started.instance(q)]
	delete(t.slots, t.started.instance(q))
	return true
}

// partitionedTag is the first of the tags of partitioned messages, which match none of the
// others; that of a program is subtracted.
const partitionedTag = -1 << 20

// makeReady counts partitions of a message that are ready. With the last one it is sent.
func (t *translator) makeReady(e *event) error {
	r := e.requests[0]
	if r.number == 0 {
		return nil // of a call that was left out
	}
	p, ok := t.plans[r.number]
	if !ok || !r.persistent || p.partitions == 0 {
		return errors.New("a partition of a request that was not made")
	}
	before := p.ready
	p.ready += e.partitions
	t.plans[r.number] = p
	if before < p.partitions && p.ready >= p.partitions {
		return t.message(&p.event, r)
	}
	return nil
}
