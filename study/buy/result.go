package buy

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/calibrate/sheet"
	"reprise/study/tune"
	"reprise/trace/warning"
)

// This file makes the result of what was replayed: buyer.result.

// Result is what is known of the machines.
type Result struct {
	Machines  []Machine `json:"machines"`
	Fill      float64   `json:"fill"`
	Tolerance float64   `json:"tolerance"`
	Level     float64   `json:"level"` // of all intervals
	Draws     int       `json:"draws"` // of each interval, where it is complete
	Stopped   bool      `json:"stopped"`
	Missing   []string  `json:"missing"`          // what has not been found out
	Advice    string    `json:"advice,omitempty"` // what that would take
	Covers    string    `json:"covers"`           // what the intervals are of
	tune.Effort
}

// Machine is a candidate.
type Machine struct {
	Name     string            `json:"name"`
	Sheet    string            `json:"sheet"` // the file
	Nodes    int               `json:"nodes"`
	Ranks    int               `json:"ranks"`
	Peak     float64           `json:"peak_gflops"`
	Assumed  []string          `json:"assumed"` // what the sheet leaves out
	Warnings []warning.Warning `json:"warnings"`
	// Basis says why the ranks are not those of the sheet; "": they are.
	Basis string `json:"basis,omitempty"`

	// Software is typical or tuned; "": either, within one interval. If the sheet does not say which it is typical, and
	// Tuned has the figures with tuned software.
	Software string  `json:"software"`
	HPL      *Figure `json:"hpl"`
	HPCG     *Figure `json:"hpcg"`
	Tuned    *Tuned  `json:"tuned_software,omitempty"`

	// AgainstHPL and AgainstHPCG are the differences to the first machine, on the same drawn errors; nil: this is the first.
	AgainstHPL  *Difference `json:"hpl_against_first"`
	AgainstHPCG *Difference `json:"hpcg_against_first"`

	Usual *Figure `json:"hpl_untuned"` // with a usual HPL.dat
	// AgainstUsual is what the search has brought; nil: not known.
	AgainstUsual *Difference `json:"hpl_against_untuned,omitempty"`
	Factors      []Factor    `json:"factors"`
	Changes      []Change    `json:"changes"`

	Search        string   `json:"search"`          // the study that was searched
	SearchCommand []string `json:"search_commands"` // and how
	Replays       int      `json:"search_replays"`
	Edges         []string `json:"edges"` // parameters of which the best value is the first or the last that was searched

	sheet    *sheet.Sheet
	topology string
}

// Tuned has the figures with tuned software.
type Tuned struct {
	HPL  *Figure `json:"hpl"`
	HPCG *Figure `json:"hpcg"`
}

// Figure is the rate of a benchmark.
type Figure struct {
	Configuration string  `json:"configuration"`
	Gflops        float64 `json:"gflops"` // as the models say
	Low           float64 `json:"low"`
	High          float64 `json:"high"`
	Known         bool    `json:"interval"`      // low and high are known
	Why           string  `json:"why,omitempty"` // they are not
	Share         float64 `json:"share_of_peak"`
	Seconds       float64 `json:"makespan_s"`
	Watts         float64 `json:"mean_watts,omitempty"` // 0: the sheet does not say what nodes draw
	GflopsPerWatt float64 `json:"gflops_per_watt,omitempty"`
	Draws         int     `json:"draws"` // of the interval
	// Commands make the machine and give the figure.
	Commands []string `json:"commands"`
}

// Factor is a parameter of HPL.
type Factor struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Instead string `json:"instead"` // the best other value, with all else the same
	// Decided: with the other value the rate is lower on the drawn machines, by more than the interval.
	Decided    bool        `json:"decided"`
	Difference *Difference `json:"difference"` // nil: not known
}

// Change is what another machine would bring.
type Change struct {
	Name       string      `json:"name"`
	HPL        *Difference `json:"hpl"`
	HPCG       *Difference `json:"hpcg"`
	Impossible string      `json:"impossible,omitempty"` // why there is no such machine
	Skipped    string      `json:"skipped,omitempty"`    // why it was not replayed as often as others
}

// Difference is that of a rate to the rate of the best, as a share of it.
type Difference struct {
	Configuration string   `json:"configuration"`
	Gflops        float64  `json:"gflops"`
	Value         float64  `json:"value"` // as the models say
	Low           float64  `json:"low"`
	High          float64  `json:"high"`
	Known         bool     `json:"interval"`      // low and high are known
	Why           string   `json:"why,omitempty"` // they are not
	Draws         int      `json:"draws"`
	Commands      []string `json:"commands"`
}

// result returns what is known.
func (b *buyer) result(stopped bool) *Result {
	r := &Result{Fill: b.Fill, Tolerance: b.Tolerance, Level: b.Level, Draws: b.Draws, Stopped: stopped, Missing: []string{}}
	r.Covers = fmt.Sprintf("%.0f %% of runs are expected within an interval if nothing matters but the errors of the kernels' and the "+
		"network's parameters, which public runs of other machines show, differences between nodes, and the steps that were not "+
		"simulated. An interval of a difference is of the same errors, which both sides share. They say nothing of other load on "+
		"the machine and of what the models leave out.", 100*b.Level)
	missing := func(format string, args ...any) { r.Missing = append(r.Missing, fmt.Sprintf(format, args...)) }
	for i, m := range b.machines {
		of := Machine{Name: m.name, Sheet: b.Sheets[i].File, Nodes: m.sheet.Nodes, Ranks: m.ranks(), Basis: m.basis, Peak: m.peak(),
			Assumed: append([]string{}, m.sheet.Assumed...), Warnings: append([]warning.Warning{}, m.warnings...), Software: m.sheet.Software,
			HPL: m.figure(m.head()), HPCG: m.figure(m.hpcg), Usual: m.figure(m.usual), Factors: []Factor{},
			Changes: []Change{}, Search: m.studyText(m.dir, b), Edges: []string{}, sheet: m.sheet, topology: said(m.text, "topology")}
		of.SearchCommand = append(slices.Clone(m.made), fmt.Sprintf("cat > %s-search.yaml << END\n%sEND", m.name, of.Search),
			fmt.Sprintf("study tune %s-search.yaml --within %g%%", m.name, 100*indifference))
		if m.tuned != nil {
			of.Tuned = &Tuned{m.tuned.figure(m.tuned.head()), m.tuned.figure(m.tuned.hpcg)}
		}
		for _, f := range of.figures() {
			if f.figure == nil {
				missing("%s: %s", m.name, f.name)
			} else if !f.figure.Known {
				missing("%s: the interval of %s", m.name, f.name)
			}
		}
		if i > 0 {
			first := b.machines[0]
			of.AgainstHPL, of.AgainstHPCG = difference(first.head(), m.head()), difference(first.hpcg, m.hpcg)
		}
		switch {
		case m.searched == nil:
			missing("%s: a search for the best NB, grid, broadcast and depth (HPL is with a usual HPL.dat)", m.name)
		case m.cut:
			missing("%s: the end of the search: the best so far", m.name)
		}
		if m.searched != nil {
			of.AgainstUsual = difference(m.usual, m.best)
			of.Replays, of.Edges = len(m.searched.Runs), append(of.Edges, m.searched.Edges...)
		}
		for _, f := range m.factors {
			d := difference(m.best, f.other)
			of.Factors = append(of.Factors, Factor{f.name, f.value, f.instead, d != nil && d.Known && d.High < 0, d})
			if d == nil || !d.Known {
				missing("%s: whether %s is decided", m.name, f.name)
			}
		}
		for _, c := range m.changes {
			change := Change{Name: c.name, Impossible: c.impossible}
			if c.impossible == "" {
				change.HPL, change.HPCG = difference(m.usual, c.hpl), difference(m.hpcg, c.hpcg)
				change.Skipped = cmp.Or(c.hpl.skipped, c.hpcg.skipped)
				what := map[bool]string{true: "", false: "the interval of "}[change.HPL == nil || change.HPCG == nil]
				if what == "" || !change.HPL.Known || !change.HPCG.Known {
					missing("%s: %swhat %s brings (%s)", m.name, what, c.name, cmp.Or(change.Skipped, notYet))
				}
			}
			of.Changes = append(of.Changes, change)
		}
		r.Machines = append(r.Machines, of)
	}
	return r
}

// named is a figure with its name.
type named struct {
	name   string
	figure *Figure
}

// figures returns the answers of a machine by software.
func (m *Machine) figures() []named {
	with := func(name, software string) string {
		if software != "" {
			name += " with " + software + " software"
		}
		return name
	}
	list := []named{{with("HPL", m.Software), m.HPL}, {with("HPCG", m.Software), m.HPCG}}
	if m.Tuned != nil {
		list = append(list, named{with("HPL", "tuned"), m.Tuned.HPL}, named{with("HPCG", "tuned"), m.Tuned.HPCG})
	}
	return list
}

// figure returns the rate of a series as the models say, with the interval by the draws; nil if nothing is known of it.
func (m *machine) figure(s *series) *Figure {
	if s.stated == nil {
		return nil
	}
	f := &Figure{Configuration: s.title, Commands: s.script(), Gflops: rate(s.stated), Seconds: s.stated.Makespan, Draws: s.drawn()}
	if f.Known = f.Draws > 0; f.Known {
		i := s.draws.Gflops
		if s.draws.Rating != nil {
			i = *s.draws.Rating
		}
		f.Low, f.High = min(i.Low, f.Gflops), max(f.Gflops, min(i.High, m.peak()))
	} else {
		f.Why = cmp.Or(s.skipped, notYet)
	}
	f.Share = f.Gflops / m.peak()
	joules := 0.0
	for _, of := range []*float64{s.stated.Joules, s.stated.LinkJoules} {
		if of != nil && *of > 0 { // the sheet says watts
			joules += *of
			f.Watts, f.GflopsPerWatt = joules/f.Seconds, f.Gflops/(joules/f.Seconds)
		}
	}
	return f
}
