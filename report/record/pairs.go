package record

// pairs counts messages from senders to receivers. Programs send to few, and in the same order again
// and again: so that a sender remembers, of each receiver, which one came after it.
type pairs []sender

// sender is to whom one has sent.
type sender struct {
	order []turn // of receivers, in the order of the first messages
	sent  []sent // likewise
	last  int32  // index of who was sent to last
	next  int32  // and of who came after it the last time
}

// turn is a receiver, and who came after it the last time.
type turn struct{ receiver, then int32 }

// sent is what has been sent to a receiver.
type sent struct{ messages, bytes int64 }

// add adds messages.
func (p pairs) add(from, to int32, messages, bytes int64) {
	at := p[from].index(to) // which may make room for one more
	s := &p[from].sent[at]
	s.messages += messages
	s.bytes += bytes
}

// index returns the index of a receiver, to whom it sends now.
func (s *sender) index(to int32) int32 {
	at := s.next
	if int(at) >= len(s.order) || s.order[at].receiver != to {
		at = s.find(to)
	}
	s.last, s.next = at, s.order[at].then
	return at
}

// find returns the index of a receiver, which comes after another one than the last time.
func (s *sender) find(to int32) int32 {
	at := 0
	for at < len(s.order) && s.order[at].receiver != to {
		at++
	}
	if at == len(s.order) {
		s.order, s.sent = append(s.order, turn{receiver: to}), append(s.sent, sent{})
	}
	s.order[s.last].then = int32(at)
	return int32(at)
}

// all calls f for each pair that has messages.
func (p pairs) all(f func(from, to int32, messages, bytes int64)) {
	for from := range p {
		for i, s := range p[from].sent {
			f(int32(from), p[from].order[i].receiver, s.messages, s.bytes)
		}
	}
}
