package cut

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// nowhere is the place of a mark that a rank has not come to.
const nowhere = -1

// finder finds where a mark is: before which action of each rank, counted from 0.
type finder struct {
	mark   Mark
	symbol int     // of its phase or family
	seen   []int   // by rank: phases or operations so far
	places []int64 // by rank
}

// newFinder returns a finder of a mark, or an error that lists the names that the trace has instead.
func newFinder(h *trace.Header, m Mark) (*finder, error) {
	f := &finder{mark: m, seen: make([]int, h.Ranks), places: make([]int64, h.Ranks)}
	for rank := range f.places {
		f.places[rank] = nowhere
	}
	var names []string
	what := "phase"
	switch m.Kind {
	case PhaseBegin, PhaseEnd:
		names = h.Phases
	case CommFirst, CommLast:
		what = "communicator"
		for i := range h.CommFamilies {
			names = append(names, h.CommFamilies[i].Name)
		}
	default:
		return f, nil
	}
	if f.symbol = slices.Index(names, m.Name); f.symbol >= 0 {
		return f, nil
	}
	known := ""
	if len(names) > 0 {
		quoted := make([]string, min(10, len(names)))
		for i := range quoted {
			quoted[i] = textutil.Quote(names[i])
		}
		known = "; there are " + strings.Join(quoted, ", ")
		if len(quoted) < len(names) {
			known += ", ..."
		}
	}
	return nil, fmt.Errorf("mark %v: the trace has no such %s%s", m, what, known)
}

// see looks at the next action of a rank.
func (f *finder) see(r *trace.ActionReader, a *trace.Action) {
	rank, at := r.Cursor().Rank(), r.Index()
	here := &f.places[rank]
	switch f.mark.Kind {
	case Step:
		if *here == nowhere && r.Step() >= f.mark.Number {
			*here = at
		}
	case PhaseBegin, PhaseEnd:
		if a.Kind != trace.KindPhase || int(a.Sym) != f.symbol || (a.Flags&trace.FlagEnd != 0) != (f.mark.Kind == PhaseEnd) {
			return
		}
		if f.seen[rank]++; f.seen[rank] == f.mark.Number {
			*here = at
			if f.mark.Kind == PhaseEnd {
				*here = at + 1
			}
		}
	case CommFirst:
		if *here == nowhere && family(a) == f.symbol {
			*here = at
		}
	case CommLast:
		if family(a) == f.symbol {
			*here = at + 1
		}
	case AfterOperation:
		if operates(a) && a.Comm() == 0 {
			if f.seen[rank]++; f.seen[rank] == f.mark.Number {
				*here = at + 1
			}
		}
	}
}

// close says where the mark is once a rank has come to its end.
func (f *finder) close(r *trace.ActionReader) error {
	rank := r.Cursor().Rank()
	here := &f.places[rank]
	switch f.mark.Kind {
	case Begin:
		*here = 0
	case End:
		*here = r.Index()
	case AfterOperation:
		if f.mark.Number == 0 {
			*here = 0
		}
	}
	if *here != nowhere {
		return nil
	}
	so := ""
	if n := f.seen[rank]; n > 0 {
		so = fmt.Sprintf(": there are %d", n)
	}
	return fmt.Errorf("mark %v: rank %d does not come to it%s", f.mark, rank, so)
}

// operates reports whether an action is a collective operation.
func operates(a *trace.Action) bool {
	return a.Kind == trace.KindCollective || a.Kind == trace.KindIcollective
}

// family returns the family of the communicator that an action is on, -1 if it is on none.
func family(a *trace.Action) int {
	switch a.Kind {
	case trace.KindCollective, trace.KindIcollective:
		return int(a.Comm()) - 1
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindRecv, trace.KindIrecv,
		trace.KindStart, trace.KindExchange,
		trace.KindSyncExchange, trace.KindSendrecv, trace.KindIprobe, trace.KindProbe, trace.KindPoll, trace.KindNull,
		trace.KindAccess, trace.KindIaccess, trace.KindSync, trace.KindFile:
		return int(a.Sym)
	}
	return -1
}
