package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"reprise/internal/snapshot"
	"reprise/platforms"
	"reprise/trace"
	"reprise/trace/warning"
)

// This file computes the energy of a run (meter): that of hosts from the times in which their cores compute, as SimGrid's
// plugin host_energy does; that of links is the network's (netmodel, energy.go).
//
// A host draws Idle watts while none of its cores computes, else Epsilon + load*(Full-Epsilon); the load is the part of
// the speed of all its cores that computations and probes have. So its joules are
//
//	Idle * time + (Epsilon-Idle) * busy time + (Full-Epsilon) * (busy seconds of all cores)/cores
//
// and only the busy time depends on which computations overlap. Messages, overheads, waits, tests and sleeps need no
// core, as in SimGrid.

// Energy is the energy of a run. It is nil where the platform says of nothing what it draws.
type Energy struct {
	// of the hosts and of the links, in joules; nil if the platform does not say what they draw
	Joules     *float64 `json:"energy_j,omitempty"`
	LinkJoules *float64 `json:"link_energy_j,omitempty"`
	MeanWatts  float64  `json:"mean_watts"` // of hosts and links together
	// PeakWatts is the largest mean power of a part of the run, of which there are 128 to 256 of equal length; 0: not known
	PeakWatts     float64 `json:"peak_watts,omitempty"`
	PeakSeconds   float64 `json:"peak_interval_s,omitempty"` // the length of such a part
	GflopsPerWatt float64 `json:"gflops_per_watt,omitempty"` // the rate by MeanWatts; 0: no rate

	HostEnergies []NamedEnergy `json:"hosts,omitempty"` // of all hosts, ranks or not
	LinkEnergies []NamedEnergy `json:"links,omitempty"` // of the links of which the platform says what they draw
}

// NamedEnergy is the energy of one host or link.
type NamedEnergy struct {
	Name   string  `json:"name"`
	Joules float64 `json:"energy_j"`
}

// Total returns the joules of hosts and links.
func (e *Energy) Total() (joules float64) {
	for _, j := range [...]*float64{e.Joules, e.LinkJoules} {
		if j != nil {
			joules += *j
		}
	}
	return joules
}

// over sets what follows from the energies.
func (e *Energy) over(seconds, gflops float64) *Energy {
	if seconds > 0 {
		e.MeanWatts = e.Total() / seconds
	}
	if e.MeanWatts > 0 {
		e.GflopsPerWatt = gflops / e.MeanWatts
	}
	return e
}

// text is the energy in lines of a result: of the whole, and where it is known of the hosts that take most and least.
func (e *Energy) text(interval string) string {
	if e == nil {
		return ""
	}
	var parts []string
	for _, p := range [...]struct {
		of     string
		joules *float64
	}{{"hosts", e.Joules}, {"links", e.LinkJoules}} {
		if p.joules != nil {
			parts = append(parts, fmt.Sprintf("%.6g J of %s", *p.joules, p.of))
		}
	}
	text := fmt.Sprintf("energy %s%s: mean power %.6g W", strings.Join(parts, ", "), interval, e.MeanWatts)
	if e.PeakWatts > 0 {
		text += fmt.Sprintf(", peak %.6g W (mean of %.2g s)", e.PeakWatts, e.PeakSeconds)
	}
	if e.GflopsPerWatt > 0 {
		text += fmt.Sprintf(", %.4g Gflops/W", e.GflopsPerWatt)
	}
	if len(e.HostEnergies) > 1 {
		byJoules := func(a, b NamedEnergy) int { return cmp.Compare(a.Joules, b.Joules) }
		low, high := slices.MinFunc(e.HostEnergies, byJoules), slices.MaxFunc(e.HostEnergies, byJoules)
		text += fmt.Sprintf("\na host takes %.6g J (%s) to %.6g J (%s)", low.Joules, low.Name, high.Joules, high.Name)
	}
	return text + "\n"
}

// meter sums up the energy above that of an idle machine; nil where nothing has a power. It is an observer of the times
// of ranks.
type meter struct {
	engine *engine
	hosts  []meteredHost // by host; nil: none has a power
	ranks  []float64     // joules above idle, by rank
	curve  powerCurve
}

// meteredHost is the state of one host.
type meteredHost struct {
	watts  *platforms.HostWatts // nil: no power
	core   float64              // watts of a core that computes, above Epsilon
	share  float64              // of a core at its declared speed that a computation is
	joules float64              // above idle
	// up to when shared computations are counted, and when SimGrid first looks at it, seconds
	counted, looked float64
	// busy are the times in which a core computes, disjoint and ascending, as far as computations may yet overlap with
	// them; only if Epsilon is not Idle
	busy  []span
	room  int // length of busy from which on it is cut
	ranks []int32
}

// span is a time from one second to another.
type span struct{ From, To float64 }

// newMeter returns the meter of a machine, nil if nothing has a power.
func newMeter(e *engine) *meter {
	p := e.machine.Platform
	if !p.HasHostWatts() && len(p.LinkWatts()) == 0 {
		return nil
	}
	m := &meter{engine: e, ranks: make([]float64, len(e.ranks)), curve: powerCurve{1e-9, make([]float64, curveParts)}}
	e.network.RecordEnergy(func(from, to, joules float64) { m.curve.add(from, to, joules) })
	if !p.HasHostWatts() {
		return m
	}
	m.hosts = make([]meteredHost, p.NumHosts())
	ranks := e.machine.ranksOnHosts()
	for h := range m.hosts {
		host := p.Host(h)
		if w := p.HostWatts(h); w != nil && host.Speed > 0 {
			m.hosts[h] = meteredHost{watts: w, core: (w.Full - w.Epsilon) / float64(host.Cores), room: leastBusy, looked: math.Inf(1),
				share: min(w.Part, float64(host.Cores)/float64(max(1, ranks[h])))} // they use all cores at most
		}
	}
	for i := range p.Profiles() {
		if use := &p.Profiles()[i]; use.Kind.OfHost() {
			m.hosts[use.Host].looked = min(m.hosts[use.Host].looked, use.Profile.Begin().Time)
		}
	}
	for r, h := range e.machine.Hosts {
		m.hosts[h].ranks = append(m.hosts[h].ranks, int32(r))
	}
	return m
}

// leastBusy is how many times a host keeps before it cuts them.
const leastBusy = 64

// observer returns the observer that tells the meter of times.
func (m *meter) observer() Observer { return Observer{TimePasses: m.timePasses} }

// timePasses counts the time of a rank.
func (m *meter) timePasses(r int32, k TimeKind, _ int32, from, to float64) {
	e := m.engine
	h, rk := &m.hosts[e.machine.Hosts[r]], &e.ranks[r]
	if h.watts == nil {
		return
	}
	test := k == TimePoll && rk.stage == stageBegin // which sleeps
	if h.watts.Initial != h.watts.Idle {
		// SimGrid looks when a computation begins, a sleep ends, or a wait for one message begins after time 0.
		switch {
		case test || k == TimeSleep || k == TimeOverhead:
			h.looked = min(h.looked, to)
		case k == TimeCompute || k == TimePoll:
			h.looked = min(h.looked, from)
		case from > 0 && k != TimeExchange && (k != TimeWait || e.action(r, int(rk.pos)-1).Kind == trace.KindWait):
			h.looked = min(h.looked, from)
		}
	}
	if test || k != TimeCompute && k != TimePoll {
		return
	}
	core := h.share * (to - from) // seconds of a core
	switch {
	case rk.shared && rk.stage == stageLook:
		return // sharedUntil counts it
	case k == TimePoll:
		core *= e.options.IprobeCPUUsage
	}
	joules := float64(h.core * core)
	if rise := h.watts.Epsilon - h.watts.Idle; rise != 0 {
		joules += float64(rise * cover(&h.busy, from, to))
		if len(h.busy) > h.room {
			h.cut(e.ranks)
		}
	}
	h.joules += joules
	m.ranks[r] += joules
	m.curve.add(from, to, joules)
}

// sharedUntil counts the computations on shared cores of a host up to a time at which they change.
func (m *meter) sharedUntil(host int32, at float64) {
	if m.hosts == nil || m.hosts[host].watts == nil {
		return
	}
	e, h := m.engine, &m.hosts[host]
	since, p := h.counted, &e.cpus.hosts[e.cpus.index[host]-1]
	if at <= since {
		return
	}
	h.counted = at
	rate := 0.0
	for _, r := range p.active {
		rate += e.cpus.work[r].rate
	}
	if rate > 0 {
		load := min(1, rate*h.watts.Part/(e.speed(host)*p.cores))
		joules := float64((h.watts.Epsilon - h.watts.Idle + float64(load*(h.watts.Full-h.watts.Epsilon))) * (at - since))
		h.joules += joules
		m.ranks[p.active[0]] += joules
		m.curve.add(since, at, joules)
	}
}

// cover adds a time to others, which are disjoint and ascending, takes in those that it meets, and returns how many
// seconds of it were not among them.
func cover(list *[]span, from, to float64) (fresh float64) {
	times := *list
	first := sort.Search(len(times), func(i int) bool { return times[i].To >= from })
	joined, next := span{from, to}, first
	for fresh = to - from; next < len(times) && times[next].From <= to; next++ {
		t := times[next]
		fresh -= max(0, min(to, t.To)-max(from, t.From))
		joined = span{min(joined.From, t.From), max(joined.To, t.To)}
	}
	*list = slices.Replace(times, first, next, joined)
	return fresh
}

// cut forgets busy times before those that ranks of the host have yet to tell.
func (h *meteredHost) cut(ranks []rank) {
	told := math.Inf(1)
	for _, r := range h.ranks {
		if !ranks[r].over {
			told = min(told, ranks[r].charged)
		}
	}
	// The callback of a rank comes after it is charged: its own time is the last of these or before it.
	old := sort.Search(len(h.busy), func(i int) bool { return h.busy[i].To >= told })
	h.busy = slices.Delete(h.busy, 0, old)
	h.room = max(leastBusy, 2*len(h.busy))
}

// baseline returns the joules that an idle machine draws in a time: a host without speed counts as busy, as in SimGrid,
// and one that a profile switches off draws wattage_off. add, if set, is told of each power.
func (m *meter) baseline(host int, until float64, add func(from, to, watts float64)) (joules float64) {
	p := m.engine.machine.Platform
	w := p.HostWatts(host)
	if w == nil {
		return 0
	}
	on := w.Idle
	since, watts := 0.0, w.Initial
	if p.Host(host).Speed == 0 {
		on, watts = w.Full, w.Full
	}
	count := func(to float64) {
		if to > since {
			joules += float64(watts * (to - since))
			if add != nil {
				add(since, to, watts)
			}
			since = to
		}
	}
	if looked := m.hosts[host].looked; looked < until {
		count(looked)
		watts = on
	}
	for i := range p.Profiles() {
		if use := &p.Profiles()[i]; use.Kind == platforms.HostState && int(use.Host) == host {
			for at := use.Profile.Begin(); at.Index < use.Profile.Len() && at.Time < until; at = use.Profile.Next(at) {
				count(at.Time)
				if watts = on; !(use.Profile.Value(at) > 0) {
					watts = w.Off
				}
			}
		}
	}
	count(until)
	return joules
}

// energy returns the energy of a run that has lasted so long.
func (m *meter) energy(seconds, gflops float64) *Energy {
	p, e := m.engine.machine.Platform, &Energy{}
	if m.hosts != nil {
		sum := 0.0
		for h := range m.hosts {
			j := m.hosts[h].joules + m.baseline(h, seconds, func(from, to, watts float64) {
				m.curve.add(from, to, watts*(to-from))
			})
			e.HostEnergies = append(e.HostEnergies, NamedEnergy{p.Host(h).Name, j})
			sum += j
		}
		e.Joules = &sum
	}
	if links := m.engine.network.LinkEnergies(seconds); links != nil {
		sum := 0.0
		for _, l := range links {
			e.LinkEnergies = append(e.LinkEnergies, NamedEnergy{p.Link(l.Link).Name, l.Joules})
			sum += l.Joules
		}
		e.LinkJoules = &sum
	}
	e.PeakWatts, e.PeakSeconds = m.curve.peak(seconds)
	return e.over(seconds, gflops)
}

// warnings names what has no power though others have.
func (m *meter) warnings() (list []warning.Warning) {
	p, without, example := m.engine.machine.Platform, 0, ""
	for h := range m.hosts {
		if p.HostWatts(h) == nil {
			if without++; without == 1 {
				example = p.Host(h).Name
			}
		}
	}
	if without > 0 {
		list = append(list, warning.New("%d of %d hosts have no wattage_per_state and count as 0 W, the first is %q", without, len(m.hosts), example))
	}
	return list
}

// Parts of an estimate beside those of times: the joules of hosts and of links above those of an idle machine, divided
// by the number of ranks.
const energyParts = 2

// addParts adds them for rank r to the sums over all ranks.
func (m *meter) addParts(parts []float64, r int32) {
	parts = parts[len(parts)-energyParts:]
	parts[0] += m.ranks[r]
	parts[1] += m.engine.network.AboveIdle() / float64(len(m.ranks))
}

// parts returns them at the end.
func (m *meter) parts() []float64 {
	sums := make([]float64, energyParts)
	for r := range m.ranks {
		m.addParts(sums, int32(r))
	}
	return averages(sums, len(m.ranks))
}

// estimate returns the energy of a run of which the time and these parts are estimated.
func (m *meter) estimate(parts []float64, seconds, gflops float64) *Energy {
	e := &Energy{}
	if m.hosts != nil {
		sum := parts[0] * float64(len(m.ranks))
		for h := range m.hosts {
			sum += m.baseline(h, seconds, nil)
		}
		e.Joules = &sum
	}
	if watts := m.engine.machine.Platform.LinkWatts(); len(watts) > 0 {
		sum := parts[1] * float64(len(m.ranks))
		for _, w := range watts {
			sum += float64(w.Idle * seconds)
		}
		e.LinkJoules = &sum
	}
	return e.over(seconds, gflops)
}

// idleWatts returns what the machine draws when idle.
func (m *meter) idleWatts() (watts float64) {
	for h := range m.hosts {
		if w := m.engine.machine.Platform.HostWatts(h); w != nil {
			watts += w.Idle
		}
	}
	for _, w := range m.engine.machine.Platform.LinkWatts() {
		watts += w.Idle
	}
	return watts
}

// state is what has been counted.
func (m *meter) state(s *snapshot.State) {
	s.Vars(&m.ranks, &m.curve.width, &m.curve.joules)
	snapshot.Slice(s, &m.hosts, func(h *meteredHost) {
		s.Vars(&h.joules, &h.counted, &h.looked, &h.room, &h.busy)
	})
}

// powerCurve is the energy of a run by its parts of equal length, which double as the run gets longer.
type powerCurve struct {
	width  float64 // of a part, seconds
	joules []float64
}

// curveParts is the largest number of parts.
const curveParts = 256

// add adds an energy that is spent evenly over a time.
func (c *powerCurve) add(from, to, joules float64) {
	if to > maxTime {
		return
	}
	for to > c.width*curveParts {
		for i := range curveParts {
			sum := 0.0
			if i < curveParts/2 {
				sum = c.joules[2*i] + c.joules[2*i+1]
			}
			c.joules[i] = sum
		}
		c.width *= 2
	}
	first, last := min(int(from/c.width), curveParts-1), min(int(to/c.width), curveParts-1)
	if first == last {
		c.joules[first] += joules
		return
	}
	watts := joules / (to - from)
	for i := first; i <= last; i++ {
		c.joules[i] += float64(watts * (min(to, c.width*float64(i+1)) - max(from, c.width*float64(i))))
	}
}

// peak returns the largest power of a part of a run that has lasted so long, and the length of a part. The last part
// may be shorter.
func (c *powerCurve) peak(seconds float64) (watts, width float64) {
	for i, j := range c.joules {
		if length := min(c.width, seconds-float64(c.width*float64(i))); length > c.width/2 {
			watts = max(watts, j/length)
		}
	}
	return watts, c.width
}
