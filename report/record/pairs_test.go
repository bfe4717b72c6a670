package record

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// TestPairs counts messages of random pairs, among few of them and among all that there may be.
func TestPairs(t *testing.T) {
	type sum struct {
		messages uint64
		bytes    int64
	}
	for _, numbers := range []int{1, 100, maxTraffic * maxTraffic} {
		random := rand.New(rand.NewPCG(1, uint64(numbers)))
		p, want, got := newPairs(), map[int]sum{}, map[int]sum{}
		for range 200_000 {
			pair, bytes := random.IntN(numbers), random.Int64N(1<<30)
			p.add(pair, 1, bytes)
			want[pair] = sum{want[pair].messages + 1, want[pair].bytes + bytes}
		}
		p.all(func(pair int, messages uint64, bytes int64) { got[pair] = sum{messages, bytes} })
		if !maps.Equal(got, want) {
			t.Errorf("%d pairs: %d with messages, want %d; or other numbers", numbers, len(got), len(want))
		}
	}
}
