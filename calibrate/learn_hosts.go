package calibrate

import (
	"maps"
	"math"
	"slices"
)

// fewestHosts is the number of hosts from which on their scatter is estimated, and mostScatter the
// largest that a kernel file can have.
const (
	fewestHosts = 3
	mostScatter = 0.2
)

// scatterHosts sets by how much the times of hosts differ from the models of all: the standard deviation of what
// the median size of a host takes, relative to the model, averaged over the kernels by their part of the run.
func (r *LearnReport) scatterHosts(t *Timings, o *LearnOptions) {
	sums, weights := map[string]float64{}, map[string]float64{}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		weight := 1.0
		if k.Share != nil {
			weight = *k.Share
		}
		for host, ratio := range k.hostRatios(t.byName[k.name()], o) {
			sums[host] += float64(weight * ratio)
			weights[host] += weight
		}
	}
	var hosts []string
	for host, weight := range weights {
		if weight > 0 {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	if len(hosts) < fewestHosts {
		return
	}
	var m moments
	for _, host := range hosts {
		m.add(sums[host] / weights[host])
	}
	r.HostScatter = min(mostScatter, m.sd()/m.mean)
}

// hostRatios returns, for each host, the median over sizes of its time by that of the model.
func (k *LearnedKernel) hostRatios(f *function, o *LearnOptions) map[string]float64 {
	ratios := map[string]float64{}
	l, err := newLearner(f, o)
	if err != nil {
		panic("calibrate: the terms of a fitted kernel do not parse: " + err.Error())
	}
	for _, h := range l.byHost(f.points) {
		var of []float64
		for j := range h.sizes {
			if model := secondsOf(k.Pieces, &h.sizes[j].dims); model > 0 {
				of = append(of, h.sizes[j].seconds/model)
			}
		}
		slices.Sort(of)
		if h.host != "" && len(of) > 0 && !math.IsInf(median(of), 1) {
			ratios[h.host] = median(of)
		}
	}
	return ratios
}

// hostSizes are the sizes that were timed on a host.
type hostSizes struct {
	host  string
	sizes []size
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

// leastCubes is how many third powers of differences tell normal from half-normal noise: the skewness of so many
// normal ones has a standard deviation of sqrt(6/n), which is to be half of what IsHalfNormal goes by.
const leastCubes = 6 * (4 / halfNormalSkewness) * (4 / halfNormalSkewness)

// setNoise sets what timings of a size scatter on a host, those beyond farOff left out: the variance and the third central moment
// that they have without bias, however few there are of a size.
func setNoise(pieces []LearnedPiece, hosts []hostSizes) {
	for i := range pieces {
		var squares, cubes, ofSquares, ofCubes float64
		for _, h := range hosts {
			for j := range h.sizes {
				s := &h.sizes[j]
				if !pieces[i].holds(&s.dims) {
					continue
				}
				m := s.moments()
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

// moments returns those of the timings as parts of their median, those beyond farOff left out.
func (s *size) moments() (m moments) {
	middle := median(s.times)
	for _, x := range s.times {
		if x < farOff*middle {
			m.add(x / middle)
		}
	}
	return m
}
