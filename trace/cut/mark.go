package cut

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// Kind says what a mark is.
type Kind int

// The kinds of marks.
const (
	Begin          Kind = iota // of the trace
	End                        // of the trace
	Step                       // Number begins
	PhaseBegin                 // Name begins for the Number-th time, counted from 1
	PhaseEnd                   // likewise ends
	CommFirst                  // before a rank first uses the communicator that the family Name has for it
	CommLast                   // after it has last used it
	AfterOperation             // after Number collective operations of all ranks
)

// Mark is a place that each rank comes to.
type Mark struct {
	// The kind says which of the other fields have a meaning.
	Kind   Kind
	Name   string // of a phase, or of a family
	Number int
}

// words are how marks are written, by kind. Parse reads them, and String writes them.
var words = [...]string{Begin: "begin", End: "end", Step: "step", PhaseBegin: "phase", PhaseEnd: "end-of-phase",
	CommFirst: "comm", CommLast: "end-of-comm", AfterOperation: "collective"}

// String returns the text that Parse reads.
func (m Mark) String() string {
	text := words[m.Kind]
	switch m.Kind {
	case PhaseBegin, PhaseEnd:
		text += ":" + m.Name
		// The number may be left out if it is 1, unless the name itself ends like a number of times.
		if _, n := numbered(m.Name); m.Number != 1 || n > 0 {
			text += fmt.Sprint(":", m.Number)
		}
	case CommFirst, CommLast:
		text += ":" + m.Name
	case Step, AfterOperation:
		text += fmt.Sprint(":", m.Number)
	}
	return text
}

// numbered returns the two parts of NAME:N, with a number above 0; of another text the number is 0.
// Names may contain colons: the last one counts.
func numbered(text string) (name string, n int) {
	at := strings.LastIndexByte(text, ':')
	if at <= 0 {
		return text, 0
	}
	n, err := strconv.Atoi(text[at+1:])
	if err != nil || n < 1 {
		return text, 0
	}
	return text[:at], n
}

// Parse reads a mark: begin, end, step:N, phase:NAME or phase:NAME:N, end-of-phase:NAME or
// end-of-phase:NAME:N, comm:NAME, end-of-comm:NAME, collective:N.
func Parse(text string) (Mark, error) {
	word, rest, has := strings.Cut(text, ":")
	for kind, w := range words {
		if w != word {
			continue
		}
		m := Mark{Kind: Kind(kind), Name: rest, Number: 1}
		switch m.Kind {
		case Begin, End:
			if has {
				return m, fmt.Errorf("mark %s, want %s alone", textutil.Quote(text), word)
			}
			return Mark{Kind: m.Kind}, nil
		case Step, AfterOperation:
			n, err := strconv.Atoi(rest)
			if err != nil || n < 0 {
				return m, fmt.Errorf("mark %s, want %s:N with a whole number of at least 0", textutil.Quote(text), word)
			}
			return Mark{Kind: m.Kind, Number: n}, nil
		case PhaseBegin, PhaseEnd:
			if name, n := numbered(rest); n > 0 {
				m.Name, m.Number = name, n
			}
		default:
			m.Number = 0
		}
		if m.Name == "" {
			return m, fmt.Errorf("mark %s, want %s:NAME", textutil.Quote(text), word)
		}
		return m, nil
	}
	return Mark{}, fmt.Errorf("mark %s, want begin, end, step:N, phase:NAME, end-of-phase:NAME, comm:NAME, end-of-comm:NAME or collective:N", textutil.Quote(text))
}

// Found is a mark that a trace has, with how much there is of what it names.
type Found struct {
	Mark string `json:"mark"`
	What string `json:"what"`
}

// List returns the marks that a trace has: its steps and, unless ranks poll, phases, communicators
// that are used, and collective operations of all ranks.
// It walks through all actions, except if ranks poll: then no marks but steps can be used.
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
	// How often each rank comes to each phase, communicator and operation of all ranks.
	err := t.Walk(trace.Walk{See: func(r *trace.ActionReader, a *trace.Action) (bool, error) {
		rank := r.Cursor().Rank()
		if a.Kind == trace.KindPhase && a.Flags&trace.FlagEnd == 0 {
			count(phases, int(a.Sym), rank)
		}
		if f := a.Family(); f >= 0 && f < len(comms) {
			count(comms, f, rank)
		}
		if a.Operates() && a.Comm() == 0 {
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
	// Marks must be there for all ranks: the rank with the fewest says how many can be used.
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

// nowhere is the place of a mark that a rank has not come to.
const nowhere = -1

// finder finds the place of a mark for each rank: the number, from 0, of the first action behind the mark. It
// looks at the actions of all ranks, in whatever order the ranks take turns.
type finder struct {
	mark   Mark
	symbol int     // of its phase or family
	seen   []int   // by rank: phases or operations so far
	places []int64 // by rank
}

// newFinder returns a finder of a mark, or an error that lists the names that the trace has instead.
func newFinder(h *trace.Header, m Mark) (*finder, error) {
	f := &finder{mark: m, seen: make([]int, h.Ranks), places: slices.Repeat([]int64{nowhere}, h.Ranks)}
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

// see looks at the next action of a rank. The place of a mark that is the last of its kind moves on each time;
// any other stays where it was first found.
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
		if *here == nowhere && a.Family() == f.symbol {
			*here = at
		}
	case CommLast:
		if a.Family() == f.symbol {
			*here = at + 1
		}
	case AfterOperation:
		if a.Operates() && a.Comm() == 0 {
			if f.seen[rank]++; f.seen[rank] == f.mark.Number {
				*here = at + 1
			}
		}
	}
}

// close says where the mark is once a rank has come to its end. Marks that are not found by looking at actions are
// set here: the begin, the end, and the place before the first operation.
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
