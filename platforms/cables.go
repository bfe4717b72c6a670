package platforms

import "strings"

// Cables returns, for each of the Levels, the first of those that are directions of the same
// cables: who lays quicker cables lays them for both.
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
