package replay

// Efficiency returns the Gflop/s of the cores that the ranks run on, and the share of them that a
// rate is; both are 0 where it is not known what the cores can do, and a rate above that says that
// it is not.
func (m *Machine) Efficiency(gflops float64) (peak, share float64) {
	if peak = m.peak(); gflops > 0 && gflops <= peak {
		return peak, gflops / peak
	}
	return 0, 0
}

// peak returns the Gflop/s of the cores that the ranks run on, one core a rank as far as there are
// as many; 0 if the speeds of the hosts are not those of their cores.
func (m *Machine) peak() float64 {
	if m.Platform.NominalSpeed() {
		return 0
	}
	ranks := make([]int, m.Platform.NumHosts())
	for _, h := range m.Hosts {
		ranks[h]++
	}
	peak := 0.0
	for h, n := range ranks {
		host, factor := m.Platform.Host(h), 1.0
		if m.Factors != nil {
			factor = m.Factors[h]
		}
		peak += float64(float64(min(n, host.Cores)) * host.Speed * factor / 1e9)
	}
	return peak
}
