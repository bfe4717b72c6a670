package sampling

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestParabolas: what the trend can follow is found to the last digits, from a
// small part of the steps, since the differences between windows vanish.
func TestParabolas(t *testing.T) {
	for _, c := range []struct {
		name string
		cost func(k int) float64
		want float64 // seconds, for the 2000 steps and 5 s behind them
	}{
		{"constant", func(int) float64 { return 0.25 }, 505},
		{"linear", func(k int) float64 { return float64(2000-k) / 1000 }, 2001 + 5},                  // 2000*2001/2/1000
		{"quadratic", func(k int) float64 { return float64((2000-k)*(2000-k)) / 1e6 }, 2668.667 + 5}, // 2000*2001*4001/6/1e6
		{"nothing but at the end", func(int) float64 { return 0 }, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &synthetic{steps: 2000, cost: c.cost, drain: 5}
			e := r.sample(t, 0.005)
			if math.Abs(e.Seconds-c.want) > 1e-9*c.want || e.Interval > 1e-9*c.want {
				t.Errorf("%v s +- %v s, want %v s", e.Seconds, e.Interval, c.want)
			}
			if e.Rounds != 1 || e.Simulated > 110 || !e.Coupled || e.Warmup != 1 {
				t.Errorf("%d rounds, %d steps, warm-up %d, coupled %v", e.Rounds, e.Simulated, e.Warmup, e.Coupled)
			}
		})
	}
}

// TestAbruptChange: the windows close in on steps that suddenly cost something
// else, wherever that is, until what is left between two of them is small.
func TestAbruptChange(t *testing.T) {
	for _, at := range []int{30, 1000, 1333, 2718, 3900} {
		r := &synthetic{steps: 4000, cost: func(k int) float64 {
			if k < at {
				return 1
			}
			return 2
		}}
		e := r.sample(t, 0.005)
		r.contains(t, e)
		if e.Relative() > 0.005 || e.Simulated > 600 {
			t.Errorf("change at %d: +- %.3f %% from %d steps", at, 100*e.Relative(), e.Simulated)
		}
		if gap := gapAround(e, at); gap > 4000/firstWindows/4 {
			t.Errorf("change at %d: the gap around it still has %d steps", at, gap)
		}
	}
}

// gapAround returns the number of steps between the windows around a step.
func gapAround(e *Estimate, step int) int {
	last := 0
	for _, w := range e.Windows {
		if w.Start > step {
			return w.Start - last
		}
		last = w.To
	}
	return 0
}

// TestInterval: of many runs with noise, periods and other shapes, the interval
// holds the true length of at least nine in ten, and is as narrow as was asked for.
func TestInterval(t *testing.T) {
	const runs = 60
	var smooth func(int) float64
	for _, c := range []struct {
		name string
		cost func(seed, k int) float64
		cold func(from, i int) float64
	}{
		{name: "period of 32", cost: func(seed, k int) float64 { return smooth(k) * (1 + 0.05*math.Sin(2*math.Pi*float64(k+seed)/32)) }},
		{name: "stairs", cost: func(seed, k int) float64 { return smooth((k + seed) / 77 * 77) }},
		{name: "outliers", cost: func(seed, k int) float64 {
			if noise(seed, k) > 0.75 { // one in eight
				return 1.2 * smooth(k)
			}
			return smooth(k)
		}},
		{name: "chaos", cost: func(seed, k int) float64 { return smooth(k) * (1 + 0.08*noise(seed, k)) },
			cold: func(from, i int) float64 { return smooth(from+i) * 0.08 * (noise(from, i) - noise(from+1, i)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inside := 0
			for seed := range runs {
				steps := 3000 + 7*seed // so that the windows lie elsewhere
				smooth = lu(steps)
				r := &synthetic{steps: steps, cost: func(k int) float64 { return c.cost(seed, k) }, cold: c.cold}
				e := r.sample(t, 0.01)
				if e.Relative() > 0.01 {
					t.Errorf("seed %d: +- %.3f %%", seed, 100*e.Relative())
				}
				if math.Abs(e.Seconds-r.length()) <= e.Interval {
					inside++
				}
			}
			if inside < runs*9/10 {
				t.Errorf("%d of %d lengths are in their intervals", inside, runs)
			}
		})
	}
}

// TestColdStart: a cold start that is over after one step is recognised. Else the
// warm-up is lengthened until nothing is seen of it; if that is too long, the interval
// holds what is left, however wide it gets.
func TestColdStart(t *testing.T) {
	smooth := lu(4000)
	for _, c := range []struct {
		name    string
		cold    func(from, i int) float64
		coupled bool
		err     error
	}{
		{"one step", func(from, i int) float64 { return -0.2 * smooth(from) * float64(max(0, 1-i)) }, true, nil},
		{"fading by half", func(from, i int) float64 { return -0.2 * smooth(from) * math.Pow(0.5, float64(i)) }, false, nil},
		{"fading by a quarter", func(from, i int) float64 { return -0.2 * smooth(from) * math.Pow(0.75, float64(i)) }, false, ErrExact},
		{"never the same again", func(from, i int) float64 { return 0.02 * smooth(from) * noise(from, i) }, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &synthetic{steps: 4000, cost: smooth, cold: c.cold}
			e, err := Run(t.Context(), r.options(0.005))
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			if e.Coupled != c.coupled {
				t.Errorf("coupled: %v", e.Coupled)
			}
			r.contains(t, e)
		})
	}
}

// TestDrift: the length of a run whose ranks never wait for each other is that of the
// slowest, which windows do not show: the interval grows by what is lost.
func TestDrift(t *testing.T) {
	r := &synthetic{steps: 4000, cost: lu(4000), drift: 0.02}
	if e, err := Run(t.Context(), r.options(0.005)); !errors.Is(err, ErrExact) {
		t.Errorf("%v s +- %v s, %v", e.Seconds, e.Interval, err)
	}
	o := r.options(0)
	left := 1500.0
	o.Left = func() float64 { left -= 100; return left }
	e, err := Run(t.Context(), o)
	noError(t, err)
	r.contains(t, e)
	if e.Relative() < 0.015 {
		t.Errorf("+- %.3f %%", 100*e.Relative())
	}
}

// TestWorkers: the bits do not depend on the number of workers.
func TestWorkers(t *testing.T) {
	smooth := lu(3000)
	r := &synthetic{steps: 3000, cost: func(k int) float64 { return smooth(k) * (1 + 0.1*noise(7, k)) }}
	var first *Estimate
	for _, workers := range []int{1, 2, 7} {
		o := r.options(0.01)
		o.Workers = workers
		e, err := Run(t.Context(), o)
		noError(t, err)
		if first == nil {
			first = e
		}
		if diff := cmp.Diff(first, e, cmpopts.IgnoreUnexported(Window{}, Estimate{})); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
	}
}

// TestEnded: the end of every window is told, those that choose the warm-up among them, and how many are expected. Noise
// of 10 % needs 2 * 0.1 / sqrt(4 n) of the run's cost to be 1 %: some hundred windows of four steps. After the first
// round the number that is expected changes little.
func TestEnded(t *testing.T) {
	smooth := lu(3000)
	r := &synthetic{steps: 3000, cost: func(k int) float64 { return smooth(k) * (1 + 0.1*noise(7, k)) }}
	o := r.options(0.01)
	told, expected, rounds := -1, []int(nil), 0
	o.Ended = func(windows, all int) {
		if windows != told+1 && windows != told || all < windows {
			t.Errorf("%d of %d after %d", windows, all, told)
		}
		if windows == told || told < 0 { // a round begins
			expected = append(expected, all)
			rounds++
		}
		told = windows
	}
	rough := 0.0
	o.Progress = func(e *Estimate) {
		if math.IsInf(e.Interval, 1) && rounds == 1 {
			rough = e.Seconds
		}
	}
	e, err := Run(t.Context(), o)
	noError(t, err)
	// Three windows of four steps: 0.1 / sqrt(12) of the cost.
	if math.Abs(rough/e.Seconds-1) > 3*0.1/math.Sqrt(12) {
		t.Errorf("roughly %g s by the first windows, the estimate is %g s", rough, e.Seconds)
	}
	// Of the windows that choose the warm-up, two at each place, one counts; the first round has two halves.
	if last := expected[len(expected)-1]; rounds != e.Rounds+2 || told != len(e.Windows)+pilots || told != last {
		t.Errorf("told of %d windows, at last %d expected, in %d rounds; the estimate has %d in %d", told, last, rounds, len(e.Windows), e.Rounds)
	}
	if e.Rounds < 2 || expected[0] != 2*pilots+15+15 || expected[1] != expected[0] ||
		math.Abs(float64(expected[3])/float64(told)-1) > 0.25 {
		t.Errorf("expected %v windows, %d simulated", expected, told)
	}
}

// TestExact: few steps, and noise against which only all of the steps help.
func TestExact(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps int
		noise float64
	}{
		{"one step", 1, 0}, {"few steps", 180, 0}, {"too noisy", 1000, 1},
	} {
		r := &synthetic{steps: c.steps, cost: func(k int) float64 { return 1 + c.noise*noise(1, k) }}
		if e, err := Run(t.Context(), r.options(0.001)); !errors.Is(err, ErrExact) {
			t.Errorf("%s: %v, %v", c.name, e, err)
		}
	}
}

// TestHopeless: where not even three quarters of the steps would do that is found out from half of the
// windows: 24 steps of pilots, ends of 48 and 64, and five of ten windows of 48. Polls may settle so that a run is
// 0.15 % off: for a narrower interval no window is of any use.
func TestHopeless(t *testing.T) {
	const steps = 2000
	r := &synthetic{
		steps: steps,
		cost:  func(k int) float64 { return 1 + 0.5*noise(1, k) },
		cold:  func(from, i int) float64 { return 0.5 * noise(from, i) },
	}
	for tolerance, want := range map[float64]int64{0.005: 24 + 48 + 64 + 5*48, 0.0029: 24} {
		o := r.options(tolerance)
		o.Scatters = true
		var simulated atomic.Int64
		o.Measure = func(ctx context.Context, worker, from, to int) ([]StartTimes, error) {
			simulated.Add(int64(to - from))
			return r.measure(ctx, worker, from, to)
		}
		if e, err := Run(t.Context(), o); !errors.Is(err, ErrExact) || simulated.Load() != want {
			t.Errorf("tolerance %v: %v, %v, %d steps, want %d", tolerance, e, err, simulated.Load(), want)
		}
	}
}

// TestNoWindow: the time is over before any window behind the pilots has ended.
func TestNoWindow(t *testing.T) {
	smooth := lu(4000)
	r := &synthetic{steps: 4000, cost: smooth, cold: func(from, i int) float64 { return 0.02 * smooth(from+i) * noise(from, i) }}
	for _, limited := range []bool{true, false} {
		o := r.options(0.01)
		o.Scatters = true
		var windows, steps atomic.Int64 // each step takes a second
		if limited {
			o.Left = func() float64 { return float64(3000 - steps.Load()) }
		}
		o.Measure = func(ctx context.Context, worker, from, to int) ([]StartTimes, error) {
			steps.Add(int64(to - from))
			if windows.Add(1) > 2*pilots {
				return nil, context.DeadlineExceeded
			}
			return r.measure(ctx, worker, from, to)
		}
		if e, err := Run(t.Context(), o); !errors.Is(err, ErrTime) {
			t.Errorf("limited %v: %v, %v", limited, e, err)
		}
	}
}

// TestStretches: of runs in chaos with a stretch of a tenth of their steps that cost 15 % more, wherever it
// is, the length is in the interval of 19 in 20.
func TestStretches(t *testing.T) {
	missed, estimates := 0, 0
	for seed := range 100 {
		steps := 4000 + 11*seed
		clean := lu(steps)
		from := int(uniform(7, uint64(seed)) * float64(steps) * 0.9)
		r := &synthetic{
			steps: steps,
			cost: func(k int) float64 {
				if k >= from && k < from+steps/10 {
					return 1.15 * clean(k)
				}
				return clean(k)
			},
			cold: func(from, i int) float64 { return 0.02 * clean(from+i) * noise(from, i) },
		}
		o := r.options(0.02)
		o.Scatters = true
		e, err := Run(t.Context(), o)
		if err != nil {
			continue
		}
		estimates++
		if math.Abs(e.Seconds-r.length()) > e.Interval {
			missed++
		}
	}
	t.Logf("%d of %d missed", missed, estimates)
	if estimates < 80 || missed > estimates/20 {
		t.Errorf("%d of %d", missed, estimates)
	}
}

// TestPeriod: where the cost of a step depends on whose turn it is, windows that begin anywhere scatter too
// much, and those of whole periods do not.
func TestPeriod(t *testing.T) {
	clean := lu(4000)
	r := &synthetic{
		steps: 4000,
		cost:  func(k int) float64 { return clean(k) * (1 + 0.2*math.Sin(2*math.Pi*float64(k)/32)) },
		cold:  func(from, i int) float64 { return 0.02 * clean(from+i) * noise(from, i) },
	}
	o := r.options(0.01)
	o.Scatters = true
	if e, err := Run(t.Context(), o); !errors.Is(err, ErrExact) {
		t.Errorf("without a period: %v, %v", e, err)
	}
	o.Period = 32
	e, err := Run(t.Context(), o)
	noError(t, err)
	r.contains(t, e)
	if e.Rounds != 1 || e.Simulated != 24+56+88+16*56 {
		t.Errorf("%d rounds, %d steps", e.Rounds, e.Simulated)
	}
}

// TestTimeLimit: with a clock that runs by one second for each step simulated.
func TestTimeLimit(t *testing.T) {
	smooth := lu(5000)
	r := &synthetic{steps: 5000, cost: func(k int) float64 { return smooth(k) * (1 + 0.1*noise(3, k)) }}
	for _, c := range []struct {
		limit, tolerance float64
		err              error
		least, most      int // steps
	}{
		{limit: 600, least: 450, most: 600},      // uses the time, but does not exceed it
		{limit: 600, tolerance: 0.05, most: 120}, // good enough before
		{limit: 12000, err: ErrExact},            // all steps take 5000 s
		{limit: 10, err: ErrTime},                // not even the places that come first
	} {
		o := r.options(c.tolerance)
		o.Workers = 1
		r.limit(&o, c.limit)
		e, err := Run(t.Context(), o)
		if c.err != nil {
			if !errors.Is(err, c.err) {
				t.Errorf("limit %v s: %v, %v, want %v", c.limit, e, err, c.err)
			}
			continue
		}
		noError(t, err)
		if e.Simulated < c.least || e.Simulated > c.most {
			t.Errorf("limit %v s: %d steps", c.limit, e.Simulated)
		}
	}
}

// TestTimeLimitOfShortRuns: a run of which windows would simulate most of the steps,
// by a clock that runs by one second for each. It does not forget: after 24 steps of
// pilots the ends are windows of 20 and 36 steps, and there are 16 of 20 between them, 8
// at least. Exact is what takes half of the time that is left, or nine tenths of it where
// there is no room for the windows: with a long memory the ends have 48 and 64 steps, and 8 windows
// of 48 are too many for 470.
//
// Of 560 steps 24 of pilots, ends of 48 and 64, and 8 windows of 48 would be 520, on one core (496/0.9 = 551 s) no
// quicker than three quarters of 560 s, on two cores (248/0.9 = 276 s) quicker.
func TestTimeLimitOfShortRuns(t *testing.T) {
	for _, c := range []struct {
		steps       int
		workers     int
		limit       float64
		late        bool
		want        string // "": an estimate
		least, most int    // steps
	}{
		{steps: 470, workers: 1, limit: 23, want: "the time is too short for an estimate"},
		{steps: 470, workers: 1, limit: 200, want: "the time is too short for an estimate: one would take about 264 s, all of the run 470 s"}, // 24 + (20+36+8*20)/0.9
		{steps: 470, workers: 1, limit: 270, least: 240, most: 270},
		{steps: 470, workers: 1, limit: 700, least: 340, most: 340},                                                                                       // 24+20+36+13*20: one window more, and they are more than three quarters of 470
		{steps: 470, workers: 1, limit: 965, want: "sampling does not pay: all of the run fits into the time"},                                            // 470 < (965-24)/2
		{steps: 470, workers: 1, limit: 500, late: true, want: "the time is too short for an estimate: all of the run would take about 470 s"},            // 470 > 0.9*(500-24)
		{steps: 470, workers: 1, limit: 550, late: true, want: "sampling does not pay: all of the run fits into the time"},                                // 470 < 0.9*(550-24)
		{steps: 560, workers: 1, limit: 700, late: true, want: "sampling does not pay: all of the run fits into the time"},                                // 560 < 0.9*(700-24)
		{steps: 560, workers: 1, limit: 600, late: true, least: 520, most: 520},                                                                           // 560 > 0.9*(600-24), but 551 < 600-24
		{steps: 560, workers: 1, limit: 570, late: true, want: "the time is too short for an estimate: one would take about 575 s, all of the run 560 s"}, // 24 + 551
		{steps: 560, workers: 2, limit: 600, late: true, least: 520, most: 520},
	} {
		smooth := lu(c.steps)
		r := &synthetic{steps: c.steps, cost: smooth, cold: func(from, i int) float64 { return 0.02 * smooth(from+i) * noise(from, i) }}
		o := r.options(0)
		o.Workers, o.Scatters = c.workers, c.late
		r.limit(&o, c.limit)
		e, err := Run(t.Context(), o)
		if c.want != "" {
			if err == nil || err.Error() != c.want {
				t.Errorf("limit %v s: %v, want %s", c.limit, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("limit %v s: %v", c.limit, err)
			continue
		}
		if e.Simulated < c.least || e.Simulated > c.most || e.Interval == 0 {
			t.Errorf("limit %v s: +- %v s from %d steps", c.limit, e.Interval, e.Simulated)
		}
	}
}

// TestDeadline: windows that were under way when the time was over, or when a signal came, are missing; the estimate
// is made from the others.
func TestDeadline(t *testing.T) {
	smooth := lu(5000)
	r := &synthetic{steps: 5000, cost: func(k int) float64 { return smooth(k) * (1 + 0.1*noise(3, k)) }}
	for _, cause := range []error{context.DeadlineExceeded, errors.New("a signal")} {
		ctx, cancel := context.WithCancelCause(t.Context())
		o := r.options(1e-4)
		var steps atomic.Int64 // simulated, each in a second of a worker
		if cause == context.DeadlineExceeded {
			o.Left = func() float64 { return 1000 - float64(steps.Load())/2 }
		} else {
			o.Tolerance = 2e-3
		}
		rounds := 0
		o.Progress = func(e *Estimate) {
			if !math.IsInf(e.Interval, 0) {
				rounds++
			}
			if rounds == 2 {
				cancel(cause)
			}
		}
		o.Measure = func(ctx context.Context, worker, from, to int) ([]StartTimes, error) {
			if rounds == 1 && from%2 == 0 {
				if cause != context.DeadlineExceeded {
					cancel(cause)
				}
				return nil, cause
			}
			steps.Add(int64(to - from))
			return r.measure(ctx, worker, from, to)
		}
		e, err := Run(ctx, o)
		noError(t, err)
		r.contains(t, e)
		if e.Rounds != 2 {
			t.Errorf("%v: %d rounds", cause, e.Rounds)
		}
	}
}

// TestFailure: the error of the first window that fails, in the order of the
// windows.
func TestFailure(t *testing.T) {
	broken := errors.New("broken")
	r := &synthetic{steps: 1000, cost: lu(1000)}
	for _, measure := range []Measure{
		func(context.Context, int, int, int) ([]StartTimes, error) { return nil, broken },
		func(context.Context, int, int, int) ([]StartTimes, error) {
			return []StartTimes{{}}, nil
		},
		func(context.Context, int, int, int) ([]StartTimes, error) { // parts that nobody asked for
			return slices.Repeat([]StartTimes{{Parts: []float64{1}}}, 6), nil
		},
	} {
		o := r.options(0.01)
		o.Measure = measure
		_, err := Run(t.Context(), o)
		if err == nil || !strings.HasPrefix(err.Error(), "steps [166,171): ") {
			t.Errorf("%v", err)
		}
	}
}

func TestValidate(t *testing.T) {
	r := &synthetic{steps: 10, cost: lu(10)}
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.End = 0 }, "steps [0,0), want at least one"},
		{func(o *Options) { o.First = -1 }, "steps [-1,10), want at least one"},
		{func(o *Options) { o.Tolerance = math.NaN() }, "tolerance NaN, want a number >= 0"},
		{func(o *Options) { o.Tolerance = 0 }, "neither a tolerance nor a time limit"},
		{func(o *Options) { o.Workers = 0 }, "0 workers, want at least 1"},
		{func(o *Options) { o.Period = -1 }, "period of -1 steps, want at least 0"},
		{func(o *Options) { o.Memory = -1 }, "memory of -1 steps, want at least 0"},
		{func(o *Options) { o.Measure = nil }, "no measure"},
	} {
		o := r.options(0.01)
		c.change(&o)
		if _, err := Run(t.Context(), o); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestLongMemory: a cold start makes steps cheaper by 3 % at first, and by exp(-i/10) of
// that in the i-th: the mean of the steps 4 to 19 is 1.0 % too low, with the noise of 4 %
// too little to be seen, that of 32 to 47 by 0.06 %.
func TestLongMemory(t *testing.T) {
	const steps = 4000
	clean := lu(steps)
	r := &synthetic{
		steps: steps,
		cost:  func(k int) float64 { return clean(k) * (1 + 0.04*noise(3, k)) },
		cold:  func(from, i int) float64 { return -0.03 * clean(from+i) * math.Exp(-float64(i)/10) },
	}
	o := r.options(0.01)
	o.Scatters = true
	e, err := Run(t.Context(), o)
	noError(t, err)
	if off := e.Seconds/r.length() - 1; math.Abs(off) > 3e-3 {
		t.Errorf("%.2f %% off", 100*off)
	}
	if e.Warmup != lateWindows.warmup {
		t.Errorf("warm-up of %d steps", e.Warmup)
	}
	r.contains(t, e)
}

// TestTurns: where the cost of a step depends on whose turn it is, estimates that know after how many steps turns begin
// anew need fewer steps than others. 19 of 20 intervals hold the length of the run, also if turns make no difference.
func TestTurns(t *testing.T) {
	const runs = 200
	for _, c := range []struct {
		cycles []int // turns are of the first one
		turns  bool  // they make a difference; else there is as much noise
	}{
		{[]int{8}, true}, {[]int{21, 16}, true}, {[]int{77, 78}, true}, {[]int{8, 5}, false}, {[]int{77, 78}, false},
	} {
		missed, with, without := 0, 0, 0
		for seed := range runs {
			clean := lu(3000 + 7*seed)
			r := &synthetic{steps: 3000 + 7*seed, cost: func(k int) float64 {
				turn := noise(seed, k%c.cycles[0])
				if !c.turns {
					turn = noise(seed, k)
				}
				return clean(k) + 0.05*math.Sqrt(clean(k))*(turn+0.3*noise(seed+runs, k))
			}}
			without += r.sample(t, 0.01).Simulated
			o := r.options(0.01)
			o.Cycles = c.cycles
			e, err := Run(t.Context(), o)
			noError(t, err)
			if with += e.Simulated; math.Abs(e.Seconds-r.length()) > e.Interval {
				missed++
			}
			if e.Relative() > 0.01 {
				t.Errorf("%+v, seed %d: +- %.3f %%", c, seed, 100*e.Relative())
			}
		}
		t.Logf("%+v: %d of %d missed, %d steps, %d without the cycle", c, missed, runs, with/runs, without/runs)
		if missed > runs/20 || c.turns && with >= without {
			t.Errorf("%+v: %d of %d missed, %d steps, %d without the cycle", c, missed, runs, with/runs, without/runs)
		}
	}
}

// TestOf: of two runs whose mean is estimated each is as close, and the mean of both estimates is that of the mean.
func TestOf(t *testing.T) {
	smooth := lu(3000)
	var runs []*synthetic
	for i := range 2 {
		runs = append(runs, &synthetic{steps: 3000, cost: func(k int) float64 {
			return smooth(k) * float64(1+2*i) * (1 + 0.1*noise(i, k))
		}})
	}
	both := &synthetic{steps: 3000, cost: func(k int) float64 { return (runs[0].cost(k) + runs[1].cost(k)) / 2 }}
	e := both.sample(t, 0.01)
	both.contains(t, e)
	mean := 0.0
	for _, r := range runs {
		of := e.Of(func(from, to int) []StartTimes {
			starts, err := r.measure(t.Context(), 0, from, to)
			noError(t, err)
			return starts
		})
		r.contains(t, of)
		mean += of.Seconds / 2
	}
	if math.Abs(mean/e.Seconds-1) > 1e-3 {
		t.Errorf("%v s and %v s", mean, e.Seconds)
	}
}

// TestEnough: whoever knows that an estimate is good enough ends it after its first round, and one that scatters too much
// for its tolerance is made.
func TestEnough(t *testing.T) {
	smooth := lu(3000)
	r := &synthetic{steps: 3000, cost: func(k int) float64 { return smooth(k) * (1 + 0.3*noise(3, k)) }}
	o := r.options(1e-3)
	o.Scatters = true
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrExact) {
		t.Fatalf("%v: this run is not chaotic", err)
	}
	asked := 0
	o.Enough = func(*Estimate) bool { asked++; return true }
	e, err := Run(t.Context(), o)
	noError(t, err)
	r.contains(t, e)
	if asked != 1 || e.Rounds != 1 || e.Relative() <= 1e-3 {
		t.Errorf("asked %d times, %d rounds, +- %.3f %%", asked, e.Rounds, 100*e.Relative())
	}
}
