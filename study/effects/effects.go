package effects

import "math"

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
	if total > 0 {
		e.Residual = 1
	}
	for i := range e.Interactions {
		e.Interactions[i].Share = share(e.Interactions[i].Share, total)
		e.Residual -= e.Interactions[i].Share
	}
	for _, f := range e.Factors {
		e.Residual -= f.Share
	}
	e.Residual = max(0, e.Residual)
	return e
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
			sum, count := make([]float64, levels[a]*levels[b]), make([]int, levels[a]*levels[b])
			for i, row := range rows {
				cell := row[a]*levels[b] + row[b]
				sum[cell] += rest[i]
				count[cell]++
			}
			of := Interaction{A: a, B: b}
			for cell, n := range count {
				if n > 0 {
					of.Share += float64(sum[cell]*sum[cell]) / float64(n)
				}
			}
			e.Interactions = append(e.Interactions, of)
		}
	}
}

// balanced reports whether each pair of levels of two factors is in the rows equally often.
func balanced(levels []int, rows [][]int) bool {
	for a := range levels {
		for b := a; b < len(levels); b++ {
			count := make([]int, levels[a]*levels[b])
			for _, row := range rows {
				count[row[a]*levels[b]+row[b]]++
			}
			for cell, n := range count {
				if a == b && cell/levels[b] != cell%levels[b] {
					continue // one factor has one level
				}
				if n != count[0] {
					return false
				}
			}
		}
	}
	return true
}
