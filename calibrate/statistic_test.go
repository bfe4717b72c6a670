package calibrate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/kernels/noise"
	"reprise/trace/warning"
)

// TestStatistic: of 1 to 10 and 1000, in any order, the median of those within ten times 6 is 5.5, the
// minimum 1, the mean 1055/11; without 0.1 of them, rounded up to two on both sides, the mean of 3 to 9 is 6;
// of two nothing is left out.
func TestStatistic(t *testing.T) {
	m := NewMessages()
	for _, s := range []float64{3, 1, 4, 10, 5, 9, 2, 6, 8, 7, 1000} {
		if err := m.add(PingPong, 8, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		statistic    Statistic
		trim         float64
		want, number float64
	}{{Median, 0, 5.5, 10}, {Min, 0, 1, 11}, {Mean, 0, 1055. / 11, 11}, {Mean, 0.1, 6, 7}, {Mean, 0.49, 6, 1}} {
		p := m.main().points(PingPong, test.statistic, test.trim)
		got, number := p.Y[0], p.W[0]
		if !near(got, test.want, 1e-12) || number != test.number {
			t.Errorf("%s, trim %g: %g of %g timings, want %g of %g", test.statistic, test.trim, got, number, test.want, test.number)
		}
	}
	if got, _, n := Median.of([]float64{1, 2, 4, 8}, 0); got != 3 || n != 4 {
		t.Errorf("median of 1, 2, 4, 8: %g, want 3", got)
	}
	if got, _, n := Mean.of([]float64{20, 30}, 0.4); got != 25 || n != 2 {
		t.Errorf("trimmed mean of 20 and 30: %g of %d, want 25 of 2", got, n)
	}
	// The median is 6: only 1000 is ten times off it.
	if timings, sizes := m.main().strays(PingPong); timings != 1 || sizes != 1 {
		t.Errorf("%d timings at %d sizes are far off, want 1", timings, sizes)
	}
}

// TestMeanBelievesOutliers: with one timing of twenty 1,000 times too long, a mean is
// (19 + 1000)/20 = 50.95 times the time of all others; a mean without a tenth on both sides, the minimum and
// the median are that time, here without noise. The warning is there in any case.
func TestMeanBelievesOutliers(t *testing.T) {
	const bad = 8
	messages := NewMessages()
	for size := int64(1); size <= 1e7; size *= 10 {
		for i := range 20 {
			times := 1.0
			if i == 0 {
				times = 1000
			}
			one := 1e-6 + 1e-9*float64(size)
			err1, err2 := messages.add(Send, size, times*0.05*one), messages.add(Recv, size, times*0.1*one)
			if err := errors.Join(err1, err2, messages.add(PingPong, size, times*2.3*one)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		statistic   Statistic
		trim, times float64
	}{{Mean, 0, 50.95}, {Mean, 0.1, 1}, {Median, 0, 1}, {Min, 0, 1}} {
		o := DefaultNetworkOptions()
		o.Statistic, o.Trim = test.statistic, test.trim
		report := fitNetwork(t, messages, o)
		if want := test.times * 1.15 * 1e-6; !near(report.Latency, want, 1e-6) {
			t.Errorf("%s, trim %g: latency %g, want %g", test.statistic, test.trim, report.Latency, want)
		}
		if want := fmt.Sprintf("pingpong: %d of 160 timings, at 8 of 8 sizes, are 10 times longer or shorter", bad); !strings.HasPrefix(report.Warnings[2].Text, want) {
			t.Errorf("%s, trim %g: warnings %q, want %s ...", test.statistic, test.trim, report.Warnings, want)
		}
		// Noise is of all timings, so that outliers are part of it.
		before := len(report.Warnings)
		if err := report.FitNoise(messages); err != nil {
			t.Fatal(err)
		}
		for i, op := range []Operation{Send, Recv} {
			want := fmt.Sprintf("noise of %s: %d timings far off the median of their size are part of it", op, bad)
			if list := report.Warnings[before:]; len(list) != 2 || !strings.HasPrefix(list[i].Text, want) {
				t.Errorf("%s, trim %g: warnings %q, want %s ...", test.statistic, test.trim, list, want)
			}
		}
	}
}

// TestSpikes: of sizes that were timed once, their neighbours tell the outliers.
func TestSpikes(t *testing.T) {
	const row = "pingpong,%d,%g\n"
	for _, test := range []struct {
		times  []float64
		spikes int
	}{
		{[]float64{1, 2, 4, 8, 16, 1000, 2000, 4000}, 0}, {[]float64{1, 2, 4000, 8, 16, 32, 64, 128}, 1}, {[]float64{1, 2, 4, 8, 0.016, 32, 64, 128}, 1},
		{[]float64{1000, 2, 4, 8, 16, 32, 64, 128}, 1}, {[]float64{1, 2, 4, 8, 16, 32, 64, 128000}, 1}, {[]float64{0.001, 2, 4, 8, 16, 32, 64, 128}, 1},
	} {
		var b strings.Builder
		b.WriteString("operation,bytes,seconds\n")
		for i, s := range test.times {
			fmt.Fprintf(&b, row, 1<<i, s)
		}
		o := DefaultNetworkOptions()
		o.Bandwidth, o.Latency = 1, 1
		report := fitNetwork(t, newMessages(t, b.String()), o)
		got := slices.ContainsFunc(report.Warnings, func(w warning.Warning) bool {
			return strings.HasPrefix(w.Text, fmt.Sprintf("pingpong: at %d of 8 sizes the median is 10 times that of the sizes beside it", test.spikes))
		})
		if got != (test.spikes > 0) {
			t.Errorf("%v: warnings %q, want of %d sizes", test.times, report.Warnings, test.spikes)
		}
	}
}

// TestSkewnessSeen: the mean over 40,000 samples of n half-normal deviates, whose error is
// below 1 %.
func TestSkewnessSeen(t *testing.T) {
	const samples = 40000
	s := noise.NewSource(11)
	for _, n := range []int64{3, 4, 5, 6, 8, 10, 20, 50} {
		sum := 0.0
		for k := range uint32(samples) {
			var m moments
			for i := range uint32(n) {
				m.add(noise.HalfNormal.Deviate(s.Draw(noise.Computation, k, 0, i)))
			}
			sum += m.skewness()
		}
		if got, want := skewnessSeen(n), sum/samples/halfNormalSkewness; math.Abs(got-want) > 0.025 {
			t.Errorf("%d values: %.3f, want %.3f", n, got, want)
		}
	}
}

// add keeps a timing of one pair between hosts.
func (m *Messages) add(op Operation, bytes int64, seconds float64) error {
	return m.addAt(setting{Nodes, 1}, op, bytes, seconds)
}
