package simgrid

import (
	"math"
	"sync"
	"sync/atomic"
)

// SimGrid before 3.29 wrote the numbers of actors, a rank's plus one, into waits and
// tests, and before 3.30 into sendRecv, though its replays took them for ranks. Nothing
// else tells such texts from others. So what the numbers are is decided by what these
// lines name, once for all ranks.

// lineKind is a kind of lines with a numbering of its own.
type lineKind int

const (
	waitLines lineKind = iota // wait and test
	pairLines                 // sendRecv
	numLineKinds
)

// numbering is what the numbers in lines of a kind are.
type numbering struct {
	deciding sync.Once
	decided  atomic.Int32 // 1 more than the number of rank 0; 0: not yet
	place    string       // of the first line that told; "": none did
}

// first returns the number of rank 0 in lines of a kind. With the first of them the
// beginnings of the files are read anew, so that it depends neither on who asks nor on
// what has been read.
func (t *Trace) first(kind lineKind) int64 {
	if d := t.numbers[kind].decided.Load(); d != 0 {
		return int64(d) - 1
	}
	return t.decided(kind)
}

// decided is first where it may be that nobody has asked yet.
func (t *Trace) decided(kind lineKind) int64 {
	n := &t.numbers[kind]
	n.deciding.Do(func() {
		first, place := t.decide(kind)
		n.place = place
		n.decided.Store(1 + first)
	})
	return int64(n.decided.Load()) - 1
}

// decide returns the number of rank 0 in lines of a kind, by those of the first rank
// whose lines tell, and where they do; 0 if none do. Where the beginnings of all files do
// not tell, more of them is read.
func (t *Trace) decide(kind lineKind) (first int32, place string) {
	s := sampler{t: t, kind: kind}
	for _, s.limit = range []int64{64 << 10, 4 << 20, math.MaxInt64} {
		s.unread = false
		e := s.sample()
		switch {
		case e != nil && e.votes[1] > e.votes[0]:
			return 1, e.place[1]
		case e != nil:
			return 0, e.place[0]
		case !s.unread:
			return 0, ""
		}
	}
	return 0, ""
}

// sampler reads the beginnings of files for what lines of a kind tell.
type sampler struct {
	t      *Trace
	kind   lineKind
	limit  int64 // bytes of a file
	unread bool  // some file has more
	memory slab
}

// sample returns the evidence of the first rank that has some, or nil.
func (s *sampler) sample() *evidence {
	if s.t.shared == nil {
		for r := range s.t.streams {
			own := &s.t.streams[r].lines
			e := &evidence{rank: int64(r)}
			s.read(own.path, own.name, func(rank int64) *evidence {
				if rank != e.rank {
					return nil
				}
				return e
			})
			if e.tells() {
				return e
			}
		}
		return nil
	}
	ranks := make([]*evidence, s.t.ranks)
	s.read(s.t.shared.path, s.t.shared.name, func(rank int64) *evidence {
		if rank >= int64(len(ranks)) {
			return nil
		}
		if ranks[rank] == nil {
			ranks[rank] = &evidence{rank: rank}
		}
		return ranks[rank]
	})
	for _, e := range ranks {
		if e != nil && e.tells() {
			return e
		}
	}
	return nil
}

// read hands the lines at the beginning of a file to the evidence of their ranks, until
// one is wrong, which is told when it is read in earnest.
func (s *sampler) read(path, name string, of func(rank int64) *evidence) {
	l := lines{memory: &s.memory, path: path, name: name}
	for l.next() == nil {
		if l.offset-int64(len(l.buf)-l.at) > s.limit {
			s.unread = true
			return
		}
		e := of(l.rank(MaxRanks - 1))
		if l.err != nil {
			return
		}
		if e == nil {
			continue
		}
		if e.add(&l, s.kind, int64(s.t.ranks)); e.votes[0]+e.votes[1] >= enoughVotes && s.t.shared == nil {
			return
		}
	}
}
