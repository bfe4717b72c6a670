package capture

import "testing"

// TestContinues: a wait goes on with a drain of which two of three are left if it is for two of
// those, not if it is for two others, of which one is in slot 4.
func TestContinues(t *testing.T) {
	d := drain{slots: []int64{1, 3, 5}, left: 2}
	for _, c := range []struct {
		pending []int64
		want    bool
	}{{[]int64{1, 5}, true}, {[]int64{3, 5}, true}, {[]int64{4, 5}, false}, {[]int64{5}, false}, {[]int64{1, 3, 5}, false}} {
		if got := d.continues(c.pending); got != c.want {
			t.Errorf("%v of %v: %v", c.pending, d.slots, got)
		}
	}
}
