package path

import (
	"math"
	"slices"

	"reprise/platforms"
	"reprise/replay"
	"reprise/replay/eventlog"
	"reprise/smpi"
)

// levels knows what kind of link a message is bound by.
type levels struct {
	names    []string // of the platform, and behind them severalLevels and windowLevel
	cables   []int    // platform's, by level
	ofLink   []int32
	platform *platforms.Platform
	options  *smpi.Options
	hosts    []int32
	recent   []pair // by a hash of the hosts
	route    []int32
}

// pair is what binds a message between two hosts that has its route for itself.
type pair struct {
	src, dst int32
	level    int32
	window   float64 // byte/s; +Inf: none
}

// Names of what binds messages that no kind of link does.
const (
	severalLevels = "several kinds of links alike" // none of them is narrower than the others
	windowLevel   = "TCP window"
)

// numRecent is how many pairs of hosts are remembered.
const numRecent = 1 << 12

func newLevels(m *replay.Machine, o *smpi.Options) levels {
	l := levels{platform: m.Platform, options: o, hosts: m.Hosts, recent: make([]pair, numRecent)}
	l.names, l.cables = append(slices.Clone(m.Platform.Levels()), severalLevels, windowLevel), m.Platform.Cables()
	for i := range l.recent {
		l.recent[i].src = -1
	}
	l.ofLink = make([]int32, m.Platform.NumLinks())
	for i := range l.ofLink {
		l.ofLink[i] = int32(m.Platform.LevelOf(int32(i)))
	}
	return l
}

// NumLevels implements eventlog.Levels.
func (l *levels) NumLevels() int { return len(l.names) }

// Level implements eventlog.Levels: that of the link that a transfer shares with others in the end,
// or if it has its route for itself by then what is narrowest there.
func (l *levels) Level(t *eventlog.Transfer) int32 {
	if link := t.Link(); link >= 0 {
		return l.ofLink[link]
	}
	src, dst := t.Ranks()
	p := l.between(l.hosts[src], l.hosts[dst])
	if t.Alone >= p.window {
		return int32(len(l.names) - 1)
	}
	return p.level
}

// between returns the pair of two hosts.
func (l *levels) between(src, dst int32) *pair {
	p := &l.recent[(uint32(src)*2654435761+uint32(dst)*40503)>>8%numRecent]
	if p.src != src || p.dst != dst {
		*p = l.narrowest(src, dst)
	}
	return p
}

// narrowest looks at the route between two hosts.
func (l *levels) narrowest(src, dst int32) pair {
	var err error
	if l.route, err = l.platform.AppendRoute(l.route[:0], int(src), int(dst)); err != nil {
		l.route = l.route[:0] // no message takes it
	}
	p := pair{src: src, dst: dst, level: l.ofLink[platforms.LoopbackLink]}
	least, latency := math.Inf(1), 0.0
	for _, link := range l.route {
		bandwidth, seconds, _ := l.platform.LinkCapacity(link)
		latency += seconds
		level := l.ofLink[link]
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

// bothWays reports whether a level that stands for the cables of one is one direction of theirs.
func (l *levels) bothWays(level string) bool {
	for i, c := range l.cables {
		if i != c && l.names[c] == level {
			return true
		}
	}
	return false
}

// cable returns the name of the level that stands for the cables of one.
func (l *levels) cable(level string) string {
	return l.names[l.cables[slices.Index(l.names, level)]]
}
