package tape

// way is the path up to a time of a message: of its post, and once its transfer has ended of that.
type way struct {
	at       float64 // s
	last     point
	received bool // its receive is posted
}

// none is the last point of a path that nobody goes on with.
const none = -1 << 31

// Post tells that a rank posts one side of a message, with which its transfer can start: the path to
// the message is that of the rank. received says whether its receive is posted by now.
func (t *Tapes) Post(id, r int32, received bool) {
	if int(id) >= len(t.ways) {
		t.reserve(id)
	}
	rk := &t.ranks[r]
	t.putDown(rk)
	t.ways[id] = way{rk.end, rk.last, received}
}

// Receive tells that a rank posts the receive of a message, and whether its transfer can start with
// that.
func (t *Tapes) Receive(id, r int32, starts bool) {
	if starts {
		t.Post(id, r, true)
	} else {
		t.ways[id].received = true
	}
}

// reserve makes room for the ways of messages.
//
//go:noinline
func (t *Tapes) reserve(id int32) {
	for int(id) >= len(t.ways) {
		t.ways = append(t.ways, way{last: none})
	}
}

// Merge tells that a send, whose transfer may have started before, and a receive, which were posted
// as two messages, are that of the send.
func (t *Tapes) Merge(send, receive int32, started bool) {
	s, r := &t.ways[send], &t.ways[receive]
	if r.at > s.at && !started {
		*s = *r
	}
	s.received, r.last = true, none
}

// Over tells that a message has ended, and that those who waited for it have been told: nobody else
// goes on with the path to it, but who has yet to receive it.
func (t *Tapes) Over(id int32) {
	if w := &t.ways[id]; w.received {
		w.last = none
	}
}

// End tells that the transfer of a message ends, which the network has carried since a time: since
// its post, if that was later, as what lies within the network's precision is told together. The
// caller sets all of what it returns but Carried.
func (t *Tapes) End(id int32, since, at float64) *Transfer {
	i := t.roomForTransfer() // before the way is read: it may become another one
	w, n := &t.ways[id], len(t.transfers)
	since = max(since, w.at)
	t.before[i], t.records[i] = w.last, record{since - w.at, transferred, int32(n)}
	t.transfers = t.transfers[:n+1]
	w.at, w.last = at, point(i)
	x := &t.transfers[n]
	x.Carried = at - since
	return x
}

// roomForTransfer is room for the record of one.
func (t *Tapes) roomForTransfer() int {
	if len(t.transfers) == cap(t.transfers) {
		t.settle()
	}
	return t.room()
}

// Release tells that a message has ended a wait of rank r: its end has, or that it has found a
// receive.
func (t *Tapes) Release(r, id int32, since, at float64) {
	rk := &t.ranks[r]
	if rk.end != since {
		t.gaps++
	}
	rk.end = at
	t.See(r, id)
}

// See tells that rank r goes on as it has seen a message, perhaps some time after that could be
// seen.
func (t *Tapes) See(r, id int32) {
	rk, w := &t.ranks[r], &t.ways[id]
	rk.last, rk.value, rk.calls = w.last, 0, 0
	if rk.end > w.at {
		rk.what, rk.value, rk.calls = rk.row+t.probing, rk.end-w.at, 1
	}
}
