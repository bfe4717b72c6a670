package netmodel

import "math"

// filling is the textbook solver: weighted max-min sharing by progressive filling
// over everything that was added to it, with the tolerances and in the order of
// arithmetic of SimGrid (src/kernel/lmm, maxmin.cpp):
//
//	rem[l] = capacity;  usage[l] = sum of w/p over its flows (max on a FATPIPE)
//	while a link with usage > 0 is left:
//	    m = the smallest rem/usage; V = the unfixed flows on links that reach m
//	    if a flow of V has bound*p < m: fix those with the smallest, at the bound
//	    else fix all of V at share m/p
//	    take what was fixed from rem and usage; drop links that are used up
//
// It is kept plain on purpose: it says what the answer is. Production uses it
// where flows of different penalties meet on FATPIPE links, because there the
// answer depends on the order of the roundings.
type filling struct {
	links []fillLink
	flows []fillFlow
	uses  []fillUse
	// scratch of one step
	saturated []int32
	chosen    []int32
}

// fillLink is one constraint.
type fillLink struct {
	capacity float64
	rem      float64 // capacity that is not yet given away
	usage    float64 // of the unfixed flows
	first    int32   // first use, chained by fillUse.nextOnLink; -1 at the end
	fatpipe  bool
	active   bool
}

// fillFlow is one variable. Its uses follow each other from index firstUse on.
type fillFlow struct {
	penalty  float64
	bound    float64
	share    float64 // the result: byte/s
	firstUse int32
	numUses  int32
	link     int32 // the link that it was fixed on, -1 if at its bound
	chosen   bool  // is in V now
	fixed    bool
}

// fillUse is one flow on one link.
type fillUse struct {
	link, flow int32
	nextOnLink int32
	usage      float64 // weight / penalty
}

func (s *filling) reset() {
	s.links, s.flows, s.uses = s.links[:0], s.flows[:0], s.uses[:0]
}

// addLink adds a link of capacity byte/s and returns its index.
func (s *filling) addLink(capacity float64, fatpipe bool) int32 {
	s.links = append(s.links, fillLink{capacity: capacity, first: -1, fatpipe: fatpipe})
	return int32(len(s.links) - 1)
}

// addFlow adds a flow with no links and returns its index.
func (s *filling) addFlow(penalty, bound float64) int32 {
	s.flows = append(s.flows, fillFlow{penalty: penalty, bound: bound, firstUse: int32(len(s.uses)), link: -1})
	return int32(len(s.flows) - 1)
}

// use makes the flow that was added last use link with usage weight/penalty. It
// is called at most once per link and flow.
func (s *filling) use(link int32, usage float64) {
	flow := int32(len(s.flows) - 1)
	s.uses = append(s.uses, fillUse{link: link, flow: flow, nextOnLink: s.links[link].first, usage: usage})
	s.links[link].first = int32(len(s.uses) - 1)
	s.flows[flow].numUses++
}

// solve computes the shares of all flows. eps is maxmin/precision. Flows without
// links get their bound.
func (s *filling) solve(eps float64) {
	for i := range s.flows {
		f := &s.flows[i]
		f.share, f.fixed = f.bound, f.numUses == 0
	}
	for i := range s.links {
		l := &s.links[i]
		l.rem = l.capacity
		l.usage = s.usageOf(l)
		l.active = l.usage > 0
	}
	for {
		m := s.level()
		if math.IsInf(m, 1) {
			return
		}
		s.choose(m)
		if len(s.chosen) == 0 { // usage is a rest of rounding
			for _, l := range s.saturated {
				s.links[l].active = false
			}
		}
		s.fixChosen(m, eps)
	}
}

// usageOf returns the sum, or on a FATPIPE the max, of the usages of the flows on l
// that are not fixed.
func (s *filling) usageOf(l *fillLink) float64 {
	usage := 0.0
	for u := l.first; u >= 0; u = s.uses[u].nextOnLink {
		switch {
		case s.flows[s.uses[u].flow].fixed:
		case l.fatpipe:
			usage = max(usage, s.uses[u].usage)
		default:
			usage += s.uses[u].usage
		}
	}
	return usage
}

// level returns the smallest rem/usage of the active links and lists those that
// reach it in s.saturated; +Inf if no link is active.
func (s *filling) level() float64 {
	m := math.Inf(1)
	s.saturated = s.saturated[:0]
	for i := range s.links {
		l := &s.links[i]
		if !l.active {
			continue
		}
		level := l.rem / l.usage
		if level < m {
			m = level
			s.saturated = s.saturated[:0]
		}
		if level == m {
			s.saturated = append(s.saturated, int32(i))
		}
	}
	return m
}

// choose puts into s.chosen the flows to fix at level m: those on the saturated
// links.
func (s *filling) choose(m float64) {
	s.chosen = s.chosen[:0]
	for _, l := range s.saturated {
		for u := s.links[l].first; u >= 0; u = s.uses[u].nextOnLink {
			f := &s.flows[s.uses[u].flow]
			if !f.fixed && !f.chosen {
				f.chosen, f.link = true, l
				s.chosen = append(s.chosen, s.uses[u].flow)
			}
		}
	}
}

// fixChosen fixes the chosen flows at level m, or, if some have their bounds
// below, only those with the lowest bound.
func (s *filling) fixChosen(m, eps float64) {
	lowest := math.Inf(1)
	for _, i := range s.chosen {
		f := &s.flows[i]
		if b := f.bound * f.penalty; b < m {
			lowest = min(lowest, b)
		}
	}
	for _, i := range s.chosen {
		f := &s.flows[i]
		f.chosen = false
		switch {
		case math.IsInf(lowest, 1):
			s.fix(f, m/f.penalty, eps)
		case math.Abs(float64(f.bound*f.penalty)-lowest) < eps || f.bound*f.penalty == lowest:
			f.link = -1
			s.fix(f, f.bound, eps)
		}
	}
}

// fix gives f its share and takes it from f's links.
func (s *filling) fix(f *fillFlow, share, eps float64) {
	f.share, f.fixed = share, true
	for _, use := range s.uses[f.firstUse : f.firstUse+f.numUses] {
		l := &s.links[use.link]
		if l.fatpipe {
			l.usage = s.usageOf(l)
		} else {
			l.rem -= float64(use.usage * f.penalty * share)
			if l.rem < l.capacity*eps {
				l.rem = 0
			}
			l.usage -= use.usage
			if l.usage < eps {
				l.usage = 0
			}
		}
		if l.usage <= eps || l.rem <= l.capacity*eps {
			l.active = false
		}
	}
}
