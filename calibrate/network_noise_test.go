package calibrate

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/kernels/noise"
	"reprise/netmodel"
)

// noisyMessages has 400 sends of each of 10 sizes: 1e-5 s + 1e-9 s/byte up to 8,000 bytes with two modes
// in seconds, a tenth of them 4e-6 s above the others; and from 16,000 on 1e-8 s/byte with a deviation of 5 %.
func noisyMessages() string {
	var b strings.Builder
	b.WriteString("operation,bytes,seconds\n")
	source := noise.NewSource(1)
	for _, size := range []float64{1, 1000, 2000, 4000, 8000, 16000, 20000, 40000, 80000, 160000} {
		for i := range uint32(400) {
			z := source.Draw(noise.SendOverhead, uint32(size), 0, i).Normal()
			s := 1e-5 + 1e-9*size + 1e-7*z - 4e-7
			if i%10 == 0 {
				s += 4e-6
			}
			if size > 8000 {
				s = 1e-8 * size * (1 + 0.05*z)
			}
			fmt.Fprintf(&b, "send,%g,%.12g\n", size, s)
		}
	}
	return b.String()
}

func fitNetworkNoise(t *testing.T, text string, o NetworkOptions) *NetworkReport {
	t.Helper()
	m := newMessages(t, text)
	report := fitNetwork(t, m, o)
	must(t, report.FitNoise(m))
	return report
}

// TestNetworkNoise: modes and their kind come back, and the file has their moments: of two modes
// of weights 0.9 and 0.1 that are 4e-6 s apart, a deviation of sqrt(0.09·16e-12 + 1e-14) s = 1.204e-6 s;
// of the larger sizes, 5 %. A deviation of n numbers scatters by 1/sqrt(2n) of it: 1.7 and 1.6 %.
func TestNetworkNoise(t *testing.T) {
	o := DefaultNetworkOptions()
	o.Breakpoints = []float64{8000}
	r := fitNetworkNoise(t, noisyMessages(), o)
	small, large := r.Noise[0].Ranges[0], r.Noise[0].Ranges[1]
	if len(small.Modes) != 2 || small.Relative || !near(small.Modes[1].Mean-small.Modes[0].Mean, 4e-6, 0.01) || !near(small.Modes[1].Weight, 0.1, 0.01) || !near(small.Modes[0].SD, 1e-7, 0.07) {
		t.Errorf("small sizes: %+v", small)
	}
	if len(large.Modes) != 1 || !large.Relative || !near(large.Modes[0].SD, 0.05, 0.07) || large.Shape != Normal {
		t.Errorf("large sizes: %+v", large)
	}
	var b strings.Builder
	must(t, r.WriteNoise(&b, "a test"))
	law, err := netmodel.ParseNoise(strings.NewReader(b.String()), "file")
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	checkOverheads(t, law, 1000, 1.1e-5, math.Sqrt(0.09*16e-12+1e-14))
	checkOverheads(t, law, 100000, 1e-3, large.Modes[0].SD*1e-3)
	if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), "noise of send:") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// checkOverheads compares mean and deviation of draws: that of n draws scatters by
// sd/sqrt(n), and by about as much relative to sd, of the mixture here less.
func checkOverheads(t *testing.T, law *netmodel.Noise, size int64, mean, sd float64) {
	t.Helper()
	const n = 20000
	source, sum, squares := noise.NewSource(1), 0.0, 0.0
	for i := range uint32(n) {
		x := law.Of(netmodel.TimedSend, 0, size, source.Draw(noise.SendOverhead, 0, 0, i)) - mean
		sum += x / n
		squares += x * x / n
	}
	if math.Abs(sum) > 0.05*sd+0.002*mean || !near(math.Sqrt(squares), sd, 0.05) {
		t.Errorf("%d bytes: mean %g, deviation %g, want %g and %g", size, mean+sum, math.Sqrt(squares), mean, sd)
	}
}

// TestNoiseEndsAtThreshold: sends that wait, from 128 bytes on, do not enter the noise below,
// where there are four sizes of 30 timings.
func TestNoiseEndsAtThreshold(t *testing.T) {
	o := DefaultNetworkOptions()
	o.Detached = 128
	var b strings.Builder
	b.WriteString("operation,bytes,seconds\n")
	for s := 8; s <= 128; s *= 2 {
		for i := range 30 {
			seconds := 1e-6 * (1 + 0.001*float64(i%7))
			if s >= 128 {
				seconds *= 5
			}
			fmt.Fprintf(&b, "send,%d,%g\n", s, seconds)
		}
	}
	r := fitNetworkNoise(t, b.String(), o)
	if first := r.Noise[0].Ranges[0]; first.Timings != 4*30 || r.Noise[0].Ranges[1].From != 127 {
		t.Errorf("%+v, want 120 timings, and nothing above 127 bytes", r.Noise[0].Ranges)
	}
}

// TestNoNoise: of ping-pongs; without overheads, with few timings, and on the line.
func TestNoNoise(t *testing.T) {
	o := DefaultNetworkOptions()
	o.Breakpoints, o.Detached = []float64{100, 1000}, 1000
	var b strings.Builder
	b.WriteString("operation,bytes,seconds\n")
	for i := range 40 {
		fmt.Fprintf(&b, "send,%d,1e-6\nsend,%d,2e-6\n", i%20, 2000+i)
	}
	for i := range 5 {
		fmt.Fprintf(&b, "send,%d,1e-6\n", 200+i)
	}
	r := fitNetworkNoise(t, b.String(), o)
	var notes []string
	for _, n := range r.Noise[0].Ranges {
		notes = append(notes, n.Note)
		if len(n.Modes) > 0 {
			t.Errorf("noise %+v", n)
		}
	}
	if got, want := strings.Join(notes, "; "), "all timings are on the line: no noise; 5 timings, fewer than 20: no noise; without overheads"; got != want {
		t.Errorf("notes %q, want %q", got, want)
	}
	var file strings.Builder
	must(t, r.WriteNoise(&file, ""))
	if _, err := netmodel.ParseNoise(strings.NewReader(file.String()), "file"); err != nil {
		t.Errorf("%v\n%s", err, file.String())
	}
	m := newMessages(t, "operation,bytes,seconds\npingpong,1,2\npingpong,2,3\npingpong,3,4\npingpong,4,5\n")
	if err := fitNetwork(t, m, DefaultNetworkOptions()).FitNoise(m); !errors.Is(err, ErrMeaningless) {
		t.Errorf("got %v", err)
	}
}
