package tape

// Part is what a path spends on a component.
type Part struct {
	Component
	Seconds float64
	Amount  float64 // calls, messages or on the wire bytes
}

// Last returns the rank whose time ends last, and when it does.
func (t *Tapes) Last() (rank int, end float64) {
	for r := range t.ranks {
		if t.ranks[r].end > end {
			rank, end = r, t.ranks[r].end
		}
	}
	return rank, end
}

// Path returns what the longest path to the clock of a rank consists of,
// and where it came to a step last, nil if nowhere.
func (t *Tapes) Path(rank int) (parts []Part, last *Hop) {
	t.settle()
	v := t.vectorOf(t.ranks[rank].last)
	values := t.vectors.at(v)
	for i, c := range t.components.list {
		if p := (Part{c, values[2*i], values[2*i+1]}); p.Seconds != 0 || p.Amount != 0 {
			parts = append(parts, p)
		}
	}
	return parts, t.vectors.last[v]
}

// Close gives the memory of the tapes back. They are of no use any more.
func (t *Tapes) Close() { *t = Tapes{gaps: t.gaps} }
