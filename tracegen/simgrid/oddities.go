package simgrid

import (
	"fmt"

	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// odd is what is odd in a line that is played, or passed over.
type odd uint8

const (
	notOdd      odd = iota
	strayLine       // of another rank than the file's
	idleLine        // a wait that names no request
	otherLine       // the same, but it would if its numbers were meant as in other versions
	commLine        // makes a communicator
	toNobody        // a message from or to no rank
	derivedLine     // has a derived datatype
	numOdd
)

// oddities are what was odd in the lines of a rank. They are made with the first.
type oddities struct {
	lines [numOdd]struct {
		count int
		line  int    // the first
		what  string // in it
	}
	actors [numLineKinds]bool // some of the lines name actors
	old    bool               // some have the form of SimGrid before 3.20
}

// note notes that the line is odd; of several reasons the first counts.
func (f *fields) note(why odd, format string, args ...any) {
	if f.odd == notOdd {
		f.odd, f.what = why, textutil.Cut(fmt.Sprintf(format, args...), maxQuoted)
	}
}

// maxQuoted bounds what a warning quotes of a line, in bytes.
const maxQuoted = 120

// count counts an odd line.
func (s *stream) count(l *lines) {
	o := &s.oddities().lines[l.odd]
	if o.count == 0 {
		o.line, o.what = l.line, l.what
	}
	o.count++
	l.odd, l.what = notOdd, ""
}

func (s *stream) oddities() *oddities {
	if s.odd == nil {
		s.odd = &oddities{}
	}
	s.odds++
	return s.odd
}

// firstOf returns the number of rank 0 in lines of a kind, of which the rank has one.
func (s *stream) firstOf(t *Trace, kind lineKind) int64 {
	first := t.first(kind)
	if first > 0 && (s.odd == nil || !s.odd.actors[kind]) {
		s.oddities().actors[kind] = true
	}
	return first
}

// Warnings returns what was odd in what Fill, or Convert, has given out so far: the kinds
// of odd lines, each with its first place, by rank, and its number.
func (t *Trace) Warnings() []warning.Warning {
	var list warning.List
	list.Add(t.oldText()...)
	for kind := range numLineKinds {
		list.Add(t.actorLines(kind)...)
	}
	for why := strayLine; why < numOdd; why++ {
		list.Add(t.oddLines(why)...)
	}
	return list.All()
}

// oldText returns the warning that the text is one of SimGrid before 3.20, if it is.
func (t *Trace) oldText() []warning.Warning {
	for r := range t.streams {
		if o := t.oddOf(r); o != nil && o.old {
			return []warning.Warning{warning.At(t.name, 0,
				"a text of SimGrid before 3.20 (see %s): messages have no tags, and a wait ends the newest pending request, as in SimGrid's replay of that time", t.form.place)}
		}
	}
	return nil
}

// actorLines returns the warning that lines of a kind name actors, if they do.
func (t *Trace) actorLines(kind lineKind) []warning.Warning {
	for r := range t.streams {
		if o := t.oddOf(r); o == nil || !o.actors[kind] {
			continue
		}
		verb, last := "waits and tests name", "3.28"
		if kind == pairLines {
			verb, last = "sendRecv names", "3.29"
		}
		return []warning.Warning{warning.At(t.name, 0,
			"%s actors, which count from 1, as SimGrid 3.20 to %s wrote them (see %s): read as the ranks that are meant", verb, last, t.numbers[kind].place)}
	}
	return nil
}

// oddLines returns the warning of a kind of odd lines, if there are some.
func (t *Trace) oddLines(why odd) []warning.Warning {
	count, line, file, what := 0, 0, "", ""
	for r := range t.streams {
		o := t.oddOf(r)
		if o == nil || o.lines[why].count == 0 {
			continue
		}
		l := &o.lines[why]
		if count == 0 {
			line, file, what = l.line, t.fileOf(r), l.what
		}
		count += l.count
	}
	if count == 0 {
		return nil
	}
	if why == strayLine {
		return []warning.Warning{warning.At(t.name, 0, "ignored %s of other ranks, the first at %s:%d",
			textutil.Count(count, "line"), file, line)}
	}
	return []warning.Warning{warning.At(file, line, "%s: %s", what, t.explain(why, textutil.Count(count, "line")))}
}

// explain says what follows from so many odd lines of a kind.
func (t *Trace) explain(why odd, lines string) string {
	switch why {
	case idleLine:
		if t.isOld() {
			return "no request is pending, so it waits for nothing (" + lines + ")"
		}
		return "names no request that is pending, and so waits for nothing, as in SimGrid (" + lines + ")"
	case otherLine:
		meant := "actors, which count from 1"
		if t.first(waitLines) == 1 {
			meant = "ranks"
		}
		return fmt.Sprintf("names no request that is pending, though it would if its numbers were %s; those of other waits are not: it waits for nothing (%s)", meant, lines)
	case commLine:
		return "communicators are passed over, as in SimGrid: collective operations behind it are played with all ranks, and numbers are taken for those of all ranks (" + lines + ")"
	case toNobody:
		return "no rank (MPI_PROC_NULL), so there is no message (" + lines + ")"
	default:
		return "a derived datatype, whose size is not in the text: its messages are played as empty ones, as in SimGrid (" +
			lines + ")"
	}
}

// fileOf returns the name of the file of a rank.
func (t *Trace) fileOf(r int) string {
	if t.shared != nil {
		return t.shared.name
	}
	return t.streams[r].lines.name
}

// oddOf returns what was odd in the lines of rank r that were given out, nil if nothing was.
func (t *Trace) oddOf(r int) *oddities {
	if t.ahead != nil {
		return t.ahead.ranks[r].odd
	}
	return t.streams[r].odd
}
