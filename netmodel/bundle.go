package netmodel

import (
	"math"

	"reprise/internal/eventqueue"
	"reprise/kernels/noise"
	"reprise/netmodel/maxmin"
)

// Bundles: where many ranks on few hosts send at once, as all of a halo exchange do, hundreds of
// flows take one route. All flows of a route have the same level at any time, so they are one
// variable here, a bundle, which uses its links as many times. That makes the system as small
// as there are pairs of hosts that talk.
//
// A flow ends when its bundle has got on, since the flow began, by the volume that the flow needs:
//
//	volume     integral of the level over time, level * s
//	a flow of size bytes needs (size + envelope) / gain
//
// So of a bundle only the first end is an event, and a new level changes none of its flows.

// bundle is the flows from one host to another.
type bundle struct {
	key     bundleKey
	way     route    // of one flow
	members []member // in their bandwidth phase: a heap, the first to end at the top
	flows   int      // in either phase

	sized int  // members that the system knows of
	fresh bool // members have come or gone since the last solve
}

// progress is how far the members of a bundle have got: what a new level changes, apart from the
// rest, as one event may change the levels of many bundles. 32 bytes.
type progress struct {
	level  float64 // of all members
	volume float64 // at time since
	since  float64 // s
	end    float64 // volume at which the first member ends; +Inf: there is none
}

// bundleKey names the flows that are one bundle.
type bundleKey struct {
	src, dst int32
	instant  bool // without a latency phase
}

// member is a flow of a bundle, and the volume of the bundle at which it ends.
type member struct {
	end float64
	id  int32
}

func (m member) before(other member) bool {
	return m.end < other.end || m.end == other.end && m.id < other.id
}

// bundles is what a network knows of bundles.
type bundles struct {
	list  []bundle   // by number of their variable
	got   []progress // likewise
	at    map[bundleKey]uint32
	free  []uint32
	of    []uint32         // by flow: its bundle
	ends  eventqueue.Queue // by bundle: a time up to which no member ends
	fresh []uint32         // bundles
}

// Bundle has all transfers from one host to another be one variable, if the options and the
// platform allow it. It must be called before the first Start. The results are the same but
// for rounding.
func (n *Network) Bundle() {
	if !n.opts.Contention || n.opts.Solver == SolverReference || n.opts.boundsShares() || n.changing != nil {
		return
	}
	n.bundles = &bundles{at: map[bundleKey]uint32{}, ends: eventqueue.New(0)}
	n.system.AllowResize()
}

// startBundled is StartNoisy.
func (n *Network) startBundled(id int32, src, dst int, size int64, at float64, by *Noise, d noise.Draw) error {
	s, key := n.bundles, bundleKey{int32(src), int32(dst), false}
	b, err := n.bundleOf(key)
	if err != nil {
		return err
	}
	phase := n.latencyPhase(&s.list[b].way, size)
	if phase == 0 {
		s.dropIfEmpty(b)
		key.instant = true
		b, _ = n.bundleOf(key) // there is a route
	}
	if by != nil {
		phase = by.Latency(phase, size, d)
	}
	n.join(uint32(id), b, at+phase)
	return nil
}

// bundleOf returns the number of a bundle, which begins if there is none.
func (n *Network) bundleOf(key bundleKey) (uint32, error) {
	s := n.bundles
	if b, ok := s.at[key]; ok {
		return b, nil
	}
	way, links, err := n.routes.find(key.src, key.dst)
	if err != nil {
		return 0, err
	}
	if key.instant && way.Penalty != 1 {
		instant := *way
		instant.setPenalty(1, n.routes, links)
		way = &instant
	}
	b := uint32(len(s.list))
	if free := len(s.free); free > 0 {
		b, s.free = s.free[free-1], s.free[:free-1]
	} else {
		s.list, s.got = append(s.list, bundle{}), append(s.got, progress{})
		s.ends.Grow(len(s.list))
	}
	s.list[b], s.got[b] = bundle{key: key, way: *way, members: s.list[b].members[:0]}, progress{end: math.Inf(1)}
	n.system.Set(b, &way.Variable, links)
	s.list[b].way.Weights = nil // those are the kind's
	s.at[key] = b
	return b, nil
}

// join has flow id, whose factors are noted, begin its bandwidth phase as one of bundle b at a
// time.
func (n *Network) join(id, b uint32, at float64) {
	s := n.bundles
	if int(id) >= len(n.flows) {
		n.reserve(id)
	}
	for len(s.of) < len(n.flows) {
		s.of = append(s.of, 0)
	}
	s.of[id] = b
	s.list[b].flows++
	f := &n.flows[id]
	f.gain, f.rate, f.remaining, f.since = n.lastF/s.list[b].way.Penalty, 0, n.lastSize, noTime
	n.factors[id] = n.lastF
	n.events.Set(int32(id), at)
	n.active++
	n.stats.Flows++
}

// nextBundled is Next.
func (n *Network) nextBundled() float64 {
	s := n.bundles
	if len(s.fresh) > 0 {
		n.solveBundled()
	}
	return min(n.events.Next(), s.firstEnd())
}

// firstEnd returns when the first member ends, as first does for flows.
func (s *bundles) firstEnd() float64 {
	for {
		at := s.ends.Next()
		if at > math.MaxFloat64 {
			return at
		}
		i := s.ends.First()
		end := s.got[i].next()
		if end <= at {
			return at
		}
		s.ends.Set(i, end)
	}
}

// advanceBundled is Advance up to a limit.
func (n *Network) advanceBundled(limit float64, done []int32) []int32 {
	s := n.bundles
	for {
		begin, end := n.events.Next(), s.firstEnd()
		if next := min(begin, end); next > limit || next > math.MaxFloat64 {
			return done
		}
		if begin <= end {
			n.enter(uint32(n.events.Pop()))
			continue
		}
		done = append(done, n.leave(uint32(s.ends.First())))
	}
}

// enter has flow id begin its bandwidth phase now.
func (n *Network) enter(id uint32) {
	n.stats.Events++
	f := &n.flows[id]
	f.since = n.now
	if n.summary != nil {
		n.summary.begin(n, id)
	}
	i := n.bundles.of[id]
	b, p := n.bundles.touch(i), &n.bundles.got[i]
	p.advance(n.now)
	b.push(member{p.volume + f.remaining/f.gain, int32(id)})
	p.end = b.members[0].end
}

// leave has the first member of bundle i end now.
func (n *Network) leave(i uint32) int32 {
	n.stats.Events++
	b, p := n.bundles.touch(i), &n.bundles.got[i]
	p.advance(n.now)
	id := b.pop()
	p.end = math.Inf(1)
	if len(b.members) > 0 {
		p.end = b.members[0].end
	}
	if n.watched != nil {
		n.watched.end(n, uint32(id))
	}
	if n.summary != nil {
		n.summary.end(n, uint32(id))
	}
	n.flows[id].since = noTime
	n.active--
	b.flows--
	n.bundles.ends.Set(int32(i), p.next())
	return id
}

// touch notes that members of bundle i come or go.
func (s *bundles) touch(i uint32) *bundle {
	b := &s.list[i]
	if !b.fresh {
		b.fresh = true
		s.fresh = append(s.fresh, i)
	}
	return b
}

// advance brings the volume up to date.
func (p *progress) advance(now float64) {
	p.volume += float64(p.level * (now - p.since))
	p.since = now
}

// next returns when the first member ends.
func (p *progress) next() float64 {
	if p.end > math.MaxFloat64 {
		return p.end
	}
	return p.since + max(0, p.end-p.volume)/p.level
}

// solveBundled computes the shares after the changes since the last solve.
func (n *Network) solveBundled() {
	s := n.bundles
	for _, i := range s.fresh {
		n.resize(i)
	}
	changed := n.system.Solve()
	for _, c := range changed {
		s.setLevel(c.Variable, c.Value, n.now)
	}
	for _, c := range n.system.Shares() {
		s.setLevel(c.Variable, n.system.Level(c.Variable), n.now)
	}
	for _, i := range s.fresh {
		b := &s.list[i]
		b.fresh = false
		s.ends.Set(int32(i), s.got[i].next())
		s.dropIfEmpty(i)
	}
	if n.watched != nil {
		n.watched.lookAtBundles(n, changed)
	}
	s.fresh = s.fresh[:0]
	if n.summary != nil {
		n.summary.look(n)
	}
}

// resize tells the system how many members bundle i has.
func (n *Network) resize(i uint32) {
	b := &n.bundles.list[i]
	now := len(b.members)
	switch {
	case now == b.sized:
		return
	case now == 0:
		n.system.Disable(i)
		b.sized = 0
		p := &n.bundles.got[i]
		p.level, p.volume = 0, 0
		return
	case b.sized == 0:
		n.system.Enable(i)
	}
	n.system.Resize(i, now)
	b.sized = now
}

// dropIfEmpty forgets a bundle without flows.
func (s *bundles) dropIfEmpty(i uint32) {
	if b := &s.list[i]; b.flows == 0 {
		delete(s.at, b.key)
		s.free = append(s.free, i)
	}
}

// setLevel changes the level of bundle i.
func (s *bundles) setLevel(i uint32, level, now float64) {
	p := &s.got[i]
	p.advance(now)
	p.level = level
	if end := p.next(); end < s.ends.Time(int32(i)) {
		s.ends.Set(int32(i), end)
	}
}

// push adds a member.
func (b *bundle) push(m member) {
	i := len(b.members)
	b.members = append(b.members, m)
	for i > 0 {
		up := (i - 1) / 2
		if !m.before(b.members[up]) {
			break
		}
		b.members[i] = b.members[up]
		i = up
	}
	b.members[i] = m
}

// pop takes the first member out.
func (b *bundle) pop() int32 {
	first, last := b.members[0].id, len(b.members)-1
	m := b.members[last]
	b.members = b.members[:last]
	if last == 0 {
		return first
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && b.members[c+1].before(b.members[c]) {
			c++
		}
		if !b.members[c].before(m) {
			break
		}
		b.members[i] = b.members[c]
		i = c
	}
	b.members[i] = m
	return first
}

// What a flow has, bundled or not.

func (n *Network) variableOf(id uint32) uint32 {
	if n.bundles != nil {
		return n.bundles.of[id]
	}
	return id
}

// limitOf returns the link that bounds flow id, -1 if none does.
func (n *Network) limitOf(id uint32) int32 { return n.system.Limit(n.variableOf(id)) }

// levelOf returns the level of flow id.
func (n *Network) levelOf(id uint32) float64 { return n.system.Level(n.variableOf(id)) }

// levelAlone returns the level that flow id would have without others.
func (n *Network) levelAlone(id uint32) float64 {
	if n.bundles != nil {
		return n.bundles.list[n.bundles.of[id]].way.MaxLevel
	}
	return n.system.MaxLevel(id)
}

// rateOf returns the rate of flow id in byte/s.
func (n *Network) rateOf(id uint32) float64 {
	if f := &n.flows[id]; n.bundles != nil && f.since != noTime {
		return n.levelOf(id) * f.gain
	}
	return n.flows[id].rate
}

// lookAtBundles is lookAll for the flows of the bundles that a solve was about.
func (w *watch) lookAtBundles(n *Network, changed []maxmin.Change) {
	w.round++
	look := func(i uint32) {
		for _, m := range n.bundles.list[i].members {
			if int(m.id) >= len(w.parts) || w.parts[m.id].round != w.round {
				w.look(n, uint32(m.id))
			}
		}
	}
	for _, i := range n.bundles.fresh {
		look(i)
	}
	for i := range changed {
		look(changed[i].Variable)
	}
	for _, i := range n.system.Touched() {
		look(i)
	}
}
