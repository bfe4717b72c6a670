package hosts

import "math"

// inRange reports whether a value is one that a host can have: the first term
// of a kernel's time is above zero, the first of its noise and a constant of its time are not
// below. Other terms may have either sign, as those of fitted polynomials do.
func inRange(list []Variable, i int, x float64) bool {
	v := list[i]
	first := true
	for _, before := range list[:i] {
		first = first && (before.Kernel != v.Kernel || before.Noise != v.Noise)
	}
	switch {
	case first && !v.Noise:
		return x > 0
	case first, v.Term == "1" && !v.Noise:
		return x >= 0
	}
	return true
}

// bound names the bound of the values of a variable that has one.
func bound(list []Variable, i int) string {
	if inRange(list, i, 0) {
		return "at least 0"
	}
	return "more than 0"
}

func allInRange(list []Variable, x []float64) bool {
	for i, v := range x {
		if !inRange(list, i, v) {
			return false
		}
	}
	return true
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// isWord reports whether s can be the name of a class: letters, digits, points, _ and -.
func isWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
