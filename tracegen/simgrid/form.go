package simgrid

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"reprise/trace"
)

// This file finds out which version of SimGrid wrote a text, as no line says so: its form (Trace.formOfText), and how
// it numbers ranks (Trace.firstIn).
//
// SimGrid before 3.20 wrote messages without tags, "send PEER COUNT [TYPE]", and waits and tests that name no request;
// most of these versions spelled verbs as Isend, allReduce and the like. Their replay kept the pending requests of a
// rank on a stack: a wait ends the newest, a test asks for the newest, and waitAll ends all. The first line that is
// possible in one form only decides for all ranks.

// Forms of a line, and of the text.
const (
	newForm    = iota // of SimGrid 3.20 and later
	oldForm           // of SimGrid before 3.20
	eitherForm        // of a line
)

// formOfText returns the form of the text, by the first line that tells; a text without such a line is a new one.
func (t *Trace) formOfText() verdict {
	return t.decide(func(_ int, l *lines, bytes int64) (*verdict, bool) {
		found := int64(eitherForm)
		more := l.sample(bytes, func() bool {
			l.fields.next() // the rank
			found = formOf(&l.fields)
			return found == eitherForm
		})
		if found == eitherForm {
			return nil, more
		}
		return &verdict{found, fmt.Sprintf("%s:%d", l.name, l.line)}, more
	})
}

// isOld reports whether the text is one of SimGrid before 3.20.
func (t *Trace) isOld() bool { return t.form().found == oldForm }

// formOf returns the form of a line whose rank has been read.
func formOf(f *fields) int64 {
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
var oldVerbs = strings.Fields(`init finalize comm_size comm_split comm_dup compute sleep send isend recv irecv test wait
	waitall barrier bcast reduce allreduce alltoall alltoallv gather gatherv allgather allgatherv scatter scatterv
	reducescatter`)

// oldSpelling reports whether a verb is another spelling of one of oldVerbs: SimGrid 3.10 to 3.13 took
// any, the others Isend, allReduce, allToAllV and the like.
func oldSpelling(verb string) bool {
	plain := strings.ToLower(verb)
	return verb != plain && slices.Contains(oldVerbs, plain)
}

// old returns what isOld does, for a line that the old form reads differently. For an old text it notes a warning.
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
	place := t.form().place
	if place == "" {
		return "the text has the form of SimGrid " + decided
	}
	return "the text has the form of SimGrid " + decided + ", by " + place + ", and the two cannot be mixed"
}

// SimGrid before 3.29 wrote the numbers of actors, which are a rank's plus one, into waits and tests, and before
// 3.30 into sendRecv, though its replays took them for ranks. So the numbers in these lines may be ranks or
// actors. What the lines name decides it, once for all ranks.

// lineKind is a kind of lines with a numbering of its own.
type lineKind int

// Kinds of lines that may number actors.
const (
	waitLines lineKind = iota // wait and test
	pairLines                 // sendRecv
	numLineKinds
)

// verdict is an answer about a text that its lines give, once for all ranks.
type verdict struct {
	found int64
	place string // of the first line that told; "": none did, and found is 0
}

// samples are the numbers of bytes of each file that are read for a verdict: the next number if the lines so far
// give none.
var samples = [...]int64{64 << 10, 4 << 20, math.MaxInt64}

// sources returns the files as they are before their first line.
func (t *Trace) sources() []lines {
	if t.shared != nil {
		return []lines{{path: t.shared.path, name: t.shared.name}}
	}
	files := make([]lines, len(t.streams))
	for r := range files {
		files[r] = lines{path: t.streams[r].lines.path, name: t.streams[r].lines.name}
	}
	return files
}

// sample calls visit with the lines in the first bytes of a file, until visit returns false or a line is wrong,
// which is reported when the line is read for its action. It reports whether more bytes follow.
func (l *lines) sample(bytes int64, visit func() bool) (more bool) {
	for l.next() == nil {
		if l.offset-int64(len(l.buf)-l.at) > bytes {
			return true
		}
		if !visit() {
			return false
		}
	}
	return false
}

// decide reads the beginnings of all files, and more of them as long as there is no verdict. tell looks at a file
// up to a number of bytes, and returns a verdict or nil, and whether more bytes follow. The files are read anew,
// so that the verdict depends neither on the caller nor on the lines read so far.
func (t *Trace) decide(tell func(file int, l *lines, bytes int64) (v *verdict, more bool)) verdict {
	var memory slab
	for _, bytes := range samples {
		unread := false
		for r, l := range t.sources() {
			l.memory = &memory
			v, more := tell(r, &l, bytes)
			if v != nil {
				return *v
			}
			unread = unread || more
		}
		if !unread {
			break
		}
	}
	return verdict{}
}

// firstIn returns the number of rank 0 in lines of a kind, by those of the first rank whose lines tell; 0 if none do.
func (t *Trace) firstIn(kind lineKind) verdict {
	return t.decide(func(file int, l *lines, bytes int64) (*verdict, bool) {
		of := map[int64]*evidence{} // by rank
		more := l.sample(bytes, func() bool {
			rank := l.rank(MaxRanks - 1)
			if l.err != nil {
				return false
			}
			if rank >= int64(t.ranks) || t.shared == nil && rank != int64(file) {
				return true
			}
			e := of[rank]
			if e == nil {
				e = &evidence{rank: int32(rank)}
				of[rank] = e
			}
			e.add(l, kind, int64(t.ranks))
			return t.shared != nil || e.votes[0]+e.votes[1] < enoughVotes
		})
		for _, rank := range slices.Sorted(maps.Keys(of)) {
			switch e := of[rank]; {
			case e.votes[1] > e.votes[0]:
				return &verdict{1, e.place[1]}, more
			case e.votes[0] > e.votes[1]:
				return &verdict{0, e.place[0]}, more
			}
		}
		return nil, more
	})
}

// enoughVotes of a rank are not added to.
const enoughVotes = 16

// evidence is what lines of a rank tell of their numbers: whether these are ranks (0), or those plus one (1).
type evidence struct {
	rank    int32
	pending [2]requests // if they are ranks, and if they are not
	votes   [2]int      // lines that make sense so
	place   [2]string   // of the first that makes sense only so
}

// add adds what a line tells, behind its rank.
func (e *evidence) add(l *lines, kind lineKind, ranks int64) {
	f := &l.fields
	number := func() int32 { return int32(f.integer("number", math.MinInt32, math.MaxInt32)) }
	post := func(k key) {
		for i := range e.pending {
			e.pending[i].add(k)
		}
	}
	var sense [2]bool // whether the line makes sense one way or the other
	switch verb := string(f.next()); {
	case verb == "waitall":
		e.pending = [2]requests{}
	case verb == "isend" && kind == waitLines:
		peer := number()
		post(key{e.rank, peer, tag(f)})
	case verb == "irecv" && kind == waitLines:
		peer := number()
		if peer == anySource || peer == undefined {
			peer = trace.AnySource
		}
		post(key{peer, e.rank, wildTag(f)})

	// A wait or a test makes sense if it names a request that is pending.
	case (verb == "wait" || verb == "test") && kind == waitLines:
		src, dst, tag := number(), number(), wildTag(f)
		for i := range sense {
			k, ok := messageKey(int64(src), int64(dst), tag, int64(i), ranks)
			if !ok || l.err != nil {
				continue
			}
			_, sense[i] = e.pending[i].oldest(k, verb == "wait")
		}

	// The partners of a sendRecv tell at the ends: no rank is called as many as there are, and no actor 0.
	case verb == "sendRecv" && kind == pairLines:
		number()
		dst := number()
		number()
		src := number()
		if src < 0 { // any
			src = dst
		}
		if l.err == nil {
			least, most := min(dst, src), int64(max(dst, src))
			sense = [2]bool{least == 0 && most < ranks, least > 0 && most == ranks}
		}
	}
	for i := range sense {
		if !sense[i] {
			continue
		}
		e.votes[i]++
		if !sense[1-i] && e.place[i] == "" {
			e.place[i] = fmt.Sprintf("%s:%d", l.name, l.line)
		}
	}
}
