package sampling

import "math"

// roughCosts is what steps cost as far as the pilots tell: it says where windows with long warm-ups are put, of
// which there are few. Without it, nil, windows are spread evenly, so that they see what is rare or changes where
// steps are cheap, too.
type roughCosts struct {
	trend trend
	floor float64 // seconds
}

// fitPilots fits the windows of the pilots of a run [first, end), every other one of which is a later part of
// the one before.
func fitPilots(first, end int, windows []Window, warmup int) *roughCosts {
	var pilots []Window
	floor := least
	for i := 0; i < len(windows); i += 2 {
		w := windows[i]
		w.refFrom, w.refTo = w.From+warmup, w.To
		pilots = append(pilots, w)
		floor = math.Max(floor, lowest*w.mean(w.refFrom, w.refTo))
	}
	return &roughCosts{fitTrend(first, end, pilots, weightsOf(pilots, floor)), floor}
}

// longest is how many times the mean a part may be, nearly: the more steps are between two windows, the more
// of what they do not see.
const longest = 1.5

// divide divides the steps [from, to) into n parts that are worth the same but have at least so many steps,
// of which there must be n times as many, and returns where they begin and, at last, end. A part of G steps of cost
// c brings an error of G*c if costs scatter by a part of them, and one of G*sqrt(c) if by their roots; the
// sum of the squares over all parts is least where G goes as c^(-2/3) or c^(-1/3). Steps are worth the root of
// their cost, which is between.
func (r *roughCosts) divide(from, to, n, least int) []int {
	if r == nil {
		return evenly(from, to, n)
	}
	worth := make([]float64, to-from)
	mean := 0.0
	for i := range worth {
		worth[i] = math.Sqrt(math.Max(r.trend.at(from+i), r.floor))
		mean += worth[i] / float64(len(worth))
	}
	before := make([]float64, len(worth)) // what the steps before are worth
	sum := 0.0
	for i, w := range worth {
		before[i] = sum
		sum += math.Max(w, mean/longest)
	}
	ends, i := []int{from}, 0
	for j := 1; j < n; j++ {
		for i < len(before) && before[i] < sum*float64(j)/float64(n) {
			i++
		}
		ends = append(ends, min(max(from+i, ends[j-1]+least), to-(n-j)*least))
	}
	return append(ends, to)
}

// evenly divides the steps [from, to) into n parts of equal length.
func evenly(from, to, n int) []int {
	ends := make([]int, n+1)
	for j := range ends {
		ends[j] = from + j*(to-from)/n
	}
	return ends
}
