package regress

import (
	"math"
	"slices"
)

// Relative is a fit of times by terms, all coefficients above zero, that minimises
// relative residuals, of which large ones count less (Huber).
type Relative struct {
	Terms      []int       // which of the sample's
	Coef       []float64   // of each of them
	Covariance [][]float64 // of the coefficients: what follows from the residuals (sandwich)
	Loss       float64     // the minimum: the sum of the weighted losses
	N          int         // number of points
}

// Sample is the data of a Relative: points with the values of all terms, times above
// zero, and weights, 1 on average.
type Sample struct {
	P    int       // number of terms
	X    []float64 // of each point, row by row
	Y, W []float64
}

// Constants of the fit: residuals beyond so many standard deviations count less, as do
// those beyond a part of the time where models are compared; and a part that no time is
// measured more precisely than.
const (
	huber      = 1.345
	farOff     = 0.2
	precise    = 3e-3
	iterations = 12
)

// Points returns the sample of some of the points.
func (s *Sample) Points(list []int) *Sample {
	part := &Sample{P: s.P}
	for _, i := range list {
		part.X = append(part.X, s.X[i*s.P:(i+1)*s.P]...)
		part.Y = append(part.Y, s.Y[i])
		part.W = append(part.W, s.W[i])
	}
	return part
}

// UpTo returns 0 to n-1: the indices of all terms, or of all points.
func UpTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Fit fits some of the terms, by least squares whose weights follow the fit itself:
// residuals are divided by the fitted time, since the measured one would be large where
// the residual is. It returns nil if there are no more points than terms, if these
// cannot be told apart, or if a coefficient is not above zero.
func (s *Sample) Fit(terms []int) *Relative {
	n := len(s.Y)
	if n <= len(terms) {
		return nil
	}
	weights, scale := slices.Repeat([]float64{1}, n), slices.Clone(s.Y)
	r := &Relative{Terms: slices.Clone(terms), N: n}
	residuals, size := make([]float64, n), make([]float64, n)
	for range iterations {
		normal := s.normal(terms, func(i int) float64 { return s.W[i] * weights[i] / scale[i] / scale[i] })
		solution := normal.solve(normal.right)
		if solution == nil {
			return nil
		}
		r.Coef = solution[0]
		for i := range s.Y {
			fitted := r.At(s.X[i*s.P : (i+1)*s.P])
			if fitted <= 0 {
				fitted = s.Y[i]
			}
			residuals[i], scale[i] = (s.Y[i]-fitted)/fitted, fitted
			size[i] = math.Abs(residuals[i])
		}
		// Huber's weights. The standard deviation of normal residuals is 1.4826 times
		// the median of their absolute values, on which the large ones have no
		// influence.
		slices.Sort(size)
		bound := huber * max(precise, 1.4826*size[len(size)/2])
		for i, e := range residuals {
			weights[i] = min(1, bound/math.Abs(e))
		}
	}
	if slices.ContainsFunc(r.Coef, func(c float64) bool { return !(c > 0) }) {
		return nil
	}
	// Models are compared by squares that go over into straight lines at farOff,
	// whatever their own scatter is.
	for i, e := range residuals {
		loss := e * e
		if e = math.Abs(e); e > farOff {
			loss = 2*farOff*e - farOff*farOff
		}
		r.Loss += float64(s.W[i] * loss)
	}
	r.Covariance = s.sandwich(terms, weights, residuals, scale)
	return r
}

// At returns the value of the fit where the terms have these values.
func (r *Relative) At(x []float64) (sum float64) {
	for j, t := range r.Terms {
		sum += float64(r.Coef[j] * x[t])
	}
	return sum
}

// sandwich returns A⁻¹BA⁻¹, where A is the sum of weight times xxᵀ and B that of
// squared weight times squared residual times xxᵀ: the covariance that follows from the
// residuals as they are (H. White, 1980). Each residual is divided by the part of its
// point that the fit does not follow (HC3 of J. MacKinnon and H. White, 1985), without
// which few points look better than they are; and its square is averaged with that of
// all, without which a fit whose weight lies on two or three points is as sure as these
// happen to lie.
func (s *Sample) sandwich(terms []int, weights, residuals, scale []float64) [][]float64 {
	w := func(i int) float64 { return s.W[i] * weights[i] / scale[i] / scale[i] }
	p := len(terms)
	units := square(p)
	for j := range p {
		units[j][j] = 1
	}
	inverse := s.normal(terms, w).solve(units...) // symmetric: columns are rows
	pooled := 0.0
	for i, e := range residuals {
		pooled += float64(weights[i] * e * e)
	}
	pooled /= float64(len(residuals) - p)
	// The half is the mean of a point's own square and of all.
	b := s.normal(terms, func(i int) float64 {
		x, leverage := s.X[i*s.P:(i+1)*s.P], 0.0 // xᵀA⁻¹x
		for j, t := range terms {
			for k, u := range terms {
				leverage += float64(x[t] * inverse[j][k] * x[u])
			}
		}
		own := residuals[i] / max(leastFree, 1-w(i)*leverage)
		v := w(i) * scale[i]
		return float64(v*v) * (float64(own*own) + pooled) / 2
	})
	list := square(p)
	for i := range p {
		for j := range p {
			for k := range p {
				for l := range p {
					list[i][j] += float64(inverse[i][k] * b.a[k][l] * inverse[l][j])
				}
			}
		}
	}
	return list
}

// leastFree bounds what residuals are divided by.
const leastFree = 0.1

// equations are normal equations, whose terms are scaled to norm 1.
type equations struct {
	a     [][]float64
	right []float64
}

// normal returns the equations of some terms, each point counting by its weight.
func (s *Sample) normal(terms []int, weight func(i int) float64) equations {
	p := len(terms)
	e := equations{square(p), make([]float64, p)}
	for i := range s.Y {
		w, x := weight(i), s.X[i*s.P:(i+1)*s.P]
		for j, t := range terms {
			wx := w * x[t]
			e.right[j] += float64(wx * s.Y[i])
			for k, u := range terms[:j+1] {
				e.a[j][k] += float64(wx * x[u])
			}
		}
	}
	for j := range p {
		for k := range j {
			e.a[k][j] = e.a[j][k]
		}
	}
	return e
}

// apart is the part of the square of a term that the terms before it must leave.
const apart = 1e-9

// square returns a matrix of zeros.
func square(p int) [][]float64 {
	m := make([][]float64, p)
	for i := range m {
		m[i] = make([]float64, p)
	}
	return m
}

// solve returns the solution for each right-hand side, nil for terms that cannot be told
// apart.
func (e equations) solve(rights ...[]float64) (solutions [][]float64) {
	var norm []float64
	for j := range e.a {
		norm = append(norm, math.Sqrt(e.a[j][j]))
		if !(norm[j] > 0) || math.IsInf(norm[j], 1) {
			return nil
		}
	}
	// The factor of the equations with terms of norm 1 (Cholesky).
	l := square(len(e.a))
	for j, row := range l {
		for k := range j + 1 {
			rest := e.a[j][k] / norm[j] / norm[k]
			for m := range k {
				rest -= float64(row[m] * l[k][m])
			}
			if k < j {
				row[k] = rest / l[k][k]
			} else if row[j] = math.Sqrt(rest); !(rest > apart) {
				return nil
			}
		}
	}
	for _, right := range rights {
		x := make([]float64, len(right))
		for j := range x {
			x[j] = right[j] / norm[j]
			for k := range j {
				x[j] -= float64(l[j][k] * x[k])
			}
			x[j] /= l[j][j]
		}
		for j := len(x) - 1; j >= 0; j-- {
			for k := j + 1; k < len(x); k++ {
				x[j] -= float64(l[k][j] * x[k])
			}
			x[j] /= l[j][j]
		}
		for j := range x {
			x[j] /= norm[j]
		}
		solutions = append(solutions, x)
	}
	return solutions
}

// A term, and a split, must lower the root mean square of relative residuals by these
// parts at least, and by as much as the Bayesian criterion asks for.
const (
	gainOfTerm  = 0.05
	gainOfSplit = 0.15
)

// maxTerms bounds the terms that are chosen.
const maxTerms = 5

// score is what is minimised in the choice among models: n log(mean loss) and a
// penalty.
func score(n int, loss, paid float64) float64 {
	return float64(float64(n)*math.Log(loss/float64(n)+precise*precise)) + paid
}

// penalty is what a term or a split, which must gain a part, is worth at least.
func penalty(n int, gain float64) float64 {
	return max(2*math.Log(float64(n)), -2*float64(n)*math.Log1p(-gain))
}

// Select chooses terms one after the other, each time the one that lowers the loss
// most, as long as that is worth the penalty of a term. The first one is the earliest
// of all that are worse by no more than a penalty, so that what is expected stands
// first. It returns nil if no term alone fits.
func (s *Sample) Select() *Relative {
	n, least := len(s.Y), math.Inf(1)
	var alone []*Relative
	for t := range s.P {
		if r := s.Fit([]int{t}); r != nil {
			alone = append(alone, r)
			least = min(least, score(n, r.Loss, 0))
		}
	}
	first := slices.IndexFunc(alone, func(r *Relative) bool {
		return score(n, r.Loss, 0) <= least+penalty(n, gainOfTerm)
	})
	if first < 0 {
		return nil
	}
	best := alone[first]
	for len(best.Terms) < maxTerms {
		var next *Relative
		for t := range s.P {
			if slices.Contains(best.Terms, t) {
				continue
			}
			terms := slices.Sorted(slices.Values(append(slices.Clone(best.Terms), t)))
			if r := s.Fit(terms); r != nil && (next == nil || r.Loss < next.Loss*(1-1e-9)) {
				next = r
			}
		}
		if next == nil || score(n, next.Loss, penalty(n, gainOfTerm)) >= score(n, best.Loss, 0) {
			return best
		}
		best = next
	}
	return best
}

// Box is a part of a space: the places whose coordinates are above Lo and up to Hi.
type Box struct{ Lo, Hi []float64 }

// All returns the box that holds all places.
func All(dims int) Box {
	return Box{slices.Repeat([]float64{math.Inf(-1)}, dims), slices.Repeat([]float64{math.Inf(1)}, dims)}
}

// With returns the box with other bounds in one dimension.
func (b Box) With(dim int, lo, hi float64) Box {
	b = Box{slices.Clone(b.Lo), slices.Clone(b.Hi)}
	b.Lo[dim], b.Hi[dim] = lo, hi
	return b
}

// Has reports whether a place, which may have more coordinates, is in the box.
func (b Box) Has(at []float64) bool {
	for d := range b.Lo {
		if !(at[d] > b.Lo[d] && at[d] <= b.Hi[d]) {
			return false
		}
	}
	return true
}

// Part is a part of the points with a fit of its own: those in the box.
type Part struct {
	Box
	Fit    *Relative
	Points []int
}

// fewestPoints is the number of points that a part has at least.
const fewestPoints = 6

// mostCuts is the number of places at which a part is tried to be split in a
// coordinate.
const mostCuts = 12

// goodEnough is the relative error of a part below which it is not split: a threshold
// would be of the timings' noise, not of the kernel.
const goodEnough = 0.02

// Partition fits the sample in parts, at most so many, which are boxes in the
// coordinates of the points. It splits the part that gains most by it, each side with
// terms of its own, as long as a part errs by goodEnough or more, and returns the parts
// with the smallest score on the way: a curve may need two thresholds before one is
// worth its penalty and that of its terms. fit fits one part. It returns nil if there
// is no fit of all points.
func (s *Sample) Partition(at [][]float64, most int, fit func(*Sample) *Relative) []Part {
	first := Part{All(len(at[0])), fit(s), UpTo(len(s.Y))}
	if first.Fit == nil {
		return nil
	}
	parts := []Part{first}
	best := parts
	for len(parts) < most {
		if parts = s.split(parts, at, fit); parts == nil {
			break
		}
		if s.total(parts) < s.total(best) {
			best = parts
		}
	}
	return best
}

// total is the score of all parts together.
func (s *Sample) total(parts []Part) float64 {
	n, loss, paid := len(s.Y), 0.0, float64(len(parts)-1)*penalty(len(s.Y), gainOfSplit)
	for i := range parts {
		loss += parts[i].Fit.Loss
		paid += float64(float64(len(parts[i].Fit.Terms)) * penalty(n, gainOfTerm))
	}
	return score(n, loss, paid)
}

// split returns the parts with the one split that leaves the smallest score, nil if
// none can be: the best of some places in each coordinate, and then of all between that
// and those beside it.
func (s *Sample) split(parts []Part, at [][]float64, fit func(*Sample) *Relative) (best []Part) {
	for i := range parts {
		whole, weight := &parts[i], 0.0
		for _, j := range whole.Points {
			weight += s.W[j]
		}
		if math.Sqrt(whole.Fit.Loss/weight) < goodEnough {
			continue
		}
		for d := range at[0] {
			var values []float64 // different coordinates of the part, ascending
			for _, j := range whole.Points {
				values = append(values, at[j][d])
			}
			slices.Sort(values)
			values = slices.Compact(values)
			step := max(1, len(values)/mostCuts)
			// The best of some places first, then of all beside it: each try costs two
			// fits.
			rough, here := -1, []Part(nil)
			try := func(k int) {
				low := Part{Box: whole.With(d, whole.Lo[d], values[k])}
				high := Part{Box: whole.With(d, values[k], whole.Hi[d])}
				for _, j := range whole.Points {
					if at[j][d] <= values[k] {
						low.Points = append(low.Points, j)
					} else {
						high.Points = append(high.Points, j)
					}
				}
				if len(low.Points) < fewestPoints || len(high.Points) < fewestPoints {
					return
				}
				low.Fit, high.Fit = fit(s.Points(low.Points)), fit(s.Points(high.Points))
				if low.Fit == nil || high.Fit == nil {
					return
				}
				next := slices.Replace(slices.Clone(parts), i, i+1, low, high)
				if here == nil || s.total(next) < s.total(here) {
					rough, here = k, next
				}
			}
			for k := step - 1; k < len(values)-1; k += step {
				try(k)
			}
			for middle, k := rough, max(0, rough-step+1); middle >= 0 && k < min(middle+step, len(values)-1); k++ {
				try(k)
			}
			if here != nil && (best == nil || s.total(here) < s.total(best)) {
				best = here
			}
		}
	}
	return best
}
