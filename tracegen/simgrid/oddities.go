package simgrid

import (
	"fmt"

	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file notes what is odd in lines that can be read all the same, and makes warnings of it (Trace.Warnings).

// odd is what is odd in a line that is played, or passed over.
type odd uint8

// What may be odd in a line.
const (
	notOdd      odd = iota
	strayLine       // of another rank than the file's
	idleLine        // a wait that names no request
	otherLine       // a wait that would name one if its numbers were meant as in other versions
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

// oddities returns those of the rank for a change, which it counts.
func (s *stream) oddities() *oddities {
	if s.odd == nil {
		s.odd = &oddities{}
	}
	s.odds++
	return s.odd
}

// firstOf returns the number that rank 0 has in lines of a kind, and notes that the rank has such a line.
func (s *stream) firstOf(t *Trace, kind lineKind) int64 {
	first := t.numbers[kind]().found
	if first > 0 && (s.odd == nil || !s.odd.actors[kind]) {
		s.oddities().actors[kind] = true
	}
	return first
}

// Warnings returns what was odd in the actions that Fill, or Convert, has given out so far: for each kind of odd
// lines the first place, by rank, and how many lines there are.
func (t *Trace) Warnings() []warning.Warning {
	var list warning.List

	// The oddities of all ranks are summed up, with the first rank that has odd lines of a kind.
	var all oddities
	var first [numOdd]int
	for r := range t.streams {
		o := t.streams[r].odd
		if t.ahead != nil {
			o = t.ahead.ranks[r].odd
		}
		if o == nil {
			continue
		}
		all.old = all.old || o.old
		for kind := range o.actors {
			all.actors[kind] = all.actors[kind] || o.actors[kind]
		}
		for why := range o.lines {
			sum := &all.lines[why]
			if sum.count == 0 {
				first[why], sum.line, sum.what = r, o.lines[why].line, o.lines[why].what
			}
			sum.count += o.lines[why].count
		}
	}

	if all.old {
		list.Add(warning.At(t.name, 0, "a text of SimGrid before 3.20 (see %s): messages have no tags, "+
			"and a wait ends the newest pending request, as in SimGrid's replay of that time", t.form().place))
	}
	for kind, verb := range []string{waitLines: "waits and tests name", pairLines: "sendRecv names"} {
		last := []string{waitLines: "3.28", pairLines: "3.29"}[kind]
		if all.actors[kind] {
			list.Add(warning.At(t.name, 0, "%s actors, which count from 1, as SimGrid 3.20 to %s wrote them (see %s): "+
				"read as the ranks that are meant", verb, last, t.numbers[kind]().place))
		}
	}
	// The first place of a kind stands for all of its lines.
	for why := strayLine; why < numOdd; why++ {
		of := &all.lines[why]
		if of.count == 0 {
			continue
		}
		file, number := t.streams[first[why]].lines.name, textutil.Count(of.count, "line")
		if t.shared != nil {
			file = t.shared.name
		}
		follows := map[odd]string{ // from so many odd lines of a kind
			idleLine: "names no request that is pending, and so waits for nothing, as in SimGrid",
			commLine: "communicators are passed over, as in SimGrid: collective operations behind it are played with all " +
				"ranks, and numbers are taken for those of all ranks",
			toNobody: "no rank (MPI_PROC_NULL), so there is no message",
			derivedLine: "a derived datatype, whose size is not in the text: its messages are played as empty ones, " +
				"as in SimGrid",
		}[why]
		switch {
		case why == strayLine:
			list.Add(warning.At(t.name, 0, "ignored %s of other ranks, the first at %s:%d", number, file, of.line))
			continue
		case why == idleLine && t.isOld():
			follows = "no request is pending, so it waits for nothing"
		case why == otherLine:
			meant := "actors, which count from 1"
			if t.numbers[waitLines]().found == 1 {
				meant = "ranks"
			}
			follows = "names no request that is pending, though it would if its numbers were " + meant +
				"; those of other waits are not: it waits for nothing"
		}
		list.Add(warning.At(file, of.line, "%s: %s (%s)", of.what, follows, number))
	}
	return list.All()
}
