package simgrid

import (
	"fmt"
	"math"

	"reprise/trace"
)

// enoughVotes of a rank are not added to.
const enoughVotes = 16

// evidence is what lines of a rank tell of their numbers: whether these are ranks, or
// those plus one.
type evidence struct {
	rank    int64
	pending [2]requests // if they are ranks, and if they are not
	votes   [2]int      // lines that make sense so
	place   [2]string   // of the first that makes sense only so
}

// tells reports whether the lines make more sense in one way than in the other.
func (e *evidence) tells() bool { return e.votes[0] != e.votes[1] }

// add takes what a line tells, of which the rank has been read.
func (e *evidence) add(l *lines, kind lineKind, ranks int64) {
	switch verb := string(l.fields.next()); verb {
	case "isend":
		if kind == waitLines {
			peer := number(&l.fields)
			e.post(key{int32(e.rank), peer, tag(&l.fields)})
		}
	case "irecv":
		if kind == waitLines {
			peer := number(&l.fields)
			if peer == anySource || peer == undefined {
				peer = trace.AnySource
			}
			e.post(key{peer, int32(e.rank), wildTag(&l.fields)})
		}
	case "waitall":
		e.pending = [2]requests{}
	case "wait", "test":
		if kind == waitLines {
			e.wait(l, verb, ranks)
		}
	case "sendRecv":
		if kind == pairLines {
			e.pair(l, ranks)
		}
	}
}

// number reads a number of a rank, or one that means something else.
func number(f *fields) int32 { return int32(f.integer("number", math.MinInt32, math.MaxInt32)) }

func (e *evidence) post(k key) {
	for i := range e.pending {
		e.pending[i].add(k)
	}
}

// wait has a wait or a test vote for how it names a request that is pending.
func (e *evidence) wait(l *lines, verb string, ranks int64) {
	src, dst, tag := number(&l.fields), number(&l.fields), wildTag(&l.fields)
	if l.err != nil {
		return
	}
	var named [2]bool
	for i := range named {
		k, ok := messageKey(int64(src), int64(dst), tag, int64(i), ranks)
		if !ok {
			continue
		}
		if verb == "test" {
			_, named[i] = e.pending[i].test(k)
		} else {
			_, named[i] = e.pending[i].wait(k)
		}
	}
	e.vote(named, l)
}

// pair has the partners of a sendRecv vote: there is no rank that is called as many as there
// are, and no actor called 0.
func (e *evidence) pair(l *lines, ranks int64) {
	number(&l.fields)
	dst := number(&l.fields)
	number(&l.fields)
	src := number(&l.fields)
	if src < 0 { // any
		src = dst
	}
	if l.err == nil {
		least, most := min(dst, src), int64(max(dst, src))
		e.vote([2]bool{least == 0 && most < ranks, least > 0 && most == ranks}, l)
	}
}

func (e *evidence) vote(sense [2]bool, l *lines) {
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
