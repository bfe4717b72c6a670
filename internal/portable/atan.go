package portable

import "math"

// The approximation of (atan(t)/t - 1)/t^2 for |t| <= 2-sqrt(3), in t^2: highest power
// first.
var (
	atanAbove = [...]float64{-0.83758299368150059274, -8.4946240351320683534, -20.505855195861651981, -13.688768894191926929}
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
	curve := float64(t * float64(g*polynomial(atanAbove[:], g)) / polynomial(atanBelow[:], g))
	return math.Copysign(c.atan+(t+(curve+c.rest)), x)
}
