// Package portable has elementary functions ([Atan], [Exp], [Log], [Polynomial]), a mixer of random bits ([Mix]) and
// solvers of linear equations ([Cholesky], [Semidefinite], [Forward], [Backward]) that give the same bits on every
// processor. The functions of package math are written in assembly for some processors and compiled with fused
// multiply-adds for others, so that their last bits differ. Code that decides a result uses this package, or functions
// that package math computes exactly or rounds correctly: Sqrt, Floor, Frexp and the like. scripts/arithmetic refuses the
// others.
//
// Special arguments are treated as in package math.
package portable

import "math"

// The approximation of (atan(t)/t - 1)/t^2 for |t| <= 2-sqrt(3), in t^2: highest power first.
var (
	atanAbove = [...]float64{-0.83758299368150059274, -8.4946240351320683534, -20.505855195861651981,
		-13.688768894191926929}
	atanBelow = [...]float64{1, 15.024001160028576121, 59.578436142597344465, 86.157349597130242515, 41.066306682575781263}
)

// centre is a number whose arc tangent is known, as a sum of two numbers.
type centre struct{ from, tan, atan, rest float64 }

// centres are those of arguments greater than from.
var centres = [...]centre{
	{},
	{0.26, 0.5, 0.4636476090008061, 2.2698777452961687e-17},
	{0.7, 1, 0.7853981633974483, 3.061616997868383e-17},
	{1.4, 2, 1.1071487177940904, 9.404471373566379e-17},
	{4, math.Inf(1), 1.5707963267948966, 6.123233995736766e-17},
}

// Atan returns the arc tangent of x in radians, between -Pi/2 and Pi/2, with an error
// below 1.5 units in the last place. With a number c near x,
//
//	atan(x) = atan(c) + atan(t),   t = (x-c) / (1+cx)
//
// where |t| <= 2-sqrt(3), for which W. Cody and W. Waite, Software Manual for the
// Elementary Functions (1980), chapter 11, give an approximation to 60 bits.
func Atan(x float64) float64 {
	f := math.Abs(x)
	c := &centres[0]
	for i := range centres {
		if f > centres[i].from {
			c = &centres[i]
		}
	}
	t := (f - c.tan) / (1 + float64(c.tan*f))
	if math.IsInf(c.tan, 1) {
		t = -1 / f
	}
	g := float64(t * t)
	curve := float64(t * float64(g*Polynomial(atanAbove[:], g)) / Polynomial(atanBelow[:], g))
	return math.Copysign(c.atan+(t+(curve+c.rest)), x)
}

// series has the coefficients of s^22 to s^2 in 2(atanh(s)/s - 1).
var series = [...]float64{2. / 23, 2. / 21, 2. / 19, 2. / 17, 2. / 15, 2. / 13, 2. / 11, 2. / 9, 2. / 7, 2. / 5, 2. / 3,
	0}

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
	rest := float64(s * (f - Polynomial(series[:], float64(s*s))))
	return float64(float64(e)*ln2) + (f - (rest - float64(float64(e)*ln2Rest)))
}

// inverse has the coefficients of x^14 to 1 in e^x.
var inverse = [...]float64{1. / 87178291200, 1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880,
	1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 0.5, 1, 1}

// Exp returns e^x, with an error below 2 units in the last place: 2^k times e^r with |r| < 0.35, by its series, whose
// terms from r^15 on are less than 2e-19.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1) || x > 710:
		return x * math.Inf(1)
	case x < -746:
		return 0
	}
	k := math.Floor(x/math.Ln2 + 0.5)
	r := (x - float64(k*ln2)) - float64(k*ln2Rest)
	return math.Ldexp(Polynomial(inverse[:], r), int(k))
}

// Polynomial returns the value at x of a polynomial, the coefficient of the highest power first, by Horner's rule.
func Polynomial(c []float64, x float64) float64 {
	y := 0.
	for _, a := range c {
		y = float64(y*x) + a
	}
	return y
}

// Mix is the finalizer of SplitMix64: Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014.
func Mix(c uint64) uint64 {
	z := c + 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// Square returns a p x p matrix of zeros.
func Square(p int) [][]float64 {
	m := make([][]float64, p)
	for i := range m {
		m[i] = make([]float64, p)
	}
	return m
}

// Cholesky replaces the lower half of a symmetric matrix by its factor L with L Lᵀ = a. It is plain loops rather than
// a library's kernels, which add in another order on each machine. The square of a pivot is least at least; the result
// is whether all are above that by themselves, as in a positive definite matrix.
func Cholesky(a [][]float64, least float64) bool {
	definite := true
	for i, row := range a {
		for j := range i + 1 {
			sum := row[j]
			for k := range j {
				sum -= float64(row[k] * a[j][k])
			}
			if j < i {
				row[j] = sum / a[j][j]
				continue
			}
			definite = definite && sum > least
			row[i] = math.Sqrt(max(sum, least))
		}
	}
	return definite
}

// Semidefinite replaces the lower half of a symmetric matrix, such as a covariance, by its factor L, and reports whether
// it is positive semi-definite to within tolerances, parts of the variance (on the diagonal) of its row. A pivot may be
// below zero by negative; one of at most zero is 0: the row is a sum of those before it, and has no column of its own. By
// off what is in that column may be apart from 0.
func Semidefinite(a [][]float64, negative, zero, off float64) bool {
	for i, row := range a {
		variance := row[i]
		for k, above := range a[:i] {
			rest := row[k]
			for m := range k {
				rest -= float64(row[m] * above[m])
			}
			switch {
			case above[k] > 0:
				row[k] = rest / above[k]
			case math.Abs(rest) > off*variance:
				return false
			default:
				row[k] = 0
			}
		}
		pivot := variance
		for _, v := range row[:i] {
			pivot -= float64(v * v)
		}
		if pivot < -negative*variance {
			return false
		}
		row[i] = 0
		if pivot > zero*variance {
			row[i] = math.Sqrt(pivot)
		}
	}
	return true
}

// Forward solves L x = b.
func Forward(l [][]float64, b []float64) []float64 {
	x := make([]float64, len(b))
	for i := range b {
		sum := b[i]
		for j := range i {
			sum -= float64(l[i][j] * x[j])
		}
		x[i] = sum / l[i][i]
	}
	return x
}

// Backward solves Lᵀ x = b.
func Backward(l [][]float64, b []float64) []float64 {
	x := make([]float64, len(b))
	for i := len(b) - 1; i >= 0; i-- {
		sum := b[i]
		for j := i + 1; j < len(b); j++ {
			sum -= float64(l[j][i] * x[j])
		}
		x[i] = sum / l[i][i]
	}
	return x
}
