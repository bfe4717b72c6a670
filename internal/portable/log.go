package portable

import "math"

// series has the coefficients of s^22 to s^2 in 2(atanh(s)/s - 1).
var series = [...]float64{2. / 23, 2. / 21, 2. / 19, 2. / 17, 2. / 15, 2. / 13, 2. / 11, 2. / 9, 2. / 7, 2. / 5, 2. / 3, 0}

// The natural logarithm of 2, of which the first part has 33 bits, so that its multiples are exact.
const (
	ln2     = 0.6931471804855391
	ln2Rest = 7.440617110012397e-11
)

// Log returns the natural logarithm of x, with an error below 1 unit in the last
// place. With x = (1+f)*2^e, 1+f between sqrt(1/2) and sqrt(2), and s = f/(2+f),
// |s| < 0.172,
//
//	log x = e*log 2 + 2s(1 + s^2/3 + s^4/5 + ...)
//
// whose terms from s^24 on are less than 2e-20: Abramowitz and Stegun, 4.1.27. As 2s
// is f - fs, what is rounded before f is added is small.
func Log(x float64) float64 {
	switch {
	case x < 0 || math.IsNaN(x):
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	f := m - 1
	s := f / (2 + f)
	rest := float64(s * (f - polynomial(series[:], float64(s*s))))
	return float64(float64(e)*ln2) + (f - (rest - float64(float64(e)*ln2Rest)))
}

// polynomial returns the value at x of a polynomial, the coefficient of the highest
// power first, by Horner's rule.
func polynomial(c []float64, x float64) float64 {
	y := 0.
	for _, a := range c {
		y = float64(y*x) + a
	}
	return y
}
