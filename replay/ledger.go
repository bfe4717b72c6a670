package replay

// ledger adds up where the time of each rank went, in seconds: a row for each
// kind, kernel and phase, and for the dates at which the open phases began, with a
// float per rank. In a phase of a program all ranks write to the same few rows,
// which then stay in the cache.
type ledger struct {
	rows            []float64
	ranks           int
	kernels, phases int
}

// noDate marks a phase that is not open.
const noDate = -1

func newLedger(ranks, kernels, phases int) ledger {
	b := ledger{ranks: ranks, kernels: kernels, phases: phases}
	width := int(numKinds) + kernels + 2*phases
	b.rows = make([]float64, width*ranks)
	open := b.rows[(width-phases)*ranks:]
	for i := range open {
		open[i] = noDate
	}
	return b
}

// at returns the sum of rank r in a row.
func (b *ledger) at(row int, r int32) *float64 { return &b.rows[row*b.ranks+int(r)] }

// phase begins or ends a phase of rank r at the date. A phase that is entered
// twice counts once, from its first begin to its first end.
func (b *ledger) phase(r int32, phase uint16, end bool, date float64) {
	row := int(numKinds) + b.kernels + int(phase)
	begin := b.at(row+b.phases, r)
	switch {
	case end && *begin != noDate:
		*b.at(row, r) += date - *begin
		*begin = noDate
	case !end && *begin == noDate:
		*begin = date
	}
}

// begun returns when rank r began a phase, in seconds; noDate if it is not open.
func (b *ledger) begun(r int32, phase uint16) float64 {
	return *b.at(int(numKinds)+b.kernels+b.phases+int(phase), r)
}

// close ends the phases that are still open when the actions of rank r are over,
// and adds up its kernels.
func (b *ledger) close(r int32, date float64) {
	for p := range b.phases {
		b.phase(r, uint16(p), true, date)
	}
	for k := range b.kernels {
		*b.at(int(TimeCompute), r) += *b.at(int(numKinds)+k, r)
	}
}

// sum returns the sum of rank r in the first rows.
func (b *ledger) sum(r int32, rows int) float64 {
	sum := 0.0
	for row := range rows {
		sum += *b.at(row, r)
	}
	return sum
}

// A Share is how much of the ranks' time one thing took, in seconds.
type Share struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_s"` // over all ranks
	Min  float64 `json:"min_s"`
	Max  float64 `json:"max_s"`
}

// shares summarises the rows from first on under the given names.
func (b *ledger) shares(first int, names []string) []Share {
	shares := make([]Share, len(names))
	for i, name := range names {
		s := Share{Name: name}
		for r := range b.ranks {
			v := *b.at(first+i, int32(r))
			if r == 0 || v < s.Min {
				s.Min = v
			}
			s.Max = max(s.Max, v)
			s.Mean += v
		}
		s.Mean /= float64(b.ranks)
		shares[i] = s
	}
	return shares
}
