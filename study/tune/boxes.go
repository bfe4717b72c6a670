package tune

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/report/compare"
	"reprise/study"
	"reprise/study/search"
	"reprise/trace"
	"reprise/tracegen/hpcg"
)

// This file tunes HPCG: RunBoxes.

const (
	// LeastShare is the least share of the memory of a run that counts, by HPCG's rules.
	LeastShare = 0.25

	// BytesPerPoint is the memory that HPCG's own report counts for each point, without halos ("Bytes per equation").
	BytesPerPoint = replay.HPCGPoint

	// mostSizes is how many sizes of a box there are in each direction.
	mostSizes = 8

	// boxTolerance is that of the estimates: iterations of HPCG are the same work, so few of them are enough.
	boxTolerance = 0.01
)

// Boxes says for which machine process grid and boxes of HPCG are to be chosen.
type Boxes struct {
	Machine      string // as a machine setting has it; "": the generic one
	Kernels      string // "": those of the machine
	Ranks, Nodes int    // as in Request
	Memory       float64
	Fill         float64 // the share of the memory that HPCG takes at most
}

// BoxOptions say how to choose boxes.
type BoxOptions struct {
	Jobs         int
	Indifference float64 // a difference of rates that does not matter, as a share
	Seed         uint64
	Tool         string // what makes the traces
	Progress     func(done, all int)
}

// RunBoxes finds the process grid and the boxes with which HPCG has the highest rate. The result
// does not depend on the number of jobs. If the context ends before the search, it is the best so far, as for Run.
func RunBoxes(ctx context.Context, b Boxes, o BoxOptions) (*BoxResult, error) {
	space, list, where, err := b.candidates()
	if err != nil {
		return nil, err
	}
	spec := replay.MachineSpec{Kernels: b.Kernels, RanksPerHost: where.perHost}
	switch {
	case b.Machine == "":
		spec.Platform = generic
	case regular.IsFile(b.Machine):
		spec.Platform = b.Machine
	case b.Kernels != "": // not those of the machine
		spec.Platform = where.name
	default:
		spec.Machine = b.Machine
	}

	// The search minimises the seconds of 1e9 flop. Rates are kept by point: the search itself keeps times alone.
	runs, done := map[int]boxRun{}, 0
	var mu sync.Mutex // of both: replays end at any time
	tell := func(open int) {
		if o.Progress != nil {
			o.Progress(done, done+open)
		}
	}
	found, err := search.Run(ctx, space, search.Options{
		Tolerances: []float64{boxTolerance}, Indifference: o.Indifference,
		Progress: tell,
		Measure: func(ctx context.Context, points []int, _ float64) ([]search.Value, error) {
			results := make([]boxRun, len(points))
			err := atOnce(ctx, len(points), o.Jobs, func(ctx context.Context, i int) (err error) {
				if results[i], err = replayBox(ctx, spec, &list[points[i]], o.Seed, o.Tool); err != nil {
					return fmt.Errorf("%s: %w", boxName(&list[points[i]]), err)
				}
				mu.Lock()
				defer mu.Unlock()
				runs[points[i]] = results[i]
				done++
				return nil
			})
			if err != nil {
				return nil, err
			}
			var values []search.Value
			for _, r := range results {
				values = append(values, search.Value{Seconds: 1 / r.gflops, Interval: r.interval / (r.gflops * r.gflops)})
			}
			tell(0)
			return values, nil
		},
	})
	stopped := ctx.Err() != nil && len(runs) > 0
	if err != nil && !stopped {
		return nil, err
	}
	if stopped {
		found = nil
		for i, run := range runs {
			found = append(found, search.Point{Index: i, Value: search.Value{Seconds: 1 / run.gflops}})
		}
		slices.SortFunc(found, func(a, b search.Point) int {
			return cmp.Or(cmp.Compare(a.Value.Seconds, b.Value.Seconds), cmp.Compare(a.Index, b.Index))
		})
	}

	index := found[0].Index
	best, top := &list[index], runs[index]
	r := &BoxResult{Ranks: best.Ranks, Configurations: len(list), Replays: done, Stopped: stopped, Gflops: top.gflops,
		GflopsInterval: top.interval, Indifference: o.Indifference, Dat: boxDat(best)}
	// The rate of the best is flattered by chance, as it is the largest of many: fresh seeds give an unbiased one.
	if top.noise && !stopped { // replay the best with seeds that the search has not seen
		var fresh []float64
		for i := range uint64(freshSeeds) {
			again, err := replayBox(ctx, spec, best, o.Seed+i+1, o.Tool)
			if err != nil {
				return nil, err
			}
			fresh = append(fresh, again.gflops)
		}
		f := compare.MeanFigure(fresh)
		r.Gflops, r.GflopsInterval, r.FreshSeeds = f.Value(), f.Interval(), len(fresh)
	}
	for _, p := range found {
		q, run := &list[p.Index], runs[p.Index]
		c := BoxChoice{Name: boxName(q), Gflops: run.gflops, Behind: 1 - run.gflops/top.gflops,
			Memory: BytesPerPoint * float64(q.NX) * float64(q.NY) * float64(q.NZ) * float64(min(where.perHost, q.Ranks))}
		if len(r.Indistinct) == 0 {
			r.Best = c
		}
		if c.Behind <= o.Indifference+(run.interval+top.interval)/top.gflops {
			r.Indistinct = append(r.Indistinct, c)
		}
	}
	return r, nil
}

// BoxResult is the result for HPCG.
type BoxResult struct {
	Ranks          int       `json:"ranks"`
	Configurations int       `json:"configurations"` // grids with boxes that the rules and the memory allow
	Replays        int       `json:"replays"`
	Stopped        bool      `json:"stopped"` // before the search has ended: the best so far
	Best           BoxChoice `json:"best"`
	Gflops         float64   `json:"gflops"`          // of the best; with noise mean of fresh seeds
	GflopsInterval float64   `json:"gflops_interval"` // half-width, with 95 % confidence
	FreshSeeds     int       `json:"fresh_seeds"`     // 0: nothing is random, or the search was stopped
	// Indistinct are those that are not worse by more than Indifference, the best first.
	Indistinct   []BoxChoice `json:"indistinct"`
	Indifference float64     `json:"indifference"`
	Effort
	Dat string `json:"hpcg_dat"`
}

// BoxChoice is a process grid and the box of each rank.
type BoxChoice struct {
	Name   string  `json:"name"`
	Gflops float64 `json:"gflops"`
	Memory float64 `json:"memory_bytes"` // of a node, as HPCG counts it
	Behind float64 `json:"behind"`       // the best, as a share of its rate
}

// boxRun is the result of a replay.
type boxRun struct {
	gflops   float64
	interval float64 // half-width
	noise    bool
}

func boxName(p *hpcg.Params) string {
	return fmt.Sprintf("grid %v, box %dx%dx%d", p.Grid, p.NX, p.NY, p.NZ)
}

// boxDat returns the hpcg.dat of a run of the length that counts, 1800 s.
func boxDat(p *hpcg.Params) string {
	return fmt.Sprintf("HPCG benchmark input file\nwritten by Reprise\n%d %d %d\n1800\n%d %d %d\n", p.NX, p.NY, p.NZ,
		p.Grid.NX, p.Grid.NY, p.Grid.NZ)
}

// candidates returns all grids and boxes that come into question, as a space with the parameters of each point.
//
// A candidate is a process grid x by y by z of all ranks, and a box of nx by ny by nz points that each
// rank has. HPCG refuses grids and boxes that are too flat, and sides that are no multiples of 8
// ([hpcg.Params.Complete] knows its rules). Of the boxes that are left those come into question that
// take the memory which the rules want, and no more than the fill.
func (b *Boxes) candidates() (space *search.Space, list []hpcg.Params, where *places, err error) {
	defer textutil.Stopped(&err)
	r := &Request{Ranks: b.Ranks, Nodes: b.Nodes}
	if b.Machine != "" {
		r.Settings = []study.Setting{{Word: "machine", Value: b.Machine}}
	}
	where = textutil.Must(r.places())
	ranks := textutil.Must(r.ranks(where))
	if b.Memory == 0 {
		return nil, nil, nil, errors.New("the memory of a node is not given: it says how large boxes are")
	}
	most := b.Fill * b.Memory / float64(min(where.perHost, ranks)) / BytesPerPoint // points of a rank
	// HPCG's rules want the problem to exceed the caches by far: a quarter of the memory at least.
	least := most * LeastShare / b.Fill

	// Process grids that HPCG does not refuse.
	var grids []hpcg.Grid
	for x := 1; x <= ranks; x++ {
		for y := 1; ranks%x == 0 && y <= ranks/x; y++ {
			p := hpcg.DefaultParams(ranks, 16)
			p.Grid = hpcg.Grid{NX: x, NY: y, NZ: ranks / x / y}
			if _, err := p.Complete(); err == nil && p.Grid.Ranks() == ranks {
				grids = append(grids, p.Grid)
			}
		}
	}

	// Sides of boxes, multiples of 8 around the side of the cube with most points: from those of
	// boxes with the least number of points to those of flat ones.
	low := max(int(math.Cbrt(least)/1.25)/8*8, 16)
	high := max(int(math.Cbrt(most)*1.5)/8*8, low)
	step := max(((high-low)/8+mostSizes-1)/mostSizes*8, 8)
	var sides []int
	for n := high; n >= low; n -= step {
		sides = append(sides, n)
	}
	slices.Reverse(sides)

	// Sides have an order, so near boxes are taken to be alike; grids have none.
	side := search.Factor{Levels: len(sides), Ordered: true}
	space = &search.Space{Factors: []search.Factor{{Levels: len(grids)}, side, side, side}}
	for g, grid := range grids {
		for x, nx := range sides {
			for y, ny := range sides {
				for z, nz := range sides {
					points := float64(nx) * float64(ny) * float64(nz)
					p := hpcg.DefaultParams(ranks, nx)
					p.NY, p.NZ, p.Grid = ny, nz, grid
					if _, err := p.Complete(); err != nil || points < least || points > most {
						continue
					}
					space.Points = append(space.Points, []int{g, x, y, z})
					list = append(list, p)
				}
			}
		}
	}
	if len(list) == 0 {
		return nil, nil, nil, fmt.Errorf("%d ranks with memory for %.0f to %.0f points each: HPCG has no process grid and box for"+
			" them (sides are multiples of 8, 16 at least, and none below an eighth of another)", ranks, least, most)
	}
	return space, list, where, nil
}

// WritePrediction writes, for people, which configurations would be searched.
func (b *Boxes) WritePrediction(w io.Writer) error {
	space, list, _, err := b.candidates()
	if err != nil {
		return err
	}
	var t textutil.Table
	t.Row("ranks", textutil.Thousands(list[0].Ranks))
	t.Row("process grids", textutil.Thousands(space.Factors[0].Levels))
	t.Row("configurations", textutil.Thousands(len(list)))
	t.Row("replays", "of few iterations each, within 1 %, of those that may be the best")
	return t.Write(w)
}

// replayBox estimates the rate of a box, or replays it where that costs no more.
func replayBox(ctx context.Context, spec replay.MachineSpec, p *hpcg.Params, seed uint64,
	tool string) (_ boxRun, err error) {
	defer textutil.Stopped(&err)
	var file bytes.Buffer
	if err := hpcg.Generate(ctx, &file, *p, hpcg.Options{Tool: tool}); err != nil {
		return boxRun{}, err
	}
	open := func() (*trace.Trace, error) {
		return trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "HPCG")
	}
	tr := textutil.Must(open())
	defer tr.Close()
	m, o, _, err := replay.LoadMachine(spec, tr)
	if err != nil {
		return boxRun{}, err
	}
	o.Seed = seed
	// The iterations of HPCG are alike, so an estimate of few of them is within the tolerance soon.
	e, err := replay.Sample(ctx, open, m, o, replay.SampleOptions{Tolerance: boxTolerance, Workers: 1})
	if err == nil {
		return boxRun{e.Gflops, e.GflopsInterval, e.Seed != nil}, nil
	}
	if !errors.Is(err, sampling.ErrExact) {
		return boxRun{}, err
	}
	r := textutil.Must(replay.Run(ctx, tr, m, o))
	return boxRun{r.Gflops, 0, r.Seed != nil}, nil
}

// WriteText writes the result for people.
func (r *BoxResult) WriteText(w io.Writer) error {
	name, seeds := "best", "nothing is random"
	switch {
	case r.Stopped:
		name, seeds = "best so far", "one replay of the search"
	case r.FreshSeeds > 0:
		seeds = fmt.Sprintf("mean of %s that the search did not use", textutil.Count(r.FreshSeeds, "seed"))
	}
	cost := fmt.Sprintf("%s of few iterations each", textutil.Count(r.Replays, "replay"))
	if r.User > 0 {
		cost += fmt.Sprintf("; %v of processor time", study.Round(r.User))
	}
	var t, others textutil.Table
	t.Row(name, r.Best.Name)
	t.Row("Gflops", fmt.Sprintf("%.5g ± %.2g, raw; %s", r.Gflops, r.GflopsInterval, seeds))
	t.Row("memory", study.Bytes(int64(r.Best.Memory))+" of a node")
	t.Row("searched", fmt.Sprintf("%s for %s", textutil.Count(r.Configurations, "configuration"),
		textutil.Count(r.Ranks, "rank")))
	t.Row("cost", cost)
	others.Row("configuration", "Gflops", "memory of a node", "behind, %")
	for _, c := range r.Indistinct[:min(len(r.Indistinct), mostListed)] {
		others.Row(c.Name, fmt.Sprintf("%.5g", c.Gflops), study.Bytes(int64(c.Memory)), fmt.Sprintf("%.2f", 100*c.Behind))
	}
	var text strings.Builder
	t.Write(&text) // a Builder takes all
	writeIndistinct(&text, r.Indifference, "", len(r.Indistinct), &others)
	_, err := fmt.Fprintf(w, "%s\nhpcg.dat:\n\n%s", &text, r.Dat)
	return err
}
