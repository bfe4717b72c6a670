package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"reprise/internal/textutil"
	"reprise/study/workqueue"
)

// WorkOptions say how a worker works.
type WorkOptions struct {
	Jobs  int           // runs at once
	Lease time.Duration // after which a worker that is not seen is dead
	// Until is when the worker is to have ended; it begins nothing that would take longer. The
	// zero time: never.
	Until time.Time
	// Retry makes runs again that have failed before.
	Retry bool
	// Wait has the worker wait for runs that others make, in case they die.
	Wait bool
	// Progress, if set, is called now and then with the number of runs that are done, by
	// whomever, and of all: one call at a time.
	Progress func(done, all int)
}

// Work is what a worker has done.
type Work struct {
	Made   int      // runs that it made
	Failed int      // of these, those that failed
	Errors []string // of the first of them, with the run: at most maxTold
	Back   int      // leases that it gave back because it had to end
	Held   int      // runs that other workers are making
	Late   int      // runs that would have ended after Until
	Done   bool     // all runs of the study are done
	Lost   int      // of these, those that failed, whoever made them
	Torn   []string // what Results.Torn tells
}

// CheckLease returns an error that begins with a lease if that is too short or too long.
func CheckLease(d time.Duration) error { return workqueue.CheckPeriod(d) }

// maxTold is how many failures are told.
const maxTold = 10

// Work makes runs of the study until none is left that is free, or its time is over, or ctx ends;
// then runs that have not ended are given back, long exact ones with a checkpoint. If it ends
// the study, it writes the table.
func (p *Plan) Work(ctx context.Context, o WorkOptions) (work Work, err error) {
	w, err := p.join(ctx, o)
	if err != nil {
		return work, err
	}
	defer func() { err = errors.Join(err, w.me.Leave()) }()
	if !o.Until.IsZero() {
		var cancel context.CancelFunc
		w.ctx, cancel = context.WithDeadline(ctx, o.Until)
		defer cancel()
	}
	w.run()
	if w.err != nil {
		return w.work, w.err
	}
	return w.work, w.finish()
}

// worker is a process that makes runs.
type worker struct {
	WorkOptions
	plan    *Plan
	ctx     context.Context
	me      *workqueue.Worker
	journal *journal
	eval    *Evaluator

	mu      sync.Mutex
	results *Results
	before  map[string]int // failures of runs that are made again, as they were
	all     int            // runs, each once
	passed  []int          // rows of runs that were passed over, or taken: longest first
	pending []int          // behind them those that were not looked at
	busy    map[string]bool
	pace    pace
	work    Work
	err     error
}

// join makes this process a worker of the study.
func (p *Plan) join(ctx context.Context, o WorkOptions) (*worker, error) {
	me, err := workqueue.Join(p.dir, o.Lease)
	if err != nil {
		return nil, err
	}
	w := &worker{WorkOptions: o, plan: p, ctx: ctx, me: me, eval: p.NewEvaluator(), results: p.NewResults(),
		busy: map[string]bool{}, before: map[string]int{}}
	if w.journal, err = newJournal(p.dir, me.Name); err == nil {
		err = w.results.Update()
	}
	if err != nil {
		return nil, errors.Join(err, me.Leave())
	}
	if o.Retry {
		for id, n := range w.results.failed {
			w.before[id] = n
		}
	}
	w.pace = p.pace(w.results)
	w.pending = p.order()
	w.all = len(w.pending)
	return w, nil
}

// order returns the rows of the plan's runs, each run once, the longest first. Those that take
// about as long come in the order of their names, which are hashes: in no order of a factor.
func (p *Plan) order() []int {
	var rows []int
	seen := map[string]bool{}
	class := make([]int, len(p.Runs))
	for i, run := range p.Runs {
		class[i] = costClass(p.cost(i))
		if !seen[run.ID] {
			seen[run.ID] = true
			rows = append(rows, i)
		}
	}
	slices.SortFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(class[b], class[a]), cmp.Compare(p.Runs[a].ID, p.Runs[b].ID))
	})
	return rows
}

// run makes runs, so many at once, until there are none for this worker.
func (w *worker) run() {
	var group sync.WaitGroup
	for range w.Jobs {
		group.Add(1)
		go func() {
			defer group.Done()
			for w.ctx.Err() == nil {
				row, l := w.next()
				switch {
				case l != nil:
					w.make(row, l)
				case !w.Wait || !w.waits():
					return
				}
			}
		}()
	}
	group.Wait()
}

// waits waits a moment for other workers, and reports whether it is still needed.
func (w *worker) waits() bool {
	w.mu.Lock()
	goOn := w.err == nil && w.work.Held > 0
	w.mu.Unlock()
	if !goOn {
		return false
	}
	select {
	case <-w.ctx.Done():
	case <-time.After(min(w.Lease/4, time.Second)):
	}
	return true
}

// next takes the next run that is free and can be made in time; nil if there is none.
func (w *worker) next() (row int, l *workqueue.Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, nil
	}
	if w.err = w.results.Update(); w.err != nil {
		return 0, nil
	}
	w.tell()
	w.work.Held, w.work.Late = 0, 0
	passed := w.passed
	w.passed = nil
	for len(passed)+len(w.pending) > 0 {
		from := &passed
		if len(passed) == 0 {
			from = &w.pending
		}
		row := (*from)[0]
		*from = (*from)[1:]
		if w.isDone(row) {
			continue
		}
		w.passed = append(w.passed, row)
		l, err := w.try(row)
		if err != nil || l != nil {
			w.err = err
			w.passed = append(w.passed, passed...)
			return row, l
		}
	}
	return 0, nil
}

// try takes a run, unless this or another worker is making it, or it was done a moment ago, or would
// end too late.
func (w *worker) try(row int) (*workqueue.Lease, error) {
	id := w.plan.Runs[row].ID
	switch {
	case w.busy[id]:
		return nil, nil
	case w.late(row):
		w.work.Late++
		return nil, nil
	}
	l, err := w.me.Take(id)
	if err != nil {
		return nil, err
	}
	if l == nil {
		w.work.Held++
		return nil, nil
	}
	if err = w.results.Update(); err == nil && !w.isDone(row) {
		w.busy[id] = true
		return l, nil
	}
	return nil, errors.Join(err, l.Done())
}

// isDone reports whether a run has ended: well, or not, unless that was before and it is to be
// made again.
func (w *worker) isDone(row int) bool {
	id := w.plan.Runs[row].ID
	e := w.results.Of(id)
	return e != nil && (e.Outcome != nil || !w.Retry || w.results.failed[id] > w.before[id])
}

// margin is how many times as long as predicted a run may take without being late.
const margin = 1.5

// late reports whether a run would not end in time.
func (w *worker) late(row int) bool {
	if w.Until.IsZero() {
		return false
	}
	takes := w.pace.of(margin * w.plan.cost(row))
	return time.Until(w.Until) < takes
}

func (w *worker) tell() {
	if w.Progress != nil {
		w.Progress(w.results.ended(), w.all)
	}
}

// Different returns the number of runs, of which two rows may have the same.
func (p *Plan) Different() int {
	seen := map[string]bool{}
	for _, run := range p.Runs {
		seen[run.ID] = true
	}
	return len(seen)
}

// make makes a run and writes down what came out.
func (w *worker) make(row int, l *workqueue.Lease) {
	run := &w.plan.Runs[row]
	begin := time.Now()
	out, err := w.evaluate(row)
	e := &Entry{Run: run.ID, Outcome: out, Wall: time.Since(begin).Seconds(), Worker: w.me.Name}
	if err != nil {
		if w.ctx.Err() != nil {
			w.giveBack(run.ID, l)
			return
		}
		e.Error = err.Error()
	}
	if err = l.Held(); err == nil {
		err = w.journal.add(e)
	}
	if err == nil {
		err = errors.Join(l.Done(), w.dropCheckpoint(run.ID))
	} else {
		err = errors.Join(fmt.Errorf("a result could not be written down, and is to be made again: %w", err), l.GiveBack())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(err)
	w.work.Made++
	w.pace.add(w.plan.cost(row), e.Wall)
	if e.Error != "" {
		if w.work.Failed++; w.work.Failed <= maxTold {
			w.work.Errors = append(w.work.Errors, fmt.Sprintf("%s: %s", w.plan.Describe(row), e.Error))
		}
	}
	delete(w.busy, run.ID)
}

// evaluate makes a run. Should the program itself fail in it, that is the run's error: the others
// can be made.
func (w *worker) evaluate(row int) (out *Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("a fault of Reprise, please report it: %v\n%s", r, debug.Stack())
		}
	}()
	run := &w.plan.Runs[row]
	return w.eval.Evaluate(w.ctx, w.plan.configs[row],
		RunOptions{Tolerance: w.plan.Tolerance, Seed: run.Seed, Checkpoint: w.plan.checkpoint(run.ID),
			Responses: w.plan.Responses})
}

// fail ends the worker by its first error: those of runs that are made at the same time say the same.
func (w *worker) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// giveBack ends the lease of a run that has not ended.
func (w *worker) giveBack(id string, l *workqueue.Lease) {
	err := l.GiveBack()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(err)
	w.work.Back++
	delete(w.busy, id)
}

// Describe names a row of the plan, as "run 3 (NB 64, DEPTH 0, seed 1)".
func (p *Plan) Describe(row int) string {
	run := &p.Runs[row]
	text := describe(p.Factors, run.Levels)
	return fmt.Sprintf("run %d (%s, seed %d)", row+1, text, run.Seed)
}

// checkpointsDir is where the states of exact replays are that were interrupted.
const checkpointsDir = "checkpoints"

func (p *Plan) checkpoint(id string) string { return filepath.Join(p.dir, checkpointsDir, id) }

// dropCheckpoint removes the state of a run that has ended. What no worker has put there stays.
func (w *worker) dropCheckpoint(id string) error {
	if info, err := os.Lstat(w.plan.checkpoint(id)); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err := os.Remove(w.plan.checkpoint(id)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// finish looks whether the study is done, and if so writes its table and tidies up.
func (w *worker) finish() error {
	if err := w.results.Update(); err != nil {
		return err
	}
	w.tell()
	left := slices.DeleteFunc(append(w.passed, w.pending...), w.isDone)
	w.work.Torn = w.results.Torn()
	if w.work.Done = len(left) == 0; !w.work.Done {
		return nil
	}
	for _, row := range w.plan.order() {
		if w.results.Of(w.plan.Runs[row].ID).Outcome == nil {
			w.work.Lost++
		}
	}
	done := func(id string) bool { return w.results.Of(id) != nil }
	return errors.Join(w.plan.WriteTables(w.results), w.me.Sweep(done))
}

// Summary says in a line what a worker has done.
func (w *Work) Summary() string {
	text := "made " + textutil.Count(w.Made, "run") + OfWhich(w.Failed)
	if w.Back > 0 {
		text += fmt.Sprintf("; gave %s back", textutil.Count(w.Back, "run"))
	}
	if w.Late > 0 {
		text += fmt.Sprintf("; left %s that would have taken too long", textutil.Count(w.Late, "run"))
	}
	if w.Held > 0 {
		text += fmt.Sprintf("; other workers are making %d", w.Held)
	}
	return text
}

// OfWhich says behind a number of runs how many of them failed, if any did.
func OfWhich(failed int) string {
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf(", of which %d failed", failed)
}

// Levels names the levels of a row of the plan, as "NB 64, DEPTH 0".
func (p *Plan) Levels(row int) string { return describe(p.Factors, p.Runs[row].Levels) }
