package replay

import "reprise/trace"

// barrierTag is a tag that no trace uses.
const barrierTag = -1 << 31

// barrierSource appends to the actions of each rank a wait for what is pending
// and a barrier: rank 0 collects an empty message of every other rank and answers
// each with another.
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
	*a = trace.Action{Kind: trace.KindWaitAll, Tag: barrierTag}
	if rank > 0 {
		a.Kind = [...]trace.Kind{trace.KindWaitAll, trace.KindSend, trace.KindRecv, trace.KindNone}[min(i, 3)]
		return i < 3
	}
	round, other := i/b.ranks, i%b.ranks // of receives, then of sends
	if other == 0 {
		return round <= 2
	}
	if round == 2 {
		return false
	}
	a.Kind = [...]trace.Kind{trace.KindIrecv, trace.KindIsend}[round]
	a.Peer, a.Req = other, other-1
	return true
}
