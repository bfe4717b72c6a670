package design

import (
	"fmt"
	"math/bits"
	"strings"
)

// MaxFactors is the largest number of factors of a fractional design.
const MaxFactors = 20

// Fractional is a regular fraction of all combinations of two levels.
type Fractional struct {
	Rows [][]int
	// Resolution is the length of the shortest word: with 3, main effects are confounded with
	// interactions of two factors; with 4, these with each other; with 5, neither.
	Resolution int
	// Generators say how the levels of the last factors follow from those of the first, A, B and
	// so on, as D=AB.
	Generators []string
}

// NewFractional returns a fraction of 2^(factors-dropped) rows, of the highest resolution
// that is found. A level of a dropped factor is the sum modulo 2 of those of the factors in
// its generator, and one more if these are an even number, so that the row of all second
// levels is in the design.
func NewFractional(factors, dropped int) (*Fractional, error) {
	base := factors - dropped
	switch {
	case factors < 2 || factors > MaxFactors:
		return nil, fmt.Errorf("a fractional design of %d factors, want 2 to %d", factors, MaxFactors)
	case dropped < 1 || base < 2 || dropped > 1<<base-base-1:
		return nil, fmt.Errorf("no fraction 1/%d of 2^%d combinations keeps all main effects apart", 1<<max(0, dropped),
			factors)
	}
	for resolution := factors; resolution >= 3; resolution-- {
		s := search{base: base, factors: factors, least: resolution, steps: maxSteps}
		if s.extend([]uint32{0}, 0) {
			return s.design(resolution), nil
		}
	}
	return nil, fmt.Errorf("no fraction of %d factors and 2^%d rows was found", factors, base)
}

// maxSteps bounds a search for one resolution: words that are compared.
const maxSteps = 1 << 24

// search looks for generators such that no word is shorter than least.
type search struct {
	base, factors, least int
	generators           []uint32 // of the base factors
	steps                int
}

// extend finds the generators that are missing, given the group of words so far, of which
// the first is the empty one; the next generator comes behind after.
func (s *search) extend(words []uint32, after uint32) bool {
	added := s.base + len(s.generators)
	if added == s.factors {
		return true
	}
	for g := after + 1; g < 1<<s.base && s.steps > 0; g++ {
		s.steps -= len(words)
		word := g | 1<<added
		if bits.OnesCount32(g) < 2 || !s.longEnough(words, word) {
			continue
		}
		more := append(words[:len(words):len(words)], words...)
		for i := range words {
			more[len(words)+i] ^= word
		}
		s.generators = append(s.generators, g)
		if s.extend(more, g) {
			return true
		}
		s.generators = s.generators[:len(s.generators)-1]
	}
	return false
}

// longEnough reports whether a new word and its products with all others are not too short.
func (s *search) longEnough(words []uint32, word uint32) bool {
	for _, w := range words {
		if bits.OnesCount32(w^word) < s.least {
			return false
		}
	}
	return true
}

// design makes the rows.
func (s *search) design(resolution int) *Fractional {
	f := &Fractional{Resolution: resolution}
	for i, g := range s.generators {
		text := letter(s.base+i) + "="
		for b := range s.base {
			if g>>b&1 == 1 {
				text += letter(b)
			}
		}
		f.Generators = append(f.Generators, text)
	}
	for i := range 1 << s.base {
		row := make([]int, s.factors)
		for b := range s.base {
			row[b] = i >> (s.base - 1 - b) & 1
		}
		for j, g := range s.generators {
			row[s.base+j] = signOf(row[:s.base], g)
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// signOf is the product of the levels in a word, as -1 and 1, as a level.
func signOf(row []int, word uint32) int {
	low := 0
	for b, level := range row {
		if word>>b&1 == 1 && level == 0 {
			low++
		}
	}
	return 1 - low%2
}

// Named returns the generators by names of the factors, as SWAP=NB*DEPTH for C=AB.
func (f *Fractional) Named(names []string) []string {
	var list []string
	for _, g := range f.Generators {
		var of []string
		for _, l := range strings.Replace(g, "=", "", 1) {
			of = append(of, names[l-'A'])
		}
		list = append(list, of[0]+"="+strings.Join(of[1:], "*"))
	}
	return list
}

func letter(factor int) string { return string(rune('A' + factor)) }
