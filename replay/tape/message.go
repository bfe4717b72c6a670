package tape

// way is the path up to a time of a message: of its post, and once its transfer has ended of that.
type way struct {
	at     float64 // s
	before point
}

// Post tells that a rank posts one side of a message, with which its transfer can start: the path to
// the message is that of the rank.
func (t *Tapes) Post(id, r int32) {
	if int(id) >= len(t.ways) {
		t.reserve(id)
	}
	rk := &t.ranks[r]
	rk.open = closed
	t.ways[id] = way{rk.end, rk.last}
}

// Follow tells that the transfer of a message starts with the end of another one's, or ends with it
// if the network has no part in it.
func (t *Tapes) Follow(id, other int32) {
	t.reserve(max(id, other))
	t.ways[id] = t.ways[other]
}

// reserve makes room for the ways of messages, which go on from anything until they are posted.
//
//go:noinline
func (t *Tapes) reserve(id int32) {
	for int(id) >= len(t.ways) {
		t.ways = append(t.ways, way{before: t.ranks[0].last})
	}
}

// Merge tells that a send, whose transfer may have started before, and a receive, which were posted
// as two messages, are that of the send.
func (t *Tapes) Merge(send, receive int32, started bool) {
	if s, r := &t.ways[send], t.ways[receive]; r.at > s.at && !started {
		*s = r
	}
}

// End tells that the transfer of a message ends, which the network has carried since a time: since
// its post, if that was later, as what lies within the network's precision is told together. The
// caller sets the rest of what it returns (Set).
func (t *Tapes) End(id int32, since, at float64) *Transfer {
	if len(t.transfers) == cap(t.transfers) {
		t.settle()
	}
	i := t.room() // before the way is read: it may become another one
	w, r, n := &t.ways[id], &t.records[i], len(t.transfers)
	if w.at > since {
		since = w.at
	}
	r.value, r.before, r.what = since-w.at, w.before, transferred|tally(n)
	t.transfers = t.transfers[:n+1]
	x := &t.transfers[n]
	x.Carried = at - since
	w.at, w.before = at, point(i)
	return x
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
	rk.last, rk.open = w.before, closed
	if at := rk.end; at > w.at {
		rk.end = w.at
		t.Spend(r, t.probing, rk.end, at)
	}
}
