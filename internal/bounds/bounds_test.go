package bounds

import (
	"math"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		r    Range
		v    float64
		want string
	}{
		{Latency, 0, ""},
		{Latency, 1e9, ""},
		{Latency, 1e300, "x 1e+300 s, want 0 to 1e+09 s"},
		{Bandwidth, 0, "x 0 byte/s, want 1e-06 to 1e+60 byte/s"},
		{Bandwidth.OrZero(), 0, ""},
		{Speed, math.Inf(1), "x +Inf flop/s, want 1e-06 to 1e+27 flop/s"},
		{Factor, -1, "x -1, want 1e-09 to 1e+09"},
		{Factor, math.NaN(), "x is not a number"},
	} {
		got := ""
		if err := c.r.Check("x", c.v); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%g: %q, want %q", c.v, got, c.want)
		}
	}
}
