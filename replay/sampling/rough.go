package sampling

import "math"

// roughCosts is what steps cost as far as the pilots tell: it says where windows are put if they are few,
// as each has a long warm-up.
type roughCosts struct {
	trend trend
	floor float64 // seconds
}

// evenCosts are those of windows that are many: they are spread evenly, so that they see what is rare or
// changes where steps are cheap, too.
var evenCosts = roughCosts{trend{half: 1}, 1}

// roughCosts fits the windows of the pilots, every other one of which is a later part of the one before.
func (s *sampler) roughCosts(windows []Window) roughCosts {
	var pilots []Window
	floor := least
	for i := 0; i < len(windows); i += 2 {
		w := windows[i]
		w.refFrom, w.refTo = w.From+s.shape.warmup, w.To
		pilots = append(pilots, w)
		floor = math.Max(floor, lowest*w.mean(w.refFrom, w.refTo))
	}
	return roughCosts{fitTrend(s.o.First, s.o.End, pilots, weightsOf(pilots, floor)), floor}
}

// mean returns the mean cost of the steps [from, to).
func (r *roughCosts) mean(from, to int) float64 {
	return math.Max(r.trend.sum(from, to)/float64(to-from), r.floor)
}

// divide divides the steps [from, to) into n parts that are worth the same but have at least so many steps,
// of which there must be n times as many, and returns where they begin and, at last, end. A part of G steps of cost
// c brings an error of G*c if costs scatter by a part of them, and one of G*sqrt(c) if by their roots; the
// sum of the squares over all parts is least where G goes as c^(-2/3) or c^(-1/3). Steps are worth the root of
// their cost, which is between.
func (r *roughCosts) divide(from, to, n, least int) []int {
	before := make([]float64, to-from) // what the steps before are worth
	sum := 0.0
	for i := range before {
		before[i] = sum
		sum += math.Sqrt(math.Max(r.trend.at(from+i), r.floor))
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
