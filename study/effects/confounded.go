package effects

// confounded reports whether factors cannot be told apart: there are fewer rows than the mean and
// the levels that occur need, or the levels of two factors fall into groups that never meet. A
// mixture of three factors or more that passes for another is not noticed.
func confounded(levels []int, rows [][]int) bool {
	needed := 1
	for f, n := range levels {
		needed += max(occurring(f, n, rows)-1, 0)
	}
	if needed > len(rows) {
		return true
	}
	for a := range levels {
		for b := a + 1; b < len(levels); b++ {
			if groups(a, b, levels, rows) > 1 {
				return true
			}
		}
	}
	return false
}

// occurring returns how many levels of a factor are in the rows.
func occurring(f, levels int, rows [][]int) int {
	seen, n := make([]bool, levels), 0
	for _, row := range rows {
		if !seen[row[f]] {
			seen[row[f]] = true
			n++
		}
	}
	return n
}

// groups returns into how many groups the levels of two factors fall that never come together.
func groups(a, b int, levels []int, rows [][]int) int {
	parent := make([]int, levels[a]+levels[b]) // of levels that have met
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
	n := occurring(a, levels[a], rows) + occurring(b, levels[b], rows)
	for _, row := range rows {
		if x, y := root(row[a]), root(levels[a]+row[b]); x != y {
			parent[x] = y
			n--
		}
	}
	return n
}
