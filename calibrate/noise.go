package calibrate

import (
	"fmt"
	"math"

	"reprise/calibrate/regress"
)

// Noise describes how timings of one size scatter, by moments.
type Noise struct {
	Points       int           `json:"points"`                    // sizes with at least two timings
	Variation    float64       `json:"variation"`                 // root of the mean square of sd/mean over the sizes
	Skewness     *float64      `json:"skewness,omitempty"`        // of sizes with at least three timings; in the mean 0 for normal noise and 0.995 for half-normal, however few there are
	MainTerm     float64       `json:"sd_main_term"`              // seconds per unit of the model's first term: the deviation as a fit to this term alone
	Coefficients []Coefficient `json:"sd_terms,omitempty"`        // deviation as a fit to the model's terms: heteroscedastic noise
	Absurd       int           `json:"sd_absurd_sizes,omitempty"` // sizes at which that fit is below zero, or above the time
	Unfitted     string        `json:"unfitted,omitempty"`        // why there is no such fit
}

// fitNoise returns the moments of what is left of the timings when the mean of
// their size is taken away, and the fit of the standard deviation of each size to terms:
// all sizes alike, or weighed by the square of their mean time if relative. It is nil
// without sizes that were timed twice.
func fitNoise(points []point, terms []product, relative bool) *Noise {
	p := len(terms)
	x, _ := design(points, terms)
	n := &Noise{}
	var rows, mean, sd, w []float64
	squares, cubes, seen := 0.0, 0.0, 0.0
	for i := range points {
		m := &points[i].seconds
		if m.n < 2 {
			continue
		}
		n.Points++
		rows = append(rows, x[i*p:(i+1)*p]...)
		s := m.sd()
		mean, sd = append(mean, m.mean), append(sd, s)
		if relative {
			w = append(w, 1/m.mean/m.mean)
		}
		if m.mean > 0 {
			squares += float64((s / m.mean) * (s / m.mean))
		}
		if m.n > 2 && s > 0 {
			cubes += float64(float64(m.n) * m.skewness())
			seen += float64(float64(m.n) * skewnessSeen(m.n))
		}
	}
	if n.Points == 0 {
		return nil
	}
	n.Variation = math.Sqrt(squares / float64(n.Points))
	if seen > 0 {
		skewness := cubes / seen
		n.Skewness = &skewness
	}
	n.MainTerm = slopeThroughZero(rows, p, sd)
	l, err := regress.LeastSquares(rows, sd, w, p)
	if err != nil {
		n.Unfitted = fmt.Sprintf("no fit of the deviation: %v", err)
		return n
	}
	for i, seconds := range mean {
		if fitted := regress.Dot(l.Coef, rows[i*p:(i+1)*p]); fitted < 0 || fitted > seconds {
			n.Absurd++
		}
	}
	for j, term := range terms {
		n.Coefficients = append(n.Coefficients, Coefficient{Term: term.text, Value: l.Coef[j], StdErr: l.StdErr[j]})
	}
	return n
}

// slopeThroughZero returns the least-squares slope of y over the first of the p
// columns of x, of a line through the origin.
func slopeThroughZero(x []float64, p int, y []float64) float64 {
	xx, xy := 0.0, 0.0
	for i, v := range y {
		xx += float64(x[i*p] * x[i*p])
		xy += float64(x[i*p] * v)
	}
	if xx == 0 {
		return 0
	}
	return xy / xx
}
