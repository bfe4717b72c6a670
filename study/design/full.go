package design

import "fmt"

// MaxRows is the largest number of rows of a design.
const MaxRows = 1 << 20

// Full returns all combinations of levels, of which each factor has so many, the last factor
// changing fastest.
func Full(levels []int) ([][]int, error) {
	n := 1
	for _, l := range levels {
		if l < 1 || n > MaxRows/l {
			return nil, fmt.Errorf("a full design of more than %d runs", MaxRows)
		}
		n *= l
	}
	rows := make([][]int, n)
	for i := range rows {
		rows[i] = make([]int, len(levels))
		rest := i
		for f := len(levels) - 1; f >= 0; f-- {
			rows[i][f] = rest % levels[f]
			rest /= levels[f]
		}
	}
	return rows, nil
}

// OneAtATime returns the row of all first levels, and then the other levels of each factor
// with the first ones of all others.
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
