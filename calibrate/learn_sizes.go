package calibrate

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// From timings to sizes: the timings of a kernel become one time for each size (learner.sizes), with the scatter of
// hosts and of calls around it, and the calls of a run (Run) give sizes their weights. learn.go fits pieces to them.

// size is the time of a kernel at one size, and its weight in a fit.
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

// sizes gathers the timings of points by size, whatever their host, and leaves out those that are far off what is
// beside them. A call that takes no time at all takes the least that can be measured.
func (l *learner) sizes(points []point) (list []size, outliers int, err error) {
	// Points of several hosts and CPUs are one size. Disturbed timings count only where a size has no others.
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
		if l.extent >= 0 && l.o.Statistic == Median {
			s.seconds, _, _ = Mean.of(withoutStrays(s.times), outsideMiddleHalf)
		} else {
			s.seconds, _, _ = l.o.Statistic.of(s.times, 0)
		}
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

// outsideMiddleHalf is the part of the timings that the mean of their middle half leaves out on each side. That mean
// stands for a size of HPCG, as a run may make a call twice with other contents of the caches, such as symgs before and
// after the coarser grids: the median would be the time of only one of the two calls.
const outsideMiddleHalf = 0.25

// A size is an outlier if it takes farFromNeighbours times as long as the sizes beside it,
// of which the nearest neighbours are compared.
const (
	farFromNeighbours = 4
	neighbours        = 6
)

// Timings of a size agree with one another where there are so many and their upper quartile is no
// more than so many times the lower one: such a size is what it is, whatever is beside it.
const (
	fewestAgreeing = 4
	widestAgreeing = 1.5
)

// outliers returns the sizes that take far longer than four of their neighbours, which differ least in the logarithms
// of their dimensions, unless their timings agree; at a threshold, half of the neighbours are on its other side, and
// where working sets are known to differ, no size has neighbours. Timings err to the long side alone.
func (l *learner) outliers(list []size) map[int]bool {
	far := map[int]bool{}
	if l.extent >= 0 || len(list) <= neighbours+1 || len(list) > maxCompared {
		return far
	}
	// The rate of a size is its time over the expected time, which is that of the shortest call
	// plus the number of elements (the product of all dimensions) times the median time of one.
	all, shortest := l.terms[0], math.Inf(1)
	var perElement, rates []float64
	var logs [][MaxDims]float64
	for i := range list {
		shortest = min(shortest, list[i].seconds)
		perElement = append(perElement, list[i].seconds/max(1, all.at(&list[i].dims)))
		logs = append(logs, logarithms(&list[i].dims))
	}
	slices.Sort(perElement)
	for i := range list {
		rates = append(rates, list[i].seconds/(shortest+float64(median(perElement)*all.at(&list[i].dims))))
	}
	for i := range list {
		var beside []float64
		for _, j := range nearest(logs, i, neighbours) {
			beside = append(beside, rates[j])
		}
		slices.Sort(beside)
		times := list[i].times
		agree := len(times) >= fewestAgreeing && quantile(times, 0.75) <= widestAgreeing*quantile(times, 0.25)
		if !agree && rates[i] > farFromNeighbours*beside[len(beside)/2] {
			far[i] = true
		}
	}
	return far
}

// maxCompared bounds the number of sizes that are compared with one another.
const maxCompared = 5000

// nearest returns the n places nearest to place i, but for itself, of equally near ones the first.
func nearest(places [][MaxDims]float64, i, n int) (near []int) {
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
		if at < n {
			near, distances = slices.Insert(near, at, j), slices.Insert(distances, at, sum)
			near, distances = near[:min(n, len(near))], distances[:min(n, len(distances))]
		}
	}
	return near
}

// fewestHosts is the number of hosts from which on their scatter is estimated, and
// mostScatter the largest that a kernel file can have.
const (
	fewestHosts = 3
	mostScatter = 0.2
)

// scatterHosts sets by how much the times of hosts differ from the models of all: the standard deviation of what the
// median size of a host takes, relative to the model, averaged over the kernels by their part of the run.
func (r *LearnReport) scatterHosts() {
	sums, weights := map[string]float64{}, map[string]float64{}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		weight := 1.0
		if k.Share != nil {
			weight = *k.Share
		}
		for host, ratio := range k.ratios {
			if host != "" && ratio > 0 {
				sums[host] += float64(weight * ratio)
				weights[host] += weight
			}
		}
	}
	// Hosts that made none of the calls that count say nothing.
	var means []float64
	for _, host := range slices.Sorted(maps.Keys(weights)) {
		if weights[host] > 0 {
			means = append(means, sums[host]/weights[host])
		}
	}
	if m := momentsOf(means); len(means) >= fewestHosts {
		r.HostScatter = min(mostScatter, m.sd()/m.mean)
	}
}

// hostSizes are the sizes that were timed on a host.
type hostSizes struct {
	host  string
	sizes []size
}

// ratio returns the median ratio of their times by those of a model, 0 if there is none.
func (h *hostSizes) ratio(pieces []LearnedPiece) float64 {
	var ratios []float64
	for i := range h.sizes {
		if model := secondsOf(pieces, &h.sizes[i].dims); model > 0 {
			ratios = append(ratios, h.sizes[i].seconds/model)
		}
	}
	slices.Sort(ratios)
	if len(ratios) == 0 || math.IsInf(median(ratios), 1) {
		return 0
	}
	return median(ratios)
}

// byHost gathers points by host, and by size on each; a host on which no call takes time is left out.
func (l *learner) byHost(points []point) (list []hostSizes) {
	byHost := map[string][]point{}
	for i := range points {
		byHost[points[i].host] = append(byHost[points[i].host], points[i])
	}
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		if sizes, _, err := l.sizes(byHost[host]); err == nil {
			list = append(list, hostSizes{host, sizes})
		}
	}
	return list
}

// leastCubes is how many third powers of differences tell normal from half-normal noise: the skewness of so many normal
// ones has a standard deviation of sqrt(6/n), which is to be half of what IsHalfNormal goes by.
const leastCubes = 6 * (4 / halfNormalSkewness) * (4 / halfNormalSkewness)

// setNoise sets what timings of a size scatter on a host, those beyond farOff left out: the variance and the third
// central moment that they have without bias, however few there are of a size.
func setNoise(pieces []LearnedPiece, hosts []hostSizes) {
	for i := range pieces {
		var squares, cubes, ofSquares, ofCubes float64
		for _, h := range hosts {
			for j := range h.sizes {
				s := &h.sizes[j]
				if !holds(pieces[i].Box, &s.dims) {
					continue
				}
				var m moments // of the timings as parts of their median
				middle := median(s.times)
				for _, x := range s.times {
					if x < farOff*middle {
						m.add(x / middle)
					}
				}
				n := float64(m.n)
				squares, ofSquares = squares+m.m2, ofSquares+n-1
				cubes, ofCubes = cubes+m.m3, ofCubes+float64((n-1)*(n-2))/n
			}
		}
		if squares == 0 {
			continue
		}
		variance := squares / ofSquares
		pieces[i].Variation = math.Sqrt(variance)
		if ofCubes > leastCubes {
			pieces[i].Skewness = cubes / ofCubes / math.Pow(variance, 1.5)
		}
	}
}

// Run holds the calls that a run makes of its kernels, by which sizes weigh.
type Run struct{ kernels []runKernel }

// runKernel is a kernel of a run, which may have attributes and dimensions that a table does not tell apart.
type runKernel struct {
	name  string
	attrs []Attr
	dims  []string
	calls []runCall
}

type runCall struct {
	dims   [MaxDims]int64
	number float64
}

// Kernel adds a kernel and returns its number.
func (r *Run) Kernel(name string, attrs []Attr, dims []string) int {
	r.kernels = append(r.kernels, runKernel{name: name, attrs: attrs, dims: dims})
	return len(r.kernels) - 1
}

// Add adds calls of a kernel, whose number is in any unit.
func (r *Run) Add(kernel int, dims [MaxDims]int64, number float64) {
	k := &r.kernels[kernel]
	k.calls = append(k.calls, runCall{dims, number})
}

// of returns the calls of a kernel of a table, with its dimensions: those with its attributes, or,
// where the table has none, all of its name. There are none without a run.
func (r *Run) of(f *function) (list []runCall) {
	if r == nil {
		return nil
	}
	for i := range r.kernels {
		k := &r.kernels[i]
		if !k.is(f.name, f.attrs) {
			continue
		}
		var where []int // of the table's dimensions among those of the run
		for _, name := range f.dims {
			where = append(where, slices.Index(k.dims, name))
		}
		if slices.Contains(where, -1) {
			continue
		}
		for _, c := range k.calls {
			var own runCall
			own.number = c.number
			for d, at := range where {
				own.dims[d] = c.dims[at]
			}
			list = append(list, own)
		}
	}
	return list
}

// is reports whether a kernel of a table is this one, all of whose attributes need not be in the table.
func (k *runKernel) is(name string, attrs []Attr) bool {
	return k.name == name && !slices.ContainsFunc(attrs, func(a Attr) bool { return !slices.Contains(k.attrs, a) })
}

// leastWeight is the weight that a size has at least: what is called seldom still says something.
const leastWeight = 0.05

// weigh gives each size the part of the run's time that is spent on calls to which none is nearer.
func weigh(list []size, calls []runCall) {
	if len(calls) == 0 || len(list) == 0 {
		return
	}
	// Each call goes to the nearest size by the logarithms of the dimensions, as the ratio of sizes counts.
	logs := make([][MaxDims]float64, len(list))
	for i := range list {
		logs[i] = logarithms(&list[i].dims)
		list[i].weight = 0
	}
	total := 0.0
	for _, c := range calls {
		i := nearest(append(logs, logarithms(&c.dims)), len(logs), 1)[0]
		seconds := c.number * list[i].seconds
		list[i].weight += seconds
		total += seconds
	}
	// Weights are 1 on average, on which the constants of package regress rest.
	sum := 0.0
	for i := range list {
		list[i].weight = leastWeight + list[i].weight/total*float64(len(list))
		sum += list[i].weight
	}
	for i := range list {
		list[i].weight *= float64(len(list)) / sum
	}
}

// logarithms returns log(1+x) of each dimension, so that a dimension of zero has a place.
func logarithms(d *[MaxDims]int64) (l [MaxDims]float64) {
	for i := range d {
		l[i] = math.Log1p(float64(d[i]))
	}
	return l
}
