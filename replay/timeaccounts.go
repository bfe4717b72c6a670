package replay

// timeAccounts adds up where the time of each rank went, in seconds: a number for each
// kind, kernel and phase, and for the times at which the open phases began.
type timeAccounts struct {
	rows            []float64 // [ranks][stride]
	ranks           int
	stride          int
	kernels, phases int
}

// noTime marks a phase that is not open.
const noTime = -1

// newTimeAccounts returns accounts of so many ranks in which no time was spent and no phase is open.
func newTimeAccounts(ranks, kernels, phases int) timeAccounts {
	b := timeAccounts{ranks: ranks, stride: int(numKinds) + kernels + 2*phases, kernels: kernels, phases: phases}
	b.rows = make([]float64, b.stride*ranks)
	for r := range ranks {
		for p := range phases {
			*b.at(b.width()+p, int32(r)) = noTime
		}
	}
	return b
}

// at returns the sum of rank r in a row.
func (b *timeAccounts) at(row int, r int32) *float64 { return &b.rows[int(r)*b.stride+row] }

// phase begins or ends a phase of rank r at a time. A phase that is entered
// twice counts once, from its first begin to its first end.
func (b *timeAccounts) phase(r int32, phase uint16, end bool, when float64) {
	row := int(numKinds) + b.kernels + int(phase)
	begin := b.at(row+b.phases, r)
	switch {
	case end && *begin != noTime:
		*b.at(row, r) += when - *begin
		*begin = noTime
	case !end && *begin == noTime:
		*begin = when
	}
}

// begun returns when rank r began a phase, in seconds; noTime if it is not open.
func (b *timeAccounts) begun(r int32, phase uint16) float64 {
	return *b.at(int(numKinds)+b.kernels+b.phases+int(phase), r)
}

// close ends the phases that are still open when the actions of rank r are over,
// and adds up its kernels.
func (b *timeAccounts) close(r int32, when float64) {
	for p := range b.phases {
		b.phase(r, uint16(p), true, when)
	}
	for k := range b.kernels {
		*b.at(int(TimeCompute), r) += *b.at(int(numKinds)+k, r)
	}
}

// width returns how many accounts a rank has: of kinds, kernels and phases, in this order.
func (b *timeAccounts) width() int { return int(numKinds) + b.kernels + b.phases }

// addSpent adds to sums, one for each account, what rank r has spent by a time up to which it
// has been charged. Kernels are part of the kind compute, open phases count up to now.
func (b *timeAccounts) addSpent(sums []float64, r int32, when float64) {
	spent := b.rows[int(r)*b.stride:][:len(sums)]
	for row, v := range spent {
		sums[row] += v
	}
	for _, v := range spent[numKinds:][:b.kernels] {
		sums[TimeCompute] += v
	}
	for p := range b.phases {
		if begin := b.begun(r, uint16(p)); begin != noTime {
			sums[int(numKinds)+b.kernels+p] += when - begin
		}
	}
}

// means returns what the mean rank has spent on each account. They are closed.
func (b *timeAccounts) means() []float64 {
	sums := make([]float64, b.width())
	for row := range sums {
		for r := range b.ranks {
			sums[row] += *b.at(row, int32(r))
		}
	}
	return averages(sums, b.ranks)
}

// sum returns the sum of rank r in the first rows.
func (b *timeAccounts) sum(r int32, rows int) float64 {
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
func (b *timeAccounts) shares(first int, names []string) []Share {
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
