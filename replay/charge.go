package replay

import "reprise/internal/invariants"

// The time of a rank is charged by clocks, not by durations: what has passed since the
// clock up to which it was charged last. So no time can be counted twice or left out, and
// the sum of what was charged is the rank's clock but for the rounding of sums, in
// however many parts it has passed.

// charge charges the time of rank r up to its clock to a kind.
func (e *engine) charge(r int32, k TimeKind) {
	rk := &e.ranks[r]
	since := rk.charged
	*e.accounts.at(int(k), r) += rk.clock - since
	rk.charged = rk.clock
	if e.observers != nil {
		e.notifyTime(r, k, noKernel, since, rk.clock)
	}
}

// chargeKernel is charge for a kernel.
func (e *engine) chargeKernel(r int32, rk *rank, kernel uint16) {
	since := rk.charged
	*e.accounts.at(int(numKinds)+int(kernel), r) += rk.clock - since
	rk.charged = rk.clock
	if e.observers != nil {
		e.notifyTime(r, TimeCompute, int32(kernel), since, rk.clock)
	}
}

// chargeWait charges what rank r has waited for to its kind, up to the end of a message, which
// has released it.
func (e *engine) chargeWait(r, message int32) {
	rk := &e.ranks[r]
	since := rk.charged
	if rk.clock == since {
		return
	}
	*e.accounts.at(int(rk.charge), r) += rk.clock - since
	rk.charged = rk.clock
	if e.observers != nil {
		e.notifyWaited(r, message, since, rk)
	}
}

// checkTimes says whether the accounts of each result are checked.
var checkTimes = invariants.Enabled

// timeTolerance is how far the sum of a rank's times may be from its end, relatively.
const timeTolerance = 1e-9

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
	// The last rows are no sums but the times at which phases have begun: they lie with the rest of the rank, which
	// is what an action touches.
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
	// Rows of kernels are apart from that of the kind compute until the account is closed.
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

// A Share is how much of the ranks' time one thing took, in seconds.
type Share struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_s"` // over all ranks
	Min  float64 `json:"min_s"`
	Max  float64 `json:"max_s"`
}

// shares summarises the rows from first on under the given names, but for those of no time; it is never nil.
func (b *timeAccounts) shares(first int, names []string) []Share {
	// Rows of ranks lie one after the other; this goes through them once for each name, at the end of a replay.
	shares := []Share{}
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
		if s.Max > 0 {
			shares = append(shares, s)
		}
	}
	return shares
}

// stepCounter knows which steps the ranks have begun: for progress, their number
// on average; for Result.StepStarts, when.
type stepCounter struct {
	ranks   int
	begun   int   // by all ranks together
	skipped int   // steps among them that repeat others (repeats)
	last    int64 // the highest step begun
	report  func(steps int)
	from    int64
	starts  []startSum // by step - from; empty unless asked for
}

// startSum sums up the beginnings of one step.
type startSum struct {
	ranks int
	sum   float64   // of the times, seconds
	last  float64   // time, seconds
	parts []float64 // of the ranks' accounts (timeAccounts.addSpent), seconds
}

// step notes that a rank begins step n at a time. It returns where to add what the rank has
// spent its time on until then, nil if nobody asks.
func (c *stepCounter) step(n int64, at float64) (parts []float64) {
	// Progress is told when so many steps have been begun that each rank is one further on average.
	c.last = max(c.last, n)
	if c.begun++; c.report != nil && c.begun%c.ranks == 0 {
		c.report(c.begun / c.ranks)
	}
	if i := n - c.from; uint64(i) < uint64(len(c.starts)) {
		b := &c.starts[i]
		b.ranks++
		b.sum += at
		b.last = max(b.last, at)
		return b.parts
	}
	return nil
}

// skip notes that all ranks have come n steps further.
func (c *stepCounter) skip(n int) {
	c.skipped += n
	c.last += int64(n)
	if c.begun += n * c.ranks; c.report != nil {
		c.report(c.begun / c.ranks)
	}
}

// averages returns the means over so many ranks, of which sums are the sums.
func averages(sums []float64, ranks int) []float64 {
	means := make([]float64, len(sums))
	for i, s := range sums {
		means[i] = s / float64(ranks)
	}
	return means
}
