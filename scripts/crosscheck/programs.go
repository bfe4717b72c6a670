package main

import (
	"fmt"
	"slices"
	"strings"
)

// This file draws programs of point-to-point messages (programKinds), and mixes collectives into them (collectives).

// program is a list of actions of each rank, while it is drawn. Every post and every wait has a place
// in one order of all ranks, and nothing that blocks comes before an action that it waits for, so
// that no program deadlocks.
type program struct {
	source
	lines    [][]string // by rank
	settings *settings
	ranks    int
	rounds   int     // how long the program is
	speed    float64 // flop/s, about a host's
	self     bool    // a rank may send to itself
	tag      int     // last one used
}

// programKinds are the kinds of programs without collectives. Those that poll depend on the order of
// simultaneous events and are not used for long cases.
var programKinds = []struct {
	name  string
	draw  func(*program)
	polls bool
}{
	{"pingpong", (*program).pingpong, false},
	{"ring", (*program).ring, false},
	{"pairwise", (*program).pairwise, false},
	{"incast", (*program).incast, false},
	{"stagger", (*program).stagger, false},
	{"unexpected", (*program).unexpected, false},
	{"fifo", (*program).fifo, false},
	{"random", func(p *program) { p.traffic(style{waitall: 0.15}) }, false},
	{"tests", func(p *program) { p.traffic(style{test: 0.5}) }, true},
	{"probes", func(p *program) { p.traffic(style{waitall: 0.1, probe: 0.6}) }, true},
	{"anyone", (*program).anyone, true},
	{"sendrecv", (*program).permutations, false},
	{"compute", (*program).computations, false},
	{"mixed", (*program).mixed, false},
}

// add appends an action to those of a rank.
func (p *program) add(rank int, format string, args ...any) {
	p.lines[rank] = append(p.lines[rank], fmt.Sprintf("%d ", rank)+fmt.Sprintf(format, args...))
}

// all appends an action to those of all ranks.
func (p *program) all(format string, args ...any) {
	for r := range p.lines {
		p.add(r, format, args...)
	}
}

func (p *program) newTag() int {
	p.tag++
	return p.tag
}

// payload is the count and the datatype of a message.
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
	if n := p.settings.size(); p.chance(0.9) {
		return payload{n, byteType}
	} else {
		return payload{n / 4, pick(p.source, 0, 1, 3, 7, 14, 28, 57)}
	}
}

// pause makes ranks compute or sleep, up to most seconds, with probability 0.5 each.
func (p *program) pause(most float64, ranks ...int) {
	for _, rank := range ranks {
		switch seconds := p.logarithmic(most*1e-4, most); {
		case p.chance(0.5):
		case p.chance(0.05):
			p.add(rank, "%s", pick(p.source, "compute 0", "sleep 0", "sleep 1e-10", "compute 1", "compute 0.25"))
		case p.chance(0.3):
			p.add(rank, "sleep %.17g", seconds)
		case p.chance(0.5):
			p.add(rank, "compute %d", int(seconds*p.speed))
		default:
			p.add(rank, "compute %.17g", seconds*p.speed)
		}
	}
}

// pauseAll is pause of all ranks.
func (p *program) pauseAll(most float64) {
	for r := range p.ranks {
		p.pause(most, r)
	}
}

// two draws two different ranks.
func (p *program) two() (a, b int) {
	a = p.IntN(p.ranks)
	return a, (a + p.between(1, p.ranks-1)) % p.ranks
}

// message makes src send to dst now, each side blocking or not; a nonblocking one is waited for at once.
func (p *program) message(src, dst int, bytes payload) {
	tag := p.newTag()
	for _, side := range []struct {
		rank, peer int
		verb       string
	}{{src, dst, "send"}, {dst, src, "recv"}} {
		if p.chance(0.5) {
			p.add(side.rank, "%s %d %d %v", side.verb, side.peer, tag, bytes)
		} else {
			p.add(side.rank, "i%s %d %d %v", side.verb, side.peer, tag, bytes)
			p.add(side.rank, "wait %d %d %d", src, dst, tag)
		}
	}
}

// pingpong sends messages of one size to and fro.
func (p *program) pingpong() {
	for range p.rounds {
		a, b := p.two()
		n := p.size()
		p.pause(1e-3, a, b)
		p.message(a, b, n)
		p.message(b, a, n)
	}
}

// ring makes every rank send to the one some places after it, all at once or drifting.
func (p *program) ring() {
	drift := p.chance(0.5)
	for range p.rounds {
		if drift {
			p.pauseAll(1e-4)
		}
		distance, bytes, tag := p.between(1, p.ranks-1), p.size(), p.newTag()
		for r := range p.ranks {
			p.add(r, "irecv %d %d %v", (r+p.ranks-distance)%p.ranks, tag, bytes)
			p.add(r, "isend %d %d %v", (r+distance)%p.ranks, tag, bytes)
			p.add(r, "waitall")
		}
	}
}

// pairwise exchanges between ranks whose numbers differ in one mask.
func (p *program) pairwise() {
	for range p.rounds {
		mask, bytes, tag := p.between(1, p.ranks-1), p.size(), p.newTag()
		for a := range p.ranks {
			b := a ^ mask
			if b < a || b >= p.ranks {
				continue
			}
			p.pause(1e-4, a)
			together := p.chance(0.5)
			for _, side := range [][2]int{{a, b}, {b, a}} {
				if together {
					p.sendRecv(side[0], side[1], side[1], bytes)
					continue
				}
				p.add(side[0], "irecv %d %d %v", side[1], tag, bytes)
				p.add(side[0], "send %d %d %v", side[1], tag, bytes)
				p.add(side[0], "wait %d %d %d", side[1], side[0], tag)
			}
		}
	}
}

func (p *program) sendRecv(rank, to, from int, bytes payload) {
	p.add(rank, "sendRecv %d %d %d %d %d %d", bytes.count, to, bytes.count, from, bytes.datatype, bytes.datatype)
}

// incast makes many send to one.
func (p *program) incast() {
	for range max(1, p.rounds/2) {
		root, same, bytes := p.IntN(p.ranks), p.chance(0.5), p.size()
		for _, r := range p.Perm(p.ranks) {
			if r == root {
				continue
			}
			if !same {
				bytes = p.size()
				p.pause(1e-3, r)
			}
			tag := p.newTag()
			p.add(r, "isend %d %d %v", root, tag, bytes)
			p.add(r, "wait %d %d %d", r, root, tag)
			p.add(root, "irecv %d %d %v", r, tag, bytes)
		}
		p.add(root, "waitall")
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
		if r > 0 {
			p.add(r, "sleep %.17g", step*float64(r))
		}
		for range p.rounds {
			tag := p.newTag()
			p.add(r, "isend %d %d %v", peer, tag, bytes)
			p.add(peer, "irecv %d %d %v", r, tag, bytes)
		}
	}
	p.all("waitall")
}

// unexpected makes messages arrive in another order than they are received in.
func (p *program) unexpected() {
	for range max(1, p.rounds/2) {
		a, b := p.two()
		n := p.between(2, 5)
		tags, sizes := make([]int, n), make([]payload, n)
		for i := range n {
			tags[i], sizes[i] = p.newTag(), p.size()
			p.add(a, "isend %d %d %v", b, tags[i], sizes[i])
		}
		p.pause(1e-2, b)
		for _, i := range p.Perm(n) {
			p.add(b, "recv %d %d %v", a, tags[i], sizes[i])
		}
		for _, i := range p.Perm(n) {
			p.add(a, "wait %d %d %d", a, b, tags[i])
		}
	}
}

// fifo sends several messages under one tag, which are received in the order in which
// they were sent. SimGrid confuses eager messages with others of the same tag, so
// all are of one sort. Some requests are left to the ends of the ranks, which wait for
// the last one; all have one size then, so that none ends later: SimGrid cancels
// transfers in flight when a rank ends.
func (p *program) fifo() {
	for range p.rounds {
		a, b := p.two()
		tag, sizes, left := p.newTag(), p.sameSort(p.between(2, 5)), 0
		if p.chance(0.3) {
			sizes = slices.Repeat(sizes[:1], len(sizes))
			left = p.between(1, len(sizes))
		}
		for _, bytes := range sizes {
			p.add(a, "isend %d %d %d 6", b, tag, bytes)
			p.pause(1e-4, a)
			p.add(b, "irecv %d %d %d 6", a, tag, bytes)
			p.pause(1e-4, b)
		}
		for range len(sizes) - left {
			p.add(a, "wait %d %d %d", a, b, tag)
			p.add(b, "wait %d %d %d", a, b, tag)
		}
	}
}

// sameSort draws the sizes of n messages, all eager or none.
func (p *program) sameSort(n int) []int {
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
		to, bytes := p.Perm(p.ranks), p.size()
		for r := range p.ranks {
			p.pause(1e-4, r)
			if to[r] != r || p.self {
				p.sendRecv(r, to[r], slices.Index(to, r), bytes)
			}
		}
	}
}

// computations makes ranks compute, so that those of one host share its cores.
func (p *program) computations() {
	for range p.rounds {
		p.pauseAll(1e-3)
		if p.chance(0.3) {
			a, b := p.two()
			p.message(a, b, p.size())
		}
	}
}

// mixed is a little of everything.
func (p *program) mixed() {
	p.rounds = max(1, p.rounds/4)
	for range 4 {
		pick(p.source, (*program).pingpong, (*program).ring, (*program).pairwise, (*program).incast, (*program).unexpected,
			func(p *program) { p.traffic(style{waitall: 0.15}) }, (*program).permutations, (*program).computations)(p)
	}
}

// dense makes every rank send to all others, or to a part of them, at once, with sizes and starts of their own:
// hundreds of messages share each link, and each end gives all of them other shares.
func (p *program) dense() {
	part, least := pick(p.source, 0.3, 0.6, 1, 1), p.logarithmic(1e3, 1e5)
	for range p.between(1, 2) {
		tag := p.newTag()
		for r := range p.ranks {
			p.add(r, "sleep %.17g", p.logarithmic(1e-6, 1e-2))
		}
		for distance := 1; distance < p.ranks; distance++ {
			for src := range p.ranks {
				if p.chance(part) {
					dst, bytes := (src+distance)%p.ranks, int(least*p.logarithmic(1, 4))
					p.add(dst, "irecv %d %d %d 6", src, tag, bytes)
					p.add(src, "isend %d %d %d 6", dst, tag, bytes)
				}
			}
		}
		p.all("waitall")
	}
}

// anyone makes ranks receive from any source the messages of some others, round by round: each
// round at another rank under a tag of its own, or all at rank 0 with any tag; then nobody
// may block, as a message of a later round may come first. Sizes are all eager or all not,
// since SimGrid looks for small messages first (docs/deviations.md, 19), and sends have
// different times: those of one time come in the order of SimGrid's containers.
func (p *program) anyone() {
	anyTag, sizes := p.chance(0.3), p.sameSort(p.rounds)
	for _, bytes := range sizes {
		dst, tag := 0, p.newTag()
		named := "-444"
		if !anyTag {
			dst, named = p.IntN(p.ranks), fmt.Sprint(tag)
		}
		senders := slices.DeleteFunc(p.Perm(p.ranks)[:p.between(1, p.ranks)], func(src int) bool { return src == dst })
		for _, src := range senders {
			verb := "isend"
			if !anyTag && p.chance(0.5) {
				verb = "send"
			}
			p.add(src, "sleep %.17g", p.logarithmic(1e-6, 1e-3))
			p.add(src, "%s %d %d %d 6", verb, dst, tag, bytes)
		}
		for range senders {
			p.pause(1e-3, dst)
			p.add(dst, "%s -555 %s %d 6", pick(p.source, "recv", "recv", "irecv"), named, pick(p.source, -1, -1, slices.Max(sizes)))
		}
	}
	p.all("waitall")
}

// style says how ranks treat the requests of random messages.
type style struct {
	waitall float64 // probability of a waitall after an operation
	test    float64 // probability of a test
	probe   float64 // probability that a receive does not know its size
}

// request is a nonblocking operation not yet waited for.
type request struct{ src, dst, tag int }

// traffic is messages between random ranks, all forms of sends and receives, and waits in any order.
func (p *program) traffic(s style) {
	pending := make([][]request, p.ranks)
	sentinel := p.newTag()
	if s.test > 0 { // SimGrid aborts at a wait if the tests before it have completed all requests
		for r := range p.ranks {
			p.add(r, "irecv %d %d 8", (r+1)%p.ranks, sentinel)
		}
	}
	wait := func(rank int) {
		if n := len(pending[rank]); n > 0 {
			i := p.IntN(n)
			r := pending[rank][i]
			p.add(rank, "wait %d %d %d", r.src, r.dst, r.tag)
			pending[rank] = slices.Delete(pending[rank], i, i+1)
		}
	}
	post := func(rank int, verb string, r request, bytes payload, blocking bool) {
		peer := r.src + r.dst - rank
		if !blocking {
			verb = "i" + verb
			pending[rank] = append(pending[rank], r)
		}
		p.add(rank, "%s %d %d %v", verb, peer, r.tag, bytes)
	}
	for range p.rounds * p.ranks / 2 {
		src, dst := p.IntN(p.ranks), p.IntN(p.ranks)
		if src == dst && (!p.self || s.test > 0 && p.chance(0.9)) {
			src, dst = p.two()
		}
		r, bytes := request{src, dst, p.newTag()}, p.size()
		received := bytes
		if p.chance(s.probe) {
			received.count = -1
		}
		p.pause(1e-3, src, dst)
		switch {
		case p.chance(0.3) && s.probe == 0:
			post(dst, "recv", r, bytes, false)
			p.pause(1e-3, src, dst)
			post(src, "send", r, bytes, p.chance(0.5))
		case p.chance(0.5) || src == dst:
			post(src, "send", r, bytes, false)
			p.pause(1e-3, src, dst)
			post(dst, "recv", r, received, p.chance(0.5))
		default:
			post(src, "send", r, bytes, p.chance(0.5))
			post(dst, "recv", r, received, p.chance(0.5))
		}
		for _, rank := range []int{src, dst} {
			for p.chance(s.test) && len(pending[rank]) > 0 {
				// Of two requests of one name, of a rank with itself, SimGrid's choice depends on times (docs/deviations.md, 18).
				if t := pick(p.source, pending[rank]...); t.src != t.dst {
					p.add(rank, "test %d %d %d", t.src, t.dst, t.tag)
				}
			}
			switch {
			case p.chance(s.waitall):
				p.add(rank, "waitall")
				pending[rank] = nil
			case p.chance(0.5):
				wait(rank)
			}
		}
	}
	for rank := range p.ranks {
		switch {
		case s.test == 0 && p.chance(0.1): // the rank waits after its last action
		case s.test == 0 && p.chance(0.5):
			p.add(rank, "waitall")
		default:
			for len(pending[rank]) > 0 {
				wait(rank)
			}
		}
	}
	if s.test > 0 {
		for r := range p.ranks {
			p.add(r, "isend %d %d 8", (r+p.ranks-1)%p.ranks, sentinel)
		}
		p.all("waitall")
	}
}

// collectiveNames lists by selector the operations that SimGrid 3.32 plays. The
// two-level algorithms of mpich's bcast, reduce and allreduce write to memory that is
// not theirs.
var collectiveNames = map[string][]string{"default": allCollectives, "ompi": allCollectives, "mpich": slices.DeleteFunc(slices.Clone(allCollectives), func(name string) bool {
	return name == "bcast" || name == "reduce" || name == "allreduce"
})}

var allCollectives = strings.Fields("barrier bcast reduce allreduce alltoall alltoallv allgather allgatherv gather gatherv scatter scatterv reducescatter scan exscan")

// collectives makes all ranks call collectives, of the given selector.
func (p *program) collectives(selector string) {
	if selector != "default" {
		p.settings.set("smpi/coll-selector", "%s", selector)
	}
	for range p.rounds {
		p.pauseAll(1e-3)
		p.collective(pick(p.source, collectiveNames[selector]...), selector != "default")
	}
}

// collective draws one call of an operation. Empty ones end in a division by zero in some algorithms, or
// depend on the operations before.
func (p *program) collective(name string, nonempty bool) {
	n, root, flops := p.size().count, p.IntN(p.ranks), int(p.logarithmic(1, 1e6))
	if nonempty {
		n = max(4, n)
	}
	if p.chance(0.5) {
		flops = 0
	}
	counts := func() []int {
		list := make([]int, p.ranks)
		for i := range list {
			list[i] = p.size().count / 4
		}
		return list
	}
	words := func(counts []int) string { return strings.Trim(fmt.Sprint(counts), "[]") }
	c := counts()
	if nonempty {
		c[0] = max(1, c[0])
	}
	switch name {
	case "barrier":
		p.all("barrier")
	case "bcast":
		p.all("bcast %d %d", n, root)
	case "reduce":
		p.all("reduce %d %d %d", n, flops, root)
	case "allreduce", "scan", "exscan":
		p.all("%s %d %d", name, n, flops)
	case "alltoall", "allgather":
		p.all("%s %d %d", name, n/4, n/4)
	case "gather", "scatter":
		p.all("%s %d %d %d", name, n, n, root)
	case "gatherv":
		for r := range p.ranks {
			p.add(r, "gatherv %d %s %d", c[r], words(c), root)
		}
	case "allgatherv":
		for r := range p.ranks {
			p.add(r, "allgatherv %d %s", c[r], words(c))
		}
	case "scatterv":
		for r := range p.ranks {
			p.add(r, "scatterv %s %d %d", words(c), c[r], root)
		}
	case "reducescatter": // the algorithm for unequal counts is not described
		p.all("reducescatter %s %d", words(slices.Repeat(c[:1], p.ranks)), flops)
	case "alltoallv":
		matrix := make([][]int, p.ranks) // [from][to]
		for i := range matrix {
			matrix[i] = counts()
		}
		for r := range p.ranks {
			var in []int
			for i := range matrix {
				in = append(in, matrix[i][r])
			}
			p.add(r, "alltoallv %d %s %d %s", sum(matrix[r]), words(matrix[r]), sum(in), words(in))
		}
	}
}

func sum(counts []int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}
