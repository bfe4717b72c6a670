// Package regress fits models to measured times, in three ways:
//
//	line, err := regress.LeastSquares(x, y, nil, 2)             // linear.go: least squares in given terms, with errors
//	pieces, err := regress.LearnPieces(points, o)              // pieces.go: lines in one variable, learned breakpoints
//	parts := sample.Partition(at, 4, (*regress.Sample).Select) // relative.go, boxes.go: sums of chosen terms, in boxes
//
// LearnPieces fits logarithms, with coefficients that are not negative. A [Sample] is fitted by relative residuals, of
// which large ones count less (Huber), with coefficients above zero: [Sample.Select] chooses among its terms, and
// [Sample.Partition] fits boxes of the range of sizes each with terms of their own.
//
// # Units
//
// A coefficient is in the unit of y by that of its term.
//
// # Errors
//
// [ErrTooFew], [ErrRank] and [ErrPoints] say why a fit would mean nothing.
//
// # Source
//
// Linear fits go by Gonum's decompositions. Criteria are those of H. Akaike, "A New Look at the Statistical Model
// Identification", IEEE Transactions on Automatic Control 19, 1974, of G. Schwarz, "Estimating the Dimension of a
// Model", Annals of Statistics 6, 1978, and of A. McQuarrie, "A small-sample correction for the Schwarz SIC model
// selection criterion", Statistics & Probability Letters 44, 1999.
package regress

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Errors of fits that would mean nothing, wrapped with what was found.
var (
	ErrTooFew = errors.New("too few points")
	ErrRank   = errors.New("terms that the points cannot tell apart")
)

// maxCondition is the largest condition number of the terms, each scaled to norm 1, with which a
// fit is not refused: half of the digits of a float64 are still right in the coefficients.
const maxCondition = 1e8

// Linear is a fit of y to a sum of coefficients times terms.
type Linear struct {
	Coef   []float64 // of each term
	StdErr []float64 // standard error of each coefficient
	N      int       // number of points
	RSS    float64   // weighted sum of squared residuals
	R2     float64   // 1 - RSS / weighted sum of squares about the weighted mean; 1 if there is no scatter
	Cond   float64   // condition number of the scaled terms
}

// Sigma returns the standard deviation of the residuals, with n - p degrees of freedom.
func (l *Linear) Sigma() float64 { return math.Sqrt(l.RSS / float64(l.N-len(l.Coef))) }

// Criteria returns Akaike's and Schwarz's information criterion for normal residuals of unknown variance, constants of
// the data left out: n log(RSS/n) plus 2k or k log n, where k counts the coefficients and the variance.
func (l *Linear) Criteria() (aic, bic float64) {
	n, k := float64(l.N), float64(len(l.Coef)+1)
	likelihood := n * math.Log(max(l.RSS/n, math.SmallestNonzeroFloat64)) // -2 log L up to a constant
	return likelihood + 2*k, likelihood + float64(math.Log(n)*k)
}

// LeastSquares fits y[i] to the sum over j of Coef[j]*x[i*p+j], where p is the number of terms: x holds the terms of
// each point, row by row. It minimises the sum of w[i] times squared residual; without w, all weights are 1. There must
// be more points than terms (else ErrTooFew), and the terms must be independent (else ErrRank).
//
// The fit is by QR decomposition of the terms, scaled to norm 1; the standard errors
// are those of ordinary least squares, RSS/(n-p) times the diagonal of (XᵀWX)⁻¹.
func LeastSquares(x, y, w []float64, p int) (*Linear, error) {
	n := len(y)
	if n <= p {
		return nil, fmt.Errorf("%w: %d for %d coefficients, want at least %d", ErrTooFew, n, p, p+1)
	}
	if w == nil {
		w = slices.Repeat([]float64{1}, n)
	}
	// Rows are multiplied by the root of their weight, columns divided by their norm:
	// condition numbers would otherwise depend on the units of the terms.
	data, right, scale := make([]float64, n*p), make([]float64, n), make([]float64, p)
	for i := range n {
		root := math.Sqrt(w[i])
		right[i] = root * y[i]
		for j := range p {
			v := root * x[i*p+j]
			data[i*p+j] = v
			scale[j] = math.Hypot(scale[j], v)
		}
	}
	for j, s := range scale {
		if s == 0 {
			return nil, fmt.Errorf("%w: term %d is 0 at all of them", ErrRank, j+1)
		}
	}
	for i := range data {
		data[i] /= scale[i%p]
	}
	// The singular values of R are those of the terms. R is small, so that its inverse
	// costs nothing beside the decomposition; (XᵀX)⁻¹ is R⁻¹ times its transpose.
	var qr mat.QR
	qr.Factorize(mat.NewDense(n, p, data))
	var full, inverse, z mat.Dense
	qr.RTo(&full)
	r := full.Slice(0, p, 0, p)
	var svd mat.SVD
	cond := math.Inf(1)
	if svd.Factorize(r, mat.SVDNone) {
		values := svd.Values(nil)
		cond = values[0] / values[p-1]
	}
	if !(cond <= maxCondition) {
		return nil, fmt.Errorf("%w: condition number %.1e, want at most %.0e", ErrRank, cond, maxCondition)
	}
	_ = inverse.Inverse(r) // its only error is a large condition number, which was checked
	if err := qr.SolveTo(&z, false, mat.NewDense(n, 1, right)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRank, err)
	}
	l := &Linear{Coef: make([]float64, p), StdErr: make([]float64, p), N: n, Cond: cond, R2: 1}
	for j := range p {
		l.Coef[j] = z.At(j, 0) / scale[j]
	}
	// The mean is summed as a difference from the first value, so that of equal values it is that value and R² is 1.
	more, total := 0.0, 0.0
	for i, v := range y {
		more += float64(w[i] * (v - y[0]))
		total += w[i]
	}
	mean, tss := y[0]+more/total, 0.0
	for i, v := range y {
		e := v - Dot(l.Coef, x[i*p:(i+1)*p])
		l.RSS += float64(w[i] * float64(e*e))
		tss += float64(w[i] * float64((v-mean)*(v-mean)))
	}
	if tss != 0 {
		l.R2 = 1 - l.RSS/tss
	}
	variance := l.RSS / float64(n-p)
	for j := range p {
		sum := 0.0
		for k := range p {
			sum += float64(inverse.At(j, k) * inverse.At(j, k))
		}
		l.StdErr[j] = math.Sqrt(variance*sum) / scale[j]
	}
	return l, nil
}

// Dot returns the sum of products of equally many coefficients and terms.
func Dot(coef, terms []float64) float64 {
	sum := 0.0
	for j, c := range coef {
		sum += float64(c * terms[j])
	}
	return sum
}
