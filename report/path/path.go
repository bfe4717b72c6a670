package path

import (
	"reprise/replay"
	"reprise/trace"
)

// Path is a replay.Observer that finds the critical path. Use New.
type Path struct {
	replay.Ignore
	header *trace.Header
	levels levels

	components components
	vectors    vectors
	ranks      []rankPath
	messages   []messagePath
	gaps       int
}

// rankPath is the longest path to the clock of a rank.
type rankPath struct {
	stretch
	row    int32 // of the components in its innermost phase
	phases phaseStack
}

// stretch is a path up to a time.
type stretch struct {
	end  float64 // s
	last *hop    // where it came to a step last; nil: nowhere
	composition
}

// hop is where a path comes to a step.
type hop struct {
	before *hop
	rank   int32
	at     float64 // s
}

// messagePath is the paths to the posts of a message, and what its transfer has come to.
type messagePath struct {
	sent, received stretch
	src, dst       int32

	late     bool    // its receive was posted last
	carried  int32   // entries of transfer
	reached  float64 // s
	transfer [maxTransfer]entry
}

// maxTransfer is how many things a transfer is told to have spent time on: its latency, and on
// two levels of links wire and contention. What it spends on others is added to the last.
const maxTransfer = 5

// New returns a Path for a replay of a trace with that header, on a machine, with options.
func New(h *trace.Header, m replay.Machine, o replay.Options) *Path {
	l := newLevels(&m, &o.Network)
	p := &Path{
		header: h, levels: l, components: newComponents(len(h.Kernels), len(h.Phases), len(l.names)),
		ranks: make([]rankPath, h.Ranks),
	}
	p.vectors.widen(1)
	for r := range p.ranks {
		p.ranks[r].vector = noVector
	}
	return p
}

// Gaps returns how often two stretches of a path did not meet bit for bit, which is an error
// of this package.
func (p *Path) Gaps() int { return p.gaps }

// Spares implements replay.Sparing: a path is not made of actions, and contention is charged
// to the links that bind a message in the end.
func (p *Path) Spares() replay.Spared { return replay.Spared{Actions: true, Parts: true} }

// meet counts a gap unless a stretch ends at a time.
func (p *Path) meet(s *stretch, at float64) {
	if s.end != at {
		p.gaps++
	}
}

// become makes a stretch that of another.
func (p *Path) become(s, other *stretch) {
	s.end, s.last = other.end, other.last
	p.vectors.become(&s.composition, &other.composition)
}

// add lengthens a stretch.
func (p *Path) add(s *stretch, component int32, to, amount float64) {
	p.vectors.add(&s.composition, component, to-s.end, amount)
	s.end = to
}

// number returns a number that a component has got, with room for it in the vectors.
func (p *Path) number(component int32) int32 {
	p.vectors.widen(len(p.components.list))
	return component
}

// TimePasses implements replay.Observer. What a rank has waited for is told next (Released).
func (p *Path) TimePasses(rank int32, k replay.TimeKind, kernel int32, from, to float64) {
	r := &p.ranks[rank]
	p.meet(&r.stretch, from)
	if k.Waits() {
		r.end = to
		return
	}
	p.add(&r.stretch, p.number(p.components.ofRank(k, kernel, r.row)), to, 1)
}

// Marked implements replay.Observer.
func (p *Path) Marked(rank int32, mark trace.Action, at float64) {
	r := &p.ranks[rank]
	switch {
	case mark.Kind == trace.KindStep:
		r.last = &hop{r.last, rank, at}
		return
	case mark.Flags&trace.FlagEnd == 0:
		r.phases.begin(int32(mark.Sym))
	default:
		r.phases.end(int32(mark.Sym))
	}
	r.row = p.components.row(r.phases.innermost())
}

// message returns the paths of a message.
func (p *Path) message(id int32) *messagePath {
	for int(id) >= len(p.messages) {
		m := messagePath{}
		m.sent.vector, m.received.vector = noVector, noVector
		p.messages = append(p.messages, m)
	}
	return &p.messages[id]
}

// SendPosted implements replay.Observer.
func (p *Path) SendPosted(message, src, dst, tag int32, bytes int64, at float64) {
	m := p.message(message)
	m.src, m.dst = src, dst
	p.meet(&p.ranks[src].stretch, at)
	p.become(&m.sent, &p.ranks[src].stretch)
}

// ReceivePosted implements replay.Observer.
func (p *Path) ReceivePosted(message, dst, src, tag int32, bytes int64, at float64) {
	p.meet(&p.ranks[dst].stretch, at)
	p.become(&p.message(message).received, &p.ranks[dst].stretch)
}

// Merged implements replay.Observer.
func (p *Path) Merged(send, receive int32) {
	m, other := p.message(send), p.message(receive)
	p.become(&m.received, &other.received)
}

// Started implements replay.Observer.
func (p *Path) Started(message int32, at float64) {
	m := p.message(message)
	m.late = m.sent.end != at
	m.carried, m.reached = 0, at
	p.meet(m.begin(), at)
	if m.late {
		p.vectors.forget(&m.sent.composition)
	} else {
		p.vectors.forget(&m.received.composition)
	}
}

// begin returns the stretch up to the begin of the transfer.
func (m *messagePath) begin() *stretch {
	if m.late {
		return &m.received
	}
	return &m.sent
}

// Carried implements replay.Observer.
func (p *Path) Carried(message int32, from, to, rate, alone float64, link int32) {
	m := &p.messages[message]
	if m.carried == 0 {
		m.spend(p.number(p.components.ofLatency()), from-m.reached, 1)
	}
	level, passed := p.levels.of(link, m.src, m.dst, rate, alone), to-from
	if alone > 0 {
		wire := passed * rate / alone
		m.spend(p.number(p.components.ofLinks(level, false)), wire, rate*passed)
		passed -= wire
	}
	if passed > 0 {
		m.spend(p.number(p.components.ofLinks(level, true)), passed, 0)
	}
	m.reached = to
}

// spend adds to what a transfer has spent time on.
func (m *messagePath) spend(component int32, seconds, amount float64) {
	for i := range m.transfer[:m.carried] {
		if e := &m.transfer[i]; e.component == component || i == maxTransfer-1 {
			e.seconds += seconds
			e.amount += amount
			return
		}
	}
	m.transfer[m.carried] = entry{component, seconds, amount}
	m.carried++
}

// Released implements replay.Observer.
func (p *Path) Released(rank, message int32, since, at float64) {
	m, r := &p.messages[message], &p.ranks[rank]
	if m.reached == at { // its end, or both at once
		p.become(&r.stretch, m.begin())
		for _, e := range m.transfer[:m.carried] {
			p.vectors.add(&r.composition, e.component, e.seconds, e.amount)
		}
		r.end = at
		return
	}
	p.become(&r.stretch, &m.sent)
	p.add(&r.stretch, p.number(p.components.ofRank(replay.TimePoll, -1, r.row)), at, 1)
}
