package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"reprise/internal/textutil"
	"reprise/report/compare"
	"reprise/study"
	"reprise/study/effects"
)

// Findings are what a study has found out.
type Findings struct {
	Study  string `json:"study"`
	Design string `json:"design"`
	Runs   int    `json:"runs"`

	// PerFlop: configurations do different work, so that what is compared are times per flop.
	PerFlop bool     `json:"per_flop"`
	Ranking []Ranked `json:"ranking"` // the quickest first
	// so many of them, the best one included, cannot be told from the best
	Indistinct   int           `json:"indistinct"`
	Factors      []Factor      `json:"factors"`      // those that matter most first
	Interactions []Interaction `json:"interactions"` // likewise
	Residual     float64       `json:"residual"`     // share of what neither explains
	Balanced     bool          `json:"balanced"`     // shares add up to 1
	Confounded   bool          `json:"confounded"`   // factors cannot be told apart
	Kinds        []string      `json:"kinds"`        // of time, of the levels' Seconds
	// of the levels' Path, the longest first; none if the study did not ask
	PathParts    []string `json:"path_parts"`
	Efficiencies []string `json:"efficiencies"` // POP's, of the levels' POP; none if the study did not ask
	Notes        []string `json:"notes"`
}

// Ranked is a configuration.
type Ranked struct {
	Name     string   `json:"name"`
	Levels   []int    `json:"levels"`
	Makespan float64  `json:"makespan_s"`
	Interval *float64 `json:"interval_s"` // nil: it is one draw of noise
	Gflops   float64  `json:"gflops"`     // 0: not known, as first steps solve no system
	Behind   float64  `json:"behind"`     // the best, relatively
	// Told: it is slower than the best, with 95 % confidence for all of them together.
	Told bool `json:"told"`
}

// Factor is what the levels of a factor do.
type Factor struct {
	Name   string  `json:"name"`
	Share  float64 `json:"share"`  // of the sum of squares
	Spread float64 `json:"spread"` // how much slower its slowest level is than its quickest
	Levels []Level `json:"levels"`
	Range  bool    `json:"range,omitempty"` // levels are places of a range, of which each says little
	// Or are interactions that the configurations cannot tell from it: what they do is in its share.
	Or []string `json:"or,omitempty"`
}

// Level is what one level does.
type Level struct {
	Label   string    `json:"label"`
	Effect  float64   `json:"effect"` // on the makespan, or on the time per flop, relatively
	Rows    int       `json:"configurations"`
	Seconds []float64 `json:"mean_s"` // by kind of time, of the mean rank: means over its runs, as are the others
	Path    []float64 `json:"path_s"` // by part of the critical path
	POP     []float64 `json:"pop"`    // by efficiency
}

// Interaction is what two factors do together beyond what each does.
type Interaction struct {
	A     string   `json:"a"`
	B     string   `json:"b"`
	Share float64  `json:"share"`
	Or    []string `json:"or,omitempty"` // others that the configurations cannot tell from it
}

func (i *Interaction) name() string { return i.A + " with " + i.B }

// Of finds out what the results of a study's plan say.
func Of(p *study.Plan, r *study.Results) (*Findings, error) {
	f := &Findings{Study: p.Study, Design: p.Design, Runs: p.Different(), Notes: []string{}}
	list := p.Configurations(r)
	all := len(list)
	list = slices.DeleteFunc(list, func(c study.Configuration) bool {
		if c.Failed != "" && len(f.Notes) < maxNotes {
			f.Notes = append(f.Notes, c.Name+": "+c.Failed)
		}
		return c.Failed != ""
	})
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no configuration has its results yet", p.Dir())
	}
	if missing := all - len(list); missing > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %s have no result: what is said here is of the others", missing,
			textutil.Count(all, "configuration")))
	}
	compared := f.compared(list)
	f.effects(p, compared)
	f.times(p, r, list)
	f.rank(list, compared)
	return f, nil
}

// compared returns the configurations by what they are compared by.
func (f *Findings) compared(list []study.Configuration) []study.Configuration {
	f.PerFlop = slices.ContainsFunc(list, func(c study.Configuration) bool { return c.Work != list[0].Work })
	if !f.PerFlop {
		return list
	}
	var of []study.Configuration
	for i := range list {
		of = append(of, list[i].PerGflop())
	}
	return of
}

const maxNotes = 10

// rank sorts the configurations by what they are compared by and tells which may as well be the
// best.
func (f *Findings) rank(list, compared []study.Configuration) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a,
		b int) int {
		return cmp.Compare(compared[a].Time.Value(), compared[b].Time.Value())
	})
	best := &compared[order[0]]
	var pairs []compare.Pair
	for _, i := range order[1:] {
		pairs = append(pairs, study.PairOf(compared[i].Name, best, &compared[i]))
	}
	told := compare.Many(pairs, 0)
	for place, i := range order {
		c := &list[i]
		r := Ranked{Name: c.Name, Levels: c.Levels, Makespan: c.Time.Value(), Gflops: c.Gflops.Value(),
			Behind: compared[i].Time.Value()/best.Time.Value() - 1}
		if v := c.Time.Interval(); !math.IsInf(v, 0) {
			r.Interval = &v
		}
		r.Told = place > 0 && told[place-1].Verdict == compare.More
		if !r.Told {
			f.Indistinct++
		}
		f.Ranking = append(f.Ranking, r)
	}
}

// effects finds how what is compared depends on the factors.
func (f *Findings) effects(p *study.Plan, list []study.Configuration) {
	var levels []int
	for _, of := range p.Factors {
		levels = append(levels, len(of.Levels))
	}
	rows, values := make([][]int, len(list)), make([]float64, len(list))
	for i := range list {
		rows[i], values[i] = list[i].Levels, math.Log(list[i].Time.Value())
	}
	e := effects.Of(levels, rows, values)
	f.Balanced, f.Confounded, f.Residual = e.Balanced, e.Confounded, e.Residual
	for i, of := range e.Factors {
		factor := Factor{Name: p.Factors[i].Name, Share: of.Share, Range: p.Factors[i].Range}
		low, high := math.Inf(1), math.Inf(-1)
		for l, effect := range of.Levels {
			if of.Rows[l] == 0 {
				continue
			}
			low, high = min(low, effect), max(high, effect)
			factor.Levels = append(factor.Levels,
				Level{Label: p.Factors[i].Levels[l].Label, Effect: math.Expm1(effect), Rows: of.Rows[l]})
		}
		factor.Spread = math.Expm1(high - low)
		f.Factors = append(f.Factors, factor)
	}
	f.interactions(p, e)
}

// interactions takes those that are contrasts of their own, and names others with what they are one
// contrast with.
func (f *Findings) interactions(p *study.Plan, e *effects.Effects) {
	first := map[[2]int]effects.Term{} // what an interaction cannot be told from
	for _, group := range e.Aliases {
		for _, t := range group[1:] {
			if len(t) == 2 {
				first[[2]int(t)] = group[0]
			}
		}
	}
	at := map[[2]int]int{}
	for _, of := range e.Interactions {
		i := Interaction{A: p.Factors[of.A].Name, B: p.Factors[of.B].Name, Share: of.Share}
		switch t := first[[2]int{of.A, of.B}]; len(t) {
		case 0:
			at[[2]int{of.A, of.B}] = len(f.Interactions)
			f.Interactions = append(f.Interactions, i)
		case 1:
			f.Factors[t[0]].Or = append(f.Factors[t[0]].Or, i.name())
		default:
			other := &f.Interactions[at[[2]int(t)]]
			other.Or = append(other.Or, i.name())
		}
	}
}

// times finds on what the mean rank and the critical path spend their time with each level, and
// POP's efficiencies.
func (f *Findings) times(p *study.Plan, r *study.Results, list []study.Configuration) {
	kinds := meansOf(p, r, list, func(o *study.Outcome) []study.Part { return o.Kinds })
	path := meansOf(p, r, list, func(o *study.Outcome) []study.Part { return o.Path })
	pop := meansOf(p, r, list, func(o *study.Outcome) []study.Part { return o.POP.Parts() })
	path.longestFirst()
	f.Kinds, f.PathParts, f.Efficiencies = kinds.names, path.names, pop.names
	for i := range f.Factors {
		for j := range f.Factors[i].Levels {
			l := &f.Factors[i].Levels[j]
			key := [2]string{f.Factors[i].Name, l.Label}
			l.Seconds, l.Path, l.POP = kinds.of(key), path.of(key), pop.of(key)
		}
	}
	slices.SortStableFunc(f.Factors, func(a, b Factor) int { return descending(a.Spread, b.Spread) })
	slices.SortStableFunc(f.Interactions, func(a, b Interaction) int { return descending(a.Share, b.Share) })
}

func descending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}
