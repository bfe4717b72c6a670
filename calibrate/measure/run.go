package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Timing is one call that was timed.
type Timing struct {
	CPU     int // number of the worker
	Size    Size
	Seconds float64
	Date    time.Time // of its end
}

// Result is what was measured.
type Result struct {
	Timings     []Timing // in the order of their ends
	Planned     int
	Interrupted bool   // by the context
	OverBudget  bool   // by the time
	About       string // what the workers say of their dgemm
	Compiler    string // of the helper, if there is one
}

// Run measures. progress is called after each timing, from one goroutine at a
// time. When the budget is used up no call begins; when ctx ends, or a worker fails, calls under
// way are given up. Either way what was measured is the result, beside the error of the worker.
func Run(ctx context.Context, p *Plan, o Options, progress func()) (*Result, error) {
	r := &runner{plan: p, o: &o, progress: progress, result: &Result{Planned: len(p.Calls)}}
	dir, err := os.MkdirTemp("", "reprise-measure-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	command, err := r.command(inner, dir)
	if err == nil {
		err = r.start(inner, command)
	}
	if err == nil {
		err = r.measure(inner, cancel)
	}
	cancel()
	for _, w := range r.workers {
		_ = w.close() // it may have been killed
	}
	r.result.Interrupted = ctx.Err() != nil
	if r.result.Interrupted {
		err = nil
	}
	return r.result, err
}

type runner struct {
	plan     *Plan
	o        *Options
	workers  []*worker
	deadline time.Time // zero: none

	mutex    sync.Mutex
	progress func()
	result   *Result
}

// command returns the command of a worker.
func (r *runner) command(ctx context.Context, dir string) ([]string, error) {
	elements := strconv.FormatInt(r.plan.largest(), 10)
	if r.o.BLAS == "" {
		return append(append([]string(nil), r.o.Worker...), elements), nil
	}
	library, err := filepath.Abs(r.o.BLAS)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(library); err != nil {
		return nil, fmt.Errorf("BLAS: %w", err)
	}
	helper, about, err := compile(ctx, r.o.Compiler, dir)
	r.result.Compiler = about
	return []string{helper, library, elements}, err
}

// start starts the workers and warms them up, all before the first timing.
func (r *runner) start(ctx context.Context, command []string) error {
	if r.o.Budget > 0 {
		r.deadline = time.Now().Add(r.o.Budget)
	}
	for _, cores := range r.plan.Groups {
		if r.o.NoPin {
			cores = nil
		}
		w, err := startWorker(ctx, command, cores, r.o.Threads)
		if err != nil {
			return err
		}
		r.workers = append(r.workers, w)
		r.result.About = w.about
	}
	for _, w := range r.workers {
		for i := range r.o.WarmUp {
			if r.late() {
				return nil
			}
			if _, err := w.seconds(r.plan.Sizes[i%len(r.plan.Sizes)]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *runner) late() bool { return !r.deadline.IsZero() && time.Now().After(r.deadline) }

// measure makes the calls: each worker its own at the same time, or one after the other.
func (r *runner) measure(ctx context.Context, cancel func()) error {
	if r.o.Alone {
		return r.calls(ctx, func(Call) bool { return true })
	}
	errs := make([]error, len(r.workers))
	var wait sync.WaitGroup
	for i := range r.workers {
		wait.Go(func() {
			errs[i] = r.calls(ctx, func(c Call) bool { return c.Worker == i })
			if errs[i] != nil {
				cancel() // the others need not go on
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// calls makes those calls that are mine.
func (r *runner) calls(ctx context.Context, mine func(Call) bool) error {
	for _, c := range r.plan.Calls {
		if !mine(c) {
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		if r.late() {
			r.mutex.Lock()
			r.result.OverBudget = true
			r.mutex.Unlock()
			return nil
		}
		size := r.plan.Sizes[c.Size]
		seconds, err := r.workers[c.Worker].seconds(size)
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("size %v on CPU %d: %w", size, c.Worker, err)
		}
		r.keep(Timing{c.Worker, size, seconds, time.Now()})
	}
	return nil
}

func (r *runner) keep(t Timing) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.result.Timings = append(r.result.Timings, t)
	if r.progress != nil {
		r.progress()
	}
}
