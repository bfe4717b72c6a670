package cut

import (
	"fmt"
	"io"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// Found is a mark that a trace has, with how much there is of what it names.
type Found struct {
	Mark string `json:"mark"`
	What string `json:"what"`
}

// List returns the marks that a trace has: its steps and, unless ranks poll, phases, communicators
// that are used, and collective operations of all ranks.
func List(t *trace.Trace) ([]Found, error) {
	if t.IsStream() {
		return nil, errStream
	}
	h := t.Header()
	var list []Found
	if infos := t.ChunkInfos(); len(infos) > 0 {
		first, last := infos[0].First, infos[len(infos)-1].Last
		list = append(list, Found{fmt.Sprintf("step:%d to step:%d", first, last),
			textutil.Counted(int64(last-first+1), "step")})
	}
	if polls(t) {
		return list, nil
	}
	phases, comms, operations := make([][]int64, len(h.Phases)), make([][]int64, len(h.CommFamilies)), make([]int64,
		h.Ranks)
	count := func(of [][]int64, i int, rank int32) { // of what nobody comes to nothing is kept
		if of[i] == nil {
			of[i] = make([]int64, h.Ranks)
		}
		of[i][rank]++
	}
	err := t.Walk(trace.Walk{See: func(r *trace.ActionReader, a *trace.Action) (bool, error) {
		rank := r.Cursor().Rank()
		if a.Kind == trace.KindPhase && a.Flags&trace.FlagEnd == 0 {
			count(phases, int(a.Sym), rank)
		}
		if f := family(a); f >= 0 && f < len(comms) {
			count(comms, f, rank)
		}
		if operates(a) && a.Comm() == 0 {
			operations[rank]++
		}
		return true, nil
	}})
	if err != nil {
		return nil, err
	}
	for i, name := range h.Phases {
		list = append(list, found(Mark{Kind: PhaseBegin, Name: name, Number: 1}, phases[i], "time")...)
	}
	for i := range h.CommFamilies {
		list = append(list, found(Mark{Kind: CommFirst, Name: h.CommFamilies[i].Name}, comms[i], "call")...)
	}
	if n := slices.Min(operations); n > 0 {
		list = append(list, Found{fmt.Sprintf("collective:1 to collective:%d", n), textutil.Counted(n, "operation") +
			" of all ranks"})
	}
	return list, nil
}

// found says how often the ranks come to what a mark names; nothing unless all do.
func found(m Mark, counts []int64, noun string) []Found {
	if counts == nil {
		return nil
	}
	low, high := slices.Min(counts), slices.Max(counts)
	switch low {
	case 0:
		return nil
	case high:
		return []Found{{m.String(), textutil.Counted(low, noun) + " on each rank"}}
	}
	return []Found{{m.String(), fmt.Sprintf("%s to %s on a rank", textutil.Thousands(low), textutil.Counted(high, noun))}}
}

// WriteList prints marks for people.
func WriteList(w io.Writer, list []Found) error {
	width := 0
	for _, f := range list {
		width = max(width, len(f.Mark))
	}
	for _, f := range list {
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", width, f.Mark, f.What); err != nil {
			return err
		}
	}
	return nil
}
