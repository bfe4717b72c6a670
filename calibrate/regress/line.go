package regress

import "math"

// Line is intercept + slope*x; neither is negative.
type Line struct {
	Intercept, Slope float64
}

// At returns the value of the line at x.
func (l Line) At(x float64) float64 { return l.Intercept + float64(l.Slope*x) }

// Fineness of the search for the ratio of intercept and slope, in natural
// logarithms: steps of the scan, and widths of the last bracket.
const (
	scanStep  = 1.0
	roughEnd  = 1e-4
	preciseAt = 1e-13
)

// logFit fits lines to points (x, exp(l)) by least squares on logarithms.
//
// With r = intercept/slope, the best slope for a given r is the geometric mean of
// exp(l)/(x+r), and what remains is the variance of l - log(x+r): a search in one
// variable, in which neither coefficient can become negative.
type logFit struct {
	x, l []float64 // x >= 0, ascending
}

// fit returns the best line and the sum of its squared residuals. end is the
// width of the last bracket of log r.
func (f logFit) fit(end float64) (Line, float64) {
	n := len(f.x)
	mean, best := f.spread(math.Inf(1))
	line := Line{Intercept: math.Exp(mean)}
	if f.x[n-1] == 0 {
		return line, best
	}
	if f.x[0] > 0 {
		if mean, sse := f.spread(0); sse < best {
			line, best = Line{Slope: math.Exp(mean)}, sse
		}
	}
	s, found := f.scan(best)
	if !found {
		return line, best
	}
	r := math.Exp(f.golden(s-scanStep, s+scanStep, end))
	mean, sse := f.spread(r)
	if sse >= best {
		return line, best
	}
	slope := math.Exp(mean)
	return Line{Intercept: float64(slope * r), Slope: slope}, sse
}

// spread returns the mean of l - log(x+r) and the sum of squares about it; for an
// infinite r, those of l.
func (f logFit) spread(r float64) (mean, sse float64) {
	n := float64(len(f.x))
	constant := math.IsInf(r, 1)
	at := func(i int) float64 {
		if constant {
			return f.l[i]
		}
		return f.l[i] - math.Log(f.x[i]+r)
	}
	first, sum, squares := at(0), 0.0, 0.0
	for i := range f.x {
		d := at(i) - first
		sum += d
		squares += float64(d * d)
	}
	return first + sum/n, max(squares-float64(sum*sum)/n, 0)
}

// scan looks for the log r of the smallest sum of squares, on a grid from where r
// does not matter any more to where x does not. found is false if best is smaller.
func (f logFit) scan(best float64) (at float64, found bool) {
	low := f.x[0]
	for i := 1; low == 0; i++ {
		low = f.x[i]
	}
	from, to := math.Log(low)-10, math.Log(f.x[len(f.x)-1])+4
	steps := int((to-from)/scanStep) + 1
	for i := range steps + 1 {
		s := from + float64(scanStep*float64(i))
		if _, sse := f.spread(math.Exp(s)); sse < best {
			at, best, found = s, sse, true
		}
	}
	return at, found
}

// golden returns the place of a minimum between a and b.
func (f logFit) golden(a, b, end float64) float64 {
	value := func(s float64) float64 {
		_, sse := f.spread(math.Exp(s))
		return sse
	}
	ratio := (math.Sqrt(5) - 1) / 2
	c, d := b-float64(ratio*(b-a)), a+float64(ratio*(b-a))
	atC, atD := value(c), value(d)
	for range 100 {
		if b-a <= end {
			break
		}
		if atC <= atD {
			b, d, atD = d, c, atC
			c = b - float64(ratio*(b-a))
			atC = value(c)
		} else {
			a, c, atC = c, d, atD
			d = a + float64(ratio*(b-a))
			atD = value(d)
		}
	}
	if atC <= atD {
		return c
	}
	return d
}

// plainLine fits a line by weighted least squares of the residuals themselves,
// neither coefficient below zero: what would be is zero.
func plainLine(x, y, w []float64) Line {
	var sw, sx, sy float64
	for i := range x {
		sw += w[i]
		sx += float64(w[i] * x[i])
		sy += float64(w[i] * y[i])
	}
	mx, my := sx/sw, sy/sw
	var sxx, sxy, xx, xy float64
	for i := range x {
		sxx += float64(w[i] * float64((x[i]-mx)*(x[i]-mx)))
		sxy += float64(w[i] * float64((x[i]-mx)*(y[i]-my)))
		xx += float64(w[i] * float64(x[i]*x[i]))
		xy += float64(w[i] * float64(x[i]*y[i]))
	}
	if sxx == 0 || sxy <= 0 {
		return Line{Intercept: my}
	}
	if slope := sxy / sxx; my >= float64(slope*mx) {
		return Line{Intercept: my - float64(slope*mx), Slope: slope}
	}
	return Line{Slope: xy / xx}
}
