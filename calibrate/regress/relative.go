package regress

import (
	"math"
	"slices"

	"reprise/internal/portable"
)

// This file fits times of kernels by relative residuals: Sample.Select chooses the terms,
// Sample.Fit fits given ones. Sample.Partition (boxes.go) does so in parts of the range of sizes.

// Relative is a fit of times by terms with coefficients above zero. It minimises relative
// residuals, of which large ones count less (Huber).
type Relative struct {
	Terms      []int       // indices of the terms of the sample that it has
	Coef       []float64   // of each of them
	Covariance [][]float64 // of the coefficients, by the residuals (sandwich)
	Loss       float64     // the sum of the weighted losses
	N          int         // number of points
}

// Sample is the data of a Relative: points with the values of all terms, times above zero, and weights, 1 on average.
type Sample struct {
	P    int       // number of terms
	X    []float64 // of each point, row by row
	Y, W []float64 // times and weights
}

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

// A term must lower the root mean square of the relative residuals by the part gainOfTerm at least,
// a split by gainOfSplit, and both by as much as the Bayesian criterion asks for.
const (
	gainOfTerm  = 0.05
	gainOfSplit = 0.15
	maxTerms    = 5 // that Select chooses
)

// Select chooses terms. The first is the earliest of the sample's terms whose fit alone is worse than the best by no
// more than a penalty, so that callers list the expected terms first. Each further one lowers the loss most, and is
// taken if that is worth the penalty of a term. It returns nil if no term alone fits.
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

// score is what a choice among models minimises: n log(mean loss) and a penalty.
func score(n int, loss, paid float64) float64 {
	return float64(float64(n)*math.Log(loss/float64(n)+precise*precise)) + paid
}

// penalty is by how much a term or a split must lower the score, where gain is gainOfTerm or gainOfSplit.
func penalty(n int, gain float64) float64 {
	return max(2*math.Log(float64(n)), -2*float64(n)*math.Log1p(-gain))
}

// Constants of the fit. Residuals beyond huber standard deviations count less; where models are compared, those beyond
// farOff, a part of the time. No time is taken to be measured more precisely than the part precise of it.
const (
	huber      = 1.345
	farOff     = 0.2
	precise    = 3e-3
	iterations = 12
)

// Fit fits some of the terms by least squares, again and again, with weights that follow from the fit before. Residuals
// are divided by the fitted time, as a measured one would be large where its residual is. Fit returns nil if there are
// no more points than terms, if the points cannot tell the terms apart, or if a coefficient is not above zero.
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
		// Huber's weights. The standard deviation of normal residuals is 1.4826 times the median of
		// their absolute values, which large residuals do not change.
		slices.Sort(size)
		bound := huber * max(precise, 1.4826*size[len(size)/2])
		for i, e := range residuals {
			weights[i] = min(1, bound/math.Abs(e))
		}
	}
	if slices.ContainsFunc(r.Coef, func(c float64) bool { return !(c > 0) }) {
		return nil
	}
	// Models are compared by losses that are squares up to farOff and grow linearly beyond, whatever their scatter is.
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

// leastFree is the least that residuals are divided by in sandwich.
const leastFree = 0.1

// sandwich returns the covariance of the coefficients that follows from the residuals as they are (H. White, 1980):
// A⁻¹BA⁻¹, where A is the sum of weight times xxᵀ and B that of squared weight times squared residual times xxᵀ. Each
// residual is divided by 1 minus the leverage of its point (HC3 of J. MacKinnon and H. White, 1985), as the fit follows
// points of high leverage. Its square is averaged with the mean square of all residuals: where two or three points
// decide a fit, their residuals may be small by chance.
func (s *Sample) sandwich(terms []int, weights, residuals, scale []float64) [][]float64 {
	w := func(i int) float64 { return s.W[i] * weights[i] / scale[i] / scale[i] }
	p := len(terms)
	units := portable.Square(p)
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
	list := portable.Square(p)
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

// equations are normal equations, whose terms are scaled to norm 1.
type equations struct {
	a     [][]float64
	right []float64
}

// normal returns the equations of some terms, each point counting by its weight.
func (s *Sample) normal(terms []int, weight func(i int) float64) equations {
	p := len(terms)
	e := equations{portable.Square(p), make([]float64, p)}
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

// solve returns the solution for each right-hand side, nil for terms that cannot be told apart.
func (e equations) solve(rights ...[]float64) (solutions [][]float64) {
	var norm []float64
	for j := range e.a {
		norm = append(norm, math.Sqrt(e.a[j][j]))
		if !(norm[j] > 0) || math.IsInf(norm[j], 1) {
			return nil
		}
	}
	// The factor of the equations with terms of norm 1.
	l := portable.Square(len(e.a))
	for j, row := range l {
		for k := range j + 1 {
			row[k] = e.a[j][k] / norm[j] / norm[k]
		}
	}
	if !portable.Cholesky(l, apart) {
		return nil
	}
	for _, right := range rights {
		b := make([]float64, len(right))
		for j := range b {
			b[j] = right[j] / norm[j]
		}
		x := portable.Backward(l, portable.Forward(l, b))
		for j := range x {
			x[j] /= norm[j]
		}
		solutions = append(solutions, x)
	}
	return solutions
}
