package wording

import "strings"

// Nearest returns the one of known that is spelt most like name, whatever the case of
// letters, the first of equals; "" if more than a third of its letters differ.
func Nearest(name string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); least < 0 || d < least {
			best, least = k, d
		}
	}
	if 3*least > len(best) {
		return ""
	}
	return best
}

// editDistance returns the Levenshtein distance of a and b, of which a is cut to
// 64 bytes to bound the work.
func editDistance(a, b string) int {
	a = a[:min(len(a), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
