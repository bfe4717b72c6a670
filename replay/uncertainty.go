package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"reprise/kernels/noise"
	"reprise/trace"
	"reprise/trace/warning"
)

// Uncertainty is how sure a prediction is, by replays of machines drawn from what is known
// of the errors of its model.
type Uncertainty struct {
	Header   *trace.Header `json:"-"`
	Complete bool          `json:"complete"` // all steps of the program were played
	First    int           `json:"first_step"`
	Last     int           `json:"last_step"`

	Level    float64           `json:"level"` // of the intervals, such as 0.9
	Makespan Interval          `json:"makespan_s"`
	Gflops   Interval          `json:"gflops"`                  // all 0 if there are none
	Rating   *Interval         `json:"gflops_rating,omitempty"` // the program's own, if it has one besides
	Parts    []UncertaintyPart `json:"parts"`
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
	drawNoise
)

var causeNames = map[int]string{drawCalibration: "calibration", drawHosts: "hosts", drawNoise: "noise"}

// uncertaintyLevel is that of the intervals.
const uncertaintyLevel = 0.9

// UncertaintyOptions says how often to draw.
type UncertaintyOptions struct {
	Draws   int // at least 3
	Workers int // replays at once
	// Progress, if set, is called when a replay has ended, with the number of those that
	// have and of all: one call at a time.
	Progress func(ended, all int)
}

// Played is what came out of a replay, or of an estimate.
type Played struct {
	Header      *trace.Header
	Complete    bool
	First, Last int
	SeedResult
	Sampling float64 // standard error of an estimate of the makespan, s; 0: it is exact
	Warnings []warning.Warning
	shares   partShares
}

// PlayedExactly is what came out of a replay.
func PlayedExactly(r *Result) *Played {
	return &Played{Header: r.Header, Complete: r.Complete, First: r.First, Last: r.Last, Warnings: r.Warnings,
		shares:     partSharesOf(r),
		SeedResult: SeedResult{Makespan: r.Makespan, Gflops: r.Gflops, Messages: r.Messages, Polls: r.Polls}}
}

// PlayedInPart is what came out of an estimate.
func PlayedInPart(e *Estimate) *Played {
	const normal95 = 1.959964 // of the normal distribution: estimates state 95 %
	return &Played{Header: e.Header, Complete: e.Complete, First: e.First, Last: e.Last, Warnings: e.Warnings,
		Sampling:   e.Interval / normal95,
		SeedResult: SeedResult{Makespan: e.Seconds, Gflops: e.Gflops, Messages: e.Messages}}
}

// ErrCertain is the error where nothing is known of a model's errors.
var ErrCertain = errors.New("nothing to draw from: the kernel file has no covariance of coefficients, no host_scatter and no noise, and the network no noise (calibrate kernels writes the first; docs/kernels.md has the others)")

// Uncertain replays machines that are drawn around m: coefficients of kernels by their
// covariance, hosts by the scatter that the kernel file states, noise by its seed, all with
// the seeds from Options.Seed on, so that the same seed is the same machine for other traces
// and options. Then it draws each of the causes alone. play replays, or estimates; it is
// called from several goroutines.
//
// Source: the interval is that of a prediction from a normal sample, by Student's
// distribution (G. Hahn, W. Meeker, "Statistical Intervals", section 4.7).
func Uncertain(ctx context.Context, h *trace.Header, m Machine, o Options, uo UncertaintyOptions,
	play func(context.Context, Machine, Options) (*Played, error)) (*Uncertainty, error) {
	if uo.Draws < 3 {
		return nil, fmt.Errorf("%d draws, want at least 3", uo.Draws)
	}
	o.Progress, o.Resume, o.Checkpoints = nil, nil, nil
	causes, err := causesOf(h, m, o)
	if err != nil {
		return nil, err
	}
	all := 0
	for _, c := range causes {
		all |= c
	}
	series := []int{all}
	if len(causes) > 1 {
		series = append(series, causes...)
	}
	d := drawing{machine: m, options: o, draws: uo.Draws, play: play}
	results, err := d.playAll(ctx, series, uo)
	if err != nil {
		return nil, err
	}
	u := newUncertainty(results[:uo.Draws])
	for i, c := range causes {
		part := UncertaintyPart{causeNames[c], u.Makespan.SD}
		if len(causes) > 1 {
			part.SD = newSummary(makespansOf(results[(1+i)*uo.Draws:][:uo.Draws])).SD
		}
		u.Parts = append(u.Parts, part)
	}
	u.addSampling(results[:uo.Draws])
	u.Covers = u.covers()
	return u, nil
}

// causesOf returns what can be drawn of a machine.
func causesOf(h *trace.Header, m Machine, o Options) (causes []int, err error) {
	noisy, err := HasNoise(h, m, o)
	if err != nil {
		return nil, err
	}
	if m.Kernels != nil && m.Kernels.Uncertain() {
		causes = append(causes, drawCalibration)
	}
	if m.Kernels != nil && m.Kernels.HostScatter() > 0 {
		causes = append(causes, drawHosts)
	}
	if noisy {
		causes = append(causes, drawNoise)
	}
	if causes == nil {
		return nil, ErrCertain
	}
	return causes, nil
}

// drawing draws machines and replays on them.
type drawing struct {
	machine Machine
	options Options
	draws   int
	play    func(context.Context, Machine, Options) (*Played, error)
}

// playAll plays all draws of each series, a set of causes.
func (d *drawing) playAll(ctx context.Context, series []int, uo UncertaintyOptions) ([]*Played, error) {
	results := make([]*Played, len(series)*d.draws)
	progress := progressOf(func(ended int) {
		if uo.Progress != nil {
			uo.Progress(ended, len(results))
		}
	})
	err := inParallel(ctx, len(results), uo.Workers, func(ctx context.Context, i int) (err error) {
		results[i], err = d.one(ctx, series[i/d.draws], i%d.draws)
		progress()
		return err
	})
	return results, err
}

// one plays a draw of some causes; the others are as the files have them, noise with the
// first seed.
func (d *drawing) one(ctx context.Context, causes, draw int) (*Played, error) {
	m, o := d.machine, d.options
	seed := o.Seed + uint64(draw)
	if causes&drawCalibration != 0 {
		m.Kernels = m.Kernels.DrawCoefficients(noise.NewSource(seed))
	}
	if causes&drawHosts != 0 {
		m.Kernels = m.Kernels.DrawHosts(noise.NewSource(seed))
	}
	if causes&drawNoise != 0 {
		o.Seed = seed
	}
	p, err := d.play(ctx, m, o)
	if err != nil {
		return nil, fmt.Errorf("draw %d: %w", seed, err)
	}
	p.Seed = seed
	return p, nil
}

// inParallel calls each of n tasks on so many goroutines, and returns the error of the first
// of those that failed; the others end early.
func inParallel(ctx context.Context, n, workers int, task func(ctx context.Context, i int) error) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs, next := make([]error, n), make(chan int)
	var done sync.WaitGroup
	for range max(1, min(workers, n)) {
		done.Go(func() {
			for i := range next {
				if errs[i] = task(ctx, i); errs[i] != nil {
					cancel()
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	done.Wait()
	if outer.Err() != nil {
		return context.Cause(outer)
	}
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return nil
}

func makespansOf(list []*Played) (values []float64) {
	for _, p := range list {
		values = append(values, p.Makespan)
	}
	return values
}

// newUncertainty sums up the draws of all causes, but for what sampling adds.
func newUncertainty(draws []*Played) *Uncertainty {
	p := draws[0]
	u := &Uncertainty{Header: p.Header, Complete: p.Complete, First: p.First, Last: p.Last, Level: uncertaintyLevel,
		Warnings: []warning.Warning{}}
	var shares []partShares
	for _, p := range draws {
		u.Draws, shares = append(u.Draws, p.SeedResult), append(shares, p.shares)
		u.Warnings = warning.Join(u.Warnings, p.Warnings)
	}
	u.setIntervals(draws, 0)
	u.Names = alignParts(u.Draws, shares)
	return u
}

// setIntervals sets the intervals of all figures. sd is a further standard deviation of the makespan that the draws
// do not show, which others have in proportion.
func (u *Uncertainty) setIntervals(draws []*Played, sd float64) {
	interval := func(figure func(*Played) float64, further float64) Interval {
		var values []float64
		for _, p := range draws {
			values = append(values, figure(p))
		}
		return newInterval(values, further)
	}
	inProportion := func(figure func(*Played) float64) Interval {
		i := interval(figure, 0)
		if sd == 0 {
			return i
		}
		return interval(figure, i.Mean*sd/u.Makespan.Mean)
	}
	u.Makespan = interval(func(p *Played) float64 { return p.Makespan }, sd)
	u.Gflops = inProportion(func(p *Played) float64 { return p.Gflops })
	if rating := inProportion(func(p *Played) float64 { return p.Rating }); rating.Mean > 0 {
		u.Rating = &rating
	}
}

// newInterval returns the interval in which one more value of a normal distribution is
// expected from at least three, where each has a further standard deviation that they do
// not show.
func newInterval(values []float64, further float64) Interval {
	s, n := newSummary(values), float64(len(values))
	sd := math.Sqrt(float64(s.SD*s.SD) + float64(further*further))
	half := float64(student(len(values)-1, uncertaintyLevel) * sd * math.Sqrt(1+1/n))
	return Interval{Mean: s.Mean, Low: max(0, s.Mean-half), High: s.Mean + half, SD: sd}
}

// addSampling adds the errors of estimates, which are the same windows in all draws and so
// do not show in their spread.
func (u *Uncertainty) addSampling(draws []*Played) {
	squares := 0.0
	for _, p := range draws {
		squares += float64(p.Sampling*p.Sampling) / float64(len(draws))
	}
	if squares == 0 {
		return
	}
	sd := math.Sqrt(squares)
	u.setIntervals(draws, sd)
	u.Parts = append(u.Parts, UncertaintyPart{"sampling", sd})
}

// covers says what the intervals are of, and of what they are not.
func (u *Uncertainty) covers() string {
	meanings := map[string]string{
		"calibration": "errors of the kernels' measured coefficients", "hosts": "differences between hosts",
		"noise": "the scatter of single calls and messages", "sampling": "the steps that were not simulated",
	}
	var covered, missing []string
	drawn := map[string]bool{}
	for _, p := range u.Parts {
		drawn[p.Name] = true
		covered = append(covered, meanings[p.Name])
	}
	for _, name := range []string{"calibration", "hosts", "noise"} {
		if !drawn[name] {
			missing = append(missing, meanings[name])
		}
	}
	text := fmt.Sprintf("%.0f %% of runs are expected within the interval if nothing matters but %s", 100*u.Level,
		strings.Join(covered, ", "))
	return text + "; it says nothing of " + strings.Join(append(missing,
		"the network's parameters, of other load on the machine and of what the models leave out"), ", ") + "."
}
