package main

import (
	"fmt"
	"slices"
)

// anyone makes ranks receive from any source what some others send, round by round: each
// round at another rank under a tag of its own, or all at rank 0 with any tag; then nobody
// may block, as a message of a later round may come first. Sizes are all eager or all not,
// since SimGrid looks for small messages first (docs/deviations.md, 19), and sends have
// different times: those of one time come in the order of SimGrid's containers.
func (p *program) anyone() {
	anyTag, sizes := p.chance(0.3), p.fifoSizes(p.rounds)
	for _, bytes := range sizes {
		dst := 0
		if !anyTag {
			dst = p.IntN(p.ranks)
		}
		g, tag, senders := p.group(), p.newTag(), p.senders(dst)
		for _, src := range senders {
			verb := pick(p.dice, "send", "isend")
			if anyTag {
				verb = "isend"
			}
			p.add(p.group(), src, "sleep %.17g", p.logarithmic(1e-6, 1e-3))
			p.add(g, src, "%s %d %d %d 6", verb, dst, tag, bytes)
		}
		named := fmt.Sprint(tag)
		if anyTag {
			named = "-444"
		}
		for range senders {
			p.pause(dst, 1e-3)
			p.add(g, dst, "%s -555 %s %d 6", pick(p.dice, "recv", "recv", "irecv"), named, pick(p.dice, -1, -1, slices.Max(sizes)))
		}
	}
	p.all(p.group(), "waitall")
}

// senders draws some ranks other than dst.
func (p *program) senders(dst int) []int {
	list := p.shuffled(p.ranks)[:p.between(1, p.ranks)]
	return slices.DeleteFunc(list, func(src int) bool { return src == dst })
}
