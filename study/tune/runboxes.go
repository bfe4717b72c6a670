package tune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"reprise/internal/regular"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/study/search"
	"reprise/trace"
	"reprise/tracegen/hpcg"
)

// BoxOptions say how to choose boxes.
type BoxOptions struct {
	Jobs         int
	Indifference float64 // a difference of rates that does not matter, as a share
	Seed         uint64
	Tool         string // what makes the traces
	Progress     func(done, all int)
}

// boxTolerance is that of the estimates: iterations of HPCG are the same work, so that few of them tell
// all.
const boxTolerance = 0.01

// boxRun is what came out of a replay.
type boxRun struct {
	gflops   float64
	interval float64 // half-width
	noise    bool
}

// boxTuner chooses boxes.
type boxTuner struct {
	BoxOptions
	spec replay.MachineSpec
	list []hpcg.Params

	mu   sync.Mutex
	runs map[int]boxRun
	done int
}

// RunBoxes finds the process grid and the boxes with which HPCG has the highest rate. What it finds does
// not depend on the number of jobs.
func RunBoxes(ctx context.Context, b Boxes, o BoxOptions) (*BoxResult, error) {
	space, list, where, err := b.candidates()
	if err != nil {
		return nil, err
	}
	t := &boxTuner{BoxOptions: o, list: list, runs: map[int]boxRun{},
		spec: replay.MachineSpec{Kernels: b.Kernels, RanksPerHost: where.perHost}}
	switch {
	case b.Machine == "":
		t.spec.Platform = generic
	case regular.IsFile(b.Machine):
		t.spec.Platform = b.Machine
	default:
		t.spec.Machine = b.Machine
	}
	if b.Kernels != "" && t.spec.Machine != "" {
		t.spec.Platform, t.spec.Machine = where.name, ""
	}
	found, err := search.Run(ctx, space, search.Options{
		Tolerances: []float64{boxTolerance}, Indifference: o.Indifference, Measure: t.measure,
		Progress: func(p search.Progress) { t.tell(p.Open) },
	})
	if err != nil {
		return nil, err
	}
	fresh, err := t.again(ctx, found.Points[0].Index)
	if err != nil {
		return nil, err
	}
	return t.result(found, fresh, where.perHost), nil
}

// measure is the search's: the seconds of 1e9 flop.
func (t *boxTuner) measure(ctx context.Context, points []int, _ float64) ([]search.Value, error) {
	values, errs := make([]search.Value, len(points)), make([]error, len(points))
	free := make(chan struct{}, t.Jobs)
	var wait sync.WaitGroup
	for i, p := range points {
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			var r boxRun
			if r, errs[i] = t.replay(ctx, &t.list[p], t.Seed); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", boxName(&t.list[p]), errs[i])
				return
			}
			values[i] = search.Value{Seconds: 1 / r.gflops, Interval: r.interval / (r.gflops * r.gflops)}
			t.mu.Lock()
			defer t.mu.Unlock()
			t.runs[p] = r
			t.done++
		})
	}
	wait.Wait()
	t.tell(0)
	for _, err := range errs {
		if err != nil {
			return nil, err // the others have the same cause, mostly
		}
	}
	return values, nil
}

func (t *boxTuner) tell(open int) {
	if t.Progress != nil {
		t.Progress(t.done, t.done+open)
	}
}

// again replays the best with seeds that the search has not seen, if anything is random.
func (t *boxTuner) again(ctx context.Context, best int) ([]float64, error) {
	if !t.runs[best].noise {
		return nil, nil
	}
	var rates []float64
	for i := range uint64(freshSeeds) {
		r, err := t.replay(ctx, &t.list[best], t.Seed+i+1)
		if err != nil {
			return nil, err
		}
		rates = append(rates, r.gflops)
	}
	return rates, nil
}

// replay estimates the rate of a box, or replays it where that costs no more.
func (t *boxTuner) replay(ctx context.Context, p *hpcg.Params, seed uint64) (boxRun, error) {
	var file bytes.Buffer
	if err := hpcg.Generate(ctx, &file, *p, hpcg.Options{Tool: t.Tool}); err != nil {
		return boxRun{}, err
	}
	open := func() (*trace.Trace, error) {
		return trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "HPCG")
	}
	tr, err := open()
	if err != nil {
		return boxRun{}, err
	}
	defer tr.Close()
	m, o, _, err := replay.LoadMachine(t.spec, tr)
	if err != nil {
		return boxRun{}, err
	}
	o.Seed = seed
	e, err := replay.Sample(ctx, open, m, o, replay.SampleOptions{Tolerance: boxTolerance, Workers: 1})
	if err == nil {
		return boxRun{e.Gflops, e.GflopsInterval, e.Seed != nil}, nil
	}
	if !errors.Is(err, sampling.ErrExact) {
		return boxRun{}, err
	}
	r, err := replay.Run(ctx, tr, m, o)
	if err != nil {
		return boxRun{}, err
	}
	return boxRun{r.Gflops, 0, r.Seed != nil}, nil
}
