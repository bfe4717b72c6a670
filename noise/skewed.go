package noise

import "reprise/internal/portable"

// Skewed returns what a draw makes of a time that is known by its mean (above 0) and its
// standard deviation (at least 0) alone. It is never negative, and skewed to the right, as times
// are: an exponential one above the least possible,
//
//	mean - deviation + deviation*E
//
// for a standard exponential E. Where the deviation is larger than the mean it is one above 0
// that is there in the part p = 2/(1 + deviation²/mean²) of all draws, and has the mean mean/p.
func Skewed(mean, deviation float64, d Draw) float64 {
	exponential := -portable.Log(d.uniform())
	if deviation <= mean {
		return mean - deviation + float64(deviation*exponential)
	}
	ratio := deviation / mean
	p := 2 / (1 + float64(ratio*ratio))
	if d.mode() >= p {
		return 0
	}
	return mean / p * exponential
}
