package path

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/replay/eventlog"
	"reprise/smpi"
)

// This file finds which changes of the machine would shorten a critical path: levels.whatIfs.

// levels tells by which kind of link a message is bound. It implements eventlog.Levels.
type levels struct {
	names    []string // of the platform, and behind them severalLevels and windowLevel
	cables   []int    // by level: the level that stands for both directions of its cables
	ofLink   []int32  // level, by link
	platform *platforms.Platform
	options  *smpi.Options
	hosts    []int32 // by rank
	recent   []pair  // by a hash of the hosts; a later pair takes the place of an earlier one
	route    []int32 // scratch
}

// pair is the bound of a message between two hosts that has its route for itself.
type pair struct {
	src, dst int32
	level    int32
	window   float64 // byte/s; +Inf: none
}

// Names of what binds messages that no kind of link does. They stand behind the platform's levels, as numbers of levels
// of their own.
const (
	severalLevels = "several kinds of links alike" // none of them is narrower than the others
	windowLevel   = "TCP window"
)

// numRecent is how many pairs of hosts are remembered: a message costs a hash then, in place of a walk along its route.
const numRecent = 1 << 12

// NumLevels implements eventlog.Levels.
func (l *levels) NumLevels() int { return len(l.names) }

// Level implements eventlog.Levels: the level of the link that a transfer shares with others in the end. If it
// has its route for itself by then, it is the level of the narrowest link of the route, or the TCP window.
func (l *levels) Level(t *eventlog.Transfer) int32 {
	if link := t.Link(); link >= 0 {
		return l.ofLink[link]
	}
	src, dst := t.Ranks()
	from, to := l.hosts[src], l.hosts[dst]
	p := &l.recent[(uint32(from)*2654435761+uint32(to)*40503)>>8%numRecent]
	if p.src != from || p.dst != to {
		*p = l.narrowest(from, to)
	}
	// A rate at the window is limited by that, however wide the links are.
	if t.Alone >= p.window {
		return int32(len(l.names) - 1)
	}
	return p.level
}

// narrowest finds the narrowest links of the route between two hosts, and the TCP window there.
func (l *levels) narrowest(src, dst int32) pair {
	var err error
	if l.route, err = l.platform.AppendRoute(l.route[:0], int(src), int(dst)); err != nil {
		l.route = l.route[:0] // no message takes it
	}
	p := pair{src: src, dst: dst, level: l.ofLink[platforms.LoopbackLink]}
	least, latency := math.Inf(1), 0.0
	for _, link := range l.route {
		bandwidth, seconds, _ := l.platform.LinkFigures(link)
		latency += seconds
		level := l.ofLink[link]
		// Both directions of a cable are alike; links of other levels that are as narrow are several levels.
		switch {
		case bandwidth < least:
			least, p.level = bandwidth, level
		case bandwidth == least && (int(p.level) >= len(l.cables) || l.cables[p.level] != l.cables[level]):
			p.level = int32(len(l.names) - 2)
		}
	}
	p.window = l.options.Window(latency + l.platform.Distance(int(src), int(dst)))
	return p
}

// Change is by how much what-ifs change the machine: 1 %.
const Change = 0.01

// Kinds of what-ifs, as WhatIf.Kind names them.
const (
	WhatIfKernel    = "kernel"    // a kernel, by name, is 1 % quicker on all hosts
	WhatIfSpeed     = "speed"     // all computation is
	WhatIfOverhead  = "overhead"  // what sends and receives cost ranks is 1 % less
	WhatIfLatency   = "latency"   // the latency of all links is
	WhatIfBandwidth = "bandwidth" // cables of a level, by name, or all links have 1 % more
)

// whatIfs returns the changes of the machine that shorten a path of such parts, the greatest
// gain first. What depends on polls has none: a poll sees a message when it comes to it.
func (l *levels) whatIfs(parts []Part) []WhatIf {
	// A change is a key, without its seconds: parts that go by the same change are added up.
	sums := map[WhatIf]float64{} // seconds that go by each
	add := func(kind, name string, seconds float64) {
		w := WhatIf{Kind: kind, Name: name}
		switch kind {
		case WhatIfKernel:
			w.What = fmt.Sprintf("%s %g %% quicker", name, 100*Change)
		case WhatIfSpeed:
			w.What = fmt.Sprintf("all computation %g %% quicker", 100*Change)
		case WhatIfOverhead:
			w.What = fmt.Sprintf("overheads of sends and receives %g %% less", 100*Change)
		case WhatIfLatency:
			w.What = fmt.Sprintf("latency of all links %g %% less", 100*Change)
		case WhatIfBandwidth:
			w.What = fmt.Sprintf("%g %% more bandwidth of %s", 100*Change, cmp.Or(name, "all links"))
			// A level that stands for the cables of another one is one of their directions.
			for level, cable := range l.cables {
				if level != cable && l.names[cable] == name {
					w.What += ", both ways"
					break
				}
			}
		}
		sums[w] += seconds
	}
	// Kernels count by themselves, and to all computation where there is other, of flop; links count to their level, and
	// to all links where several levels bound a message alike.
	compute, carried := 0.0, 0.0
	flop, alike := false, false
	for _, part := range parts {
		switch part.Kind {
		case KindKernel:
			add(WhatIfKernel, part.Name, part.Seconds)
			compute += part.Seconds
		case KindFlop:
			compute, flop = compute+part.Seconds, true
		case KindOverhead:
			add(WhatIfOverhead, "", part.Seconds)
		case KindLatency:
			add(WhatIfLatency, "", part.Seconds)
		case KindWire, KindContention:
			switch part.Level {
			case windowLevel:
				add(WhatIfLatency, "", part.Seconds)
				continue
			case severalLevels:
				alike = true
			default:
				add(WhatIfBandwidth, l.names[l.cables[slices.Index(l.names, part.Level)]], part.Seconds)
			}
			carried += part.Seconds
		}
	}
	if flop {
		add(WhatIfSpeed, "", compute)
	}
	if alike {
		add(WhatIfBandwidth, "", carried)
	}
	return sorted(sums)
}

// sorted returns what-ifs with their gains, the greatest first.
func sorted(sums map[WhatIf]float64) []WhatIf {
	list := make([]WhatIf, 0, len(sums))
	for w, seconds := range sums {
		share := 1 - 1/(1+Change) // a kernel that is 1 % quicker takes 1/1.01 of its time
		if w.Kind == WhatIfOverhead || w.Kind == WhatIfLatency {
			share = Change
		}
		w.Slope, w.Gain = seconds, seconds*share
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b WhatIf) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.What, b.What))
	})
	return list
}

// Apply returns the machine and the options with such a change: of Change as What says, of
// another one, or with less than 0 for the worse.
func (w *WhatIf) Apply(m replay.Machine, o replay.Options, change float64) (replay.Machine, replay.Options) {
	more, less := 1+change, 1-change
	switch w.Kind {
	case WhatIfKernel:
		m.Kernels = m.Kernels.Quicker(w.Name, more)
	case WhatIfSpeed:
		// Factors of hosts multiply those that --host-speed has set.
		factors := make([]float64, m.Platform.NumHosts())
		for h := range factors {
			factors[h] = more
			if m.Factors != nil {
				factors[h] *= m.Factors[h]
			}
		}
		m.Factors = factors
	case WhatIfOverhead:
		n := &o.Network
		// The lists are shared with the options that o is a copy of, so they are copied before they are changed.
		for _, list := range []*netmodel.Overheads{&n.SendOverhead, &n.IsendOverhead, &n.RecvOverhead} {
			*list = slices.Clone(*list)
			for i := range *list {
				(*list)[i].Fixed *= less
				(*list)[i].PerByte *= less
			}
		}
	case WhatIfLatency:
		m.Platform = m.Platform.Scaled(func(int32) (float64, float64) { return 1, less })
	case WhatIfBandwidth:
		p := m.Platform
		names, cables := p.Levels(), p.Cables()
		m.Platform = p.Scaled(func(link int32) (float64, float64) {
			if w.Name == "" || names[cables[p.LevelOf(link)]] == w.Name {
				return more, 1
			}
			return 1, 1
		})
	}
	return m, o
}
