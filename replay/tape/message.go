package tape

// message is the paths to the posts of a message, and what has become of it.
type message struct {
	sent, received point
	sentAt         float64 // s
	begun          float64 // when the transfer starts, s; before that when the receive is posted
	state          messageState
}

type messageState uint8

const (
	sendPosted messageState = 1 << iota
	receivePosted
	started
	late // its receive was posted last
	ended
)

// message returns what is known of a message.
func (t *Tapes) message(id int32) *message {
	for int(id) >= len(t.messages) {
		t.messages = append(t.messages, message{})
	}
	return &t.messages[id]
}

// over reports whether nothing comes of a message any more.
func (m *message) over() bool {
	const all = sendPosted | receivePosted | ended
	return m.state&all == all
}

// begin returns the point of the post that the transfer began with.
func (m *message) begin() *point {
	if m.state&late != 0 {
		return &m.received
	}
	return &m.sent
}

// post notes that a rank posts one side of a message. A number is given anew once a message is
// over.
func (t *Tapes) post(id int32, side messageState, r int32, at float64) (*message, point) {
	m := t.message(id)
	if m.over() {
		m.state = 0
	}
	if t.by == id {
		t.by = -1
	}
	m.state |= side
	rk := &t.ranks[r]
	if rk.end != at {
		t.gaps++
	}
	return m, rk.last
}

// Send tells that rank src posts the send of a message.
func (t *Tapes) Send(id, src int32, at float64) {
	m, path := t.post(id, sendPosted, src, at)
	m.sent, m.sentAt = path, at
}

// Receive tells that rank dst posts the receive of a message.
func (t *Tapes) Receive(id, dst int32, at float64) {
	m, path := t.post(id, receivePosted, dst, at)
	m.received = path
	if m.state&started == 0 {
		m.begun = at
	}
}

// Merge tells that a send and a receive, which were posted as two messages, are that of the send.
func (t *Tapes) Merge(send, receive int32) {
	m, other := t.message(send), t.message(receive)
	m.received, m.state = other.received, m.state|receivePosted
	if m.state&started == 0 {
		m.begun = other.begun
	}
	other.state = 0
	t.by = -1
}

// Start tells when the transfer of a message starts: at the post of its send, or of its receive if
// that is later.
func (t *Tapes) Start(id int32, at float64) {
	m := &t.messages[id]
	m.state |= started
	if m.sentAt != at {
		m.state |= late
		if m.begun != at {
			t.gaps++
		}
	}
	m.begun = at
}

// Over tells that the transfer of a message ends which nobody waits for.
func (t *Tapes) Over(id int32) { t.messages[id].state |= ended }

// End tells that the transfer of a message ends, which the network has carried since a time. Whom
// it releases is told next.
func (t *Tapes) End(id int32, since float64, x Transfer) {
	i := t.roomForTransfer() // before it is over: its path may be needed
	m := &t.messages[id]
	m.state |= ended
	t.by, t.ended = id, point(i)
	t.records[i] = record{*m.begin(), transferred + int32(len(t.transfers)), since - m.begun}
	t.transfers = append(t.transfers, x)
}

// roomForTransfer is room for the record of one.
func (t *Tapes) roomForTransfer() int {
	if len(t.transfers) == cap(t.transfers) {
		t.settle()
	}
	return t.room()
}

// Release tells that a message has ended a wait of rank r: its end has, or if it is not the last
// one that has ended, that it has found a receive.
func (t *Tapes) Release(r, id int32, since, at float64) {
	rk := &t.ranks[r]
	if rk.end != since {
		t.gaps++
	}
	rk.end = at
	if t.by == id {
		rk.last = t.ended
		return
	}
	t.See(r, id)
}

// See tells that a probe of rank r has seen a message, but not when it was posted.
func (t *Tapes) See(r, id int32) {
	rk, m := &t.ranks[r], &t.messages[id]
	rk.last = m.sent
	t.add(rk, rk.row+t.probing, rk.end-m.sentAt)
}
