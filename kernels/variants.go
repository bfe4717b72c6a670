package kernels

import (
	"hash/fnv"
	"slices"

	"reprise/internal/portable"
	"reprise/internal/textutil"
	"reprise/kernels/noise"
)

// This file derives sets from a set: with drawn coefficients or hosts, with a quicker kernel, with other noise.

// sharedError is a factor that the times of some kernels have in common, which is not known: the standard deviation of
// its logarithm.
type sharedError struct {
	kernels []textutil.Pattern
	sd      float64
	factor  float64 // that was drawn; 0: none
}

// DrawCoefficients returns the set with other coefficients: those of each piece with a covariance are drawn from the
// normal distribution whose mean is the file's, and factors that kernels share from the log-normal one around 1. The same
// source gives the same coefficients, whatever is bound.
func (s *Set) DrawCoefficients(from noise.Source) *Set {
	drawn := s.clone()
	for number, c := range drawn.uncertain() {
		deviates := make([]float64, len(c.terms))
		for i := range deviates {
			d := from.Draw(noise.Coefficient, 0, number, uint32(i))
			deviates[i] = d.Normal()
		}
		for i, row := range c.factor {
			for k, v := range row {
				c.terms[i].coef += float64(v * deviates[k])
			}
		}
	}
	for i := range drawn.shared {
		d := from.Draw(noise.SharedError, 0, 0, uint32(i))
		drawn.shared[i].factor = portable.Exp(float64(drawn.shared[i].sd * d.Normal()))
	}
	return drawn
}

// NetworkError returns the standard deviation of the logarithm of the times of messages; 0 if the file does not state it.
func (s *Set) NetworkError() float64 { return s.networkError }

// sharedFactor returns by how much the times of a kernel differ from the file's in this drawing.
func (s *Set) sharedFactor(kernel string) float64 {
	factor := 1.0
	for _, e := range s.shared {
		if e.factor > 0 && slices.ContainsFunc(e.kernels, func(p textutil.Pattern) bool { return p.Match(kernel) }) {
			factor *= e.factor
		}
	}
	return factor
}

// Uncertain reports whether some coefficients have a covariance, or kernels an error in common.
func (s *Set) Uncertain() bool {
	if len(s.shared) > 0 {
		return true
	}
	for range s.uncertain() {
		return true
	}
	return false
}

// uncertain yields the pieces whose coefficients have a covariance, in the order of the file, each with its number
// among all pieces.
func (s *Set) uncertain() func(yield func(uint32, *pieceSpec) bool) {
	return func(yield func(uint32, *pieceSpec) bool) {
		number := uint32(0)
		lists := [][]rule{s.base}
		for i := range s.overrides {
			lists = append(lists, s.overrides[i].rules)
		}
		for _, rules := range lists {
			for i := range rules {
				for k := range rules[i].model.pieces {
					if c := &rules[i].model.pieces[k]; c.factor != nil && !yield(number, c) {
						return
					}
					number++
				}
			}
		}
	}
}

// DrawHost returns the factor around 1 by which the times of a host differ from the others': its standard deviation is
// HostScatter, and it depends on the host's name and the source only.
func (s *Set) DrawHost(host string, from noise.Source) float64 {
	const least = 0.1 // factor
	name := fnv.New64a()
	_, _ = name.Write([]byte(host)) // a hash takes all
	d := from.Draw(noise.HostScatter, uint32(name.Sum64()>>32), uint32(name.Sum64()), 0)
	return max(least, 1+float64(s.scatter*d.Normal()))
}

// HostScatter returns the standard deviation of times from host to host, relative to those of the file; 0 if the file
// does not state it.
func (s *Set) HostScatter() float64 { return s.scatter }

// Quicker returns the set in which the kernel of a name is factor times as quick as before, on all hosts.
func (s *Set) Quicker(kernel string, factor float64) *Set {
	quick := s.clone()
	quick.quicker = append(quick.quicker, quickened{kernel, factor})
	return quick
}

// quickened is a kernel that is factor times as quick as the file says.
type quickened struct {
	kernel string
	factor float64
}

// Noisy returns the set in which calls of the kernels that match pattern have half-normal noise on all hosts, in
// place of the set's noise. deviation is its standard deviation relative to a call's mean time; 0 is no noise. If
// several patterns match a kernel, the last counts. Patterns are written as those of kernels in a file.
func (s *Set) Noisy(pattern string, deviation float64) (*Set, error) {
	p, err := textutil.ParsePattern(pattern)
	if err != nil {
		return nil, err
	}
	noisy := s.clone()
	law := &noiseSpec{}
	if deviation > 0 {
		law.law = noise.Law{Shape: noise.HalfNormal, Modes: []noise.Mode{{Weight: 1, SD: noise.Amount{Relative: deviation}}}}
	}
	noisy.noisy = append(noisy.noisy, noisyKernel{p, law})
	return noisy, nil
}

// noisyKernel is noise of kernels instead of that of the file.
type noisyKernel struct {
	pattern textutil.Pattern
	noise   *noiseSpec
}

// noiseOf returns the noise of a kernel whose noise in the file is said: that of the last Noisy which matches it,
// if any.
func (s *Set) noiseOf(kernel string, said *noiseSpec) *noiseSpec {
	for _, n := range s.noisy {
		if n.pattern.Match(kernel) {
			said = n.noise
		}
	}
	return said
}

// clone returns a set that has bound nothing, with rules copied as deep as DrawCoefficients changes them.
func (s *Set) clone() *Set {
	deep := func(rules []rule) []rule {
		rules = slices.Clone(rules)
		for i := range rules {
			m := &rules[i].model
			m.pieces = slices.Clone(m.pieces)
			for k := range m.pieces {
				m.pieces[k].terms = slices.Clone(m.pieces[k].terms)
			}
		}
		return rules
	}
	overrides := slices.Clone(s.overrides)
	for i := range overrides {
		overrides[i].rules = deep(overrides[i].rules)
	}
	c := newSet(s.name, s.cpusPerHost, deep(s.base), overrides)
	c.scatter, c.alone, c.quicker, c.noisy = s.scatter, s.alone, slices.Clone(s.quicker), slices.Clone(s.noisy)
	c.shared, c.networkError = slices.Clone(s.shared), s.networkError
	return c
}
