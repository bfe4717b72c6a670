package noise

import "math"

// Shape is the form of a deviate.
type Shape uint8

// The two shapes. A half-normal deviate is |Z| for a standard normal Z, shifted
// and scaled: skewed to the right, as times are.
const (
	Normal Shape = iota
	HalfNormal
)

// String returns the name of the shape in files.
func (s Shape) String() string {
	if s == HalfNormal {
		return "half-normal"
	}
	return "normal"
}

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

// Law is the distribution of what is added to a base: a mixture of deviates of one
// shape. The zero Law adds nothing.
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
	m := l.pick(d)
	return m.Mean.Of(base) + float64(m.SD.Of(base)*l.Shape.Deviate(d))
}

// pick returns the mode of a draw.
func (l *Law) pick(d Draw) *Mode {
	last := len(l.Modes) - 1
	u := d.mode()
	for i := range l.Modes[:last] {
		if u < l.Modes[i].Weight {
			return &l.Modes[i]
		}
		u -= l.Modes[i].Weight
	}
	return &l.Modes[last]
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

// Scaled returns the law with its fixed amounts divided: for another unit of
// the base.
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
	for _, m := range l.Modes {
		if m.Mean.Fixed != 0 || m.SD.Fixed != 0 {
			return false
		}
	}
	return true
}
