package capture

import "reprise/trace"

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
