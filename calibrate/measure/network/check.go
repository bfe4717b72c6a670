package network

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/warning"
)

// advice says, of what the program refuses, what to do.
var advice = map[string]string{
	"one rank":                 "the program has one rank, want at least 2: start more (-np 2), by the launcher of the MPI whose compiler is --mpicc, as one of another MPI starts each rank alone",
	"no two ranks on one host": "no two ranks run on one host, as --between cores needs: start more on each, as by mpirun --map-by core",
	"all ranks on one host":    "all ranks run on one host, and --between nodes needs two: start them on two, as by mpirun --map-by node or srun -N 2",
}

// check reports why a measurement is not what was asked for.
func (r *Result) check(o *Options, failure error) error {
	switch text, known := advice[r.refused]; {
	case known:
		return fmt.Errorf("%s: %s", o.Launcher[0], text)
	case failure != nil:
		return failure
	case r.Ended == "":
		return fmt.Errorf("%s ended without an error, but the ranks did not finish", o.Launcher[0])
	}
	if o.Between == Both {
		for _, b := range []Between{Cores, Nodes} {
			if !r.Has(b) {
				return fmt.Errorf("nothing was timed between %s, as --between both asks: start two ranks on each of two hosts, as by mpirun -np 4 --map-by ppr:2:node", b)
			}
		}
	}
	return nil
}

// Has reports whether messages between these were timed.
func (r *Result) Has(b Between) bool {
	return slices.ContainsFunc(r.Timings, func(t Timing) bool { return t.Between == b })
}

// Hosts says which ranks ran where: "a: ranks 0, 1; b: ranks 2, 3".
func (r *Result) Hosts() string {
	var order []string
	byHost := map[string][]string{}
	for i, rank := range r.Ranks {
		if byHost[rank.Host] == nil {
			order = append(order, rank.Host)
		}
		byHost[rank.Host] = append(byHost[rank.Host], fmt.Sprint(i))
	}
	for i, host := range order {
		ranks := byHost[host]
		if len(ranks) > mostShown {
			ranks = append(slices.Clone(ranks[:mostShown]), fmt.Sprintf("and %d more", len(ranks)-mostShown))
		}
		order[i] = host + ": ranks " + strings.Join(ranks, ", ")
	}
	return strings.Join(order, "; ")
}

const mostShown = 16

// What a quiet machine has at least and at most.
const (
	leastPart  = 0.95 // of its processor, for each rank
	mostSpread = 2.0  // of a typical ping-pong, times the quickest of its size
	smallBytes = 4096
)

// Warnings says what makes the timings those of a machine that had other things to do.
func (r *Result) Warnings() []warning.Warning {
	list := []warning.Warning{}
	if part := r.Busy.Part(); part < leastPart {
		list = append(list, warning.New("rank %d had a processor for %.0f %% of the time: other programs ran on it, or more ranks than cores: messages then wait for processors; measure on an idle machine, with a core for each rank", r.Busy.Rank, 100*part))
	}
	for _, b := range []Between{Cores, Nodes} {
		if s := r.Spread(b); s > mostSpread {
			list = append(list, warning.New("a small ping-pong between %s takes %.1f times as long as the quickest of its size, typically: something disturbed many of them; measure on an idle machine, or longer", b, s))
		}
	}
	return list
}

// Spread returns how many times as long as the quickest of its size a small ping-pong takes: the median over
// the sizes of the ratio of their median and least time; 0 if there are none.
func (r *Result) Spread(b Between) float64 {
	bySize := map[int64][]float64{}
	for _, t := range r.Timings {
		if t.Operation == "pingpong" && t.Between == b && t.Pairs == 1 && t.Bytes <= smallBytes {
			bySize[t.Bytes] = append(bySize[t.Bytes], t.Seconds)
		}
	}
	var ratios []float64
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
		if s := slices.Sorted(slices.Values(bySize[size])); len(s) > 2 {
			ratios = append(ratios, s[len(s)/2]/s[0])
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}
