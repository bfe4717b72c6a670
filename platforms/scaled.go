package platforms

// Scaled returns the platform with links of other capacities: the bandwidth and the latency
// of each are as many times those of the file as factors says. Routes stay, and so does the
// hash, which is that of the text.
func (p *Platform) Scaled(factors func(link int32) (bandwidth, latency float64)) *Platform {
	scaled := *p
	scaled.scale = func(link int32) (bandwidth, latency float64) {
		bandwidth, latency = factors(link)
		if p.scale != nil {
			b, l := p.scale(link)
			bandwidth, latency = bandwidth*b, latency*l
		}
		return bandwidth, latency
	}
	return &scaled
}
