package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"reprise/calibrate"
	"reprise/calibrate/table"
)

// role says what the test binary does as a worker.
const role = "REPRISE_TEST_WORKER"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "serve":
		if err := Serve(os.Stdin, os.Stdout, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "cores":
		cores, err := allowedCores()
		fmt.Printf("ready %v %v\n", cores, err)
	case "crash":
		fmt.Println("ready to crash")
		_, _ = fmt.Scanln() // the first size
		fmt.Fprintln(os.Stderr, "out of order")
		os.Exit(3)
	case "tired": // answers one size
		fmt.Println("ready to stop")
		_, _ = fmt.Scanln()
		fmt.Println("1e-3")
		_, _ = fmt.Scanln()
		os.Exit(4)
	case "nonsense":
		fmt.Println("ready to talk")
		_, _ = fmt.Scanln()
		fmt.Println("hello")
	case "hang":
		fmt.Print("ready to hang\n1e-3\n1e-3\n")
		time.Sleep(time.Hour)
	default:
		os.Exit(m.Run())
	}
}

// tiny returns options for a measurement of milliseconds, by the test binary.
func tiny(t *testing.T, as string) Options {
	t.Helper()
	t.Setenv(role, as)
	o := DefaultOptions()
	o.Sizes, o.MaxDim, o.Reps, o.WarmUp = 6, 40, 2, 0
	o.Worker = []string{os.Args[0]}
	return o
}

func run(ctx context.Context, t *testing.T, o Options, progress func()) (*Plan, *Result, error) {
	t.Helper()
	p, err := NewPlan(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(ctx, p, o, progress)
	return p, r, err
}

// TestGonum: all timings are made, one by one or at once, bound or not, and the
// table is one that calibrate kernels reads.
func TestGonum(t *testing.T) {
	for _, alone := range []bool{false, true} {
		o := tiny(t, "serve")
		o.Alone, o.NoPin, o.WarmUp = alone, alone, 2
		calls := 0
		p, r, err := run(context.Background(), t, o, func() { calls++ })
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Timings) != len(p.Calls) || calls != len(p.Calls) || r.Interrupted || r.OverBudget || !strings.Contains(r.About, "Gonum") {
			t.Errorf("%d timings of %d, %d times progress: %+v", len(r.Timings), len(p.Calls), calls, r)
		}
		checkTable(t, p, r)
	}
}

func checkTable(t *testing.T, p *Plan, r *Result) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteCSV(&b, HostName("my host"), []Fact{{"cpu", "one\ntwo"}}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "# cpu: one two\nfunction,") || !strings.Contains(b.String(), ",my_host,") {
		t.Errorf("table begins %.80q", b.String())
	}
	tab, err := table.NewReader(&b, "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	timings := calibrate.NewTimings()
	if err := timings.Read(tab, calibrate.ReadOptions{Days: true}); err != nil {
		t.Fatal(err)
	}
	o := calibrate.DefaultKernelOptions()
	o.Model = calibrate.Constant
	report, err := calibrate.FitKernels(timings, o)
	if err != nil {
		t.Fatal(err)
	}
	if report.Timings != int64(len(p.Calls)) || report.Functions[0].Function != "dgemm" {
		t.Errorf("read %+v", report)
	}
	speeds := r.Speeds()
	if len(speeds) != len(p.Groups) || speeds[0].Timings != len(p.Calls)/len(p.Groups) || speeds[0].Best < speeds[0].Average {
		t.Errorf("speeds %+v", speeds)
	}
}

// TestSpeeds: 2·2·3·4 = 48 flop in 2 s and 2·10·10·10 in 1 s.
func TestSpeeds(t *testing.T) {
	r := Result{Timings: []Timing{{5, Size{2, 3, 4}, 2, time.Time{}}, {5, Size{10, 10, 10}, 1, time.Time{}}}}
	want := Speed{CPU: 5, Timings: 2, Average: 2048. / 3, Best: 2000}
	if got := r.Speeds(); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestPinned: a worker sees its own core only.
func TestPinned(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux binds processes to cores")
	}
	t.Setenv(role, "cores")
	cores, err := allowedCores()
	if err != nil {
		t.Fatal(err)
	}
	last := cores[len(cores)-1:]
	w, err := startWorker(context.Background(), []string{os.Args[0]}, last, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%v <nil>", last); w.about != want {
		t.Errorf("worker on %s, want %s", w.about, want)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
}

// TestBudget: no call begins after the budget, and what there is is the result.
func TestBudget(t *testing.T) {
	o := tiny(t, "serve")
	o.Budget = 1
	_, r, err := run(context.Background(), t, o, nil)
	if err != nil || len(r.Timings) != 0 || !r.OverBudget || r.Interrupted {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestInterrupted: an interrupt gives up calls under way and keeps the others.
func TestInterrupted(t *testing.T) {
	o := tiny(t, "hang")
	o.Alone, o.NoPin = true, true
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, r, err := run(ctx, t, o, cancel) // after the first
	if err != nil || len(r.Timings) != 1 || !r.Interrupted || r.OverBudget {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestWorkersThatFail(t *testing.T) {
	for as, want := range map[string]string{"crash": "exit status 3 out of order", "nonsense": `want seconds, found "hello"`} {
		o := tiny(t, as)
		o.NoPin = true
		if _, _, err := run(context.Background(), t, o, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", as, err, want)
		}
	}
	o := tiny(t, "tired")
	o.Alone, o.NoPin = true, true
	if _, r, err := run(context.Background(), t, o, nil); err == nil || !strings.Contains(err.Error(), "exit status 4") || len(r.Timings) == 0 || r.Interrupted {
		t.Errorf("%+v, %v, want timings beside the error", r, err)
	}
	o = tiny(t, "serve")
	o.Worker = []string{filepath.Join(t.TempDir(), "missing")}
	if _, _, err := run(context.Background(), t, o, nil); err == nil {
		t.Error("no worker: no error")
	}
	var b bytes.Buffer
	for _, c := range []struct{ in, elements string }{{"", "x"}, {"", "0"}, {"1 1\n", "10"}, {"3 3 3\n", "10"}, {"0 1 1\n", "10"}} {
		if err := Serve(strings.NewReader(c.in), &b, c.elements); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// TestGonumIsRight: the product of Serve's layout, C = C - A*B, column by column.
func TestGonumIsRight(t *testing.T) {
	s := Size{3, 2, 4}
	x := make([]float64, s.Bytes()/8)
	fill(x)
	before := append([]float64(nil), x...)
	multiply(x, s)
	a, b, c := before[:12], before[12:20], before[20:]
	for i := range 3 {
		for j := range 2 {
			want := c[i+3*j]
			for l := range 4 {
				want -= a[i+3*l] * b[l+4*j]
			}
			if got := x[20+i+3*j]; got-want > 1e-15 || want-got > 1e-15 {
				t.Errorf("c(%d,%d) = %g, want %g", i, j, got, want)
			}
		}
	}
}

// blasSource is a small BLAS; NAME, INT and the form of its dgemm vary.
const blasSource = `
#include <stdint.h>
static void product(long m, long n, long k, const double *a, const double *b, double *c) {
	for (long j = 0; j < n; j++)
		for (long l = 0; l < k; l++)
			for (long i = 0; i < m; i++)
				c[i + m * j] -= a[i + m * l] * b[l + k * j];
}
#ifdef FORTRAN
void FORTRAN(const char *ta, const char *tb, const INT *m, const INT *n, const INT *k, const double *alpha, const double *a,
             const INT *lda, const double *b, const INT *ldb, const double *beta, double *c, const INT *ldc) {
	product(*m, *n, *k, a, b, c);
}
#endif
#ifdef CBLAS
void CBLAS(int order, int ta, int tb, INT m, INT n, INT k, double alpha, const double *a, INT lda, const double *b, INT ldb,
           double beta, double *c, INT ldc) {
	product(m, n, k, a, b, c);
}
#endif
#ifdef WRONG
void dgemm_(void) {}
#endif
#ifdef OPENBLAS
char *openblas_get_config(void) { return "OpenBLAS 9.9\nhere"; }
#endif
`

// library compiles a small BLAS and returns its path.
func library(t *testing.T, flags ...string) string {
	t.Helper()
	compiler, err := findCompiler("")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source, path := filepath.Join(dir, "blas.c"), filepath.Join(dir, "libblas.so")
	if err := os.WriteFile(source, []byte(blasSource), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, append(flags, "-shared", "-fPIC", "-O1", "-o", path, source)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestBLAS: libraries of Fortran's and C's form, with integers of 32 and 64 bits, are
// found, checked and timed; others are refused.
func TestBLAS(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"-DFORTRAN=dgemm_", "-DINT=int32_t"}, "dgemm_ unknown"},
		{[]string{"-DFORTRAN=dgemm_", "-DINT=int64_t", "-DOPENBLAS"}, "dgemm_ OpenBLAS 9.9 here"},
		{[]string{"-DFORTRAN=dgemm_64_", "-DINT=int64_t"}, "dgemm_64_ unknown"},
		{[]string{"-DCBLAS=cblas_dgemm", "-DINT=int32_t"}, "cblas_dgemm unknown"},
		{[]string{"-DCBLAS=cblas_dgemm64_", "-DINT=int64_t"}, "cblas_dgemm64_ unknown"},
	} {
		o := tiny(t, "")
		o.BLAS = library(t, c.flags...)
		p, r, err := run(context.Background(), t, o, nil)
		if err != nil {
			t.Errorf("%v: %v", c.flags, err)
			continue
		}
		if r.About != c.want || len(r.Timings) != len(p.Calls) || r.Compiler == "" {
			t.Errorf("%v: %q, want %q; %d timings", c.flags, r.About, c.want, len(r.Timings))
		}
	}
	for want, path := range map[string]string{
		"a product came out wrong": library(t, "-DWRONG"), "has neither dgemm_ nor cblas_dgemm": library(t),
		"loading": writeFile(t, "text"), "no such file": "missing.so",
	} {
		o := tiny(t, "")
		o.BLAS = path
		if _, _, err := run(context.Background(), t, o, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	o := tiny(t, "")
	o.BLAS, o.Compiler = writeFile(t, "text"), "no-such-compiler"
	if _, _, err := run(context.Background(), t, o, nil); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v, want no compiler", err)
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInstalledBLAS: the libraries that a system may have.
func TestInstalledBLAS(t *testing.T) {
	if _, err := findCompiler(""); err != nil {
		t.Skip(err)
	}
	found := 0
	for _, pattern := range []string{"/usr/lib/*/libopenblas.so*", "/usr/lib/*/libblas.so*", "/usr/lib/*/libgslcblas.so.?", "/usr/lib64/libopenblas.so*"} {
		paths, _ := filepath.Glob(pattern) // its only error is a bad pattern
		for _, path := range paths {
			o := tiny(t, "")
			o.BLAS = path
			p, r, err := run(context.Background(), t, o, nil)
			if err != nil || len(r.Timings) != len(p.Calls) {
				t.Errorf("%s: %d timings, %v", path, len(r.Timings), err)
				continue
			}
			t.Logf("%s: %s", path, r.About)
			found++
		}
	}
	if found == 0 {
		t.Skip("no BLAS is installed")
	}
}
