// Package tune recommends parameters of HPL and HPCG for a machine, by replays alone.
//
//	r := tune.Request{Settings: []study.Setting{{Word: "machine", Value: "dahu"}}, Ranks: 960, Memory: 192e9, Fill: 0.8}
//	s, leftOut, err := r.Study()       // all configurations that come into question
//	plan, err := study.NewPlan(s, version)
//	result, err := tune.Run(ctx, plan, tune.Options{Jobs: 4, Tolerances: tune.Tolerances(0), Indifference: 0.005})
//	err = result.WriteText(os.Stdout)
//
// A [Request] becomes a study of all configurations (request.go). Package search chooses the few of its runs that
// are made, with one seed for all, and finds the quickest. That one is replayed again with seeds that the search
// has not seen, of noise and of pivots: the best of many is flattered by chance, and the scatter of these replays
// decides which others may be as good ([Result], result.go).
//
// For HPCG, the configurations are process grids and boxes of each rank, those that take the share of the memory which
// HPCG's rules want (boxes.go).
//
// # Units
//
// Times are in seconds, rates in Gflop/s, memory in bytes; tolerances and fill are shares.
//
// # Errors
//
// A request that cannot be met is an error with what could be met: memory that is too small, ranks that make no
// grid, lists of an HPL.dat that contradict each other. A replay that fails ends the search.
//
// # Source
//
// Package search. Memory that HPL allocates: HPL_pdtest.c, HPL_pdpanel_init.c and HPL_pdupdateTT.c of HPL 2.3.
package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"reprise/internal/textutil"
	"reprise/study"
	"reprise/study/search"
)

// freshSeeds is how many further seeds the winner is replayed with.
const freshSeeds = 3

// Options say how to tune.
type Options struct {
	Jobs         int       // replays at once
	Tolerances   []float64 // of the replays, each less than the one before; 0: exact
	Indifference float64   // a difference of times that does not matter, as a share
	Seed         uint64    // of noise, the same for all configurations
	Dir          string    // for results, which are also read from there; "": none
	NoFresh      bool      // leave the replays with fresh seeds out: the result is as that of a search that was stopped
	// Progress, if set, is called with the number of runs that are done, of about how many, and what these still take.
	Progress func(done, all int, left time.Duration)
	// SoFar, if set, is called after runs, at most once a second, with what Run would return if the context ended now.
	SoFar func(*Result)
}

// Run finds the configuration of a plan that takes the least time, or the least time per flop.
// The result does not depend on the number of jobs. If the context ends before the search, the result is the best so
// far (Result.Stopped), and an error if there is none.
func Run(ctx context.Context, p *study.Plan, o Options) (_ *Result, err error) {
	defer textutil.Stopped(&err)
	if o.Jobs < 1 {
		return nil, fmt.Errorf("tune: %d jobs, want at least 1", o.Jobs)
	}
	textutil.Check(Check(p))
	t := &tuner{Options: o, plan: p, runs: textutil.Must(p.NewCachedEvaluator(o.Dir))}
	// What Open finds before the first replay has ended. A search that goes on has a result already.
	if o.Dir != "" && textutil.Must(Open(o.Dir)) == nil {
		textutil.Check((&Result{Configurations: len(p.Runs), Stopped: true}).Save(o.Dir))
	}

	space := spaceOf(p)
	t.begun = time.Now()
	measured := map[int]search.Point{} // by row, to the finest tolerance
	last := map[int]*study.Outcome{}   // likewise
	var mu sync.Mutex                  // of both: runs end at any time
	var told time.Time
	soFar := func() *Result {
		// A row counts as good as it is at worst: the estimates of a coarse tolerance flatter some.
		list := slices.SortedFunc(maps.Values(measured), func(a, b search.Point) int {
			return cmp.Or(cmp.Compare(a.Value.Seconds+a.Value.Interval, b.Value.Seconds+b.Value.Interval), cmp.Compare(a.Index, b.Index))
		})
		return t.result(list, last, nil)
	}
	found, err := search.Run(ctx, space, search.Options{
		Tolerances: o.Tolerances, Indifference: o.Indifference,
		Progress: t.plans,
		Measure: func(ctx context.Context, points []int, tolerance float64) ([]search.Value, error) {
			// All configurations have the same seed, so that their differences have less noise than
			// either time: common random numbers.
			jobs := make([]job, len(points))
			for i, row := range points {
				jobs[i] = job{row, p.Config(row), study.RunOptions{Tolerance: tolerance, Seed: t.Seed}}
			}
			value := func(i int, out *study.Outcome) search.Value {
				w := weight(p, points[i])
				return search.Value{Seconds: w * out.Makespan, Interval: w * out.Interval}
			}
			outcomes, err := t.make(ctx, jobs, func(i int, out *study.Outcome) {
				mu.Lock()
				defer mu.Unlock()
				measured[points[i]] = search.Point{Index: points[i], Value: value(i, out), Tolerance: tolerance}
				last[points[i]] = out
				if o.SoFar != nil && time.Since(told) > time.Second {
					o.SoFar(soFar())
					told = time.Now()
				}
			})
			if err != nil {
				return nil, err
			}
			values := make([]search.Value, len(points))
			for i, out := range outcomes {
				values[i] = value(i, out)
			}
			return values, nil
		},
	})
	if err != nil && ctx.Err() != nil && len(measured) > 0 {
		return soFar(), nil
	}
	if err != nil {
		return nil, err
	}

	if o.NoFresh {
		return t.result(found, last, nil), nil
	}

	// Replay the best with seeds, of noise and of pivots, that the search has not seen.
	best := found[0]
	jobs := make([]job, freshSeeds)
	for i := range jobs {
		c := *p.Config(best.Index)
		c.Run = c.Run.Reseeded(uint64(i) + 1)
		jobs[i] = job{best.Index, &c, study.RunOptions{Tolerance: best.Tolerance, Seed: t.Seed + uint64(i) + 1}}
	}
	fresh, err := t.make(ctx, jobs, nil)
	if err != nil && ctx.Err() != nil {
		return soFar(), nil
	}
	return t.result(found, last, fresh), err
}

// spaceOf returns the space of a plan: it has a point for each run.
func spaceOf(p *study.Plan) *search.Space {
	// Levels that have an order are numbered in that. The search sees numbers only.
	space := &search.Space{}
	var ranks [][]int
	for _, f := range p.Factors {
		rank, ordered := order(f.Levels)
		ranks = append(ranks, rank)
		space.Factors = append(space.Factors, search.Factor{Levels: len(f.Levels), Ordered: ordered})
	}
	for _, run := range p.Runs {
		x := make([]int, len(run.Levels))
		for f, level := range run.Levels {
			x[f] = ranks[f][level]
		}
		space.Points = append(space.Points, x)
	}
	return space
}

// tuner is a search of Run under way.
type tuner struct {
	Options
	plan *study.Plan
	runs *study.CachedEvaluator
	list []Replay // in the order in which they were asked for

	mu     sync.Mutex
	begun  time.Time
	done   int
	wanted int     // runs, done ones included
	known  int     // of those done, results that were in Dir before
	made   float64 // the cost of those since begun
	left   float64 // the cost of those to be made
	pace   study.Pace
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

// ToleranceName names a tolerance, as "within 3 %".
func ToleranceName(t float64) string {
	if t == 0 {
		return "exact"
	}
	return fmt.Sprintf("within %.3g %%", 100*t)
}

// Check returns an error unless all configurations of a plan solve one system.
func Check(p *study.Plan) error {
	for i := range p.Runs {
		r, first := p.Config(i).Run.HPL, p.Config(0).Run.HPL
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

// WritePrediction writes, for people, which configurations would be searched and what that may
// cost. The time of a replay is guessed from its number of messages.
func WritePrediction(w io.Writer, p *study.Plan, o Options) error {
	exact := p.Predict("", o.Jobs)
	var tolerances []string
	for _, t := range o.Tolerances {
		tolerances = append(tolerances, ToleranceName(t))
	}
	var t textutil.Table
	if r := p.Config(0).Run.HPL; r != nil {
		t.Row("order", textutil.Thousands(r.N))
	}
	for _, f := range p.Factors {
		var labels []string
		for _, l := range f.Levels {
			labels = append(labels, l.Label)
		}
		t.Row(f.Name, strings.Join(labels, ", "))
	}
	t.Row("configurations", textutil.Thousands(len(p.Runs)))
	t.Row("replays", strings.Join(tolerances, ", then ")+", of those that may be the best")
	all, cost := Forecast(p, o)
	pace := study.Pace{Jobs: o.Jobs}
	t.Row("time", fmt.Sprintf("about %v, if about %d replays suffice; all configurations exactly %v, %d at once (guessed from the"+
		" number of messages)", study.Round(pace.Of(cost).Seconds()), all, study.Round(exact.Time.Seconds()), o.Jobs))
	t.Row("longest replay", fmt.Sprintf("about %v", study.Round(exact.Longest.Seconds())))
	t.Row("memory", "about "+study.Bytes(exact.Memory))
	return t.Write(w)
}

// Forecast returns about how many replays a usual search makes, and what they cost, in messages (study.CostOf).
func Forecast(p *study.Plan, o Options) (replays int, cost float64) {
	t := &tuner{Options: o, plan: p}
	t.plans(spaceOf(p).Usual(len(o.Tolerances)))
	return t.wanted, t.left
}

// weight is the factor by which the time of a configuration is comparable with others that may do
// other work: the work of the first configuration, as a share of its own.
func weight(p *study.Plan, row int) float64 {
	first, own := p.Config(0).Run.Flops, p.Config(row).Run.Flops
	if first == own {
		return 1
	}
	return first / own
}

// order returns the places of levels in their order, if they have one: numbers, or grids by their shape.
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

// job is a run to be made: of a row of the plan, whose configuration may have other seeds.
type job struct {
	row     int
	config  *study.Config
	options study.RunOptions
}

// make makes runs, unless they were made before, and returns the outcome of each. ended, if set, is called when one has
// ended well, with its number.
func (t *tuner) make(ctx context.Context, jobs []job, ended func(i int, out *study.Outcome)) ([]*study.Outcome, error) {
	outcomes, costs := make([]*study.Outcome, len(jobs)), make([]float64, len(jobs))
	err := atOnce(ctx, len(jobs), t.Jobs, func(ctx context.Context, i int) error {
		j := &jobs[i]
		out, known, err := t.runs.Evaluate(ctx, j.config, j.options)
		if err != nil {
			return fmt.Errorf("%s: %w", t.plan.Describe(j.row), err)
		}
		outcomes[i] = out
		if costs[i] = study.CostOf(j.config.Run, j.options.Tolerance); out.Interval == 0 { // an estimate would not have paid
			costs[i] = study.CostOf(j.config.Run, 0)
		}
		t.count(known, costs[i])
		if ended != nil {
			ended(i, out)
		}
		return nil
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, out := range outcomes {
		if out == nil { // the context has ended before
			continue
		}
		j := &jobs[i]
		r := Replay{t.plan.Levels(j.row), j.options.Tolerance, j.options.Seed, 0, out.Makespan, out.Interval, out.Messages,
			costs[i]}
		if h := j.config.Run.HPL; h != nil {
			r.PivotSeed = h.Pivots.Seed
		}
		t.list = append(t.list, r)
	}
	return outcomes, err
}

// count tells that a run of a cost has ended, which may have been known from before.
func (t *tuner) count(known bool, cost float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left -= t.left / float64(max(t.wanted-t.done, 1))
	t.done++
	if known {
		t.known++
	} else if t.made += cost; t.done-t.known > 2*t.Jobs { // the first alone tell little
		t.pace.Add(t.made, time.Since(t.begun).Seconds())
		t.made, t.begun = 0, time.Now()
	}
	t.tell()
}

// plans is told how many runs the search plans to each tolerance. The search learns only step by step how many runs it
// needs, so that both their number and the time may grow.
func (t *tuner) plans(left []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if left = slices.Clone(left); !t.NoFresh {
		left[len(left)-1] += freshSeeds
	}
	t.wanted, t.left = t.done, 0
	for i, n := range left {
		t.wanted += n
		for row := range t.plan.Runs { // the mean of all
			t.left += float64(n) * study.CostOf(t.plan.Config(row).Run, t.Tolerances[i]) / float64(len(t.plan.Runs))
		}
	}
	t.tell()
}

// tell reports how far the search is.
func (t *tuner) tell() {
	if t.pace.Jobs = t.Jobs; t.Progress != nil {
		t.Progress(t.done, max(t.wanted, t.done), t.pace.Of(t.left))
	}
}

// atOnce calls do for the numbers below n, so many at once. An error ends the context of the
// other calls; the first, by number, that is not of that end is returned.
func atOnce(ctx context.Context, n, jobs int, do func(ctx context.Context, i int) error) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, n)
	var wait sync.WaitGroup
	// A goroutine for each number is cheap beside a replay; the channel bounds those that work.
	free := make(chan struct{}, jobs)
	for i := range n {
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			if errs[i] = within.Err(); errs[i] == nil {
				errs[i] = do(within, i)
			}
			if errs[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return context.Cause(ctx)
}

// Effort is the time that a search took, in seconds.
type Effort struct {
	User float64 `json:"user_s"` // of processors; 0: not known
	Wall float64 `json:"wall_s"`
}

// Begin returns a function that returns the effort of this process since.
func Begin() func() Effort {
	user := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return 0
		}
		return float64(u.Utime.Sec) + float64(u.Utime.Usec)*1e-6
	}
	begin, before := time.Now(), user()
	return func() Effort { return Effort{user() - before, time.Since(begin).Seconds()} }
}
