package tape

// Transfer is what the network did with a message.
type Transfer struct {
	Src, Dst int32   // ranks
	Link     int32   // platform's number of the link that bounded it in the end, -1: none did
	Carried  float64 // s, after its latency
	Bytes    float64 // with its envelope
	Alone    float64 // byte/s that it would have had in the end without others; 0: not known
}

// alone returns how many seconds the transfer would have taken without others, after its latency.
func (t *Transfer) alone() float64 {
	if t.Alone == 0 {
		return 0
	}
	if alone := t.Bytes / t.Alone; alone < t.Carried*asAlone {
		return alone
	}
	return t.Carried
}

// asAlone is the share of its time from which on a transfer was alone: times are rounded.
const asAlone = 1 - 1e-9

// Contended reports whether others made the transfer slower.
func (t *Transfer) Contended() bool { return t.alone() < t.Carried }
