package extrapolate

import (
	"fmt"
	"math"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file goes through the template for the wanted size (output.nodes): steps as lists of operations (op), with those
// loops of which all turns are alike.

// op is an action of a part, or a loop, in the turns of loops that are unrolled.
type op struct {
	*node
	turns []int
	loops []*node // these loops
	body  []op
	run   [2]int64 // of a loop whose other turns are different: the first turn, and the one behind the last
}

// hasSteps reports whether steps begin within nodes.
func hasSteps(nodes []*node) bool {
	return slices.ContainsFunc(nodes, func(n *node) bool { return n.leaf == nil && (n.body == nil || hasSteps(n.body)) })
}

// varies reports whether an action within nodes changes with the turns of the loop at a depth around them. The turns
// from one on up to the next one are alike.
func varies(nodes []*node, depth int, turn int) (varies bool, next int) {
	next = math.MaxInt32
	leaves, _ := leavesOf(nodes, 0)
	for _, l := range leaves {
		if l.changes>>depth&1 != 0 {
			return true, turn + 1
		}
		for _, n := range l.runs[depth] {
			if n > turn {
				varies, next = true, min(next, n)
			}
		}
	}
	return varies, next
}

// nodes writes the template: the parts between beginnings of steps.
func (o *output) nodes(nodes []*node) {
	var part []op
	end := func() {
		o.calls, o.actions = nil, 0
		o.part(part)
		part = nil
		if o.repeating > 0 {
			o.parts = append(o.parts, o.calls)
		}
	}
	var through func(nodes []*node, turns []int, loops []*node)
	through = func(nodes []*node, turns []int, loops []*node) {
		for _, n := range nodes {
			switch {
			case n.leaf != nil || n.body != nil && !hasSteps(n.body):
				part = append(part, o.unroll(n, turns, loops)...)
			case n.body == nil:
				if o.step >= 0 {
					end()
				}
				o.step++
			default:
				least, most := o.count(n, turns)
				// If the numbers of the loop are the same in all turns, each turn behind the second writes the same calls as the
				// second: the last part of the turn before, and all parts of its own but the last.
				varied, _ := varies(n.body, len(turns), 0)
				alike := !varied
				if alike {
					o.repeating++
				}
				var written [][]*trace.Call // by the turn before
				var state []int             // at its beginning
				for turn := range int(most) {
					if alike && turn > 1 && turn < int(least) && slices.Equal(state, o.state) {
						for _, o.calls = range written {
							o.again()
							o.step++
						}
						continue
					}
					before := len(o.parts)
					state = slices.Clone(o.state)
					inner := append(turns[:len(turns):len(turns)], turn)
					through(n.body, inner, append(loops[:len(loops):len(loops)], n))
					written = o.parts[before:]
				}
				if alike {
					o.repeating--
				}
				if o.repeating == 0 {
					o.parts = nil
				}
			}
		}
	}
	through(nodes, nil, nil)
	end()
}

// unroll returns a node as operations of a part: a loop in which something changes becomes its turns.
func (o *output) unroll(n *node, turns []int, loops []*node) []op {
	if varied, _ := varies(n.body, len(turns), 0); !varied {
		one := op{node: n, turns: turns, loops: loops}
		for _, inner := range n.body {
			ops := o.unroll(inner, append(turns[:len(turns):len(turns)], 0), append(loops[:len(loops):len(loops)], nil))
			one.body = append(one.body, ops...)
		}
		return []op{one}
	}
	_, most := o.count(n, turns)
	var list []op
	for turn, next := 0, 0; turn < int(most); turn = next {
		if o.actions += int64(o.g.ranks()) * int64(len(n.body)); o.actions > mostActions {
			textutil.Stop(fmt.Errorf("more than %d actions whose numbers change from turn to turn", mostActions))
		}
		_, next = varies(n.body, len(turns), turn)
		run := op{node: n, turns: append(turns[:len(turns):len(turns)], turn),
			loops: append(loops[:len(loops):len(loops)], n), run: [2]int64{int64(turn), int64(next)}}
		for _, inner := range n.body {
			run.body = append(run.body, o.unroll(inner, run.turns, run.loops)...)
		}
		if next > turn+1 {
			list = append(list, run)
		} else {
			list = append(list, run.body...)
		}
	}
	return list
}

// count returns the least and the most turns of a loop that a rank has: those with fewer leave the others out (op.does).
func (o *output) count(n *node, turns []int) (least, most int64) {
	least = math.MaxInt64
	for rank := range o.g.ranks() {
		count, ok := n.times(o.g, rank, turns)
		if !ok {
			textutil.Stop(o.cannot("turns", rank))
		}
		least, most = min(least, count), max(most, count)
	}
	return least, most
}

// cannot is the error of a number that no whole number gives.
func (o *output) cannot(what string, rank int) error {
	return fmt.Errorf("%s of rank %d cannot be told for a grid of %v", what, rank, o.g)
}

// does reports whether a rank does an operation.
func (p *op) does(g grid, rank int) bool {
	for i, n := range p.loops {
		if n == nil {
			continue
		}
		if count, ok := n.times(g, rank, p.turns[:i]); !ok || int64(p.turns[i]) >= count {
			return false
		}
	}
	return p.leaf == nil || p.has(g, rank)
}
