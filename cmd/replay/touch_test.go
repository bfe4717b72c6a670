package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	devtools "github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// point is a place in the window, in pixels.
type point struct{ x, y float64 }

// touch puts fingers on the page, moves them in some steps, all at once, and lifts them.
func (b *browser) touch(from, to []point, steps int) {
	b.t.Helper()
	send := func(kind devtools.DispatchTouchEventType, share float64) {
		var points []*devtools.TouchPoint
		for i := range from {
			if kind == devtools.DispatchTouchEventTypeTouchEnd {
				break
			}
			id := float64(i)
			points = append(points, &devtools.TouchPoint{ID: &id, X: from[i].x + share*(to[i].x-from[i].x), Y: from[i].y + share*(to[i].y-from[i].y)})
		}
		_, err := chromedp.Call(b.ctx, devtools.DispatchTouchEvent, devtools.DispatchTouchEventParams{Type: kind, TouchPoints: points})
		noError(b.t, err)
	}
	send(devtools.DispatchTouchEventTypeTouchStart, 0)
	for i := range steps {
		send(devtools.DispatchTouchEventTypeTouchMove, float64(i+1)/float64(steps))
	}
	send(devtools.DispatchTouchEventTypeTouchEnd, 1)
}

// TestTouch: a finger taps, drags a picture that it has tapped and else scrolls the page; two pinch.
func TestTouch(t *testing.T) {
	b := newBrowser(t)
	file, _ := reportOf(t)
	_, err := chromedp.Call(b.ctx, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 5})
	noError(t, err)
	b.open(file)
	for _, c := range []struct{ section, x, y string }{{"matrix", "steps", "ranks"}, {"timeline", "window", "windowranks"}} {
		t.Run(c.section, func(t *testing.T) {
			b.t = t
			b.gestures(c.section, c.x, c.y)
		})
	}
	b.t = t
	b.quiet(file)
}

// gestures tries a picture of a section, whose axes have these names.
func (b *browser) gestures(section, x, y string) {
	b.t.Helper()
	canvas := fmt.Sprintf("document.querySelector('#%s canvas')", section)
	eval[chromedp.Void](b, canvas+".scrollIntoView({block: 'center'})")
	b.until(canvas + ".width > 300") // it is drawn
	box := eval[[]float64](b, fmt.Sprintf("(r => [r.left, r.top, r.width, r.height])(%s.getBoundingClientRect())", canvas))
	middle := point{box[0] + box[2]/2, box[1] + box[3]/2}
	extent := func(name string) []float64 {
		return eval[[]float64](b, fmt.Sprintf("(e => [e.low, e.high])(Extent.all.get('%s'))", name))
	}
	same := func(what string, got, want float64) {
		b.t.Helper()
		if math.Abs(got-want) > 1e-6*math.Abs(want) {
			b.t.Errorf("%s: %g, want %g", what, got, want)
		}
	}

	// Before a tap a finger that goes up scrolls the page down, and leaves the picture as it is.
	scrolled := eval[float64](b, "scrollY")
	up := func(by float64) ([]point, []point) { return []point{middle}, []point{{middle.x, middle.y - by}} }
	from, to := up(100)
	b.touch(from, to, 5)
	b.until(fmt.Sprintf("scrollY > %g", scrolled+20))
	eval[chromedp.Void](b, canvas+".scrollIntoView({block: 'center'})")

	// Two fingers 200 pixels apart that come to be 250 apart: 0.8 of what was there is seen.
	wide, tall := extent(x), extent(y)
	b.touch([]point{{middle.x - 100, middle.y}, {middle.x + 100, middle.y}}, []point{{middle.x - 125, middle.y}, {middle.x + 125, middle.y}}, 5)
	near := extent(x)
	same("width after a pinch", near[1]-near[0], 0.8*(wide[1]-wide[0]))
	same("height after a pinch to the sides", extent(y)[1]-extent(y)[0], tall[1]-tall[0])

	// A tap says what is there, and gives the picture the focus.
	b.touch([]point{middle}, []point{middle}, 0)
	b.until("document.activeElement === " + canvas)
	if said := eval[string](b, fmt.Sprintf("document.querySelector('#%s .readout').textContent", section)); !strings.HasPrefix(said, "rank ") {
		b.t.Errorf("a tap says %q", said)
	}

	// A finger that goes 30 pixels to the left moves the picture by that: its area is the canvas less
	// the labels, as the picture has it.
	area := eval[float64](b, fmt.Sprintf("(p => p.clientWidth - 6 * parseFloat(getComputedStyle(p).fontSize))(%s)", canvas))
	now := extent(x)
	b.touch([]point{middle}, []point{{middle.x - 30, middle.y}}, 5)
	moved := extent(x)
	same("width after a drag", moved[1]-moved[0], now[1]-now[0])
	same("begin after a drag", moved[0]-now[0], 30/area*(now[1]-now[0]))
}
