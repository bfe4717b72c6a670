package words

import "testing"

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int64
		noun string
		want string
	}{
		{0, "host", "0 hosts"}, {1, "host", "1 host"}, {2, "kernel call", "2 kernel calls"}, {1, "class", "1 class"}, {1000, "class", "1000 classes"}, {-1, "step", "-1 steps"},
	} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}
