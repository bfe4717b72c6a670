package compose

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/platforms"
)

// xmlBuilder is a description that is being written.
type xmlBuilder struct{ strings.Builder }

// line writes a line at some depth.
func (b *xmlBuilder) line(depth int, format string, args ...any) {
	b.WriteString(strings.Repeat("  ", depth))
	if len(args) == 0 {
		b.WriteString(format)
	} else {
		fmt.Fprintf(b, format, args...)
	}
	b.WriteByte('\n')
}

// cluster writes a cluster of the nodes [first, first+n); more is further attributes.
func (b *xmlBuilder) cluster(depth int, id string, s *Spec, first, n int, more string) {
	b.line(depth, `<cluster id="%s" prefix="%s" suffix="" radical="%d-%d" speed="%s" core="%d" bw="%s" lat="%s" loopback_bw="%s" loopback_lat="%s"%s/>`,
		id, nodePrefix, first, first+n-1, speedText(s.Speed), s.Cores, bandwidthText(s.NIC.Bandwidth), latencyText(s.NIC.Latency),
		bandwidthText(s.Loopback.Bandwidth), latencyText(s.Loopback.Latency), more)
}

// bundle is some cables between two zones as one link, or two: where a flow by itself would
// get more than a cable, the second one limits each.
type bundle struct {
	id       string
	cables   int
	cable    Cable
	limited  bool
	src, dst end
}

// end is a zone, and the router at which it is left.
type end struct{ zone, gateway string }

// joined writes bundles: all links come before the routes, as SimGrid wants them.
func (b *xmlBuilder) joined(depth int, list []bundle) {
	for i := range list {
		list[i].declare(b, depth)
	}
	for i := range list {
		list[i].route(b, depth)
	}
}

// declare writes the links of a bundle.
func (u *bundle) declare(b *xmlBuilder, depth int) {
	b.line(depth, `<link id="%s" bandwidth="%s" latency="%s" sharing_policy="SPLITDUPLEX"/>`, u.id,
		bandwidthText(float64(u.cables)*u.cable.Bandwidth), latencyText(u.cable.Latency))
	if u.limited {
		b.line(depth, `<link id="%s-cable" bandwidth="%s" latency="0" sharing_policy="FATPIPE"/>`, u.id,
			bandwidthText(u.cable.Bandwidth))
	}
}

// route writes the route over a bundle.
func (u *bundle) route(b *xmlBuilder, depth int) {
	links := fmt.Sprintf(`<link_ctn id="%s" direction="UP"/>`, u.id)
	if u.limited {
		links += fmt.Sprintf(`<link_ctn id="%s-cable"/>`, u.id)
	}
	b.line(depth, `<zoneRoute src="%s" dst="%s" gw_src="%s" gw_dst="%s">%s</zoneRoute>`, u.src.zone, u.dst.zone,
		u.src.gateway, u.dst.gateway, links)
}

// slow has the speeds of nodes with a factor be that many times as high, from the beginning on.
func (b *xmlBuilder) slow(factors []float64) {
	for i, f := range factors {
		if f != 1 {
			b.line(1, `<trace id="slow-%d" periodicity="-1">0 %s</trace><trace_connect kind="SPEED" trace="slow-%d" element="%s"/>`, i, exact(f), i, nodeName(i))
		}
	}
}

// bandwidthText writes byte/s, in a unit that gives the same double.
func bandwidthText(v float64) string {
	for _, u := range []struct {
		name  string
		scale float64
	}{{"Gbps", 0.125e9}, {"GBps", 1e9}} {
		text := strconv.FormatFloat(v/u.scale, 'f', -1, 64) + u.name
		if got, err := platforms.ParseBandwidth(text); err == nil && got == v && len(text) < 12 {
			return text
		}
	}
	return exact(v) + "Bps"
}

// latencyText writes seconds, in a unit that gives the same double.
func latencyText(v float64) string {
	text := strconv.FormatFloat(v*1e6, 'g', 12, 64) + "us"
	if got, err := platforms.ParseLatency(text); err == nil && got == v {
		return text
	}
	return exact(v) + "s"
}

// speedText writes flop/s, in a unit that gives the same double.
func speedText(v float64) string {
	text := strconv.FormatFloat(v/1e9, 'f', -1, 64) + "Gf"
	if got, err := platforms.ParseSpeed(text); err == nil && got == v && len(text) < 12 {
		return text
	}
	return exact(v) + "f"
}

// exact writes the shortest text that is this double.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
