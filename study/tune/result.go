package tune

import (
	"math"

	"reprise/report/compare"
	"reprise/study"
	"reprise/study/search"
	"reprise/tracegen/hpl"
	"reprise/tracegen/programs"
)

// Result is what tuning has found.
type Result struct {
	Configurations int     `json:"configurations"` // that came into question
	N              int     `json:"n"`
	Best           Choice  `json:"best"`
	Gflops         float64 `json:"gflops"`          // of the best, mean of replays with fresh seeds
	GflopsInterval float64 `json:"gflops_interval"` // half-width, with 95 % confidence
	FreshSeeds     int     `json:"fresh_seeds"`

	// Indistinct are those, the best first, that cannot be told from the best: they are not slower by
	// more than Indifference, with 95 % confidence for all of them together.
	Indistinct   []Choice `json:"indistinct"`
	Indifference float64  `json:"indifference"`
	Deciding     []Choice `json:"deciding"` // real runs of these would decide
	// Edges are the factors of which the best has the first or the last level, of three or more that
	// have an order: beyond them there may be better ones.
	Edges []string `json:"edges"`

	Runs  []Replay `json:"runs"`    // in the order in which they were made
	Known int      `json:"known"`   // of these, those that were known from before
	Share float64  `json:"share"`   // of the messages that exact replays of all configurations would simulate
	User  float64  `json:"user_s"`  // time of processors that the search took; 0: not known
	Wall  float64  `json:"wall_s"`  // time that it took
	Dat   string   `json:"hpl_dat"` // the best, for HPL
	// HPCGDat is the best for HPCG.
	HPCGDat string `json:"hpcg_dat,omitempty"`
}

// Choice is a configuration with what the search knows of it.
type Choice struct {
	Name     string  `json:"name"`
	Makespan float64 `json:"makespan_s"`
	Interval float64 `json:"interval_s"` // half-width of the estimate; 0: it was replayed exactly
	Gflops   float64 `json:"gflops"`
	Behind   float64 `json:"behind"` // the best, as a share

	params hpl.Params
	weight float64 // what its time is multiplied by to compare it; 0: 1
}

// Replay is one that was made.
type Replay struct {
	Configuration string  `json:"configuration"`
	Tolerance     float64 `json:"tolerance"` // that was asked for
	Seed          uint64  `json:"seed"`
	PivotSeed     uint64  `json:"pivot_seed"`
	Makespan      float64 `json:"makespan_s"`
	Interval      float64 `json:"interval_s"`
	Messages      int64   `json:"messages"`

	cost float64 // by the plan
}

func (t *tuner) replayOf(j job, e *study.Entry) Replay {
	cost := j.config.Cost(j.options.Tolerance)
	if e.Outcome.Interval == 0 {
		cost = j.config.Cost(0)
	}
	pivots := uint64(0)
	if r := hplOf(j.config); r != nil {
		pivots = r.Pivots.Seed
	}
	return Replay{t.plan.Levels(j.row), j.options.Tolerance, j.options.Seed, pivots, e.Outcome.Makespan,
		e.Outcome.Interval, e.Outcome.Messages, cost}
}

// result puts together what was found.
func (t *tuner) result(found *search.Found, fresh []*study.Entry) *Result {
	best := t.plan.Config(found.Points[0].Index)
	r := &Result{
		Configurations: len(t.plan.Runs), FreshSeeds: len(fresh), Indifference: t.Indifference,
		Runs: t.list, Known: t.known, Share: t.share(), Edges: edges(t.plan, found.Points[0].Index),
	}
	switch run := best.Run.(type) {
	case *programs.HPL:
		r.N, r.Dat = run.N, datOf(&run.Params)
	case *programs.HPCG:
		r.HPCGDat = boxDat(&run.Params)
	}
	scatter := r.rate(fresh)
	r.rank(t.choices(found), scatter)
	return r
}

// edges returns the factors of which a row has the first or the last level.
func edges(p *study.Plan, row int) []string {
	list := []string{}
	for f, factor := range p.Factors {
		rank, ordered := order(factor.Levels)
		if at := rank[p.Runs[row].Levels[f]]; ordered && len(rank) > 2 && (at == 0 || at == len(rank)-1) {
			list = append(list, factor.Name)
		}
	}
	return list
}

// rate sets the Gflops of the best by its fresh seeds, and returns the relative half-width of
// the interval in which the time of one seed is.
func (r *Result) rate(fresh []*study.Entry) float64 {
	var times, gflops []float64
	estimate := 0.0 // relative half-width that each of them has
	for _, e := range fresh {
		times, gflops = append(times, e.Outcome.Makespan), append(gflops, e.Outcome.Gflops)
		estimate += e.Outcome.Interval / e.Outcome.Makespan / float64(len(fresh))
	}
	f := compare.MeanFigure(gflops)
	r.Gflops = f.Value()
	r.GflopsInterval = math.Hypot(f.Interval(), estimate*f.Value())
	one := compare.MeanFigure(times)
	return one.Interval() * math.Sqrt(float64(len(times))) / one.Value()
}

// choices returns the points that were measured as well as the best was, the best first.
func (t *tuner) choices(found *search.Found) []Choice {
	var list []Choice
	best := found.Points[0]
	for _, p := range found.Points {
		if p.Value.Interval > 0 && p.Tolerance > best.Tolerance {
			continue
		}
		w := weight(t.plan, p.Index)
		c := Choice{Name: t.plan.Levels(p.Index), Makespan: p.Value.Seconds / w, Interval: p.Value.Interval / w,
			Gflops: t.entries[p.Index].Outcome.Gflops, weight: w}
		if r := hplOf(t.plan.Config(p.Index)); r != nil {
			c.params = r.Params
		}
		c.Behind = p.Value.Seconds/best.Value.Seconds - 1
		list = append(list, c)
	}
	return list
}

// decidingRuns is how many real runs are proposed.
const decidingRuns = 3

// rank finds those that cannot be told from the best, where the time of one seed scatters so much.
func (r *Result) rank(list []Choice, scatter float64) {
	r.Best = list[0]
	figure := func(c *Choice) compare.Figure {
		seconds, interval := c.Makespan, c.Interval
		if c.weight != 0 {
			seconds, interval = c.weight*seconds, c.weight*interval
		}
		if width := math.Hypot(interval, scatter*seconds); width > 0 {
			return compare.EstimatedFigure(seconds, width)
		}
		return compare.ExactFigure(seconds)
	}
	var pairs []compare.Pair
	for i := range list[1:] {
		pairs = append(pairs, compare.Pair{Name: list[i+1].Name, A: figure(&list[0]), B: figure(&list[i+1])})
	}
	r.Indistinct = list[:1:1]
	for i, j := range compare.Many(pairs, r.Indifference) {
		if !j.Worse {
			r.Indistinct = append(r.Indistinct, list[i+1])
		}
	}
	for i := range list {
		if n := len(r.Deciding); n < decidingRuns && (n == 0 || list[i].Makespan > (1+alike)*r.Deciding[n-1].Makespan) {
			r.Deciding = append(r.Deciding, list[i])
		}
	}
}

// alike is how near two times are of configurations that do the same, such as a swap that is mixed
// where all are long.
const alike = 1e-4

// share returns the share of the cost of all exact replays.
func (t *tuner) share() float64 {
	made, all := 0.0, 0.0
	for _, r := range t.list {
		made += r.cost
	}
	for i := range t.plan.Runs {
		all += t.plan.Config(i).Cost(0)
	}
	return made / all
}
