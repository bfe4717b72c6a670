package record

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/netmodel"
	"reprise/replay"
)

// TestTraffic adds up messages between random ranks one by one, and compares with the tables of all
// groups: of as many ranks as have rows of their own and more, of as many messages as wait and more, of
// sizes up to what there is room for and beyond.
func TestTraffic(t *testing.T) {
	for _, ranks := range []int{1, 7, 600, maxExact, maxExact + 1, 5000} {
		for _, messages := range []int{0, 1, maxWaiting - 1, maxWaiting, maxWaiting + 1, 2 * maxWaiting, 200_001} {
			t.Run(fmt.Sprintf("%d ranks, %d messages", ranks, messages), func(t *testing.T) {
				hosts := group{by: "host", of: make([]int32, ranks), size: min(ranks, 700)}
				for r := range hosts.of {
					hosts.of[r] = int32(r * 7 % hosts.size)
				}
				compareTraffic(t, newTraffic(ranks, []group{hosts}), someTransfers(ranks, messages))
			})
		}
	}
}

// someTransfers are messages of few ranks to few others, and now and then of any to any.
func someTransfers(ranks, messages int) []replay.Transferred {
	random := rand.New(rand.NewPCG(uint64(ranks), uint64(messages)))
	sizes := []float64{0, 1, 1000, math.MaxUint32, math.MaxUint32 + 1, 1 << 50}
	list := make([]replay.Transferred, messages)
	for i := range list {
		src, dst := random.IntN(ranks), random.IntN(ranks)
		if random.IntN(4) > 0 {
			src %= 10
			dst = (src + i%5) % ranks
		}
		list[i].Src, list[i].Dst = int32(src), int32(dst)
		list[i].Summary = netmodel.Summary{Bytes: 16 + sizes[random.IntN(len(sizes))]}
	}
	return list
}

func compareTraffic(t *testing.T, traffic traffic, list []replay.Transferred) {
	for rest := list; len(rest) > 0; {
		n := min(len(rest), 64)
		traffic.add(rest[:n])
		rest = rest[n:]
	}
	traffic.data()
	for i := range traffic.tables {
		table := &traffic.tables[i]
		want, got := map[[2]int32]sent{}, map[[2]int32]sent{}
		for i := range list {
			pair := [2]int32{int32(table.row[list[i].Src]), int32(table.row[list[i].Dst])}
			want[pair] = sent{want[pair].messages + 1, want[pair].bytes + list[i].Size()}
		}
		table.pairs.all(func(from, to int32, messages, bytes int64) { got[[2]int32{from, to}] = sent{messages, bytes} })
		if !maps.Equal(got, want) {
			t.Errorf("by %s: %d pairs with messages, want %d; or other numbers", table.by, len(got), len(want))
		}
	}
}
