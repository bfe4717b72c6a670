package extrapolate

import (
	"fmt"
	"math/big"
	"slices"
)

// This file finds the actions of the smaller recordings in the template (family.parse).

// parser goes through the events of a rank by the template.
type parser struct {
	*family
	r     *recording
	of    int // the recording
	rank  int
	at    int
	step  int   // how many have begun
	turns []int // of the loops around, the innermost last

	found  []visit
	loops  []loopVisit
	before []narrowed

	furthest int
	wanted   *leaf
	retries  int
}

type visit struct {
	leaf *leaf
	at   int32
}

type loopVisit struct {
	loop  *node
	turns int64
}

// parse finds all events of a recording in the template.
func (f *family) parse(of int) error {
	r := f.list[of]
	for _, l := range f.leaves {
		l.at[of] = make([][]int32, r.ranks)
		for side := range l.left {
			l.left[side].seen = nil
		}
	}
	for _, n := range f.loops {
		n.counts[of] = make([][]int64, r.ranks)
	}
	for rank := range r.streams {
		p := &parser{family: f, r: r, of: of, rank: rank}
		if !p.nodes(f.nodes) || p.at < len(r.streams[rank].events) {
			p.furthest = max(p.furthest, p.at)
			largest := f.list[len(f.list)-1]
			text := "no more"
			if p.wanted != nil {
				text = p.wanted.String()
			}
			return &misfit{fmt.Sprintf("%s: rank %d of %d: action %d is %s, where by %s comes %s", r.name, rank, r.ranks,
				p.furthest, r.describe(rank, p.furthest), largest.name, text)}
		}
		for _, v := range p.found {
			v.leaf.at[of][rank] = append(v.leaf.at[of][rank], v.at)
		}
		for _, v := range p.loops {
			v.loop.counts[of][rank] = append(v.loop.counts[of][rank], v.turns)
		}
	}
	return nil
}

// mark is how far a parser has come.
type mark struct{ at, step, found, loops, before int }

// mark returns how far the parser has come.
func (p *parser) mark() mark { return mark{p.at, p.step, len(p.found), len(p.loops), len(p.before)} }

// back goes back to a mark.
func (p *parser) back(m mark) {
	for _, b := range slices.Backward(p.before[m.before:]) {
		b.candidates.list, b.candidates.seen = b.list, nil
	}
	p.at, p.step, p.found, p.loops, p.before = m.at, m.step, p.found[:m.found], p.loops[:m.loops], p.before[:m.before]
}

// mostRetries bounds how often a rank's last turn of a loop is taken for what comes behind the loop.
const mostRetries = 64

// nodes goes through nodes; it returns false where the events do not follow.
func (p *parser) nodes(list []*node) bool {
	events, steps := p.r.streams[p.rank].events, p.r.streams[p.rank].steps
	if !p.stepped {
		steps = nil
	}
	for i, n := range list {
		switch {
		case n.leaf == nil && n.body == nil: // a step begins
			if steps != nil && (p.step == len(steps) || p.at != int(steps[p.step])) {
				return false
			}
			p.step++
		case n.leaf != nil:
			if !n.has(p.r.grid, p.rank) {
				continue
			}
			over := p.step < len(steps) && p.at >= int(steps[p.step]) // the step
			if over || p.at == len(events) || !p.is(n.leaf, &p.r.events[events[p.at]]) {
				if p.at >= p.furthest {
					p.furthest, p.wanted = p.at, n.leaf
				}
				return false
			}
			p.found = append(p.found, visit{n.leaf, int32(p.at)})
			p.at++
		case n.body != nil:
			// As many turns as there are; or one less, if what comes behind the loop begins like a turn.
			turns, last := int64(0), p.mark()
			p.turns = append(p.turns, 0)
			for {
				begin := p.mark()
				if !p.nodes(n.body) || p.at == begin.at && (steps == nil || p.step == begin.step) {
					p.back(begin)
					break
				}
				last = begin
				turns++
				p.turns[len(p.turns)-1]++
			}
			p.turns = p.turns[:len(p.turns)-1]
			end := p.mark()
			p.loops = append(p.loops, loopVisit{n, turns})
			if p.nodes(list[i+1:]) {
				return true
			}
			if p.retries++; turns == 0 || p.retries > mostRetries {
				return false
			}
			p.back(end)
			p.back(last)
			p.loops = append(p.loops, loopVisit{n, turns - 1})
			return p.nodes(list[i+1:])
		}
	}
	return true
}

// kept is a way that all actions so far allow, with the modes of its parameters that they allow, as bits.
type kept struct {
	way
	modes [mostDims]uint64
}

// candidates are the ways to a peer that are left. Those of one rank that they are known to explain are kept.
type candidates struct {
	list []kept
	rank int
	seen map[[2]int]bool // by peer and turn
}

// narrowed is what candidates were before an action.
type narrowed struct {
	*candidates
	list []kept
}

// is reports whether an event may be that of a leaf in the present turns. If so, ways that do not explain it are
// dropped.
func (p *parser) is(l *leaf, e *event) bool {
	if l.signature != e.signature {
		return false
	}
	for side, peer := range e.peers {
		if peer < 0 {
			if len(l.ways[side]) > 0 {
				return false
			}
			continue
		}
		c := &l.left[side]
		if c.rank != p.rank || c.seen == nil {
			c.rank, c.seen = p.rank, map[[2]int]bool{}
		}
		key := [2]int{int(peer), 0}
		for _, k := range c.list {
			key[1] += k.turn(p.turns)
		}
		if c.seen[key] {
			continue
		}
		var list []kept
		same := true
		for _, k := range c.list {
			modes, ok := p.modes(&k.way, p.r.grid, p.rank, int(peer), p.turns)
			for d := range k.view(p.r.grid) {
				modes[d] &= k.modes[d]
				ok = ok && modes[d] != 0
				same = same && modes[d] == k.modes[d]
			}
			if ok {
				list = append(list, kept{k.way, modes})
			}
		}
		if len(list) == 0 {
			return false
		}
		if !same || len(list) < len(c.list) {
			p.before = append(p.before, narrowed{c, c.list})
			c.list, c.seen = list, map[[2]int]bool{}
		}
		c.seen[key] = true
	}
	return true
}

// modes returns, for each dimension of a way, in which modes its first parameter may depend on the extents so that
// the way leads to a peer, as bits; ok is false if there is none.
func (f *family) modes(w *way, g grid, rank, peer int, turns []int) (modes [mostDims]uint64, ok bool) {
	if w.kind == swapped && g[w.swap[0]] != g[w.swap[1]] {
		return modes, false
	}
	seen := w.between(g, rank, peer)
	turn := w.turn(turns)
	for k, n := range w.view(g) {
		for mode := range f.numModes() {
			first, possible := f.scale(w, k, mode, g)
			if !possible {
				continue
			}
			p := int(w.at(first, k, turn))
			if p == int(seen[k]) || w.cyclic(k) && modulo(p-int(seen[k]), n) == 0 {
				modes[k] |= 1 << mode
			}
		}
		if modes[k] == 0 {
			return modes, false
		}
	}
	return modes, true
}

// turn returns the turn of the loop that changes a way.
func (w *way) turn(turns []int) int {
	if w.change == constant || w.level >= len(turns) {
		return 0
	}
	return turns[len(turns)-1-w.level]
}

// Modes of a parameter: it is constant, counts from the end, or is proportional to a monomial of the extents.
const (
	modeConstant = iota
	modeEnd
	modeScaled
)

// numModes returns the number of modes.
func (f *family) numModes() int { return min(64, modeScaled+len(f.monomials)) }

// scale returns the first parameter of a way in a dimension, for a grid.
func (f *family) scale(w *way, k, mode int, g grid) (first int32, ok bool) {
	c := int64(w.first[k])
	largest := f.list[len(f.list)-1].grid
	switch {
	case mode == modeConstant:
		return int32(c), true
	case mode == modeEnd:
		return int32(c) + int32(w.view(g)[k]-w.view(largest)[k]), true
	case c == 0:
		return 0, false
	}
	m := f.monomials[mode-modeScaled]
	r := new(big.Rat).Mul(new(big.Rat).SetInt64(c), m.rat(g))
	r.Quo(r, m.rat(largest))
	v := r.Num().Int64()
	return int32(v), r.IsInt() && r.Num().IsInt64() && v == int64(int32(v))
}
