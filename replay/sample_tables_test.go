package replay_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"reprise/kernels"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

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
	if err := p.Set("BCAST", c.bcast); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	o := replay.DefaultOptions()
	if err := o.Network.ApplyConfig(m.Platform); err != nil {
		t.Fatal(err)
	}
	e, err := replay.Sample(t.Context(), open, m, o, replay.SampleOptions{Tolerance: 0.03, Workers: 1})
	if errors.Is(err, sampling.ErrExact) {
		return 0, 0
	}
	if err != nil {
		t.Fatal(err)
	}
	exact, err := replay.Run(t.Context(), tr, m, o)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
