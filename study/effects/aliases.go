package effects

// Term is the main effect of a factor, or the interaction of two.
type Term []int

// aliases returns groups of terms of factors with two levels of which the rows make one contrast: main
// effects and interactions of two factors, in this order.
func aliases(levels []int, rows [][]int) [][]Term {
	var keys []string // of contrasts, in the order in which they come
	terms := map[string][]Term{}
	add := func(t Term) {
		key := contrast(t, rows)
		if terms[key] == nil {
			keys = append(keys, key)
		}
		terms[key] = append(terms[key], t)
	}
	two := func(f int) bool { return levels[f] == 2 && occurring(f, 2, rows) == 2 }
	for a := range levels {
		if two(a) {
			add(Term{a})
		}
	}
	for a := range levels {
		for b := a + 1; b < len(levels); b++ {
			if two(a) && two(b) {
				add(Term{a, b})
			}
		}
	}
	var groups [][]Term
	for _, key := range keys {
		if len(terms[key]) > 1 {
			groups = append(groups, terms[key])
		}
	}
	return groups
}

// contrast returns the signs of a term in the rows, as bits, of which the first is 0: with all signs
// changed it is the same one.
func contrast(t Term, rows [][]int) string {
	bits := make([]byte, (len(rows)+7)/8)
	for i, row := range rows {
		sign := 0
		for _, f := range t {
			sign ^= row[f] ^ rows[0][f]
		}
		bits[i/8] |= byte(sign << (i % 8))
	}
	return string(bits)
}
