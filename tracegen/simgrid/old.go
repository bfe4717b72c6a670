package simgrid

import (
	"fmt"
	"strings"

	"reprise/trace"
)

// SimGrid before 3.20 wrote messages without tags, "send PEER COUNT [TYPE]", waits and tests
// that name no request, and most versions spelled Isend, allReduce and the like. Its replay
// kept the pending requests of a rank on a stack: a wait ends the newest, a test asks for
// that, and waitAll ends all. No line says which form a text has, so the first that is
// possible in one form only decides, for all ranks.

// Forms of a line, and of the text.
const (
	newForm    int32 = iota // of SimGrid 3.20 and later
	oldForm                 // of SimGrid before 3.20
	eitherForm              // of a line
)

// isOld reports whether the text is one of SimGrid before 3.20. At the first call the files are read from their
// beginnings up to a line that tells; a text without such a line is a new one.
func (t *Trace) isOld() bool {
	if d := t.form.decided.Load(); d != 0 {
		return d-1 == oldForm
	}
	return t.form.reach(func() (found int32, place string) {
		found = eitherForm
		var memory slab
		for _, bytes := range samples {
			unread := false
			for _, l := range t.sources() {
				l.memory = &memory
				more := l.sample(bytes, func() bool {
					l.fields.next() // the rank
					found = formOf(&l.fields)
					return found == eitherForm
				})
				if found != eitherForm {
					return found, fmt.Sprintf("%s:%d", l.name, l.line)
				}
				unread = unread || more
			}
			if !unread {
				break
			}
		}
		return newForm, ""
	}) == oldForm
}

// formOf returns the form of a line whose rank has been read.
func formOf(f *fields) int32 {
	verb := string(f.next())
	switch verb {
	case "send", "isend", "recv", "irecv":
		switch n := f.left(); {
		case n == 2:
			return oldForm // peer and count
		case n > 3:
			return newForm // peer, tag, count and type
		}
		// Peer, tag and count, or peer, count and type, which was a number up to 6.
		f.next()
		f.next()
		if last := f.number("count"); f.err != nil || last > lastOldType || last < -1 {
			f.err = nil
			return newForm
		}
	case "wait":
		if f.done() {
			return oldForm
		}
		return newForm
	case "test":
		if !f.done() {
			return newForm
		}
	case "sendRecv", "location", "scan", "exscan":
		return newForm
	default:
		if oldSpelling(verb) {
			return oldForm
		}
	}
	return eitherForm
}

// lastOldType is the highest number of a datatype before SimGrid 3.20, that of a byte.
const lastOldType = 6

// oldVerbs are the actions that the replay before SimGrid 3.20 had, in lower case.
var oldVerbs = map[string]bool{
	"init": true, "finalize": true, "comm_size": true, "comm_split": true, "comm_dup": true, "compute": true, "sleep": true,
	"send": true, "isend": true, "recv": true, "irecv": true, "test": true, "wait": true, "waitall": true,
	"barrier": true, "bcast": true, "reduce": true, "allreduce": true, "alltoall": true, "alltoallv": true, "gather": true, "gatherv": true,
	"allgather": true, "allgatherv": true, "scatter": true, "scatterv": true, "reducescatter": true,
}

// oldSpelling reports whether a verb is another spelling of one of oldVerbs: SimGrid 3.10 to 3.13 took
// any, the others Isend, allReduce, allToAllV and the like.
func oldSpelling(verb string) bool { return !oldVerbs[verb] && oldVerbs[strings.ToLower(verb)] }

// old is isOld for a line of the rank that the old form reads differently, of which there is a warning.
func (s *stream) old(t *Trace) bool {
	old := t.isOld()
	if old && (s.odd == nil || !s.odd.old) {
		s.oddities().old = true
	}
	return old
}

// otherForm says that the line is not in the form of the text.
func (t *Trace) otherForm() string {
	decided := "from 3.20 on"
	if t.isOld() {
		decided = "before 3.20"
	}
	if t.form.place == "" {
		return "the text has the form of SimGrid " + decided
	}
	return "the text has the form of SimGrid " + decided + ", by " + t.form.place + ", and the two cannot be mixed"
}

// untagged parses "PEER COUNT [TYPE]", where counts are as much as least.
func (t *Trace) untagged(f *fields, a *trace.Action, least int64) {
	switch n := f.special(anySource, undefined, procNull); {
	case n == 0:
		a.Peer = t.rank(f, "peer")
	case least < 0 && n != procNull: // a receive
		a.Peer = trace.AnySource
	default:
		f.note(toNobody, "with %d", n)
		return
	}
	if f.done() {
		f.failf("count is missing behind peer (SimGrid 3.18 and 3.19 left out the peer of a receive from any rank)")
	}
	// A third number is a datatype if it is the last and small enough; else the line has a tag.
	count := f.integer("count", least, maxBytes)
	if begin := f.at; f.left() > 1 || !f.done() && f.number("datatype") > lastOldType {
		f.failf("there is a tag before the count; %s", t.otherForm())
	} else {
		f.at = begin
	}
	a.X[0] = t.size(f, count)
}
