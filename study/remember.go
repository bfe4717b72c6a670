package study

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"reprise/internal/atomicfile"
)

// Remembered is an evaluator that keeps what came out, in the journals of a directory if it has
// one, and makes no run twice. It may be used by several goroutines, for different runs.
type Remembered struct {
	*Evaluator
	plan    *Plan
	journal *journal
	results *Results
}

// Remember returns an evaluator of the configurations of a plan with what a directory has from
// before; "": it has none.
func (p *Plan) Remember(dir string) (*Remembered, error) {
	r := &Remembered{Evaluator: p.NewEvaluator(), plan: p, results: NewResults(dir)}
	if dir == "" {
		return r, nil
	}
	if err := atomicfile.MakeDir(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, PlanFile)); err == nil {
		return nil, fmt.Errorf("%s is the directory of a study: take another one", dir)
	}
	if err := r.results.Update(); err != nil {
		return nil, err
	}
	var err error
	r.journal, err = newJournal(dir, fmt.Sprintf("%d-%d", time.Now().UnixNano(), os.Getpid()))
	return r, err
}

// Known returns what came out of a run before, nil if it was not made.
func (r *Remembered) Known(c *Config, o RunOptions) *Entry {
	if e := r.results.Of(r.id(c, o)); e != nil && e.Outcome != nil {
		return e
	}
	return nil
}

// id names a run as that of a plan.
func (r *Remembered) id(c *Config, o RunOptions) string {
	p := *r.plan
	p.Tolerance, p.Responses = o.Tolerance, o.Responses
	return p.id(c, &Run{Seed: o.Seed, Noise: true})
}

// Evaluate makes a run, and writes down what came out.
func (r *Remembered) Evaluate(ctx context.Context, c *Config, o RunOptions) (*Entry, error) {
	begin := time.Now()
	out, err := r.Evaluator.Evaluate(ctx, c, o)
	if err != nil {
		return nil, err
	}
	e := &Entry{Run: r.id(c, o), Outcome: out, Wall: time.Since(begin).Seconds()}
	if r.journal == nil {
		return e, nil
	}
	return e, r.journal.add(e)
}
