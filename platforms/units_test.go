package platforms

import (
	"strings"
	"testing"
)

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		parse func(string) (float64, error)
		text  string
		want  float64
	}{
		{parseBandwidth, "12.5GBps", 12.5e9},
		{parseBandwidth, "56Gbps", 7e9}, // 56e9 bits, 8 in a byte
		{parseBandwidth, "125000000", 125e6},
		{parseBandwidth, "125e6", 125e6},
		{parseBandwidth, "1e9Bps", 1e9},
		{parseBandwidth, "10kBps", 10e3},
		{parseBandwidth, "10 MBps", 10e6},
		{parseBandwidth, "100Mibps", 100 * 1024 * 1024 / 8},
		{parseBandwidth, "2GiBps", 2 * 1024 * 1024 * 1024},
		{parseBandwidth, "3KiBps", 3 * 1024},
		{parseBandwidth, "1EBps", 1e18},
		{parseBandwidth, "1EiBps", 1 << 60},
		{parseBandwidth, "8bps", 1},
		{parseBandwidth, "18.348422228142724GBps", 18348422228.142724},
		{parseLatency, "0.10us", 0.10 * 1e-6},
		{parseLatency, "5.2us", 5.2 * 1e-6},
		{parseLatency, "5e-8", 5e-8},
		{parseLatency, "5e-8s", 5e-8},
		{parseLatency, "0", 0},
		{parseLatency, "20000ns", 20000 * 1e-9},
		{parseLatency, "3ms", 3 * 1e-3},
		{parseLatency, "7ps", 7 * 1e-12},
		{parseLatency, "2m", 120},
		{parseLatency, "1h", 3600},
		{parseLatency, "1d", 86400},
		{parseLatency, "1w", 604800},
		{ParseSpeed, "1Gf", 1e9},
		{ParseSpeed, "1000Mf", 1e9},
		{ParseSpeed, "0.002Tf", 2e9},
		{ParseSpeed, "1E9", 1e9},
		{ParseSpeed, "2megaflops", 2e6},
		{ParseSpeed, "5flops", 5},
		{ParseSpeed, "1Pf", 1e15},
		{ParseSpeed, "1Zf", 1e21},
		{ParseSpeed, "1Yf", 1e24},
		{parseBandwidth, "1YiBps", 1 << 80},
	} {
		got, err := c.parse(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q: %v, %v; want %v", c.text, got, err, c.want)
		}
	}
}

func TestBadUnits(t *testing.T) {
	for _, c := range []struct {
		parse      func(string) (float64, error)
		text, want string
	}{
		{parseBandwidth, "", "not a number"},
		{parseBandwidth, "GBps", "not a number"},
		{parseBandwidth, "1.2.3GBps", "not a number"},
		{parseBandwidth, "1QBps", `unit "QBps"`},
		{parseBandwidth, "1us", `unit "us"`},
		{parseBandwidth, "1KBps", `unit "KBps" of "1KBps" is not a bandwidth: want Bps or bps, alone or with a prefix k M G T P E Z Y or Ki Mi Gi Ti Pi Ei Zi Yi`},
		{ParseSpeed, "1Kf", `unit "Kf" of "1Kf" is not a speed: want f, alone or with a prefix k M G T P E Z Y or Ki Mi Gi Ti Pi Ei Zi Yi`},
		{parseBandwidth, "1gBps", `unit "gBps"`},
		{parseBandwidth, "0GBps", "want 1e-06 to 1e+27 byte/s"},
		{parseBandwidth, "-1GBps", "want 1e-06 to 1e+27 byte/s"},
		{parseBandwidth, "1e308YBps", "want 1e-06 to 1e+27 byte/s"},
		{parseBandwidth, "1e999", "not a number"},
		{parseBandwidth, "NaN", "not a number"},
		{parseBandwidth, "Inf", "not a number"},
		{parseLatency, "-1us", "want 0 to 1e+09 s"},
		{parseLatency, "1Gf", `unit "Gf"`},
		{ParseSpeed, "0f", "want 1e-06 to 1e+27 flop/s"},
		{ParseSpeed, "1GBps", `unit "GBps"`},
		{ParseSpeed, "1kiloGflops", "is not a speed"},
	} {
		if got, err := c.parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want an error with %q", c.text, got, err, c.want)
		}
	}
}
