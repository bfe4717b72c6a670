package hosts

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// mostNamed is how many members of a class the text report names.
const mostNamed = 8

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %ss, %d days of them\n", r.Processors, r.Model.unit(), r.Days)
	for _, c := range r.Candidates {
		if c.Refused != "" {
			fmt.Fprintf(&b, "  %d classes: refused: %s\n", c.Classes, c.Refused)
		} else {
			fmt.Fprintf(&b, "  %d classes: BIC %.1f\n", c.Classes, c.BIC)
		}
	}
	for i := range r.Classes {
		r.writeClass(&b, i)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeClass(b *strings.Builder, i int) {
	report, class := &r.Classes[i], &r.Model.Classes[i]
	fmt.Fprintf(b, "\n%s: %d %ss, %d days", class.Name, len(report.Members), r.Model.unit(), report.Days)
	if len(r.Classes) > 1 {
		named := report.Members[:min(mostNamed, len(report.Members))]
		fmt.Fprintf(b, ": %s", strings.Join(named, " "))
		if len(named) < len(report.Members) {
			b.WriteString(" ...")
		}
	}
	b.WriteString("\n")
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "  variable\tmean (s)\tstandard error\tsd between %ss\t\tsd between days\t\t\n", r.Model.unit())
	for j, v := range r.Model.Variables {
		mean := class.Mean[j]
		spatial, temporal := deviation(class.Spatial, j), deviation(class.Temporal, j)
		fmt.Fprintf(tab, "  %s\t%.6e\t%.1e\t%.3e\t%s\t%.3e\t%s\t\n", v, mean, report.MeanError[j], spatial,
			percent(spatial, mean), temporal, percent(temporal, mean))
	}
	_ = tab.Flush() // into memory
	for _, n := range report.Noise {
		fmt.Fprintf(b, "  noise of %s: %.2f %% of the time, %s\n", n.Kernel, 100*n.Variation, r.Model.Shape)
	}
	for _, note := range report.Notes {
		fmt.Fprintf(b, "  %s\n", note)
	}
}

func percent(part, whole float64) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f %%", 100*part/math.Abs(whole))
}

// Summary says what was drawn.
type Summary struct {
	Hosts   int            `json:"hosts"`
	Seed    uint64         `json:"seed"`
	Day     int            `json:"day"`
	Redrawn int            `json:"redrawn"` // values out of range that were drawn again
	Classes []ClassSummary `json:"classes"`
}

// ClassSummary says what was drawn of a class.
type ClassSummary struct {
	Name  string          `json:"name"`
	Units int             `json:"units"` // hosts, or CPUs
	Range []VariableRange `json:"variables,omitempty"`
}

// VariableRange says how a variable came out; it is in seconds per unit of the term.
type VariableRange struct {
	Variable string  `json:"variable"`
	Mean     float64 `json:"mean"`
	Least    float64 `json:"least"`
	Most     float64 `json:"most"`
}

// Summary returns what was drawn, class by class.
func (m *Machine) Summary() *Summary {
	s := &Summary{Hosts: m.Options.Hosts, Seed: m.Options.Seed, Day: m.Options.Day}
	for i, class := range m.Model.Classes {
		c := ClassSummary{Name: class.Name}
		var members [][]float64
		for j := range m.Processors {
			if u := &m.Processors[j]; u.Class == i {
				s.Redrawn += u.Attempts
				members = append(members, u.Values)
			}
		}
		if c.Units = len(members); c.Units > 0 {
			for j, v := range m.Model.Variables {
				r := VariableRange{Variable: v.String(), Least: math.Inf(1), Most: math.Inf(-1)}
				for _, x := range members {
					r.Mean += x[j] / float64(len(members))
					r.Least, r.Most = min(r.Least, x[j]), max(r.Most, x[j])
				}
				c.Range = append(c.Range, r)
			}
		}
		s.Classes = append(s.Classes, c)
	}
	return s
}

// WriteText writes the summary for people.
func (s *Summary) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d hosts drawn, seed %d, day %d", s.Hosts, s.Seed, s.Day)
	if s.Redrawn > 0 {
		fmt.Fprintf(&b, "; %d draws below zero were repeated", s.Redrawn)
	}
	b.WriteString("\n")
	for _, c := range s.Classes {
		fmt.Fprintf(&b, "\n%s: %d\n", c.Name, c.Units)
		tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(tab, "  variable\tmean (s)\tleast\tmost\t\n")
		for _, v := range c.Range {
			fmt.Fprintf(tab, "  %s\t%.6e\t%.6e\t%.6e\t\n", v.Variable, v.Mean, v.Least, v.Most)
		}
		_ = tab.Flush() // into memory
	}
	_, err := io.WriteString(w, b.String())
	return err
}
