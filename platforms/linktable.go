package platforms

import (
	"fmt"
	"strings"

	"reprise/internal/textutil"
)

// A linkTable is the links of a cluster, in a few runs of equal links, so that a cluster of any size takes the same few
// bytes. This file also has levels, which name kinds of links (Levels, LevelOf), and scaled links (Scaled).
type linkTable struct {
	first int32 // platform's number of the table's link 0
	count int64
	runs  []linkRun
	// levels are the names of the kinds of links.
	levels []string
}

// A linkRun is links that are equal but for their names. name makes the name of the i-th.
type linkRun struct {
	start  int64    // in the table
	like   Link     // each, but for the name
	levels levelRun // of the table's
	name   func(i int32) string
}

// add appends a run of count >= 0 links like the given one, with the given levels in turn, and returns the platform's
// number of its first. The caller checks the count afterwards: until then the table may hold more links than a platform
// can.
func (t *linkTable) add(count int64, like Link, levels []string, name func(i int32) string) int32 {
	start, of := t.count, levelRun{int32(len(t.levels)), int32(len(levels))}
	if count > 0 {
		t.levels = append(t.levels, levels...)
	}
	t.runs = append(t.runs, linkRun{start, like, of, name})
	t.count = min(t.count+count, MaxLinks+1)
	return t.first + int32(start)
}

// run returns the run that holds link i of the table, and which of the run's links that is.
func (t *linkTable) run(i int32) (*linkRun, int32) {
	k := len(t.runs) - 1
	for t.runs[k].start > int64(i) {
		k--
	}
	return &t.runs[k], i - int32(t.runs[k].start)
}

// A level is links of one kind in one zone, such as the cables from hosts to switches in one
// direction: by levels, pictures and critical paths say where messages meet. The
// level follows from the number of a link, so none is stored for it.
type level struct {
	zone int32 // -1: of none
	name string
}

// levelRun is a run of levels, which links with consecutive numbers have in turn.
type levelRun struct{ first, count int32 }

func (r levelRun) of(i int32) int { return int(r.first + i%r.count) }

// maxLevelZone is how many bytes of the name of a zone stand in those of its levels.
const maxLevelZone = 60

// Levels returns the names of the kinds of links, at the numbers that LevelOf returns: the global loopback first, then
// zone by zone, as "dahu: host to switch". Directions of cables are kinds of their own.
func (p *Platform) Levels() []string {
	names := make([]string, len(p.levels))
	for i, l := range p.levels {
		names[i] = l.name
		if l.zone >= 0 {
			names[i] = textutil.Cut(p.zones[l.zone].name, maxLevelZone) + ": " + l.name
		}
	}
	return names
}

// LevelOf returns the index in Levels of the kind of link i of [0, NumLinks).
func (p *Platform) LevelOf(i int32) int {
	s := p.spanOf(i)
	if s.table == nil {
		return s.levels.of(i - s.first)
	}
	run, in := s.table.run(i - s.first)
	return int(s.levels.first) + run.levels.of(in)
}

// levelsIn returns the levels of these names in a zone, which it adds if there are none. If there is one of the first
// name, there are those of the others.
func (b *builder) levelsIn(zone int32, names ...string) levelRun {
	key := level{zone, names[0]}
	run, ok := b.levelRuns[key]
	if !ok {
		run = levelRun{int32(len(b.levels)), int32(len(names))}
		b.levelRuns[key] = run
		for _, name := range names {
			b.levels = append(b.levels, level{zone, name})
		}
	}
	return run
}

// cableLevels returns the names of the levels of cables between two kinds of nodes: of each direction, or of both.
func (s *clusterSpec) cableLevels(low, high string) []string {
	if s.split {
		return []string{low + " to " + high, high + " to " + low}
	}
	return []string{low + " to " + high + " and back"}
}

// treeNodes names the nodes of a level of a fat tree; level 0 is the hosts.
func treeNodes(level int) string {
	if level == 0 {
		return "host"
	}
	return fmt.Sprintf("level %d", level)
}

// Cables returns, for each of the Levels, the first level that is a direction of the same cables: quicker cables are
// quicker in both directions.
func (p *Platform) Cables() []int {
	cables := make([]int, len(p.levels))
	for i, l := range p.levels {
		cables[i] = i
		if i > 0 && l.zone == p.levels[i-1].zone && areOpposite(p.levels[i-1].name, l.name) {
			cables[i] = i - 1
		}
	}
	return cables
}

// areOpposite reports whether two levels of a zone are the directions of the same cables.
func areOpposite(there, back string) bool {
	if from, to, ok := strings.Cut(there, " to "); ok {
		return back == to+" to "+from
	}
	for _, ends := range [...][2]string{{", +", ", -"}, {", up", ", down"}} {
		if name, ok := strings.CutSuffix(there, ends[0]); ok {
			return back == name+ends[1]
		}
	}
	return false
}

// Scaled returns the platform with scaled links: the bandwidth and the latency of each link are those of the file times
// factors. Values of profiles, and the options for the global loopback, must be multiplied by [Platform.LinkFactors]
// where they are used. Routes stay, and so does the hash, which is that of the text.
func (p *Platform) Scaled(factors func(link int32) (bandwidth, latency float64)) *Platform {
	scaled := *p
	scaled.scale = func(link int32) (bandwidth, latency float64) {
		bandwidth, latency = factors(link)
		b, l := p.LinkFactors(link)
		return bandwidth * b, latency * l
	}
	return &scaled
}

// LinkFactors returns what Scaled has multiplied the bandwidth and the latency of link i by:
// 1 and 1 on a platform as its file says.
func (p *Platform) LinkFactors(i int32) (bandwidth, latency float64) {
	if p.scale == nil {
		return 1, 1
	}
	return p.scale(i)
}
