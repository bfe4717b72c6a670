package main

import (
	"fmt"
	"slices"
)

// program is what the ranks of a case do, while it is drawn.
type program struct {
	dice
	*script
	settings *settings
	ranks    int
	rounds   int     // how long the program is
	speed    float64 // flop/s, about what a host has
	self     bool    // a rank may send to itself
	tag      int     // last one used
}

type programKind struct {
	name  string
	draw  func(*program)
	polls bool
}

// programKinds are the kinds of programs without collectives.
var programKinds = []programKind{
	{name: "pingpong", draw: (*program).pingpong},
	{name: "ring", draw: (*program).ring},
	{name: "pairwise", draw: (*program).pairwise},
	{name: "incast", draw: (*program).incast},
	{name: "stagger", draw: (*program).stagger},
	{name: "unexpected", draw: (*program).unexpected},
	{name: "fifo", draw: (*program).fifo},
	{name: "random", draw: (*program).random},
	{name: "tests", draw: (*program).tests, polls: true},
	{name: "probes", draw: (*program).probes, polls: true},
	{name: "anyone", draw: (*program).anyone, polls: true},
	{name: "sendrecv", draw: (*program).permutations},
	{name: "compute", draw: (*program).computations},
	{name: "mixed", draw: (*program).mixed},
}

func (p *program) newTag() int {
	p.tag++
	return p.tag
}

// payload is what a message carries, as traces say it.
type payload struct{ count, datatype int }

const byteType = 6

func (m payload) String() string {
	if m.datatype == byteType {
		return fmt.Sprint(m.count)
	}
	return fmt.Sprintf("%d %d", m.count, m.datatype)
}

// size draws a payload, mostly of bytes.
func (p *program) size() payload {
	n := p.settings.size(p.dice)
	if p.chance(0.9) {
		return payload{n, byteType}
	}
	kind := pick(p.dice, 0, 1, 3, 7, 14, 28, 57)
	return payload{n / 4, kind}
}

// pause makes a rank compute or sleep, up to most seconds, with probability 0.5.
func (p *program) pause(rank int, most float64) {
	switch seconds := p.logarithmic(most*1e-4, most); {
	case p.chance(0.5):
	case p.chance(0.05):
		p.add(p.group(), rank, "%s", pick(p.dice, "compute 0", "sleep 0", "sleep 1e-10", "compute 1", "compute 0.25"))
	case p.chance(0.3):
		p.add(p.group(), rank, "sleep %.17g", seconds)
	case p.chance(0.5):
		p.add(p.group(), rank, "compute %d", int(seconds*p.speed))
	default:
		p.add(p.group(), rank, "compute %.17g", seconds*p.speed)
	}
}

// two draws two different ranks.
func (p *program) two() (a, b int) {
	a = p.IntN(p.ranks)
	b = (a + p.between(1, p.ranks-1)) % p.ranks
	return a, b
}

// message makes src send to dst now, each side blocking or not; what does not
// block is waited for at once.
func (p *program) message(src, dst int, bytes payload) {
	g, tag := p.group(), p.newTag()
	if p.chance(0.5) {
		p.add(g, src, "send %d %d %v", dst, tag, bytes)
	} else {
		p.add(g, src, "isend %d %d %v", dst, tag, bytes)
		p.add(g, src, "wait %d %d %d", src, dst, tag)
	}
	if p.chance(0.5) {
		p.add(g, dst, "recv %d %d %v", src, tag, bytes)
	} else {
		p.add(g, dst, "irecv %d %d %v", src, tag, bytes)
		p.add(g, dst, "wait %d %d %d", src, dst, tag)
	}
}

// pingpong sends messages of one size to and fro.
func (p *program) pingpong() {
	for range p.rounds {
		a, b := p.two()
		n := p.size()
		p.pause(a, 1e-3)
		p.pause(b, 1e-3)
		p.message(a, b, n)
		p.message(b, a, n)
	}
}

// shift makes every rank send to the one that is some places after it.
func (p *program) shift(distance int, bytes payload) {
	g, tag := p.group(), p.newTag()
	for r := range p.ranks {
		p.add(g, r, "irecv %d %d %v", (r+p.ranks-distance)%p.ranks, tag, bytes)
		p.add(g, r, "isend %d %d %v", (r+distance)%p.ranks, tag, bytes)
		p.add(g, r, "waitall")
	}
}

// ring shifts by several distances, all ranks at once or one after the other.
func (p *program) ring() {
	drift := p.chance(0.5)
	for range p.rounds {
		if drift {
			for r := range p.ranks {
				p.pause(r, 1e-4)
			}
		}
		p.shift(p.between(1, max(1, p.ranks-1)), p.size())
	}
}

// pairwise exchanges between ranks whose numbers differ in one mask.
func (p *program) pairwise() {
	for range p.rounds {
		mask, bytes, tag := p.between(1, max(1, p.ranks-1)), p.size(), p.newTag()
		for a := range p.ranks {
			b := a ^ mask
			if b < a || b >= p.ranks {
				continue
			}
			p.exchange(p.group(), a, b, tag, bytes)
		}
	}
}

// exchange is a message each way between two ranks.
func (p *program) exchange(g, a, b, tag int, bytes payload) {
	p.pause(a, 1e-4)
	if p.chance(0.5) {
		p.add(g, a, "sendRecv %d %d %d %d %d %d", bytes.count, b, bytes.count, b, bytes.datatype, bytes.datatype)
		p.add(g, b, "sendRecv %d %d %d %d %d %d", bytes.count, a, bytes.count, a, bytes.datatype, bytes.datatype)
		return
	}
	for _, side := range [][2]int{{a, b}, {b, a}} {
		p.add(g, side[0], "irecv %d %d %v", side[1], tag, bytes)
		p.add(g, side[0], "send %d %d %v", side[1], tag, bytes)
		p.add(g, side[0], "wait %d %d %d", side[1], side[0], tag)
	}
}

// incast makes many send to one.
func (p *program) incast() {
	for range max(1, p.rounds/2) {
		root, same, bytes := p.IntN(p.ranks), p.chance(0.5), p.size()
		for _, r := range p.shuffled(p.ranks) {
			if r == root {
				continue
			}
			if !same {
				bytes = p.size()
			}
			g, tag := p.group(), p.newTag()
			if !same {
				p.pause(r, 1e-3)
			}
			p.add(g, r, "isend %d %d %v", root, tag, bytes)
			p.add(g, r, "wait %d %d %d", r, root, tag)
			p.add(g, root, "irecv %d %d %v", r, tag, bytes)
		}
		p.add(p.group(), root, "waitall")
	}
}

// stagger starts flows one after the other, at even distances.
func (p *program) stagger() {
	step, bytes := p.logarithmic(1e-6, 1e-3), p.size()
	for r := range p.ranks {
		peer := (r + p.ranks/2) % p.ranks
		if peer == r {
			continue
		}
		for i := range p.rounds {
			g, tag := p.group(), p.newTag()
			if r > 0 && i == 0 {
				p.add(p.group(), r, "sleep %.17g", step*float64(r))
			}
			p.add(g, r, "isend %d %d %v", peer, tag, bytes)
			p.add(g, peer, "irecv %d %d %v", r, tag, bytes)
		}
	}
	p.all(p.group(), "waitall")
}

// unexpected makes messages arrive in another order than they are received in.
func (p *program) unexpected() {
	for range max(1, p.rounds/2) {
		a, b := p.two()
		n := p.between(2, 5)
		g, tags, sizes := make([]int, n), make([]int, n), make([]payload, n)
		for i := range n {
			g[i], tags[i], sizes[i] = p.group(), p.newTag(), p.size()
			p.add(g[i], a, "isend %d %d %v", b, tags[i], sizes[i])
		}
		p.pause(b, 1e-2)
		for _, i := range p.shuffled(n) {
			p.add(g[i], b, "recv %d %d %v", a, tags[i], sizes[i])
		}
		for _, i := range p.shuffled(n) {
			p.add(g[i], a, "wait %d %d %d", a, b, tags[i])
		}
	}
}

// fifo sends several messages under one tag, which are received in the order in which
// they were sent. SimGrid confuses eager messages with others of the same tag, so
// all are of one sort. Some requests are left to the ends of the ranks, which wait for
// the last one; all have one size then, so that none ends later: SimGrid cancels what
// is in flight when a rank ends.
func (p *program) fifo() {
	for range p.rounds {
		a, b := p.two()
		g, tag := p.group(), p.newTag()
		sizes, left := p.fifoSizes(p.between(2, 5)), 0
		if p.chance(0.3) {
			sizes = slices.Repeat(sizes[:1], len(sizes))
			left = p.between(1, len(sizes))
		}
		for _, bytes := range sizes {
			p.add(g, a, "isend %d %d %d 6", b, tag, bytes)
			p.pause(a, 1e-4)
			p.add(g, b, "irecv %d %d %d 6", a, tag, bytes)
			p.pause(b, 1e-4)
		}
		for range len(sizes) - left {
			p.add(g, a, "wait %d %d %d", a, b, tag)
			p.add(g, b, "wait %d %d %d", a, b, tag)
		}
	}
}

// fifoSizes draws the sizes of n messages, eager or not.
func (p *program) fifoSizes(n int) []int {
	eager := p.settings.eager > 1 && p.chance(0.5)
	sizes := make([]int, n)
	for i := range sizes {
		if sizes[i] = p.settings.eager + int(p.logarithmic(1, 1e6)); eager {
			sizes[i] = p.IntN(p.settings.eager)
		}
	}
	return sizes
}

// permutations makes every rank send to one and receive from another.
func (p *program) permutations() {
	for range p.rounds {
		g, to, bytes := p.group(), p.shuffled(p.ranks), p.size()
		from := make([]int, p.ranks)
		for r, dst := range to {
			from[dst] = r
		}
		for r := range p.ranks {
			p.pause(r, 1e-4)
			if (to[r] == r || from[r] == r) && !p.self {
				continue
			}
			p.add(g, r, "sendRecv %d %d %d %d %d %d", bytes.count, to[r], bytes.count, from[r], bytes.datatype, bytes.datatype)
		}
	}
}

// computations makes ranks compute, so that those of one host share its cores.
func (p *program) computations() {
	for range p.rounds {
		for r := range p.ranks {
			p.pause(r, 1e-3)
		}
		if p.chance(0.3) {
			a, b := p.two()
			p.message(a, b, p.size())
		}
	}
}

// mixed is a little of everything.
func (p *program) mixed() {
	rounds := p.rounds
	p.rounds = max(1, rounds/4)
	for range 4 {
		pick(p.dice, (*program).pingpong, (*program).ring, (*program).pairwise, (*program).incast,
			(*program).unexpected, (*program).random, (*program).permutations, (*program).computations)(p)
	}
	p.rounds = rounds
}
