package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/internal/portable"
	"reprise/kernels/noise"
	"reprise/replay/sampling"
	"reprise/trace"
	"reprise/trace/warning"
)

// Uncertain draws three things: coefficients of kernel models, by the covariance that calibration has found; the speed
// of each host, by its scatter; and the noise of single calls and messages. Each has random numbers of its own by the
// seed, so that drawing one of them does not change the others, and their variances can be compared.

// Uncertainty is how sure a prediction is, by replays of machines drawn from the known errors of its model.
type Uncertainty struct {
	Header   *trace.Header `json:"-"`
	Complete bool          `json:"complete"` // all steps of the program were played
	First    int           `json:"first_step"`
	Last     int           `json:"last_step"`

	Level float64 `json:"level"` // of the intervals, such as 0.9
	Figures[Interval]

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
// Source: the interval is that of a prediction from a normal sample of logarithms, by Student's distribution (G. Hahn,
// W. Meeker, "Statistical Intervals", section 4.7).
func Uncertain(ctx context.Context, h *trace.Header, m Machine, o Options, uo UncertaintyOptions,
	play func(context.Context, Machine, Options) (*Played, error)) (*Uncertainty, error) {
	if uo.Draws < 3 {
		return nil, fmt.Errorf("%d draws, want at least 3", uo.Draws)
	}
	o.Progress, o.Resume, o.Checkpoints = nil, nil, nil

	// The causes whose errors the kernel file and the network state, and which can be drawn.
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

	// The first series of draws draws all causes together. If asked for, each further series draws one cause alone; the
	// other causes are then as the files have them, and noise has the first seed.
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
	for i, c := range causes {
		alone := draws
		if len(causes) > 1 {
			if alone = nil; uo.Causes {
				alone = ended(1 + i)
			}
		}
		if len(alone) >= 3 {
			u.Parts = append(u.Parts, UncertaintyPart{c.name, summary(valuesOf(alone, makespanOf)).SD})
		}
	}
	// Draws are estimated by the same windows, whose error in their mean the spread does not show.
	squares := 0.0
	for _, p := range draws {
		squares += float64(p.Sampling*p.Sampling) / float64(len(draws))
	}
	sd, mean := math.Sqrt(squares), summary(valuesOf(draws, makespanOf)).Mean
	if sd > 0 {
		u.Parts = append(u.Parts, UncertaintyPart{"sampling", sd})
		covered = append(covered, "the steps that were not simulated")
	}
	u.Figures = figuresOf(draws, func(values []float64) Interval { return expected(values, sd/mean, u.Level) })
	if _, recorded := h.Param(trace.ParamRate); recorded {
		missing = append(missing, "how much quicker or slower these hosts compute than the recording one (--compute-scale)")
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
		// Factors are of hosts, so that computations without a kernel have them, too.
		factors := make([]float64, m.Platform.NumHosts())
		for h := range factors {
			factors[h] = m.factor(int32(h)) / m.Kernels.DrawHost(m.Platform.Host(h).Name, noise.NewSource(seed))
		}
		m.Factors = factors
	}
	if causes&drawNetwork != 0 {
		d := noise.NewSource(seed).Draw(noise.NetworkError, 0, 0, 0)
		factor := portable.Exp(float64(m.Kernels.NetworkError() * d.Normal()))
		m.Platform = m.Platform.Scaled(func(int32) (bandwidth, latency float64) { return 1 / factor, factor })
		m.HandOver = factor
	}
	if causes&drawNoise != 0 {
		o.Seed = seed
	}
	return m, o
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

// expected returns the interval in which a figure of one more run is expected, from those of at least three draws: that
// of logarithms, which take their place, since errors are factors. sampling is a further relative standard deviation,
// which the draws do not show.
func expected(values []float64, sampling, level float64) Interval {
	s := summary(values)
	further := float64(s.Mean * sampling)
	i := Interval{Mean: s.Mean, Low: s.Min, High: s.Max, SD: math.Sqrt(float64(s.SD*s.SD) + float64(further*further))}
	if s.Min > 0 { // else it is a figure that the run does not have
		for n, v := range values {
			values[n] = portable.Log(v)
		}
		logs := IntervalOf(values, sampling, level)
		i.Low, i.High = portable.Exp(logs.Low), portable.Exp(logs.High)
	}
	return i
}
