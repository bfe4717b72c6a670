// Package charts draws fits: the measured and fitted seconds over the size, both
// on logarithmic axes, and below them the relative residuals.
//
//	err := charts.Write(w, report.Series()[0], "svg")
//
// [Write] is all there is; series come from the reports of package calibrate, files from its users.
//
// # Units
//
// Axes are in seconds and in the unit of the model's size; residuals are in percent.
//
// # Errors
//
// An unknown format, and a series without a value that could be drawn.
//
// # Source
//
// Drawn by gonum/plot.
package charts

import (
	"cmp"
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
	"reprise/internal/textutil"
)

// Size of a picture, and the largest number of points that it shows: of more, every second, third, ... by size.
const (
	width     = 18 * vg.Centimeter
	height    = 20 * vg.Centimeter
	maxPoints = 5000
)

// Write draws a series as "svg" or "png". Sizes and times that are not above zero have no place on
// logarithmic axes and are left out; if nothing remains, that is an error.
func Write(w io.Writer, s calibrate.Series, format string) (err error) {
	defer textutil.Stopped(&err)
	var c interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case "svg":
		c = vgsvg.New(width, height)
	case "png":
		c = vgimg.PngCanvas{Canvas: vgimg.New(width, height)}
	default:
		return fmt.Errorf("format %q, want svg or png", format)
	}
	data, fit, residuals := points(s)
	if len(data) == 0 {
		return fmt.Errorf("%s: no sizes and times above zero to draw", s.Name)
	}
	top := textutil.Must(panel(s.Title, s.XLabel, "seconds", data, fit))
	bottom := textutil.Must(panel("", s.XLabel, "residual, % of the measured time", residuals, nil))
	for _, axis := range []*plot.Axis{&top.X, &top.Y, &bottom.X} {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 3}
		// Whole decades, as others have no ticks.
		axis.Min = math.Pow(10, math.Floor(math.Log10(axis.Min)))
		axis.Max = math.Pow(10, math.Ceil(math.Log10(axis.Max)))
		if axis.Min == axis.Max {
			axis.Max *= 10
		}
	}
	bottom.Add(plotter.NewGrid())
	// Both panels have the same width between their axes, so that a residual stands below its timing.
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadTop: 5, PadBottom: 5, PadLeft: 5, PadRight: 5, PadY: 10}
	all := plot.Align([][]*plot.Plot{{top}, {bottom}}, tiles, draw.New(c))
	top.Draw(all[0][0])
	bottom.Draw(all[1][0])
	_, err = c.WriteTo(w)
	return err
}

// points returns the points of a series that can be drawn, by size, and their relative residuals in
// percent. A long series is thinned.
func points(s calibrate.Series) (data, fit, residuals plotter.XYs) {
	order := make([]int, len(s.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.X[a], s.X[b]) })
	// Every step-th point remains, which keeps the smallest size; thinning by size alone does not
	// favour quick or slow timings.
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
		color color.RGBA
		shape draw.GlyphDrawer
	}{
		{"measured", measured, color.RGBA{R: 0x33, G: 0x66, B: 0xaa, A: 0xff}, draw.CircleGlyph{}},
		{"fitted", fitted, color.RGBA{R: 0xcc, G: 0x44, B: 0x22, A: 0xff}, draw.CrossGlyph{}},
	} {
		if len(layer.xys) == 0 {
			continue
		}
		scatter, err := plotter.NewScatter(layer.xys)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", title, err)
		}
		scatter.GlyphStyle = draw.GlyphStyle{Color: layer.color, Radius: 1.5, Shape: layer.shape}
		p.Add(scatter)
		if fitted != nil {
			p.Legend.Add(layer.name, scatter)
		}
	}
	return p, nil
}
