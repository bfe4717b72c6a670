package calibrate

import (
	"fmt"
	"strings"
)

// Noise that a kernel file can have.
const (
	NoNoise    = "none"
	Normal     = "normal"
	HalfNormal = "half-normal"
)

// IsHalfNormal reports whether noise of a skewness is rather half-normal than normal.
func IsHalfNormal(skewness float64) bool { return skewness > halfNormalSkewness/2 }

// halfNormalSkewness is the skewness of half-normal noise, sqrt(2)(4-pi)/(pi-2)^1.5.
const halfNormalSkewness = 0.99527

// noise returns the law of a kernel file, "" for none, as where no size was timed twice:
// the deviation by the terms of the fit where there is one that grows with the size, else in percent of the
// time. A law that is to be chosen is the one whose skewness is nearer.
func (f *Fit) noise(law string) string {
	n := f.NoiseModel
	if law == "" || law == NoNoise || n == nil {
		return ""
	}
	if law == Auto {
		law = Normal
		if n.Skewness != nil && IsHalfNormal(*n.Skewness) {
			law = HalfNormal
		}
	}
	if len(n.Coefficients) == 0 || n.Coefficients[0].Value <= 0 {
		return fmt.Sprintf("{%s: %s%%}", law, FormatNumber(100*n.Variation))
	}
	return fmt.Sprintf("{%s: {%s}}", law, yamlTerms(n.Coefficients))
}

// name says which fit it is.
func (f *Fit) name() string {
	switch {
	case f.CPU != nil:
		return fmt.Sprintf("host %s, CPU %d", f.Host, *f.CPU)
	case f.Host != "":
		return "host " + f.Host
	}
	return "all timings"
}

func yamlTerms(list []Coefficient) string {
	var terms []string
	for _, c := range list {
		terms = append(terms, c.Term+": "+FormatNumber(c.Value))
	}
	return strings.Join(terms, ", ")
}
