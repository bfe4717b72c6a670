package extrapolate

import (
	"math/big"
	"slices"
)

// This file fits sizes of boxes of points whose ranks have neighbours all around, but for the ends of the grid.

// ends is how many ends of the grid a rank is at, by dimension: 2 in an extent of 1.
type ends [mostDims]int

// endsAt returns those of a rank.
func endsAt(g grid, rank int) (e ends) {
	x := g.place(rank)
	for k, n := range g {
		if x[k] == 0 {
			e[k]++
		}
		if x[k] == n-1 {
			e[k]++
		}
	}
	return e
}

// byEnds fits numbers that are a constant more than a product of factors, one for each dimension, which change by the same
// with each end: the points of a box with its halo, the nonzeros of a stencil, or how many neighbours there are.
func (f *family) byEnds(rows []row) (value, bool) {
	values := map[ends]int64{}
	var keys []ends
	for _, w := range rows {
		e := endsAt(f.list[w.of].grid, w.rank)
		v, ok := values[e]
		if ok && v != w.v {
			return nil, false
		}
		if !ok {
			values[e], keys = w.v, append(keys, e)
		}
	}
	// The constant is 0, or what makes a product of four numbers at the corners of a square.
	constants := []*big.Rat{new(big.Rat)}
	for _, e := range keys {
		for i := range mostDims {
			for k := range i {
				a, b, c := e, e, e
				a[i]++
				b[k]++
				c[i], c[k] = a[i], b[k]
				if !slices.Contains(keys, a) || !slices.Contains(keys, b) || !slices.Contains(keys, c) {
					continue
				}
				if under := values[e] + values[c] - values[a] - values[b]; under != 0 {
					over := new(big.Int).Mul(big.NewInt(values[e]), big.NewInt(values[c]))
					over.Sub(over, new(big.Int).Mul(big.NewInt(values[a]), big.NewInt(values[b])))
					constants = append(constants, new(big.Rat).SetFrac(over, big.NewInt(under)))
				}
			}
		}
	}
	for _, c := range constants {
		if p, ok := productOf(keys, values, c); ok {
			return func(g grid, rank int, _ []int) (int64, bool) { return p.at(endsAt(g, rank)) }, true
		}
	}
	return nil, false
}

// product is a constant more than a first factor times one for each dimension: 1 + slope (1 - ends).
type product struct {
	constant, first *big.Rat
	slopes          [mostDims]*big.Rat // nil: unknown, as all ranks are at as many ends as those of like
	like            ends
}

// of returns the product of the dimensions' factors; nil if one is not known.
func (p *product) of(e ends) *big.Rat {
	v := big.NewRat(1, 1)
	for k, slope := range p.slopes {
		if slope == nil {
			if e[k] != p.like[k] {
				return nil
			}
			continue
		}
		by := new(big.Rat).Mul(slope, big.NewRat(int64(1-e[k]), 1))
		v.Mul(v, by.Add(by, big.NewRat(1, 1)))
	}
	return v
}

// at returns the number.
func (p *product) at(e ends) (int64, bool) {
	v := p.of(e)
	if v == nil {
		return 0, false
	}
	v.Add(v.Mul(v, p.first), p.constant)
	return v.Num().Int64(), v.IsInt() && v.Num().IsInt64()
}

// productOf returns the product with a constant that gives all numbers, which are more than it takes to tell it.
func productOf(keys []ends, values map[ends]int64, constant *big.Rat) (*product, bool) {
	less := func(e ends) *big.Rat { return new(big.Rat).Sub(new(big.Rat).SetInt64(values[e]), constant) }
	p := &product{constant: constant, like: keys[0]}
	told := 1 + constant.Sign()*constant.Sign()
	for k := range p.slopes {
		if !slices.ContainsFunc(keys, func(e ends) bool { return e[k] != keys[0][k] }) {
			continue
		}
		for _, a := range keys { // and one that differs in this dimension alone
			for b := a; b[k] >= 0 && p.slopes[k] == nil; b[k]-- {
				if b == a || !slices.Contains(keys, b) || less(b).Sign() == 0 {
					continue
				}
				// With q, the ratio of the numbers, 1 + s (1-a) = q (1 + s (1-b)).
				q := new(big.Rat).Quo(less(a), less(b))
				under := new(big.Rat).Mul(q, big.NewRat(int64(b[k]-1), 1))
				if under.Add(under, big.NewRat(int64(1-a[k]), 1)).Sign() != 0 {
					p.slopes[k] = new(big.Rat).Quo(q.Sub(q, big.NewRat(1, 1)), under)
				}
			}
		}
		if p.slopes[k] == nil {
			return nil, false
		}
		told++
	}
	first := p.of(keys[0])
	if len(keys) <= told || first.Sign() == 0 {
		return nil, false
	}
	p.first = new(big.Rat).Quo(less(keys[0]), first)
	return p, !slices.ContainsFunc(keys, func(e ends) bool { v, ok := p.at(e); return !ok || v != values[e] })
}
