// Package charts draws fits: the measured and fitted seconds over the size, both
// on logarithmic axes, and below them the relative residuals.
//
//	err := charts.Write(w, report.Series()[0], "svg")
//
// # Units
//
// Axes are in seconds and in what the model's size is counted in; residuals are in percent.
//
// # Errors
//
// A format that is not known, and a series without a value that could be drawn.
//
// # Source
//
// Drawn by gonum/plot.
package charts

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"reprise/calibrate"
)

// Size of a picture, and the largest number of points that it shows: of more, every
// second, third, ... by size.
const (
	width     = 18 * vg.Centimeter
	height    = 20 * vg.Centimeter
	maxPoints = 5000
)

// formats are the formats that Write knows.
var formats = []string{"svg", "png"}

// Write draws a series as "svg" or "png". What is not above zero has no place on
// the axes and is left out; if nothing remains, that is an error.
func Write(w io.Writer, s calibrate.Series, format string) error {
	if !slices.Contains(formats, format) {
		return fmt.Errorf("format %q, want svg or png", format)
	}
	data, fit, residuals := points(s)
	if len(data) == 0 {
		return fmt.Errorf("%s: no sizes and times above zero to draw", s.Name)
	}
	top, err := panel(s.Title, s.XLabel, "seconds", data, fit)
	if err != nil {
		return err
	}
	bottom, err := panel("", s.XLabel, "residual, % of the measured time", residuals, nil)
	if err != nil {
		return err
	}
	for _, axis := range []*plot.Axis{&top.X, &top.Y, &bottom.X} {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 3}
		widen(axis)
	}
	bottom.Add(plotter.NewGrid())
	return render(w, format, top, bottom)
}

// points returns what can be drawn, by size.
func points(s calibrate.Series) (data, fit, residuals plotter.XYs) {
	order := make([]int, len(s.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case s.X[a] < s.X[b]:
			return -1
		case s.X[a] > s.X[b]:
			return 1
		}
		return 0
	})
	step := (len(order) + maxPoints - 1) / maxPoints
	for k := 0; k < len(order); k += step {
		x, y, f := s.X[order[k]], s.Seconds[order[k]], s.Fitted[order[k]]
		if x <= 0 || y <= 0 {
			continue
		}
		data = append(data, plotter.XY{X: x, Y: y})
		residuals = append(residuals, plotter.XY{X: x, Y: 100 * (y - f) / y})
		if f > 0 {
			fit = append(fit, plotter.XY{X: x, Y: f})
		}
	}
	return data, fit, residuals
}

// panel draws measured points and, as crosses on top, fitted ones.
func panel(title, x, y string, measured, fitted plotter.XYs) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top, p.Legend.Left = true, true
	for _, layer := range []struct {
		name  string
		xys   plotter.XYs
		glyph draw.GlyphStyle
	}{
		{"measured", measured, draw.GlyphStyle{Color: color.RGBA{R: 0x33, G: 0x66, B: 0xaa, A: 0xff}, Radius: 1.5,
			Shape: draw.CircleGlyph{}}},
		{"fitted", fitted, draw.GlyphStyle{Color: color.RGBA{R: 0xcc, G: 0x44, B: 0x22, A: 0xff}, Radius: 1.5,
			Shape: draw.CrossGlyph{}}},
	} {
		if len(layer.xys) == 0 {
			continue
		}
		scatter, err := plotter.NewScatter(layer.xys)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", title, err)
		}
		scatter.GlyphStyle = layer.glyph
		p.Add(scatter)
		if fitted != nil {
			p.Legend.Add(layer.name, scatter)
		}
	}
	return p, nil
}

// widen gives a logarithmic axis whole decades, so that it has ticks.
func widen(a *plot.Axis) {
	a.Min = math.Pow(10, math.Floor(math.Log10(a.Min)))
	a.Max = math.Pow(10, math.Ceil(math.Log10(a.Max)))
	if a.Min == a.Max {
		a.Max *= 10
	}
}

// canvas is a picture that can be written.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

func render(w io.Writer, format string, top, bottom *plot.Plot) error {
	var c canvas = vgsvg.New(width, height)
	if format == "png" {
		c = vgimg.PngCanvas{Canvas: vgimg.New(width, height)}
	}
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadTop: 5, PadBottom: 5, PadLeft: 5, PadRight: 5, PadY: 10}
	all := plot.Align([][]*plot.Plot{{top}, {bottom}}, tiles, draw.New(c))
	top.Draw(all[0][0])
	bottom.Draw(all[1][0])
	_, err := c.WriteTo(w)
	return err
}
