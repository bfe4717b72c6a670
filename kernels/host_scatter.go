package kernels

import (
	"hash/fnv"

	"reprise/noise"
)

// How much hosts differ: by what the caller says (Host.Factor), and by the scatter that a
// file states, in sets that are drawn from it.

// HostScatter returns the standard deviation of times from host to host, relative to
// those of the file; 0 if the file says nothing of it.
func (s *Set) HostScatter() float64 { return s.scatter }

// DrawHosts returns the set for hosts that are not alike: the times of each differ by a
// normal deviate with the standard deviation HostScatter, which goes by the host's name.
func (s *Set) DrawHosts(from noise.Source) *Set {
	drawn := s.clone()
	drawn.hosts = &from
	return drawn
}

// least is the least factor of a host's times: a deviate beyond it stands for none.
const least = 0.1

// factorOf returns how many times as quick a host is as the file says.
func (s *Set) factorOf(h *Host) float64 {
	factor := h.Factor
	if factor == 0 {
		factor = 1
	}
	if s.hosts == nil || s.scatter == 0 {
		return factor
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(h.Name)) // a hash takes all
	d := s.hosts.Draw(noise.HostScatter, uint32(name.Sum64()>>32), uint32(name.Sum64()), 0)
	return factor / max(least, 1+float64(s.scatter*d.Normal()))
}
