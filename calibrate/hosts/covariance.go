package hosts

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"reprise/internal/portable"
)

// This file has the algebra of covariances: checkCovariance and factor for models, semidefinite for estimates.

// checkCovariance returns the error of a matrix that is no covariance of p variables.
func checkCovariance(m [][]float64, p int) error {
	if len(m) != p {
		return fmt.Errorf("%d rows, want %d, one for each variable", len(m), p)
	}
	for i, row := range m {
		if len(row) != p {
			return fmt.Errorf("row %d: %d numbers, want %d", i+1, len(row), p)
		}
		for j, x := range row {
			if !isFinite(x) {
				return fmt.Errorf("row %d, column %d: %g, want a finite number", i+1, j+1, x)
			}
		}
		if row[i] < 0 {
			return fmt.Errorf("row %d: variance %g, want 0 or more", i+1, row[i])
		}
	}
	// The tolerance is that of numbers in files, which are rounded.
	for i := range m {
		for j := range i {
			if scale := deviation(m, i) * deviation(m, j); !(math.Abs(m[i][j]-m[j][i]) <= symmetryTolerance*scale) {
				return fmt.Errorf("not symmetric: %g in row %d, column %d, and %g in row %d, column %d", m[i][j], i+1, j+1, m[j][i],
					j+1, i+1)
			}
		}
	}
	_, err := factor(m)
	return err
}

// errIndefinite is about a matrix by which some sum of variables would have a variance below zero.
var errIndefinite = errors.New("not positive semi-definite: correlations contradict each other")

// Tolerances of covariances, scaled to variances of 1: those in files are rounded.
const (
	symmetryTolerance = 1e-6
	pivotTolerance    = 1e-6
)

// factor returns the lower triangle l with l·lᵀ = m, which is positive semi-definite (Cholesky, of
// correlations). A variable that those before it determine has no column of its own. So the draws
// of a variable do not depend on those after it.
func factor(m [][]float64) ([][]float64, error) {
	// Tolerances hold for correlations, whatever the units of the variables.
	l := portable.Square(len(m))
	for i := range l {
		for j := range i + 1 {
			if scale := deviation(m, i) * deviation(m, j); scale != 0 {
				l[i][j] = m[i][j] / scale
			} else if m[i][j] != 0 {
				return nil, errIndefinite // a covariance without a variance
			}
		}
	}
	if !portable.Semidefinite(l, pivotTolerance, pivotTolerance, math.Sqrt(2*pivotTolerance)) {
		return nil, errIndefinite
	}
	// The factor of the correlations becomes that of the covariances: row by row it is scaled by the deviations.
	for i := range l {
		for j := range l[i] {
			l[i][j] *= deviation(m, i)
		}
	}
	return l, nil
}

// semidefinite makes a covariance of an estimate that may not be one. A variance that is not above
// zero becomes 0, with its covariances; other variances stay as they are. The correlations of the
// other variables are multiplied by the largest factor up to 1 with which no sum of variables has a
// variance below zero. It returns the variables without a variance, and the factor.
func semidefinite(m [][]float64) (c [][]float64, none []int, factor float64) {
	// Correlations are looked at, as variables differ by orders of magnitude. One without a
	// variance has none with others.
	p := len(m)
	c = portable.Square(p)
	s := mat.NewSymDense(p, nil)
	for i := range p {
		if m[i][i] <= 0 {
			none = append(none, i)
			s.SetSym(i, i, 1)
			continue
		}
		for j := range i + 1 {
			if m[j][j] > 0 {
				c[i][j], c[j][i] = m[i][j], m[i][j]
				s.SetSym(i, j, m[i][j]/deviation(m, i)/deviation(m, j))
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		panic("hosts: no eigenvalues of a symmetric matrix")
	}
	// Eigenvalues come in ascending order, and the least one decides about the sign of every variance of a sum.
	least := e.Values(nil)[0] // that of factor times correlations, plus 1: 1 + factor*(least - 1)
	if least >= -rounding {
		return c, none, 1
	}
	// A factor f makes 1 + f(least - 1) of the least eigenvalue, which must not be below 0.
	factor = 1 / (1 - least)
	for i := range p {
		for j := range i {
			c[i][j] *= factor
			c[j][i] = c[i][j]
		}
	}
	return c, none, factor
}

// rounding is how far eigenvalues of correlations may be below zero by rounding alone.
const rounding = 1e-12

// deviation returns the standard deviation of variable i.
func deviation(m [][]float64, i int) float64 { return math.Sqrt(m[i][i]) }

// addOuter adds weight·v·vᵀ to m, where v is x less its mean.
func addOuter(m [][]float64, x, mean []float64, weight float64) {
	for i := range x {
		for j := range x {
			m[i][j] += float64(weight * (x[i] - mean[i]) * (x[j] - mean[j]))
		}
	}
}
