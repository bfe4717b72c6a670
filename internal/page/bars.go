package page

import (
	"image/color"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// Bars is a plot of stacked bars: Values[i][k] is the height of layer i of bar k.
type Bars struct {
	Title, Y      string
	Names, Layers []string
	Values        []plotter.Values
}

// Write draws the bars as name.svg in a directory, the first layer at the bottom. With
// several layers a legend in the same order stands on the right.
func (b Bars) Write(dir, name string) error {
	p := frame(b.Title, b.Y)
	charts, err := b.charts()
	if err != nil {
		return err
	}
	for _, chart := range charts {
		p.Add(chart)
	}
	p.NominalX(b.Names...)
	setTicks(&p.Y, evenTicks(p.Y.Max))
	if len(charts) > 1 {
		p.Legend.Top = true
		p.X.Max += float64(len(b.Names)) // room for the legend
		for i := len(charts) - 1; i >= 0; i-- {
			p.Legend.Add(b.Layers[i], charts[i])
		}
	}
	return save(p, dir, name)
}

// shade returns one of 14 colours.
func shade(i int) color.Color {
	if n := len(plotutil.SoftColors); i >= n {
		return plotutil.DarkColors[(i-n)%n]
	}
	return plotutil.SoftColors[i]
}

// charts returns the layers, stacked.
func (b Bars) charts() ([]*plotter.BarChart, error) {
	places := len(b.Names)
	if len(b.Values) > 1 {
		places *= 2
	}
	var charts []*plotter.BarChart
	for i, values := range b.Values {
		chart, err := plotter.NewBarChart(values, plotWidth/2/vg.Length(places))
		if err != nil {
			return nil, err
		}
		chart.Color, chart.LineStyle.Width = shade(i), 0
		if i > 0 {
			chart.StackOn(charts[i-1])
		}
		charts = append(charts, chart)
	}
	return charts, nil
}
