package replay

import (
	"fmt"
	"math"

	"reprise/internal/invariants"
)

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

// checkAccount panics unless the charges of rank r add up to its time. The accounts are closed. Nothing
// is known once a clock is beyond all numbers.
func (e *engine) checkAccount(r int32) {
	rk, sum := &e.ranks[r], e.accounts.sum(r, int(numKinds))
	addsUp := math.IsInf(rk.clock, 1) || math.Abs(sum-rk.clock) <= timeTolerance*rk.clock
	if rk.charged != rk.clock || !addsUp {
		panic(fmt.Sprintf("replay: rank %d ends at %v s, is charged up to %v s and for %v s", r, rk.clock, rk.charged, sum))
	}
}
