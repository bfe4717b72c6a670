package replay

import (
	"errors"
	"fmt"

	"reprise/internal/wording"
	"reprise/platforms"
)

// ErrTooManyRanks is wrapped by errors of mappings that a platform is too small
// for.
var ErrTooManyRanks = errors.New("more ranks than places")

// FillHosts maps ranks to hosts in order, perHost consecutive ranks on each.
// perHost = 0 takes the smallest number that fits, where no host gets more ranks
// than it has cores.
func FillHosts(p *platforms.Platform, ranks, perHost int) ([]int32, error) {
	limit, each := perHost, fmt.Sprintf("%d per host", perHost)
	capacity := func(host int) int { return limit }
	switch {
	case perHost < 0:
		return nil, fmt.Errorf("%d ranks per host, want a positive number", perHost)
	case perHost == 0:
		capacity = func(host int) int { return min(limit, p.Host(host).Cores) }
		limit, each = fewestPerHost(p, ranks), "one per core"
	}
	hosts := make([]int32, 0, ranks)
	for h := 0; h < p.NumHosts() && len(hosts) < ranks; h++ {
		for n := capacity(h); n > 0 && len(hosts) < ranks; n-- {
			hosts = append(hosts, int32(h))
		}
	}
	if len(hosts) < ranks {
		return nil, fmt.Errorf("%s: %w: %d ranks, and room for %d on %s (%s)",
			p.Name(), ErrTooManyRanks, ranks, len(hosts), wording.Count(p.NumHosts(), "host"), each)
	}
	return hosts, nil
}

// fewestPerHost returns the smallest k such that the hosts take all ranks if each
// gets k of them, or one per core if it has fewer cores; the largest number of
// cores if there is none.
func fewestPerHost(p *platforms.Platform, ranks int) int {
	hostsWith := map[int]int{} // by number of cores
	most := 1
	for h := range p.NumHosts() {
		cores := p.Host(h).Cores
		hostsWith[cores]++
		most = max(most, cores)
	}
	takers, places, k := p.NumHosts(), p.NumHosts(), 1
	for ; places < ranks && k < most; k++ {
		takers -= hostsWith[k]
		places += takers
	}
	return k
}
