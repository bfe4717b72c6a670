package replay

import "reprise/trace"

// barrierTag is a tag that no trace uses.
const barrierTag = -1 << 31

// barrierSource appends to the actions of each rank a barrier: rank 0 collects an
// empty message of every other rank and answers each with another.
type barrierSource struct {
	Source
	ranks  int32
	next   []int32 // index into the barrier's actions, by rank
	inside []bool  // the barrier has begun, by rank
}

func withBarrier(s Source, ranks int) Source {
	return &barrierSource{s, int32(ranks), make([]int32, ranks), make([]bool, ranks)}
}

// Fill implements Source.
func (b *barrierSource) Fill(rank int32, buf []trace.Action) (int, error) {
	if !b.inside[rank] {
		n, err := b.Source.Fill(rank, buf)
		if n > 0 || err != nil {
			return n, err
		}
		b.inside[rank] = true
	}
	n := 0
	for n < len(buf) && b.action(rank, b.next[rank], &buf[n]) {
		b.next[rank]++
		n++
	}
	return n, nil
}

// action stores action i of the barrier of a rank; it is false at the end.
func (b *barrierSource) action(rank, i int32, a *trace.Action) bool {
	*a = trace.Action{Tag: barrierTag}
	if rank > 0 {
		a.Kind = [...]trace.Kind{trace.KindSend, trace.KindRecv, trace.KindNone}[min(i, 2)]
		return i < 2
	}
	others := b.ranks - 1
	switch round := i % (others + 1); {
	case others == 0 || i >= 2*(others+1):
		return false
	case round == others:
		a.Kind = trace.KindWaitAll
	case i < others:
		a.Kind, a.Peer, a.Req = trace.KindIrecv, round+1, round
	default:
		a.Kind, a.Peer, a.Req = trace.KindIsend, round+1, round
	}
	return true
}
