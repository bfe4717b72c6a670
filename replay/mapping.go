package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/platforms"
	"reprise/trace"
)

// ErrTooManyRanks is wrapped by errors of mappings that a platform is too small
// for.
var ErrTooManyRanks = errors.New("more ranks than places")

// FillHosts maps ranks to hosts in order, perHost consecutive ranks on each.
// perHost = 0 takes the smallest number that fits, where no host gets more ranks
// than it has cores. Hosts of the patterns without get none.
func FillHosts(p *platforms.Platform, ranks, perHost int, without ...string) ([]int32, error) {
	// The hosts that are left take ranks in the order of the platform, each up to its capacity.
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
		// The smallest limit such that the hosts take all ranks, each so many or one per core if it has
		// fewer cores; the largest number of cores if there is none.
		hostsWith, most := map[int]int{}, 1 // by number of cores
		for _, h := range list {
			cores := p.Host(int(h)).Cores
			hostsWith[cores]++
			most = max(most, cores)
		}
		limit, each = 1, "one per core"
		for takers, places := len(list), len(list); places < ranks && limit < most; limit++ {
			takers -= hostsWith[limit]
			places += takers
		}
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
	// A pattern that fits no host is a slip, and refused.
	out := make([]bool, p.NumHosts())
	for _, text := range without {
		pattern, err := textutil.ParsePattern(text)
		if err != nil {
			return nil, &SettingError{"without", err}
		}
		found := false
		for h := range out {
			if pattern.Match(p.Host(h).Name) {
				out[h], found = true, true
			}
		}
		if !found {
			return nil, &SettingError{"without", fmt.Errorf("%s has no host %s; its first is %q", p.Name(),
				textutil.Quote(text), p.Host(0).Name)}
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

// yardstick is the call by which hosts are quick or slow: M, N and K of a dgemm.
var yardstick = [kernels.MaxDims]int64{4096, 4096, 256}

// slowest returns the names of the hosts that get no ranks as the slowest: those on which the yardstick takes
// longest, in the mean over their cores. Of equally slow ones the first are meant. For programs that call no
// dgemm the speed of the cores decides.
func (l *loader) slowest() ([]string, error) {
	m, n := &l.machine, l.spec.Slowest
	if n == 0 {
		return nil, nil
	}
	p := m.Platform
	if n >= p.NumHosts() {
		return nil, &SettingError{"without", fmt.Errorf("the slowest %d: %s has %d hosts", n, p.Name(), p.NumHosts())}
	}
	// Cores of a host may differ, so all of them are asked.
	gemm := slices.IndexFunc(l.header.Kernels, func(k trace.Kernel) bool { return k.Name == "dgemm" })
	seconds, order := make([]float64, p.NumHosts()), make([]int, p.NumHosts())
	for h := range order {
		order[h] = h
		ph := p.Host(h)
		if gemm < 0 {
			seconds[h] = 1 / (ph.Speed * m.factor(int32(h)))
			continue
		}
		for slot := range ph.Cores {
			host := kernels.Host{Name: ph.Name, Slot: slot, Speed: ph.Speed, Factor: m.factor(int32(h))}
			model, err := m.Kernels.Bind(host, SignatureOf(&l.header.Kernels[gemm]))
			if err != nil {
				return nil, err
			}
			seconds[h] += model.Seconds(&yardstick) / float64(ph.Cores)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(seconds[b], seconds[a]) })
	names := make([]string, n)
	for i := range names {
		names[i] = p.Host(order[i]).Name
	}
	return names, nil
}
