package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// relative returns how much larger got is than want, in percent.
func relative(got, want float64) float64 { return 100 * (got/want - 1) }

// spread sums up errors in percent.
type spread struct {
	errors  []float64
	worst   float64 // the largest absolute value, with its sign
	worstAt string
}

func (s *spread) add(err float64, at string) {
	if len(s.errors) == 0 || math.Abs(err) > math.Abs(s.worst) {
		s.worst, s.worstAt = err, at
	}
	s.errors = append(s.errors, err)
}

// n is the number of errors.
func (s *spread) n() int { return len(s.errors) }

// mean returns the mean absolute error.
func (s *spread) mean() float64 {
	sum := 0.0
	for _, err := range s.errors {
		sum += math.Abs(err)
	}
	return sum / float64(len(s.errors))
}

// bias returns the mean error.
func (s *spread) bias() float64 { return stat.Mean(s.errors, nil) }

// within returns how many errors are limit or less.
func (s *spread) within(limit float64) int {
	count := 0
	for _, err := range s.errors {
		if math.Abs(err) <= limit {
			count++
		}
	}
	return count
}

// limits writes the smallest and the largest error.
func (s *spread) limits() string {
	if len(s.errors) == 0 {
		return "–"
	}
	return tenth(slices.Min(s.errors)) + " to " + tenth(slices.Max(s.errors)) + " %"
}

// rankCorrelation returns Spearman's coefficient: the correlation of ranks, where
// equal values share the mean of their ranks.
func rankCorrelation(x, y []float64) float64 {
	return stat.Correlation(ranks(x), ranks(y), nil)
}

// ranks returns the rank of each value, from 1.
func ranks(x []float64) []float64 {
	sorted := slices.Sorted(slices.Values(x))
	r := make([]float64, len(x))
	for i, v := range x {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last+1 < len(sorted) && sorted[last+1] == v {
			last++
		}
		r[i] = float64(first+last)/2 + 1
	}
	return r
}

// factor is something that is varied in an experiment, with its level in each row.
type factor struct {
	name   string
	levels []string
}

// effect is the weight of a factor in an analysis of variance.
type effect struct {
	name  string
	sum   float64 // of squares that the factor alone explains
	df    int     // degrees of freedom
	f     float64 // its mean square by that of the residuals
	share float64 // of the sum of squares of all effects and residuals, in percent
}

// variance analyses the variance of y by the main effects of factors, which need not
// be balanced: each effect is what the residuals grow by without it (type II).
func variance(factors []factor, y []float64) ([]effect, error) {
	full, df, err := residuals(factors, y)
	if err != nil {
		return nil, err
	}
	if df <= 0 {
		return nil, fmt.Errorf("%d rows are too few for %d factors", len(y), len(factors))
	}
	total := full
	var effects []effect
	for i, f := range factors {
		without, _, err := residuals(slices.Delete(slices.Clone(factors), i, i+1), y)
		if err != nil {
			return nil, err
		}
		e := effect{name: f.name, sum: without - full, df: len(distinct(f.levels)) - 1}
		e.f = e.sum / float64(e.df) / (full / float64(df))
		total += e.sum
		effects = append(effects, e)
	}
	for i := range effects {
		effects[i].share = 100 * effects[i].sum / total
	}
	return effects, nil
}

// residuals returns the sum of squares that the main effects leave of y, and its
// degrees of freedom.
func residuals(factors []factor, y []float64) (sum float64, df int, err error) {
	columns := [][]float64{make([]float64, len(y))}
	for i := range y {
		columns[0][i] = 1
	}
	for _, f := range factors {
		for _, level := range distinct(f.levels)[1:] {
			column := make([]float64, len(y))
			for i := range y {
				if f.levels[i] == level {
					column[i] = 1
				}
			}
			columns = append(columns, column)
		}
	}
	a := mat.NewDense(len(y), len(columns), nil)
	for j, c := range columns {
		a.SetCol(j, c)
	}
	b, x := mat.NewVecDense(len(y), y), mat.NewVecDense(len(columns), nil)
	if err := x.SolveVec(a, b); err != nil {
		return 0, 0, fmt.Errorf("analysis of variance: %w", err)
	}
	var fit mat.VecDense
	fit.MulVec(a, x)
	fit.SubVec(b, &fit)
	return mat.Dot(&fit, &fit), len(y) - len(columns), nil
}

// distinct returns the different levels, sorted.
func distinct(levels []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(levels)))
}
