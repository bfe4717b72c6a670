package replay

// ledger adds up where the time of each rank went: one row of floats per rank,
// in seconds, with columns for kinds, kernels, phases, and the dates at which
// the open phases began.
type ledger struct {
	rows            []float64
	width           int
	kernels, phases int
}

// noDate marks a phase that is not open.
const noDate = -1

func newLedger(ranks, kernels, phases int) ledger {
	b := ledger{width: int(numKinds) + kernels + 2*phases, kernels: kernels, phases: phases}
	b.rows = make([]float64, ranks*b.width)
	for r := range ranks {
		for i := range phases {
			b.row(int32(r))[b.width-phases+i] = noDate
		}
	}
	return b
}

func (b *ledger) row(r int32) []float64 { return b.rows[int(r)*b.width:][:b.width] }

func (b *ledger) kernel(r int32, kernel uint16, seconds float64) {
	b.rows[int(r)*b.width+int(numKinds)+int(kernel)] += seconds
}

// phase begins or ends a phase of rank r at the date. A phase that is entered
// twice counts once, from its first begin to its first end.
func (b *ledger) phase(r int32, phase uint16, end bool, date float64) {
	sums := b.row(r)[int(numKinds)+b.kernels:]
	begin := &sums[b.phases+int(phase)]
	switch {
	case end && *begin != noDate:
		sums[phase] += date - *begin
		*begin = noDate
	case !end && *begin == noDate:
		*begin = date
	}
}

// close ends the phases that are still open when the actions of rank r are over,
// and adds up its kernels.
func (b *ledger) close(r int32, date float64) {
	for p := range b.phases {
		b.phase(r, uint16(p), true, date)
	}
	row := b.row(r)
	for _, seconds := range row[numKinds:][:b.kernels] {
		row[kindCompute] += seconds
	}
}

// A Share is how much of the ranks' time one thing took, in seconds.
type Share struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_s"` // over all ranks
	Min  float64 `json:"min_s"`
	Max  float64 `json:"max_s"`
}

// shares summarises the columns from first on under the given names.
func (b *ledger) shares(first int, names []string) []Share {
	shares := make([]Share, len(names))
	ranks := len(b.rows) / b.width
	for i, name := range names {
		s := Share{Name: name}
		for r := range ranks {
			v := b.rows[r*b.width+first+i]
			if r == 0 || v < s.Min {
				s.Min = v
			}
			s.Max = max(s.Max, v)
			s.Mean += v
		}
		s.Mean /= float64(ranks)
		shares[i] = s
	}
	return shares
}

// account charges seconds of rank r to a kind.
func (e *engine) account(r int32, k kind, seconds float64) {
	e.book.rows[int(r)*e.book.width+int(k)] += seconds
}
