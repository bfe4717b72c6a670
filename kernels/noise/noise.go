// Package noise draws the random parts of durations: laws that files can state,
// over random numbers that depend on nothing but their name.
//
// A [Law] is the distribution of an addition to a time that is known on average: normal or half-normal deviates, or a
// mixture of them, in seconds or as a part of that time. It is plain data; a [Source] has the randomness. Its numbers
// have no order. Each [Draw] is a function of a seed and of a name, the place of the draw in the program,
//
//	source := noise.NewSource(seed)
//	d := source.Draw(noise.Computation, rank, step, index)
//	seconds += law.Of(seconds, d)
//
// so that one rank's noise does not change with what other ranks do, with the order of events, or with the number of
// threads, and a part of a program that is played alone has the noise that it has in the whole.
//
// Numbers are the same bits on every machine: they come from integer arithmetic and from sums, products, quotients and
// square roots of doubles, each rounded by itself.
//
// # Units
//
// An [Amount] of a law is in seconds, plus a part of the time that it is added to.
//
// # Errors
//
// None: laws that cannot be drawn from are refused by the readers of files.
//
// # Source
//
// The numbers are those of Philox-4x32 (Salmon, Moraes, Dror, Shaw, SC 2011).
package noise

import (
	"math"
	"slices"

	"reprise/internal/portable"
)

// Shape is the form of a deviate.
type Shape uint8

// The two shapes. A half-normal deviate is |Z| for a standard normal Z, shifted
// and scaled: skewed to the right, as times are.
const (
	Normal Shape = iota
	HalfNormal
)

// String returns the name of the shape in files.
func (s Shape) String() string { return [...]string{Normal: "normal", HalfNormal: "half-normal"}[s] }

// Moments of |Z|: its mean sqrt(2/pi), and its standard deviation sqrt(1-2/pi).
const (
	halfNormalMean = 0.79788456080286535587989211986876
	halfNormalSD   = 0.60281027498908697427589953769408
)

// Deviate returns the deviate of the draw, with mean 0 and standard deviation 1.
func (s Shape) Deviate(d Draw) float64 {
	z := d.Normal()
	if s == HalfNormal {
		return (math.Abs(z) - halfNormalMean) / halfNormalSD
	}
	return z
}

// Amount is Fixed plus Relative times a time, the base.
type Amount struct{ Fixed, Relative float64 }

// Of returns the amount for a base.
func (a Amount) Of(base float64) float64 { return a.Fixed + float64(a.Relative*base) }

// Mode is one of the components of a law.
type Mode struct {
	Weight   float64 // its probability; those of a law add up to 1
	Mean, SD Amount
}

// Law is the distribution of what is added to a base: a mixture of deviates of one shape. The zero Law adds nothing.
type Law struct {
	Shape Shape
	Modes []Mode
}

// Of returns what a draw adds to a base. A negative standard deviation, such as
// that of a fit where it means nothing, mirrors the deviate.
func (l *Law) Of(base float64, d Draw) float64 {
	if len(l.Modes) == 0 {
		return 0
	}
	m, u := &l.Modes[0], d.mode() // the weights part [0,1): the mode is the one in whose part u lies
	for i := range l.Modes[1:] {
		if u < m.Weight {
			break
		}
		u -= m.Weight
		m = &l.Modes[i+1]
	}
	return m.Mean.Of(base) + float64(m.SD.Of(base)*l.Shape.Deviate(d))
}

// Mean returns the mean of what is added to a base.
func (l *Law) Mean(base float64) float64 {
	mean := 0.0
	for i := range l.Modes {
		mean += float64(l.Modes[i].Weight * l.Modes[i].Mean.Of(base))
	}
	return mean
}

// Variance returns the variance of what is added to a base.
func (l *Law) Variance(base float64) float64 {
	mean, variance := l.Mean(base), 0.0
	for i := range l.Modes {
		m := &l.Modes[i]
		off, sd := m.Mean.Of(base)-mean, m.SD.Of(base)
		variance += float64(m.Weight * (float64(off*off) + float64(sd*sd)))
	}
	return variance
}

// Scaled returns the law with its fixed amounts divided: for another unit of the base.
func (l *Law) Scaled(by float64) Law {
	scaled := Law{Shape: l.Shape}
	for _, m := range l.Modes {
		m.Mean.Fixed /= by
		m.SD.Fixed /= by
		scaled.Modes = append(scaled.Modes, m)
	}
	return scaled
}

// IsRelative reports whether all that the law adds is in proportion to the base.
func (l *Law) IsRelative() bool {
	return !slices.ContainsFunc(l.Modes, func(m Mode) bool { return m.Mean.Fixed != 0 || m.SD.Fixed != 0 })
}

// quantile returns the standard normal quantile of p in (0,1), with a relative error of some 1e-16: algorithm AS 241,
// PPND16, of M. Wichura, "The percentage points of the normal distribution", Applied Statistics 37 (1988), by rational
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

func ratio(q *rational, x float64) float64 {
	return portable.Polynomial(q.above[:], x) / portable.Polynomial(q.below[:], x)
}

// Skewed returns what a draw makes of a time that is known by its mean (above 0) and its standard deviation (at least
// 0) alone. It is never negative, and skewed to the right, as times are: an exponential one above the least possible,
//
//	mean - deviation + deviation*E
//
// for a standard exponential E. Where the deviation is larger than the mean it is one above 0
// that is there in the part p = 2/(1 + deviation²/mean²) of all draws, and has the mean mean/p.
func Skewed(mean, deviation float64, d Draw) float64 {
	exponential := -portable.Log(d.uniform())
	if deviation <= mean {
		return mean - deviation + float64(deviation*exponential)
	}
	ratio := deviation / mean
	p := 2 / (1 + float64(ratio*ratio))
	if d.mode() >= p {
		return 0
	}
	return mean / p * exponential
}

// Source is the randomness of one seed. It is immutable.
type Source struct{ key [2]uint32 }

// NewSource returns the source of a seed.
func NewSource(seed uint64) Source { return Source{[2]uint32{uint32(seed), uint32(seed >> 32)}} }

// Use says what a draw is for, so that the same place in a program has several.
type Use uint32

// The uses of draws.
const (
	Computation Use = iota
	SendOverhead
	RecvOverhead
	Latency
	Coefficient // of a kernel's model, by piece of its file and term
	HostScatter // by the name of the host
	SharedError // of kernels, by its place in their file
	NetworkError
)

// Draw is 128 random bits: one mode and one deviate.
type Draw [4]uint32

// Draw returns the bits of a name: the index-th draw for a use that a rank makes
// in a step. Different names have independent bits.
func (s Source) Draw(use Use, rank, step, index uint32) Draw {
	return philox([4]uint32{index, uint32(use), rank, step}, s.key)
}

// philox is Philox4x32-10 of J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC
// 2011): a bijection of the counter for each key, that passes BigCrush in either.
func philox(c [4]uint32, key [2]uint32) [4]uint32 {
	const (
		rounds      = 10
		multiplier0 = 0xD2511F53
		multiplier1 = 0xCD9E8D57
		weyl0       = 0x9E3779B9 // golden ratio
		weyl1       = 0xBB67AE85 // sqrt(3) - 1
	)
	for range rounds {
		p0, p1 := uint64(c[0])*multiplier0, uint64(c[2])*multiplier1
		c = [4]uint32{
			uint32(p1>>32) ^ c[1] ^ key[0], uint32(p1),
			uint32(p0>>32) ^ c[3] ^ key[1], uint32(p0),
		}
		key[0] += weyl0
		key[1] += weyl1
	}
	return c
}

// uniform returns a number in (0,1): an odd multiple of 2^-53.
func (d Draw) uniform() float64 {
	bits := uint64(d[0])<<32 | uint64(d[1])
	return float64(bits>>11|1) * 0x1p-53
}

// mode returns a number in [0,1) that is independent of Normal.
func (d Draw) mode() float64 { return float64(d[2]) * 0x1p-32 }

// Normal returns the standard normal deviate of the draw.
func (d Draw) Normal() float64 { return quantile(d.uniform()) }
