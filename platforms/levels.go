package platforms

import (
	"fmt"

	"reprise/internal/textutil"
)

// A level is links of one kind in one zone, such as the cables from hosts to switches in one
// direction: by levels, pictures and critical paths say where messages meet. As a kind is a
// run of link numbers, or takes turns with others in one, nothing is stored for a link.
type level struct {
	zone int32 // -1: of none
	name string
}

// levelRun is the levels that links with consecutive numbers have, in turn.
type levelRun struct{ first, count int32 }

func (r levelRun) of(i int32) int { return int(r.first + i%r.count) }

// maxLevelZone is how many bytes of the name of a zone stand in those of its levels.
const maxLevelZone = 60

// Levels returns the names of the kinds of links, at the numbers that LevelOf returns: the
// global loopback first, then zone by zone, as "dahu: host to switch". Directions of cables
// are kinds of their own.
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
	return int(s.levels.first) + s.table.level(i-s.first)
}

// levelsIn returns the levels of that name in a zone, which it adds if there are none. What
// has the first of the names has the others, too.
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

// listedLevels returns the levels of links that a zone lists.
func (b *builder) listedLevels(zone int32, split bool) levelRun {
	if split {
		return b.levelsIn(zone, "listed links, up", "listed links, down")
	}
	return b.levelsIn(zone, "listed links")
}

// cableLevels returns the names of the levels of cables between two kinds of nodes: of each
// direction, or of both.
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

// dimensionLevels returns the names of the levels of the cables in each dimension.
func (s *clusterSpec) dimensionLevels(dimensions int) (names []string) {
	for j := range dimensions {
		name := fmt.Sprintf("dimension %d", j)
		if s.split {
			names = append(names, name+", +", name+", -")
		} else {
			names = append(names, name)
		}
	}
	return names
}
