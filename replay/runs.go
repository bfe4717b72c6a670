package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"reprise/internal/portable"
	"reprise/kernels/noise"
	"reprise/replay/sampling"
	"reprise/trace"
	"reprise/trace/warning"
)

// This file repeats a replay: with other random numbers for an Ensemble (Runs), or on machines drawn at random for an
// Uncertainty (Uncertain). The replays are independent and run side by side; results are in the order of the seeds.

// Ensemble is the results of several replays that differ in their seeds only.
type Ensemble struct {
	Header   *trace.Header `json:"-"`
	Complete bool          `json:"complete"` // all steps of the program were played
	First    int           `json:"first_step"`
	Last     int           `json:"last_step"`
	Makespan Summary       `json:"makespan_s"`
	Gflops   Summary       `json:"gflops"`                  // all 0 if there are none
	Rating   *Summary      `json:"gflops_rating,omitempty"` // the program's own, if it has one besides
	// Joules and LinkJoules are the energy of hosts and links; nil if the platform does not say what they draw.
	Joules     *Summary `json:"energy_j,omitempty"`
	LinkJoules *Summary `json:"link_energy_j,omitempty"`

	Runs     []SeedResult      `json:"runs"` // by seed
	Names    PartNames         `json:"time_names"`
	Warnings []warning.Warning `json:"warnings"` // of all runs, each once
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
		Makespan: summaryOf(played, makespanOf), Gflops: summaryOf(played, gflopsOf)}
	if s := summaryOf(played, ratingOf); s.Max > 0 {
		e.Rating = &s
	}
	if p.Joules != nil {
		e.Joules = new(summaryOf(played, joulesOf))
	}
	if p.LinkJoules != nil {
		e.LinkJoules = new(summaryOf(played, linkJoulesOf))
	}
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

// summaryOf summarises a figure of at least two replays.
func summaryOf(played []*Played, figure func(*Played) float64) Summary {
	return summary(valuesOf(played, figure))
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

// Figures of replays.
func makespanOf(p *Played) float64 { return p.Makespan }
func gflopsOf(p *Played) float64   { return p.Gflops }
func ratingOf(p *Played) float64   { return p.Rating }

// Of those with energies.
func joulesOf(p *Played) float64     { return *p.Joules }
func linkJoulesOf(p *Played) float64 { return *p.LinkJoules }

// Uncertain draws three things: coefficients of kernel models, by the covariance that calibration has found; the speed
// of each host, by its scatter; and the noise of single calls and messages. Each has random numbers of its own by the
// seed, so that drawing one of them does not change the others, and their variances can be compared.

// Uncertainty is how sure a prediction is, by replays of machines drawn from the known errors of its model.
type Uncertainty struct {
	Header   *trace.Header `json:"-"`
	Complete bool          `json:"complete"` // all steps of the program were played
	First    int           `json:"first_step"`
	Last     int           `json:"last_step"`

	Level    float64   `json:"level"` // of the intervals, such as 0.9
	Makespan Interval  `json:"makespan_s"`
	Gflops   Interval  `json:"gflops"`                  // all 0 if there are none
	Rating   *Interval `json:"gflops_rating,omitempty"` // the program's own, if it has one besides
	// Joules and LinkJoules are the energy of hosts and links; nil if the platform does not say what they draw.
	Joules     *Interval `json:"energy_j,omitempty"`
	LinkJoules *Interval `json:"link_energy_j,omitempty"`

	Parts    []UncertaintyPart `json:"parts"`  // of causes that were drawn alone, and of sampling
	Covers   string            `json:"covers"` // what the intervals are of, in a sentence
	Draws    []SeedResult      `json:"draws"`  // by seed
	Names    PartNames         `json:"time_names"`
	Warnings []warning.Warning `json:"warnings"`
}

// Interval is a figure with the interval in which that of one real run is expected.
type Interval struct {
	Mean float64 `json:"mean"` // of the draws
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	SD   float64 `json:"sd"` // of one run
}

// UncertaintyPart is what one cause of uncertainty amounts to by itself.
type UncertaintyPart struct {
	Name string  `json:"name"` // calibration, hosts, noise or sampling
	SD   float64 `json:"sd_s"` // of the makespan, in seconds
}

// Causes of uncertainty, but for sampling, of which the estimates tell.
const (
	drawCalibration = 1 << iota
	drawHosts
	drawNetwork
	drawNoise
)

// DefaultLevel is that of intervals for which no other is asked.
const DefaultLevel = 0.9

// UncertaintyOptions says how often to draw.
type UncertaintyOptions struct {
	Draws   int     // at least 3
	Workers int     // replays at once
	Level   float64 // of the intervals, less than 1; 0: DefaultLevel
	// Causes has each cause drawn alone, too: that many draws again for each.
	Causes bool
	// Together, if set, replays all draws of a series at once. An error that wraps
	// sampling.ErrExact says that each should be replayed by itself.
	Together func(context.Context, []Draw) ([]*Played, error)
	// Progress, if set, is called at the beginning and when a replay has ended, with the number of those that
	// have ended and of all: one call at a time.
	Progress func(ended, all int)
}

// ErrCertain is the error where nothing is known of a model's errors.
var ErrCertain = errors.New("nothing to draw from: the kernel file has no covariance of coefficients, no host_scatter and no noise, and the network no noise (calibrate kernels writes the first; docs/kernels.md has the others)")

// Uncertain replays machines that are drawn around m: coefficients of kernels by their covariance, hosts by the scatter
// that the kernel file states, noise by its seed, all with the seeds from Options.Seed on, so that the same seed is the
// same machine for other traces and options. play replays; it is called from several goroutines. If the context ends,
// the result is that of the draws that had ended, beside the context's cause; nil if they are fewer than three.
//
// Source: the interval is that of a prediction from a normal sample, by Student's
// distribution (G. Hahn, W. Meeker, "Statistical Intervals", section 4.7).
func Uncertain(ctx context.Context, h *trace.Header, m Machine, o Options, uo UncertaintyOptions,
	play func(context.Context, Machine, Options) (*Played, error)) (*Uncertainty, error) {
	if uo.Draws < 3 {
		return nil, fmt.Errorf("%d draws, want at least 3", uo.Draws)
	}
	o.Progress, o.Resume, o.Checkpoints = nil, nil, nil

	// What can be drawn of this machine.
	noisy, err := HasNoise(h, m, o)
	if err != nil {
		return nil, err
	}
	type cause struct {
		draw          int
		known         bool
		name, meaning string
	}
	var causes []cause
	var covered, missing []string // what the intervals are of, and what they say nothing of
	all := 0
	for _, c := range []cause{
		{drawCalibration, m.Kernels != nil && m.Kernels.Uncertain(), "calibration", "errors of the kernels' measured coefficients"},
		{drawHosts, m.Kernels != nil && m.Kernels.HostScatter() > 0, "hosts", "differences between hosts"},
		{drawNetwork, m.Kernels != nil && m.Kernels.NetworkError() > 0, "network", "errors of the network's parameters"},
		{drawNoise, noisy, "noise", "the scatter of single calls and messages"},
	} {
		if !c.known {
			missing = append(missing, c.meaning)
			continue
		}
		causes, covered = append(causes, c), append(covered, c.meaning)
		all |= c.draw
	}
	if causes == nil {
		return nil, ErrCertain
	}

	// A series of draws of all causes together, and if asked for several of one each alone. What a series
	// does not draw is as the files have it, noise with the first seed.
	series := []int{all}
	for _, c := range causes {
		if uo.Causes && len(causes) > 1 {
			series = append(series, c.draw)
		}
	}
	results, known := make([]*Played, len(series)*uo.Draws), 0
	for uo.Together != nil && known < len(results) && ctx.Err() == nil {
		var draws []Draw
		for i := range uo.Draws {
			drawn, with := draw(m, o, series[known/uo.Draws], o.Seed+uint64(i))
			draws = append(draws, Draw{drawn, with})
		}
		played, err := uo.Together(ctx, draws)
		if errors.Is(err, sampling.ErrExact) {
			break
		}
		if err != nil && (known == 0 || ctx.Err() == nil) {
			return nil, err
		}
		known += copy(results[known:], played)
	}
	progress := func(ended int) {
		if uo.Progress != nil && known < len(results) {
			uo.Progress(known+ended, len(results))
		}
	}
	progress(0)
	errs := inParallel(ctx, len(results)-known, uo.Workers, progress, func(ctx context.Context, i int) error {
		i += known
		seed := o.Seed + uint64(i%uo.Draws)
		drawn, with := draw(m, o, series[i/uo.Draws], seed)
		p, err := play(ctx, drawn, with)
		if err != nil {
			return fmt.Errorf("draw %d: %w", seed, err)
		}
		results[i] = p
		return nil
	})
	for i, p := range results {
		if p != nil {
			p.Seed = o.Seed + uint64(i%uo.Draws)
		}
	}
	ended := func(series int) []*Played { // the draws of a series up to the first that did not end
		of := results[series*uo.Draws:][:uo.Draws]
		if i := slices.Index(of, nil); i >= 0 {
			of = of[:i]
		}
		return of
	}
	var stopped error
	if ctx.Err() != nil {
		if stopped = context.Cause(ctx); len(ended(0)) < 3 {
			return nil, stopped
		}
		errs = nil
	}
	for _, err := range errs { // the first failure ends the other draws, whose error is Canceled
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}

	draws := ended(0)
	p := draws[0]
	u := &Uncertainty{Header: p.Header, Complete: p.Complete, First: p.First, Last: p.Last, Level: cmp.Or(uo.Level, DefaultLevel), Parts: []UncertaintyPart{}}
	u.Draws, u.Names, u.Warnings = sumUp(draws)
	u.setIntervals(draws, 0)
	for i, c := range causes {
		alone := draws
		if len(causes) > 1 {
			if alone = nil; uo.Causes {
				alone = ended(1 + i)
			}
		}
		if len(alone) >= 3 {
			u.Parts = append(u.Parts, UncertaintyPart{c.name, summaryOf(alone, makespanOf).SD})
		}
	}
	// Draws are estimated by the same windows, whose error in their mean the spread does not show.
	squares := 0.0
	for _, p := range draws {
		squares += float64(p.Sampling*p.Sampling) / float64(len(draws))
	}
	if squares > 0 {
		sd := math.Sqrt(squares)
		u.setIntervals(draws, sd)
		u.Parts = append(u.Parts, UncertaintyPart{"sampling", sd})
		covered = append(covered, "the steps that were not simulated")
	}
	u.Covers = fmt.Sprintf("%.0f %% of runs are expected within the interval if nothing matters but %s; it says nothing of %s.",
		100*u.Level, strings.Join(covered, ", "), strings.Join(append(missing,
			"other load on the machine and of what the models leave out"), ", "))
	return u, stopped
}

// draw returns the machine, and the options, of a draw of some causes.
func draw(m Machine, o Options, causes int, seed uint64) (Machine, Options) {
	if causes&drawCalibration != 0 {
		m.Kernels = m.Kernels.DrawCoefficients(noise.NewSource(seed))
	}
	if causes&drawHosts != 0 {
		m.Kernels = m.Kernels.DrawHosts(noise.NewSource(seed))
	}
	if causes&drawNetwork != 0 {
		d := noise.NewSource(seed).Draw(noise.NetworkError, 0, 0, 0)
		factor := portable.Exp(float64(m.Kernels.NetworkError() * d.Normal()))
		m.Platform = m.Platform.Scaled(func(int32) (bandwidth, latency float64) { return 1 / factor, factor })
	}
	if causes&drawNoise != 0 {
		o.Seed = seed
	}
	return m, o
}

// Drawn returns the machine, and the options, that Uncertain draws with a seed for all causes together: the same
// machine for all traces and for all changes of it, so that differences between two replays have less of its errors
// than either.
func Drawn(m Machine, o Options, seed uint64) (Machine, Options) {
	causes := drawNoise
	if m.Kernels != nil {
		causes |= drawCalibration | drawHosts
		if m.Kernels.NetworkError() > 0 {
			causes |= drawNetwork
		}
	}
	return draw(m, o, causes, seed)
}

// IntervalOf returns the interval in which one more value is expected with some probability, from at least three values
// of a normal distribution. sd is a further standard deviation, which the values do not show.
func IntervalOf(values []float64, sd, level float64) Interval {
	// A further value has the deviation of one, and the mean that it lies around is itself uncertain: the
	// deviation of the difference is sd*sqrt(1+1/n).
	s, n := summary(values), float64(len(values))
	sd = math.Sqrt(float64(s.SD*s.SD) + float64(sd*sd))
	half := float64(student(len(values)-1, level) * sd * math.Sqrt(1+1/n))
	return Interval{Mean: s.Mean, Low: s.Mean - half, High: s.Mean + half, SD: sd}
}

// setIntervals sets, for all figures, the interval in which one more value of a normal
// distribution is expected from the draws, at least three. sd is a further standard deviation of
// the makespan that the draws do not show, which the other figures have in proportion.
func (u *Uncertainty) setIntervals(draws []*Played, sd float64) {
	interval := func(figure func(*Played) float64, further float64) Interval {
		i := IntervalOf(valuesOf(draws, figure), further, u.Level)
		i.Low = max(0, i.Low)
		return i
	}
	inProportion := func(figure func(*Played) float64) Interval {
		i := interval(figure, 0)
		if sd == 0 {
			return i
		}
		return interval(figure, i.Mean*sd/u.Makespan.Mean)
	}
	u.Makespan = interval(makespanOf, sd)
	u.Gflops = inProportion(gflopsOf)
	if rating := inProportion(ratingOf); rating.Mean > 0 {
		u.Rating = &rating
	}
	if draws[0].Joules != nil {
		u.Joules = new(inProportion(joulesOf))
	}
	if draws[0].LinkJoules != nil {
		u.LinkJoules = new(inProportion(linkJoulesOf))
	}
}
