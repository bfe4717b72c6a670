package trace

import (
	"math/rand/v2"
	"testing"
)

// TestAgreement draws calls that agree, by what MPI demands of each operation, and then
// changes one count: where that is one that counts, the sum over the ranks is no longer 0,
// and the place is found.
func TestAgreement(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 11))
		kind, ranks := CollectiveKind(r.IntN(NumCollectives)), 1+r.IntN(6)
		calls := agreeing(r, kind, ranks)
		if sum, _, text := judge(calls); sum != 0 || text != "" {
			t.Fatalf("seed %d: %v of %d ranks agrees: sum %x, %q", seed, kind, ranks, sum, text)
		}
		if kind == CollBarrier {
			continue
		}
		who := r.IntN(ranks)
		counts := change(r, &calls[who], who, ranks)
		switch sum, rank, text := judge(calls); {
		case counts != (sum != 0) || counts != (text != ""):
			t.Fatalf("seed %d: %v of %d ranks, root %d, rank %d changed (counts: %v): sum %x, rank %d: %q", seed, kind, ranks, calls[0].Root, who, counts, sum, rank, text)
		}
	}
}

func judge(calls []Collective) (sum uint64, rank int, text string) {
	for r := range calls {
		if err := calls[r].Check(len(calls)); err != nil {
			panic(err)
		}
		sum += calls[r].Agreement(-1, 7, r, len(calls))
	}
	rank, text = Disagreement(calls)
	return sum, rank, text
}

// agreeing returns the calls of all ranks: rank i sends b[i][j] bytes to j.
func agreeing(r *rand.Rand, kind CollectiveKind, ranks int) []Collective {
	rule, root := &collectiveRules[kind], int32(0)
	if rule.root {
		root = r.Int32N(int32(ranks))
	}
	b := make([][]int64, ranks)
	for i := range b {
		b[i] = make([]int64, ranks)
		for j := range b[i] {
			switch kind {
			case CollAlltoallv:
				b[i][j] = 8 * r.Int64N(100)
			case CollGatherv, CollAllgatherv: // as much to each
				b[i][j] = 8 * (10 + int64(i*i))
			case CollScatterv, CollReduceScatter: // as much from each
				b[i][j] = 8 * (10 + int64(j*j))
			default:
				b[i][j] = 160
			}
		}
	}
	calls := make([]Collective, ranks)
	for i := range calls {
		c := &calls[i]
		*c = Collective{Kind: kind, Root: root, SendSize: []int64{1, 8}[r.IntN(2)], RecvSize: []int64{1, 8}[r.IntN(2)]}
		c.SendSums, c.RecvSums = []int64{0}, []int64{0}
		for j := range ranks {
			c.SendSums = append(c.SendSums, c.SendSums[j]+b[i][j]/c.SendSize)
			in := b[j][i]
			if kind == CollReduceScatter {
				in = b[i][j]
			}
			c.RecvSums = append(c.RecvSums, c.RecvSums[j]+in/c.RecvSize)
		}
		c.Send, c.Recv = b[i][0]/c.SendSize, b[0][i]/c.RecvSize
		if kind == CollGather || kind == CollGatherv {
			c.Send = b[i][root] / c.SendSize
		}
		if kind == CollScatter || kind == CollScatterv {
			c.Recv = b[root][i] / c.RecvSize
		}
	}
	return calls
}

// change adds an element to one of the counts of a rank, and reports whether MPI looks at it.
func change(r *rand.Rand, c *Collective, rank, ranks int) bool {
	rule, other, send := &collectiveRules[c.Kind], r.IntN(ranks), r.IntN(2) == 0
	if rule.recv == noCount {
		send = true
	}
	if rule.send == noCount {
		send = false
	}
	sums, form := c.RecvSums, rule.recv
	if send {
		sums, form = c.SendSums, rule.send
	}
	switch {
	case form == countPerRank:
		for i := other + 1; i <= ranks; i++ {
			sums[i]++
		}
	case send:
		c.Send++
	default:
		c.Recv++
	}
	root := int(c.Root)
	switch c.Kind {
	case CollGather, CollGatherv, CollScatter, CollScatterv:
		gathers := c.Kind == CollGather || c.Kind == CollGatherv
		if send == gathers { // the side of all ranks but the root
			return rank != root
		}
		return rank == root && ranks > 1 && (form == oneCount || other != root)
	case CollAllgather, CollAllgatherv, CollAlltoall, CollAlltoallv:
		return true
	}
	return ranks > 1
}
