package compose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/platforms"
)

// xmlBuilder writes the XML of a Spec, for Spec.Write and the topologies. Names need no escapes: they are made here, of
// letters, digits and hyphens.
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

// props writes settings, whose values need no escapes.
func (b *xmlBuilder) props(depth int, list []Setting) {
	for _, p := range list {
		b.line(depth, `<prop id="%s" value="%s"/>`, p.Name, p.Value)
	}
}

// cluster writes a cluster of the nodes [first, first+n); more is further attributes.
func (b *xmlBuilder) cluster(depth int, id string, s *Spec, first, n int, more string) {
	properties, end := s.Properties, "/"
	if s.Watts != nil {
		properties = append(slices.Clip(properties), Setting{"wattage_per_state", s.watts()})
	}
	if properties != nil {
		end = ""
	}
	b.line(depth, `<cluster id="%s" prefix="%s" suffix="" radical="%d-%d" speed="%s" core="%d" bw="%s" lat="%s" loopback_bw="%s" loopback_lat="%s"%s%s>`,
		id, nodePrefix, first, first+n-1, speedText(s.Speed), s.Cores, bandwidthText(s.NIC.Bandwidth), latencyText(s.NIC.Latency),
		bandwidthText(s.Loopback.Bandwidth), latencyText(s.Loopback.Latency), more, end)
	if end == "" {
		b.props(depth+1, properties)
		b.line(depth, "</cluster>")
	}
}

// bundle is some cables between two zones as one link, or two: where a flow by itself would
// get more than one of several cables, the second one limits each.
type bundle struct {
	id       string
	cables   int
	cable    Cable
	narrow   bool // a flow may come with more than a cable carries
	src, dst end
}

func (u *bundle) limited() bool { return u.narrow && u.cables > 1 }

// end is a zone, and the router at which it is left.
// Inside a zone messages find their way to the router by its own routes.
type end struct{ zone, gateway string }

// joined writes bundles: all links come before the routes, as SimGrid wants them.
func (b *xmlBuilder) joined(depth int, list []bundle) {
	for _, u := range list {
		b.line(depth, `<link id="%s" bandwidth="%s" latency="%s" sharing_policy="SPLITDUPLEX"/>`, u.id,
			bandwidthText(float64(u.cables)*u.cable.Bandwidth), latencyText(u.cable.Latency))
		if u.limited() {
			b.line(depth, `<link id="%s-cable" bandwidth="%s" latency="0" sharing_policy="FATPIPE"/>`, u.id,
				bandwidthText(u.cable.Bandwidth))
		}
	}
	for _, u := range list {
		links := fmt.Sprintf(`<link_ctn id="%s" direction="UP"/>`, u.id)
		if u.limited() {
			links += fmt.Sprintf(`<link_ctn id="%s-cable"/>`, u.id)
		}
		b.line(depth, `<zoneRoute src="%s" dst="%s" gw_src="%s" gw_dst="%s">%s</zoneRoute>`, u.src.zone, u.dst.zone,
			u.src.gateway, u.dst.gateway, links)
	}
}

// bandwidthText writes byte/s, in a unit that gives the same double.
func bandwidthText(v float64) string {
	return cmp.Or(inUnit(v, 0.125e9, "Gbps", platforms.ParseBandwidth), inUnit(v, 1e9, "GBps", platforms.ParseBandwidth),
		exact(v)+"Bps")
}

// speedText writes flop/s, in a unit that gives the same double.
func speedText(v float64) string {
	return cmp.Or(inUnit(v, 1e9, "Gf", platforms.ParseSpeed), exact(v)+"f")
}

// inUnit writes a number in a unit, "" if that is not short, or not read as the same double.
func inUnit(v, scale float64, unit string, parse func(string) (float64, error)) string {
	text := strconv.FormatFloat(v/scale, 'f', -1, 64) + unit
	if got, err := parse(text); err != nil || got != v || len(text) >= 12 {
		return ""
	}
	return text
}

// latencyText writes seconds, in a unit that gives the same double.
func latencyText(v float64) string {
	text := strconv.FormatFloat(v*1e6, 'g', 12, 64) + "us"
	if got, err := platforms.ParseLatency(text); err == nil && got == v {
		return text
	}
	return exact(v) + "s"
}

// exact writes the shortest text that is this double.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
