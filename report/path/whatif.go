package path

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
)

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
	sums := map[WhatIf]float64{} // seconds that go by each
	add := func(kind, name string, seconds float64) { sums[l.whatIf(kind, name)] += seconds }
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
				add(WhatIfBandwidth, l.cable(part.Level), part.Seconds)
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
		w.Slope, w.Gain = seconds, seconds*share(w.Kind)
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b WhatIf) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.What, b.What))
	})
	return list
}

// share returns which share of their time things take less after a change: what is 1 %
// quicker takes 1/1.01 of it.
func share(kind string) float64 {
	switch kind {
	case WhatIfOverhead, WhatIfLatency:
		return Change
	}
	return 1 - 1/(1+Change)
}

// whatIf is the what-if of a kind and a name, without what it gains.
func (l *levels) whatIf(kind, name string) WhatIf {
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
		if l.bothWays(name) {
			w.What += ", both ways"
		}
	}
	return w
}

// Apply returns the machine and the options with such a change: of Change as What says, of
// another one, or with less than 0 for the worse.
func (w *WhatIf) Apply(m replay.Machine, o replay.Options, change float64) (replay.Machine, replay.Options) {
	more, less := 1+change, 1-change
	switch w.Kind {
	case WhatIfKernel:
		m.Kernels = m.Kernels.Quicker(w.Name, more)
	case WhatIfSpeed:
		m.Factors = quicker(&m, more)
	case WhatIfOverhead:
		o.Network.SendOverhead = times(o.Network.SendOverhead, less)
		o.Network.IsendOverhead = times(o.Network.IsendOverhead, less)
		o.Network.RecvOverhead = times(o.Network.RecvOverhead, less)
	case WhatIfLatency:
		m.Platform = m.Platform.Scaled(func(int32) (float64, float64) { return 1, less })
	case WhatIfBandwidth:
		m.Platform = wider(m.Platform, w.Name, more)
	}
	return m, o
}

// quicker returns the factors of hosts that are so many times as quick.
func quicker(m *replay.Machine, factor float64) []float64 {
	factors := make([]float64, m.Platform.NumHosts())
	for h := range factors {
		factors[h] = factor
		if m.Factors != nil {
			factors[h] *= m.Factors[h]
		}
	}
	return factors
}

// times returns overheads that are so many times as long.
func times(list netmodel.Overheads, factor float64) netmodel.Overheads {
	list = slices.Clone(list)
	for i := range list {
		list[i].Fixed *= factor
		list[i].PerByte *= factor
	}
	return list
}

// wider returns a platform whose cables of a level, "" for all links, have so many times the bandwidth.
func wider(p *platforms.Platform, level string, factor float64) *platforms.Platform {
	levels, cables := p.Levels(), p.Cables()
	return p.Scaled(func(link int32) (float64, float64) {
		if level == "" || levels[cables[p.LevelOf(link)]] == level {
			return factor, 1
		}
		return 1, 1
	})
}
