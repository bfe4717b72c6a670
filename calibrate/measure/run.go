package measure

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
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
	if err := writeFile(f.plan, func(w io.Writer) error { return r.plan.program.write(r.plan, w) }); err != nil {
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
	flags := r.o.flagsOf(r.plan.program)
	r.result.Flags = strings.Join(flags, " ")
	r.result.Compiler, err = Compile(ctx, compiler, source, program, append(flags, "-ldl")...)
	return err
}

func writeFile(path string, content func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
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
