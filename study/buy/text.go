package buy

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/study"
)

// This file writes a result for people: WriteText and WriteHTML, both from the tables of parts.

// gflops writes a rate.
func gflops(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.4g Pflop/s", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.4g Tflop/s", v/1e3)
	}
	return fmt.Sprintf("%.4g Gflop/s", v)
}

// text is a figure with its interval and its share of the peak.
func (f *Figure) text() string {
	if f == nil {
		return "not known yet"
	}
	return fmt.Sprintf("%s (%s), %.3g %% of peak", gflops(f.Gflops), f.interval(), 100*f.Share)
}

func (f *Figure) interval() string {
	if !f.Known {
		return "no interval: " + f.Why
	}
	return gflops(f.Low) + " to " + gflops(f.High)
}

// text is a difference with its interval.
func (d *Difference) text() string {
	switch {
	case d == nil:
		return "not known yet"
	case !d.Known:
		return fmt.Sprintf("%+.1f %% (no interval: %s)", 100*d.Value, d.Why)
	}
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f %%)", 100*d.Value, 100*d.Low, 100*d.High)
}

// Words describes a machine in a sentence.
func (m *Machine) Words() string {
	s := m.sheet
	topology := m.topology
	if topology == "" {
		topology = "one switch"
	}
	return fmt.Sprintf("%s of %d x %d cores, peak %s; %s and %.4g GB/s of memory a node; a port of %.4g Gb/s, %s",
		textutil.Count(s.Nodes, "node"), s.Sockets, s.Cores, gflops(m.Peak), study.Bytes(int64(s.Memory)),
		s.MemoryBandwidth*float64(s.Sockets)/1e9, s.Network*8/1e9, topology)
}

// Answers say what a machine gives, a sentence for each software.
func (m *Machine) Answers() (list []string) {
	of := m.figures()
	for i := 0; i < len(of); i += 2 {
		list = append(list, fmt.Sprintf("%s: %s; HPCG: %s.", of[i].name, of[i].figure.text(), of[i+1].figure.text()))
	}
	return list
}

// shown is the least difference that is printed as more than 0.0 %.
const shown = 0.0005

// Conclusion says which changes matter by more than their interval.
func (m *Machine) Conclusion() string {
	var beyond, within []string
	for _, c := range m.Changes {
		var text []string
		for _, of := range []struct {
			name string
			d    *Difference
		}{{"HPL", c.HPL}, {"HPCG", c.HPCG}} {
			switch {
			case of.d == nil || !of.d.Known:
			case of.d.Low > shown || of.d.High < -shown:
				text = append(text, fmt.Sprintf("%s %+.1f %%", of.name, 100*of.d.Value))
			default:
				within = append(within, c.Name+" ("+of.name+")")
			}
		}
		if text != nil {
			beyond = append(beyond, c.Name+" ("+strings.Join(text, ", ")+")")
		}
	}
	list := func(names []string) string { return cmp.Or(strings.Join(names, "; "), "none") }
	return fmt.Sprintf("Changes that matter by more than their interval: %s. Those that do not: %s.", list(beyond), list(within))
}

// Title names the machines.
func (r *Result) Title() string {
	var names []string
	for i := range r.Machines {
		names = append(names, r.Machines[i].Name)
	}
	return "HPL and HPCG on " + strings.Join(names, ", ")
}

// parts returns the result as tables with a column for each machine.
func (r *Result) parts() []study.Section {
	return []study.Section{r.answers(), r.parameters(), r.changes()}
}

// table begins a part with a column for each machine.
func (r *Result) table(title string) study.Section {
	p := study.Section{Title: title}
	r.row(&p, "", func(m *Machine) string { return m.Name })
	return p
}

// row adds a row with a cell for each machine.
func (r *Result) row(p *study.Section, name string, cell func(*Machine) string) {
	cells := []string{name}
	for i := range r.Machines {
		cells = append(cells, cell(&r.Machines[i]))
	}
	p.Row(cells...)
}

// namesOf returns the names of what any machine has of a kind, each once.
func namesOf[T any](r *Result, of func(*Machine) []T, name func(T) string) (list []string) {
	for i := range r.Machines {
		for _, v := range of(&r.Machines[i]) {
			if !slices.Contains(list, name(v)) {
				list = append(list, name(v))
			}
		}
	}
	return list
}

// answers returns the table of machines and what they give.
func (r *Result) answers() study.Section {
	p := r.table("What they give")
	r.row(&p, "peak", func(m *Machine) string { return gflops(m.Peak) })
	r.row(&p, "ranks", func(m *Machine) string { return textutil.Thousands(m.Ranks) })
	for _, name := range namesOf(r, (*Machine).figures, func(f named) string { return f.name }) {
		known := func(text func(*Figure) string) func(*Machine) string {
			return func(m *Machine) string {
				for _, f := range m.figures() {
					if f.name == name && f.figure != nil {
						return text(f.figure)
					}
				}
				return "–"
			}
		}
		r.row(&p, name, known(func(f *Figure) string { return gflops(f.Gflops) }))
		r.row(&p, fmt.Sprintf("  %.0f %% interval", 100*r.Level), known((*Figure).interval))
		r.row(&p, "  of peak", known(func(f *Figure) string { return fmt.Sprintf("%.3g %%", 100*f.Share) }))
		r.row(&p, "  with", known(func(f *Figure) string { return f.Configuration }))
		if strings.HasPrefix(name, "HPL") {
			r.row(&p, "  time", known(func(f *Figure) string { return study.Round(f.Seconds).String() }))
		}
		r.row(&p, "  power of nodes", known(func(f *Figure) string {
			if f.Watts == 0 {
				return "the sheet says no watts"
			}
			return fmt.Sprintf("%.4g kW, %.3g Gflops/W", f.Watts/1e3, f.GflopsPerWatt)
		}))
	}
	if len(r.Machines) > 1 {
		first := r.Machines[0].Name
		for _, of := range []struct {
			program string
			against func(*Machine) *Difference
		}{{"HPL", func(m *Machine) *Difference { return m.AgainstHPL }}, {"HPCG", func(m *Machine) *Difference { return m.AgainstHPCG }}} {
			r.row(&p, of.program+" against "+first, func(m *Machine) string {
				if m.Name == first {
					return "–"
				}
				return of.against(m).text()
			})
		}
		p.Note("Differences to %s are of machines with the same errors of the models: their intervals are narrower than those of the rates.", first)
	}
	p.Note("Rates and times are as the models say, with the intervals of %.0f %% around them by %d draws. %s", 100*r.Level, r.Draws, r.Covers)
	for i := range r.Machines {
		m := &r.Machines[i]
		if m.Basis != "" {
			p.Note("%s", m.Basis)
		}
		if len(m.Assumed) > 0 {
			p.Note("%s: not in the sheet, and assumed: %s.", m.Name, strings.Join(m.Assumed, "; "))
		}
		if m.Tuned != nil {
			p.Note("%s: the sheet does not say which software. All else here is with typical software.", m.Name)
		}
		for _, w := range m.Warnings {
			p.Note("%s", w.String())
		}
	}
	return p
}

// parameters returns the table of HPL's parameters.
func (r *Result) parameters() study.Section {
	p := r.table("HPL.dat")
	factors := func(m *Machine) []Factor { return m.Factors }
	for _, name := range namesOf(r, factors, func(f Factor) string { return f.Name }) {
		r.row(&p, name, func(m *Machine) string {
			for _, f := range m.Factors {
				switch {
				case f.Name != name:
				case f.Decided:
					return fmt.Sprintf("%s (%s: %s)", f.Value, f.Instead, f.Difference.text())
				case f.Difference != nil && f.Difference.Known:
					return fmt.Sprintf("not decided by these models: %s, or %s: %s", f.Value, f.Instead, f.Difference.text())
				default:
					return fmt.Sprintf("%s so far; %s: %s", f.Value, f.Instead, f.Difference.text())
				}
			}
			return "not searched"
		})
	}
	r.row(&p, "against a usual HPL.dat", func(m *Machine) string {
		switch {
		case m.Replays == 0 && r.Stopped:
			return "not searched: the budget ended before"
		case m.Replays == 0:
			return "not searched"
		}
		return m.AgainstUsual.text()
	})
	r.row(&p, "replays of the search", func(m *Machine) string { return textutil.Thousands(m.Replays) })
	p.Note("In brackets: another value of this parameter, the best that was replayed, with all else the same, and its Gflop/s against the" +
		" best, on the same drawn machines. A parameter is decided if the interval is below 0.")
	for i := range r.Machines {
		if m := &r.Machines[i]; len(m.Edges) > 0 {
			p.Note("%s: the best is at an end of what was searched of %s: beyond it there may be better ones.", m.Name, strings.Join(m.Edges, " and "))
		}
	}
	return p
}

// changes returns the table of what-ifs.
func (r *Result) changes() study.Section {
	p := r.table("What changes bring")
	changes := func(m *Machine) []Change { return m.Changes }
	for _, name := range namesOf(r, changes, func(c Change) string { return c.Name }) {
		for _, of := range []struct {
			program    string
			difference func(*Change) *Difference
		}{{"HPL", func(c *Change) *Difference { return c.HPL }}, {"HPCG", func(c *Change) *Difference { return c.HPCG }}} {
			r.row(&p, name+": "+of.program, func(m *Machine) string {
				for i := range m.Changes {
					switch c := &m.Changes[i]; {
					case c.Name != name:
					case c.Impossible != "":
						return "not possible: " + c.Impossible
					case of.difference(c) == nil:
						return "not replayed: " + cmp.Or(c.Skipped, "the time ended before")
					default:
						return gflops(of.difference(c).Gflops) + ", " + of.difference(c).text()
					}
				}
				return "–"
			})
		}
	}
	p.Note("Each is one change of the machine above, with a usual HPL.dat on both sides and the same memory filled; with other numbers of" +
		" nodes or ranks the grid changes. Slow nodes are among nodes that are otherwise alike; the interval is of nodes that differ" +
		" anyway, which hides a part of what slow ones cost.")
	for i := range r.Machines {
		p.Note("%s: %s", r.Machines[i].Name, r.Machines[i].Conclusion())
	}
	return p
}

// Script returns the commands that give each number, as a script of a shell.
func (r *Result) Script() string {
	var b strings.Builder
	made := map[string]bool{} // machines are made once, by commands that begin with neither of these
	add := func(name string, commands []string) {
		fmt.Fprintf(&b, "# %s\n", name)
		for _, c := range commands {
			if !made[c] {
				b.WriteString(c + "\n")
			}
			made[c] = !strings.HasPrefix(c, "tracegen ") && !strings.HasPrefix(c, "replay ")
		}
	}
	for i := range r.Machines {
		m := &r.Machines[i]
		for _, f := range append(m.figures(), named{name: "HPL, usual HPL.dat", figure: m.Usual}) {
			if f.figure != nil {
				add(m.Name+": "+f.name, f.figure.Commands)
			}
		}
		add(m.Name+": the search for HPL.dat", m.SearchCommand)
		for _, f := range m.Factors {
			if f.Difference != nil {
				add(m.Name+": "+f.Name+" "+f.Instead, f.Difference.Commands)
			}
		}
		for _, c := range m.Changes {
			if c.HPL != nil {
				add(m.Name+": "+c.Name+": HPL", c.HPL.Commands)
			}
			if c.HPCG != nil {
				add(m.Name+": "+c.Name+": HPCG", c.HPCG.Commands)
			}
		}
	}
	return b.String()
}

// few is how many things may be missing of what is nearly complete.
const few = 3

// Unfinished says what is missing, in a sentence; "" if nothing is.
func (r *Result) Unfinished() string {
	if len(r.Missing) == 0 {
		return ""
	}
	if len(r.Missing) <= few {
		return strings.TrimSpace("Complete but for: " + strings.Join(r.Missing, "; ") + ". " + r.Advice)
	}
	return strings.TrimSpace("Stopped before the end. Missing: " + strings.Join(r.Missing, "; ") + ". " + r.Advice)
}

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	for i := range r.Machines {
		m := &r.Machines[i]
		fmt.Fprintf(&b, "%s: %s\n%s\n\n", m.Name, m.Words(), strings.Join(m.Answers(), "\n"))
	}
	if text := r.Unfinished(); text != "" {
		fmt.Fprintf(&b, "%s\n\n", text)
	}
	if err := study.WriteSections(&b, r.parts()); err != nil {
		return err
	}
	return textutil.Write(w, b.String()+scriptTitle+"\n\n"+r.Script())
}

// scriptTitle stands before the script.
const scriptTitle = "Commands that give each number"

//go:embed page.html
var pageText string

var pageTemplate = study.NewPage(pageText)

// WriteHTML writes one page that needs nothing else.
func (r *Result) WriteHTML(w io.Writer) error {
	return pageTemplate.Execute(w, struct {
		*Result
		Parts             []study.Section
		ScriptTitle, Cost string
	}{r, r.parts(), scriptTitle, study.Round(r.Wall).String()})
}
