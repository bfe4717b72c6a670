package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
)

// Rows that are shown: of the ranking in text, and on a page; of interactions.
const (
	shownInText   = 10
	shownOnPage   = 1000
	shownTogether = 10
)

// WriteText writes the findings for people.
func (f *Findings) WriteText(w io.Writer) error {
	for _, part := range f.parts(shownInText) {
		if _, err := fmt.Fprintln(w, part.title); err != nil {
			return err
		}
		if part.table.Len() > 1 {
			if err := part.table.Write(w); err != nil {
				return err
			}
		}
		for _, text := range part.notes {
			if _, err := fmt.Fprintln(w, text); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}

// part is a table with its title and what is to be said of it.
type part struct {
	title string
	table textutil.Table
	notes []string
}

// parts returns the findings as tables.
func (f *Findings) parts(ranked int) []part {
	list := []part{f.ranking(ranked)}
	if len(f.Factors) == 0 {
		return list
	}
	list = append(list, f.mainEffects(), f.together())
	if !slices.ContainsFunc(f.Factors, func(of Factor) bool { return !of.Range }) {
		return list
	}
	list = append(list, f.byLevel("Time of the mean rank (s), by level", f.Kinds, 1,
		func(l *Level) []float64 { return l.Seconds }))
	if len(f.PathParts) > 0 {
		list = append(list, f.byLevel("Critical path (s), by level", f.PathParts, 1,
			func(l *Level) []float64 { return l.Path }))
	}
	if len(f.Efficiencies) > 0 {
		list = append(list, f.byLevel("POP's efficiencies (%), by level", f.Efficiencies, 100,
			func(l *Level) []float64 { return l.POP }))
	}
	return list
}

// ranking returns the quickest configurations.
func (f *Findings) ranking(most int) part {
	p := part{title: fmt.Sprintf("%s: %s, %s, %s", f.Study, textutil.Count(len(f.Ranking), "configuration"),
		textutil.Count(f.Runs, "run"), f.Design)}
	p.table.Row("configuration", "makespan (s)", "95 %", "Gflops", "behind the best", "")
	for i, r := range f.Ranking {
		if i == max(most, 1) {
			p.notes = append(p.notes, fmt.Sprintf("... and %d more", len(f.Ranking)-i))
			break
		}
		interval, told := "not known", "cannot be told from the best"
		switch {
		case r.exact():
			interval = "exact"
		case r.Interval != nil:
			interval = fmt.Sprintf("± %.2g", *r.Interval)
		}
		switch {
		case i == 0:
			told = "the best"
		case r.Told:
			told = ""
		case f.equal(i):
			told = "as quick as the best"
		}
		rate := "–"
		if r.Gflops > 0 {
			rate = fmt.Sprintf("%.5g", r.Gflops)
		}
		p.table.Row(r.Name, fmt.Sprintf("%.6g", r.Makespan), interval, rate, percentOf(r.Behind), told)
	}
	if n := f.unclear(); n > 0 {
		p.notes = append(p.notes, fmt.Sprintf("%d cannot be told from the best, which a study of these alone, with more seeds or a smaller tolerance, may", n))
	}
	if f.PerFlop {
		p.notes = append(p.notes, "configurations do different work, by the orders of their matrices or their first steps: they are compared by the time per flop")
	}
	p.notes = append(p.notes, f.Notes...)
	return p
}

// measure is what configurations are compared by.
func (f *Findings) measure() string {
	if f.PerFlop {
		return "time per flop"
	}
	return "makespan"
}

// equal reports whether a configuration is known to be as quick as the best: both are exact.
func (f *Findings) equal(i int) bool {
	return !f.Ranking[i].Told && f.Ranking[i].exact() && f.Ranking[0].exact()
}

func (r *Ranked) exact() bool { return r.Interval != nil && *r.Interval == 0 }

// unclear returns how many others may be as quick as the best.
func (f *Findings) unclear() int {
	n := 0
	for i := 1; i < len(f.Ranking); i++ {
		if !f.Ranking[i].Told && !f.equal(i) {
			n++
		}
	}
	return n
}

// mainEffects returns what each level does.
func (f *Findings) mainEffects() part {
	p := part{title: "Main effects on the " + f.measure() + ", relative to the mean of all"}
	p.table.Row("factor", "level", "effect", "configurations", "share")
	for _, of := range f.Factors {
		if of.Range {
			p.table.Row(of.Name, of.ends(), of.extremes(), fmt.Sprint(len(f.Ranking)), percentOf(of.Share))
			continue
		}
		for i, l := range of.Levels {
			name, share := "", ""
			if i == 0 {
				name, share = of.Name, percentOf(of.Share)
			}
			p.table.Row(name, l.Label, fmt.Sprintf("%+.2f %%", 100*l.Effect), fmt.Sprint(l.Rows), share)
		}
	}
	switch {
	case f.Confounded:
		p.notes = append(p.notes, "these configurations cannot tell all factors apart: what may be of one factor or of another is given to the one that the file has first, and response curves are not drawn")
	case !f.Balanced:
		p.notes = append(p.notes, "levels do not come together equally often: effects are by least squares, and shares need not add up")
	}
	return p
}

// ends says between which numbers the levels of a range are.
func (of *Factor) ends() string {
	first, last := &of.Levels[0], &of.Levels[0]
	for i := range of.Levels {
		l := &of.Levels[i]
		if l.number() < first.number() {
			first = l
		}
		if l.number() > last.number() {
			last = l
		}
	}
	return fmt.Sprintf("%s to %s", first.Label, last.Label)
}

// number is the number that a level of a range is called.
func (l *Level) number() float64 {
	v, _ := strconv.ParseFloat(l.Label, 64) // the study made it of one
	return v
}

// extremes says between what the effects of the levels are.
func (of *Factor) extremes() string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range of.Levels {
		low, high = min(low, l.Effect), max(high, l.Effect)
	}
	return fmt.Sprintf("%+.2f to %+.2f %%", 100*low, 100*high)
}

// together returns what pairs of factors do beyond that.
func (f *Findings) together() part {
	p, several := part{title: "Shares of the differences between configurations"}, false
	p.table.Row("by", "share")
	for _, of := range f.Factors {
		p.table.Row(orNames(of.Name, of.Or), percentOf(of.Share))
		several = several || len(of.Or) > 0
	}
	for i, of := range f.Interactions {
		if i == shownTogether {
			break
		}
		p.table.Row(orNames(of.name(), of.Or), percentOf(of.Share))
		several = several || len(of.Or) > 0
	}
	p.table.Row("the rest", percentOf(f.Residual))
	if several {
		p.notes = append(p.notes, "names with \"or\" between are one contrast of these configurations, which cannot tell what is of which")
	}
	return p
}

func orNames(name string, others []string) string {
	return strings.Join(append([]string{name}, others...), " or ")
}

// shownParts is how many columns a table by level has; what is behind them is added up.
const shownParts = 9

// byLevel returns means of some values, times so much, with each level.
func (f *Findings) byLevel(title string, names []string, times float64, values func(*Level) []float64) part {
	p := part{title: title}
	shown := min(len(names), shownParts)
	head := append([]string{"factor", "level"}, names[:shown]...)
	if len(names) > shown {
		head = append(head, "the rest")
	}
	p.table.Row(head...)
	for _, of := range f.Factors {
		if of.Range {
			continue
		}
		for i := range of.Levels {
			cells := []string{"", of.Levels[i].Label}
			if i == 0 {
				cells[0] = of.Name
			}
			list, rest := values(&of.Levels[i]), 0.0
			for k, v := range list {
				if k < shown {
					cells = append(cells, fmt.Sprintf("%.4g", times*v))
				} else {
					rest += times * v
				}
			}
			if len(names) > shown {
				cells = append(cells, fmt.Sprintf("%.4g", rest))
			}
			p.table.Row(cells...)
		}
	}
	return p
}

func percentOf(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }
