package sampling

import "math"

// The trend of the costs of steps: fitTrend fits it to windows, by leastSquares.

// trend is the parabola c0 + c1*u + c2*u^2 through the costs of steps, where u in [-1, 1] is the place of the step in
// the run.
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

// fitTrend fits the trend of the run [first, end) to the mean costs of the windows, by weighted least squares: the mean
// of the trend over the steps of a window is fitted to the mean cost of the window.
func fitTrend(first, end int, windows []Window, weights []float64) trend {
	t := trend{middle: float64(first+end) / 2, half: math.Max(1, float64(end-first)/2)}
	columns := make([][]float64, terms)
	costs := make([]float64, len(windows))
	for i := range windows {
		w := &windows[i]
		weight := weights[i]
		costs[i] = w.mean(w.refFrom, w.refTo) * weight
		var mean [terms]float64 // basis of the steps
		for k := w.refFrom; k < w.refTo; k++ {
			for j, v := range t.basis(k) {
				mean[j] += v / float64(w.refTo-w.refFrom)
			}
		}
		for j, b := range mean {
			columns[j] = append(columns[j], b*weight)
		}
	}
	leastSquares(columns, costs, t.c[:])
	return t
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

// roughCosts are the costs of steps by the pilots. Windows with long warm-ups, of which there are few, are put where
// they say. If they are nil, windows are spread evenly, so that they also see rare costs and changes among cheap steps.
type roughCosts struct {
	trend trend
	floor float64 // seconds
}

// longest bounds a part, nearly, to so many times the mean: the more steps lie between two windows, the more remains
// unseen.
const longest = 1.5

// divide divides the steps [from, to) into n parts that are worth the same but have at least so many steps,
// of which there must be n times as many, and returns where they begin and, at last, end. A part of G steps of cost
// c brings an error of G*c if costs scatter by a part of them, and one of G*sqrt(c) if by their roots; the
// sum of the squares over all parts is least where G goes as c^(-2/3) or c^(-1/3). Steps are worth the root of
// their cost, which is between.
func (r *roughCosts) divide(from, to, n, least int) []int {
	if r == nil {
		ends := make([]int, n+1) // of parts of equal length
		for j := range ends {
			ends[j] = from + j*(to-from)/n
		}
		return ends
	}
	worth := make([]float64, to-from)
	mean := 0.0
	for i := range worth {
		worth[i] = math.Sqrt(math.Max(r.trend.at(from+i), r.floor))
		mean += worth[i] / float64(len(worth))
	}
	before := make([]float64, len(worth)) // what the steps before are worth
	sum := 0.0
	for i, w := range worth {
		before[i] = sum
		sum += math.Max(w, mean/longest)
	}
	ends, i := []int{from}, 0
	for j := 1; j < n; j++ {
		for i < len(before) && before[i] < sum*float64(j)/float64(n) {
			i++
		}
		ends = append(ends, min(max(from+i, ends[j-1]+least), to-(n-j)*least))
	}
	return append(ends, to)
}
