package replay

import (
	"errors"
	"fmt"

	"reprise/internal/textutil"
	"reprise/platforms"
)

// ErrTooManyRanks is wrapped by errors of mappings that a platform is too small
// for.
var ErrTooManyRanks = errors.New("more ranks than places")

// FillHosts maps ranks to hosts in order, perHost consecutive ranks on each.
// perHost = 0 takes the smallest number that fits, where no host gets more ranks
// than it has cores. Hosts of the patterns without get none.
func FillHosts(p *platforms.Platform, ranks, perHost int, without ...string) ([]int32, error) {
	list, err := hostsWithout(p, without)
	if err != nil {
		return nil, err
	}
	limit, each := perHost, fmt.Sprintf("%d per host", perHost)
	capacity := func(int32) int { return limit }
	switch {
	case perHost < 0:
		return nil, fmt.Errorf("%d ranks per host, want a positive number", perHost)
	case perHost == 0:
		capacity = func(host int32) int { return min(limit, p.Host(int(host)).Cores) }
		limit, each = fewestPerHost(p, list, ranks), "one per core"
	}
	hosts := make([]int32, 0, ranks)
	for i := 0; i < len(list) && len(hosts) < ranks; i++ {
		for n := capacity(list[i]); n > 0 && len(hosts) < ranks; n-- {
			hosts = append(hosts, list[i])
		}
	}
	if len(hosts) < ranks {
		return nil, fmt.Errorf("%s: %w: %d ranks, and room for %d on %s (%s)",
			p.Name(), ErrTooManyRanks, ranks, len(hosts), textutil.Count(len(list), "host"), each)
	}
	return hosts, nil
}

// hostsWithout returns the numbers of the hosts that are of none of the patterns.
func hostsWithout(p *platforms.Platform, without []string) ([]int32, error) {
	out := make([]bool, p.NumHosts())
	for _, text := range without {
		pattern, err := textutil.ParsePattern(text)
		if err != nil {
			return nil, fmt.Errorf("hosts left out: %w", err)
		}
		found := false
		for h := range out {
			if pattern.Match(p.Host(h).Name) {
				out[h], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("hosts left out, %s: %s has no such host; its first is %q", textutil.Quote(text), p.Name(), p.Host(0).Name)
		}
	}
	list := make([]int32, 0, len(out))
	for h := range out {
		if !out[h] {
			list = append(list, int32(h))
		}
	}
	return list, nil
}

// fewestPerHost returns the smallest k such that the hosts take all ranks if each
// gets k of them, or one per core if it has fewer cores; the largest number of
// cores if there is none.
func fewestPerHost(p *platforms.Platform, hosts []int32, ranks int) int {
	hostsWith := map[int]int{} // by number of cores
	most := 1
	for _, h := range hosts {
		cores := p.Host(int(h)).Cores
		hostsWith[cores]++
		most = max(most, cores)
	}
	takers, places, k := len(hosts), len(hosts), 1
	for ; places < ranks && k < most; k++ {
		takers -= hostsWith[k]
		places += takers
	}
	return k
}
