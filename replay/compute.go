package replay

import (
	"fmt"

	"reprise/kernels/noise"
	"reprise/trace"
)

// What takes processor time: calls of kernels, whose common case is in engine.do, and amounts
// of flop. Where a host has fewer cores than ranks, the time of an amount of flop follows from
// who computes there at once (processor.go), and models in flop get their part of the speed
// from the beginning (bindModels); where its speed changes, that of a kernel does, too
// (processor.go).

// kernel plays a call of a kernel that has noise, or no model, or whose time changes with
// the speed of the host.
func (e *engine) kernel(r int32, rk *rank, m *kernelModel, a *trace.Action) (outcome, error) {
	switch {
	case m.err != nil:
		return goOn, e.costs.noModel(r, a.Sym)
	case m.speed > 0:
		return e.varyingKernel(r, rk, m, a), nil
	}
	if seconds := m.Draw(&a.X, e.costs.random.computation(r)); seconds > 0 {
		rk.clock += seconds
		e.chargeKernel(r, rk, a.Sym)
	}
	return goOn, nil
}

// flops plays an amount of flop, as the user scales it, drawn by its spread if he wants that.
func (e *engine) flops(r int32, rk *rank, a *trace.Action) outcome {
	amount := a.Flops()
	if spread := a.Spread(); spread > 0 && amount > 0 && e.costs.spread && rk.stage != stageLook {
		if rk.shared && e.putOff(r, rk) {
			return parkedHere
		}
		if amount = noise.Skewed(amount, spread, e.costs.random.computation(r)); amount == 0 {
			rk.stage = stageFresh
		}
	}
	return e.computation(r, rk, amount*e.costs.scale)
}

// computation computes an amount of flop, at the rank's share of its host.
func (e *engine) computation(r int32, rk *rank, amount float64) outcome {
	if amount <= 0 {
		return goOn
	}
	switch {
	case !rk.shared:
		speed := e.speed(e.machine.Hosts[r])
		rk.clock += amount / speed
		e.charge(r, TimeCompute)
		return goOn
	case e.putOff(r, rk):
		return parkedHere
	case rk.stage != stageLook:
		e.beginWork(r, rk, amount, e.workBound(r))
		return parkedHere
	}
	rk.stage = stageFresh
	e.charge(r, TimeCompute)
	return goOn
}

// files counts accesses to files and gives them time. No file system is simulated: an access is a
// pause of its rank, by its bytes, and ranks that access a file together do not wait for each other.
type files struct {
	bandwidth float64 // of each rank, byte/s; 0: accesses take no time

	numBytes, freeBytes int64
}

// file plays an access of rank r to a file.
func (e *engine) file(r int32, rk *rank, a *trace.Action) error {
	if a.X[0] < 0 || a.X[0] > maxBytes {
		return fmt.Errorf("%d bytes, want a number in [0,%d]", a.X[0], int64(maxBytes))
	}
	e.files.numBytes += a.X[0]
	if e.files.bandwidth == 0 {
		e.files.freeBytes += a.X[0]
		return nil
	}
	rk.clock += e.costs.sleepTime(float64(a.X[0]) / e.files.bandwidth)
	if rk.clock > maxTime {
		return errTooLate
	}
	e.charge(r, TimeSleep)
	return nil
}
