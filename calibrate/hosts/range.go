package hosts

import (
	"math"
	"slices"
)

// inRange reports whether a value is one that a host can have: the first term
// of a kernel's time is above zero, the first of its noise and a constant of its time are not
// below. Other terms may have either sign, as those of fitted polynomials do.
func inRange(list []Variable, i int, x float64) bool {
	v := list[i]
	switch first := isFirst(list, i); {
	case first && !v.Noise:
		return x > 0
	case first, v.Term == "1" && !v.Noise:
		return x >= 0
	}
	return true
}

// isFirst reports whether a variable is the first of its kernel's time, or of its noise.
func isFirst(list []Variable, i int) bool {
	return !slices.ContainsFunc(list[:i], func(v Variable) bool { return v.Kernel == list[i].Kernel && v.Noise == list[i].Noise })
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
