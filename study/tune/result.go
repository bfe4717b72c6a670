package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/atomicfile"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/report/compare"
	"reprise/study"
	"reprise/study/search"
	"reprise/tracegen/hpl"
)

const (
	// decidingRuns is how many real runs are proposed.
	decidingRuns = 3

	// alike is a relative difference of two makespans: configurations that differ by less do the same, such as HPL's
	// swap "mix" where all swaps are long. A real run of the second would decide nothing.
	alike = 1e-4

	// mostListed is how many of Indistinct the text lists.
	mostListed = 12
)

// This file judges what a search has found: tuner.result makes the Result, Result.WriteText its text.

// Result is the result of tuning.
type Result struct {
	Configurations int     `json:"configurations"` // in the plan
	N              int     `json:"n"`
	Stopped        bool    `json:"stopped"` // before the search has ended: the best so far
	Best           Choice  `json:"best"`
	Gflops         float64 `json:"gflops"`          // of the best, mean of replays with fresh seeds
	GflopsInterval float64 `json:"gflops_interval"` // half-width, with 95 % confidence
	FreshSeeds     int     `json:"fresh_seeds"`     // 0: Gflops is of the search's own replay, which chance may flatter

	// Indistinct are the configurations, the best first, that are not shown to be slower than the best by more than
	// Indifference, with 95 % confidence for all of them together.
	Indistinct   []Choice `json:"indistinct"`
	Indifference float64  `json:"indifference"`
	Deciding     []Choice `json:"deciding"` // real runs of these would decide
	// Edges are the factors, of three or more ordered levels, of which the best has the first or the last: a level
	// beyond it may be better.
	Edges []string `json:"edges"`

	Runs  []Replay `json:"runs"`  // in the order in which they were made
	Known int      `json:"known"` // of these, those that were known from before
	Share float64  `json:"share"` // of the messages that exact replays of all configurations would simulate
	Effort
	Dat     string `json:"hpl_dat"`            // the best, for HPL
	HPCGDat string `json:"hpcg_dat,omitempty"` // the best, for HPCG
}

// Choice is a configuration with what the search knows of it.
type Choice struct {
	Name     string  `json:"name"`
	Makespan float64 `json:"makespan_s"`
	Interval float64 `json:"interval_s"` // half-width of the estimate; 0: it was replayed exactly
	Gflops   float64 `json:"gflops"`
	Behind   float64 `json:"behind"` // the best, as a share

	params hpl.Params
	weight float64 // what func weight returns for it; 0: 1
}

// Replay is a replay that the search made.
type Replay struct {
	Configuration string  `json:"configuration"`
	Tolerance     float64 `json:"tolerance"` // that the search asked for
	Seed          uint64  `json:"seed"`
	PivotSeed     uint64  `json:"pivot_seed"`
	Makespan      float64 `json:"makespan_s"`
	Interval      float64 `json:"interval_s"`
	Messages      int64   `json:"messages"`

	cost float64 // as the plan estimates it
}

// result makes the result of a search: found has its points, last the outcome of each row, fresh
// those of the best with other seeds, none if the search was stopped.
func (t *tuner) result(found []search.Point, last map[int]*study.Outcome, fresh []*study.Outcome) *Result {
	best := found[0]
	t.mu.Lock()
	r := &Result{Configurations: len(t.plan.Runs), Stopped: len(fresh) == 0, FreshSeeds: len(fresh),
		Indifference: t.Indifference, Runs: slices.Clone(t.list), Known: t.known, Edges: edges(t.plan, best.Index)}
	t.mu.Unlock()
	if run := t.plan.Config(best.Index).Run; run.HPL != nil {
		var b strings.Builder
		_ = run.HPL.WriteDat(&b) // a Builder takes all
		r.N, r.Dat = run.HPL.N, b.String()
	} else if run.HPCG != nil {
		r.HPCGDat = boxDat(run.HPCG)
	}
	// The share is by messages, which do not depend on the load of this machine, as times do.
	made, all := 0.0, 0.0
	for _, of := range t.list {
		made += of.cost
	}
	for i := range t.plan.Runs {
		all += study.CostOf(t.plan.Config(i).Run, 0)
	}
	r.Share = made / all

	// The interval of the best's rate has two parts: the scatter of the seeds, which a mean over seeds makes
	// smaller, and the interval of each replay, which it is not taken to.
	var times, gflops []float64
	estimate := 0.0 // mean relative half-width of a replay
	for _, o := range fresh {
		times, gflops = append(times, o.Makespan), append(gflops, o.Gflops)
		estimate += o.Interval / o.Makespan / float64(len(fresh))
	}
	top, scatter := last[best.Index], 0.0
	r.Gflops, r.GflopsInterval = top.Gflops, top.GflopsInterval
	if !r.Stopped {
		f := compare.MeanFigure(gflops)
		r.Gflops = f.Value()
		r.GflopsInterval = math.Hypot(f.Interval(), estimate*f.Value())
		one := compare.MeanFigure(times)
		scatter = one.Interval() * math.Sqrt(float64(len(times))) / one.Value() // relative half-width of the time of one seed
	}

	// The points that were measured as well as the best was, the best first.
	var list []Choice
	for _, p := range found {
		if p.Value.Interval > 0 && p.Tolerance > best.Tolerance {
			continue
		}
		// The search has times that are comparable; those that are shown are as replayed.
		w := weight(t.plan, p.Index)
		c := Choice{Name: t.plan.Levels(p.Index), Makespan: p.Value.Seconds / w, Interval: p.Value.Interval / w,
			Gflops: last[p.Index].Gflops, Behind: p.Value.Seconds/best.Value.Seconds - 1, weight: w}
		if h := t.plan.Config(p.Index).Run.HPL; h != nil {
			c.params = *h
		}
		list = append(list, c)
	}
	r.rank(list, scatter)
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

// rank sets Best, Indistinct and Deciding from the list of choices, the best first. scatter is the relative scatter of
// the time from seed to seed: a time is known to within its own interval and this scatter, which add up as squares. The
// tests are those of package compare, of each choice against the first, with the indifference as threshold.
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
	// The best is among those that may be the best; its capacity is cut so that the append copies.
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

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error {
	if r.Best.Name == "" {
		_, err := fmt.Fprintf(w, "%s to search, of which no replay has ended yet\n", textutil.Count(r.Configurations, "configuration"))
		return err
	}
	searched := textutil.Count(r.Configurations, "configuration")
	if r.N > 0 {
		searched += " for N = " + textutil.Thousands(r.N)
	}
	// Replays with fresh seeds are the last of Runs, and have a line of their own.
	count := map[float64]int{} // replays of the search, by tolerance
	for _, made := range r.Runs[:len(r.Runs)-r.FreshSeeds] {
		if made.Interval == 0 { // an estimate would not have paid
			made.Tolerance = 0
		}
		count[made.Tolerance]++
	}
	var replays []string
	for _, tolerance := range slices.Backward(slices.Sorted(maps.Keys(count))) {
		replays = append(replays, fmt.Sprintf("%d %s", count[tolerance], ToleranceName(tolerance)))
	}
	seeds, name := "one replay of the search", "best so far"
	if !r.Stopped {
		seeds = fmt.Sprintf("mean of %s that the search did not use", textutil.Count(r.FreshSeeds, "seed"))
		name = "best"
		replays = append(replays, fmt.Sprintf("%d of the best with other seeds", r.FreshSeeds))
	}
	cost := fmt.Sprintf("%.1f %% of what exact replays of all would cost", 100*r.Share)
	if r.User > 0 {
		cost += fmt.Sprintf("; now %v of processor time", study.Round(r.User))
	}
	if r.Known > 0 {
		cost += fmt.Sprintf(" (%d of the runs were known from before)", r.Known)
	}
	var t textutil.Table
	t.Row(name, r.Best.Name)
	t.Row("Gflops", r.rate()+", "+seeds)
	t.Row("searched", searched)
	t.Row("replays", strings.Join(replays, ", "))
	t.Row("cost", cost)
	var text strings.Builder
	t.Write(&text) // a Builder takes all

	var others textutil.Table
	others.Row("configuration", "makespan, s", "±, s", "Gflops", "behind, %")
	for _, c := range r.Indistinct[:min(len(r.Indistinct), mostListed)] {
		others.Row(c.Name, fmt.Sprintf("%.5g", c.Makespan), fmt.Sprintf("%.2g", c.Interval), fmt.Sprintf("%.5g", c.Gflops),
			fmt.Sprintf("%.2f", 100*c.Behind))
	}
	if len(r.Indistinct) == 1 {
		fmt.Fprintf(&text, "\nEach other that was replayed is slower by more than %.3g %%.\n", 100*r.Indifference)
	} else {
		fmt.Fprintf(&text, "\nNot slower than the best by more than %.3g %%, as far as can be told (95 %% for all together): %d, the "+
			"best included\n\n", 100*r.Indifference, len(r.Indistinct))
		others.Write(&text)
	}

	var names []string
	for _, c := range r.Deciding {
		names = append(names, c.Name)
	}
	if len(names) == 1 {
		text.WriteString("\nNo other was replayed that would be worth a real run.\n")
	} else {
		text.WriteString("\nReal runs that would decide: " + strings.Join(names, "; ") + ".\n")
	}
	if len(r.Edges) > 0 {
		fmt.Fprintf(&text, "\nThe best is at an end of what was searched of %s: beyond it there may be better ones.\n",
			strings.Join(r.Edges, " and "))
	}
	if name, dat := r.BestFile(); dat != "" {
		text.WriteString("\n" + name + ":\n\n" + dat)
	}
	return textutil.Write(w, text.String())
}

// rate returns the Gflop/s of the best, with their interval.
func (r *Result) rate() string {
	return fmt.Sprintf("%.5g ± %.2g (± %.2g %%)", r.Gflops, r.GflopsInterval, 100*r.GflopsInterval/r.Gflops)
}

// Line says in one line what the best is.
func (r *Result) Line() string {
	return fmt.Sprintf("best so far: %s, %s Gflop/s", r.Best.Name, r.rate())
}

const (
	// resultFile is the file of a search's directory that has its result, or the best so far.
	resultFile = "tuned.json"
	mostResult = 64 << 20 // bytes of it
)

// Save writes the result, or the best so far, into the directory of the search.
func (r *Result) Save(dir string) error {
	return atomicfile.Replace(filepath.Join(dir, resultFile), func(w io.Writer) error { return json.NewEncoder(w).Encode(r) })
}

// Open returns the result in the directory of a search; nil if it is none.
func Open(dir string) (*Result, error) {
	path := filepath.Join(dir, resultFile)
	text, err := regular.Read(path, mostResult)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := &Result{}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(r.Runs) < r.FreshSeeds || r.FreshSeeds < 0 {
		return nil, fmt.Errorf("%s: %d replays, of which %d with fresh seeds", path, len(r.Runs), r.FreshSeeds)
	}
	return r, nil
}

// BestFile returns the input file of the best, with its usual name; "" for other programs.
func (r *Result) BestFile() (name, text string) {
	if r.Dat != "" || r.HPCGDat == "" {
		return "HPL.dat", r.Dat
	}
	return "hpcg.dat", r.HPCGDat
}
