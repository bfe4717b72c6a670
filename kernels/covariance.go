package kernels

import (
	"math"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"reprise/noise"
)

// covariance parses the lower triangle of the covariance matrix of a piece's coefficients,
// a row for each term in their order: [[a], [b, c]]. It returns its Cholesky factor, by
// rows, the standard deviations of independent deviates in each coefficient.
func (p *fileParser) covariance(n ast.Node, what string, terms int) ([][]float64, error) {
	what += ": covariance"
	if terms == 0 {
		return nil, p.Errorf(n, "%s of what is free", what)
	}
	items, err := p.Items(n, what)
	if err != nil {
		return nil, err
	}
	if len(items) != terms {
		return nil, p.Errorf(n, "%s: %d rows, want one for each of the %d terms", what, len(items), terms)
	}
	rows := make([][]float64, terms)
	for i, item := range items {
		cells, err := p.Items(item, what)
		if err != nil {
			return nil, err
		}
		if len(cells) != i+1 {
			return nil, p.Errorf(item, "%s: %d numbers in row %d, want %d: the lower triangle", what, len(cells), i+1, i+1)
		}
		for _, cell := range cells {
			v, err := p.Number(cell, what)
			if err != nil {
				return nil, err
			}
			rows[i] = append(rows[i], v)
		}
		if rows[i][i] < 0 {
			return nil, p.Errorf(item, "%s: variance %g of term %d is negative", what, rows[i][i], i+1)
		}
	}
	if !factorise(rows) {
		return nil, p.Errorf(n, "%s: not positive semi-definite: no coefficients vary so", what)
	}
	return rows, nil
}

// rounding is how far below zero a pivot may be, relative to its variance: matrices are
// written with few digits.
const rounding = 1e-6

// factorise replaces the lower triangle of a matrix by its Cholesky factor. It is false for
// one that is not positive semi-definite, to within rounding.
func factorise(rows [][]float64) bool {
	for i, row := range rows {
		for k, above := range rows[:i] {
			rest := row[k]
			for m := range k {
				rest -= float64(row[m] * above[m])
			}
			switch {
			case above[k] > 0:
				row[k] = rest / above[k]
			case math.Abs(rest) > rounding*row[i]:
				return false
			default:
				row[k] = 0
			}
		}
		pivot := row[i]
		for _, v := range row[:i] {
			pivot -= float64(v * v)
		}
		if pivot < -rounding*row[i] {
			return false
		}
		row[i] = math.Sqrt(max(0, pivot))
	}
	return true
}

// Uncertain reports whether some coefficients have a covariance.
func (s *Set) Uncertain() bool {
	for range s.uncertain() {
		return true
	}
	return false
}

// uncertain yields the pieces whose coefficients have a covariance, in the order of the
// file, under their numbers.
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

// DrawCoefficients returns the set with other coefficients: each piece with a covariance has
// its own drawn from the normal distribution with those of the file as mean. The same source
// gives the same coefficients, whatever is bound.
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
	return drawn
}

func (s *Set) clone() *Set {
	c := newSet(s.name, s.cpusPerHost, cloneRules(s.base), cloneOverrides(s.overrides))
	c.scatter, c.hosts, c.quicker, c.noisy = s.scatter, s.hosts, slices.Clone(s.quicker), slices.Clone(s.noisy)
	return c
}

// cloneRules copies rules as deep as DrawCoefficients changes them.
func cloneRules(rules []rule) []rule {
	list := make([]rule, len(rules))
	for i, r := range rules {
		pieces := make([]pieceSpec, len(r.model.pieces))
		for k, c := range r.model.pieces {
			c.terms = append([]termSpec(nil), c.terms...)
			pieces[k] = c
		}
		r.model.pieces = pieces
		list[i] = r
	}
	return list
}

func cloneOverrides(overrides []override) []override {
	list := make([]override, len(overrides))
	for i, o := range overrides {
		o.rules = cloneRules(o.rules)
		list[i] = o
	}
	return list
}
