package measure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// coreGroups divides the cores among the ranks, Threads for each.
func coreGroups(o *Options) ([][]int, error) {
	allowed, err := allowedCores()
	if err != nil {
		return nil, err
	}
	cores := o.Cores
	if len(cores) == 0 {
		cores = allowed
	}
	for _, c := range cores {
		if !slices.Contains(allowed, c) {
			return nil, fmt.Errorf("core %d: this process may use %s only", c, coreList(allowed))
		}
	}
	if need := o.Ranks * o.Threads; need > len(cores) {
		return nil, OptionError{fmt.Errorf("%d ranks of %d threads need %d cores, and there are %d: measure with fewer --ranks-per-host or --threads, on a machine as that of the run",
			o.Ranks, o.Threads, need, len(cores))}
	}
	var groups [][]int
	for i := range o.Ranks {
		groups = append(groups, cores[i*o.Threads:(i+1)*o.Threads])
	}
	return groups, nil
}

// cores returns the number of cores that can be measured on: those given, or all that this
// process may use.
func (o *Options) cores() (int, error) {
	if len(o.Cores) > 0 {
		return len(o.Cores), nil
	}
	allowed, err := allowedCores()
	return len(allowed), err
}

// RanksOf returns how many of a run's ranks a host like this one has, as far as the number of
// cores tells: as many as there are cores for, or all.
func (o *Options) RanksOf(run int) (int, error) {
	cores, err := o.cores()
	return max(1, min(run, cores/max(1, o.Threads))), err
}

// coreList returns 0,2,3.
func coreList(cores []int) string {
	var texts []string
	for _, c := range cores {
		texts = append(texts, strconv.Itoa(c))
	}
	return strings.Join(texts, ",")
}

// Cores returns the cores of each rank, as 0,1; 2,3.
func (p *Plan) Cores() string {
	var texts []string
	for _, g := range p.Groups {
		texts = append(texts, coreList(g))
	}
	return strings.Join(texts, "; ")
}
