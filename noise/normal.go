package noise

import (
	"math"

	"reprise/internal/portable"
)

// quantile returns the standard normal quantile of p in (0,1), with a relative
// error of some 1e-16: algorithm AS 241, PPND16, of M. Wichura, "The percentage
// points of the normal distribution", Applied Statistics 37 (1988), by rational
// approximations.
func quantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * ratio(&central, r)
	}
	r := math.Sqrt(-portable.Log(min(p, 1-p)))
	z := 0.0
	if r <= 5 {
		z = ratio(&outer, r-1.6)
	} else {
		z = ratio(&tail, r-5)
	}
	return math.Copysign(z, q)
}

// rational is a quotient of two polynomials, highest power first.
type rational struct{ above, below [8]float64 }

// The three approximations, by |p - 1/2| and r = sqrt(-log(min(p, 1-p))).
var (
	central = rational{
		above: [8]float64{
			2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
			13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
		},
		below: [8]float64{
			5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
			5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1,
		},
	}
	outer = rational{ // r <= 5, in r - 1.6
		above: [8]float64{
			7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
			3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
		},
		below: [8]float64{
			1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
			0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1,
		},
	}
	tail = rational{ // r > 5, in r - 5
		above: [8]float64{
			2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
			0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772,
		},
		below: [8]float64{
			2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
			0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1,
		},
	}
)

func ratio(q *rational, x float64) float64 { return horner(&q.above, x) / horner(&q.below, x) }

func horner(c *[8]float64, x float64) float64 {
	y := float64(c[0]*x) + c[1]
	y = float64(y*x) + c[2]
	y = float64(y*x) + c[3]
	y = float64(y*x) + c[4]
	y = float64(y*x) + c[5]
	y = float64(y*x) + c[6]
	return float64(y*x) + c[7]
}
