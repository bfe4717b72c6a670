package measure

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"reprise/internal/textutil"
)

//go:embed helper
var helper embed.FS

// Timing is one call that was timed.
type Timing struct {
	Rank    int // of the host, from 0
	Call    int // index in the plan's Calls
	Seconds float64
	CPU     float64   // seconds that the rank had of the processor meanwhile
	Date    time.Time // of its end
}

// Result is what was measured.
type Result struct {
	Timings     []Timing
	Planned     int
	Interrupted bool   // by the context
	OverBudget  bool   // by the time
	BLAS        string // file and version; empty: none is used
	Compiler    string
	Flags       string // of the compiler
}

// Run measures: a process for each rank, which all make the same call at the same time, so that they
// compete for memory as ranks do. progress is called after each call, from one goroutine at a time. When
// the budget is used up no call begins; when ctx ends, or a process fails, calls under way are given
// up. Either way what was measured is the result, beside the error of the process.
func Run(ctx context.Context, p *Plan, o Options, progress func()) (*Result, error) {
	r := &runner{plan: p, o: &o, progress: progress, result: &Result{Planned: p.recorded() * len(p.Groups)}}
	dir, err := os.MkdirTemp("", "reprise-measure-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	f, err := r.files(inner, dir)
	if err == nil {
		err = r.start(inner, f)
	}
	if err == nil {
		err = r.collect(inner, cancel)
	}
	cancel()
	for _, w := range r.workers {
		w.close()
	}
	r.result.Interrupted = ctx.Err() != nil
	if r.result.Interrupted {
		err = nil
	}
	return r.result, err
}

type runner struct {
	plan    *Plan
	o       *Options
	workers []*worker

	mutex    sync.Mutex
	progress func()
	result   *Result
}

// files makes the program and what its processes have in common.
func (r *runner) files(ctx context.Context, dir string) (f files, err error) {
	f = files{program: filepath.Join(dir, "timer"), plan: filepath.Join(dir, "plan"), shared: filepath.Join(dir, "shared")}
	if err := r.compile(ctx, dir, f.program); err != nil {
		return f, err
	}
	plan, err := os.OpenFile(f.plan, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return f, err
	}
	if err := errors.Join(r.plan.program.write(r.plan, plan), plan.Close()); err != nil {
		return f, err
	}
	return f, os.WriteFile(f.shared, make([]byte, 4096), 0o600)
}

// compile makes the program of its source and the headers of the directory helper.
func (r *runner) compile(ctx context.Context, dir, program string) error {
	compiler, err := findCompiler(r.o.Compiler)
	if err != nil {
		return err
	}
	files, err := helper.ReadDir("helper")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := helper.ReadFile("helper/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), text, 0o600); err != nil {
			return err
		}
	}
	source, err := helper.ReadFile("helper/" + r.plan.program.source())
	if err != nil {
		return err
	}
	flags := r.plan.program.flags()
	if len(r.o.Flags) > 0 {
		flags = slices.Clone(r.o.Flags)
	}
	r.result.Flags = strings.Join(flags, " ")
	r.result.Compiler, err = Compile(ctx, compiler, source, program, append(flags, "-ldl")...)
	return err
}

// start starts the workers, and waits until all have their memory.
func (r *runner) start(ctx context.Context, f files) error {
	for rank, cores := range r.plan.Groups {
		if r.o.NoPin {
			cores = nil
		}
		args, err := r.plan.program.arguments(f, r.o, rank, len(r.plan.Groups))
		if err != nil {
			return err
		}
		w, err := startWorker(ctx, append([]string{f.program}, args...), cores, r.o.Threads)
		if err != nil {
			return err
		}
		r.workers = append(r.workers, w)
	}
	for _, w := range r.workers {
		if err := w.ready(); err != nil {
			return err
		}
		r.result.BLAS = w.about
	}
	return nil
}

// collect reads what all workers say. If one fails, the others, which would wait for it, are ended.
func (r *runner) collect(ctx context.Context, cancel func()) error {
	errs := make([]error, len(r.workers))
	var wait sync.WaitGroup
	for rank := range r.workers {
		wait.Go(func() {
			if err := r.collectRank(ctx, rank); err != nil && ctx.Err() == nil {
				errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
				cancel()
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func (r *runner) collectRank(ctx context.Context, rank int) error {
	ends := 0
	for ; ; ends++ {
		number, seconds, cpu, err := r.workers[rank].next(len(r.plan.Order))
		switch {
		case errors.Is(err, io.EOF):
			if ends < len(r.plan.Order) {
				r.mutex.Lock()
				r.result.OverBudget = true
				r.mutex.Unlock()
			}
			return nil
		case err != nil:
			return err
		case number >= r.plan.WarmUp && r.plan.Order[number] != notRecorded:
			r.keep(Timing{rank, r.plan.Order[number], seconds, cpu, time.Now()})
		}
	}
}

func (r *runner) keep(t Timing) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.result.Timings = append(r.result.Timings, t)
	if r.progress != nil {
		r.progress()
	}
}

// worker is a process that times the calls of a plan.
type worker struct {
	cmd    *exec.Cmd
	out    *bufio.Scanner
	about  string // what it says of its BLAS
	stderr *tail
}

// threadVariables tell the usual libraries how many threads to use.
var threadVariables = []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS",
	"BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}

// startWorker starts a command on the cores, nil for any. It ends with ctx.
func startWorker(ctx context.Context, command []string, cores []int, threads int) (*worker, error) {
	w := &worker{cmd: exec.CommandContext(ctx, command[0], command[1:]...), stderr: &tail{}}
	w.cmd.Env = os.Environ()
	for _, name := range threadVariables {
		w.cmd.Env = append(w.cmd.Env, name+"="+strconv.Itoa(threads))
	}
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for us only
	w.cmd.Stderr = w.stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if cores == nil {
		err = w.cmd.Start()
	} else {
		err = startOn(w.cmd, cores)
	}
	if err != nil {
		return nil, fmt.Errorf("measuring process: %w", err)
	}
	w.out = bufio.NewScanner(out)
	return w, nil
}

// ready reads what the worker says first.
func (w *worker) ready() error {
	line, err := w.line()
	if err != nil {
		return err
	}
	about, ok := strings.CutPrefix(line, "ready ")
	if !ok {
		return fmt.Errorf("measuring process: want \"ready\", found %s", textutil.Quote(line))
	}
	w.about = about
	return nil
}

// line returns the next line of the worker.
func (w *worker) line() (string, error) {
	if !w.out.Scan() {
		err := w.out.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return "", fmt.Errorf("measuring process ended: %w: %s", err, w.why())
	}
	line := w.out.Text()
	if text, ok := strings.CutPrefix(line, "error "); ok {
		return "", errors.New(textutil.Cut(text, mostKept))
	}
	return line, nil
}

// why waits for the end of a worker that says nothing more, and returns what is
// known of it.
func (w *worker) why() string {
	if err := w.cmd.Wait(); err != nil {
		return strings.TrimSpace(err.Error() + " " + w.stderr.String())
	}
	return strings.TrimSpace("without an error " + w.stderr.String())
}

// next returns the number of a call of the plan, its seconds and those of the processor;
// io.EOF at the end.
func (w *worker) next(calls int) (number int, seconds, cpu float64, err error) {
	line, err := w.line()
	switch {
	case err != nil:
		return 0, 0, 0, err
	case line == "end":
		return 0, 0, 0, io.EOF
	}
	var texts [3]string
	n, _ := fmt.Sscan(line, &texts[0], &texts[1], &texts[2]) // its error is a small n
	number, err1 := strconv.Atoi(texts[0])
	seconds, err2 := strconv.ParseFloat(texts[1], 64)
	cpu, err3 := strconv.ParseFloat(texts[2], 64)
	if n != 3 || errors.Join(err1, err2, err3) != nil || number < 0 || number >= calls ||
		!(seconds > 0 && seconds < 1e9) || !(cpu >= 0 && cpu < 1e9) {
		return 0, 0, 0, fmt.Errorf("measuring process: want the number of a call and seconds, found %s", textutil.Quote(line))
	}
	return number, seconds, cpu, nil
}

// close waits for the end of a worker that was told to end.
func (w *worker) close() {
	if w.cmd.ProcessState == nil {
		_ = w.cmd.Wait() // it may have been killed
	}
}

// tail keeps the beginning of what a worker writes to standard error.
type tail struct{ text strings.Builder }

const mostKept = 500

func (t *tail) Write(p []byte) (int, error) {
	if room := mostKept - t.text.Len(); room > 0 {
		t.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *tail) String() string { return firstLine(t.text.String()) }

// Compile makes a program, a path, of C source beside it, with the libraries, and returns
// the compiler's first line about itself.
func Compile(ctx context.Context, compiler string, source []byte, program string,
	libraries ...string) (about string, err error) {
	file := program + ".c"
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return "", err
	}
	args := append([]string{"-O2", "-o", program, file}, libraries...)
	cmd := exec.CommandContext(ctx, compiler, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for us only
	out, err := cmd.CombinedOutput()
	switch line := firstLine(string(out)); {
	case ctx.Err() != nil:
		return "", errors.New("interrupted while it was compiled: nothing was timed")
	case err != nil && line != "":
		return "", fmt.Errorf("%s: %w: %s", compiler, err, line)
	case err != nil:
		return "", fmt.Errorf("%s: %w", compiler, err)
	}
	out, err = exec.CommandContext(ctx, compiler, "--version").Output()
	if err != nil {
		return compiler + " (version unknown)", nil
	}
	return firstLine(string(out)), nil
}

func findCompiler(name string) (string, error) {
	if name != "" {
		return exec.LookPath(name)
	}
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no C compiler (cc, gcc or clang): install one, as by apt install gcc, or name it (--cc)")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
