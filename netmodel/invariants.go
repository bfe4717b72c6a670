package netmodel

import (
	"fmt"
	"math"
)

// solverTolerance is the relative difference that is accepted of shares from what they
// should be: between the two solvers, and of loads from capacities.
const solverTolerance = 1e-9

// checkedPerSolve is how many flows and links, about, are checked per solve in a build
// with invariants: all of a small network each time, of a large one from time to time.
const checkedPerSolve = 64

// mustHold panics if the shares are wrong. Those of the other solver are what ours are
// compared with.
func (n *Network) mustHold() {
	every := int64(1 + (len(n.flows)+len(n.links))/checkedPerSolve)
	if n.opts.Solver == SolverReference || n.stats.Solves%every != 0 {
		return
	}
	if err := n.checkInvariants(); err != nil {
		panic(fmt.Sprintf("netmodel: at %v s, solve %d: %v", n.now, n.stats.Solves, err))
	}
}

// checkInvariants checks, from loads computed anew, that no link is overloaded, that
// every flow is at its maximum or has a bottleneck, that the counts agree, and that the
// solver has left its working set empty. With FATPIPEs, where the textbook's filling is
// used, too, loads may be off by its error.
func (n *Network) checkInvariants() error {
	tolerance := solverTolerance
	if n.fatpipes != nil {
		tolerance += n.referenceError()
	}
	if a := &n.local; len(a.flows) > 0 || len(a.rooms) != nowhere+1 {
		return fmt.Errorf("%d flows and %d rooms left in the working set", len(a.flows), len(a.rooms))
	}
	bottlenecks := make([]int32, len(n.links))
	for id := range n.flows {
		f := &n.flows[id]
		if f.filling != outside {
			return fmt.Errorf("flow %d: left in the working set", id)
		}
		if f.since == noDate {
			continue
		}
		if f.level > f.maxLevel*(1+solverTolerance) {
			return fmt.Errorf("flow %d: level %v above its maximum %v", id, f.level, f.maxLevel)
		}
		if f.bottleneck >= 0 {
			bottlenecks[n.bottleneckLink(id)]++
		}
		if err := n.checkBottleneck(id); err != nil {
			return fmt.Errorf("flow %d: %w", id, err)
		}
	}
	for l := range n.links {
		k := &n.links[l]
		if k.room != nowhere {
			return fmt.Errorf("link %d: left in the working set", l)
		}
		load := n.loadOf(uint32(l))
		if !n.isFatpipe(uint32(l)) && load > k.capacity*(1+tolerance) {
			return fmt.Errorf("link %d: load %v, capacity %v", l, load, k.capacity)
		}
		if k.flows > 1 && !n.isFatpipe(uint32(l)) && math.Abs(load-k.load) > solverTolerance*k.capacity {
			return fmt.Errorf("link %d: load %v, kept as %v", l, load, k.load)
		}
		if k.bottleneck != bottlenecks[l] {
			return fmt.Errorf("link %d: bottleneck of %d flows, counted %d", l, bottlenecks[l], k.bottleneck)
		}
	}
	return nil
}

func (n *Network) bottleneckLink(id int) uint32 {
	return n.slots[n.firstSlot(uint32(id))+uint32(n.flows[id].bottleneck)].link
}

func (n *Network) checkBottleneck(id int) error {
	f := &n.flows[id]
	if math.Abs(f.level-f.maxLevel) <= solverTolerance*f.maxLevel || n.fatpipes != nil {
		return nil
	}
	if f.bottleneck < 0 {
		return fmt.Errorf("level %v, maximum %v, no bottleneck", f.level, f.maxLevel)
	}
	b := n.bottleneckLink(id)
	l := &n.links[b]
	if load := n.loadOf(b); load < l.capacity*(1-solverTolerance) {
		return fmt.Errorf("bottleneck %d has load %v of %v", b, load, l.capacity)
	}
	for s := l.head; s != none; s = n.slots[s].next {
		if g := &n.flows[n.flowOf(s)]; g.level > f.level*(1+solverTolerance) {
			return fmt.Errorf("bottleneck %d: level %v, but another has %v", b, f.level, g.level)
		}
	}
	return nil
}

// referenceError bounds what the textbook loses as it subtracts usages: on a link each
// difference is off by half a unit in the last place of the sum that it began with, and
// the least that can be left is the smallest of them.
func (n *Network) referenceError() float64 {
	worst := 0.0
	for l := range n.links {
		sum, least := 0.0, math.Inf(1)
		for s := n.links[l].head; s != none; s = n.slots[s].next {
			sum, least = sum+n.slots[s].usage, min(least, n.slots[s].usage)
		}
		worst = max(worst, sum/least*float64(n.links[l].flows)*0x1p-53)
	}
	return worst
}
