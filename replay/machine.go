package replay

import (
	"errors"
	"fmt"
	"slices"

	"reprise/internal/bounds"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/trace"
	"reprise/trace/warning"
)

// Machine is what a trace is played on.
type Machine struct {
	Platform *platforms.Platform
	// Kernels may be nil for a trace that calls no kernels.
	Kernels *kernels.Set
	// NetworkNoise makes overheads and latencies random; nil: they are not.
	NetworkNoise *netmodel.Noise
	// Hosts holds the number of the host of each rank; see FillHosts and ParseHostfile.
	Hosts []int32
	// Factors holds, for each host of the platform, how many times as quick it computes as platform and kernel models
	// say; nil: as they say. Overheads, polls and sleeps do not depend on it.
	Factors []float64
	// HandOver multiplies the times in which device and host see what the other one hands over; 0: 1.
	HandOver float64
	// Source says what LoadMachine has loaded, what was chosen included: for reports.
	Source MachineSpec
	// Choices says by which defaults LoadMachine went where nothing was said.
	Choices Choices

	pollCost []warning.Warning // for the result, if the trace polls
}

// check checks the machine against the number of ranks.
func (m *Machine) check(ranks int) error {
	if m.Platform == nil {
		return errors.New("no platform")
	}
	if len(m.Hosts) != ranks {
		return fmt.Errorf("hosts for %d ranks, but the trace has %d", len(m.Hosts), ranks)
	}
	for r, h := range m.Hosts {
		if h < 0 || int(h) >= m.Platform.NumHosts() {
			return fmt.Errorf("rank %d: host %d out of [0,%d)", r, h, m.Platform.NumHosts())
		}
	}
	if m.Factors != nil && len(m.Factors) != m.Platform.NumHosts() {
		return fmt.Errorf("factors of %d hosts, but the platform has %d", len(m.Factors), m.Platform.NumHosts())
	}
	for h, f := range m.Factors {
		if err := bounds.Factor.Check("factor", f); err != nil {
			return fmt.Errorf("host %q: %w", m.Platform.Host(h).Name, err)
		}
	}
	return nil
}

// factor returns how many times as quick a host is as it is described.
func (m *Machine) factor(host int32) float64 {
	if m.Factors == nil {
		return 1
	}
	return m.Factors[host]
}

// ranksOnHosts returns the number of ranks on each host.
func (m *Machine) ranksOnHosts() []int {
	count := make([]int, m.Platform.NumHosts())
	for _, h := range m.Hosts {
		count[h]++
	}
	return count
}

// Oversubscribed returns the first host that runs more ranks than it has cores, and how many
// those are; ok is false if there is none.
func (m *Machine) Oversubscribed() (host int32, ranks int, ok bool) {
	for h, n := range m.ranksOnHosts() {
		if n > m.Platform.Host(h).Cores {
			return int32(h), n, true
		}
	}
	return 0, 0, false
}

// kernelsIn returns the names of those of the kernels whose models on a host are in the
// unit, each once, in their order.
func (m *Machine) kernelsIn(unit kernels.CostUnit, list []trace.Kernel, host int32) []string {
	if m.Kernels == nil {
		return nil
	}
	var names []string
	ph := m.Platform.Host(int(host))
	for i := range list {
		k := &list[i]
		if m.Kernels.CostUnit(kernels.Host{Name: ph.Name, Speed: ph.Speed}, SignatureOf(k)) == unit &&
			!slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Efficiency returns the peak Gflop/s of what the ranks run on, and the share of it that a rate is. A rank has its part of
// a host by PlacesOf: a core, or more. Both are 0 where the peak is not known: the speed that the platform states is not
// that of the cores, or the rate is above the peak.
func (m *Machine) Efficiency(gflops float64) (peak, share float64) {
	for h, n := range m.ranksOnHosts() {
		if n == 0 {
			continue
		}
		places, err := PlacesOf(m.Platform, h)
		if err != nil {
			return 0, 0
		}
		peak += float64(float64(min(n, places)) / float64(places) * PeakOf(m.Platform, h) * m.factor(int32(h)) / 1e9)
	}
	if gflops > 0 && gflops <= peak {
		return peak, gflops / peak
	}
	return 0, 0
}
