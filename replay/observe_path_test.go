package replay_test

import (
	"math"
	"testing"

	"reprise/replay"
)

// critical finds the critical path of a replay while it runs: each rank carries what the
// longest path to its clock consists of, and who is released by a message takes that of the
// message. It shows that an Observer is told all that this needs.
type critical struct {
	t        testing.TB
	ranks    []path
	messages []pathMessage
}

// path is what a path consists of, in seconds.
type path struct {
	end                                        float64
	own, latency, transfer, contention, polled float64
}

func (p *path) sum() float64 { return p.own + p.latency + p.transfer + p.contention + p.polled }

// pathMessage is a message with the paths to its posts and to where its transfer has come.
type pathMessage struct {
	sent, received, now path
	carried             bool
}

func (c *critical) observer() replay.Observer {
	return replay.Observer{
		TimePasses: c.timePasses, SendPosted: c.sendPosted, ReceivePosted: c.receivePosted, Merged: c.merged,
		Started: c.started, Carried: c.carried, Released: c.released,
	}
}

func (c *critical) message(id int32) *pathMessage {
	for int(id) >= len(c.messages) {
		c.messages = append(c.messages, pathMessage{})
	}
	return &c.messages[id]
}

func (c *critical) meets(what string, p *path, at float64) {
	if p.end != at && !c.t.Failed() {
		c.t.Errorf("%s at %v s does not meet the path, which ends at %v s", what, at, p.end)
	}
}

func (c *critical) timePasses(rank int32, k replay.TimeKind, kernel int32, from, to float64) {
	p := &c.ranks[rank]
	c.meets(k.String(), p, from)
	p.own += to - from // of a wait only until it is told what has released it
	p.end = to
}

func (c *critical) sendPosted(message, src, dst, tag int32, bytes int64, at float64) {
	c.meets("send", &c.ranks[src], at)
	c.message(message).sent = c.ranks[src]
}

func (c *critical) receivePosted(message, dst, src, tag int32, bytes int64, at float64) {
	c.meets("receive", &c.ranks[dst], at)
	c.message(message).received = c.ranks[dst]
}

func (c *critical) merged(send, receive int32) {
	c.message(send).received = c.message(receive).received
}

func (c *critical) started(message int32, at float64) {
	m := c.message(message)
	m.carried, m.now = false, m.sent
	if m.sent.end != at {
		m.now = m.received
	}
	c.meets("start", &m.now, at)
}

func (c *critical) carried(message int32, from, to, rate, alone float64, link int32) {
	m := c.message(message)
	if !m.carried {
		m.carried = true
		m.now.latency += from - m.now.end
	}
	passed := to - from
	if alone > 0 {
		m.now.transfer += passed * rate / alone
		passed -= passed * rate / alone
	}
	m.now.contention += passed
	m.now.end = to
}

func (c *critical) released(rank, message int32, since, at float64) {
	m := c.message(message)
	if m.now.end == at { // its end, or both at once
		c.ranks[rank] = m.now
		return
	}
	p := m.sent
	p.polled += at - p.end
	p.end = at
	c.ranks[rank] = p
}

// check compares with a result: the path ends at the makespan, and its parts add up to it.
func (c *critical) check(res *replay.Result) {
	c.t.Helper()
	for r, want := range res.Ranks {
		p := &c.ranks[r]
		c.meets("end", p, want.End)
		if math.Abs(p.sum()-want.End) > 1e-9*want.End && !c.t.Failed() {
			c.t.Errorf("rank %d: a path of %v s to %v s: %+v", r, p.sum(), want.End, *p)
		}
	}
}
