package measure

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// library compiles the BLAS of the tests and returns its path.
func library(t *testing.T, flags ...string) string {
	t.Helper()
	compiler, err := findCompiler("")
	if err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "libtest.so")
	args := append(flags, "-shared", "-fPIC", "-O1", "-o", path, "testdata/blas.c")
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func run(ctx context.Context, t *testing.T, o Options, progress func()) (*Plan, *Result, error) {
	t.Helper()
	p := plan(t, everything(t, 60, 40, 8), o)
	made := -p.WarmUp // by all ranks; two passes, and the first call of the third
	for i, turn := range p.Order {
		if !turn.Alone {
			made++
		}
		if made > 2*len(p.Calls) {
			p.Order = p.Order[:i+1]
			break
		}
	}
	r, err := Run(ctx, p, o, progress)
	return p, r, err
}

// TestRun: all kernels are timed, with operands in caches or not, by one process or several at once, bound or not. Of
// several the first one also makes a fifth of the calls of each pass alone.
func TestRun(t *testing.T) {
	blas := library(t)
	for _, c := range []struct {
		ranks    int
		noPin    bool
		operands []Operands
	}{{1, true, []Operands{AsRun}}, {1, false, []Operands{Hot, Cold}}, {min(2, runtime.NumCPU()), true, []Operands{AsRun}}} {
		o := options()
		o.BLAS, o.Ranks, o.NoPin, o.Operands = blas, c.ranks, c.noPin, c.operands
		o.NoPin = c.noPin || runtime.GOOS != "linux"
		calls := 0
		p, r, err := run(context.Background(), t, o, func() { calls++ })
		must(t, err)
		want := (2*len(p.Calls) + 1) * c.ranks
		if c.ranks > 1 {
			want += (len(p.Calls)+4)/5 + len(p.Calls)/5 // those of numbers 5i, and 5i+4
		}
		if len(r.Timings) != want || calls != want || r.Interrupted || r.OverBudget || r.BLAS != blas+", version unknown" || r.Compiler == "" {
			t.Errorf("%+v: %d timings of %d, %d times progress, %q", c, len(r.Timings), want, calls, r.BLAS)
		}
		timed := make([]int, len(p.Calls))
		for _, timing := range r.Timings {
			if !timing.Alone {
				timed[timing.Call]++
			} else if timing.Rank != 0 {
				t.Errorf("rank %d timed a call alone", timing.Rank)
			}
		}
		if slices.Min(timed) != 2*c.ranks {
			t.Errorf("%+v: calls were timed %v times, want %d each", c, timed, 2*c.ranks)
		}
	}
}

// TestInPlace: in place or in a U of its own, what P = 1 and P > 1 call.
func TestInPlace(t *testing.T) {
	blas := library(t)
	for _, names := range [][]string{{"dgemm", "dtrsm", "dlaswp00N"}, {"dgemm", "dtrsm", "dlaswp00N", "dlaswp01N"}} {
		o := options()
		o.BLAS = blas
		p := plan(t, runOf(t, names, 60, 40, 8), o)
		if p.shapes[0].inPlace != (len(names) == 3) {
			t.Fatalf("in place: %+v", p)
		}
		p.Order = p.Order[:p.WarmUp+len(p.Calls)]
		if result, err := Run(context.Background(), p, o, nil); err != nil || len(result.Timings) != len(p.Calls) {
			t.Errorf("%v: %v", names, err)
		}
	}
}

// TestProcessThatEnds: a library that ends its process ends the measurement, also for a process that waits
// for it, and timings before it are kept.
func TestProcessThatEnds(t *testing.T) {
	o := options()
	o.BLAS, o.Ranks = library(t, "-DTIRED"), min(2, runtime.NumCPU())
	p := plan(t, everything(t, 60, 40, 8), o)
	if r, err := Run(context.Background(), p, o, nil); err == nil || !strings.Contains(err.Error(), "exit status 7") || len(r.Timings) == 0 || r.Interrupted {
		t.Errorf("%+v, %v, want timings beside the error", r, err)
	}
}

// TestNumbersStaySmall: after a plan of two runs with operands as a run leaves them, all numbers of the
// matrix are finite and small; a library whose products grow is told so.
func TestNumbersStaySmall(t *testing.T) {
	for _, growing := range []bool{false, true} {
		var flags []string
		if growing {
			flags = []string{"-DGROW"}
		}
		o := options()
		o.BLAS = library(t, flags...)
		p := plan(t, twoRuns(t), o)
		_, err := Run(context.Background(), p, o, nil)
		if growing != (err != nil && strings.Contains(err.Error(), "numbers grew")) {
			t.Errorf("growing %v: %v", growing, err)
		}
	}
}

// TestLibraries: libraries with integers of 32 and 64 bits are found and checked; others are refused.
func TestLibraries(t *testing.T) {
	if testing.Short() {
		t.Skip("in make nightly")
	}
	for want, flags := range map[string][]string{"version unknown": {"-DINT=int64_t"}, "OpenBLAS 9.9 here": {"-DINT=int64_t", "-DSUFFIX=_64_", "-DOPENBLAS"}} {
		o := options()
		o.BLAS = library(t, flags...)
		if _, r, err := run(context.Background(), t, o, nil); err != nil || !strings.HasSuffix(r.BLAS, ", "+want) {
			t.Errorf("%v: %v, %v", flags, r, err)
		}
	}
	text := filepath.Join(t.TempDir(), "text.so")
	must(t, os.WriteFile(text, nil, 0o600))
	for want, path := range map[string]string{
		"came out wrong": library(t, "-DWRONG"), "has no daxpy_: is it a BLAS?": library(t, "-DMISSING"), "has no dgemm_": library(t, "-DSUFFIX=_x"),
		"loading": text, "no such file": "./missing.so", "libmissing.so.9": "libmissing.so.9",
	} {
		o := options()
		o.BLAS = path
		if _, _, err := run(context.Background(), t, o, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// TestPinned: a process runs on its own core only.
func TestPinned(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux binds processes to cores")
	}
	cores, err := allowedCores()
	must(t, err)
	last := cores[len(cores)-1:]
	w, err := startWorker(context.Background(), []string{"sh", "-c", "echo ready; grep Cpus_allowed_list /proc/self/status"}, last, 1)
	must(t, err)
	defer func() { _ = w.cmd.Wait() }()
	if line, err := w.line(); err != nil || line != "ready" {
		t.Fatal(line, err)
	}
	if line, err := w.line(); err != nil || strings.Fields(line)[1] != numbers(last, ",") {
		t.Errorf("%q, %v, want core %v", line, err, last)
	}
}

// TestCSV: a row has the attributes and dimensions of its kernel, and nothing in the columns of others.
func TestCSV(t *testing.T) {
	trsm := Kernel{"dtrsm", []Attr{{"side", "L"}, {"uplo", "L"}, {"trans", "N"}, {"diag", "U"}}, dimsMN}
	p := &Plan{Groups: [][]int{{4, 5}, {6, 7}}, Kernels: []Kernel{trsm, {"dscal", nil, dimsN}}, Calls: []Call{{0, [4]int64{8, 20}, Hot, 0, 0}, {1, [4]int64{9}, AsRun, 0, 0}}}
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := Result{Timings: []Timing{{1, Turn{Call: 0}, 0.5, 0.25, date}, {0, Turn{1, true}, 0.25, 0.26, date}}}
	var b bytes.Buffer
	must(t, r.WriteCSV(&b, p, HostName("my host"), []Fact{{"cpu", "one\ntwo"}}))
	want := "# cpu: one two\nfunction,side,uplo,trans,diag,m,n,operands,seconds,processor,host,rank,alone,cpu,date\n" +
		"dtrsm,L,L,N,U,8,20,hot,5.000000000e-01,0.5,my_host,1,,6,2026-01-02T03:04:05Z\n" +
		"dscal,,,,,,9,run,2.500000000e-01,1,my_host,0,1,4,2026-01-02T03:04:05Z\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if s := r.Summaries(p); len(s) != 2 || s[0] != (Summary{"dtrsm side=L uplo=L trans=N diag=U", 1, 1, "8x20", 0.5}) {
		t.Errorf("summaries %+v", s)
	}
}

// TestQuality: three timings of a size on one rank, 1, 1.2 and 2 s, have a median 1.2 times the quickest; two
// of another say nothing of the spread; of 4.2 + 2 s ranks had their processor for 3.1 + 2 s, 82 %.
func TestQuality(t *testing.T) {
	p := &Plan{Groups: [][]int{{0}}, Kernels: []Kernel{{"dscal", nil, dimsN}, {"daxpy", nil, dimsN}}, Calls: []Call{{Kernel: 0}, {Kernel: 0}, {Kernel: 1}}}
	r := Result{Timings: []Timing{{Seconds: 2, CPU: 1}, {Seconds: 1, CPU: 1}, {Seconds: 1.2, CPU: 1.1}, {Turn: Turn{Call: 1}, Seconds: 1, CPU: 3}, {Turn: Turn{Call: 1}, Seconds: 1, CPU: 1}}}
	q := r.Quality(p, 1)
	if q.Spread != 1.2 || q.Processor < 5.1/6.2-1e-12 || q.Processor > 5.1/6.2+1e-12 {
		t.Errorf("got %+v", q)
	}
	if q := r.Quality(p, 2); q.Processor != 0 {
		t.Errorf("of threads, %+v", q)
	}
	var texts []string
	for _, w := range r.Warnings(p, q) {
		texts = append(texts, w.String())
	}
	for _, want := range []string{"for 82.3 % of the time only", "take 20 % longer than the quickest", "not timed, of all sizes: 1 of 1 of daxpy; more --budget would"} {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("no warning %q in %q", want, texts)
		}
	}
	if list := r.Warnings(p, Quality{Processor: 0.99, Spread: 1.02}); len(list) != 1 {
		t.Errorf("a quiet machine: %v", list)
	}
}

// TestBudget: no call begins after the budget, and the result is the timings until then.
func TestBudget(t *testing.T) {
	o := options()
	o.BLAS, o.Budget = library(t), 1
	_, r, err := run(t.Context(), t, o, nil)
	if err != nil || len(r.Timings) != 0 || !r.OverBudget || r.Interrupted {
		t.Errorf("got %+v, %v", r, err)
	}
}

// FuzzWorker: whatever a process says, be it a library's greeting or a core dump, is taken
// for timings of calls that there are or for an error of a few lines.
func FuzzWorker(f *testing.F) {
	for _, text := range []string{"ready BLAS\n0 1e-3 1e-3\nend\n", "ready\n", "error no memory\n", "ready x\nerror y\n", "ready x\n0 NaN 1\n", "ready x\n1 1e300 0\n-1 1 1\n", strings.Repeat("x", 1<<17)} {
		f.Add([]byte(text))
	}
	const calls = 3
	f.Fuzz(func(t *testing.T, output []byte) {
		w := &worker{cmd: exec.Command("none"), out: bufio.NewScanner(bytes.NewReader(output)), stderr: &Beginning{Most: mostKept}}
		_, err := w.ready()
		for err == nil {
			number, seconds, cpu, next := 0, 0.0, 0.0, error(nil)
			number, seconds, cpu, next = w.next(calls)
			if err = next; err == nil && !(number >= 0 && number < calls && seconds > 0 && seconds < 1e9 && cpu >= 0 && cpu < 1e9) {
				t.Errorf("call %d of %d, %g and %g seconds", number, calls, seconds, cpu)
			}
		}
		if len(err.Error()) > 4*mostKept {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		if len(output) == 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
}

// TestCompilers: errors have the first line of a compiler, if it says one, and tell of an interrupt.
func TestCompilers(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
		return path
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name, text, want string
		ctx              context.Context
	}{
		{"loud", "echo no mpi.h; exit 1", "loud: exit status 1: no mpi.h", t.Context()},
		{"silent", "exit 3", "silent: exit status 3", t.Context()},
		{"slow", "sleep 60", "interrupted while it was compiled: nothing was timed", ended},
	} {
		_, err := Compile(c.ctx, script(c.name, c.text), nil, filepath.Join(dir, "program"))
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}
