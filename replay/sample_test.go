package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/trace"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
)

// opener returns a function that opens a trace file in a directory of the test.
func opener(t testing.TB, write func(w io.Writer) error) func() (*trace.Trace, error) {
	t.Helper()
	path := saved(t, write)
	return func() (*trace.Trace, error) { return trace.Open(path) }
}

// saved returns the path of a trace file in a directory of the test.
func saved(t testing.TB, write func(w io.Writer) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.trace.zst")
	f, err := os.Create(path)
	noError(t, err)
	noError(t, errors.Join(write(f), f.Close()))
	return path
}

// sleepers is a trace of two ranks that sleep so many seconds in each step, rank 1
// half a second less in the first, so that they are never in the same step.
func sleepers(t testing.TB, steps int, seconds func(step int) float64) func() (*trace.Trace, error) {
	return opener(t, writeSleepers(steps, seconds))
}

func writeSleepers(steps int, seconds func(step int) float64) func(w io.Writer) error {
	return writePair(steps, func(k int) (first, second float64) {
		s := seconds(k)
		if k == 0 {
			return s, s - 0.5
		}
		return s, s
	}, (*trace.Builder).Sleep)
}

// writePair writes a trace of two ranks that sleep so many seconds, or compute so many flop, each in each step.
func writePair(steps int, seconds func(step int) (first, second float64), do func(*trace.Builder, trace.Operand)) func(w io.Writer) error {
	return func(w io.Writer) error {
		h := &trace.Header{
			Program: "sleepers", Ranks: 2, Steps: steps, Axes: []trace.Axis{{Name: "all", Kind: trace.AxisAll}, {Name: "rank", Kind: trace.AxisRank}},
			CallSites: []trace.CallSite{{Name: "step", Counts: trace.NoAxis, Block: 0, Params: []trace.ParamColumn{{Name: "seconds", Axis: 1}}}},
		}
		tw, err := trace.NewWriter(w, h, trace.WriterOptions{})
		if err != nil {
			return err
		}
		b := trace.NewBuilder("step", 1)
		do(b, b.Param(0))
		block, err := tw.Program().Add(b)
		if err != nil {
			return err
		}
		for k := range steps {
			first, second := seconds(k)
			args := []int64{trace.FloatArg(first), trace.FloatArg(second)}
			if err := errors.Join(tw.Step(k), tw.Call(&trace.Call{Blocks: []int64{int64(block)}, Args: [][]int64{args}})); err != nil {
				return err
			}
		}
		return tw.Close()
	}
}

// TestSampleSleepers: sums of powers, on paper. The ranks end half a second apart, so that the result is at the end of the
// interval around the mean rank.
func TestSampleSleepers(t *testing.T) {
	b := newBench(t, star(2), 2)
	for _, c := range []struct {
		name      string
		seconds   func(k int) float64
		from, to  int
		want, tol float64
	}{
		{"constant", func(int) float64 { return 1 }, 0, 0, 1000, 1e-9},
		{"linear", func(k int) float64 { return 1 + float64(k) }, 0, 0, 1000 * 1001 / 2, 1e-9},
		{"quadratic", func(k int) float64 { return 1 + float64(k)*float64(k) }, 0, 0, 1000 + 999*1000*1999/6, 1e-9},
		{"a part", func(k int) float64 { return 1 + float64(k) }, 500, 800, (501 + 800) * 150, 1e-9},
		{"a jump", func(k int) float64 { return 1 + math.Floor(float64(k)/700) }, 0, 0, 1300, 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := b.Options
			o.From, o.To = c.from, c.to
			e, err := replay.Sample(t.Context(), sleepers(t, 1000, c.seconds), b.Machine, o, replay.SampleOptions{Tolerance: 0.01, Workers: 2})
			noError(t, err)
			if math.Abs(e.Seconds-c.want) > e.Interval+1e-9*c.want || e.Interval > c.tol*c.want+0.251 {
				t.Errorf("%v s +- %v s, want %v s", e.Seconds, e.Interval, c.want)
			}
			if !e.Coupled || e.Complete != (c.to == 0) || e.Simulated > (e.Steps)*6/10 {
				t.Errorf("coupled %v, complete %v, %d of %d steps simulated", e.Coupled, e.Complete, e.Simulated, e.Steps)
			}
		})
	}
}

// TestSampleComputations: the trace says that each twentieth step computes for 3 s, the others for 1 to 1.9 s, so
// that windows tell all of the run.
func TestSampleComputations(t *testing.T) {
	b, all := newBench(t, star(2), 2), 0.0
	seconds := func(k int) float64 {
		if k%20 == 7 {
			return 3
		}
		return 1 + float64(k*k*7%10)/10
	}
	for k := range 500 {
		all += seconds(k)
	}
	open := opener(t, writePair(500, func(k int) (first, second float64) { return 1e9 * seconds(k), 1e9 * seconds(k) }, (*trace.Builder).Flops))
	e, err := replay.Sample(t.Context(), open, b.Machine, b.Options, replay.SampleOptions{Tolerance: 0.01, Workers: 2})
	noError(t, err)
	if math.Abs(e.Seconds-all) > 1e-9*all || e.Interval > 1e-9*all || e.Simulated > 100 {
		t.Errorf("%v s +- %v s by %d steps, want %v s", e.Seconds, e.Interval, e.Simulated, all)
	}
	sum, w := 0.0, e.Windows[1]
	for k := w.Start; k < w.To; k++ {
		sum += seconds(k) / float64(w.To-w.Start)
	}
	near(t, "a step of a window", w.Seconds, sum)
}

// TestSampleEnds: what precedes the first step and what follows the last one count
// once. Here they take 2 s and a barrier.
func TestSampleEnds(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.Network.InitTime, b.Network.FinalizationBarrier = 2, true
	open := sleepers(t, 1000, func(int) float64 { return 1 })
	tr, err := open()
	noError(t, err)
	defer tr.Close()
	exact, err := replay.Run(t.Context(), tr, b.Machine, b.Options)
	noError(t, err)
	e, err := replay.Sample(t.Context(), open, b.Machine, b.Options, replay.SampleOptions{Tolerance: 0.01, Workers: 1})
	noError(t, err)
	// Rank 1 is half a second ahead until the barrier, the mean a quarter: the interval.
	if exact.Makespan < 1002 || exact.Makespan > 1002.01 || math.Abs(e.Seconds-exact.Makespan) > e.Interval+1e-9 || e.Interval > 0.2501 {
		t.Errorf("%v s +- %v s, exact %v s", e.Seconds, e.Interval, exact.Makespan)
	}
}

// generic is the built-in machine for so many ranks.
func generic(t testing.TB, ranks int) replay.Machine {
	t.Helper()
	p, err := platforms.Builtin("default", ranks)
	noError(t, err)
	k, err := kernels.Builtin("default")
	noError(t, err)
	hosts, err := replay.FillHosts(p, ranks, 0)
	noError(t, err)
	return replay.Machine{Platform: p, Kernels: k, Hosts: hosts}
}

// TestSampleHPL: the exact makespan of each run is in the interval of its estimate,
// which any number of workers finds to the bit.
func TestSampleHPL(t *testing.T) {
	for _, c := range []struct {
		bcast   string
		depth   int
		nb      int
		coupled bool
	}{
		{"long", 0, 32, true}, {"longM", 1, 32, true}, {"1ring", 0, 32, true}, {"2ringM", 0, 32, true},
		// With look-ahead, polls decide what happens when: no step forgets the start.
		{"2ring", 1, 8, false}, {"1ring", 1, 8, false},
	} {
		if testing.Short() && c.bcast != "2ringM" {
			continue // one case runs all goroutines that there are
		}
		t.Run(fmt.Sprintf("%s/%d", c.bcast, c.depth), func(t *testing.T) {
			t.Parallel()
			p := hpl.DefaultParams(16384, 4, 4)
			p.NB, p.Depth = c.nb, c.depth
			noError(t, p.Set("BCAST", c.bcast))
			open := opener(t, func(w io.Writer) error { return hpl.Generate(t.Context(), w, p, hpl.Options{}) })
			compareSampled(t, open, generic(t, 16), c.coupled)
		})
	}
}

func compareSampled(t *testing.T, open func() (*trace.Trace, error), m replay.Machine, coupled bool) {
	t.Helper()
	tr, err := open()
	noError(t, err)
	defer tr.Close()
	o := replay.DefaultOptions()
	noError(t, o.Network.ApplyConfig(m.Platform))
	exact, err := replay.Run(t.Context(), tr, m, o)
	noError(t, err)
	var first *replay.Estimate
	for _, workers := range []int{1, 2} {
		e, err := replay.Sample(t.Context(), open, m, o, replay.SampleOptions{Tolerance: 0.03, Workers: workers})
		noError(t, err)
		if workers == 1 {
			first = e
		}
		ignore := cmp.Options{cmpopts.IgnoreUnexported(sampling.Window{}, sampling.Estimate{}), cmpopts.IgnoreFields(replay.Estimate{}, "Header", "Workers")}
		if diff := cmp.Diff(first, e, ignore); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
	}
	t.Logf("%.6g s +- %.2g %% from %d of %d steps; exact %.6g s", first.Seconds, 100*first.Relative(), first.Simulated, first.Steps, exact.Makespan)
	if math.Abs(first.Seconds-exact.Makespan) > first.Interval || first.Relative() > 0.03 {
		t.Errorf("%v s +- %v s, but the run takes %v s", first.Seconds, first.Interval, exact.Makespan)
	}
	if first.Coupled != coupled || !first.Complete {
		t.Errorf("coupled %v, complete %v", first.Coupled, first.Complete)
	}
	if !coupled && first.Warmup < longMemory { // they poll
		t.Errorf("warm-ups of %d steps", first.Warmup)
	}
}

// TestSampleDraws: the mean of the exact makespans of draws is in the interval of their estimates by the same windows, of
// which any number of workers makes the same bits; each draw is as close as the tolerance. Where no estimate pays, each
// is replayed by itself.
func TestSampleDraws(t *testing.T) {
	p := hpl.DefaultParams(16384, 4, 4)
	p.NB, p.Depth = 32, 0
	open := opener(t, func(w io.Writer) error { return hpl.Generate(t.Context(), w, p, hpl.Options{}) })
	m, o := generic(t, 16), replay.DefaultOptions()
	noError(t, o.Network.ApplyConfig(m.Platform))
	const n = 3
	exact := make([]*replay.Played, n)
	play := func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Played, error) {
		tr, err := open()
		noError(t, err)
		defer tr.Close()
		r, err := replay.Run(ctx, tr, m, o)
		noError(t, err)
		return replay.PlayedExactly(r), nil
	}
	mean := 0.0
	for i := range exact {
		drawn, with := replay.Drawn(m, o, uint64(1+i))
		exact[i], _ = play(t.Context(), drawn, with)
		mean += exact[i].Makespan / n
	}
	tr, err := open()
	noError(t, err)
	defer tr.Close()
	var first *replay.Uncertainty
	for _, workers := range []int{1, 2} {
		told, all := 0, 0
		uo := replay.UncertaintyOptions{Draws: n, Workers: 1, Together: func(ctx context.Context, draws []replay.Draw) ([]*replay.Played, error) {
			list, err := replay.SampleDraws(ctx, open, draws, replay.SampleOptions{Tolerance: 0.03, Workers: workers, Ended: func(windows, of int) { told, all = windows, of }})
			noError(t, err)
			var played []*replay.Played
			for i, e := range list {
				if math.Abs(e.Seconds/exact[i].Makespan-1) > 0.03 || e.Interval != list[0].Interval || e.Windows[0].Seconds == list[(i+1)%n].Windows[0].Seconds {
					t.Errorf("draw %d: %v s +- %v s, exactly %v s", i, e.Seconds, e.Interval, exact[i].Makespan)
				}
				played = append(played, replay.PlayedInPart(e))
			}
			return played, nil
		}}
		u, err := replay.Uncertain(t.Context(), tr.Header(), m, o, uo, nil)
		noError(t, err)
		if told == 0 || told > all || told%n != 0 || all%n != 0 {
			t.Errorf("told %d of %d windows", told, all)
		}
		// Two standard errors, by which the mean of the draws may be off.
		if len(u.Parts) != 1 || u.Parts[0].Name != "sampling" || math.Abs(u.Makespan.Mean-mean) > 2*u.Parts[0].SD || u.Parts[0].SD > math.Max(0.03/1.9*mean, 0.25*u.Makespan.SD) {
			t.Errorf("%+v, %+v, exactly %v s", u.Makespan, u.Parts, mean)
		}
		if workers == 1 {
			first = u
		}
		if diff := cmp.Diff(first.Draws, u.Draws); diff != "" {
			t.Error("two workers:", diff)
		}
	}
	played := 0
	uo := replay.UncertaintyOptions{Draws: n, Workers: 1, Together: func(context.Context, []replay.Draw) ([]*replay.Played, error) {
		return nil, sampling.ErrExact
	}}
	u, err := replay.Uncertain(t.Context(), tr.Header(), m, o, uo, func(context.Context, replay.Machine, replay.Options) (*replay.Played, error) {
		played++
		return exact[played-1], nil
	})
	noError(t, err)
	if played != n || math.Abs(u.Makespan.Mean/mean-1) > 1e-12 || len(u.Parts) != 0 {
		t.Errorf("%d replays, %+v, %+v", played, u.Makespan, u.Parts)
	}
}

// longMemory is a number of steps that only warm-ups of runs with polls or noise have.
const longMemory = 20

// TestSampleApart: ranks that never wait for each other drift apart from where a window
// begins, so no step forgets its start; but without polls long warm-ups would be waste.
func TestSampleApart(t *testing.T) {
	b := newBench(t, star(2), 2)
	open := opener(t, writePair(1000, func(int) (first, second float64) { return 1, 0.5 }, (*trace.Builder).Sleep))
	e, err := replay.Sample(t.Context(), open, b.Machine, b.Options, replay.SampleOptions{Tolerance: 0.5, Workers: 1})
	noError(t, err)
	if e.Coupled || e.Warmup >= longMemory {
		t.Errorf("coupled %v, warm-ups of %d steps", e.Coupled, e.Warmup)
	}
}

// TestSampleRefuses: what cannot be sampled, or need not be.
func TestSampleRefuses(t *testing.T) {
	b := newBench(t, star(2), 2)
	constant := func(int) float64 { return 1 }
	long := sleepers(t, 1000, constant)
	var file bytes.Buffer
	noError(t, writeSleepers(1000, constant)(&file))
	stream := func() (*trace.Trace, error) { return trace.NewReader(&file, "pipe") }
	tolerance := replay.SampleOptions{Tolerance: 0.01, Workers: 1}
	for _, c := range []struct {
		name string
		open func() (*trace.Trace, error)
		from int
		o    replay.SampleOptions
		want string
	}{
		{"few steps", sleepers(t, 20, func(k int) float64 { return float64(1 + k) }), 0, tolerance, "sampling does not pay: 20 steps are too few"},
		{"one step", sleepers(t, 1, constant), 0, tolerance, "sampling does not pay: there is one step"},
		{"no steps", long, 1000, tolerance, "the trace has no steps from 1000 on"},
		{"stream", stream, 0, tolerance, "it needs a trace file, not a pipe"},
		{"nothing asked for", long, 0, replay.SampleOptions{Workers: 1}, "neither a tolerance nor a time limit"},
		{"no workers", long, 0, replay.SampleOptions{Tolerance: 1}, "0 workers"},
	} {
		o := b.Options
		o.From = c.from
		if _, err := replay.Sample(t.Context(), c.open, b.Machine, o, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestSampleReportTolerance: 1 s of 10 s is more than 5 %, and than 7 %, which is warned of, and not
// more than 10 %; text and JSON have the same warnings.
func TestSampleReportTolerance(t *testing.T) {
	for _, c := range []struct {
		tolerance float64
		outliers  int
		want      []string
	}{
		{0.05, 0, []string{"the tolerance of 5 % was not reached"}},
		{0.07, 0, []string{"the tolerance of 7 % was not reached"}}, // 100 * 0.07 is 7.000000000000001
		{0.1, 0, nil},
		{0, 0, nil},
		{0.1, 2, []string{"2 of the steps cost far more than those beside them; the interval is doubled, since there may be rarer ones"}},
	} {
		s := &sampling.Estimate{Seconds: 10, Interval: 1, Steps: 1000, Outliers: c.outliers, Warmup: 32}
		e := &replay.Estimate{Estimate: s, Header: &trace.Header{Ranks: 2}, Warnings: replay.Doubts(s, c.tolerance)}
		r := replay.NewEstimateReport(e, &replay.Machine{}, replay.Provenance{})
		var text, page bytes.Buffer
		noError(t, errors.Join(r.WriteText(&text), r.WriteJSON(&page)))
		var told []string
		for line := range strings.Lines(text.String()) {
			if w, ok := strings.CutPrefix(line, "warning: "); ok {
				told = append(told, strings.TrimSuffix(w, "\n"))
			}
		}
		var said struct{ Warnings []string }
		noError(t, json.Unmarshal(page.Bytes(), &said))
		for form, got := range map[string][]string{"text": told, "JSON": said.Warnings} {
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("tolerance %v, %s: %s", c.tolerance, form, diff)
			}
		}
	}
}

// TestSampleCancelled: the context ends windows that are under way.
func TestSampleCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := newBench(t, star(2), 2)
	open := sleepers(t, 1000, func(int) float64 { return 1 })
	_, err := replay.Sample(ctx, open, b.Machine, b.Options, replay.SampleOptions{Tolerance: 0.01, Workers: 2})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestPeriod: on 4 x 6 ranks the same ones have the panel every 12 steps; 30 x 32 are too many together, so that the
// columns count alone; on 77 x 78 even one of them is too long for a window.
func TestPeriod(t *testing.T) {
	for _, c := range []struct{ p, q, want int }{{1, 8, 8}, {4, 6, 12}, {32, 32, 32}, {16, 64, 64}, {30, 32, 32}, {40, 24, 40}, {77, 78, 0}, {100, 8, 8}, {1, 1, 1}} {
		h := &trace.Header{Ranks: c.p * c.q, CommFamilies: []trace.CommFamily{
			{Name: "row", Groups: []trace.Group{{Stride: 1, Count: int32(c.q)}}}, {Name: "col", Groups: []trace.Group{{Stride: int32(c.q), Count: int32(c.p)}}},
		}}
		if got, cycles := replay.Turns(h); got != c.want || !slices.Equal(cycles, []int{c.q, c.p}) {
			t.Errorf("%d x %d: %d and %d, want %d", c.p, c.q, got, cycles, c.want)
		}
		h.Ranks++
		if got, cycles := replay.Turns(h); got != 0 || cycles != nil {
			t.Errorf("%d x %d and one more are no grid", c.p, c.q)
		}
		h.Ranks, h.Communicators = h.Ranks-1, true
		if got, cycles := replay.Turns(h); got != 0 || cycles != nil {
			t.Errorf("%d x %d communicators take turns", c.p, c.q)
		}
	}
}

// TestSampleHPCG: a set of HPCG has 50 iterations, too few for windows among many steps, but all
// are the same work: four of them tell how long all take, as the exact replay says.
func TestSampleHPCG(t *testing.T) {
	for name, p := range map[string]hpcg.Params{"one set": hpcg.DefaultParams(27, 16), "three sets": hpcg.DefaultParams(12, 24), "one rank": hpcg.DefaultParams(1, 32)} {
		if name == "three sets" {
			p.Sets = 3
		}
		open := opener(t, func(w io.Writer) error { return hpcg.Generate(context.Background(), w, p, hpcg.Options{}) })
		tr, err := open()
		noError(t, err)
		m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "default", RanksPerHost: 4}, tr)
		noError(t, err)
		exact, err := replay.Run(t.Context(), tr, m, o)
		noError(t, err)
		e, err := replay.Sample(t.Context(), open, m, o, replay.SampleOptions{Tolerance: 0.01, Workers: 2})
		noError(t, err)
		if math.Abs(e.Seconds-exact.Makespan) > e.Interval || e.Interval > 0.01*e.Seconds {
			t.Errorf("%s: %g s within %g, exact %g", name, e.Seconds, e.Interval, exact.Makespan)
		}
		if e.Simulated > 6 || !e.Complete {
			t.Errorf("%s: %d steps simulated", name, e.Simulated)
		}
		for i, phase := range e.Phases {
			if want := exact.Phases[i]; phase.Name != want.Name || math.Abs(phase.Mean-want.Mean) > phase.Interval+1e-9 {
				t.Errorf("%s: phase %+v, exact %+v", name, phase, want)
			}
		}
	}
}

// sampledRun is a run of HPL to be estimated.
type sampledRun struct {
	bcast        string
	n, nb, depth int
	p, q         int
	noisy        bool
}

// sampledRuns forget a cold start, poll, and have noise; the last ones are at random.
func sampledRuns() []sampledRun {
	list := []sampledRun{
		{"long", 16384, 32, 0, 4, 4, false}, {"longM", 16384, 32, 1, 4, 4, false}, {"1ring", 16384, 32, 0, 4, 4, false},
		{"2ringM", 16384, 32, 0, 2, 8, false}, {"long", 12000, 24, 0, 8, 2, false}, {"1ringM", 10000, 16, 0, 3, 4, false},
		{"2ring", 16384, 8, 1, 4, 4, false}, {"1ring", 16384, 8, 1, 4, 4, false},
		{"long", 24576, 16, 0, 2, 4, true},
	}
	for seed := range uint64(26) {
		rng := rand.New(rand.NewPCG(seed, 99))
		r := sampledRun{bcast: []string{"1ring", "1ringM", "2ring", "2ringM", "long", "longM"}[rng.IntN(6)]}
		grid := [][2]int{{2, 4}, {4, 4}, {3, 5}, {1, 8}, {4, 2}}[rng.IntN(5)]
		r.p, r.q, r.depth = grid[0], grid[1], rng.IntN(3)
		r.n, r.nb, r.noisy = 6000+rng.IntN(9000), 4+rng.IntN(8), rng.IntN(4) == 0
		list = append(list, r)
	}
	return list
}

// TestSampleTables: of the rows of the tables of estimates about 95 % hold what the exact
// replay has in that row, and the rows by kind add up to the mean end.
func TestSampleTables(t *testing.T) {
	if testing.Short() {
		t.Skip("some thirty exact replays")
	}
	var mu sync.Mutex
	rows, missed := 0, 0
	t.Run("runs", func(t *testing.T) {
		for _, c := range sampledRuns() {
			t.Run(fmt.Sprintf("%s/%d/%d/%d/%dx%d", c.bcast, c.depth, c.n, c.nb, c.p, c.q), func(t *testing.T) {
				t.Parallel()
				n, out := c.compare(t)
				mu.Lock()
				defer mu.Unlock()
				rows, missed = rows+n, missed+out
			})
		}
	})
	t.Logf("%d of %d rows are outside of their intervals", missed, rows)
	if rows < 500 || missed > rows/20 {
		t.Errorf("%d of %d rows are outside of their intervals", missed, rows)
	}
}

func (c *sampledRun) compare(t *testing.T) (rows, missed int) {
	p := hpl.DefaultParams(c.n, c.p, c.q)
	p.NB, p.Depth = c.nb, c.depth
	noError(t, p.Set("BCAST", c.bcast))
	m := generic(t, c.p*c.q)
	if c.noisy {
		m.Kernels = noisyKernels(t, "noise: {normal: 3%}")
	}
	return compareTables(t, opener(t, func(w io.Writer) error { return hpl.Generate(t.Context(), w, p, hpl.Options{}) }), m)
}

// compareTables returns how many rows the tables of an estimate have, and how many of them do not
// hold what the exact replay has; none where no estimate pays.
func compareTables(t *testing.T, open func() (*trace.Trace, error), m replay.Machine) (rows, missed int) {
	t.Helper()
	tr, err := open()
	noError(t, err)
	defer tr.Close()
	o := replay.DefaultOptions()
	noError(t, o.Network.ApplyConfig(m.Platform))
	e, err := replay.Sample(t.Context(), open, m, o, replay.SampleOptions{Tolerance: 0.03, Workers: 1})
	if errors.Is(err, sampling.ErrExact) {
		return 0, 0
	}
	noError(t, err)
	exact, err := replay.Run(t.Context(), tr, m, o)
	noError(t, err)
	sum := 0.0
	for _, s := range e.Kinds {
		sum += s.Mean
	}
	if math.Abs(sum-e.MeanEnd) > 1e-9*e.MeanEnd {
		t.Errorf("the kinds add up to %v s, the mean ends at %v s", sum, e.MeanEnd)
	}
	for _, table := range []struct {
		name      string
		exact     []replay.Share
		estimated []replay.EstimatedShare
	}{{"kind", exact.Kinds, e.Kinds}, {"phase", exact.Phases, e.Phases}, {"kernel", exact.Kernels, e.Kernels}} {
		estimated := map[string]replay.EstimatedShare{}
		for _, s := range table.estimated {
			estimated[s.Name] = s
		}
		for _, s := range table.exact {
			got := estimated[s.Name]
			rows++
			if off := math.Abs(got.Mean - s.Mean); off > got.Interval+1e-9*exact.Makespan {
				missed++
				t.Logf("%s %s: %.6g s +- %.2g s, exactly %.6g s", table.name, s.Name, got.Mean, got.Interval, s.Mean)
			}
		}
	}
	return rows, missed
}

// noisyKernels are kernels of 2 Gflop/s with noise.
func noisyKernels(t *testing.T, noise string) *kernels.Set {
	t.Helper()
	text := "version: 1\nunit: s\nkernels:\n  dgemm: {terms: {M*N*K: 1e-9}, " + noise + "}\n  dtrsm: {terms: {M*N*N: 5e-10}, " + noise + "}\n  \"*\": 1e-6\n"
	set, err := kernels.Parse(strings.NewReader(text), "noisy.yaml")
	noError(t, err)
	return set
}

// TestSampleObserve: each window has its observer, which sees its steps.
func TestSampleObserve(t *testing.T) {
	b := newBench(t, star(2), 2)
	open := sleepers(t, 1000, func(int) float64 { return 1 })
	var mu sync.Mutex
	seen := map[[2]int]*stepsSeen{}
	so := replay.SampleOptions{Tolerance: 0.01, Workers: 3, Observe: func(from, to int) ([]replay.Observer, func()) {
		mu.Lock()
		defer mu.Unlock()
		if seen[[2]int{from, to}] != nil {
			t.Errorf("steps %d:%d twice", from, to)
		}
		s := &stepsSeen{}
		seen[[2]int{from, to}] = s
		return []replay.Observer{{Marked: s.marked}}, func() { s.ended = true }
	}}
	e, err := replay.Sample(t.Context(), open, b.Machine, b.Options, so)
	noError(t, err)
	for _, w := range e.Windows {
		if seen[[2]int{w.From, w.To}] == nil {
			t.Errorf("nobody was asked for steps %d:%d", w.From, w.To)
		}
	}
	for steps, s := range seen {
		if want := 2 * (steps[1] - steps[0]); !s.ended || s.begun != want || s.first != int64(steps[0]) {
			t.Errorf("steps %v: %d begin, the first is %d", steps, s.begun, s.first)
		}
	}
	plain, err := replay.Sample(t.Context(), open, b.Machine, b.Options, replay.SampleOptions{Tolerance: 0.01, Workers: 1})
	noError(t, err)
	if plain.Seconds != e.Seconds || plain.Interval != e.Interval {
		t.Errorf("%v s +- %v s with observers, %v s +- %v s without", e.Seconds, e.Interval, plain.Seconds, plain.Interval)
	}
}

// stepsSeen counts the steps that ranks begin.
type stepsSeen struct {
	ended bool
	begun int
	first int64
}

func (s *stepsSeen) marked(_ int32, mark trace.Action, _ float64) {
	if mark.Kind != trace.KindStep {
		return
	}
	if s.begun == 0 {
		s.first = mark.X[0]
	}
	s.begun++
}
