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
	w := windows{p: p, o: o, least: 1}
	used := distinct(hosts)
	for i, src := range used {
		for d := 1; d < len(used); d = further(i, d, len(used)) {
			w.look(src, used[(i+d)%len(used)])
		}
	}
	if w.least >= 1 {
		return nil
	}
	return []warning.Warning{warning.New("messages from host %s to %s get %.4g of the %.4g byte/s of their links, as the TCP window limits them: latency %.4g s, network/TCP-gamma %.10g, of which 0 is no window",
		p.Host(w.src).Name, p.Host(w.dst).Name, w.window, w.narrow, w.latency, o.TCPGamma)}
}

// further returns which distance comes after d where the routes of host i of n are looked at.
func further(i, d, n int) int {
	switch half := n / 2; {
	case n <= fewHosts:
		return d + 1
	case i%(n/fewHosts) == 0:
		return 2 * d
	case d < half:
		return half
	}
	return n
}

// distinct returns each host once, in the order of their first ranks.
func distinct(hosts []int32) (used []int) {
	met := map[int32]bool{}
	for _, h := range hosts {
		if !met[h] {
			met[h] = true
			used = append(used, int(h))
		}
	}
	return used
}

// windows finds the route that loses most to the TCP window.
type windows struct {
	p     *platforms.Platform
	o     *Options
	route []int32 // scratch

	least                   float64 // part of its links' bandwidth that a route has
	src, dst                int
	window, narrow, latency float64
}

// look looks at a route, if there is one.
func (w *windows) look(src, dst int) {
	var err error
	if w.route, err = w.p.AppendRoute(w.route[:0], src, dst); err != nil || len(w.route) == 0 {
		return
	}
	narrow, latency := math.Inf(1), 0.0
	for _, l := range w.route {
		bandwidth, seconds, _ := w.o.link(w.p, l)
		narrow, latency = min(narrow, bandwidth), latency+seconds
	}
	latency += w.p.Distance(src, dst)
	if window := w.o.Window(latency); window < w.least*narrow {
		w.least, w.src, w.dst = window/narrow, src, dst
		w.window, w.narrow, w.latency = window, narrow, latency
	}
}
