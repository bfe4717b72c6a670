package main

// traffic draws random messages. Every post and every wait has a position in one
// order of all ranks, and nothing that blocks comes before what it waits for, so
// the program cannot deadlock.
type traffic struct {
	*program
	pending [][]request // by rank
	style   style
}

// request is a nonblocking operation not yet waited for.
type request struct{ group, src, dst, tag int }

// style is what ranks do with their requests.
type style struct {
	waitall float64 // probability of a waitall after an operation
	test    float64 // probability of a test
	probe   float64 // probability that a receive does not know its size
}

// random is messages between random ranks, all forms of sends and receives, and
// waits in any order.
func (p *program) random() { p.traffic(style{waitall: 0.15}) }

// tests is random messages with tests of requests before they are waited for.
func (p *program) tests() { p.traffic(style{test: 0.5}) }

// probes is random messages with receives of unknown size.
func (p *program) probes() { p.traffic(style{waitall: 0.1, probe: 0.6}) }

func (p *program) traffic(s style) {
	t := &traffic{program: p, pending: make([][]request, p.ranks), style: s}
	if s.test > 0 {
		defer t.sentinel()()
	}
	for range p.rounds * p.ranks / 2 {
		t.message()
	}
	for r := range p.ranks {
		if s.test > 0 || t.chance(0.9) { // others wait after their last action
			t.drain(r)
		}
	}
}

// sentinel keeps a receive pending in every rank until the returned function is
// called: SimGrid aborts at a wait if the tests before it have completed all
// requests.
func (t *traffic) sentinel() func() {
	g, tag := t.group(), t.newTag()
	for r := range t.ranks {
		t.add(g, r, "irecv %d %d 8", (r+1)%t.ranks, tag)
	}
	return func() {
		for r := range t.ranks {
			t.add(g, r, "isend %d %d 8", (r+t.ranks-1)%t.ranks, tag)
		}
		t.all(g, "waitall")
	}
}

// message draws a message: posted at one position, or by one side first.
func (t *traffic) message() {
	src, dst := t.IntN(t.ranks), t.IntN(t.ranks)
	if src == dst && (!t.self || t.style.test > 0 && t.chance(0.9)) {
		src, dst = t.two()
	}
	r := request{t.group(), src, dst, t.newTag()}
	bytes := t.size()
	t.pause(src, 1e-3)
	t.pause(dst, 1e-3)
	switch {
	case t.chance(0.3) && t.style.probe == 0:
		t.post(r, dst, "irecv", src, bytes)
		t.pauses(src, dst)
		t.sendSide(r, bytes)
	case t.chance(0.5) || src == dst:
		t.post(r, src, "isend", dst, bytes)
		t.pauses(src, dst)
		t.recvSide(r, bytes)
	default:
		t.sendSide(r, bytes)
		t.recvSide(r, bytes)
	}
	t.idle(src)
	t.idle(dst)
}

func (t *traffic) pauses(a, b int) {
	t.pause(a, 1e-3)
	t.pause(b, 1e-3)
}

func (t *traffic) post(r request, rank int, verb string, peer int, bytes payload) {
	t.add(r.group, rank, "%s %d %d %v", verb, peer, r.tag, bytes)
	t.pending[rank] = append(t.pending[rank], r)
}

func (t *traffic) sendSide(r request, bytes payload) {
	if t.chance(0.5) {
		t.add(r.group, r.src, "send %d %d %v", r.dst, r.tag, bytes)
		return
	}
	t.post(r, r.src, "isend", r.dst, bytes)
}

func (t *traffic) recvSide(r request, bytes payload) {
	if t.chance(t.style.probe) {
		bytes.count = -1
	}
	if t.chance(0.5) {
		t.add(r.group, r.dst, "recv %d %d %v", r.src, r.tag, bytes)
		return
	}
	t.post(r, r.dst, "irecv", r.src, bytes)
}

// idle makes a rank test or wait for some of its requests.
func (t *traffic) idle(rank int) {
	for t.chance(t.style.test) && len(t.pending[rank]) > 0 {
		if r := pick(t.dice, t.pending[rank]...); t.named(rank, r) == 1 {
			t.add(r.group, rank, "test %d %d %d", r.src, r.dst, r.tag)
		}
	}
	switch {
	case t.chance(t.style.waitall):
		t.add(t.group(), rank, "waitall")
		t.pending[rank] = t.pending[rank][:0]
	case t.chance(0.5):
		t.wait(rank)
	}
}

// named returns how many pending requests of a rank have the name of r: two if it sends
// to itself. Which of them a test means depends on times in SimGrid (docs/deviations.md, 18).
func (t *traffic) named(rank int, r request) (n int) {
	for _, other := range t.pending[rank] {
		if other.src == r.src && other.dst == r.dst && other.tag == r.tag {
			n++
		}
	}
	return n
}

// wait waits for one of the rank's requests.
func (t *traffic) wait(rank int) {
	list := t.pending[rank]
	if len(list) == 0 {
		return
	}
	i := t.IntN(len(list))
	r := list[i]
	t.add(r.group, rank, "wait %d %d %d", r.src, r.dst, r.tag)
	t.pending[rank] = append(list[:i], list[i+1:]...)
}

// drain waits for all requests of the rank, one by one or at once.
func (t *traffic) drain(rank int) {
	if t.style.test == 0 && t.chance(0.5) {
		t.add(t.group(), rank, "waitall")
		return
	}
	for len(t.pending[rank]) > 0 {
		t.wait(rank)
	}
}
