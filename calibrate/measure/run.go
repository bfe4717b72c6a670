package measure

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// This file measures (Run): it compiles and starts the C programs of helper, and reads their timings.

//go:embed helper
var helper embed.FS

// Timing is one call that was timed. The processor's seconds tell whether a rank shared its core:
// they are fewer than those of the clock then.
type Timing struct {
	Rank    int // of the host, from 0
	Turn        // Call is never notRecorded
	Seconds float64
	CPU     float64   // seconds that the rank had of the processor meanwhile
	Date    time.Time // of its end
}

// Result holds the timings of a plan, and how they were made.
type Result struct {
	Timings     []Timing
	Planned     int
	Interrupted bool   // by the context
	OverBudget  bool   // by the time
	BLAS        string // file and version; empty: none is used
	Compiler    string
	Flags       string // of the compiler
}

// Run measures: a process for each rank, which all make the same call at the same time, so that
// they compete for memory as ranks do, but for the calls that the first one makes alone. progress is called after each call, from one goroutine at a
// time. When the budget is used up no call begins; when ctx ends, or a process fails, calls under
// way are given up. Either way the timings so far are the result, beside the error of the process.
func Run(ctx context.Context, p *Plan, o Options, progress func()) (r *Result, err error) {
	r = &Result{Planned: p.Planned()}
	// The program, the plan and the shared page live in a directory that goes with the measurement.
	dir, err := os.MkdirTemp("", "reprise-measure-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// Ending inner kills the workers; it ends with ctx, or when one of them fails. An interrupt of
	// ctx is no error: the timings so far are the result.
	inner, cancel := context.WithCancel(ctx)
	var workers []*worker
	defer func() {
		cancel()
		for _, w := range workers {
			_ = w.cmd.Wait() // it may have been killed, or waited for before
		}
		if r.Interrupted = ctx.Err() != nil; r.Interrupted {
			err = nil
		}
	}()
	defer textutil.Stopped(&err)

	// A worker for each rank is started, and then has its memory.
	command := p.build(inner, &o, dir, r)
	for rank, cores := range p.Groups {
		if o.NoPin {
			cores = nil
		}
		workers = append(workers, textutil.Must(startWorker(inner, command(rank), cores, o.Threads)))
	}
	for _, w := range workers {
		r.BLAS = textutil.Must(w.ready())
	}

	// The workers meet before each call without this process (helper/meeting.h), which only reads their lines. All
	// workers are read at once. If one fails, the others, which would wait for it, are ended.
	var mutex sync.Mutex // guards r and progress
	errs := make([]error, len(workers))
	var wait sync.WaitGroup
	for rank, w := range workers {
		wait.Go(func() {
			// The first worker makes all calls of the plan: if it ends before the last, it has used up the budget.
			for made := 0; ; made++ {
				number, seconds, cpu, err := w.next(len(p.Order))
				if err != nil {
					mutex.Lock()
					r.OverBudget = r.OverBudget || rank == 0 && errors.Is(err, io.EOF) && made < len(p.Order)
					mutex.Unlock()
					if !errors.Is(err, io.EOF) && inner.Err() == nil {
						errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
						cancel()
					}
					return
				}
				// Calls that warm up, or that bring the caches to a box, have no timing.
				if number < p.WarmUp || p.Order[number].Call == notRecorded {
					continue
				}
				mutex.Lock()
				r.Timings = append(r.Timings, Timing{rank, p.Order[number], seconds, cpu, time.Now()})
				if progress != nil {
					progress()
				}
				mutex.Unlock()
			}
		})
	}
	wait.Wait()
	return r, errors.Join(errs...)
}

// build compiles the program and writes the files that its processes have in common. It returns the
// command line of the process of a rank, and ends [Run] at an error.
func (p *Plan) build(ctx context.Context, o *Options, dir string, r *Result) func(rank int) []string {
	compiler := textutil.Must(findCompiler(o.Compiler))
	// The source is compiled among the headers of its directory, which go there as they are. The processes have two
	// files in common: the plan, and a page that they meet in (helper/meeting.h).
	sources := textutil.Must(fs.Sub(helper, "helper"))
	source := textutil.Must(helper.ReadFile("helper/" + p.source))
	planFile, shared := filepath.Join(dir, "plan"), filepath.Join(dir, "shared")
	if err := errors.Join(os.CopyFS(dir, sources), os.WriteFile(planFile, p.text(), 0o600),
		os.WriteFile(shared, make([]byte, 4096), 0o600)); err != nil {
		textutil.Stop(err)
	}
	flags := p.flags
	if len(o.Flags) > 0 {
		flags = o.Flags
	}
	r.Flags = strings.Join(flags, " ")
	program := filepath.Join(dir, "timer")
	r.Compiler = textutil.Must(Compile(ctx, compiler, source, program, append(slices.Clone(flags), "-ldl")...))
	// A path becomes absolute; a name is looked up by the loader of the system.
	library := o.BLAS
	if p.boxes == nil && strings.ContainsRune(library, filepath.Separator) {
		if _, err := os.Stat(library); err != nil {
			textutil.Stop(fmt.Errorf("BLAS: %w", err))
		}
		library = textutil.Must(filepath.Abs(library))
	}

	// The arguments stand as helper/kernels.c and helper/loops.c read them.
	return func(rank int) []string {
		budget := o.Budget.Seconds()
		args := []any{program, planFile, shared, budget, rank, len(p.Groups), len(p.boxes)}
		if p.boxes == nil {
			args = []any{program, library, planFile, shared, budget, o.Seed, rank, len(p.Groups), len(p.shapes), p.space.work,
				p.space.swept, p.cached}
		}
		return textutil.Texts(args, func(arg any) string { return fmt.Sprint(arg) })
	}
}

// worker is a process that times the calls of a plan. It writes lines to its standard output:
// "ready" with its BLAS once it has its memory, then of each call its number in the order, its
// seconds and those of the processor, and "end"; or "error" with a reason.
type worker struct {
	cmd    *exec.Cmd
	out    *bufio.Scanner
	stderr *Beginning
}

// mostKept bounds the text of a worker that is part of an error, in bytes.
const mostKept = 500

// threadVariables tell the usual libraries how many threads to use.
var threadVariables = []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS",
	"BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}

// startWorker starts a command on the cores, nil for any. It ends with ctx.
func startWorker(ctx context.Context, command []string, cores []int, threads int) (*worker, error) {
	w := &worker{cmd: exec.CommandContext(ctx, command[0], command[1:]...), stderr: &Beginning{Most: mostKept}}
	w.cmd.Env = os.Environ()
	for _, name := range threadVariables {
		w.cmd.Env = append(w.cmd.Env, name+"="+strconv.Itoa(threads))
	}
	// A process group of its own keeps signals of the terminal away: the parent ends the worker, and keeps its timings.
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for us only
	w.cmd.Stderr = w.stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// Threads of the process inherit the cores, those of the BLAS included.
	if cores == nil {
		err = w.cmd.Start()
	} else {
		err = startOn(w.cmd, cores)
	}
	if err != nil {
		return nil, fmt.Errorf("measuring process: %w", err)
	}
	// Lines are short; one that is longer than the scanner's buffer is an error of the worker.
	w.out = bufio.NewScanner(out)
	return w, nil
}

// line returns the next line of the worker. The end of one that did not say "end" is an error with the beginning of
// its standard error.
func (w *worker) line() (string, error) {
	if !w.out.Scan() {
		err := w.out.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		status := "without an error"
		if ended := w.cmd.Wait(); ended != nil {
			status = ended.Error()
		}
		return "", fmt.Errorf("measuring process ended: %w: %s", err,
			strings.TrimSpace(status+" "+firstLine(w.stderr.String())))
	}
	line := w.out.Text()
	if text, ok := strings.CutPrefix(line, "error "); ok {
		return "", errors.New(textutil.Cut(text, mostKept))
	}
	return line, nil
}

// ready reads the first line of the worker, which tells of its BLAS.
func (w *worker) ready() (about string, err error) {
	line, err := w.line()
	if err != nil {
		return "", err
	}
	about, ok := strings.CutPrefix(line, "ready ")
	if !ok {
		return "", fmt.Errorf("measuring process: want \"ready\", found %s", textutil.Quote(line))
	}
	return about, nil
}

// next returns the number of a call of the plan, its seconds and those of the processor; io.EOF at the end.
func (w *worker) next(calls int) (number int, seconds, cpu float64, err error) {
	line, err := w.line()
	switch {
	case err != nil:
		return 0, 0, 0, err
	case line == "end":
		return 0, 0, 0, io.EOF
	}
	// A line with fewer fields has an empty one, which is no number.
	texts := append(strings.Fields(line), "", "", "")
	number, err1 := strconv.Atoi(texts[0])
	seconds, err2 := strconv.ParseFloat(texts[1], 64)
	cpu, err3 := strconv.ParseFloat(texts[2], 64)
	if errors.Join(err1, err2, err3) != nil || number < 0 || number >= calls ||
		!(seconds > 0 && seconds < 1e9) || !(cpu >= 0 && cpu < 1e9) {
		return 0, 0, 0, fmt.Errorf("measuring process: want the number of a call and seconds, found %s", textutil.Quote(line))
	}
	return number, seconds, cpu, nil
}

// Beginning is a writer that keeps the first bytes of a text, such as the output of a process, and drops the rest.
type Beginning struct {
	Most int // bytes that it keeps
	text strings.Builder
}

func (b *Beginning) Write(p []byte) (int, error) {
	if room := b.Most - b.text.Len(); room > 0 {
		b.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (b *Beginning) String() string { return b.text.String() }

// Compile makes a program, a path, of C source beside it, with the libraries, and returns
// the compiler's first line about itself.
func Compile(ctx context.Context, compiler string, source []byte, program string,
	libraries ...string) (about string, err error) {
	// The compiler takes -O2 first, so that other levels among the libraries replace it.
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
	// A compiler that does not tell its version has compiled none the less.
	out, err = exec.CommandContext(ctx, compiler, "--version").Output()
	if err != nil {
		return compiler + " (version unknown)", nil
	}
	return firstLine(string(out)), nil
}

// findCompiler returns the path of a C compiler, the named one or the first of the usual ones.
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

// firstLine returns the first line of what a program says, which is mostly the reason of an error.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
