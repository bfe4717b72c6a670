package netmodel

import (
	"errors"
	"fmt"
	"math"
)

// check checks the transfers that were read from a checkpoint. That one is on the way of
// its message says CheckFlow.
func (n *Network) check() error {
	if n.system.Len() != len(n.flows) {
		return fmt.Errorf("%d transfers, and %d share links", len(n.flows), n.system.Len())
	}
	active := 0
	for id := range n.flows {
		if err := n.checkState(uint32(id)); err != nil {
			return fmt.Errorf("transfer %d: %w", id, err)
		}
		if n.InFlight(int32(id)) {
			active++
		}
	}
	if active != n.active {
		return fmt.Errorf("%d transfers, and %d are counted", active, n.active)
	}
	return nil
}

// InFlight reports whether a transfer has begun and not ended.
func (n *Network) InFlight(id int32) bool {
	if uint(id) >= uint(len(n.flows)) {
		return false
	}
	return n.flows[id].since != noTime || !math.IsInf(n.events.Time(id), 1)
}

// checkState checks one transfer.
func (n *Network) checkState(id uint32) error {
	f, factor, at := &n.flows[id], n.factors[id], n.events.Time(int32(id))
	level, penalty, carries := n.system.Level(id), n.system.Penalty(id), f.since != noTime
	if n.system.Enabled(id) != (carries && n.opts.Contention) {
		return fmt.Errorf("under way since %g, and that its links do not know", f.since)
	}
	if !n.InFlight(int32(id)) {
		return nil
	}
	switch {
	case !positive(penalty, n.system.Bound(id), factor, f.gain) || n.system.MaxLevel(id) == 0 && n.changing == nil:
		return errors.New("a penalty, a bound or a factor that is not positive")
	case f.gain != factor/penalty || math.Abs(f.rate-float64(level*f.gain)) > 1e-9*f.rate || level > n.system.MaxLevel(id)*(1+1e-9):
		return fmt.Errorf("rate %g at level %g", f.rate, level)
	case !carries && (level != 0 || f.rate != 0 || at < n.now):
		return fmt.Errorf("it begins at %g, and has begun", at)
	case !carries:
		return nil
	case f.since < 0 || f.since > n.now:
		return fmt.Errorf("under way since %g, at %g", f.since, n.now)
	}
	if end := f.end(); at != end {
		return fmt.Errorf("it ends at %g, and %g was computed", at, end)
	}
	return nil
}

func positive(list ...float64) bool {
	for _, v := range list {
		if !(v > 0 && v <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// CheckFlow checks that a transfer that was read from a checkpoint is that of a message of
// at most size bytes from host src to host dst.
func (n *Network) CheckFlow(id int32, src, dst int, size int64) error {
	if n.changing != nil {
		n.refresh()
	}
	way, links, err := n.routes.find(int32(src), int32(dst))
	if err != nil {
		return err
	}
	if f := &n.flows[id]; f.remaining > float64(size)+envelope {
		return fmt.Errorf("%g bytes are left of %d", f.remaining, size)
	}
	if n.changing != nil {
		return n.checkChangingFlow(id, way, links)
	}
	ours, penalty, bound := *way, n.system.Penalty(uint32(id)), n.system.Bound(uint32(id))
	if penalty != way.Penalty && penalty != 1 || bound > way.Bound {
		return errOtherWay
	}
	ours.Bound = bound
	ours.setPenalty(penalty, n.routes, links)
	if !n.system.Is(uint32(id), &ours.Variable, links) {
		return errOtherWay
	}
	return nil
}

var errOtherWay = errors.New("it takes another way than its message")
