package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/calibrate/regress"
	"reprise/calibrate/table"
	"reprise/kernels"
	"reprise/kernels/noise"
)

// read gathers the timings of a table.
func read(t *testing.T, text string, o ReadOptions) *Timings {
	t.Helper()
	timings := NewTimings()
	must(t, readInto(timings, text, o))
	return timings
}

func readInto(timings *Timings, text string, o ReadOptions) error {
	r, err := table.NewReader(strings.NewReader(text), "t.csv")
	if err != nil {
		return err
	}
	return timings.Read(r, o)
}

func fitKernels(t *testing.T, timings *Timings, o KernelOptions) *KernelReport {
	t.Helper()
	r, err := FitKernels(timings, o)
	must(t, err)
	return r
}

// writer is a report that has a kernel file.
type writer interface {
	WriteYAML(io.Writer, FileOptions) error
}

// parsed returns the kernel file of a report, as the replayer reads it and as text.
func parsed(t *testing.T, r writer, o FileOptions) (*kernels.Set, string) {
	t.Helper()
	var b strings.Builder
	must(t, r.WriteYAML(&b, o))
	set, err := kernels.Parse(strings.NewReader(b.String()), "fit.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return set, b.String()
}

func model(t *testing.T, set *kernels.Set, host kernels.Host, sig kernels.Signature) *kernels.Model {
	t.Helper()
	m, err := set.Bind(host, sig)
	must(t, err)
	return &m
}

// checkFuzzed checks that a report of any table is finite and that its kernel file, if it can have one, is read.
func checkFuzzed(t *testing.T, r writer, o FileOptions) {
	t.Helper()
	if _, err := json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteYAML(io.Discard, o); !errors.Is(err, ErrMeaningless) { // of CPUs whose numbers have gaps
		parsed(t, r, o)
	}
}

func near(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

// polynomialTable has dgemm timings of 27 sizes on two hosts of two CPUs each, by the model
// a M N K + b M K + c N K + d, where a grows by 1e-11 from CPU to CPU.
func polynomialTable() string {
	var b strings.Builder
	b.WriteString("function,host,cpu,m,n,k,seconds\n")
	for cpu := range 4 {
		for _, m := range []float64{10, 300, 2000} {
			for _, n := range []float64{20, 400, 1500} {
				for _, k := range []float64{30, 128, 700} {
					s := (5e-11+1e-11*float64(cpu))*m*n*k + 2e-9*m*k + 4e-9*n*k + 3e-6
					fmt.Fprintf(&b, "dgemm,n-%d,%d,%g,%g,%g,%.17g\n", 1+cpu/2, cpu%2, m, n, k, s)
				}
			}
		}
	}
	return b.String()
}

// TestPolynomial: known coefficients come back, of each CPU; the model without
// the other terms is far from the data, so that M-2 is chosen, in which the product of all dimensions is one
// term, however it is written. The replayer's reader takes what WriteYAML writes, and gives the
// fitted times: on the host that was measured those of its CPU, elsewhere those of all together,
// a = (5+6+7+8)/4 e-11 as all have the same sizes.
func TestPolynomial(t *testing.T) {
	o := KernelOptions{For: ForCPU, Model: Auto, Criterion: "bic", Product: map[string]string{"dgemm": "K*M*N"}}
	r := fitKernels(t, read(t, polynomialTable(), ReadOptions{}), o)
	f := r.Functions[0]
	if f.Model != Polynomial || len(f.Groups) != 4 {
		t.Fatalf("model %s, %d groups", f.Model, len(f.Groups))
	}
	for cpu, g := range f.Groups {
		want := []float64{5e-11 + 1e-11*float64(cpu), 0, 2e-9, 4e-9, 3e-6}
		for j, c := range g.Coefficients {
			// What is left of the term that is not in the data: far below the others.
			if !near(c.Value, want[j], 1e-6) && math.Abs(c.Value-want[j]) > 1e-14 {
				t.Errorf("CPU %d: %s: got %g, want %g", cpu, c.Term, c.Value, want[j])
			}
		}
		if g.Host != fmt.Sprintf("n-%d", 1+cpu/2) || *g.CPU != cpu%2 {
			t.Errorf("group %d is of host %s, CPU %d", cpu, g.Host, *g.CPU)
		}
	}
	set, _ := parsed(t, r, FileOptions{Source: `with "quotes": and a colon`, HostName: "x{}.org", Empty: "charged"})
	for _, test := range []struct {
		host kernels.Host
		a    float64
	}{
		{kernels.Host{Name: "xn-1.org", Slot: 0}, 5e-11}, {kernels.Host{Name: "xn-1.org", Slot: 3}, 6e-11},
		{kernels.Host{Name: "xn-2.org", Slot: 2}, 7e-11}, {kernels.Host{Name: "other", Slot: 0}, 6.5e-11},
	} {
		m := model(t, set, test.host, kernels.Signature{Name: "dgemm", Dims: dimsOf("M N K")})
		got, want := m.Seconds(&[4]int64{1000, 500, 100}), test.a*5e7+2e-9*1e5+4e-9*5e4+3e-6
		if !near(got, want, 1e-6) {
			t.Errorf("%+v: %g s, want %g", test.host, got, want)
		}
	}
}

// TestLinear: with scatter that alternates around 1e-9 MN + 1e-6, no other term
// helps: M-1 is chosen by BIC. Means per size: the two timings of a size are 10 % around it,
// so sd = 0.1 sqrt(2) mean and variation 0.1414.
func TestLinear(t *testing.T) {
	var b strings.Builder
	b.WriteString("kernel,M,N,time\n")
	for i := range 40 {
		m, n := 100+50*i, 64+(i*37)%400
		mean := (1e-9*float64(m*n) + 1e-6) * (1 + 0.001*float64(1-i%2*2))
		fmt.Fprintf(&b, "dger,%d,%d,%.17g\ndger,%d,%d,%.17g\n", m, n, 0.9*mean, m, n, 1.1*mean)
	}
	r := fitKernels(t, read(t, b.String(), ReadOptions{}), KernelOptions{Model: Auto, Criterion: "bic", Relative: true})
	f := r.Functions[0]
	if f.Model != LinearOne || !near(f.All.Coefficients[0].Value, 1e-9, 1e-3) || !near(f.All.Coefficients[1].Value, 1e-6, 0.1) {
		t.Errorf("model %s, %+v", f.Model, f.All.Coefficients)
	}
	if n := f.All.NoiseModel; n == nil || !near(n.Variation, 0.1*math.Sqrt2, 1e-9) || n.Points != 40 {
		t.Errorf("noise %+v", n)
	}
}

// TestConstants of y(n) = b n + c, by least squares and by hand.
func TestConstants(t *testing.T) {
	for _, test := range []struct {
		name, rows string
		want       []Coefficient
	}{
		// The constant is not what times grow by, wherever it stands among the terms.
		{"the constant first", "10,1\n20,11\n30,21\n", []Coefficient{{Term: "1", Value: -9}, {Term: "N", Value: 1}}},
		// 2 n + 1 exactly.
		{"as fitted", "0,1\n1,3\n3,7\n", []Coefficient{{Term: "N", Value: 2}, {Term: "1", Value: 1}}},
		// The line is 3n - 2; through (1, 1) it is the same; from 0, the slope is (1+8+21)/(1+4+9).
		{"below zero", "1,1\n2,4\n3,7\n", []Coefficient{{Term: "N", Value: 30.0 / 14}}},
		// The line is 4.49 n - 46.9: below zero for four of the six sizes. Through (1, 1) the constant is
		// below zero too.
		{"below zero for most sizes", "1,1\n2,2\n3,3\n4,4\n100,100\n200,1000\n", []Coefficient{{Term: "N", Value: 210030.0 / 50030}}},
		// The line is 1.95 n + 7.5, above the shortest time, 1. Through (0, 1): slope (10*39 + 20*39)/(100+400).
		{"above the shortest time", "0,1\n10,40\n20,40\n", []Coefficient{{Term: "N", Value: 2.34}, {Term: "1", Value: 1, Fixed: true}}},
		// The line is 1.25 n + 7/6, above 1, but by less than half: nothing was timed twice.
		{"above the shortest time by less than it may scatter", "0,1\n10,14\n20,26\n", []Coefficient{{Term: "N", Value: 1.25}, {Term: "1", Value: 7.0 / 6}}},
		// The same, times three: 1 is the mean of timings with a standard error of 0.2/sqrt(3); five of them are 0.58.
		{"above the shortest time by less than it scatters", "0,0.8\n0,1\n0,1.2\n10,14\n20,26\n", []Coefficient{{Term: "N", Value: 1.25}, {Term: "1", Value: 7.0 / 6}}},
		// A standard error of 0.02/sqrt(3): 1/6 is above 0.058. Through (0, 1): slope (10*13 + 20*25)/500.
		{"above the shortest time by more than it scatters", "0,0.98\n0,1\n0,1.02\n10,14\n20,26\n", []Coefficient{{Term: "N", Value: 1.26}, {Term: "1", Value: 1, Fixed: true}}},
		// Sxy = (-10)(-26)+10*35 with means 10, 28: the line is 3.05 n - 2.5 (y: 2, 19, 63).
		// Through (0, 2): slope (10*17 + 20*61)/500.
		{"below zero, with a short call", "0,2\n10,19\n20,63\n", []Coefficient{{Term: "N", Value: 2.78}, {Term: "1", Value: 2, Fixed: true}}},
	} {
		o := KernelOptions{Model: LinearOne, Criterion: "aic"}
		if test.want[0].Term == "1" {
			o.Terms = map[string][]string{"daxpy": {"1", "N"}}
		}
		r := fitKernels(t, read(t, "n,seconds\n"+test.rows, ReadOptions{Function: "daxpy"}), o)
		got := r.Functions[0].All.Coefficients
		if len(got) != len(test.want) {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
			continue
		}
		for j, want := range test.want {
			if g := got[j]; g.Term != want.Term || !near(g.Value, want.Value, 1e-12) || test.name != "as fitted" && g.Fixed != want.Fixed {
				t.Errorf("%s: got %+v, want %+v", test.name, g, want)
			}
		}
	}
}

// TestLevelTimes: a constant is what M-1 leaves over where it falls by no more than chance, and
// the times are near the constant.
func TestLevelTimes(t *testing.T) {
	for _, test := range []struct {
		name, rows string
		want       float64 // 0: refused
	}{
		// Slope -0.05/5; residuals 0, -0.01, 0.02 and -0.01, so its standard error is sqrt(0.0006/2/5) = 0.0077.
		{"by chance", "1,3.01\n2,2.99\n3,3.01\n4,2.97\n", 2.995},
		{"on a line", "1,3.03\n2,3.01\n3,2.99\n4,2.97\n", 0},
		// Slope -0.4 with a standard error of sqrt(3.2/2/5) = 0.57, but 2 is off by 67 % on average.
		{"by chance, far from a constant", "1,3\n2,1\n3,3\n4,1\n", 0},
	} {
		r, err := FitKernels(read(t, "n,seconds\n"+test.rows, ReadOptions{Function: "swap"}), DefaultKernelOptions())
		switch {
		case test.want == 0 && errors.Is(err, ErrMeaningless):
		case test.want == 0 || err != nil:
			t.Errorf("%s: got %v, want refused: %v", test.name, err, test.want == 0)
		case r.Functions[0].Model != Constant || !near(r.Functions[0].All.Coefficients[0].Value, test.want, 1e-12):
			t.Errorf("%s: got %s %+v, want the constant %g", test.name, r.Functions[0].Model, r.Functions[0].All.Coefficients, test.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	const head = "function,m,n,k,seconds\n"
	for _, test := range []struct {
		name, text, want string
		o                KernelOptions
	}{
		{"no rows", head, "no timings", KernelOptions{Model: Auto, Criterion: "bic"}},
		{"one size", head + "dgemm,1,1,1,1\ndgemm,1,1,1,2\n", "dgemm: no meaningful fit: M-0: no meaningful fit: too few points: 1 for 1 coefficients", KernelOptions{Model: Auto, Criterion: "bic"}},
		{"two sizes for a line", head + "dgemm,1,1,1,1\ndgemm,2,2,2,2\n", "too few points: 2 for 2 coefficients, want at least 3", KernelOptions{Model: LinearOne, Criterion: "bic"}},
		{"all cubes", head + "dgemm,1,1,1,1\ndgemm,2,2,2,8\ndgemm,3,3,3,27\ndgemm,4,4,4,64\ndgemm,5,5,5,125\ndgemm,6,6,6,200\n", "terms that the points cannot tell apart: condition number", KernelOptions{Model: Polynomial, Criterion: "bic"}},
		{"falling", head + "dgemm,1,1,1,3\ndgemm,2,2,2,2\ndgemm,3,3,3,1\n", "times would fall as sizes grow", KernelOptions{Model: LinearOne, Criterion: "bic"}},
		{"no host", "function,host,n,seconds\na,,1,1\na,,2,2\na,,3,3\n", "a: no meaningful fit: a model for each host, but there are timings without a host", KernelOptions{For: ForHost, Model: Auto, Criterion: "bic"}},
		{"pattern", "function,host,n,seconds\na,h*,1,1\na,h*,2,2\na,h*,3,3\n", `host "h*", want letters`, KernelOptions{For: ForHost, Model: Auto, Criterion: "bic"}},
		{"no CPU", "function,host,n,seconds\na,h,1,1\na,h,2,2\na,h,3,3\n", "without one, on host h", KernelOptions{For: ForCPU, Model: Auto, Criterion: "bic"}},
		{"first of all", "function,n,seconds\nf,1,1\ng,1,1\n", "f: no meaningful fit", KernelOptions{Model: Auto, Criterion: "bic"}},
		{"zero time", head + "dgemm,1,1,1,0\ndgemm,2,2,2,2\ndgemm,3,3,3,1\n", "a size takes 0 s", KernelOptions{Model: LinearOne, Criterion: "bic", Relative: true}},
	} {
		_, err := FitKernels(read(t, test.text, ReadOptions{}), test.o)
		if !errors.Is(err, ErrMeaningless) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, test := range []struct {
		text, want string
		o          ReadOptions
	}{
		{"function,m\n", "t.csv:1: no column seconds", ReadOptions{}},
		{"m,seconds\n", "t.csv:1: no column function", ReadOptions{}},
		{"function,seconds\n", "t.csv:1: no columns of dimensions", ReadOptions{}},
		{"function,m,seconds\n", `dimension "msg-size", want a letter, then`, ReadOptions{Dims: []string{"msg-size"}}},
		{"function,m,seconds\n", `dimension "null", want a letter, then`, ReadOptions{Dims: []string{"null"}}},
		{"function,m,seconds\n", "dimension M twice", ReadOptions{Dims: []string{"m", "n", "M"}}},
		{"function,m,seconds\n", "5 dimensions, want at most 4", ReadOptions{Dims: strings.Split("a,b,c,d,e", ",")}},
		{"function,m,seconds\n", `t.csv:1: no column "M0" for this dimension`, ReadOptions{Dims: []string{"M0"}}},
		{"function,m,seconds\n", `t.csv:1: no column "day", of which "1" is asked`, ReadOptions{Where: []Condition{{"day", "1"}}}},
		{"function,m,seconds,time\n", `t.csv:1: columns "seconds" and "time" mean the same`, ReadOptions{}},
		{"function,m,seconds\nf,1,1\nf,1,-2e-6\n", "t.csv:3: no meaningful fit: a time below zero, -2e-06 s", ReadOptions{}},
		{"function,m,seconds\nf,-1,1\n", "t.csv:2: m: want a whole number from 0 to 2^53", ReadOptions{}},
		{"function,m,seconds\nf,1,x\n", `t.csv:2: seconds: want a number, found "x"`, ReadOptions{}},
		{"function,m,seconds\n,1,1\n", `t.csv:2: function ""`, ReadOptions{}},
		{"function,m,seconds\n" + long + ",1,1\n", `t.csv:2: function "` + long + `", want a letter, then letters, digits and _, 64 in all at most`, ReadOptions{}},
		{"function,m,seconds\nNull,1,1\n", `t.csv:2: function "Null", want a letter, then letters, digits and _, 64 in all at most, but not null`, ReadOptions{}},
		{"function,m,seconds\nf,,1\n", "t.csv:2: f: no dimensions", ReadOptions{}},
		{"function,m,n,seconds\nf,1,1,1\nf,1,,1\n", "t.csv:3: f: dimensions M, but M N in rows before", ReadOptions{}},
		{"function,m,cpu,seconds\nf,1,70000,1\n", "t.csv:2: cpu 70000, want less than 65536", ReadOptions{}},
	} {
		if err := readInto(NewTimings(), test.text, test.o); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %s", test.text, err, test.want)
		}
	}
}

// TestMemory: what is kept of a row does not depend on the length of its line. 500 rows
// of 32 KiB are 16 MB; 500 points with their keys are less than 1 MB.
func TestMemory(t *testing.T) {
	var b strings.Builder
	b.WriteString("function,host,m,seconds,date,note\n")
	note := strings.Repeat("x", 32<<10)
	for i := range 500 {
		fmt.Fprintf(&b, "f,h%d,%d,1,2024-05-02 10:00,%s\n", i, i+1, note)
	}
	text, timings := b.String(), NewTimings()
	before := liveBytes()
	must(t, readInto(timings, text, ReadOptions{Days: true}))
	if grown := liveBytes() - before; grown > 1e6 {
		t.Errorf("%d timings keep %d bytes, want less than 1 MB", timings.Rows(), grown)
	}
	runtime.KeepAlive(text)
}

// liveBytes returns the size of what is in use.
func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestProducts(t *testing.T) {
	dims := []string{"M", "N", "K"}
	for text, want := range map[string]float64{"1": 1, "M*N*K": 30, "M^2*N": 12, " N * K ": 15, "K^3": 125} {
		p, err := parseProduct(text, dims)
		if got := p.at(&[MaxDims]int64{2, 3, 5}); err != nil || got != want {
			t.Errorf("%s: got %g, %v, want %g", text, got, err, want)
		}
	}
	for _, text := range []string{"", "X", "M^4", "M^0", "M^2*N^2", "M**N", "2*M"} {
		if _, err := parseProduct(text, dims); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{{"M*N", "N*M", true}, {"M^2*N", "M * N*M", true}, {"1", "1", true}, {"M^2*N", "M*N^2", false}, {"1", "M", false}} {
		if got := NormalTerm(c.a) == NormalTerm(c.b); got != c.same {
			t.Errorf("%s and %s the same: %v, want %v", c.a, c.b, got, c.same)
		}
	}
	if diff := cmp.Diff([]string{"M*N*K", "M*N", "M*K", "N*K", "M", "N", "K", "1"}, allProducts(dims)); diff != "" {
		t.Error(diff)
	}
}

// TestMoments: 1 2 6 has mean 3, squares 4+1+9 = 14, cubes -8-1+27 = 18.
func TestMoments(t *testing.T) {
	var m moments
	for _, x := range []float64{1, 2, 6} {
		m.add(x)
	}
	if !near(m.mean, 3, 1e-15) || !near(m.m2, 14, 1e-15) || !near(m.m3, 18, 1e-14) || !near(m.sd(), math.Sqrt(7), 1e-15) {
		t.Errorf("%+v", m)
	}
	// (18/3) / (14/3)^1.5 * sqrt(3*2)/1
	if want := 6 / math.Pow(14.0/3, 1.5) * math.Sqrt(6); !near(m.skewness(), want, 1e-14) {
		t.Errorf("skewness %g, want %g", m.skewness(), want)
	}
}

// FuzzKernels: whatever a table says, a report is finite and its kernel file is
// one, or there is an error.
func FuzzKernels(f *testing.F) {
	f.Add(polynomialTable(), 2)
	f.Add("function,m,n,k,seconds\ndgemm,1,1,1,0\ndgemm,2,2,2,2\ndgemm,3,3,3,1\n", 0)
	f.Add("function,host,n,seconds\na,\"x\"\"y\",1,1\na,z,1,2\na,,3,4\n", 1)
	f.Fuzz(func(t *testing.T, text string, by int) {
		timings := NewTimings()
		if readInto(timings, text, ReadOptions{}) != nil {
			return
		}
		r, err := FitKernels(timings, KernelOptions{For: Grouping(uint(by) % 3), Model: Auto, Criterion: "bic"})
		if err != nil {
			return
		}
		checkFuzzed(t, r, FileOptions{})
	})
}

// TestBase: the fitted models are for all hosts, in seconds whatever the base's unit,
// and the base's other kernels stay, as does their noise, which is not that of the models that are added.
// The fit of all goes through the shortest time, 1e-6 s, with a
// slope of (1·1 + 2·2 + 1·3 + 2·5)/(2·(1 + 4)) = 1.8 ns.
func TestBase(t *testing.T) {
	timings := read(t, "function,host,n,seconds\ndaxpy,a,0,1e-6\ndaxpy,a,1000,2e-6\ndaxpy,a,2000,3e-6\ndaxpy,b,0,2e-6\ndaxpy,b,1000,4e-6\ndaxpy,b,2000,6e-6\n", ReadOptions{})
	o := DefaultKernelOptions()
	o.Model, o.For = LinearOne, ForHost
	r := fitKernels(t, timings, o)
	base := "version: 1\nunit: flop\nnoise: {normal: 50%}\nkernels:\n  daxpy: 7\n  dscal: {terms: {N: 2}}\n"
	set, _ := parsed(t, r, FileOptions{Base: []byte(base)})
	for _, c := range []struct {
		host, kernel string
		want         float64
	}{{"a", "daxpy", 2e-6}, {"b", "daxpy", 4e-6}, {"other", "daxpy", 2.8e-6}, {"a", "dscal", 2e-6}} {
		m := model(t, set, kernels.Host{Name: c.host, Speed: 1e9}, kernels.Signature{Name: c.kernel, Dims: []string{"N"}})
		if got := m.Seconds(&[4]int64{1000}); !near(got, c.want, 1e-9) {
			t.Errorf("%s on %s: %g s, want %g", c.kernel, c.host, got, c.want)
		}
		dims := [4]int64{1000}
		draw := m.Draw(&dims, noise.NewSource(1).Draw(noise.Computation, 0, 0, 0))
		if noisy := draw != m.Seconds(&dims); noisy != (c.kernel == "dscal") {
			t.Errorf("%s on %s: noise %v", c.kernel, c.host, noisy)
		}
	}
	for base, want := range map[string]string{
		"hosts: []\n": `key "hosts"`, "cpus_per_host : 2\n": `key "cpus_per_host"`, "version: 1\n\"hosts\": []\n": `key "hosts"`,
		"{version: 1}": "mapping in braces", "--- {\nversion: 1}": "mapping in braces", " version: 1\n unit: s\n": `space before the key "version"`,
		"version: 1\n...\n": `a line "..."`, "version: 1\n... # end": `a line "..."`, "[": "base:1: ",
	} {
		if err := r.WriteYAML(io.Discard, FileOptions{Base: []byte(base)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("base %q: %v, want %s", base, err, want)
		}
	}
}

// TestErrorsThroughPoint: a fit of n points through one of them is that of the n-1
// differences from it, with their degrees of freedom.
func TestErrorsThroughPoint(t *testing.T) {
	k := read(t, "function,m,n,k,seconds\ndgemm,10,10,10,1.0e-6\ndgemm,20,30,10,3.1e-6\ndgemm,40,30,20,1.35e-5\n"+
		"dgemm,50,50,20,2.3e-5\ndgemm,60,20,30,1.9e-5\ndgemm,80,70,30,8.7e-5\n", ReadOptions{})
	r := fitKernels(t, k, KernelOptions{Model: LinearOne, Criterion: "bic"})
	f := &r.Functions[0].All
	if last := f.Coefficients[len(f.Coefficients)-1]; !last.Fixed || last.Value < 0 {
		t.Fatalf("coefficients %+v, want a constant through the shortest time", f.Coefficients)
	}
	var x, y []float64
	for _, p := range [][2]float64{{6000, 3.1e-6}, {24000, 1.35e-5}, {50000, 2.3e-5}, {36000, 1.9e-5}, {168000, 8.7e-5}} {
		x, y = append(x, p[0]-1000), append(y, p[1]-1.0e-6)
	}
	want, err := regress.LeastSquares(x, y, nil, 1)
	must(t, err)
	c := f.Coefficients[0]
	for _, v := range [][2]float64{{c.Value, want.Coef[0]}, {c.StdErr, want.StdErr[0]}, {f.Sigma, want.Sigma()}} {
		if math.Abs(v[0]-v[1]) > 1e-9*math.Abs(v[1]) {
			t.Errorf("%+v, sd %g; want %+v, sd %g", c, f.Sigma, want, want.Sigma())
			break
		}
	}
}

// TestResidualGrowth: residuals of 1 at the five shortest times and of 3 at the longest; of nine points none are known.
func TestResidualGrowth(t *testing.T) {
	y := []float64{50, 10, 70, 20, 80, 30, 90, 40, 100, 60}
	fitted := slices.Clone(y)
	for i, v := range y {
		if fitted[i] -= 3; v <= 50 {
			fitted[i] = v + 1
		}
	}
	if all, none, few := residualGrowth(y, fitted), residualGrowth(y, y), residualGrowth(y[:9], fitted[:9]); !near(all, 3, 1e-12) || none != 0 || few != 0 {
		t.Errorf("%g, without residuals %g, of nine %g, want 3, 0 and 0", all, none, few)
	}
}

func TestCheckCPUs(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		ok      bool
	}{{nil, true}, {[]int{0}, true}, {[]int{1, 0, 1}, true}, {[]int{1, 2}, false}, {[]int{0, 1, 3}, false}} {
		if err := CheckCPUs(c.numbers); c.ok != (err == nil) || err != nil && !errors.Is(err, ErrMeaningless) {
			t.Errorf("%v: %v", c.numbers, err)
		}
	}
}

// TestUnfitKernels: kernels that no model fits, or hosts of a kernel, change nothing for the others, whatever
// is wrong with them: too few sizes, times of 0 s, times that fall. A CPU without a model of its own is still
// one of those that the ranks of a host take in turn.
func TestUnfitKernels(t *testing.T) {
	good := polynomialTable()
	for name, bad := range map[string]string{
		"too few sizes": "dtrsm,n-1,0,1,1,1,1e-6\n",
		"no time":       "dtrsm,n-1,0,1,1,1,0\ndtrsm,n-1,0,2,2,2,0\ndtrsm,n-1,0,3,3,3,0\ndtrsm,n-1,0,4,4,4,0\n",
		"falling times": "dtrsm,n-1,0,1,1,1,4\ndtrsm,n-1,0,2,2,2,3\ndtrsm,n-1,0,3,3,3,2\ndtrsm,n-1,0,4,4,4,1\n",
		"no host":       "dtrsm,,0,1,1,1,1\n",
		"a bad host":    "dgemm,n-9,0,1,1,1,1e-6\n",
		"two bad CPUs":  "dgemm,n-9,1,1,1,1,1e-6\ndgemm,n-9,2,1,1,1,1e-6\n",
	} {
		o := KernelOptions{For: ForCPU, Model: Auto, Criterion: "bic"}
		want := fitKernels(t, read(t, good, ReadOptions{}), o)
		got, err := FitKernels(read(t, good+bad, ReadOptions{}), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want.Functions, got.Functions, cmpopts.IgnoreUnexported(FunctionReport{}, Fit{}, Candidate{})); diff != "" {
			t.Errorf("%s: other fits:\n%s", name, diff)
		}
		if n := strings.Count(bad, "n-9"); len(got.Unfit) != max(n, 1) || len(got.Warnings) != max(n, 1) {
			t.Errorf("%s: unfit %v, warnings %q", name, got.Unfit, got.Warnings)
		}
		_, text := parsed(t, got, FileOptions{})
		if cpus := 2 + strings.Count(bad, "n-9,2"); !strings.Contains(text, "no model") || !strings.Contains(text, fmt.Sprintf("\ncpus_per_host: %d\n", cpus)) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestLargeErrors: a constant for times of 1 s and 3 s is 2 s, off by 1 and 1/3, on average 66.7 %, and
// by 2 s of 4 s in all; one for 1 s and 1.1 s is off by 0.05/1 and 0.05/1.1, less than a tenth.
func TestLargeErrors(t *testing.T) {
	o := DefaultKernelOptions()
	o.Terms = map[string][]string{"f": {"1"}}
	for table, want := range map[string]string{
		"f,1,1\nf,2,3\n":   "f: 1 of 1 fits are more than 10 % off the timings on average; that to all timings by 66.7 %, at worst 100 %, and 50 % of all time: ",
		"f,1,1\nf,2,1.1\n": "",
	} {
		r := fitKernels(t, read(t, "function,n,seconds\n"+table, ReadOptions{}), o)
		if list := r.Warnings; (len(list) > 0) != (want != "") || want != "" && !strings.HasPrefix(list[0].Text, want) {
			t.Errorf("%q: warnings %q, want %q", table, list, want)
		}
	}
}

func TestDates(t *testing.T) {
	for date, want := range map[string]string{
		"2024-05-01": "2024-05-01", "2024-05-01T23:59:00Z": "2024-05-01", "20240501": "2024-05-01",
		"1714521600": "2024-05-01", "0": "1970-01-01", "86400.5": "1970-01-02",
		"20241301": "1970-08-23", // no month 13: seconds, 234 days and some hours
		"":         "", "1e12": "", "-1": "", "May 1": "", "2024-5-1": "",
	} {
		if got, err := DayOf(date); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", date, got, err, want)
		}
	}
	for a, b := range map[string]string{"999999999": "1000000000", "2024-05-01": "2024-05-02", "9.5": "10.25"} {
		if !isBefore(a, b) || isBefore(b, a) || isBefore(a, a) {
			t.Errorf("%q is not before %q", a, b)
		}
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
