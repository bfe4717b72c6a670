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
		{ParseBandwidth, "12.5GBps", 12.5e9},
		{ParseBandwidth, "56Gbps", 7e9}, // 56e9 bits, 8 in a byte
		{ParseBandwidth, "125000000", 125e6},
		{ParseBandwidth, "125e6", 125e6},
		{ParseBandwidth, "1e9Bps", 1e9},
		{ParseBandwidth, "10kBps", 10e3},
		{ParseBandwidth, "10 MBps", 10e6},
		{ParseBandwidth, "100Mibps", 100 * 1024 * 1024 / 8},
		{ParseBandwidth, "2GiBps", 2 * 1024 * 1024 * 1024},
		{ParseBandwidth, "3KiBps", 3 * 1024},
		{ParseBandwidth, "1EBps", 1e18},
		{ParseBandwidth, "1EiBps", 1 << 60},
		{ParseBandwidth, "8bps", 1},
		{ParseBandwidth, "18.348422228142724GBps", 18348422228.142724},
		{ParseLatency, "0.10us", 0.10 * 1e-6},
		{ParseLatency, "5.2us", 5.2 * 1e-6},
		{ParseLatency, "5e-8", 5e-8},
		{ParseLatency, "5e-8s", 5e-8},
		{ParseLatency, "0", 0},
		{ParseLatency, "20000ns", 20000 * 1e-9},
		{ParseLatency, "3ms", 3 * 1e-3},
		{ParseLatency, "7ps", 7 * 1e-12},
		{ParseLatency, "2m", 120},
		{ParseLatency, "1h", 3600},
		{ParseLatency, "1d", 86400},
		{ParseLatency, "1w", 604800},
		{ParseSpeed, "1Gf", 1e9},
		{ParseSpeed, "1000Mf", 1e9},
		{ParseSpeed, "0.002Tf", 2e9},
		{ParseSpeed, "1E9", 1e9},
		{ParseSpeed, "2megaflops", 2e6},
		{ParseSpeed, "5flops", 5},
		{ParseSpeed, "1Pf", 1e15},
		{ParseSpeed, "1Zf", 1e21},
		{ParseSpeed, "1Yf", 1e24},
		{ParseBandwidth, "1YiBps", 1 << 80},
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
		{ParseBandwidth, "", "not a number"},
		{ParseBandwidth, "GBps", "not a number"},
		{ParseBandwidth, "1.2.3GBps", "not a number"},
		{ParseBandwidth, "1QBps", `unit "QBps"`},
		{ParseBandwidth, "1us", `unit "us"`},
		{ParseBandwidth, "1KBps", `unit "KBps" of "1KBps" is not a bandwidth: want Bps or bps, alone or with a prefix k M G T P E Z Y or Ki Mi Gi Ti Pi Ei Zi Yi`},
		{ParseSpeed, "1Kf", `unit "Kf" of "1Kf" is not a speed: want f, alone or with a prefix k M G T P E Z Y or Ki Mi Gi Ti Pi Ei Zi Yi`},
		{ParseBandwidth, "1gBps", `unit "gBps"`},
		{ParseBandwidth, "0GBps", "want 1e-06 to 1e+60 byte/s"},
		{ParseBandwidth, "-1GBps", "want 1e-06 to 1e+60 byte/s"},
		{ParseBandwidth, "1e308YBps", "want 1e-06 to 1e+60 byte/s"},
		{ParseBandwidth, "1e999", "not a number"},
		{ParseBandwidth, "NaN", "not a number"},
		{ParseBandwidth, "Inf", "not a number"},
		{ParseLatency, "-1us", "want 0 to 1e+09 s"},
		{ParseLatency, "1Gf", `unit "Gf"`},
		{ParseSpeed, "0f", "want 1e-06 to 1e+27 flop/s"},
		{ParseSpeed, "1GBps", `unit "GBps"`},
		{ParseSpeed, "1kiloGflops", "is not a speed"},
	} {
		if got, err := c.parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want an error with %q", c.text, got, err, c.want)
		}
	}
}
