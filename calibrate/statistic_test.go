package calibrate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/calibrate/regress"
	"reprise/kernels/noise"
	"reprise/trace/warning"
)

// TestStatistic: of 1 to 10 and 1000, in any order, the median of those within ten times 6 is 5.5, the
// minimum 1, the mean 1055/11; without 0.1 of them, rounded up to two on both sides, the mean of 3 to 9 is 6;
// of two nothing is left out.
func TestStatistic(t *testing.T) {
	m := NewMessages()
	for _, s := range []float64{3, 1, 4, 10, 5, 9, 2, 6, 8, 7, 1000} {
		must(t, m.add(PingPong, 8, s))
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

// drawnMachine is a network of two ranges of sizes, with overheads.
type drawnMachine struct {
	send, recv, below, above regress.Line
	last                     float64 // size of the range below
}

// newMachine draws a machine: latencies of 1 to 50 us, bandwidths of 0.5 to 10 Gbyte/s, overheads of a
// twentieth and a tenth of that, and above one of the sizes a network of half as much more bandwidth
// on which a message takes twice as long there.
func newMachine(r *rand.Rand, sizes []float64) drawnMachine {
	latency, perByte := 1e-6*math.Pow(50, r.Float64()), 2e-9*math.Pow(20, -r.Float64())
	m := drawnMachine{
		send:  regress.Line{Intercept: latency / 20, Slope: perByte / 20},
		recv:  regress.Line{Intercept: latency / 10, Slope: perByte / 10},
		below: regress.Line{Intercept: latency, Slope: perByte},
		last:  sizes[len(sizes)/2+r.IntN(len(sizes)/6)],
	}
	m.above.Slope = perByte / 1.5
	m.above.Intercept = 2*m.below.At(m.last) - m.above.Slope*m.last
	return m
}

// time returns what an operation takes.
func (m *drawnMachine) time(op Operation, size float64) float64 {
	switch op {
	case Send:
		return m.send.At(size)
	case Recv:
		return m.recv.At(size)
	}
	return 2 * (m.send.At(size) + m.network(size) + m.recv.At(size))
}

func (m *drawnMachine) network(size float64) float64 {
	if size > m.last {
		return m.above.At(size)
	}
	return m.below.At(size)
}

// contaminated times each size reps times, with noise, and makes a part of the timings of each
// size 1,000 times longer, the first one among them. It returns the number of these of an operation.
func (m *drawnMachine) contaminated(r *rand.Rand, sizes []float64, reps int, part float64, noise func() float64) (*Messages, int) {
	list, bad := NewMessages(), int(part*float64(reps))
	for _, op := range []Operation{Send, Recv, PingPong} {
		for _, size := range sizes {
			times := make([]float64, reps)
			for i := range times {
				if times[i] = m.time(op, size) * noise(); i < bad {
					times[i] *= 1000
				}
			}
			r.Shuffle(reps-1, func(i, j int) { times[i+1], times[j+1] = times[j+1], times[i+1] })
			for _, s := range times {
				if err := list.add(op, int64(size), s); err != nil {
					panic(err)
				}
			}
		}
	}
	return list, bad * len(sizes)
}

// TestContaminatedNetwork: latency, bandwidth and breakpoint of drawn machines come back from noisy timings
// of which up to a fifth take 1,000 times as long. All is in units of the noise, whose median is 1: of
// contaminated timings the median is the quantile 0.5/(1-1/5) = 0.625 of the others, 0.32 deviations above
// that of a normal law, less above that of a half-normal one. The median of 20 timings has a standard error
// of 1.25/sqrt(16) = 0.31 of them, the line through at least 9 sizes of each operation a third of it, of
// which four are 0.4; and differences of ping-pong and overheads, here 1.15/0.85, have 1.4 times as much. 1.5
// deviations are room enough.
func TestContaminatedNetwork(t *testing.T) {
	var sizes []float64
	for size := 1.0; size < 1e7; size *= 1.5 {
		sizes = append(sizes, math.Ceil(size))
	}
	sizes = slices.Compact(sizes)
	const sd = 0.05
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 33))
		machine := newMachine(r, sizes)
		for _, law := range []struct {
			name string
			draw func() float64
		}{
			{"normal", func() float64 { return 1 + sd*r.NormFloat64() }},
			{"half-normal", func() float64 { return 1 + sd*(math.Abs(r.NormFloat64())-0.6745) }},
			{"log-normal", func() float64 { return math.Exp(sd * r.NormFloat64()) }},
		} {
			for _, part := range []float64{0, 0.05, 0.1, 0.15, 0.2} {
				messages, bad := machine.contaminated(r, sizes, 20, part, law.draw)
				name := fmt.Sprintf("machine %d, %s noise, %g %% contaminated", seed, law.name, 100*part)
				machine.check(t, name, messages, bad, 1.5*sd)
			}
		}
	}
}

// check compares what is fitted with the machine, and counts the timings that are warned of.
func (m *drawnMachine) check(t *testing.T, name string, messages *Messages, bad int, tolerance float64) {
	t.Helper()
	report := fitNetwork(t, messages, DefaultNetworkOptions())
	first, last := report.Transfers[0], report.Transfers[len(report.Transfers)-1]
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"latency of the route", report.Latency, 1.15 * m.below.Intercept},
		{"bandwidth of the route", 1 / report.Bandwidth, m.above.Slope},
		{"latency below", first.LatencyFactor * report.Latency, m.below.Intercept},
		{"seconds per byte above", 1 / (last.BandwidthFactor * report.Bandwidth), m.above.Slope},
	} {
		if !near(c.got, c.want, tolerance) {
			t.Errorf("%s: %s: %g, want %g", name, c.what, c.got, c.want)
		}
	}
	if got := report.fitOf(PingPong).fit.Breakpoints(); !slices.Contains(got, m.last) {
		t.Errorf("%s: breakpoints %v, want %g among them", name, got, m.last)
	}
	warned := 0
	for _, w := range report.Warnings {
		if strings.HasPrefix(w.Text, fmt.Sprintf("pingpong: %d of ", bad)) && bad > 0 {
			warned++
		}
		if bad == 0 && strings.Contains(w.Text, "than the median of their size") {
			t.Errorf("%s: warning %q", name, w)
		}
	}
	if bad > 0 && warned != 1 {
		t.Errorf("%s: warnings %q, want one of %d timings", name, report.Warnings, bad)
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
			must(t, errors.Join(err1, err2, messages.add(PingPong, size, times*2.3*one)))
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
		must(t, report.FitNoise(messages))
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

// TestNoiseOfFewTimings: the law of noise is recognized however seldom each of 300 sizes was timed.
func TestNoiseOfFewTimings(t *testing.T) {
	for shape, want := range map[noise.Shape]string{noise.Normal: "{normal:", noise.HalfNormal: "{half-normal:"} {
		for reps := uint32(3); reps < 7; reps++ {
			for seed := range uint64(5) {
				var b strings.Builder
				b.WriteString("function,m,n,k,seconds\n")
				s := noise.NewSource(seed)
				for size := range uint32(300) {
					m, n, k := 100+7*size, 200+11*((size*5)%300), 32+size%128
					for i := range reps {
						d := shape.Deviate(s.Draw(noise.Computation, size, 0, i))
						fmt.Fprintf(&b, "dgemm,%d,%d,%d,%.17g\n", m, n, k, 5e-11*float64(m)*float64(n)*float64(k)*(1+0.03*d))
					}
				}
				r := fitKernels(t, read(t, b.String(), ReadOptions{}), KernelOptions{Model: LinearOne, Criterion: "bic"})
				if law := r.Functions[0].All.noise(Auto); !strings.HasPrefix(law, want) {
					t.Errorf("%d timings of each size, seed %d: %s, want %s", reps, seed, law, want)
				}
			}
		}
	}
}

// add keeps a timing of one pair between hosts.
func (m *Messages) add(op Operation, bytes int64, seconds float64) error {
	return m.addAt(setting{Nodes, 1}, op, bytes, seconds)
}
