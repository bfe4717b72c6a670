// Package effects finds how values depend on the levels of factors.
//
//	e := effects.Of([]int{2, 3}, rows, values) // rows as those of package design
//	for f, of := range e.Factors {
//		fmt.Println(f, of.Levels, of.Share)
//	}
//
// Values are fitted by a mean plus a main effect of the level of each factor. The sum of squares that two factors
// explain together beyond their main effects is their interaction. Package study/report gives the results names.
//
// # Units
//
// Effects are in the unit of the values; shares are of the sum of squares about the mean. Of
// logarithms of times, effects are relative.
//
// # Errors
//
// There are none. If the rows cannot separate two factors, the whole effect is given to the first
// of them, and Confounded is set.
//
// # Source
//
// Analysis of variance by least squares: Box, Hunter and Hunter, Statistics for Experimenters, chapters 4 and 5.
package effects

import (
	"math"
	"slices"
)

// Effects is how values depend on factors.
type Effects struct {
	Mean    float64
	Factors []Factor
	// Interactions are those of all pairs of factors: (0,1), (0,2) and so on.
	Interactions []Interaction
	Residual     float64 // share that main effects and interactions leave
	// Balanced: each pair of levels of two factors occurs equally often, so that shares add up to 1.
	Balanced bool
	// Confounded: the rows cannot separate the effects of two factors, and Of gives all of that to the first of them.
	Confounded bool
	// Aliases are groups of main effects and interactions that are one contrast of the rows, among
	// factors with two levels, as in a fraction of all combinations. Every term of a group has the
	// share of the whole group, except that the share of a main effect is in no interaction.
	Aliases [][]Term
}

// Factor is the main effect of a factor.
type Factor struct {
	Levels []float64 // what each level adds to the mean
	Rows   []int     // how many rows have each level
	Share  float64
}

// Interaction is what two factors explain together beyond their main effects.
type Interaction struct {
	A, B  int
	Share float64
}

// Term is the main effect of a factor, or the interaction of two: one or two numbers of factors.
type Term []int

// The fit by least squares takes the mean of the residuals for the levels of one factor after the
// other, until nothing changes. Balanced designs need one round.
const (
	maxRounds = 10_000
	precision = 1e-13 // of the largest deviation of a value
)

// Of finds the effects of factors on values. levels has the number of levels of each factor, rows the levels of the
// factors for each value. Time and memory grow with the rows for each pair of factors, not with the product of the
// numbers of levels: a Latin hypercube has as many levels as rows.
func Of(levels []int, rows [][]int, values []float64) *Effects {
	e := &Effects{Balanced: true, Factors: make([]Factor, len(levels))}
	for _, v := range values {
		e.Mean += v / float64(len(values))
	}
	rest := make([]float64, len(values)) // residuals: what is not explained yet
	total, largest := 0.0, 0.0
	for i, v := range values {
		rest[i] = v - e.Mean
		total += float64(rest[i] * rest[i])
		largest = max(largest, math.Abs(rest[i]))
	}
	share := func(squares float64) float64 {
		if total == 0 {
			return 0
		}
		return squares / total
	}
	occur := make([]int, len(levels)) // how many levels of a factor do
	needed := 1                       // rows, for the mean and the levels that occur
	for f, n := range levels {
		of := Factor{Levels: make([]float64, n), Rows: make([]int, n)}
		for _, row := range rows {
			if of.Rows[row[f]]++; of.Rows[row[f]] == 1 {
				occur[f]++
			}
		}
		needed += max(occur[f]-1, 0)
		if slices.ContainsFunc(of.Rows, func(k int) bool { return k == 0 || k != of.Rows[0] }) {
			e.Balanced = false
		}
		e.Factors[f] = of
	}

	// Main effects.
	// Backfitting: it converges to the least squares of the additive model from any design, and
	// needs no matrix of all levels.
	for range maxRounds {
		moved := 0.0
		for f := range e.Factors {
			of := &e.Factors[f]
			means := make([]float64, len(of.Levels))
			for i, row := range rows {
				means[row[f]] += rest[i] / float64(of.Rows[row[f]])
			}
			for l, m := range means {
				of.Levels[l] += m
				moved = max(moved, math.Abs(m))
			}
			for i, row := range rows {
				rest[i] -= means[row[f]]
			}
		}
		if moved <= precision*largest {
			break
		}
	}
	for i := range e.Factors {
		f := &e.Factors[i]
		for l, n := range f.Rows {
			f.Share += share(float64(n) * f.Levels[l] * f.Levels[l])
		}
	}

	// Interactions: sums of squares of the means of the residuals, by pairs of levels. The factors are
	// confounded if their levels fall into groups that never meet; a mixture of three factors or more
	// that passes for another one is not noticed.
	// Fewer rows than effects cannot tell all of them apart, whichever rows they are.
	e.Confounded = needed > len(rows)
	for a := range levels {
		for b := a + 1; b < len(levels); b++ {
			cells, squares := cellsOf(a, b, rows, rest), 0.0
			for _, c := range cells {
				squares += float64(c.sum*c.sum) / float64(c.rows)
				e.Balanced = e.Balanced && c.rows == cells[0].rows && len(cells) == levels[a]*levels[b]
			}
			e.Interactions = append(e.Interactions, Interaction{a, b, share(squares)})
			e.Confounded = e.Confounded || occur[a]+occur[b]-joins(cells, levels[a], levels[b]) > 1
		}
	}
	e.Confounded = e.Confounded && !e.Balanced

	// The residual. Interactions that are one contrast with a term before them are explained by that.
	e.Aliases = aliases(levels, occur, rows)
	if total > 0 {
		again := map[[2]int]bool{}
		for _, group := range e.Aliases {
			for _, t := range group[1:] {
				if len(t) == 2 {
					again[[2]int(t)] = true
				}
			}
		}
		explained := 0.0
		for _, of := range e.Interactions {
			if !again[[2]int{of.A, of.B}] {
				explained += of.Share
			}
		}
		for _, f := range e.Factors {
			explained += f.Share
		}
		e.Residual = max(0, 1-explained)
	}
	return e
}

// cell is a pair of levels of two factors.
type cell struct {
	levels [2]int
	sum    float64 // of values
	rows   int
}

// cellsOf returns the pairs of levels that occur, in order: sums of floats depend on it.
func cellsOf(a, b int, rows [][]int, values []float64) []cell {
	at := map[[2]int]int{}
	var list []cell
	for i, row := range rows {
		pair := [2]int{row[a], row[b]}
		k, known := at[pair]
		if !known {
			k = len(list)
			at[pair] = k
			list = append(list, cell{levels: pair})
		}
		list[k].sum += values[i]
		list[k].rows++
	}
	slices.SortFunc(list, func(x, y cell) int { return slices.Compare(x.levels[:], y.levels[:]) })
	return list
}

// aliases returns groups of terms that the rows make one contrast: main effects and then
// interactions of factors of which two levels occur.
func aliases(levels, occur []int, rows [][]int) [][]Term {
	var two []int // factors
	for f, n := range levels {
		if n == 2 && occur[f] == 2 {
			two = append(two, f)
		}
	}
	var terms []Term
	for _, f := range two {
		terms = append(terms, Term{f})
	}
	for i, a := range two {
		for _, b := range two[i+1:] {
			terms = append(terms, Term{a, b})
		}
	}
	var keys []string // contrasts in the order in which they come
	groups := map[string][]Term{}
	for _, t := range terms {
		// The contrast is the signs of the term in the rows, as bits of which the first is 0: a
		// contrast with all signs changed is the same one.
		signs := make([]byte, (len(rows)+7)/8)
		for i, row := range rows {
			sign := 0
			for _, f := range t {
				sign ^= row[f] ^ rows[0][f]
			}
			signs[i/8] |= byte(sign << (i % 8))
		}
		key := string(signs)
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], t)
	}
	var list [][]Term
	for _, key := range keys {
		if len(groups[key]) > 1 {
			list = append(list, groups[key])
		}
	}
	return list
}

// joins returns how many times two groups of levels that never came together before became one, by union-find over the
// levels of the first factor and, behind them, those of the second. The number of levels that occur, less the joins, is
// the number of groups that are left: one, if the two factors can be told apart.
func joins(cells []cell, first, second int) int {
	parent := make([]int, first+second)
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	n := 0
	for _, c := range cells {
		if x, y := root(c.levels[0]), root(first+c.levels[1]); x != y {
			parent[x] = y
			n++
		}
	}
	return n
}
