package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/kernels/noise"
)

// sample writes tables of timings whose law is known: each size timed some times, with normal noise of a part
// of the time.
type sample struct {
	text   strings.Builder
	source noise.Source
	reps   int
	noise  float64
	times  float64 // that every tenth timing takes as long
	drawn  uint32
}

func newSample(reps int, part, times float64) *sample {
	s := &sample{source: noise.NewSource(7), reps: reps, noise: part, times: times}
	s.text.WriteString("function,side,m,n,k,jb,role,seconds,host,rank\n")
	return s
}

func (s *sample) add(fields string, seconds float64, host string, rank int) {
	for range s.reps {
		s.drawn++
		d := s.source.Draw(1, 0, 0, s.drawn)
		x := seconds * (1 + s.noise*d.Normal())
		if d := s.source.Draw(2, 0, 0, s.drawn); float64(d[0])*0x1p-32 < 0.1 {
			x *= s.times
		}
		fmt.Fprintf(&s.text, "%s,%.9g,%s,%d\n", fields, x, host, rank)
	}
}

// gemms are sizes of dgemm as a run with NB = 64 has them.
func gemms() (list [][3]float64) {
	for _, m := range []float64{64, 150, 400, 1000, 1900} {
		for _, n := range []float64{64, 200, 700, 1800} {
			list = append(list, [3]float64{m, n, 64})
		}
		for _, k := range []float64{4, 8, 16, 32} {
			list = append(list, [3]float64{m, k, k})
		}
	}
	return list
}

func gemmSeconds(d [3]float64) float64 { return 4e-11*d[0]*d[1]*d[2] + 2e-10*d[0]*d[1] + 3e-7 }

// swapSeconds takes 0.4 ns an element up to 512 columns, as from a cache, and 4 ns beyond.
func swapSeconds(m, n float64) float64 {
	if n <= 512 {
		return 4e-10 * m * n
	}
	return 4e-9 * m * n
}

// all writes the timings of dgemm, dtrsm with two sides, dlaswp01T with a threshold and dlocswpT with roles.
func (s *sample) all(host string, rank int, factor float64) {
	for _, d := range gemms() {
		s.add(fmt.Sprintf("dgemm,,%g,%g,%g,,", d[0], d[1], d[2]), factor*gemmSeconds(d), host, rank)
	}
	for i := 1.0; i <= 30; i++ {
		n := math.Round(4 * math.Pow(1.25, i))
		s.add(fmt.Sprintf("dtrsm,L,64,%g,,,", n), factor*(3e-11*64*64*n+1e-7), host, rank)
		s.add(fmt.Sprintf("dtrsm,R,%g,64,,,", n), factor*(5e-11*64*64*n+1e-7), host, rank)
		s.add(fmt.Sprintf("dlaswp01T,,64,%g,,,", n), factor*swapSeconds(64, n), host, rank)
	}
	for role := range 5 {
		s.add(fmt.Sprintf("dlocswpT,,,,,64,%d", role), factor*1e-7*float64(1+role), host, rank)
	}
}

func learn(t *testing.T, text string, o LearnOptions) *LearnReport {
	t.Helper()
	r, err := LearnKernels(read(t, text, ReadOptions{Keep: true}), o)
	must(t, err)
	return r
}

// bind returns the seconds that the kernel file of a report says of a call.
func bind(t *testing.T, r *LearnReport, o FileOptions, host kernels.Host, sig kernels.Signature, dims [4]int64) float64 {
	t.Helper()
	set, _ := parsed(t, r, o)
	return model(t, set, host, sig).Seconds(&dims)
}

func trsm(side string) kernels.Signature {
	return kernels.Signature{Name: "dtrsm", Attrs: []kernels.Attr{{Name: "side", Value: side}}, Dims: dimsOf("M N")}
}

func dimsOf(text string) []string { return strings.Fields(text) }

// calls are calls that are not among those measured, with the laws of sample.all.
var calls = []struct {
	sig  kernels.Signature
	dims [4]int64
	want float64
}{
	{kernels.Signature{Name: "dgemm", Dims: dimsOf("M N K")}, [4]int64{777, 555, 64}, gemmSeconds([3]float64{777, 555, 64})},
	{kernels.Signature{Name: "dgemm", Dims: dimsOf("M N K")}, [4]int64{1500, 16, 16}, gemmSeconds([3]float64{1500, 16, 16})},
	{trsm("L"), [4]int64{64, 1111}, 3e-11*64*64*1111 + 1e-7},
	{trsm("R"), [4]int64{1111, 64}, 5e-11*64*64*1111 + 1e-7},
	{kernels.Signature{Name: "dlaswp01T", Dims: dimsOf("M N")}, [4]int64{64, 300}, swapSeconds(64, 300)},
	{kernels.Signature{Name: "dlaswp01T", Dims: dimsOf("M N")}, [4]int64{64, 1300}, swapSeconds(64, 1300)},
	{kernels.Signature{Name: "dlocswpT", Dims: dimsOf("JB COL ROLE")}, [4]int64{64, 0, 3}, 4e-7},
	{kernels.Signature{Name: "dlocswpT", Dims: dimsOf("JB COL ROLE")}, [4]int64{64, 5, 0}, 1e-7},
	{kernels.Signature{Name: "dgemm", Dims: dimsOf("M N K")}, [4]int64{777, 555, 0}, 0},
}

// TestLearn: of timings with 2 % of noise, by laws with attributes, a threshold and labels, the kernel file says the
// times of other calls to 2 %.
func TestLearn(t *testing.T) {
	s := newSample(5, 0.02, 1)
	s.all("n1", 0, 1)
	r := learn(t, s.text.String(), DefaultLearnOptions())
	if len(r.Kernels) != 5 || len(r.Unfit) > 0 || len(r.Warnings) > 0 {
		t.Errorf("%d kernels, unfit %v, warnings %v", len(r.Kernels), r.Unfit, r.Warnings)
	}
	for _, c := range calls {
		if got := bind(t, r, FileOptions{}, kernels.Host{Name: "h"}, c.sig, c.dims); !near(got, c.want, 0.02) {
			t.Errorf("%v %v: %g s, want %g", c.sig, c.dims, got, c.want)
		}
	}
	i := slices.IndexFunc(r.Kernels, func(k LearnedKernel) bool { return k.Function == "dlaswp01T" })
	if p := r.Kernels[i].Pieces; len(p) != 2 || p[0].If != "N <= 434" { // 512 lies between sizes of 4·1.25^21 = 434 and 4·1.25^22 = 542
		t.Errorf("pieces %+v", p)
	}
}

// TestLearnOutliers: one timing in ten that is 100 times as long moves no coefficient by more than two
// standard errors or 1 %, whichever is larger; also where a size was timed once, so that no median helps.
func TestLearnOutliers(t *testing.T) {
	for _, reps := range []int{1, 3, 10} {
		clean, dirty := newSample(reps, 0.02, 1), newSample(reps, 0.02, 100)
		clean.all("n1", 0, 1)
		dirty.all("n1", 0, 1)
		want, got := learn(t, clean.text.String(), DefaultLearnOptions()), learn(t, dirty.text.String(), DefaultLearnOptions())
		for i := range want.Kernels {
			k, l := &want.Kernels[i], &got.Kernels[i]
			if k.Function == "dlocswpT" && reps < 10 { // of each role there is one size: nothing is beside it
				continue
			}
			compareFits(t, fmt.Sprintf("%d timings of each size, %s", reps, k.name()), k, l)
		}
	}
}

func compareFits(t *testing.T, what string, k, l *LearnedKernel) {
	t.Helper()
	if len(k.Pieces) != len(l.Pieces) {
		t.Errorf("%s: %d pieces, without outliers %d", what, len(l.Pieces), len(k.Pieces))
		return
	}
	for i := range k.Pieces {
		a, b := k.Pieces[i].Coefficients, l.Pieces[i].Coefficients
		if len(a) != len(b) {
			t.Errorf("%s, piece %d: %v, without outliers %v", what, i, b, a)
			continue
		}
		for j := range a {
			bound := max(2*a[j].StdErr, 0.01*a[j].Value)
			if a[j].Term != b[j].Term || math.Abs(a[j].Value-b[j].Value) > bound {
				t.Errorf("%s, piece %d: %g ± %g %s, without outliers %g ± %g %s", what, i, b[j].Value, b[j].StdErr, b[j].Term, a[j].Value, a[j].StdErr, a[j].Term)
			}
		}
	}
}

// TestLearnRegimes: a size whose timings agree is no outlier, though it takes 10 times as long as those
// beside it; one with timings from once to 20 times as long is.
func TestLearnRegimes(t *testing.T) {
	for spread, want := range map[float64]int{1.1: 0, 20: 1} {
		s := newSample(1, 0, 1)
		for n := 100.0; n <= 2000; n += 100 {
			slope := 1e-9
			if n == 1000 {
				slope = 1e-8
			}
			for i := range 5 {
				seconds := slope * n
				if n == 1000 {
					seconds *= 1 + (spread-1)*float64(i)/4
				}
				s.add(fmt.Sprintf("dscal,,,%g,,,", n), seconds, "h", 0)
			}
		}
		if k := learn(t, s.text.String(), DefaultLearnOptions()).Kernels[0]; k.Outliers != want || k.Sizes != 20-want {
			t.Errorf("timings up to %g times the least: %d outliers of %d sizes, want %d", spread, k.Outliers, k.Sizes+k.Outliers, want)
		}
	}
}

// TestLearnPer: hosts that differ by 10 % have models that do, in the file, on a base or not.
func TestLearnPer(t *testing.T) {
	s := newSample(5, 0.01, 1)
	s.all("n1", 0, 1)
	s.all("n2", 1, 1.1)
	base := []byte("version: 1\nunit: flop\nkernels:\n  \"*\": free\n")
	for _, by := range []Grouping{ForHost, ForCPU} {
		o := DefaultLearnOptions()
		o.For = by
		r := learn(t, s.text.String(), o)
		for _, file := range []FileOptions{{HostName: "node-{}"}, {HostName: "node-{}", Base: base}, {HostName: "node-{}", Noise: Auto}} {
			for _, c := range calls {
				one := bind(t, r, file, kernels.Host{Name: "node-n1"}, c.sig, c.dims)
				other := bind(t, r, file, kernels.Host{Name: "node-n2", Slot: 1}, c.sig, c.dims)
				if !near(one, c.want, 0.02) || !near(other, 1.1*c.want, 0.02) {
					t.Errorf("%v %v: %g and %g s, want %g and %g", c.sig, c.dims, one, other, c.want, 1.1*c.want)
				}
			}
		}
	}
}

// TestLearnStdErr: the standard error of a slope is that by which it scatters: of 200 samples of one noise, to 20 %.
func TestLearnStdErr(t *testing.T) {
	var all moments
	sum := 0.0
	const samples = 200
	for i := range samples {
		s := newSample(1, 0.05, 1)
		s.drawn = uint32(1000 * i)
		for n := 100.0; n <= 4000; n += 100 {
			s.add(fmt.Sprintf("dscal,,,%g,,,", n), 1e-10*n, "h", 0)
		}
		c := learn(t, s.text.String(), LearnOptions{Statistic: Median, MaxPieces: 1, Terms: map[string][]string{"dscal": {"N"}}}).Kernels[0].Pieces[0].Coefficients[0]
		all.add(c.Value)
		sum += c.StdErr
	}
	if !near(all.sd(), sum/samples, 0.2) || !near(all.mean, 1e-10, 0.003) {
		t.Errorf("slopes %g ± %g, standard errors %g", all.mean, all.sd(), sum/samples)
	}
}

// TestLearnWeights: a run that makes large calls alone has the model that is right for these, where one of two terms
// cannot be right for all: times of 1e-9 N below 1000, 2e-9 N from there on, without a threshold.
func TestLearnWeights(t *testing.T) {
	s := newSample(1, 0, 1)
	for n := 100.0; n <= 2000; n += 50 {
		slope := 1e-9
		if n >= 1000 {
			slope = 2e-9
		}
		s.add(fmt.Sprintf("dscal,,,%g,,,", n), slope*n, "h", 0)
	}
	for size, want := range map[int64]float64{200: 1e-9, 1800: 2e-9} {
		o := DefaultLearnOptions()
		o.MaxPieces, o.Run = 1, &Run{}
		k := o.Run.Kernel("dscal", nil, dimsOf("N"))
		for i := range int64(100) {
			o.Run.Add(k, [MaxDims]int64{size + i - 50}, 10)
		}
		other := o.Run.Kernel("dfft", nil, dimsOf("N"))
		o.Run.Add(other, [MaxDims]int64{5}, 1)
		r := learn(t, s.text.String(), o)
		if got := secondsOf(r.Kernels[0].Pieces, &[MaxDims]int64{size}) / float64(size); !near(got, want, 0.1) {
			t.Errorf("calls of %d: %g s an element, want %g", size, got, want)
		}
		if share := r.Kernels[0].Share; share == nil || *share != 1 {
			t.Errorf("share %v, want all", share)
		}
		if !slices.Equal(r.Missing, []string{"dfft"}) {
			t.Errorf("missing %v, want dfft", r.Missing)
		}
	}
}

// TestLearnAlone: two kernels that take 1 and 3 s of a run by timings of two ranks at once, and 0.5 and 2.5 s by those of
// a rank alone: 75 %, which the kernel file has. Timings that differ more than sharing explains are left out.
func TestLearnAlone(t *testing.T) {
	timings := func(scal, axpy float64) *LearnReport {
		text := "function,n,seconds,host,rank,alone\n"
		for n := 100.0; n <= 2000; n += 100 {
			for rank := range 2 {
				text += fmt.Sprintf("dscal,%g,%g,h,%d,\ndaxpy,%g,%g,h,%d,\n", n, scal*1e-9*n, rank, n, axpy*1e-9*n, rank)
			}
			text += fmt.Sprintf("dscal,%g,%g,h,0,1\ndaxpy,%g,%g,h,0,1\n", n, 0.5e-9*n, n, 2.5e-9*n)
		}
		o := DefaultLearnOptions()
		o.Run = &Run{}
		for _, kernel := range []string{"dscal", "daxpy"} {
			o.Run.Add(o.Run.Kernel(kernel, nil, dimsOf("N")), [MaxDims]int64{1000}, 1e6)
		}
		return learn(t, text, o)
	}
	r := timings(1, 3)
	if !near(r.Alone, 0.75, 1e-9) || r.Ranks != 2 || r.Timings != 80 {
		t.Errorf("%g with %d ranks, %d timings at once", r.Alone, r.Ranks, r.Timings)
	}
	sig := kernels.Signature{Name: "daxpy", Dims: dimsOf("N")}
	if got := bind(t, r, FileOptions{}, kernels.Host{Name: "h", Ranks: 1}, sig, [4]int64{1000}); !near(got, 2.25e-6, 1e-9) {
		t.Errorf("alone %g s, want 75 %% of 3 us", got)
	}
	// Twice as quick is the most that two ranks can lose by sharing all.
	r = timings(10, 30)
	if w := r.Warned(); r.Alone != 0 || len(w) == 0 || !strings.Contains(w[len(w)-1].String(), "7.5 % of the time of each of 2, which should be 50 to 110 %") {
		t.Errorf("a rank alone takes %g of the time; warnings %v", r.Alone, w)
	}
}

// TestLearnOutside: a run whose calls are ten times as large as all that was measured is warned of.
func TestLearnOutside(t *testing.T) {
	s := newSample(1, 0, 1)
	for n := 10.0; n <= 200; n += 10 {
		s.add(fmt.Sprintf("dscal,,,%g,,,", n), 1e-9*n, "h", 0)
	}
	o := DefaultLearnOptions()
	o.Run = &Run{}
	o.Run.Add(o.Run.Kernel("dscal", nil, dimsOf("N")), [MaxDims]int64{2000}, 3)
	r := learn(t, s.text.String(), o)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].String(), "100 % of its time in the run is spent on sizes beyond those measured") {
		t.Errorf("warnings %v", r.Warnings)
	}
}

// TestLearnDisturbed: timings in which the rank had its processor for less than nine tenths of the time are left out,
// unless a size has no others.
func TestLearnDisturbed(t *testing.T) {
	var b strings.Builder
	b.WriteString("function,n,seconds,processor\n")
	for n := 10; n <= 100; n += 10 {
		fmt.Fprintf(&b, "dscal,%d,%de-9,0.95\ndscal,%d,%de-9,0.5\ndscal,%d,%de-9,0.3\n", n, n, n, 2*n, n, 3*n)
		fmt.Fprintf(&b, "daxpy,%d,%de-9,0.5\n", n, 2*n)
	}
	r := learn(t, b.String(), DefaultLearnOptions())
	for i, want := range []float64{1e-9, 2e-9} {
		if c := r.Kernels[i].Pieces[0].Coefficients; len(c) != 1 || !near(c[0].Value, want, 1e-9) {
			t.Errorf("%s: %+v, want %g N", r.Kernels[i].name(), c, want)
		}
	}
	if err := readInto(NewTimings(), "function,n,seconds,processor\ndscal,1,1,1.5\n", ReadOptions{Keep: true}); err == nil || !strings.Contains(err.Error(), "processor 1.5, want 0 to 1") {
		t.Errorf("got %v", err)
	}
}

// TestLearnHosts: hosts that take 0.9, 1 and 1.1 times as long differ by 10 %, which is their standard
// deviation by their mean; two of them say nothing.
func TestLearnHosts(t *testing.T) {
	for hosts, want := range map[int]float64{2: 0, 3: 0.1} {
		s := newSample(3, 0.001, 1)
		for i := range hosts {
			s.all(fmt.Sprintf("n%d", i), 0, []float64{1, 0.9, 1.1}[i])
		}
		r := learn(t, s.text.String(), DefaultLearnOptions())
		if !near(r.HostScatter, want, 0.02) {
			t.Errorf("%d hosts differ by %g, want %g", hosts, r.HostScatter, want)
		}
		if _, text := parsed(t, r, FileOptions{}); strings.Contains(text, "\nhost_scatter: ") != (hosts == 3) {
			t.Error(text)
		}
	}
}

// TestLearnOperands: timings of hot and cold operands in one model are warned of.
func TestLearnOperands(t *testing.T) {
	text := "function,n,operands,seconds\ndscal,1,hot,1e-9\ndscal,2,hot,2e-9\ndscal,3,cold,3e-9\n"
	if r := learn(t, text, DefaultLearnOptions()); len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].String(), "operands hot and cold are taken together") {
		t.Errorf("warnings %v", r.Warnings)
	}
}

func TestLearnRefusals(t *testing.T) {
	one := "function,n,seconds\ndscal,1,1e-6\n"
	for want, o := range map[string]LearnOptions{
		"at most 0 pieces": {Statistic: Median}, `statistic "mean"`: {Statistic: Mean, MaxPieces: 1},
		"terms given for dgemm":             {Statistic: Median, MaxPieces: 1, Terms: map[string][]string{"dgemm": {"1"}}},
		"dscal: no meaningful fit: 1 sizes": DefaultLearnOptions(),
	} {
		if _, err := LearnKernels(read(t, one, ReadOptions{Keep: true}), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := LearnKernels(NewTimings(), DefaultLearnOptions()); !errors.Is(err, ErrMeaningless) {
		t.Errorf("nothing: %v", err)
	}
}

// TestLearnedNoise: timings of three hosts, of which each takes a fifth longer than the one before, scatter
// by 10 % of their times on each: that is their noise, however few there are of a size, and not what hosts
// differ by. Of 400 sizes that are timed so often on three hosts it is known to 1/sqrt(2·400·3·(reps-1)), of
// two each 2 %; four times that is allowed.
func TestLearnedNoise(t *testing.T) {
	for _, shape := range []string{Normal, HalfNormal} {
		for _, reps := range []int{2, 3, 5, 20} {
			var text strings.Builder
			text.WriteString("function,n,seconds,host\n")
			source, drawn := noise.NewSource(11), uint32(0)
			for i := range 400 {
				for host := range 3 {
					for range reps {
						drawn++
						d := source.Draw(1, 0, 0, drawn)
						z := d.Normal()
						if shape == HalfNormal {
							z = (math.Abs(z) - math.Sqrt(2/math.Pi)) / math.Sqrt(1-2/math.Pi)
						}
						fmt.Fprintf(&text, "dscal,%d,%.9g,%d\n", 1000+100*i, 1e-9*float64(1000+100*i)*math.Pow(1.2, float64(host))*(1+0.1*z), host)
					}
				}
			}
			p := learn(t, text.String(), LearnOptions{Statistic: Median, MaxPieces: 1}).Kernels[0].Pieces[0]
			if bound := 0.1 * 4 / math.Sqrt(2*400*3*float64(reps-1)); math.Abs(p.Variation-0.1) > bound {
				t.Errorf("%s, %d timings: noise of %.4f, want 0.1 to within %.4f", shape, reps, p.Variation, bound)
			}
			if reps > 2 && IsHalfNormal(p.Skewness) != (shape == HalfNormal) {
				t.Errorf("%s, %d timings: skewness %.2f", shape, reps, p.Skewness)
			}
		}
	}
}

// TestFewForShape: one size that was timed three times tells nothing of the shape of normal noise, though its
// timings lean to one side, as the two shorter ones are close together.
func TestFewForShape(t *testing.T) {
	var text strings.Builder
	text.WriteString("function,n,seconds\n")
	for i := range 40 {
		one := 1e-9 * float64(1000+100*i)
		fmt.Fprintf(&text, "dscal,%d,%.9g\ndscal,%d,%.9g\n", 1000+100*i, 0.95*one, 1000+100*i, 1.05*one)
	}
	text.WriteString("dscal,1000,1.2e-6\n")
	if p := learn(t, text.String(), LearnOptions{Statistic: Median, MaxPieces: 1}).Kernels[0].Pieces[0]; p.Skewness != 0 || p.Variation == 0 {
		t.Errorf("skewness %.2f, variation %.3f, want 0 and some", p.Skewness, p.Variation)
	}
}

// TestHostsErrors: hosts that differ by a factor of two, and were timed at sizes of their own, have models of
// their own that fit, and one of both that does not: that one is not what the run uses.
func TestHostsErrors(t *testing.T) {
	var text strings.Builder
	text.WriteString("function,n,seconds,host\n")
	for i := range 40 {
		fmt.Fprintf(&text, "dscal,%d,%.9g,a\ndscal,%d,%.9g,b\n", 1000+100*i, 1e-9*float64(1000+100*i), 1050+100*i, 2e-9*float64(1050+100*i))
	}
	o := DefaultLearnOptions()
	if r := learn(t, text.String(), o); len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].String(), "dscal: the model is 3") {
		t.Errorf("one model: warnings %v, want that it is a third off", r.Warnings)
	}
	o.For = ForHost
	r := learn(t, text.String(), o)
	for _, g := range r.Kernels[0].Groups {
		if g.Error > 1e-6 || g.WorstError > 1e-6 {
			t.Errorf("host %s: error %g, worst %g, want none", g.Host, g.Error, g.WorstError)
		}
	}
	if len(r.Warnings) > 0 {
		t.Errorf("models of hosts: warnings %v, want none", r.Warnings)
	}
	var report strings.Builder
	if err := r.WriteText(&report); err != nil || !strings.Contains(report.String(), "\n  host b ") {
		t.Errorf("%v, report\n%s", err, report.String())
	}
}

// TestNearest: the six nearest places are the first six of all in the order of their distances, of equal ones
// in that of the places.
func TestNearest(t *testing.T) {
	var places [][MaxDims]float64
	for i := range 500 {
		places = append(places, [MaxDims]float64{float64(i * i % 37), float64(i * 7 % 23)})
	}
	for i := range places {
		distance := func(j int) float64 {
			x, y := places[j][0]-places[i][0], places[j][1]-places[i][1]
			return x*x + y*y
		}
		var all []int
		for j := range places {
			if j != i {
				all = append(all, j)
			}
		}
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
		if got := nearest(places, i, 6); !slices.Equal(got, all[:6]) {
			t.Fatalf("place %d: %v, want %v", i, got, all[:6])
		}
		if got := nearest(places[:4], i%4, 6); len(got) != 3 {
			t.Fatalf("of 4 places %v are beside one", got)
		}
	}
}

// loopTable has timings of HPCG's kernels: a piece of what a loop works on takes as long as rate says of its
// level and size. Each size is timed as often as there are factors, each time by one of these longer.
func loopTable(rows [][4]int64, rate func(d [4]int64) float64, factors ...float64) string {
	var b strings.Builder
	b.WriteString("function,n,level,rows,nnz,cols,vectors,operands,seconds\n")
	for _, d := range rows {
		for _, f := range factors {
			fmt.Fprintf(&b, "symgs,,%d,%d,%d,%d,,run,%.17g\n", d[0], d[1], d[2], d[3], f*rate(d)*float64(d[2]))
			fmt.Fprintf(&b, "dot,%d,,,,,%d,run,%.17g\n", d[1], d[0]%2, f*rate(d)*float64(d[1]))
		}
	}
	return b.String()
}

// learned returns the models of a table as a kernel file's.
func learned(t *testing.T, text string) (*LearnReport, *kernels.Set) {
	t.Helper()
	report := learn(t, text, DefaultLearnOptions())
	set, _ := parsed(t, report, FileOptions{})
	return report, set
}

var (
	symgsSignature = kernels.Signature{Name: "symgs", Dims: []string{"LEVEL", "ROWS", "NNZ", "COLS"}}
	dotSignature   = kernels.Signature{Name: "dot", Dims: []string{"N", "VECTORS"}}
)

func secondsBy(t *testing.T, set *kernels.Set, sig kernels.Signature, d [4]int64) float64 {
	t.Helper()
	m := model(t, set, kernels.Host{Name: "h", Speed: 1}, sig)
	return m.Seconds(&d)
}

// TestWorkingSets: boxes of 16 and 32 points in each direction share sizes on different levels, which are in
// other caches; each level and size comes back as it was timed, however much its rate differs from those
// beside it. Sizes between are nearer to the one or the other by their ratio: of 4096 and 32768 rows the
// border is 11585.
func TestWorkingSets(t *testing.T) {
	matrix := func(level, n, faces int64) [4]int64 {
		return [4]int64{level, n * n * n, (3*n - 2 + faces) * (3*n - 2) * (3*n - 2), (n + faces) * n * n}
	}
	var rows [][4]int64
	for level := range int64(4) {
		rows = append(rows, matrix(level, 16>>level, 1), matrix(level, 32>>level, 1))
	}
	rate := func(d [4]int64) float64 { return 1e-9 * float64(1+d[0]*d[0]+d[1]%7) }
	report, set := learned(t, loopTable(rows, rate, 1))
	for _, d := range rows {
		if got, want := secondsBy(t, set, symgsSignature, d), rate(d)*float64(d[2]); math.Abs(got-want) > 1e-12*want {
			t.Errorf("symgs %v: %g s, want %g", d, got, want)
		}
	}
	for _, c := range []struct{ rows, like int64 }{{11585, 4096}, {11586, 32768}, {1, 4096}, {1 << 30, 32768}} {
		like := matrix(0, 16, 1)
		if c.like == 32768 {
			like = matrix(0, 32, 1)
		}
		if got, want := secondsBy(t, set, symgsSignature, [4]int64{0, c.rows, 1000, c.rows}), 1000*rate(like); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%d rows: %g s, want %g", c.rows, got, want)
		}
	}
	for _, label := range []int64{0, 1} { // a call whose label is zero is not empty
		if got := secondsBy(t, set, dotSignature, [4]int64{4096, label}); got == 0 {
			t.Errorf("dot of label %d takes no time", label)
		}
	}
	if got := secondsBy(t, set, symgsSignature, [4]int64{}); got != 0 {
		t.Errorf("an empty call takes %g s", got)
	}
	for _, k := range report.Kernels {
		if k.WorstError > 1e-12 {
			t.Errorf("%s: %+v", k.Function, k)
		}
	}
}

// TestMiddleHalf: symgs is called before and after the coarser grids, and takes 1 or 2 units; of as many of
// both the mean is 1.5, which no single call takes; with a disturbed one of 3, of 21 timings the middle half
// are 9, from the 7th to the 15th: four of 1 and five of 2.
func TestMiddleHalf(t *testing.T) {
	size := [][4]int64{{0, 100, 2000, 120}}
	unit := func([4]int64) float64 { return 1e-9 }
	var ten []float64
	for range 10 {
		ten = append(ten, 1, 2)
	}
	for _, c := range []struct {
		factors []float64
		want    float64
	}{{ten, 1.5}, {append(ten, 3), 14.0 / 9}} {
		_, set := learned(t, loopTable(size, unit, c.factors...))
		if got, want := secondsBy(t, set, symgsSignature, size[0]), c.want*2000e-9; math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v: %g s, want %g", c.factors, got, want)
		}
	}
}

// TestManyWorkingSets: of more sizes than have pieces of their own thresholds are learned, here one between
// 20^3 and 21^3 rows, below which a nonzero takes 2 ns, above it 4.
func TestManyWorkingSets(t *testing.T) {
	var rows [][4]int64
	for n := int64(2); n < 40; n++ {
		rows = append(rows, [4]int64{0, n * n * n, 27 * n * n * n, n * n * n})
	}
	rate := func(d [4]int64) float64 {
		if d[1] <= 8000 {
			return 2e-9
		}
		return 4e-9
	}
	report, set := learned(t, loopTable(rows, rate, 1, 1))
	for n, want := range map[int64]float64{8000: 2e-9, 9261: 4e-9} {
		if got := secondsBy(t, set, symgsSignature, [4]int64{0, n, 27 * n, n}); math.Abs(got-want*27*float64(n)) > 1e-12*got || len(report.Kernels[0].Pieces) != 2 {
			t.Errorf("%d rows: %g s of %d pieces, want %g s a nonzero, of two", n, got, len(report.Kernels[0].Pieces), want)
		}
	}
}

// TestManyLabels: a column that has the name of a label and hundreds of values is none.
func TestManyLabels(t *testing.T) {
	var text strings.Builder
	text.WriteString("function,jb,role,seconds\n")
	for i := range 257 {
		fmt.Fprintf(&text, "dlocswpT,%d,%d,1e-6\n", 1+i%7, i)
	}
	_, err := LearnKernels(read(t, text.String(), ReadOptions{Keep: true}), DefaultLearnOptions())
	if err == nil || !strings.Contains(err.Error(), "257 values of the label ROLE") {
		t.Errorf("%v, want that there are too many", err)
	}
	_, err = LearnKernels(read(t, text.String(), ReadOptions{Keep: true, Dims: []string{"jb"}}), DefaultLearnOptions())
	if err != nil {
		t.Errorf("without it: %v", err)
	}
}

// FuzzLearn: whatever a table says, what is learned is finite and its kernel file is one, or there is an error.
func FuzzLearn(f *testing.F) {
	s := newSample(1, 0.02, 1)
	s.all("n1", 0, 1)
	f.Add(s.text.String(), 2)
	f.Add(polynomialTable(), 1)
	f.Add("function,m,n,k,seconds\ndgemm,1,1,1,0\ndgemm,2,2,2,2\ndgemm,3,3,3,1\n", 0)
	f.Add("function,side,n,role,seconds\na,L,1,3,1\na,L,9223372036854775807,3,2\na,L,5,0,1e9\na,,4,1,1e-15\n", 0)
	f.Fuzz(func(t *testing.T, text string, by int) {
		timings := NewTimings()
		if readInto(timings, text, ReadOptions{Keep: true}) != nil {
			return
		}
		o := DefaultLearnOptions()
		o.For = Grouping(uint(by) % 3)
		r, err := LearnKernels(timings, o)
		if err != nil {
			return
		}
		checkFuzzed(t, r, FileOptions{Noise: Auto})
	})
}
