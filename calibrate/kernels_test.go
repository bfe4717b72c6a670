package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// parsed returns the kernel file of a report, as the replayer reads it and as text.
func parsed(t *testing.T, r *LearnReport, o FileOptions) (*kernels.Set, string) {
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
func checkFuzzed(t *testing.T, r *LearnReport, o FileOptions) {
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

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		by               Grouping
	}{
		{"no rows", "function,m,n,k,seconds\n", "no timings", ForAll},
		{"no host", "function,host,n,seconds\na,,1,1\na,,2,2\na,,3,3\n", "a: no meaningful fit: a model for each host, but there are timings without a host", ForHost},
		{"pattern", "function,host,n,seconds\na,h*,1,1\na,h*,2,2\na,h*,3,3\n", `host "h*", want letters`, ForHost},
		{"no CPU", "function,host,n,seconds\na,h,1,1\na,h,2,2\na,h,3,3\n", "without one, on host h", ForCPU},
		{"first of all", "function,n,seconds\nf,1,1\ng,1,1\n", "f: no meaningful fit", ForAll},
	} {
		o := DefaultLearnOptions()
		o.For = test.by
		_, err := LearnKernels(read(t, test.text, ReadOptions{}), o)
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
}

// TestBase: the fitted models are for all hosts, in seconds whatever the base's unit,
// and the base's other kernels stay, as does their noise, which is not that of the models that are added.
// The fit of all is of the medians 1.5, 3 and 4.5 us.
func TestBase(t *testing.T) {
	timings := read(t, "function,host,n,seconds\ndaxpy,a,0,1e-6\ndaxpy,a,1000,2e-6\ndaxpy,a,2000,3e-6\ndaxpy,b,0,2e-6\ndaxpy,b,1000,4e-6\ndaxpy,b,2000,6e-6\n", ReadOptions{})
	r, err := LearnKernels(timings, LearnOptions{For: ForHost, Statistic: Median, MaxPieces: 1, Terms: map[string][]string{"daxpy": {"N", "1"}}})
	must(t, err)
	base := "version: 1\nunit: flop\nnoise: {normal: 50%}\nkernels:\n  daxpy: 7\n  dscal: {terms: {N: 2}}\n"
	set, _ := parsed(t, r, FileOptions{Base: []byte(base)})
	for _, c := range []struct {
		host, kernel string
		want         float64
	}{{"a", "daxpy", 2e-6}, {"b", "daxpy", 4e-6}, {"other", "daxpy", 3e-6}, {"a", "dscal", 2e-6}} {
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

// TestUnfitKernels: kernels that no model fits change nothing for the others, and hosts without a model of their own
// are named. A CPU without one is still one of those that the ranks of a host take in turn.
func TestUnfitKernels(t *testing.T) {
	o := DefaultLearnOptions()
	o.For = ForCPU
	good := polynomialTable()
	want, err := LearnKernels(read(t, good, ReadOptions{}), o)
	must(t, err)
	for name, bad := range map[string]string{
		"too few sizes": "dtrsm,n-1,0,1,1,1,1e-6\n",
		"no time":       "dtrsm,n-1,0,1,1,1,0\ndtrsm,n-1,0,2,2,2,0\ndtrsm,n-1,0,3,3,3,0\ndtrsm,n-1,0,4,4,4,0\n",
		"no host":       "dtrsm,,0,1,1,1,1\n",
		"two bad CPUs":  "dgemm,n-9,1,1,1,1,1e-6\ndgemm,n-9,2,1,1,1,1e-6\n",
	} {
		got, err := LearnKernels(read(t, good+bad, ReadOptions{}), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		unexported := cmpopts.IgnoreUnexported(LearnedKernel{}, LearnedGroup{}, LearnedPiece{})
		if diff := cmp.Diff(want.Kernels, got.Kernels, unexported); diff != "" && !strings.Contains(bad, "dgemm") {
			t.Errorf("%s: other fits:\n%s", name, diff)
		}
		if n := strings.Count(bad, "n-9"); len(got.Unfit) != max(n, 1) || len(got.Warnings) < max(n, 1) {
			t.Errorf("%s: unfit %v, warnings %q", name, got.Unfit, got.Warnings)
		}
		_, text := parsed(t, got, FileOptions{})
		if cpus := 2 + strings.Count(bad, "n-9,2"); !strings.Contains(text, "no model") || !strings.Contains(text, fmt.Sprintf("\ncpus_per_host: %d\n", cpus)) {
			t.Errorf("%s: %s", name, text)
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
