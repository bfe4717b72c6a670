package eventlog

// way is the path up to a time of a message: of its post, and once its transfer has ended of that.
type way struct {
	at     float64 // s
	before point
}

// Post tells that a rank posts one side of a message, with which its transfer can start: the path to
// the message is that of the rank.
func (t *Log) Post(id, r int32) {
	if int(id) >= len(t.ways) {
		t.reserve(id)
	}
	rk := &t.ranks[r]
	rk.open = closed
	t.ways[id] = way{rk.end, rk.last}
}

// Follow tells that the transfer of a message starts with the end of another one's, or ends with it
// if the network has no part in it.
func (t *Log) Follow(id, other int32) {
	t.reserve(max(id, other))
	t.ways[id] = t.ways[other]
}

// reserve makes room for the ways of messages, which go on from anything until they are posted.
//
//go:noinline
func (t *Log) reserve(id int32) {
	for int(id) >= len(t.ways) {
		t.ways = append(t.ways, way{before: t.ranks[0].last})
	}
}

// Merge tells that a send, whose transfer may have started before, and a receive, which were posted
// as two messages, are that of the send.
func (t *Log) Merge(send, receive int32, started bool) {
	if s, r := &t.ways[send], t.ways[receive]; r.at > s.at && !started {
		*s = r
	}
}

// End tells that the transfer of a message ends, which the network has carried since a time: since
// its post, if that was later, as what lies within the network's precision is told together. The
// caller sets the rest of what it returns (Set).
func (t *Log) End(id int32, since, at float64) *Transfer {
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
func (t *Log) Release(r, id int32, since, at float64) {
	rk := &t.ranks[r]
	if rk.end != since {
		t.gaps++
	}
	rk.end = at
	t.See(r, id)
}

// See tells that rank r goes on as it has seen a message, perhaps some time after that could be
// seen.
func (t *Log) See(r, id int32) {
	rk, w := &t.ranks[r], &t.ways[id]
	rk.last, rk.open = w.before, closed
	if at := rk.end; at > w.at {
		rk.end = w.at
		t.Spend(r, t.probing, rk.end, at)
	}
}

// Transfer is what the network did with a message.
type Transfer struct {
	Carried float64 // s, after its latency
	Bytes   float64 // with its envelope
	Alone   float64 // byte/s that it would have had in the end without others; 0: not known

	// Ranks; or of a transfer that shared a link with others in the end the number of that link and onLink.
	src, dst int32
}

const onLink = -1

// Set sets what End did not: the ranks, the platform's number of the link that bounded the transfer in the end, -1
// if none did, its bytes with the envelope, and the byte/s that it would have had in the end without others, 0 if
// that is not known. Of the ranks and the link it keeps what Level asks for.
func (t *Transfer) Set(src, dst, link int32, bytes, alone float64) {
	t.Bytes, t.Alone, t.src, t.dst = bytes, alone, src, dst
	if link >= 0 && t.contended() {
		t.src, t.dst = link, onLink
	}
}

// Ranks returns who a transfer was between that shared no link in the end.
func (t *Transfer) Ranks() (src, dst int32) { return t.src, t.dst }

// Link returns the platform's number of the link that a transfer shared with others in the end, which made it
// slower; -1: none.
func (t *Transfer) Link() int32 {
	if t.dst == onLink {
		return t.src
	}
	return -1
}

// alone returns how many seconds the transfer would have taken without others, after its latency.
func (t *Transfer) alone() float64 {
	switch {
	case !t.contended():
		return t.Carried
	case t.Alone == 0:
		return 0
	}
	return t.Bytes / t.Alone
}

// asAlone is the share of its time from which on a transfer was alone: times are rounded.
const asAlone = 1 - 1e-9

// contended reports whether others made the transfer slower.
func (t *Transfer) contended() bool { return t.Alone == 0 || t.Bytes < t.Carried*asAlone*t.Alone }
