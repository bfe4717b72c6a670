package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the page shows.
type page struct {
	Title   string
	Measure string
	Parts   []pagePart
	Curves  []curve
}

type pagePart struct {
	Title string
	Head  []string
	Rows  [][]string
	Notes []string
}

// curve is the response to the levels of a factor: a polyline where they are numbers, in their
// places, else one place each.
type curve struct {
	Name   string
	Points []point
	Line   string // of the polyline
	Zero   float64
	Top    string // labels of the axis
	Bottom string
}

type point struct {
	X, Y  float64
	Label string
	Text  string
}

// Size of a curve's drawing, and the margins, in its units.
const (
	curveWidth  = 360
	curveHeight = 180
	curveLeft   = 56
	curveEdge   = 24
)

// WriteHTML writes one page that needs nothing else.
func (f *Findings) WriteHTML(w io.Writer) error {
	p := page{Title: f.Study, Measure: f.measure()}
	for _, of := range f.parts(shownOnPage) {
		rows := of.table.Rows()
		p.Parts = append(p.Parts, pagePart{of.title, rows[0], rows[1:], of.notes})
	}
	if !f.Confounded { // else a curve would show what may be of another factor
		low, high := f.extent()
		for i := range f.Factors {
			p.Curves = append(p.Curves, f.Factors[i].curve(low, high))
		}
	}
	return pageTemplate.Execute(w, p)
}

// extent returns the smallest and the largest effect, with 0 between: all curves have one scale.
func (f *Findings) extent() (low, high float64) {
	for _, of := range f.Factors {
		for _, l := range of.Levels {
			low, high = min(low, l.Effect), max(high, l.Effect)
		}
	}
	if low == high {
		return -0.01, 0.01
	}
	return low, high
}

// curve draws the effects of a factor on the scale from low to high.
func (of *Factor) curve(low, high float64) curve {
	y := func(v float64) float64 { return round(curveEdge + (high-v)/(high-low)*(curveHeight-2*curveEdge)) }
	c := curve{Name: of.Name, Zero: y(0), Top: fmt.Sprintf("%+.2g %%", 100*high), Bottom: fmt.Sprintf("%+.2g %%", 100*low)}
	for i, x := range of.places() {
		l := &of.Levels[i]
		at := point{X: round(curveLeft + x*(curveWidth-curveLeft-curveEdge)), Y: y(l.Effect), Label: l.Label,
			Text: fmt.Sprintf("%s %s: %+.2f %%", of.Name, l.Label, 100*l.Effect)}
		c.Points = append(c.Points, at)
		c.Line += fmt.Sprintf("%g,%g ", at.X, at.Y)
	}
	return c
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

func round(v float64) float64 { return math.Round(10*v) / 10 }
