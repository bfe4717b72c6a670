package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"reprise/kernels/noise"
	"reprise/trace"
	"reprise/trace/warning"
)

// Three things are drawn: coefficients of kernel models, which calibration knows with a covariance; the speed of
// hosts, which scatters from one to the next; and the noise of single calls and messages. Each has random
// numbers of its own by the seed, so that drawing one of them does not change the others, and their variances
// can be compared.

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

	// What can be drawn of this machine.
	noisy, err := HasNoise(h, m, o)
	if err != nil {
		return nil, err
	}
	var causes []int
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

	// A series of draws of all causes together, and of several one of each alone. What a series
	// does not draw is as the files have it, noise with the first seed.
	all := 0
	for _, c := range causes {
		all |= c
	}
	series := []int{all}
	if len(causes) > 1 {
		series = append(series, causes...)
	}
	results := make([]*Played, len(series)*uo.Draws)
	progress := func(ended int) {
		if uo.Progress != nil {
			uo.Progress(ended, len(results))
		}
	}
	errs := inParallel(ctx, len(results), uo.Workers, progress, func(ctx context.Context, i int) error {
		m, o, drawn, seed := m, o, series[i/uo.Draws], o.Seed+uint64(i%uo.Draws)
		if drawn&drawCalibration != 0 {
			m.Kernels = m.Kernels.DrawCoefficients(noise.NewSource(seed))
		}
		if drawn&drawHosts != 0 {
			m.Kernels = m.Kernels.DrawHosts(noise.NewSource(seed))
		}
		if drawn&drawNoise != 0 {
			o.Seed = seed
		}
		p, err := play(ctx, m, o)
		if err != nil {
			return fmt.Errorf("draw %d: %w", seed, err)
		}
		p.Seed = seed
		results[i] = p
		return nil
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, err := range errs { // the first failure ends the other draws, whose error is Canceled
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}

	p, draws := results[0], results[:uo.Draws]
	u := &Uncertainty{Header: p.Header, Complete: p.Complete, First: p.First, Last: p.Last, Level: uncertaintyLevel}
	u.Draws, u.Names, u.Warnings = sumUp(draws)
	u.setIntervals(draws, 0)
	for i, c := range causes {
		part := UncertaintyPart{causeNames[c], u.Makespan.SD}
		if len(causes) > 1 {
			part.SD = summaryOf(results[(1+i)*uo.Draws:][:uo.Draws], makespanOf).SD
		}
		u.Parts = append(u.Parts, part)
	}
	// The errors of estimates are those of the same windows in all draws, whose spread does not
	// show them.
	squares := 0.0
	for _, p := range draws {
		squares += float64(p.Sampling*p.Sampling) / float64(uo.Draws)
	}
	if squares > 0 {
		sd := math.Sqrt(squares)
		u.setIntervals(draws, sd)
		u.Parts = append(u.Parts, UncertaintyPart{"sampling", sd})
	}
	// What the intervals are of, and of what they are not.
	meanings := map[string]string{
		"calibration": "errors of the kernels' measured coefficients", "hosts": "differences between hosts",
		"noise": "the scatter of single calls and messages", "sampling": "the steps that were not simulated",
	}
	var covered, missing []string
	for _, p := range u.Parts {
		covered = append(covered, meanings[p.Name])
	}
	for _, c := range []int{drawCalibration, drawHosts, drawNoise} {
		if all&c == 0 {
			missing = append(missing, meanings[causeNames[c]])
		}
	}
	u.Covers = fmt.Sprintf("%.0f %% of runs are expected within the interval if nothing matters but %s; it says nothing of %s.",
		100*u.Level, strings.Join(covered, ", "), strings.Join(append(missing,
			"the network's parameters, of other load on the machine and of what the models leave out"), ", "))
	return u, nil
}

// setIntervals sets, for all figures, the interval in which one more value of a normal
// distribution is expected from the draws, at least three. sd is a further standard deviation of
// the makespan that the draws do not show, which the other figures have in proportion.
func (u *Uncertainty) setIntervals(draws []*Played, sd float64) {
	// A further run has the deviation of one run, and the mean that it lies around is itself uncertain: the
	// deviation of the difference is sd*sqrt(1+1/n).
	interval := func(figure func(*Played) float64, further float64) Interval {
		s, n := summaryOf(draws, figure), float64(len(draws))
		sd := math.Sqrt(float64(s.SD*s.SD) + float64(further*further))
		half := float64(student(len(draws)-1, uncertaintyLevel) * sd * math.Sqrt(1+1/n))
		return Interval{Mean: s.Mean, Low: max(0, s.Mean-half), High: s.Mean + half, SD: sd}
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
}
