// Package design makes designs of experiments: lists of rows, each of which has the number, from
// 0, of a level for every factor.
//
//	rows := design.Full([]int{3, 2})                // all 6 combinations of 3 and 2 levels
//	f, err := design.NewFractional(7, 4)            // 8 of 2^7 combinations
//	fmt.Println(f.Resolution, f.Generators, f.Rows) // 3 [D=AB E=AC F=BC G=ABC]
//	places := design.LatinHypercube(20, 3, 1)       // 20 points of (0,1)^3
//
// The package knows numbers only: package study gives factors and levels their names, and package
// effects reads the results.
//
// # Units
//
// Factors and levels are numbers from 0; coordinates of a Latin hypercube lie in (0,1).
//
// # Errors
//
// A design of more than [MaxRows] rows is an error, which is returned before the rows are allocated.
//
// # Source
//
// Box, Hunter and Hunter, Statistics for Experimenters, chapters 5 and 6; McKay, Beckman and
// Conover, Technometrics 21 (1979) 239, for Latin hypercubes.
package design

import (
	"fmt"
	"math/bits"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"reprise/internal/portable"
)

const (
	MaxRows    = 1 << 20 // rows of a design
	MaxFactors = 20      // factors of a fractional design

	// maxSteps bounds the search for one resolution, in comparisons of two words. The designs of
	// the published tables take far fewer.
	maxSteps = 1 << 24
)

// Full returns all combinations of levels; levels[f] is the number of levels of factor f. The
// last factor changes fastest.
func Full(levels []int) ([][]int, error) {
	n := 1
	for _, l := range levels {
		if l < 1 || n > MaxRows/l {
			return nil, fmt.Errorf("a full design of more than %d runs", MaxRows)
		}
		n *= l
	}
	if len(levels) == 0 {
		return [][]int{{}}, nil // without factors there is one run
	}
	return combin.Cartesian(levels), nil
}

// OneAtATime returns the row of all first levels, and then the other levels of each factor with
// the first levels of all other factors.
func OneAtATime(levels []int) ([][]int, error) {
	n := 1
	for _, l := range levels {
		if n += l - 1; n > MaxRows {
			return nil, fmt.Errorf("a design of more than %d runs", MaxRows)
		}
	}
	rows := [][]int{make([]int, len(levels))}
	for f, l := range levels {
		for level := 1; level < l; level++ {
			row := make([]int, len(levels))
			row[f] = level
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// Fractional is a regular fraction of all combinations of two levels.
type Fractional struct {
	Rows [][]int
	// Resolution is the length of the shortest word of the defining relation: with 3, main effects are confounded with
	// interactions of two factors; with 4, these interactions with each other; with 5, neither.
	Resolution int
	// Generators say how the levels of the last factors follow from those of the first, which are
	// called A, B and so on: D=AB.
	Generators []string
}

// NewFractional returns a fraction of 2^(factors-dropped) rows, of the highest resolution that is
// found. The first factors-dropped factors have all combinations of levels. The level of each
// other factor is the sum modulo 2 of the levels of the factors in its generator, and one more if
// these are an even number, so that the row of all second levels is in the design.
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
		if !s.extend([]uint32{0}, 0) {
			continue
		}
		f := &Fractional{Resolution: resolution}
		letter := func(factor int) string { return string(rune('A' + factor)) }
		for i, g := range s.generators {
			text := letter(base+i) + "="
			for b := range base {
				if g>>b&1 == 1 {
					text += letter(b)
				}
			}
			f.Generators = append(f.Generators, text)
		}
		for i := range 1 << base {
			row := make([]int, factors)
			second := uint32(0) // the base factors that have their second level, as bits
			for b := range base {
				row[b] = i >> (base - 1 - b) & 1
				second |= uint32(row[b]) << b
			}
			for j, g := range s.generators {
				// With levels as -1 and 1 this is the product of the levels in the generator.
				row[base+j] = 1 - bits.OnesCount32(g&^second)%2
			}
			f.Rows = append(f.Rows, row)
		}
		return f, nil
	}
	return nil, fmt.Errorf("no fraction of %d factors and 2^%d rows was found", factors, base)
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

// search looks for generators with which no word of the defining relation is shorter than least. Words are sets of
// factors, as bits; the words of a design are a group under symmetric difference.
type search struct {
	base, factors, least int
	generators           []uint32 // each a set of base factors
	steps                int      // comparisons that are left before the search gives up
}

// extend finds the generators that are missing, in ascending order behind after; words is the
// group so far, of which the first is the empty word.
func (s *search) extend(words []uint32, after uint32) bool {
	added := s.base + len(s.generators)
	if added == s.factors {
		return true
	}
next:
	for g := after + 1; g < 1<<s.base && s.steps > 0; g++ {
		s.steps -= len(words)
		word := g | 1<<added
		if bits.OnesCount32(g) < 2 {
			continue
		}
		for _, w := range words { // the product with the empty word is the word itself
			if bits.OnesCount32(w^word) < s.least {
				continue next
			}
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

// LatinHypercube returns n points of (0,1)^factors: along each axis the points lie in the middles
// of n equal parts, one in each part, in an order that the seed determines.
func LatinHypercube(n, factors int, seed uint64) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, factors)
	}
	order := make([]int, n)
	for f := range factors {
		for i := range order {
			order[i] = i
		}
		// Fisher-Yates with a generator that is the same on all machines and in all versions.
		state := portable.Mix(seed ^ portable.Mix(uint64(f)+1))
		for i := n - 1; i > 0; i-- {
			state = portable.Mix(state)
			j := int(state % uint64(i+1))
			order[i], order[j] = order[j], order[i]
		}
		for i, part := range order {
			points[i][f] = (float64(part) + 0.5) / float64(n)
		}
	}
	return points
}
