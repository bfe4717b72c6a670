package page

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

// Graph is a plot of curves. Its axes are logarithmic, with positive numbers only and
// ticks of x at the first curve's points, or linear.
type Graph struct {
	Title, X, Y string
	Curves      []Curve
	Linear      bool
}

// Curve has its points in the order of x.
type Curve struct {
	Name   string
	Points plotter.XYs
	Style  Style
}

// Style says how a curve is drawn.
type Style struct {
	Color  int  // 0: by the curve's place; else one of a palette, from 1
	Dashed bool // a line of dashes without marks
	Marks  bool // marks without a line
}

// Add appends a point.
func (c *Curve) Add(x, y float64) { c.Points = append(c.Points, plotter.XY{X: x, Y: y}) }

// Write draws the graph as name.svg in a directory.
func (g Graph) Write(dir, name string) error {
	p := frame(g.Title, g.Y)
	p.X.Label.Text = g.X
	p.Add(grid())
	for i, c := range g.Curves {
		if err := c.draw(p, i, len(g.Curves) > 1); err != nil {
			return err
		}
	}
	p.Legend.Top = true
	if g.Linear {
		linearAxes(p, g.Curves)
	} else {
		p.X.Scale, p.Y.Scale, p.Legend.Left = plot.LogScale{}, plot.LogScale{}, true
		p.X.Tick.Marker = ticksAt(g.Curves[0].Points)
		setTicks(&p.Y, logTicks(p.Y.Min, p.Y.Max))
	}
	return save(p, dir, name)
}

// draw adds the curve that is number i of a plot.
func (c Curve) draw(p *plot.Plot, i int, legend bool) error {
	line, points, err := plotter.NewLinePoints(c.Points)
	if err != nil {
		return err
	}
	if c.Style.Color > 0 {
		i = c.Style.Color - 1
	}
	line.Color, points.Color, points.Shape = plotutil.Color(i), plotutil.Color(i), draw.CircleGlyph{}
	shown := []plot.Thumbnailer{line, points}
	switch {
	case c.Style.Marks:
		p.Add(points)
		shown = shown[1:]
	case c.Style.Dashed:
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(line)
		shown = shown[:1]
	default:
		p.Add(line, points)
	}
	if legend {
		p.Legend.Add(c.Name, shown...)
	}
	return nil
}

// linearAxes sets the ticks and leaves room for the legend on the right.
func linearAxes(p *plot.Plot, curves []Curve) {
	p.X.Tick.Marker = plot.ConstantTicks(plainTicks(p.X.Min, p.X.Max))
	p.Y.Tick.Marker = plot.ConstantTicks(plainTicks(p.Y.Min, p.Y.Max))
	if len(curves) > 1 {
		p.X.Max += 0.4 * (p.X.Max - p.X.Min)
	}
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

// Image links a plot in a directory from the page beside the directory.
func Image(dir, name, text string) string {
	return "![" + text + "](" + filepath.Base(dir) + "/" + name + ".svg)\n"
}
