package effects

import (
	"math"
	"slices"
)

// Effects is how values depend on factors.
type Effects struct {
	Mean    float64
	Factors []Factor
	// Interactions are those of all pairs of factors, (0,1), (0,2) and so on.
	Interactions []Interaction
	Residual     float64 // share that neither explains
	// Balanced: each pair of levels of two factors is there equally often, so that shares add up to 1.
	Balanced bool
	// Confounded: the rows cannot tell what one factor does from what another does, and Of gives
	// all of that to the first of them.
	Confounded bool
	// Aliases are groups of main effects and interactions that are one contrast of the rows, of factors
	// with two levels, as in a fraction of all combinations: the share of each is that of all of a group,
	// but that of main effects is in no interaction.
	Aliases [][]Term
}

// Factor is the main effect of a factor.
type Factor struct {
	Levels []float64 // what each level adds to the mean
	Rows   []int     // that have it
	Share  float64
}

// Interaction is what two factors explain together beyond their main effects.
type Interaction struct {
	A, B  int
	Share float64
}

// Of finds the effects of factors, which have so many levels, on values; rows has for each value
// the level of each factor.
func Of(levels []int, rows [][]int, values []float64) *Effects {
	e := &Effects{Balanced: balanced(levels, rows)}
	e.Confounded = !e.Balanced && confounded(levels, rows)
	e.Aliases = aliases(levels, rows)
	for _, v := range values {
		e.Mean += v / float64(len(values))
	}
	rest := make([]float64, len(values))
	total := 0.0
	for i, v := range values {
		rest[i] = v - e.Mean
		total += float64(rest[i] * rest[i])
	}
	e.fitMain(levels, rows, rest)
	e.fitPairs(levels, rows, rest)
	for i := range e.Factors {
		f := &e.Factors[i]
		for l, n := range f.Rows {
			f.Share += share(float64(n)*f.Levels[l]*f.Levels[l], total)
		}
	}
	for i := range e.Interactions {
		e.Interactions[i].Share = share(e.Interactions[i].Share, total)
	}
	if total > 0 {
		e.Residual = max(0, 1-e.explained())
	}
	return e
}

// explained returns the shares of all effects, of those that are one contrast once.
func (e *Effects) explained() float64 {
	again := map[[2]int]bool{}
	for _, group := range e.Aliases {
		for _, t := range group[1:] {
			if len(t) == 2 {
				again[[2]int(t)] = true
			}
		}
	}
	sum := 0.0
	for _, of := range e.Interactions {
		if !again[[2]int{of.A, of.B}] {
			sum += of.Share
		}
	}
	for _, f := range e.Factors {
		sum += f.Share
	}
	return sum
}

func share(part, total float64) float64 {
	if total == 0 {
		return 0
	}
	return part / total
}

// The fit by least squares takes the mean of what is left for the levels of one factor after the
// other, until nothing changes: at once where the design is balanced.
const (
	maxRounds = 10_000
	precision = 1e-13 // of the values' largest deviation
)

// fitMain finds the main effects and takes them from rest.
func (e *Effects) fitMain(levels []int, rows [][]int, rest []float64) {
	largest := 0.0
	for _, v := range rest {
		largest = max(largest, math.Abs(v))
	}
	e.Factors = make([]Factor, len(levels))
	for f, n := range levels {
		e.Factors[f] = Factor{Levels: make([]float64, n), Rows: make([]int, n)}
		for _, row := range rows {
			e.Factors[f].Rows[row[f]]++
		}
	}
	for range maxRounds {
		moved := 0.0
		for f := range e.Factors {
			moved = max(moved, e.Factors[f].refit(f, rows, rest))
		}
		if moved <= precision*largest {
			return
		}
	}
}

// refit adds the mean of what is left to the effects of a factor, and returns the largest change.
func (of *Factor) refit(f int, rows [][]int, rest []float64) (moved float64) {
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
	return moved
}

// fitPairs finds the sums of squares of what pairs of factors explain of the rest.
func (e *Effects) fitPairs(levels []int, rows [][]int, rest []float64) {
	for a := range levels {
		for b := a + 1; b < len(levels); b++ {
			of := Interaction{A: a, B: b}
			for _, c := range cellsOf(a, b, rows, rest) {
				of.Share += float64(c.sum*c.sum) / float64(c.rows)
			}
			e.Interactions = append(e.Interactions, of)
		}
	}
}

// cell is a pair of levels of two factors.
type cell struct {
	levels [2]int
	sum    float64 // of values
	rows   int
}

// cellsOf returns the pairs of levels that occur, in order: of all that there may be these can be few.
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

// balanced reports whether each level, and each pair of levels of two factors, is in the rows equally
// often.
func balanced(levels []int, rows [][]int) bool {
	for a, n := range levels {
		if !equallyOften(n, rows, func(row []int) int { return row[a] }) {
			return false
		}
		for b := a + 1; b < len(levels); b++ {
			if !equallyOften(n*levels[b], rows, func(row []int) int { return row[a]*levels[b] + row[b] }) {
				return false
			}
		}
	}
	return true
}

// equallyOften reports whether each of n kinds of rows is there equally often.
func equallyOften(n int, rows [][]int, kind func([]int) int) bool {
	if n > len(rows) { // some are not there at all
		return false
	}
	count := make([]int, n)
	for _, row := range rows {
		count[kind(row)]++
	}
	return !slices.ContainsFunc(count, func(k int) bool { return k != count[0] })
}
