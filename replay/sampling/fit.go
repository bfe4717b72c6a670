package sampling

import "math"

// trend is the parabola c0 + c1*u + c2*u^2 through the costs of steps, where
// u in [-1, 1] is the place of the step in the run.
type trend struct {
	middle, half float64 // steps
	c            [terms]float64
}

// terms is the number of coefficients of a trend.
const terms = 3

func (t *trend) basis(step int) [terms]float64 {
	u := (float64(step) - t.middle) / t.half
	return [terms]float64{1, u, u * u}
}

// at returns the cost of a step.
func (t *trend) at(step int) float64 {
	b := t.basis(step)
	return float64(t.c[0]*b[0]) + float64(t.c[1]*b[1]) + float64(t.c[2]*b[2])
}

// sum returns the cost of the steps [a, b).
func (t *trend) sum(a, b int) float64 {
	sum := 0.0
	for k := a; k < b; k++ {
		sum += t.at(k)
	}
	return sum
}

// weightsOf returns the weights of windows in a fit. Errors are taken to grow with the cost, down to
// floor: the smallest cost that counts as one.
func weightsOf(windows []Window, floor float64) []float64 {
	weights := make([]float64, len(windows))
	for i := range windows {
		w := &windows[i]
		weights[i] = 1 / math.Max(w.mean(w.refFrom, w.refTo), floor)
	}
	return weights
}

// fitTrend fits the trend of the run [first, end) to the mean costs of the
// windows, by weighted least squares: a sum of costs has the sum of the trends.
func fitTrend(first, end int, windows []Window, weights []float64) trend {
	t := trend{middle: float64(first+end) / 2, half: math.Max(1, float64(end-first)/2)}
	columns := make([][]float64, terms)
	costs := make([]float64, len(windows))
	for i := range windows {
		w := &windows[i]
		weight := weights[i]
		costs[i] = w.mean(w.refFrom, w.refTo) * weight
		for j, b := range t.meanBasis(w.refFrom, w.refTo) {
			columns[j] = append(columns[j], b*weight)
		}
	}
	leastSquares(columns, costs, t.c[:])
	return t
}

// meanBasis returns the mean basis of the steps [a, b).
func (t *trend) meanBasis(a, b int) (mean [terms]float64) {
	for k := a; k < b; k++ {
		for j, v := range t.basis(k) {
			mean[j] += v / float64(b-a)
		}
	}
	return mean
}

// dependent is the part of a column, relative to its length, below which it counts
// as a combination of the columns before it.
const dependent = 1e-9

// leastSquares stores in x the coefficients with which the columns come closest
// to y: modified Gram-Schmidt, then back substitution. A column that depends on
// those before it gets 0. The columns and y are overwritten.
func leastSquares(columns [][]float64, y, x []float64) {
	n := len(columns)
	r := make([]float64, n*n) // upper triangle, by rows
	for j, q := range columns {
		length := norm(q)
		for i := range j {
			r[i*n+j] = dot(columns[i], q)
			subtract(q, columns[i], r[i*n+j])
		}
		left := norm(q)
		if left <= dependent*length {
			clear(q)
			continue
		}
		r[j*n+j] = left
		for i := range q {
			q[i] /= left
		}
		x[j] = dot(q, y)
		subtract(y, q, x[j])
	}
	for j := n - 1; j >= 0; j-- {
		if r[j*n+j] == 0 {
			x[j] = 0
			continue
		}
		for k := j + 1; k < n; k++ {
			x[j] -= float64(r[j*n+k] * x[k])
		}
		x[j] /= r[j*n+j]
	}
}

func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// subtract subtracts f*b from a.
func subtract(a, b []float64, f float64) {
	for i := range a {
		a[i] -= float64(f * b[i])
	}
}
