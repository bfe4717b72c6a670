package netmodel

import (
	"math"

	"reprise/platforms"
	"reprise/trace/warning"
)

// Window returns the byte/s to which the TCP window limits the share of a flow on a route
// of that latency in seconds, +Inf where it does not.
func (o *Options) Window(latency float64) float64 {
	if latency > 0 && o.TCPGamma > 0 {
		return o.TCPGamma / (2 * latency)
	}
	return math.Inf(1)
}

// fewHosts is up to how many hosts Windowed looks at all routes between them.
const fewHosts = 32

// Windowed warns if the TCP window, and not a link, limits a route between two of the
// hosts that ranks run on, and names the route that loses most. If there are many hosts it
// looks at two routes of each, to the next one and to the one half of them later, and for
// some also at those to hosts that come 2, 4 and so on places later, so that near and far
// ones are among them.
func Windowed(p *platforms.Platform, o *Options, hosts []int32) []warning.Warning {
	var used []int // each host once, in the order of their first ranks
	met := map[int32]bool{}
	for _, h := range hosts {
		if !met[h] {
			met[h] = true
			used = append(used, int(h))
		}
	}
	var (
		n, half = len(used), len(used) / 2
		route   []int32
		found   []warning.Warning
		least   = 1.0 // part of its links' bandwidth that the worst route has
	)
	for i, src := range used {
		for d := 1; d < n; {
			dst := used[(i+d)%n]
			switch { // which distance is looked at next
			case n <= fewHosts:
				d++
			case i%(n/fewHosts) == 0:
				d *= 2
			case d < half:
				d = half
			default:
				d = n
			}
			var err error
			if route, err = p.AppendRoute(route[:0], src, dst); err != nil || len(route) == 0 {
				continue
			}
			narrow, latency := math.Inf(1), 0.0
			for _, l := range route {
				bandwidth, seconds, _ := o.link(p, l)
				narrow, latency = min(narrow, bandwidth), latency+seconds
			}
			latency += p.Distance(src, dst)
			if window := o.Window(latency); window < least*narrow {
				least = window / narrow
				found = []warning.Warning{warning.New("messages from host %s to %s get %.4g of the %.4g byte/s of their links, as the TCP window limits them: latency %.4g s, network/TCP-gamma %.10g, of which 0 is no window",
					p.Host(src).Name, p.Host(dst).Name, window, narrow, latency, o.TCPGamma)}
			}
		}
	}
	return found
}
