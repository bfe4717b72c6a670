package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/study"
	"reprise/study/search"
	"reprise/tracegen/programs"
)

// Options say how to tune.
type Options struct {
	Jobs         int       // replays at once
	Tolerances   []float64 // of the replays, each less than the one before; 0: exact
	Indifference float64   // a difference of times that does not matter, as a share
	Seed         uint64    // of noise, the same for all configurations
	Dir          string    // where results are kept, and those from before are found; "": nowhere
	// Progress, if set, is called with the number of runs that are done, and of those that are
	// known to be needed.
	Progress func(done, all int)
}

// Tolerances returns 3, 1 and 0.3 %, as far as they are coarser than the last, and the last.
func Tolerances(last float64) []float64 {
	var list []float64
	for _, t := range []float64{0.03, 0.01, 0.003} {
		if t > last {
			list = append(list, t)
		}
	}
	return append(list, last)
}

// freshSeeds is how many further seeds the winner is replayed with.
const freshSeeds = 3

// tuner tunes.
type tuner struct {
	Options
	plan *study.Plan
	runs *study.Remembered

	mu      sync.Mutex
	done    int
	wanted  int
	known   int                  // runs from before
	entries map[int]*study.Entry // the last of each row
	list    []Replay
}

// Check returns an error unless all configurations of a plan solve one system.
func Check(p *study.Plan) error {
	for i := range p.Runs {
		r, first := hplOf(p.Config(i)), hplOf(p.Config(0))
		if r == nil {
			break
		}
		if r.N != first.N {
			return fmt.Errorf("%s: N is %d and %d: what is tuned solves one system", p.Study, first.N, r.N)
		}
		if r.FirstSteps > 0 {
			return fmt.Errorf("%s: first-steps is %d: what is tuned solves its system, leave it out", p.Study, r.FirstSteps)
		}
	}
	return nil
}

// hplOf returns the parameters of a run of HPL; nil for other programs.
func hplOf(c *study.Config) *programs.HPL {
	r, _ := c.Run.(*programs.HPL)
	return r
}

// weight is what the time of a configuration is multiplied by to compare it with others that may do other work: the
// work of the first, as a share of its own.
func weight(p *study.Plan, row int) float64 {
	first, own := p.Config(0).Run.Flops(), p.Config(row).Run.Flops()
	if first == own {
		return 1
	}
	return first / own
}

// Run finds the configuration of a plan that takes the least time, or the least time per flop. What it finds does
// not depend on the number of jobs.
func Run(ctx context.Context, p *study.Plan, o Options) (*Result, error) {
	if o.Jobs < 1 {
		return nil, fmt.Errorf("tune: %d jobs, want at least 1", o.Jobs)
	}
	if err := Check(p); err != nil {
		return nil, err
	}
	runs, err := p.Remember(o.Dir)
	if err != nil {
		return nil, err
	}
	t := &tuner{Options: o, plan: p, runs: runs, entries: map[int]*study.Entry{}}
	found, err := search.Run(ctx, spaceOf(p), search.Options{
		Tolerances: o.Tolerances, Indifference: o.Indifference, Measure: t.measure,
		Progress: func(p search.Progress) { t.tell(p.Open) },
	})
	if err != nil {
		return nil, err
	}
	t.tell(freshSeeds)
	fresh, err := t.again(ctx, found.Points[0])
	if err != nil {
		return nil, err
	}
	return t.result(found, fresh), nil
}

// spaceOf returns what is searched: a point for each run of the plan.
func spaceOf(p *study.Plan) *search.Space {
	s := &search.Space{}
	var ranks [][]int
	for _, f := range p.Factors {
		rank, ordered := order(f.Levels)
		ranks = append(ranks, rank)
		s.Factors = append(s.Factors, search.Factor{Levels: len(f.Levels), Ordered: ordered})
	}
	for _, run := range p.Runs {
		x := make([]int, len(run.Levels))
		for f, level := range run.Levels {
			x[f] = ranks[f][level]
		}
		s.Points = append(s.Points, x)
	}
	return s
}

// order returns the places of levels in their order, if they have one: numbers, or grids by their
// shape.
func order(levels []study.Level) (rank []int, ordered bool) {
	value := make([]float64, len(levels))
	rank, ordered = make([]int, len(levels)), true
	for i, l := range levels {
		rank[i] = i
		v, err := strconv.ParseFloat(l.Label, 64)
		if p, q, grid := strings.Cut(l.Label, "x"); grid {
			rows, err1 := strconv.ParseFloat(p, 64)
			columns, err2 := strconv.ParseFloat(q, 64)
			v, err = rows/columns, errors.Join(err1, err2)
		}
		value[i], ordered = v, ordered && err == nil
	}
	if !ordered {
		return rank, false
	}
	at := slices.Clone(rank)
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(value[a], value[b]) })
	for place, level := range at {
		rank[level] = place
	}
	return rank, true
}

// measure is the search's.
func (t *tuner) measure(ctx context.Context, points []int, tolerance float64) ([]search.Value, error) {
	jobs := make([]job, len(points))
	for i, p := range points {
		jobs[i] = job{p, t.plan.Config(p), study.RunOptions{Tolerance: tolerance, Seed: t.Seed}}
	}
	entries, err := t.make(ctx, jobs)
	if err != nil {
		return nil, err
	}
	values := make([]search.Value, len(points))
	for i, e := range entries {
		w := weight(t.plan, points[i])
		values[i] = search.Value{Seconds: w * e.Outcome.Makespan, Interval: w * e.Outcome.Interval}
		t.entries[points[i]] = e
	}
	return values, nil
}

// again replays a point with seeds, of noise and of pivots, that the search has not seen.
func (t *tuner) again(ctx context.Context, p search.Point) ([]*study.Entry, error) {
	jobs := make([]job, freshSeeds)
	for i := range jobs {
		c := *t.plan.Config(p.Index)
		c.Run = c.Run.Reseeded(uint64(i) + 1)
		jobs[i] = job{p.Index, &c, study.RunOptions{Tolerance: p.Tolerance, Seed: t.Seed + uint64(i) + 1}}
	}
	return t.make(ctx, jobs)
}

// job is a run to be made.
type job struct {
	row     int
	config  *study.Config
	options study.RunOptions
}

// make makes runs, so many at once, and returns what came out of each.
func (t *tuner) make(ctx context.Context, jobs []job) ([]*study.Entry, error) {
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	entries, errs := make([]*study.Entry, len(jobs)), make([]error, len(jobs))
	var wait sync.WaitGroup
	free := make(chan struct{}, t.Jobs)
	for i, j := range jobs {
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				entries[i], errs[i] = t.one(ctx, j)
			}
			if errs[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	for i, j := range jobs {
		if errs[i] != nil && !errors.Is(errs[i], context.Canceled) {
			return nil, fmt.Errorf("%s: %w", t.plan.Describe(j.row), errs[i])
		}
		if entries[i] != nil {
			t.list = append(t.list, t.replayOf(j, entries[i]))
		}
	}
	return entries, context.Cause(asked)
}

// one makes a run, unless it was made before.
func (t *tuner) one(ctx context.Context, j job) (*study.Entry, error) {
	e := t.runs.Known(j.config, j.options)
	before := e != nil
	if !before {
		var err error
		if e, err = t.runs.Evaluate(ctx, j.config, j.options); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	if before {
		t.known++
	}
	if t.Progress != nil {
		t.Progress(t.done, max(t.wanted, t.done))
	}
	return e, nil
}

// tell says how many further runs are known to be needed.
func (t *tuner) tell(further int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = t.done + further
	if t.Progress != nil {
		t.Progress(t.done, t.wanted)
	}
}
