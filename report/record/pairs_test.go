package record

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// TestPairs counts messages of random pairs, among few of them and among all that there may be.
func TestPairs(t *testing.T) {
	type sum struct{ messages, bytes int64 }
	for _, rows := range []int{1, 10, maxTraffic} {
		random := rand.New(rand.NewPCG(1, uint64(rows)))
		p, want, got := make(pairs, rows), map[[2]int32]sum{}, map[[2]int32]sum{}
		for range 200_000 {
			pair, bytes := [2]int32{random.Int32N(int32(rows)), random.Int32N(int32(rows))}, random.Int64N(1<<30)
			p.add(pair[0], pair[1], 1, bytes)
			want[pair] = sum{want[pair].messages + 1, want[pair].bytes + bytes}
		}
		p.all(func(from, to int32, messages, bytes int64) { got[[2]int32{from, to}] = sum{messages, bytes} })
		if !maps.Equal(got, want) {
			t.Errorf("%d rows: %d pairs with messages, want %d; or other numbers", rows, len(got), len(want))
		}
	}
}
