package main

import (
	"bytes"
	"fmt"
	"math"
)

// Sizes in pixels.
const (
	width, height    = 760, 300
	left, top        = 56, 40
	plotWide, plotHi = 480, 210
)

// names and colours of the layers; the colours can be told apart by the colour-blind.
var (
	names   = [numLayers]string{"dgemm", "other kernels", "swaps and broadcasts", "polls: waiting for a panel"}
	colours = [numLayers]string{"#0072b2", "#56b4e9", "#e69f00", "#cc79a7"}
)

// style makes text and lines legible on light and on dark pages.
const style = `<style>
text { font: 13px system-ui, sans-serif; fill: #222 }
.title { font-weight: 600 }
line { stroke: #8884 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } }
</style>
`

// draw returns the picture of the bars as SVG.
func draw(bars []bar) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Time per step, stacked by what takes it">`+"\n", width, height)
	fmt.Fprintln(&b, "<!-- Written by scripts/picture. -->")
	b.WriteString(style)
	text(&b, left, 20, "title", "Time per step of HPL on 1,024 ranks of Dahu, N = 50,000 (mean rank, ms)")
	highest := 0.0
	for _, c := range bars {
		highest = max(highest, c.sum())
	}
	axis := 5 * math.Ceil(highest/5)
	scale := plotHi / axis
	for v := 0.0; v <= axis; v += 5 {
		y := top + plotHi - v*scale
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`+"\n", left, left+plotWide, y, y)
		text(&b, left-30, y+4, "", fmt.Sprintf("%2.0f", v))
	}
	wide := float64(plotWide) / float64(len(bars))
	for i, c := range bars {
		c.draw(&b, left+float64(i)*wide+1, wide-2, scale)
		if i%5 == 0 {
			text(&b, left+float64(i)*wide, top+plotHi+18, "", fmt.Sprint(i*stepsPerBar))
		}
	}
	text(&b, left+plotWide-30, top+plotHi+38, "", "step")
	for i, name := range names {
		y := top + 20 + float64(numLayers-1-i)*24
		rect(&b, left+plotWide+20, y-11, 13, 13, colours[i])
		text(&b, left+plotWide+40, y, "", name)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (c *bar) sum() (sum float64) {
	for _, v := range c {
		sum += v
	}
	return sum
}

// draw writes the bar's layers, the first at the bottom.
func (c *bar) draw(b *bytes.Buffer, x, wide, scale float64) {
	y := float64(top + plotHi)
	for i, v := range c {
		y -= v * scale
		rect(b, x, y, wide, v*scale, colours[i])
	}
}

func text(b *bytes.Buffer, x, y float64, class, s string) {
	if class != "" {
		class = fmt.Sprintf(` class="%s"`, class)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f"%s>%s</text>`+"\n", x, y, class, s)
}

func rect(b *bytes.Buffer, x, y, wide, high float64, colour string) {
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, wide, high, colour)
}
