package study

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// yardstick is the call by which hosts are quick or slow: M, N and K of a dgemm.
var yardstick = [kernels.MaxDims]int64{4096, 4096, 256}

// slowest returns the names of so many hosts on which the yardstick takes longest, in the mean over
// their cores. Of equally slow ones the first are meant.
func (m *Machine) slowest(p *platforms.Platform, set *kernels.Set, n int) ([]string, error) {
	if n >= p.NumHosts() {
		return nil, fmt.Errorf("without: the slowest %d: %s has %d hosts", n, p.Name(), p.NumHosts())
	}
	type host struct {
		name    string
		seconds float64
	}
	table := hpl.Kernels()
	gemm := replay.SignatureOf(&table[slices.IndexFunc(table, func(k trace.Kernel) bool { return k.Name == "dgemm" })])
	list := make([]host, p.NumHosts())
	for h := range list {
		ph := p.Host(h)
		list[h].name = ph.Name
		for slot := range ph.Cores {
			model, err := set.Bind(kernels.Host{Name: ph.Name, Slot: slot, Speed: ph.Speed, Factor: m.speedOf(ph.Name)}, gemm)
			if err != nil {
				return nil, err
			}
			list[h].seconds += model.Seconds(&yardstick) / float64(ph.Cores)
		}
	}
	slices.SortStableFunc(list, func(a, b host) int { return cmp.Compare(b.seconds, a.seconds) })
	names := make([]string, n)
	for i := range names {
		names[i] = list[i].name
	}
	return names, nil
}

// speedOf returns how many times as quick as described a host is; of several words for it the
// last counts.
func (m *Machine) speedOf(name string) float64 {
	factor := 1.0
	for _, s := range m.HostSpeeds {
		if pattern, err := textutil.ParsePattern(s.Pattern); err == nil && pattern.Match(name) {
			factor = s.Factor
		}
	}
	return factor
}
