package netmodel

import (
	"math"

	"reprise/internal/eventqueue"
	"reprise/internal/keyheap"
	"reprise/internal/snapshot"
	"reprise/kernels/noise"
)

// Bundles, for crowds: where many ranks on few hosts send at once, as in a halo exchange, hundreds of flows take one
// route and have one level. They are one variable here, a bundle, which uses its links as many times as it has flows.
// The system has then one variable for each pair of hosts that talk. Network.Next finds a crowd (crowded) and calls
// goOver, which bundles all flows; from then on startBundled, nextBundled and advanceBundled do the work of Start, Next
// and Advance.
//
// A flow ends when the volume of its bundle has grown, since the flow began, by what the flow needs:
//
//	volume     integral of the level over time, level * s
//	a flow of size bytes needs (size + envelope) / gain
//
// So only the first end in a bundle is an event, and a new level changes none of its flows.

// bundle is the flows from one host to another.
type bundle struct {
	key     bundleKey
	way     route        // of one flow
	members keyheap.Heap // flows in their bandwidth phase, by the volume of the bundle at which they end
	flows   int          // in either phase
	sized   int          // members that the system knows of
	fresh   bool         // members have come or gone since the last solve
}

// timing is what a bundle that gets another clock needs: apart from the rest of it, as a crowd's bundles get others all
// the time, and theirs fill no more of the processor's caches than they must.
type timing struct {
	first float64 // volume of the bundle at which its first member ends; +Inf: there is none
	start float64 // volume of the clock when that of the bundle was 0
	clock int32   // that it goes by, in bundles.clocks; noClock while it has no members or is not solved yet
}

// clock is the volume of all bundles whose bottleneck is one link, as they have one level. A bundle without a
// bottleneck has a clock of its own.
type clock struct {
	level   float64      // of all bundles
	volume  float64      // integral of the level over time, at time since
	since   float64      // s
	end     float64      // volume at which the first member of them all ends; +Inf: there is none
	bundles keyheap.Heap // by the volume of the clock at which their first member ends
}

// noClock is the clock of bundles that have none.
const noClock = -1

// bundleKey names the flows that are one bundle, by their hosts and whether they have no latency phase. It is one
// number, as maps find those soonest.
type bundleKey uint64

// keyOf returns the key of flows from src to dst.
func keyOf(src, dst int32, instant bool) bundleKey {
	key := bundleKey(uint32(src))<<32 | bundleKey(uint32(dst))<<1
	if instant {
		key |= 1
	}
	return key
}

// src, dst and instant are what a key was made of.
func (k bundleKey) src() int32    { return int32(k >> 32) }
func (k bundleKey) dst() int32    { return int32(uint32(k) >> 1) }
func (k bundleKey) instant() bool { return k&1 != 0 }

// bundles is what a network knows of bundles.
type bundles struct {
	list   []bundle // by number of their variable
	timing []timing // by bundle
	clocks []clock  // those of the links, then those of the bundles
	links  int
	at     map[bundleKey]uint32
	places []int32 // by bundle: index among those of its clock
	free   []uint32
	of     []uint32         // by flow: its bundle
	ends   eventqueue.Queue // by clock: a time up to which no member ends
	fresh  []uint32         // bundles
}

// Bundles and clocks cost less than single flows if each flow that begins or ends changes the shares of more than crowd
// flows; where there are mates or more flows for each pair of hosts, if it changes more than shared (docs/experiments.md).
const (
	crowd  = 128
	shared = 3
	mates  = 3

	lookAfter = 1 << 16 // changes of shares after which a network looks for a crowd
)

// crowded adds the last solve to what is known of crowds, and reports whether the network should go over to bundles.
// It should not if the reference has solved flows that FATPIPEs tie together: with clocks it would have to solve all.
func (n *Network) crowded() bool {
	if len(n.system.Shares()) > 0 || n.meter != nil { // a meter looks at single flows
		n.shifts, n.looked = 0, n.stats.Events
		return false
	}
	if n.shifts += int64(len(n.system.Touched())); n.shifts <= n.lookAfter {
		return n.opts.Solver == SolverClocks
	}
	shifts, events := n.shifts, n.stats.Events-n.looked
	n.shifts, n.looked = 0, n.stats.Events
	return shifts > crowd*events || shifts > shared*events && n.flowsTogether() >= mates
}

// flowsTogether returns how many flows in their bandwidth phase there are for each pair of hosts that has some.
func (n *Network) flowsTogether() int {
	flows, pairs := 0, map[bundleKey]bool{}
	for id := range n.flows {
		if n.flows[id].since != noTime {
			flows++
			pairs[n.hosts[id]] = true
		}
	}
	return flows / max(1, len(pairs))
}

// goOver has all transfers from one host to another be one variable from now on, and the network work by clocks, if
// the options and the platform allow it. Next must have been called since the last change. The results are the same
// but for rounding.
func (n *Network) goOver() {
	if !n.opts.Contention || n.opts.Solver == SolverReference || n.opts.boundsShares() || n.changing != nil || n.bundles != nil {
		return
	}
	for id := range n.flows {
		if f := &n.flows[id]; f.since != noTime {
			n.progress(f)
			n.system.Disable(uint32(id))
		}
	}
	n.system.Solve()
	n.system.UseClocks()
	links := n.system.NumConstraints()
	s := &bundles{at: map[bundleKey]uint32{}, ends: eventqueue.New(links), links: links, clocks: make([]clock, links), of: make([]uint32, len(n.flows))}
	n.bundles = s
	for i := range s.clocks {
		s.clocks[i].end = math.Inf(1)
	}
	for id := range n.flows {
		if math.IsInf(n.events.Time(int32(id)), 1) {
			continue
		}
		i, _ := n.bundleOf(n.hosts[id]) // there is a route
		s.of[id] = i
		s.list[i].flows++
		if f := &n.flows[id]; f.since != noTime {
			n.events.Clear(int32(id))
			s.push(i, keyheap.Item{Key: f.remaining / f.gain, ID: int32(id)})
		}
	}
}

// startBundled is StartNoisy by bundles.
func (n *Network) startBundled(id int32, src, dst int, size int64, at float64, by *Noise, d noise.Draw) error {
	s, key := n.bundles, keyOf(int32(src), int32(dst), false)
	b, err := n.bundleOf(key)
	if err != nil {
		return err
	}
	phase := n.latencyPhase(&s.list[b].way, size)
	if phase == 0 {
		s.dropIfEmpty(b)
		key = keyOf(int32(src), int32(dst), true)
		b, _ = n.bundleOf(key) // there is a route
	}
	if by != nil {
		phase = by.Of(TimedLatency, phase, size, d)
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
	way, links, err := n.wayOf(key)
	if err != nil {
		return 0, err
	}
	b := uint32(len(s.list))
	if free := len(s.free); free > 0 {
		b, s.free = s.free[free-1], s.free[:free-1]
	} else {
		s.list, s.timing, s.places = append(s.list, bundle{}), append(s.timing, timing{}), append(s.places, 0)
		s.clocks = append(s.clocks, clock{end: math.Inf(1)})
		s.ends.Grow(len(s.clocks))
	}
	s.list[b], s.timing[b] = bundle{key: key, way: *way, members: s.list[b].members[:0]}, timing{first: math.Inf(1), clock: noClock}
	n.system.Set(b, &way.Variable, links)
	s.list[b].way.Weights = nil // those are the kind's
	s.at[key] = b
	return b, nil
}

// wayOf returns the way of the flows of a bundle, until the next call.
func (n *Network) wayOf(key bundleKey) (*route, []int32, error) {
	way, links, err := n.routes.find(key.src(), key.dst())
	if err == nil && key.instant() && way.Penalty != 1 {
		instant := *way
		instant.setPenalty(1, n.routes, links)
		way = &instant
	}
	return way, links, err
}

// join has flow id, with the factors that latencyPhase has noted, begin its bandwidth phase in bundle b at a time.
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

// nextBundled is Next by bundles.
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
		end := s.clocks[i].next()
		if end <= at {
			return at
		}
		s.ends.Set(i, end)
	}
}

// advanceBundled is Advance by bundles, up to a limit.
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
		done = append(done, n.leave(s.ends.First()))
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
	s, i := n.bundles, n.bundles.of[id]
	s.push(i, keyheap.Item{Key: s.volume(i, n.now) + f.remaining/f.gain, ID: int32(id)})
	if s.timing[i].clock != noClock {
		s.set(i)
	}
}

// push adds a member to bundle i.
func (s *bundles) push(i uint32, member keyheap.Item) {
	b := s.touch(i)
	b.members.Push(member)
	s.timing[i].first = b.members[0].Key
}

// volume returns the volume of bundle i now.
func (s *bundles) volume(i uint32, now float64) float64 {
	t := &s.timing[i]
	if t.clock == noClock {
		return 0
	}
	c := &s.clocks[t.clock]
	c.advance(now)
	return c.volume - t.start
}

// leave has the first member of a clock end now.
func (n *Network) leave(at int32) int32 {
	n.stats.Events++
	c := &n.bundles.clocks[at]
	c.advance(n.now)
	i := uint32(c.bundles[0].ID)
	b := n.bundles.touch(i)
	id, t := b.members.Pop().ID, &n.bundles.timing[i]
	if len(b.members) > 0 {
		t.first = b.members[0].Key
		n.bundles.set(i)
	} else {
		n.bundles.remove(i)
		t.first, t.clock = math.Inf(1), noClock
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
	n.bundles.ends.Set(at, c.next())
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
func (c *clock) advance(now float64) {
	if len(c.bundles) > 0 {
		c.volume += float64(c.level * (now - c.since))
	}
	c.since = now
}

// next returns when the first member ends.
func (c *clock) next() float64 {
	if c.end > math.MaxFloat64 {
		return c.end
	}
	return c.since + max(0, c.end-c.volume)/c.level
}

// solveBundled computes the shares after the changes since the last solve.
func (n *Network) solveBundled() {
	s := n.bundles
	for _, i := range s.fresh {
		n.resize(i)
	}
	n.system.Solve()
	changed, moved := n.system.ChangedClocks(), n.system.Moved()
	for _, c := range changed {
		s.clocks[c].advance(n.now)
	}
	for _, i := range moved {
		s.move(i, n.system.Clock(i), n.now)
	}
	for _, i := range s.fresh { // one that was empty in between is not among those
		if s.timing[i].clock == noClock {
			s.move(i, n.system.Clock(i), n.now)
			moved = append(moved, i)
		}
	}
	for _, c := range changed {
		s.setLevel(int32(c), n.system.ClockLevel(c))
	}
	for _, i := range moved {
		switch c := s.timing[i].clock; {
		case c == noClock:
		case c < int32(s.links):
			s.setLevel(c, n.system.ClockLevel(uint32(c)))
		default:
			s.setLevel(c, n.system.Level(i))
		}
	}
	for _, i := range s.fresh {
		s.list[i].fresh = false
		if c := s.timing[i].clock; c != noClock {
			s.ends.Set(c, s.clocks[c].next())
		}
		s.dropIfEmpty(i)
	}
	if n.watched != nil {
		n.watched.lookAtBundles(n)
	}
	s.fresh = s.fresh[:0]
	if n.summary != nil {
		n.summary.look(n)
	}
}

// move gives bundle i the clock of a link, or its own clock (-1).
func (s *bundles) move(i uint32, to int32, now float64) {
	t := &s.timing[i]
	if math.IsInf(t.first, 1) {
		return
	}
	if to < 0 {
		to = int32(s.links) + int32(i)
	}
	if to == t.clock {
		s.clocks[to].advance(now)
		return
	}
	volume := s.volume(i, now)
	if t.clock != noClock {
		s.remove(i)
	}
	c := &s.clocks[to]
	if len(c.bundles) == 0 {
		c.volume, c.level = 0, 0
	}
	c.advance(now)
	t.clock, t.start = to, c.volume-volume
	c.bundles.PushAt(keyheap.Item{Key: t.start + t.first, ID: int32(i)}, s.places)
	c.end = c.bundles[0].Key
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

// setLevel changes the level of a clock that has been brought up to date.
func (s *bundles) setLevel(at int32, level float64) {
	c := &s.clocks[at]
	c.level = level
	if end := c.next(); end < s.ends.Time(at) {
		s.ends.Set(at, end)
	}
}

// set moves bundle i, whose first member is another one now, to its place among the bundles of its clock.
func (s *bundles) set(i uint32) {
	t := &s.timing[i]
	c := &s.clocks[t.clock]
	c.bundles.SetAt(int(s.places[i]), t.start+t.first, s.places)
	c.end = c.bundles[0].Key
}

// remove takes bundle i from its clock.
func (s *bundles) remove(i uint32) {
	c := &s.clocks[s.timing[i].clock]
	c.bundles.RemoveAt(int(s.places[i]), s.places)
	c.end = math.Inf(1)
	if len(c.bundles) > 0 {
		c.end = c.bundles[0].Key
	}
}

// Queries of a flow, bundled or not.

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
func (w *watch) lookAtBundles(n *Network) {
	w.round++
	look := func(i uint32) {
		for _, m := range n.bundles.list[i].members {
			if int(m.ID) >= len(w.parts) || w.parts[m.ID].round != w.round {
				w.look(n, uint32(m.ID))
			}
		}
	}
	for _, i := range n.bundles.fresh {
		look(i)
	}
	for _, i := range n.system.Moved() {
		look(i)
	}
	for _, c := range n.system.ChangedClocks() {
		for _, f := range n.bundles.clocks[c].bundles {
			look(uint32(f.ID))
		}
	}
}

// state leaves out the ways, which follow from the hosts.
func (s *bundles) state(c *snapshot.State, n *Network) {
	snapshot.Slice(c, &s.list, func(b *bundle) {
		c.Vars((*uint64)(&b.key), &b.flows, &b.sized, &b.members)
	})
	snapshot.Slice(c, &s.timing, func(t *timing) { c.Vars(&t.first, &t.start, &t.clock) })
	snapshot.Slice(c, &s.clocks, func(k *clock) {
		c.Vars(&k.level, &k.volume, &k.since, &k.end, &k.bundles)
	})
	c.Vars(&s.places, &s.free, &s.of)
	s.ends.State(c, len(s.clocks))
	if !c.Reading() || c.Err() != nil {
		return
	}
	for i := range s.list {
		b := &s.list[i]
		if way, _, err := n.wayOf(b.key); err != nil {
			c.Fail(err)
		} else {
			b.way = *way
		}
		if b.flows > 0 {
			s.at[b.key] = uint32(i)
		}
	}
}
