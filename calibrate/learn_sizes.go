package calibrate

import (
	"fmt"
	"math"
	"slices"
)

// size is what is known of a kernel at one size: a time, and what it weighs.
type size struct {
	dims    [MaxDims]int64
	times   []float64 // sorted: those that were not disturbed, or all if there are no others
	seconds float64   // their statistic
	weight  float64   // 1 on average
}

// scatter returns the standard deviation of the statistic, as far as the timings tell: from their middle half.
func (s *size) scatter() float64 {
	n := len(s.times)
	if n < 2 {
		return s.seconds / 10
	}
	return (quantile(s.times, 0.75) - quantile(s.times, 0.25)) / 1.349 / math.Sqrt(float64(n))
}

// sizes gathers the timings of points by size, whatever their host, and leaves out those that are far
// off what is beside them. A call that takes no time at all takes the least that can be measured.
func (l *learner) sizes(points []point) (list []size, outliers int, err error) {
	index, disturbed := map[[MaxDims]int64]int{}, map[int][]float64{}
	for i := range points {
		at, ok := index[points[i].size]
		if !ok {
			at = len(list)
			index[points[i].size] = at
			list = append(list, size{dims: points[i].size})
		}
		list[at].times = append(list[at].times, points[i].times...)
		disturbed[at] = append(disturbed[at], points[i].disturbed...)
	}
	for i := range list {
		if len(list[i].times) == 0 {
			list[i].times = disturbed[i]
		}
	}
	slices.SortFunc(list, func(a, b size) int { return slices.Compare(a.dims[:], b.dims[:]) })
	some := false
	for i := range list {
		s := &list[i]
		slices.Sort(s.times)
		some = some || s.times[len(s.times)-1] > 0
		for j, x := range s.times {
			s.times[j] = max(x, leastSeconds)
		}
		s.seconds = l.statistic(s.times)
		s.weight = 1
	}
	if !some {
		return nil, 0, fmt.Errorf("%w: all times are 0 s", ErrMeaningless)
	}
	kept := list[:0]
	far := l.outliers(list)
	for i := range list {
		if !far[i] {
			kept = append(kept, list[i])
		}
	}
	return kept, len(far), nil
}

// statistic returns what stands for sorted timings of a size.
func (l *learner) statistic(sorted []float64) (seconds float64) {
	if l.extent >= 0 && l.o.Statistic == Median {
		seconds, _, _ = Mean.of(withoutStrays(sorted), outsideMiddleHalf)
		return seconds
	}
	seconds, _, _ = l.o.Statistic.of(sorted, 0)
	return seconds
}

// outsideMiddleHalf is the part of the timings on either side of their middle half, whose mean stands for them where a run makes a call twice with
// other contents of the caches: symgs before and after the coarser grids. The median would be the time of the one or of the other.
const outsideMiddleHalf = 0.25

// Outliers take so many times as long as those beside them, of which so many are looked at.
const (
	farFromNeighbours = 4
	neighbours        = 6
)

// Timings of a size agree with one another where there are so many and their upper quartile is no more than
// so many times the lower one: such a size is what it is, whatever is beside it.
const (
	fewestAgreeing = 4
	widestAgreeing = 1.5
)

func (s *size) agrees() bool {
	return len(s.times) >= fewestAgreeing && quantile(s.times, 0.75) <= widestAgreeing*quantile(s.times, 0.25)
}

// outliers returns the sizes that take far longer than four of their neighbours, which differ least in the logarithms of their
// dimensions, unless their timings agree; at a threshold, half of the neighbours are on its other side, and where working sets are known to differ, no size has neighbours. Timings err to the long side alone.
func (l *learner) outliers(list []size) map[int]bool {
	far := map[int]bool{}
	if l.extent >= 0 || len(list) <= neighbours+1 || len(list) > maxCompared {
		return far
	}
	rates, logs := l.rates(list), make([][MaxDims]float64, len(list))
	for i := range list {
		for d := range l.dims {
			logs[i][d] = math.Log1p(float64(list[i].dims[d]))
		}
	}
	for i := range list {
		near := nearest(logs, i, neighbours)
		var beside []float64
		for _, j := range near {
			beside = append(beside, rates[j])
		}
		slices.Sort(beside)
		if !list[i].agrees() && rates[i] > farFromNeighbours*beside[len(beside)/2] {
			far[i] = true
		}
	}
	return far
}

// maxCompared bounds the number of sizes that are compared with one another.
const maxCompared = 5000

// rates returns times divided by what a call of the size would take if each element of the product of all dimensions
// took the median time for one, and a call a constant as long as the shortest.
func (l *learner) rates(list []size) []float64 {
	all := l.terms[0]
	shortest := slices.MinFunc(list, func(a, b size) int {
		if a.seconds < b.seconds {
			return -1
		}
		return 1
	}).seconds
	var perElement []float64
	for i := range list {
		perElement = append(perElement, list[i].seconds/max(1, all.at(&list[i].dims)))
	}
	slices.Sort(perElement)
	var rates []float64
	for i := range list {
		rates = append(rates, list[i].seconds/(shortest+float64(median(perElement)*all.at(&list[i].dims))))
	}
	return rates
}

// nearest returns the n places nearest to place i, but for itself, of equally near ones the first.
func nearest(places [][MaxDims]float64, i, n int) []int {
	var near []int
	var distances []float64
	for j := range places {
		if j == i {
			continue
		}
		sum := 0.0
		for d := range places[j] {
			e := places[j][d] - places[i][d]
			sum += float64(e * e)
		}
		at := len(near)
		for at > 0 && sum < distances[at-1] {
			at--
		}
		if at == n {
			continue
		}
		near, distances = slices.Insert(near, at, j), slices.Insert(distances, at, sum)
		near, distances = near[:min(n, len(near))], distances[:min(n, len(distances))]
	}
	return near
}
