package record

// pairs counts messages from senders to receivers. Programs send to few, and in the same order again
// and again: so that a sender remembers, of each receiver, which one came after it.
type pairs []sender

// sender is to whom one has sent.
type sender struct {
	to   []sent // in the order of the first messages
	last int32  // index of who was sent to last
	next int32  // and of who came after it the last time
}

// sent is what has been sent to a receiver.
type sent struct {
	receiver        int32
	then            int32 // index of who was sent to after it
	messages, bytes int64
}

// add adds messages.
func (p pairs) add(from, to int32, messages, bytes int64) {
	s := p[from].cell(to)
	s.messages += messages
	s.bytes += bytes
}

// cell returns what has been sent to a receiver.
func (s *sender) cell(to int32) *sent {
	if int(s.next) < len(s.to) {
		if c := &s.to[s.next]; c.receiver == to {
			s.last, s.next = s.next, c.then
			return c
		}
	}
	return s.find(to)
}

// find is cell if another receiver than the last time comes after the one before.
func (s *sender) find(to int32) *sent {
	at := 0
	for at < len(s.to) && s.to[at].receiver != to {
		at++
	}
	if at == len(s.to) {
		s.to = append(s.to, sent{receiver: to})
	}
	s.to[s.last].then = int32(at)
	s.last, s.next = int32(at), s.to[at].then
	return &s.to[at]
}

// all calls f for each pair that has messages.
func (p pairs) all(f func(from, to int32, messages, bytes int64)) {
	for from := range p {
		for _, s := range p[from].to {
			f(int32(from), s.receiver, s.messages, s.bytes)
		}
	}
}
