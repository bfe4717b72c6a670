package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"reprise/internal/textutil"
	"reprise/study/workqueue"
)

// This file is the worker of a study (Plan.Work): it takes runs that are free, and makes them.

const (
	// checkpointsDir is the directory of the states of exact replays that were interrupted.
	checkpointsDir = "checkpoints"

	// maxTold is how many failures are listed.
	maxTold = 10

	// margin is how many times as long as predicted a run may take without being late.
	margin = 1.5
)

// WorkOptions say how a worker works.
type WorkOptions struct {
	Jobs  int           // runs at once
	Lease time.Duration // after which a worker that is not seen is dead
	// Until is when the worker is to have ended; it begins nothing that would take longer. The zero time: never.
	Until time.Time
	// Retry makes runs again that have failed before.
	Retry bool
	// Wait has the worker wait for runs that others make, in case they die.
	Wait bool
	// Progress, if set, is called now and then with the number of runs that are done, by all
	// workers, and of all: one call at a time.
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
	Lost   int      // of these, those that failed, whichever worker made them
	Torn   []string // Results.Torn
}

// Summary describes the work in a line.
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

// OfWhich returns ", of which 2 failed" for 2, to stand behind a number of runs; "" for 0.
func OfWhich(failed int) string {
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf(", of which %d failed", failed)
}

// Work makes runs of the study until none is left that is free, or its time is over, or ctx ends; then runs that have
// not ended are given back, long exact ones with a checkpoint. If it ends the study, it writes the table.
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
	// Each goroutine takes runs one at a time. One without a free run ends, or waits for runs of other
	// workers, which may die.
	var group sync.WaitGroup
	for range w.Jobs {
		group.Go(func() {
			for w.ctx.Err() == nil {
				if row, l := w.next(); l != nil {
					w.make(row, l)
					continue
				}
				w.mu.Lock()
				others := w.err == nil && w.work.Held > 0
				w.mu.Unlock()
				if !w.Wait || !others {
					return
				}
				select {
				case <-w.ctx.Done():
				case <-time.After(min(w.Lease/4, time.Second)):
				}
			}
		})
	}
	group.Wait()
	if w.err != nil {
		return w.work, w.err
	}

	// Is the study done? Then write its table and tidy up.
	if err := w.results.Update(); err != nil {
		return w.work, err
	}
	w.tell()
	w.work.Torn = w.results.Torn()
	left := slices.DeleteFunc(append(w.passed, w.pending...), w.isDone)
	if w.work.Done = len(left) == 0; !w.work.Done {
		return w.work, nil
	}
	// Every worker that finds the study done writes the same table, atomically: it does not matter which
	// of them does, nor how many.
	for _, row := range p.order() {
		if w.results.Of(p.Runs[row].ID).Outcome == nil {
			w.work.Lost++
		}
	}
	done := func(id string) bool { return w.results.Of(id) != nil }
	return w.work, errors.Join(p.WriteTables(w.results), w.me.Sweep(done))
}

// worker is a process that makes runs.
//
// Its goroutines share all of it, under mu: what changes is the state of the results, the two lists
// of rows, and the counts. A run is made without the lock. The order of the calls is next, make,
// next and so on in each goroutine; between them nothing is held but the lease of the run.
type worker struct {
	WorkOptions
	plan    *Plan
	ctx     context.Context
	me      *workqueue.Worker
	journal *journal
	eval    *Evaluator

	mu      sync.Mutex
	results *Results
	before  map[string]int // failures of runs that are made again, at the begin
	all     int            // runs, each once
	passed  []int          // rows of runs that were passed over, or taken: longest first
	pending []int          // rows behind them that were not looked at
	busy    map[string]bool
	pace    Pace
	work    Work
	err     error // the first one, which ends the worker: those of runs that are made at the same time are the same
}

// join makes this process a worker of the study.
func (p *Plan) join(ctx context.Context, o WorkOptions) (*worker, error) {
	// The worker is announced before it reads any journal: from now on it may take leases, and
	// others see that it lives.
	me, err := workqueue.Join(p.dir, o.Lease)
	if err != nil {
		return nil, err
	}
	w := &worker{WorkOptions: o, plan: p, ctx: ctx, me: me, eval: p.NewEvaluator(), results: p.NewResults(),
		busy: map[string]bool{}, before: map[string]int{}, pending: p.order()}
	w.all = len(w.pending)
	if w.journal, err = newJournal(p.dir, me.Name); err == nil {
		err = w.results.Update()
	}
	if err != nil {
		return nil, errors.Join(err, me.Leave())
	}
	// Runs are made again only if their failure is older than this worker: one that fails again is not
	// made a third time.
	if o.Retry {
		w.before = maps.Clone(w.results.failed)
	}
	w.pace = p.pace(w.results)
	return w, nil
}

// order returns the rows of the plan's runs, each run once, the longest first, by powers of two of their cost. Those of
// one power come in the order of their names, which are hashes: in no order of a factor.
func (p *Plan) order() []int {
	rows := p.once()
	class := make([]int, len(p.Runs))
	for _, row := range rows {
		// Long runs first, so that the last runs of a study are short and all workers end at about the same time.
		// Powers of two are classes that are coarse enough for workers to spread over the levels.
		_, class[row] = math.Frexp(p.cost(row))
	}
	slices.SortFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(class[b], class[a]), cmp.Compare(p.Runs[a].ID, p.Runs[b].ID))
	})
	return rows
}

// next takes the next run that is free and can be made in time; nil if there is none. Rows that
// are done are dropped, so a worker looks at each of them once.
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
	// Both are counted anew in each call: a worker that has died meanwhile holds nothing any more.
	w.work.Held, w.work.Late = 0, 0
	// First the rows that were passed over before, whose workers may have died since, then those that
	// were never looked at. Both lists have the longest first.
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
		id := w.plan.Runs[row].ID
		switch {
		case w.busy[id]: // this worker is making it
			continue
		case !w.Until.IsZero() && time.Until(w.Until) < w.pace.Of(margin*w.plan.cost(row)):
			w.work.Late++
			continue
		}
		// To take a lease costs a file on the file server; runs that are done or too long were dropped before.
		l, err := w.me.Take(id)
		if err == nil && l == nil {
			w.work.Held++
			continue
		}
		// Between the last look at the journals and the lease another worker may have ended the run.
		if err == nil {
			err = w.results.Update()
		}
		if err == nil && !w.isDone(row) {
			w.busy[id] = true
		} else if l != nil {
			err, l = errors.Join(err, l.Done()), nil
		}
		if err != nil || l != nil {
			w.err = err
			w.passed = append(w.passed, passed...)
			return row, l
		}
	}
	return 0, nil
}

// isDone reports whether a run has ended: well, or with an error, unless that was before and it is to be made again.
func (w *worker) isDone(row int) bool {
	id := w.plan.Runs[row].ID
	e := w.results.Of(id)
	return e != nil && (e.Outcome != nil || !w.Retry || w.results.failed[id] > w.before[id])
}

// tell reports the progress.
func (w *worker) tell() {
	if w.Progress != nil {
		w.Progress(len(w.results.entries), w.all)
	}
}

// make makes a run and writes down its result, or gives its lease back if the context has ended.
func (w *worker) make(row int, l *workqueue.Lease) {
	run := &w.plan.Runs[row]
	// Nothing is locked while the run is made.
	begin := time.Now()
	// The wall time is that of the run with all that it needs, also a trace that had to be made:
	// the next runs of this kind are likely to take as long.
	out, err := w.evaluate(row)
	e := &Entry{Run: run.ID, Outcome: out, Wall: time.Since(begin).Seconds(), Worker: w.me.Name}
	back := err != nil && w.ctx.Err() != nil
	switch {
	case back:
		err = l.GiveBack()
	default:
		if err != nil {
			e.Error = err.Error()
		}
		// A worker that was suspended for longer than a lease has lost its run to another one.
		if err = l.Held(); err == nil {
			err = w.journal.add(e)
		}
		if err != nil {
			err = errors.Join(fmt.Errorf("a result could not be written down, and is to be made again: %w", err), l.GiveBack())
			break
		}
		err = l.Done()
		// The checkpoint is of no use any more. A special file in its place, which no worker has put there, stays.
		file := w.plan.checkpoint(run.ID)
		if info, serr := os.Lstat(file); serr != nil || info.Mode().IsRegular() {
			if rerr := os.Remove(file); !errors.Is(rerr, os.ErrNotExist) {
				err = errors.Join(err, rerr)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// The first error ends the worker; those behind it are mostly of the same cause.
	w.err = cmp.Or(w.err, err)
	delete(w.busy, run.ID)
	if back {
		w.work.Back++
		return
	}
	w.work.Made++
	w.pace.Add(w.plan.cost(row), e.Wall)
	if e.Error != "" {
		if w.work.Failed++; w.work.Failed <= maxTold {
			w.work.Errors = append(w.work.Errors, fmt.Sprintf("%s: %s", w.plan.Describe(row), e.Error))
		}
	}
}

// evaluate makes a run. A panic of the program is the run's error: the other runs can be made.
func (w *worker) evaluate(row int) (out *Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("a fault of Reprise, please report it: %v\n%s", r, debug.Stack())
		}
	}()
	run := &w.plan.Runs[row]
	return w.eval.Evaluate(w.ctx, w.plan.configs[row], RunOptions{Tolerance: w.plan.Tolerance, Seed: run.Seed,
		Checkpoint: w.plan.checkpoint(run.ID), Responses: w.plan.Responses})
}

func (p *Plan) checkpoint(id string) string { return filepath.Join(p.dir, checkpointsDir, id) }
