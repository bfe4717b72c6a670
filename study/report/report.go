// Package report sums up the results of a study: which configuration is the quickest, which
// others may be as quick, and how much each factor matters.
//
//	r, err := report.Of(plan, results)
//	err = r.WriteText(os.Stdout)
//	err = r.WriteHTML(file)   // one page that needs nothing else
//
// A [Report] is data for JSON; text and page show the same tables (text.go).
//
// # Units
//
// Makespans are in seconds; effects are relative to the geometric mean of all configurations,
// intervals half-widths with 95 % confidence.
//
// # Errors
//
// A study of which no configuration has a result is an error. Configurations without a result are noted in the report.
//
// # Source
//
// Effects: package effects, of logarithms of makespans. Which configurations are slower than the
// best: tests of package compare, corrected by Holm.
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

// maxNotes bounds the notes on configurations without a result.
const maxNotes = 10

// Report is what the results of a study say.
type Report struct {
	Study  string `json:"study"`
	Design string `json:"design"`
	Runs   int    `json:"runs"`

	// PerFlop: configurations do different work, so that times per flop are compared.
	PerFlop bool     `json:"per_flop"`
	Ranking []Ranked `json:"ranking"` // the quickest first
	// Indistinct is how many configurations, the best one included, are not known to be slower than the best.
	Indistinct   int           `json:"indistinct"`
	Factors      []Factor      `json:"factors"`      // those that matter most first
	Interactions []Interaction `json:"interactions"` // likewise
	Residual     float64       `json:"residual"`     // share that neither explains
	Balanced     bool          `json:"balanced"`     // shares add up to 1
	Confounded   bool          `json:"confounded"`   // factors cannot be told apart
	Kinds        []string      `json:"kinds"`        // of time: names of the levels' Seconds
	// PathParts are the names of the levels' Path, the longest first; none if the study did not ask for them.
	PathParts    []string `json:"path_parts"`
	Efficiencies []string `json:"efficiencies"` // names of the levels' POP; none if the study did not ask for them
	Notes        []string `json:"notes"`
}

// Ranked is a configuration in the ranking.
type Ranked struct {
	Name     string   `json:"name"`
	Levels   []int    `json:"levels"`
	Makespan float64  `json:"makespan_s"`
	Interval *float64 `json:"interval_s"` // nil: it is one sample of noise
	Gflops   float64  `json:"gflops"`     // 0: not known, as first steps solve no system
	Behind   float64  `json:"behind"`     // the best, relatively
	// Told: it is slower than the best, with 95 % confidence for all configurations together.
	Told bool `json:"told"`
}

// exact reports whether the makespan has no interval.
func (r *Ranked) exact() bool { return r.Interval != nil && *r.Interval == 0 }

// Factor is the main effect of a factor.
type Factor struct {
	Name   string  `json:"name"`
	Share  float64 `json:"share"`           // of the sum of squares
	Spread float64 `json:"spread"`          // how much slower its slowest level is than its quickest
	Levels []Level `json:"levels"`          // those that occur
	Range  bool    `json:"range,omitempty"` // levels are places of a range: a single one says little
	// Or are interactions that the configurations cannot tell from this effect; their effects are in its share.
	Or []string `json:"or,omitempty"`
}

// Level is the effect of one level, with means over its runs.
type Level struct {
	Label   string    `json:"label"`
	Effect  float64   `json:"effect"` // on the makespan, or on the time per flop, relatively
	Rows    int       `json:"configurations"`
	Seconds []float64 `json:"mean_s"` // of the mean rank, by kind of time
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

// Of reports on the results of a study's plan.
func Of(p *study.Plan, results *study.Results) (*Report, error) {
	r := &Report{Study: p.Study, Design: p.Design, Runs: p.Different(), Notes: []string{}}
	list := p.Configurations(results)
	all := len(list)
	list = slices.DeleteFunc(list, func(c study.Configuration) bool {
		if c.Failed != "" && len(r.Notes) < maxNotes {
			r.Notes = append(r.Notes, c.Name+": "+c.Failed)
		}
		return c.Failed != ""
	})
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no configuration has its results yet", p.Dir())
	}
	if missing := all - len(list); missing > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %s have no result: what is said here is of the others", missing,
			textutil.Count(all, "configuration")))
	}
	compared := list // the configurations with the times by which they are compared
	if r.PerFlop = slices.ContainsFunc(list, func(c study.Configuration) bool { return c.Work != list[0].Work }); r.PerFlop {
		compared = nil
		for i := range list {
			compared = append(compared, list[i].PerGflop())
		}
	}
	r.effects(p, results, compared)
	r.rank(list, compared)
	return r, nil
}

// effects fits the main effects and the interactions, and takes means over the runs of each level.
func (r *Report) effects(p *study.Plan, results *study.Results, list []study.Configuration) {
	kinds := meansOf(p, results, list, func(o *study.Outcome) []study.Part { return o.Kinds })
	path := meansOf(p, results, list, func(o *study.Outcome) []study.Part { return o.Path })
	pop := meansOf(p, results, list, func(o *study.Outcome) []study.Part { return o.POP.Parts() })
	// Parts of the path come with the largest mean that a part has with any level first.
	most := map[string]float64{}
	for level, sums := range path.sum {
		for name, v := range sums {
			most[name] = max(most[name], v/path.runs[level])
		}
	}
	slices.SortStableFunc(path.names, func(a, b string) int { return cmp.Compare(most[b], most[a]) })
	r.Kinds, r.PathParts, r.Efficiencies = kinds.names, path.names, pop.names

	var levels []int
	for _, of := range p.Factors {
		levels = append(levels, len(of.Levels))
	}
	rows, values := make([][]int, len(list)), make([]float64, len(list))
	for i := range list {
		rows[i], values[i] = list[i].Levels, math.Log(list[i].Time.Value())
	}
	// Logarithms: factors of a run's time multiply rather than add, and effects become relative.
	e := effects.Of(levels, rows, values)
	r.Balanced, r.Confounded, r.Residual = e.Balanced, e.Confounded, e.Residual
	for i, of := range e.Factors {
		factor := Factor{Name: p.Factors[i].Name, Share: of.Share, Range: p.Factors[i].Range}
		low, high := math.Inf(1), math.Inf(-1)
		for l, effect := range of.Levels {
			if of.Rows[l] == 0 {
				continue
			}
			low, high = min(low, effect), max(high, effect)
			at := [2]int{i, l}
			factor.Levels = append(factor.Levels, Level{Label: p.Factors[i].Levels[l].Label, Effect: math.Expm1(effect),
				Rows: of.Rows[l], Seconds: kinds.of(at), Path: path.of(at), POP: pop.of(at)})
		}
		factor.Spread = math.Expm1(high - low)
		r.Factors = append(r.Factors, factor)
	}

	// An interaction that is one contrast with a term before it is named there, and has no row of its own.
	first := map[[2]int]effects.Term{}
	for _, group := range e.Aliases {
		for _, t := range group[1:] {
			if len(t) == 2 {
				first[[2]int(t)] = group[0]
			}
		}
	}
	at := map[[2]int]int{} // places of interactions in the report
	for _, of := range e.Interactions {
		i := Interaction{A: p.Factors[of.A].Name, B: p.Factors[of.B].Name, Share: of.Share}
		switch t := first[[2]int{of.A, of.B}]; len(t) {
		case 0:
			at[[2]int{of.A, of.B}] = len(r.Interactions)
			r.Interactions = append(r.Interactions, i)
		case 1:
			r.Factors[t[0]].Or = append(r.Factors[t[0]].Or, i.name())
		default:
			other := &r.Interactions[at[[2]int(t)]]
			other.Or = append(other.Or, i.name())
		}
	}
	slices.SortStableFunc(r.Factors, func(a, b Factor) int { return cmp.Compare(b.Spread, a.Spread) })
	slices.SortStableFunc(r.Interactions, func(a, b Interaction) int { return cmp.Compare(b.Share, a.Share) })
}

// rank sorts the configurations by the times by which they are compared, and tests which are slower than the best.
func (r *Report) rank(list, compared []study.Configuration) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(compared[a].Time.Value(), compared[b].Time.Value())
	})
	best := &compared[order[0]]
	var pairs []compare.Pair
	for _, i := range order[1:] {
		pairs = append(pairs, study.PairOf(compared[i].Name, best, &compared[i]))
	}
	// One family of tests, each against the best: with 95 % confidence none of those that are told
	// is in truth as quick.
	told := compare.Many(pairs, 0)
	for place, i := range order {
		c := &list[i]
		of := Ranked{Name: c.Name, Levels: c.Levels, Makespan: c.Time.Value(), Gflops: c.Gflops.Value(),
			Behind: compared[i].Time.Value()/best.Time.Value() - 1}
		if v := c.Time.Interval(); !math.IsInf(v, 0) {
			of.Interval = &v
		}
		of.Told = place > 0 && told[place-1].Verdict == compare.More
		if !of.Told {
			r.Indistinct++
		}
		r.Ranking = append(r.Ranking, of)
	}
}

// means are means of parts over the runs of each level, which is a pair of numbers: of the factor, and of its level.
type means struct {
	names []string // of the parts of any run, in the order in which they come
	sum   map[[2]int]map[string]float64
	runs  map[[2]int]float64
}

// meansOf takes means of the same parts of all runs.
func meansOf(p *study.Plan, r *study.Results, list []study.Configuration,
	parts func(*study.Outcome) []study.Part) *means {
	m := &means{names: []string{}, sum: map[[2]int]map[string]float64{}, runs: map[[2]int]float64{}}
	for _, c := range list {
		for _, row := range c.Rows {
			of := parts(r.Of(p.Runs[row].ID).Outcome)
			for _, part := range of {
				if !slices.Contains(m.names, part.Name) {
					m.names = append(m.names, part.Name)
				}
			}
			for i, level := range c.Levels {
				at := [2]int{i, level}
				if m.sum[at] == nil {
					m.sum[at] = map[string]float64{}
				}
				m.runs[at]++
				for _, part := range of {
					m.sum[at][part.Name] += part.Seconds
				}
			}
		}
	}
	return m
}

// of returns the means of a level, in the order of the names.
func (m *means) of(level [2]int) []float64 {
	list := make([]float64, len(m.names))
	for i, name := range m.names {
		list[i] = m.sum[level][name] / m.runs[level]
	}
	return list
}
