package capture

import (
	"fmt"
	"slices"

	"reprise/trace"
)

// phases are the levels of MPI_Pcontrol that the ranks name, as phases of the trace: from 1.
type phases struct {
	names []string
	of    map[int64]int32 // level to phase
}

func newPhases(surveys []*survey) *phases {
	var levels []int64
	for _, v := range surveys {
		for level := range v.levels {
			if level > 0 && !slices.Contains(levels, level) {
				levels = append(levels, level)
			}
		}
	}
	slices.Sort(levels)
	p := &phases{of: map[int64]int32{}}
	for _, level := range levels {
		p.names = append(p.names, fmt.Sprintf("pcontrol %d", level))
		p.of[level] = int32(len(p.names))
	}
	return p
}

// begin and end return the markers of a phase.
func (p *phases) begin(phase int32) int32 { return 2*phase - 2 }
func (p *phases) end(phase int32) int32   { return 2*phase - 1 }

func (p *phases) markers() (list []trace.Marker) {
	for i, name := range p.names {
		list = append(list, trace.Marker{Text: name, Phase: i + 1},
			trace.Marker{Text: "end of " + name, Phase: i + 1, End: true})
	}
	return list
}
