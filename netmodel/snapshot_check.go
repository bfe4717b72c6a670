package netmodel

import (
	"errors"
	"fmt"
	"math"
)

// check checks the state that was read from a checkpoint: transfers, and the lists of
// those on each link. That a transfer is on the way of its message says CheckFlow.
func (n *Network) check() error {
	active, slots := 0, 0
	for id := range n.flows {
		carries, err := n.checkState(uint32(id))
		if err != nil {
			return fmt.Errorf("transfer %d: %w", id, err)
		}
		if carries || n.InFlight(int32(id)) {
			active++
		}
		if carries && n.opts.Contention {
			slots += int(n.cold[id].slots)
		}
	}
	if active != n.active {
		return fmt.Errorf("%d transfers, and %d are counted", active, n.active)
	}
	return n.checkLists(slots)
}

// InFlight reports whether a transfer has begun and not ended.
func (n *Network) InFlight(id int32) bool {
	if uint(id) >= uint(len(n.flows)) {
		return false
	}
	return n.flows[id].since != noDate || !math.IsInf(n.events.Time(id), 1)
}

// checkState checks one transfer, and reports whether it is in its bandwidth phase.
func (n *Network) checkState(id uint32) (carries bool, err error) {
	f, c, date := &n.flows[id], &n.cold[id], n.events.Time(int32(id))
	if !n.InFlight(int32(id)) {
		return false, nil
	}
	switch {
	case !positive(c.penalty, c.bound, c.factor, f.gain) || f.maxLevel == 0 && n.changing == nil:
		return false, errors.New("a penalty, a bound or a factor that is not positive")
	case f.gain != c.factor/c.penalty || math.Abs(f.rate-float64(f.level*f.gain)) > 1e-9*f.rate || f.level > f.maxLevel*(1+1e-9):
		return false, fmt.Errorf("rate %g at level %g", f.rate, f.level)
	case f.since == noDate && (f.level != 0 || f.rate != 0 || f.bottleneck != noSlot || date < n.now):
		return false, fmt.Errorf("it begins at %g, and has begun", date)
	case f.since == noDate:
		return false, nil
	case f.since < 0 || f.since > n.now || f.bottleneck >= int16(f.shared()):
		return false, fmt.Errorf("under way since %g, at %g", f.since, n.now)
	}
	end := f.since
	if f.remaining > 0 {
		end += f.remaining / f.rate
	}
	if date != end {
		return false, fmt.Errorf("it ends at %g, and %g was computed", date, end)
	}
	return true, nil
}

func positive(list ...float64) bool {
	for _, v := range list {
		if !(v > 0 && v <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// checkLists checks the lists of the slots on each link, so many in all.
func (n *Network) checkLists(all int) error {
	seen := make([]bool, len(n.slots))
	total := 0
	for l := range n.links {
		count, err := n.checkList(uint32(l), seen)
		if err != nil {
			return fmt.Errorf("link %d: %w", l, err)
		}
		total += count
	}
	if total != all {
		return fmt.Errorf("transfers on %d links, listed on %d", all, total)
	}
	return nil
}

// checkList checks what is known of a link, and returns how many slots are on it.
func (n *Network) checkList(l uint32, seen []bool) (count int, err error) {
	on, before, bottlenecks, others := &n.links[l], uint32(none), 0, 0
	for s := on.head; s != none; before, s = s, n.slots[s].next {
		id, slot := n.flowOf(s), &n.slots[s]
		if seen[s] || slot.link != l || slot.prev != before || n.flows[id].since == noDate || n.placeOf(s) >= n.cold[id].slots {
			return 0, errors.New("its list of transfers is broken")
		}
		seen[s] = true
		count++
		if n.isBottleneck(s) {
			bottlenecks++
		}
		if n.isFatpipe(l) && slot.usage != n.fatpipes[l].usage {
			others++
		}
	}
	switch {
	case count != int(on.flows) || bottlenecks != int(on.bottleneck):
		return 0, fmt.Errorf("%d transfers, %d of them held back, and %d and %d are counted", count, bottlenecks, on.flows, on.bottleneck)
	case n.isFatpipe(l) && count > 0 && (others != int(n.fatpipes[l].other) || others == count):
		return 0, fmt.Errorf("%d other shares of %d, and %d are counted", others, count, n.fatpipes[l].other)
	case count > 1 && !n.isFatpipe(l) && math.Abs(on.load-n.loadOf(l)) > 1e-6*max(on.capacity, on.load):
		return 0, fmt.Errorf("load %g, and %g was computed", on.load, n.loadOf(l))
	}
	return count, nil
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
	f, c := &n.flows[id], &n.cold[id]
	if f.remaining > float64(size)+envelope {
		return fmt.Errorf("%g bytes are left of %d", f.remaining, size)
	}
	if n.changing != nil {
		return n.checkChangingFlow(id, way, links)
	}
	ours := *way
	if c.penalty != way.penalty && c.penalty != 1 || c.bound > way.bound || int(c.slots) != len(links) ||
		int(f.shared()) != way.shared || f.fat() != (way.shared < len(links)) {
		return errOtherWay
	}
	ours.bound = c.bound
	ours.setPenalty(c.penalty, n.routes, links)
	if f.maxLevel != ours.maxLevel {
		return errOtherWay
	}
	for i, l := range links {
		if s := &n.slots[n.firstSlot(uint32(id))+uint32(i)]; s.link != uint32(l) || s.usage != float64(way.weights[i]*ours.usage) {
			return errOtherWay
		}
	}
	return nil
}

var errOtherWay = errors.New("it takes another way than its message")
