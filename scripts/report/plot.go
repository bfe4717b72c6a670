package main

import (
	"bytes"
	"image/color"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Size of a plot: two stand side by side on a page.
const (
	plotWidth  = 11 * vg.Centimeter
	plotHeight = 7.5 * vg.Centimeter
)

// graph is a plot of curves on logarithmic axes. All numbers are positive.
type graph struct {
	title, x, y string
	curves      []curve
}

// curve has its points in the order of x.
type curve struct {
	name   string
	points plotter.XYs
}

func (c *curve) add(x, y float64) { c.points = append(c.points, plotter.XY{X: x, Y: y}) }

// write draws the graph as name.svg in a directory. The places of the first curve's
// points are the ticks of x.
func (g graph) write(dir, name string) error {
	p := frame(g.title, g.y)
	p.X.Label.Text = g.x
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.Add(grid())
	for i, c := range g.curves {
		line, points, err := plotter.NewLinePoints(c.points)
		if err != nil {
			return err
		}
		line.Color, points.Color, points.Shape = plotutil.Color(i), plotutil.Color(i), draw.CircleGlyph{}
		p.Add(line, points)
		if len(g.curves) > 1 {
			p.Legend.Add(c.name, line, points)
		}
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.X.Tick.Marker = ticksAt(g.curves[0].points)
	setTicks(&p.Y, logTicks(p.Y.Min, p.Y.Max))
	return save(p, dir, name)
}

// frame is an empty plot. Its background is white, to be read on dark pages too.
func frame(title, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text, p.Title.Padding, p.Y.Label.Text = title, vg.Points(8), y
	for _, style := range []*draw.TextStyle{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	p.Legend.TextStyle.Font.Size = vg.Points(10)
	return p
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = color.Gray{230}, color.Gray{230}
	return g
}

// save draws a plot as name.svg in a directory, in fonts that every viewer has.
func save(p *plot.Plot, dir, name string) error {
	w, err := p.WriterTo(plotWidth, plotHeight, "svg")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return err
	}
	svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,sans-serif;"))
	return os.WriteFile(filepath.Join(dir, name+".svg"), svg, 0o644)
}

// image links a plot from the page.
func (l *lab) image(name, text string) string {
	return "![" + text + "](" + filepath.Base(l.plots) + "/" + name + ".svg)\n"
}
