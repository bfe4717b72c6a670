package report

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/study"
)

// This file writes a report for people: WriteText and WriteHTML, both from the tables of parts.

// Bounds of what is shown.
const (
	shownInText   = 10   // rows of the ranking in text
	shownOnPage   = 1000 // rows of the ranking on a page
	shownTogether = 10   // interactions
	shownParts    = 9    // columns of a table by level; the others are added up
)

func percentOf(v float64) string   { return fmt.Sprintf("%.2f %%", 100*v) }
func signed(effect float64) string { return fmt.Sprintf("%+.2f %%", 100*effect) }

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error { return study.WriteSections(w, r.parts(shownInText)) }

// parts returns the report as tables, with at most so many rows of the ranking.
//
// The tables are, in this order: the ranking of the configurations; the main effect of each level; the
// shares of main effects and interactions; and, by level, the time of the mean rank by kind, the parts
// of the critical path, and POP's efficiencies, the last two if the study asked for them. Ranges have
// no rows by level, since each of their levels stands in one configuration.
func (r *Report) parts(ranked int) []study.Section {
	// A study without factors has a ranking of one configuration, and nothing else to say.
	list := []study.Section{r.ranking(ranked)}
	if len(r.Factors) == 0 {
		return list
	}
	list = append(list, r.mainEffects(), r.shares())
	if !slices.ContainsFunc(r.Factors, func(of Factor) bool { return !of.Range }) {
		return list
	}
	for i, by := range []struct {
		title  string
		names  []string
		times  float64 // from the unit of the values to that of the table
		values func(*Level) []float64
	}{
		{"Time of the mean rank (s), by level", r.Kinds, 1, func(l *Level) []float64 { return l.Seconds }},
		{"Critical path (s), by level", r.PathParts, 1, func(l *Level) []float64 { return l.Path }},
		{"POP's efficiencies (%), by level", r.Efficiencies, 100, func(l *Level) []float64 { return l.POP }},
	} {
		if i > 0 && len(by.names) == 0 {
			continue // the study did not ask for it
		}
		p := study.Section{Title: by.title}
		// A program may have dozens of kernels: the longest ones, or those that came first, have columns.
		shown := min(len(by.names), shownParts)
		head := append([]string{"factor", "level"}, by.names[:shown]...)
		if len(by.names) > shown {
			head = append(head, "the rest")
		}
		p.Row(head...)
		for _, of := range r.Factors {
			for i := range of.Levels {
				if of.Range {
					break
				}
				cells := []string{"", of.Levels[i].Label}
				if i == 0 {
					cells[0] = of.Name
				}
				rest := 0.0
				for k, v := range by.values(&of.Levels[i]) {
					if k < shown {
						cells = append(cells, fmt.Sprintf("%.4g", by.times*v))
					} else {
						rest += by.times * v
					}
				}
				if len(by.names) > shown {
					cells = append(cells, fmt.Sprintf("%.4g", rest))
				}
				p.Row(cells...)
			}
		}
		list = append(list, p)
	}
	return list
}

// ranking returns the quickest configurations.
func (r *Report) ranking(most int) study.Section {
	p := study.Section{Title: fmt.Sprintf("%s: %s, %s, %s", r.Study, textutil.Count(len(r.Ranking), "configuration"),
		textutil.Count(r.Runs, "run"), r.Design)}
	p.Row("configuration", "makespan (s)", "95 %", "Gflops", "behind the best", "")
	// Only those that a larger study may tell apart: exact times that are equal stay so.
	unclear := 0 // others that may be as quick as the best
	for i, of := range r.Ranking {
		interval, told := "not known", "cannot be told from the best"
		switch {
		case of.exact():
			interval = "exact"
		case of.Interval != nil:
			interval = fmt.Sprintf("± %.2g", *of.Interval)
		}
		switch {
		case i == 0:
			told = "the best"
		case of.Told:
			told = ""
		case of.exact() && r.Ranking[0].exact():
			told = "as quick as the best"
		default:
			unclear++
		}
		if i >= max(most, 1) {
			continue
		}
		rate := "–"
		if of.Gflops > 0 {
			rate = fmt.Sprintf("%.5g", of.Gflops)
		}
		p.Row(of.Name, fmt.Sprintf("%.6g", of.Makespan), interval, rate, percentOf(of.Behind), told)
	}
	if more := len(r.Ranking) - max(most, 1); more > 0 {
		p.Note("... and %d more", more)
	}
	if unclear > 0 {
		p.Note("%d cannot be told from the best, which a study of these alone, with more seeds or a smaller"+
			" tolerance, may", unclear)
	}
	if r.PerFlop {
		p.Note("configurations do different work, by the orders of their matrices or their first steps: they are compared" +
			" by the time per flop")
	}
	p.Notes = append(p.Notes, r.Notes...)
	return p
}

// measure names the quantity by which configurations are compared.
func (r *Report) measure() string {
	if r.PerFlop {
		return "time per flop"
	}
	return "makespan"
}

// mainEffects returns the effect of each level; of a range, whose levels are numbers, its ends and the extreme effects.
func (r *Report) mainEffects() study.Section {
	p := study.Section{Title: "Main effects on the " + r.measure() + ", relative to the mean of all"}
	p.Row("factor", "level", "effect", "configurations", "share")
	for _, of := range r.Factors {
		if of.Range {
			number := func(l Level) float64 {
				v, _ := strconv.ParseFloat(l.Label, 64) // the study made the label of a number
				return v
			}
			first, last := of.Levels[0], of.Levels[0]
			low, high := first.Effect, first.Effect
			for _, l := range of.Levels[1:] {
				if number(l) < number(first) {
					first = l
				}
				if number(l) > number(last) {
					last = l
				}
				low, high = min(low, l.Effect), max(high, l.Effect)
			}
			// A row for the whole range, as each of its levels has one configuration.
			p.Row(of.Name, first.Label+" to "+last.Label, fmt.Sprintf("%+.2f to %s", 100*low, signed(high)),
				fmt.Sprint(len(r.Ranking)), percentOf(of.Share))
			continue
		}
		for i, l := range of.Levels {
			name, share := "", ""
			if i == 0 {
				name, share = of.Name, percentOf(of.Share)
			}
			p.Row(name, l.Label, signed(l.Effect), fmt.Sprint(l.Rows), share)
		}
	}
	switch {
	case r.Confounded:
		p.Note("these configurations cannot tell all factors apart: what may be of one factor or of another is given to the" +
			" one that the file has first, and response curves are not drawn")
	case !r.Balanced:
		p.Note("levels do not come together equally often: effects are by least squares, and shares need not add up")
	}
	return p
}

// shares returns the shares of main effects, of the largest interactions, and of the rest.
func (r *Report) shares() study.Section {
	p, several := study.Section{Title: "Shares of the differences between configurations"}, false
	p.Row("by", "share")
	row := func(name string, others []string, share float64) {
		p.Row(strings.Join(append([]string{name}, others...), " or "), percentOf(share))
		several = several || len(others) > 0
	}
	for _, of := range r.Factors {
		row(of.Name, of.Or, of.Share)
	}
	for _, of := range r.Interactions[:min(len(r.Interactions), shownTogether)] {
		row(of.name(), of.Or, of.Share)
	}
	// Interactions of three factors and more, and noise.
	row("the rest", nil, r.Residual)
	if several {
		p.Note("names with \"or\" between are one contrast of these configurations, which cannot tell what is of which")
	}
	return p
}

//go:embed page.html
var pageText string

var pageTemplate = study.NewPage(pageText)

// curve is the response to the levels of a factor: a polyline over their numbers, or over equal
// distances if they have names.
type curve struct {
	Name        string
	Points      []point
	Line        string // coordinates of the polyline
	Zero        float64
	Top, Bottom string // labels of the axis
}

// point is a level of a curve.
type point struct {
	X, Y        float64
	Label, Text string // below the axis, and where a mouse is
}

// Size of a curve's drawing, and the margins, in the units of page.html.
const (
	curveWidth  = 360
	curveHeight = 180
	curveLeft   = 56
	curveEdge   = 24
)

// WriteHTML writes one page that needs nothing else. Where factors are confounded it has no
// curves, which would show effects that may be another factor's.
func (r *Report) WriteHTML(w io.Writer) error {
	page := struct {
		Title, Measure string
		Parts          []study.Section
		Curves         []curve
	}{Title: r.Study, Measure: r.measure(), Parts: r.parts(shownOnPage)}
	if r.Confounded {
		return pageTemplate.Execute(w, page)
	}
	// The page has no script: curves are drawn here, as coordinates of SVG.
	low, high := 0.0, 0.0 // all curves have one scale, which has 0 on it
	for _, of := range r.Factors {
		for _, l := range of.Levels {
			low, high = min(low, l.Effect), max(high, l.Effect)
		}
	}
	if low == high {
		low, high = -0.01, 0.01
	}
	round := func(v float64) float64 { return math.Round(10*v) / 10 }
	y := func(v float64) float64 { return round(curveEdge + (high-v)/(high-low)*(curveHeight-2*curveEdge)) }
	for _, of := range r.Factors {
		c := curve{Name: of.Name, Zero: y(0), Top: fmt.Sprintf("%+.2g %%", 100*high),
			Bottom: fmt.Sprintf("%+.2g %%", 100*low)}
		for i, x := range of.places() {
			l := &of.Levels[i]
			at := point{X: round(curveLeft + x*(curveWidth-curveLeft-curveEdge)), Y: y(l.Effect), Label: l.Label,
				Text: fmt.Sprintf("%s %s: %s", of.Name, l.Label, signed(l.Effect))}
			c.Points = append(c.Points, at)
			c.Line += fmt.Sprintf("%g,%g ", at.X, at.Y)
		}
		page.Curves = append(page.Curves, c)
	}
	return pageTemplate.Execute(w, page)
}

// places returns where the levels stand on an axis from 0 to 1.
func (of *Factor) places() []float64 {
	places := make([]float64, len(of.Levels))
	low, high := math.Inf(1), math.Inf(-1)
	for i := range of.Levels {
		v, err := strconv.ParseFloat(of.Levels[i].Label, 64)
		if err != nil {
			low = high // names
			break
		}
		places[i], low, high = v, min(low, v), max(high, v)
	}
	for i := range places {
		if low < high {
			places[i] = (places[i] - low) / (high - low)
		} else {
			places[i] = float64(i) / float64(max(1, len(places)-1))
		}
	}
	return places
}
