package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"reprise/internal/portable"
	"reprise/trace"
	"reprise/trace/warning"
)

// This file repeats a replay with other random numbers, for an Ensemble (Runs). The replays are independent and run side by side; results are in the order of the seeds.

// Ensemble is the results of several replays that differ in their seeds only.
type Ensemble struct {
	Header   *trace.Header `json:"-"`
	Complete bool          `json:"complete"` // all steps of the program were played
	First    int           `json:"first_step"`
	Last     int           `json:"last_step"`
	Figures[Summary]

	Runs     []SeedResult      `json:"runs"` // by seed
	Names    PartNames         `json:"time_names"`
	Warnings []warning.Warning `json:"warnings"` // of all runs, each once
}

// Figures are those of several replays, each as a Summary or an Interval.
type Figures[T figure] struct {
	Makespan T  `json:"makespan_s"`
	Gflops   T  `json:"gflops"`                  // all 0 if there are none
	Rating   *T `json:"gflops_rating,omitempty"` // the program's own, if it has one besides
	// Joules and LinkJoules are the energy of hosts and links; nil if the platform does not say what they draw.
	Joules     *T `json:"energy_j,omitempty"`
	LinkJoules *T `json:"link_energy_j,omitempty"`
}

type figure interface {
	comparable
	mean() float64
	row() string // of a table
}

// figuresOf returns the figures of replays, each of which over comes from its values.
func figuresOf[T figure](played []*Played, over func(values []float64) T) Figures[T] {
	of := func(figure func(*Played) float64) T { return over(valuesOf(played, figure)) }
	f := Figures[T]{Makespan: of(makespanOf), Gflops: of(func(p *Played) float64 { return p.Gflops })}
	if slices.ContainsFunc(played, func(p *Played) bool { return p.Rating > 0 }) {
		f.Rating = new(of(func(p *Played) float64 { return p.Rating }))
	}
	if played[0].Joules != nil {
		f.Joules = new(of(func(p *Played) float64 { return *p.Joules }))
	}
	if played[0].LinkJoules != nil {
		f.LinkJoules = new(of(func(p *Played) float64 { return *p.LinkJoules }))
	}
	return f
}

// Energy returns the mean energy; nil if none is known.
func (f *Figures[T]) Energy() *Energy {
	if f.Joules == nil && f.LinkJoules == nil {
		return nil
	}
	mean := func(of *T) *float64 {
		if of == nil {
			return nil
		}
		return new((*of).mean())
	}
	return (&Energy{Joules: mean(f.Joules), LinkJoules: mean(f.LinkJoules)}).over(f.Makespan.mean(), f.Gflops.mean())
}

// SeedResult is the result of one of them.
type SeedResult struct {
	Seed     uint64  `json:"seed"`
	Makespan float64 `json:"makespan_s"`
	Gflops   float64 `json:"gflops"`
	Rating   float64 `json:"gflops_rating,omitempty"` // the program's own; 0: it has none
	// as in Energy
	Joules     *float64 `json:"energy_j,omitempty"`
	LinkJoules *float64 `json:"link_energy_j,omitempty"`

	Messages int64 `json:"messages"`
	Polls    int64 `json:"polls"`
	// Times is where the time of a rank went; nil of an estimate.
	Times *PartTimes `json:"time_s,omitempty"`
}

// Summary summarises a figure of several runs.
type Summary struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"` // of one run, by n-1
	// Interval is the half-width of the 95 % confidence interval of the mean, by Student's distribution.
	Interval float64 `json:"mean_interval"`
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
}

// HasNoise reports whether a replay has anything random.
func HasNoise(h *trace.Header, m Machine, o Options) (bool, error) {
	if err := m.check(h.Ranks); err != nil {
		return false, err
	}
	c, err := newCosts(h, &m, &o)
	return err == nil && c.random != nil, err
}

// RunsOptions says how often to replay.
type RunsOptions struct {
	Runs    int // at least 2
	Workers int // replays at once
	// Rating, if set, returns the program's own rating of a run, in 1e9 flop/s; 0: it has none. It is called from
	// several goroutines.
	Rating func(*Result) (float64, error)
	// Progress, if set, is called when a replay has ended, with the number of those that have: one call at a time.
	Progress func(ended int)
}

// Runs replays with several seeds, from Options.Seed on. The function play, which is called from several goroutines,
// replays with one, and opens for itself what it replays. The result does not depend on the number of workers. If the
// context ends, the error is its cause, and the ensemble has the runs before the first that had not ended; it is nil if
// these are fewer than two.
//
// The progress function of o is not called, and no checkpoint is written.
func Runs(ctx context.Context, o Options, ro RunsOptions, play func(o Options) (*Result, error)) (*Ensemble, error) {
	runs, first := ro.Runs, o.Seed
	if runs < 2 {
		return nil, fmt.Errorf("%d runs, want at least 2", runs)
	}
	o.Progress, o.Resume, o.Checkpoints = nil, nil, nil
	results := make([]*Played, runs)
	errs := inParallel(ctx, runs, ro.Workers, ro.Progress, func(_ context.Context, i int) error {
		o := o
		o.Seed = first + uint64(i)
		r, err := play(o)
		if err != nil {
			return err
		}
		p := PlayedExactly(r)
		p.Seed = o.Seed
		if ro.Rating != nil {
			if p.Rating, err = ro.Rating(r); err != nil {
				return err
			}
		}
		results[i] = p
		return nil
	})
	// Runs that the end of the context has ended have that as their error; it is no failure.
	ended := 0
	for i, err := range errs {
		switch {
		case err != nil && (ctx.Err() == nil || !errors.Is(err, context.Cause(ctx))):
			return nil, fmt.Errorf("seed %d: %w", first+uint64(i), err)
		case err == nil && results[i] != nil && ended == i:
			ended++
		}
	}
	if ended < 2 {
		return nil, context.Cause(ctx)
	}
	played := results[:ended]
	p := played[0]
	e := &Ensemble{Header: p.Header, Complete: p.Complete, First: p.First, Last: p.Last,
		Figures: figuresOf(played, summary)}
	e.Runs, e.Names, e.Warnings = sumUp(played)
	if ended < runs {
		return e, context.Cause(ctx)
	}
	return e, nil
}

// inParallel calls task for the numbers below n, on so many goroutines, and returns their errors. progress, if
// set, is told how many have ended, one call at a time.
// Once one has failed, or ctx has ended, no further ones begin, and the context of those under way
// ends.
func inParallel(ctx context.Context, n, workers int, progress func(ended int),
	task func(ctx context.Context, i int) error) []error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs, next := make([]error, n), make(chan int)
	var done sync.WaitGroup
	var mu sync.Mutex
	ended := 0 // guarded by mu
	for range max(1, min(workers, n)) {
		done.Go(func() {
			for i := range next {
				if errs[i] = task(ctx, i); errs[i] != nil {
					cancel()
				}
				if progress != nil {
					mu.Lock()
					ended++
					progress(ended)
					mu.Unlock()
				}
			}
		})
	}
	// Numbers are handed out as workers become idle: replays of one kind differ in how long they take.
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	done.Wait()
	return errs
}

// valuesOf returns a figure of each replay.
func valuesOf(played []*Played, figure func(*Played) float64) (values []float64) {
	for _, p := range played {
		values = append(values, figure(p))
	}
	return values
}

// summary summarises at least two values.
func summary(values []float64) Summary {
	n := float64(len(values))
	s := Summary{Min: math.Inf(1), Max: math.Inf(-1)}
	for _, v := range values {
		s.Mean += v / n
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	}
	// The squares are taken of the deviations, not of the values: a sum of squares of makespans that differ in
	// their last digits would lose these.
	squares := 0.0
	for _, v := range values {
		d := v - s.Mean
		squares += float64(d * d)
	}
	s.SD = math.Sqrt(squares / (n - 1))
	s.Interval = student(len(values)-1, 0.95) * s.SD / math.Sqrt(n)
	return s
}

// student returns the half-width of the interval around 0 in which Student's distribution
// with so many degrees of freedom lies with the given probability, by bisection.
func student(freedom int, probability float64) float64 {
	// within grows with t, and 60 halvings leave no digit of the double open.
	low, high := 0., 13. // of one degree of freedom and 95 %
	for range 60 {
		if t := (low + high) / 2; within(t, freedom) < probability {
			low = t
		} else {
			high = t
		}
	}
	return (low + high) / 2
}

// within returns the probability that Student's distribution gives to [-t, t]: Abramowitz and Stegun, 26.7.3 and
// 26.7.4. Sine and cosine of the angle follow from its tangent.
func within(t float64, freedom int) float64 {
	tan := t / math.Sqrt(float64(freedom))
	cos := 1 / math.Sqrt(1+float64(tan*tan))
	sin := tan * cos
	// The two formulas are a sum of powers of the cosine: even ones for even degrees of freedom, else odd ones.
	term, sum := 1.0, 0.0
	if freedom%2 == 1 {
		term = cos
	}
	for k := 2 + freedom%2; k <= freedom; k += 2 {
		sum += term
		term *= cos * cos * float64(k-1) / float64(k)
	}
	if freedom%2 == 1 {
		return 2 / math.Pi * (portable.Atan(tan) + float64(sin*sum))
	}
	return sin * sum
}

// PartNames are the names of the times of a SeedResult: of all parts that took any time in one of the replays.
type PartNames struct {
	Kinds   []string `json:"kinds"`
	Phases  []string `json:"phases"`
	Kernels []string `json:"kernels"`
}

// PartTimes is where the time of a rank went in one replay: seconds, means over the ranks, in the order of PartNames.
type PartTimes struct {
	Kinds   []float64 `json:"kinds"`
	Phases  []float64 `json:"phases"`
	Kernels []float64 `json:"kernels"`
}

// Played is what is kept of one replay of several, or of an estimate. The times of single ranks
// are not kept: with many replays they would fill the memory.
type Played struct {
	Header      *trace.Header
	Complete    bool
	First, Last int
	SeedResult
	Sampling float64 // standard error of an estimate of the makespan, s; 0: it is exact
	Warnings []warning.Warning

	kinds, phases, kernels []Share // where the time went; empty for an estimate
}

// PlayedExactly returns what is kept of a replay.
func PlayedExactly(r *Result) *Played {
	p := &Played{Header: r.Header, Complete: r.Complete, First: r.First, Last: r.Last, Warnings: r.Warnings,
		kinds: r.Kinds, phases: r.Phases, kernels: r.Kernels,
		SeedResult: SeedResult{Makespan: r.Makespan, Gflops: r.Gflops, Messages: r.Messages, Polls: r.Polls}}
	p.setEnergy(r.Energy)
	return p
}

// normal95 is of the normal distribution: estimates state 95 %.
const normal95 = 1.959964

// PlayedInPart returns what is kept of an estimate.
func PlayedInPart(e *Estimate) *Played {
	p := &Played{Header: e.Header, Complete: e.Complete, First: e.First, Last: e.Last, Warnings: e.Warnings,
		Sampling:   e.Interval / normal95,
		SeedResult: SeedResult{Makespan: e.Seconds, Gflops: e.Gflops, Messages: e.Messages}}
	p.setEnergy(e.Energy)
	return p
}

// setEnergy keeps the joules of a run.
func (p *Played) setEnergy(e *Energy) {
	if e != nil {
		p.Joules, p.LinkJoules = e.Joules, e.LinkJoules
	}
}

// sumUp returns the results of several replays, which list their times in the same order, the
// names of these times, and the warnings of all replays, each once.
func sumUp(played []*Played) (results []SeedResult, names PartNames, warnings []warning.Warning) {
	names = PartNames{Kinds: []string{}, Phases: []string{}, Kernels: []string{}}
	warnings = []warning.Warning{}
	// The names of all replays come first, so that the times of each have the same order.
	add := func(names *[]string, shares []Share) {
		for i := range shares {
			if !slices.Contains(*names, shares[i].Name) {
				*names = append(*names, shares[i].Name)
			}
		}
	}
	for _, p := range played {
		add(&names.Kinds, p.kinds)
		add(&names.Phases, p.phases)
		add(&names.Kernels, p.kernels)
		warnings = warning.Join(warnings, p.Warnings)
	}
	means := func(names []string, shares []Share) []float64 {
		list := make([]float64, len(names)) // 0 for a part that this replay does not have
		for i := range shares {
			list[slices.Index(names, shares[i].Name)] += shares[i].Mean
		}
		return list
	}
	for _, p := range played {
		r := p.SeedResult
		if len(p.kinds) > 0 {
			r.Times = &PartTimes{means(names.Kinds, p.kinds), means(names.Phases, p.phases),
				means(names.Kernels, p.kernels)}
		}
		results = append(results, r)
	}
	return results, names, warnings
}

func makespanOf(p *Played) float64 { return p.Makespan }
