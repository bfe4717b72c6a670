package calibrate_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"reprise/calibrate"
)

// pingPongs is a table of ping-pongs of n sizes, of which each takes 2*oneWay: the timings of a size have 2 %
// of noise, and 2 % of them are up to ten times as long, if there are outliers.
func pingPongs(r *rand.Rand, n, timings int, largest float64, outliers bool, oneWay func(float64) float64) string {
	var text strings.Builder
	text.WriteString("operation,bytes,seconds\n")
	for i := range n {
		bytes := math.Round(math.Pow(largest, float64(i)/float64(n-1)))
		for range timings {
			seconds := 2 * oneWay(bytes) * (1 + 0.02*r.NormFloat64())
			if outliers && r.Float64() < 0.02 {
				seconds *= 1 + 9*r.Float64()
			}
			fmt.Fprintf(&text, "pingpong,%g,%.17g\n", bytes, seconds)
		}
	}
	return text.String()
}

// withoutBreak draws a machine without a breakpoint, of 0.5 to 50 us and 1e8 to 5e10 byte/s, and ping-pongs
// on it, of 8 to 40 sizes up to one that takes from ten to a hundred times the latency.
func withoutBreak(seed uint64, outliers bool) (latency, bandwidth float64, table string) {
	r := rand.New(rand.NewPCG(seed, 12))
	latency, bandwidth = 0.5e-6*math.Pow(100, r.Float64()), 1e8*math.Pow(500, r.Float64())
	largest := latency * bandwidth * 10 * math.Pow(10, r.Float64())
	return latency, bandwidth, pingPongs(r, 8+r.IntN(33), 40, largest, outliers, func(s float64) float64 { return latency + s/bandwidth })
}

// TestNoBreakpoint: timings of a machine without a breakpoint have one line, whose latency and bandwidth are
// the machine's to 2 %. The median of 40 timings is 1.25*0.02/sqrt(40) = 0.4 % off, and at least two of eight
// sizes tell of each coefficient.
func TestNoBreakpoint(t *testing.T) {
	for seed := range uint64(200) {
		for _, outliers := range []bool{false, true} {
			latency, bandwidth, table := withoutBreak(seed, outliers)
			report := fitTable(t, table)
			if n := len(report.Transfers); n != 1 {
				t.Errorf("seed %d, outliers %t: %d pieces, want 1: %+v", seed, outliers, n, report.Transfers)
			}
			if math.Abs(report.Latency/latency-1) > 0.02 || math.Abs(report.Bandwidth/bandwidth-1) > 0.02 {
				t.Errorf("seed %d, outliers %t: %g s and %g byte/s, want %g and %g", seed, outliers, report.Latency, report.Bandwidth, latency, bandwidth)
			}
		}
	}
}

// TestTimedOnce: where each size was timed once, no scatter is known. Eight sizes then have no two lines, however these
// lie by chance, and few machines of 40 sizes and less have.
func TestTimedOnce(t *testing.T) {
	broken := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 13))
		oneWay := func(s float64) float64 { return 2e-6 + s/1e10 }
		if n := len(fitTable(t, pingPongs(r, 8, 1, 1<<21, false, oneWay)).Transfers); n != 1 {
			t.Errorf("seed %d: 8 sizes: %d pieces, want 1", seed, n)
		}
		if len(fitTable(t, pingPongs(r, 9+r.IntN(32), 1, 1<<21, false, oneWay)).Transfers) > 1 {
			broken++
		}
	}
	if broken > 8 {
		t.Errorf("%d of 200 tables have a breakpoint, want 4 %% at most", broken)
	}
}

// TestBreakpointFound: a machine that changes its protocol between 1 kB and 100 kB, to twice the latency and
// half as much bandwidth more or half of it, has its breakpoint, the last size before the change or one
// beside it, and the nominal bandwidth is that of the large messages.
func TestBreakpointFound(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 14))
		change, faster := 1e3*math.Pow(100, r.Float64()), []float64{0.5, 1.5}[seed%2]
		table := pingPongs(r, 12+r.IntN(30), 40, 8<<20, seed%4 < 2, func(s float64) float64 {
			if s > change {
				return 4e-6 + s/(faster*3e9)
			}
			return 2e-6 + s/3e9
		})
		report := fitTable(t, table)
		if len(report.Transfers) < 2 {
			t.Errorf("seed %d: one piece, want two", seed)
			continue
		}
		if !(math.Abs(report.Bandwidth/(faster*3e9)-1) < 0.02) {
			t.Errorf("seed %d: %g byte/s, want %g: %+v", seed, report.Bandwidth, faster*3e9, report.Transfers)
		}
		if last := report.Transfers[len(report.Transfers)-1]; last.BandwidthFactor != 1 {
			t.Errorf("seed %d: the factor of large messages is %g, want 1", seed, last.BandwidthFactor)
		}
	}
}

// TestTwoMessages: two large messages on one measured link take twice as long as one, by today's rule and by
// that of published calibrations, in which a factor bounds what a message gets of a link, and the link
// carries its nominal bandwidth.
func TestTwoMessages(t *testing.T) {
	for seed := range uint64(20) {
		latency, bandwidth, table := withoutBreak(seed, seed%2 == 0)
		if seed >= 15 { // a machine whose large messages have half as much bandwidth
			r := rand.New(rand.NewPCG(seed, 15))
			latency, bandwidth = 4e-6, 5e9
			table = pingPongs(r, 30, 40, 8<<20, false, func(s float64) float64 {
				if s > 30000 {
					return latency + s/bandwidth
				}
				return 2e-6 + s/1e10
			})
		}
		var file bytes.Buffer
		must(t, fitTable(t, table).WriteXML(&file, calibrate.Machine{Name: "node", Hosts: 2, Cores: 2, Speed: "1Gf"}))
		for _, rule := range []string{"progress", "bound"} {
			path := filepath.Join(t.TempDir(), "fitted.xml")
			property := fmt.Sprintf(`<config id="General"><prop id="reprise/bw-factor" value=%q/><prop id="network/bandwidth-factor" value="1"/>`, rule)
			write(t, path, strings.Replace(file.String(), `<config id="General">`, property, 1))
			size := int64(1000 * latency * bandwidth)
			message := played{actions: [][]string{{fmt.Sprintf("send 1 0 %d", size)}, {fmt.Sprintf("recv 0 0 %d", size)}}}
			one, two := play(t, path, message, 1), play(t, path, message, 2)
			if want := float64(size) / bandwidth; math.Abs(one/want-1) > 0.02 || math.Abs(two/one/2-1) > 0.03 {
				t.Errorf("seed %d, rule %s: one takes %g s, two %g, want %g and twice that", seed, rule, one, two, want)
			}
		}
	}
}
