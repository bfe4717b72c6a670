package compare

import (
	"cmp"
	"slices"
)

// holm returns the p-values of several tests, corrected for their number: where the one of a test
// is at most 5 %, so is the probability that any test which says so is wrong.
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted, largest := make([]float64, len(p)), 0.0
	for k, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(p)-k)))
		adjusted[i] = largest
	}
	return adjusted
}
