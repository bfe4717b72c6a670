package calibrate

import (
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
	byHost := map[string][]point{}
	for i := range f.points {
		if host := f.points[i].host; host != "" {
			byHost[host] = append(byHost[host], f.points[i])
		}
	}
	ratios := map[string]float64{}
	l := &learner{function: f, o: o, terms: k.Pieces[0].products}
	for host, points := range byHost {
		list, _, err := l.sizes(points)
		if err != nil {
			continue
		}
		var of []float64
		for j := range list {
			if model := secondsOf(k.Pieces, &list[j].dims); model > 0 {
				of = append(of, list[j].seconds/model)
			}
		}
		slices.Sort(of)
		if len(of) > 0 && !math.IsInf(median(of), 1) {
			ratios[host] = median(of)
		}
	}
	return ratios
}
