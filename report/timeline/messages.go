package timeline

// This file pairs sends and receives, for the arrows of a timeline.

// messages follows messages to ranks that are looked at from their posts to the end of their
// transfers, by the numbers that a replay gives to them, again and again.
type messages struct {
	list     []message
	posts    int64         // sends so far
	receives []openReceive // of ranks that are looked at
	free     []int32       // of receives
}

// message is one under way.
type message struct {
	Message
	state   messageState
	receive int32 // of receives, whose number is not known yet; none
}

type messageState uint8

const (
	isSent messageState = 1 << iota
	isPosted
	isEnded
	sentWithin     // the span
	receivedWithin // the span

	isOver   = isSent | isPosted | isEnded
	isWithin = sentWithin | receivedWithin
)

// openReceive is a receive that its rank has not completed.
type openReceive struct {
	number  int64 // of the message, once it is known to lie within the span; 0: none
	message int32 // until both sides are known; none
}

const none = -1

// of returns the message to which the replay has given a number: a new one if the message of that number is over.
// Replays use a number again once both sides are posted and the transfer has ended; they may tell these three in
// any order.
func (m *messages) of(id int32) *message {
	for int(id) >= len(m.list) {
		m.list = append(m.list, message{receive: none})
	}
	known := &m.list[id]
	if known.state&isOver == isOver {
		*known = message{receive: none}
	}
	return known
}

// sendPosted counts a send, whose number tells it from all others of the replay, and follows its message if a rank of
// the span receives it.
func (r *Recorder) sendPosted(id, src, dst, tag int32, bytes int64, at float64) {
	r.posts++
	within := r.within(src) && r.rank(src).holds(at)
	if within && r.rank(src).open {
		rk := r.rank(src)
		rk.sends = append(rk.sends, Post{r.posts, at})
	}
	if !r.within(dst) {
		return // the observer is called for messages that its ranks receive
	}
	m := r.of(id)
	m.Number, m.Src, m.Dst, m.Tag, m.Bytes, m.Sent = r.posts, src, dst, tag, bytes, at
	if m.state |= isSent; within {
		m.state |= sentWithin
	}
	r.changed(m)
}

// receivePosted notes that the receive of a message is posted. While its rank is in an action, the receive is one of
// that action: its slice ends the arrow, or that of the wait for its request.
func (r *Recorder) receivePosted(id, dst, src, tag int32, bytes int64, at float64) {
	rk := r.rank(dst)
	m := r.of(id)
	m.state |= isPosted
	if rk.holds(at) {
		m.state |= receivedWithin
		if rk.open {
			// It takes a place that another receive has left, if there is any.
			if n := len(r.free); n > 0 {
				m.receive, r.free = r.free[n-1], r.free[:n-1]
			} else {
				m.receive = int32(len(r.receives))
				r.receives = append(r.receives, openReceive{})
			}
			r.receives[m.receive] = openReceive{message: id}
			rk.posted = append(rk.posted, m.receive)
		}
	}
	r.changed(m)
}

// underWay returns a message that was sent and is not over, nil if there is none: it was posted after the
// steps of the span.
func (m *messages) underWay(id int32) *message {
	if int(id) >= len(m.list) {
		return nil
	}
	known := &m.list[id]
	if known.state&isSent == 0 || known.state&isOver == isOver {
		return nil
	}
	return known
}

// merged joins a receive that had a number of its own, as it was posted before its send or from any source, with the
// send that it matches. The number of the receive is free then.
func (r *Recorder) merged(send, receive int32) {
	m := r.underWay(send)
	if m == nil {
		return
	}
	from := *r.of(receive)
	r.list[receive] = message{receive: none}
	m.state |= from.state & (isPosted | receivedWithin)
	if m.receive = from.receive; m.receive != none {
		r.receives[m.receive].message = send
	}
	r.changed(m)
}

// messageEnded notes the end of a transfer, at which the message is at the receiver.
func (r *Recorder) messageEnded(id int32, at float64) {
	m := r.underWay(id)
	if m == nil {
		return
	}
	m.state |= isEnded
	m.Arrived = at
	r.changed(m)
}

// changed looks at what is known of a message now. Once both sides are posted the receive gets the number of the
// message, if that lies within the span; once the transfer has ended, too, the sink gets the message.
func (r *Recorder) changed(m *message) {
	within := m.state&isWithin == isWithin
	// The receive learns of its message, and no longer refers to it: from here on the replay may use its number again.
	if m.receive != none && m.state&(isSent|isPosted) == isSent|isPosted {
		to := &r.receives[m.receive]
		if to.message = none; within {
			to.number = m.Number
		}
		m.receive = none
	}
	if within && m.state&isOver == isOver {
		r.to.Message(&m.Message)
	}
}

// takeReceive ends an open receive and returns the number of its message, 0 if that is not
// known or lies outside of the span.
func (m *messages) takeReceive(receive int32) int64 {
	if receive == none {
		return 0
	}
	open := m.receives[receive]
	if open.message != none {
		m.list[open.message].receive = none
	}
	m.free = append(m.free, receive)
	return open.number
}
