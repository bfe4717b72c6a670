package replay

import "reprise/trace"

// barrierSource appends to the actions of each rank a wait for what is pending
// and a barrier.
type barrierSource struct {
	Source
	over []bool // the end of a rank's actions was met
}

func withBarrier(s Source, ranks int) Source { return &barrierSource{s, make([]bool, ranks)} }

// Fill implements Source; the engine asks for more than two actions at a time.
func (b *barrierSource) Fill(rank int32, buf []trace.Action) (int, error) {
	if b.over[rank] {
		return 0, nil
	}
	n, err := b.Source.Fill(rank, buf)
	if n > 0 || err != nil {
		return n, err
	}
	b.over[rank] = true
	last := lastActions()
	return copy(buf, last[:]), nil
}

// lastActions returns what follows the actions of each rank.
func lastActions() (last [2]trace.Action) {
	last[0].Kind = trace.KindWaitAll
	last[1].SetCollective(&trace.Collective{Kind: trace.CollBarrier})
	return last
}

// Requests implements Requester, if the source does.
func (b *barrierSource) Requests(rank int32, list int64) []int32 {
	if s, ok := b.Source.(Requester); ok {
		return s.Requests(rank, list)
	}
	return nil
}
