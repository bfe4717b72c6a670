package simgrid

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"reprise/trace"
)

// SimGrid before 3.29 wrote the numbers of actors, a rank's plus one, into waits and
// tests, and before 3.30 into sendRecv, though its replays took them for ranks. Nothing
// else tells such texts from others. So the numbers are ranks or actors by what these
// lines name, decided once for all ranks.

// lineKind is a kind of lines with a numbering of its own.
type lineKind int

const (
	waitLines lineKind = iota // wait and test
	pairLines                 // sendRecv
	numLineKinds
)

// verdict is something about a text that its lines decide, once for all ranks.
type verdict struct {
	deciding sync.Once
	decided  atomic.Int32 // 1 more than the verdict; 0: not yet
	place    string       // of the first line that told; "": none did
}

// reach returns the verdict, which is reached by decide unless it is there.
func (v *verdict) reach(decide func() (int32, string)) int32 {
	v.deciding.Do(func() {
		var found int32
		found, v.place = decide()
		v.decided.Store(1 + found)
	})
	return v.decided.Load() - 1
}

// samples are how many bytes of each file are read for a verdict: more where the beginnings
// of all files do not tell.
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

// sample calls visit with the lines in the first bytes of a file, until it is false or a line
// is wrong, which is told when it is read in earnest. It reports whether more bytes follow.
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

// first returns the number of rank 0 in lines of a kind. With the first of them the
// beginnings of the files are read anew, so that it depends neither on who asks nor on
// the lines read so far.
func (t *Trace) first(kind lineKind) int64 {
	if d := t.numbers[kind].decided.Load(); d != 0 {
		return int64(d) - 1
	}
	return int64(t.numbers[kind].reach(func() (int32, string) { return t.decide(kind) }))
}

// decide returns the number of rank 0 in lines of a kind, by those of the first rank
// whose lines tell, and where they do; 0 if none do.
func (t *Trace) decide(kind lineKind) (first int32, place string) {
	var memory slab
	for _, bytes := range samples {
		unread := false
		for r, l := range t.sources() {
			l.memory = &memory
			of := map[int64]*evidence{} // by rank
			more := l.sample(bytes, func() bool {
				rank := l.rank(MaxRanks - 1)
				if l.err != nil {
					return false
				}
				if rank >= int64(t.ranks) || t.shared == nil && rank != int64(r) {
					return true
				}
				e := of[rank]
				if e == nil {
					e = &evidence{rank: int32(rank)}
					of[rank] = e
				}
				e.add(&l, kind, int64(t.ranks))
				return t.shared != nil || e.votes[0]+e.votes[1] < enoughVotes
			})
			unread = unread || more
			for _, rank := range slices.Sorted(maps.Keys(of)) {
				switch e := of[rank]; {
				case e.votes[1] > e.votes[0]:
					return 1, e.place[1]
				case e.votes[0] > e.votes[1]:
					return 0, e.place[0]
				}
			}
		}
		if !unread {
			break
		}
	}
	return 0, ""
}

// enoughVotes of a rank are not added to.
const enoughVotes = 16

// evidence is what lines of a rank tell of their numbers: whether these are ranks (0), or
// those plus one (1).
type evidence struct {
	rank    int32
	pending [2]requests // if they are ranks, and if they are not
	votes   [2]int      // lines that make sense so
	place   [2]string   // of the first that makes sense only so
}

// add takes what a line tells, of which the rank has been read.
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
			if verb == "test" {
				_, sense[i] = e.pending[i].test(k)
			} else {
				_, sense[i] = e.pending[i].wait(k)
			}
		}

	// The partners of a sendRecv tell at the ends: no rank is called as many as there are, and
	// no actor 0.
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
