package tape

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
