package extrapolate

import (
	"fmt"
	"slices"
)

// This file finds loops in the template (template.fold): parts that follow each other and differ in nothing but
// numbers, and in parameters of formulas that change steadily.

// fold makes loops of repeated nodes, short ones first.
func (t *template) fold(nodes []*node) []*node {
	for again := true; again; {
		again = false
		for period := 1; 2*period <= len(nodes); period++ {
			var folded []*node
			for i := 0; i < len(nodes); {
				body, turns := t.repeated(nodes[i:], period)
				if turns < 2 {
					folded = append(folded, nodes[i])
					i++
					continue
				}
				loop := &node{body: body, turns: turns}
				t.number(loop)
				folded = append(folded, loop)
				i += turns * period
				again = true
			}
			nodes = folded
		}
	}
	return nodes
}

// repeated returns how many turns of a loop with a body of period nodes stand at the beginning of a list, and the
// body.
func (t *template) repeated(nodes []*node, period int) (body []*node, turns int) {
	if len(nodes) < 2*period || !alike(nodes[:period], nodes[period:2*period]) {
		return nil, 0
	}
	most := 2
	for (most+1)*period <= len(nodes) && alike(nodes[:period], nodes[most*period:(most+1)*period]) {
		most++
	}
	// The peers of each action must follow from the turn.
	var all [][]*leaf
	var depths []int
	for turn := range most {
		var list []*leaf
		list, depths = leavesOf(nodes[turn*period:(turn+1)*period], 0)
		all = append(all, list)
	}
	turns = most
	column := func(i, side int) (ways [][]way) { // of a leaf, by turn
		for _, leaves := range all[:turns] {
			ways = append(ways, leaves[i].ways[side])
		}
		return ways
	}
	for i, l := range all[0] {
		for side := range l.ways {
			if len(l.ways[side]) == 0 {
				continue
			}
			_, n := t.progress(column(i, side), depths[i])
			if turns = min(turns, n); turns < 2 {
				return nil, 0
			}
		}
	}
	// With fewer turns more progressions are possible than were found.
	body = clone(nodes[:period])
	own, _ := leavesOf(body, 0)
	for i, l := range own {
		for side := range l.ways {
			if len(l.ways[side]) > 0 {
				l.ways[side], _ = t.progress(column(i, side), depths[i])
			}
		}
	}
	return body, turns
}

// number gives a node the number of its form.
func (t *template) number(n *node) {
	var key string
	if n.leaf != nil {
		key = fmt.Sprint(n.signature, n.ranks, len(n.ways[0]) > 0, len(n.ways[1]) > 0)
	} else {
		for _, inner := range n.body {
			key += fmt.Sprint(inner.form, " ")
		}
		key += fmt.Sprint(n.turns)
	}
	form, ok := t.forms[key]
	if !ok {
		form = 1 + len(t.forms) // 0: a step begins
		t.forms[key] = form
	}
	n.form = form
}

// alike reports whether nodes are the same but for numbers and peers.
func alike(a, b []*node) bool {
	return slices.EqualFunc(a, b, func(x, y *node) bool { return x.form == y.form })
}

// leavesOf returns the leaves of nodes in order, and in how many loops each is, above a depth.
func leavesOf(nodes []*node, depth int) (list []*leaf, depths []int) {
	for _, n := range nodes {
		if n.leaf != nil {
			list, depths = append(list, n.leaf), append(depths, depth)
		}
		within := depth
		if n.turns != 1 { // a part of the run is no loop
			within++
		}
		inner, below := leavesOf(n.body, within)
		list, depths = append(list, inner...), append(depths, below...)
	}
	return list, depths
}

// progress returns the ways by which peers may follow in turns, and how many of the turns they explain; constant ones
// come first. Two turns alone do not make a progression, unless a parameter is halved.
func (t *template) progress(turns [][]way, depth int) (best []way, most int) {
	most = 1
	add := func(w way, n int) {
		if n > most {
			best, most = nil, n
		}
		if n == most && n > 1 {
			best = append(best, w)
		}
	}
	for _, w := range turns[0] {
		n := 1
		for n < len(turns) && slices.Contains(turns[n], w) {
			n++
		}
		add(w, n)
	}
	for _, w := range turns[0] {
		if w.change != constant || len(turns) < 2 {
			continue
		}
		for _, v := range turns[1] {
			if v.relation != w.relation || v.change != constant || v == w {
				continue
			}
			for _, c := range []change{halved, doubled, steady} {
				next := w
				next.change, next.level = c, depth
				for k := range next.delta {
					next.delta[k] = v.first[k] - w.first[k]
				}
				if c != steady {
					next.delta = params{}
				}
				n := 1
				for n < len(turns) && slices.ContainsFunc(turns[n], func(v way) bool {
					return v.relation == w.relation && v.change == constant &&
						w.equal(t.grid, v.first, next.params(n))
				}) {
					n++
				}
				if n > 2 || c == halved && n == 2 {
					add(next, n)
				}
			}
		}
	}
	return best, most
}

// params returns the parameters of a turn.
func (w *way) params(turn int) (p params) {
	for k := range p {
		p[k] = w.at(w.first[k], k, turn)
	}
	return p
}

// at returns the parameter of a dimension in a turn, for the one of turn 0.
func (w *way) at(first int32, k, turn int) int32 {
	switch w.change {
	case steady:
		return first + w.delta[k]*int32(turn)
	case doubled:
		return first << turn
	case halved:
		return first >> turn
	}
	return first
}
