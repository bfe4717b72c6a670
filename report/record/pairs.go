package record

// pairs counts messages from senders to receivers, below maxTraffic each. Programs send to few, and
// again and again in the same order, which is that of a sender's list: so what is looked for is
// mostly the next of it.
type pairs []sender

// sender is to whom one has sent.
type sender struct {
	to   []sent // in the order of the first messages
	next int    // after the one that was sent to last
}

// sent is what has been sent to a receiver.
type sent struct {
	receiver        int32
	messages, bytes int64
}

// add adds messages.
func (p pairs) add(from, to int, messages, bytes int64) {
	s := p[from].cell(int32(to))
	s.messages += messages
	s.bytes += bytes
}

// cell returns what has been sent to a receiver.
func (s *sender) cell(to int32) *sent {
	i := s.next
	for range s.to {
		if i >= len(s.to) {
			i = 0
		}
		if s.to[i].receiver == to {
			s.next = i + 1
			return &s.to[i]
		}
		i++
	}
	s.to = append(s.to, sent{receiver: to})
	s.next = len(s.to)
	return &s.to[s.next-1]
}

// all calls f for each pair that has messages.
func (p pairs) all(f func(from, to int, messages, bytes int64)) {
	for from := range p {
		for _, s := range p[from].to {
			f(from, int(s.receiver), s.messages, s.bytes)
		}
	}
}
