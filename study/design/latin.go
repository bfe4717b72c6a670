package design

import "reprise/internal/portable"

// LatinHypercube returns n points of (0,1)^factors: along each axis one in the middle of each
// of n equal parts, in an order that the seed names.
func LatinHypercube(n, factors int, seed uint64) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, factors)
	}
	for f := range factors {
		for i, part := range permutation(n, portable.Mix(seed^portable.Mix(uint64(f)+1))) {
			points[i][f] = (float64(part) + 0.5) / float64(n)
		}
	}
	return points
}

// permutation returns the numbers below n in an order that the seed names (Fisher, Yates).
func permutation(n int, seed uint64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		seed = portable.Mix(seed)
		j := int(seed % uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	return order
}
