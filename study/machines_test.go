package study

import (
	"fmt"
	"testing"
)

// TestCacheForgets: however many values are asked for, only those that were used last are kept.
func TestCacheForgets(t *testing.T) {
	c, made := cache[int]{limit: 64}, 0
	get := func(key string) {
		if _, err := c.get(key, func() (int, int, error) { made++; return 0, 1, nil }); err != nil {
			t.Fatal(err)
		}
	}
	get("kept")
	for i := range 1000 {
		get(fmt.Sprint(i))
		get("kept")
	}
	if n := len(c.young) + len(c.old); made != 1001 || n > 2*64 {
		t.Errorf("%d values made, want 1001; %d kept, at most 128", made, n)
	}
}
