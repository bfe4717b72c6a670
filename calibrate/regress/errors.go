package regress

import "math"

// logErrors returns the standard errors of a line that was fitted to the points (x, exp(l)) on
// logarithms, whose residuals are l - log(a + bx). Their derivatives by log a and log b are the parts
// p = a/(a + bx) and q = 1 - p of the line, so that the errors are, to first order, a and b times
//
//	sqrt(s2 * sum(q q)/d), sqrt(s2 * sum(p p)/d)    d = sum(p p)*sum(q q) - sum(p q)^2
//
// with s2 the sum of squares by the number of points less that of the coefficients. They suppose independent relative
// errors of the same size, and do not know that breakpoints were chosen.
func logErrors(line Line, x, l []float64) Line {
	var pp, pq, qq, sse float64
	for i := range x {
		at := line.At(x[i])
		p, q := line.Intercept/at, float64(line.Slope*x[i])/at
		e := l[i] - math.Log(at)
		pp, pq, qq, sse = pp+float64(p*p), pq+float64(p*q), qq+float64(q*q), sse+float64(e*e)
	}
	a, b := deviations(pp, pq, qq, line, sse, len(x))
	return Line{Intercept: line.Intercept * a, Slope: line.Slope * b}
}

// plainErrors returns the standard errors of a line that was fitted by weighted least squares.
func plainErrors(line Line, x, y, w []float64) Line {
	var pp, pq, qq, sse float64
	for i := range x {
		e := y[i] - line.At(x[i])
		pp, pq, qq, sse = pp+w[i], pq+float64(w[i]*x[i]), qq+float64(w[i]*float64(x[i]*x[i])), sse+float64(w[i]*float64(e*e))
	}
	a, b := deviations(pp, pq, qq, line, sse, len(x))
	return Line{Intercept: a, Slope: b}
}

// deviations returns the standard deviations of two coefficients with the normal matrix
// (pp pq, pq qq), or of the one that is not zero; 0 where no point is left to tell.
func deviations(pp, pq, qq float64, line Line, sse float64, n int) (a, b float64) {
	root := func(variance float64, coefficients int) float64 {
		if n <= coefficients || !(variance > 0) || math.IsInf(variance, 1) {
			return 0
		}
		return math.Sqrt(sse / float64(n-coefficients) * variance)
	}
	switch {
	case line.Slope == 0:
		return root(1/pp, 1), 0
	case line.Intercept == 0:
		return 0, root(1/qq, 1)
	}
	d := float64(pp*qq) - float64(pq*pq)
	return root(qq/d, 2), root(pp/d, 2)
}
