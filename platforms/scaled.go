package platforms

// Scaled returns the platform with links of other capacities: the bandwidth and the latency
// of each are as many times those of the file as factors says, and so are those of its profiles
// and of the options for the global loopback, whoever takes them times [Platform.LinkFactors].
// Routes stay, and so does the hash, which is that of the text.
func (p *Platform) Scaled(factors func(link int32) (bandwidth, latency float64)) *Platform {
	scaled := *p
	scaled.scale = func(link int32) (bandwidth, latency float64) {
		bandwidth, latency = factors(link)
		b, l := p.LinkFactors(link)
		return bandwidth * b, latency * l
	}
	return &scaled
}

// LinkFactors returns what Scaled has multiplied the bandwidth and the latency of link i by:
// 1 and 1 on a platform as its file says.
func (p *Platform) LinkFactors(i int32) (bandwidth, latency float64) {
	if p.scale == nil {
		return 1, 1
	}
	return p.scale(i)
}
