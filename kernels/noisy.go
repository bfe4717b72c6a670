package kernels

import (
	"reprise/internal/namepattern"
	"reprise/noise"
)

// Noisy returns the set in which calls of the kernels of a pattern have half-normal noise with
// that standard deviation, relative to their mean times, on all hosts, in place of what the
// set says. 0 is no noise. Of several for a kernel the last counts. Patterns are as those of
// kernels in a file.
func (s *Set) Noisy(pattern string, deviation float64) (*Set, error) {
	p, err := namepattern.Parse(pattern)
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

// noisyKernel is noise of kernels in place of what the file says.
type noisyKernel struct {
	pattern namepattern.Pattern
	noise   *noiseSpec
}

// noiseOf returns the noise of a kernel of which the file says this.
func (s *Set) noiseOf(kernel string, said *noiseSpec) *noiseSpec {
	for _, n := range s.noisy {
		if n.pattern.Match(kernel) {
			said = n.noise
		}
	}
	return said
}
