package calibrate

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"

	"reprise/internal/textutil"
)

// This file writes what the fit of a network has found: as a report for people, as the properties
// that SimGrid and Reprise read, and as a platform file.

// WriteText writes the report for people.
func (r *NetworkReport) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "points are the %s of the timings of each size", r.Statistic)
	if r.Trim > 0 {
		fmt.Fprintf(&b, ", without %g %% of them on both sides", 100*r.Trim)
	}
	b.WriteString("\n\n")
	for i, op := range r.Operations {
		if i > 0 {
			b.WriteString("\n")
		}
		op.write(&b, string(op.Operation))
	}
	r.Route.write(&b, map[Between]string{Nodes: "network", Cores: "network, within a host"}[r.Between])
	if r.Within != nil {
		b.WriteString("\n")
		r.Within.PingPong.write(&b, "pingpong within a host")
		r.Within.Route.write(&b, "within a host")
	}
	// Thresholds, and what each is from.
	for i, t := range r.Thresholds {
		if i == 0 {
			b.WriteString("\nthresholds:\n")
		}
		why := fmt.Sprintf("found between %s and %s bytes", short(t.Below), short(t.Above))
		switch {
		case !t.Found:
			why = "given"
		case t.Below == 0 && t.Above == 0:
			why = "all that do not wait for their receive"
		case t.Above == 0:
			why = "none waits of those that were timed"
		}
		what := map[string]string{eagerName: "eager below", detachedName: "sends wait from"}[t.Name]
		fmt.Fprintf(&b, "  %s %s bytes: %s\n", what, short(t.Bytes), why)
	}
	// Links that messages share: the verdict, then the slowdowns that it is from.
	for _, s := range r.Sharing {
		fmt.Fprintf(&b, "\n%s: %s\n", map[Between]string{Nodes: "sharing of a cable",
			Cores: "sharing within a host"}[s.Between], s.verdict())
		textutil.WriteAligned(&b, "messages at once|sizes|bytes take times as long|std error", func(tab io.Writer) {
			for _, p := range s.Points {
				name := fmt.Sprint(p.Messages)
				if p.Crossing {
					name += ", crossing"
				}
				fmt.Fprintf(tab, "  %s\t%d\t%.3f\t%s\t\n", name, p.Sizes, p.Slowdown, errorText(p.StdError))
			}
		})
	}
	// Polls: the count of the first ones stands in the place of the title.
	if first := r.FirstPolls; first != nil {
		fmt.Fprintf(&b, "\npolls: the first after a message has come misses: %d of %d\n", first.Misses, first.Timings)
	} else if len(r.Polls) > 0 {
		b.WriteString("\npolls:\n")
	}
	if len(r.Polls) > 0 {
		textutil.WriteAligned(&b, "operation|timings|median (s)|std error", func(tab io.Writer) {
			for _, p := range r.Polls {
				fmt.Fprintf(tab, "  %s\t%d\t%.3e\t%s\t\n", p.Operation, p.Timings, p.Seconds, errorText(p.StdError))
			}
		})
	}
	// The noise of each operation: the modes of each range of sizes.
	for _, op := range r.Noise {
		fmt.Fprintf(&b, "\nnoise of %s:\n", op.Operation)
		for _, n := range op.Ranges {
			fmt.Fprintf(&b, "  above %s bytes: ", short(n.From))
			if len(n.Modes) == 0 {
				fmt.Fprintf(&b, "%s\n", n.Note)
				continue
			}
			var modes []string
			for _, m := range n.Modes {
				text := fmt.Sprintf("%+.3e s (sd %.2e)", m.Mean, m.SD)
				if n.Relative {
					text = fmt.Sprintf("%+.2f %% (sd %.2f %%)", 100*m.Mean, 100*m.SD)
				}
				modes = append(modes, fmt.Sprintf("%.2f %%: %s", 100*m.Weight, text))
			}
			fmt.Fprintf(&b, "%d timings, %s; %s\n", n.Timings, n.Shape, strings.Join(modes, "; "))
		}
	}
	b.WriteString("\n")
	for _, p := range r.Properties {
		fmt.Fprintf(&b, "%s:%s\n", p.Name, p.Value)
	}
	return textutil.Write(w, b.String())
}

func (op *OperationFit) write(b *strings.Builder, name string) {
	fmt.Fprintf(b, "%s: %d timings of %d sizes, log error %.4f\n", name, op.Timings, op.Sizes, op.LogError)
	textutil.WriteAligned(b, "above (bytes)|sizes|intercept (s)|std error|slope (s/byte)|std error", func(tab io.Writer) {
		for _, p := range op.Pieces {
			fmt.Fprintf(tab, "  %s\t%d\t%.6e\t%s\t%.6e\t%s\t\n", short(p.From), p.Sizes, p.Intercept,
				errorText(p.InterceptError), p.Slope, errorText(p.SlopeError))
		}
	})
}

// errorText writes a standard error, "-" for 0, which stands for none.
func errorText(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1e", x)
}

func (t *Route) write(b *strings.Builder, name string) {
	if len(t.Transfers) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s: %.6e byte/s, latency %.6e s\n", name, t.Bandwidth, t.Latency)
	textutil.WriteAligned(b, "above (bytes)|latency (s)|per byte (s)|bandwidth factor|std error|latency factor|std error",
		func(tab io.Writer) {
			for _, p := range t.Transfers {
				fmt.Fprintf(tab, "  %s\t%.6e\t%.6e\t%.6f\t%s\t%.6f\t%s\t\n", short(p.From), p.Intercept, p.Slope, p.BandwidthFactor,
					errorText(p.BandwidthError), p.LatencyFactor, errorText(p.LatencyError))
			}
		})
}

// verdict says whether messages share a link, and its capacity.
func (f *SharingFit) verdict() string {
	crossing := ""
	if f.Between == Nodes {
		crossing = ", messages that cross share it (SHARED)"
		if f.Duplex {
			crossing = ", messages that cross have one each (SPLITDUPLEX)"
		}
	}
	switch {
	case f.Shared:
		return fmt.Sprintf("%.6e byte/s for all together (std error %s), %.6e for one%s", f.Capacity, errorText(f.Error),
			f.Single, crossing)
	case f.Capacity > 0:
		return fmt.Sprintf("%.6e byte/s for all together at least, as no number of messages that was timed slows them, %.6e for one%s", f.Capacity, f.Single, crossing)
	case f.Between == Nodes && len(f.Points) == 1 && f.Points[0].Crossing:
		return fmt.Sprintf("%.6e byte/s for one, no pairs at the same time were timed%s", f.Single, crossing)
	}
	return fmt.Sprintf("%.6e byte/s for each, no number of messages that was timed slows them (FATPIPE)%s", f.Single,
		crossing)
}

// setProperties fills in the options of the simulator, by which it plays what was timed: those of
// SMPI's model of messages (smpi/), of its network, and of this project's own parts (reprise/). An
// option of which nothing was timed is left to its default.
func (r *NetworkReport) setProperties(o NetworkOptions) {
	add := func(name, value string) {
		if value != "" {
			r.Properties = append(r.Properties, Property{name, value})
		}
	}
	add("smpi/os", r.overheads(Send, o))
	add("smpi/ois", r.overheads(Isend, o))
	add("smpi/or", r.overheads(Recv, o))
	bandwidth, latency := r.Route.factors()
	add("smpi/bw-factor", bandwidth)
	add("smpi/lat-factor", latency)
	if r.Within != nil {
		bandwidth, latency = r.Within.factors()
		add("reprise/loopback-bw-factor", bandwidth)
		add("reprise/loopback-lat-factor", latency)
	}
	r.Properties = append(r.Properties, o.Thresholds()...)
	beyond := func(t Route) bool { return 2*t.Latency*t.Bandwidth > tcpWindow }
	if beyond(r.Route) || r.Within != nil && beyond(r.Within.Route) { // the window would leave it less bandwidth
		add("network/TCP-gamma", "0") // what the window left was timed
	}
	if len(r.Sharing) > 0 {
		add("network/crosstraffic", "no") // what acknowledgements take was timed
	}
	polls := map[Operation]float64{} // seconds
	for _, p := range r.Polls {
		polls[p.Operation] = p.Seconds
	}
	iprobe, test := cmp.Or(polls[IprobeMiss], polls[IprobeHit]), cmp.Or(polls[TestMiss], polls[TestHit])
	if iprobe > 0 {
		add("smpi/iprobe", short(iprobe))
	}
	if test > 0 {
		add("smpi/test", short(test))
	}
	if iprobe > 0 || test > 0 {
		add("smpi/grow-injected-times", "no") // each poll was timed to cost the same
	}
	if first := r.FirstPolls; first != nil && 2*first.Misses > first.Timings {
		add("reprise/poll-late", "yes")
	}
}

// tcpWindow is the value of a replay without network/TCP-gamma, in bytes: netmodel.DefaultOptions.
const tcpWindow = 4194304

// Thresholds returns the properties that follow from the options alone.
func (o *NetworkOptions) Thresholds() (list []Property) {
	if o.Eager > 0 {
		list = append(list, Property{eagerName, short(o.Eager)})
	}
	if o.Detached > 0 {
		list = append(list, Property{detachedName, short(o.Detached)})
	}
	return list
}

// overheads returns "from:intercept:slope;..." of an operation, "" if it was not timed.
func (r *NetworkReport) overheads(op Operation, o NetworkOptions) string {
	fit, last := r.fitOf(op), o.lastWithOverhead(op)
	if fit == nil {
		return ""
	}
	// A last entry of zeros ends the overheads: from the threshold on a send waits for its receiver instead.
	var list []string
	for _, p := range fit.Pieces {
		if p.From >= last {
			break
		}
		list = append(list, short(p.From)+":"+short(p.Intercept)+":"+short(p.Slope))
	}
	if !math.IsInf(last, 1) {
		list = append(list, short(last)+":0:0")
	}
	return strings.Join(list, ";")
}

// factors returns the factors of bandwidth and of latency, each as "from:factor;...". The network
// looks them up by the size of all that it carries, which is a message and its envelope.
func (t *Route) factors() (bandwidth, latency string) {
	var bandwidths, latencies []string
	for _, p := range t.Transfers {
		from := p.From
		if from > 0 {
			from += envelope
		}
		bandwidths = append(bandwidths, short(from)+":"+short(p.BandwidthFactor))
		latencies = append(latencies, short(from)+":"+short(p.LatencyFactor))
	}
	return strings.Join(bandwidths, ";"), strings.Join(latencies, ";")
}

// envelope is the size of the header that SMPI adds to each message, in bytes.
const envelope = 16

// short returns the shortest text that reads as x.
func short(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Machine is the cluster around the network, for WriteXML: what timings of messages cannot tell.
type Machine struct {
	Name  string // prefix of the hosts, NAME-0, NAME-1, ...
	Hosts int
	Cores int
	Speed string // of a core, as 1Gf
}

// Validate reports what is wrong with the machine, but for the speed, which only readers of platforms understand.
func (m *Machine) Validate() error {
	switch {
	case m.Name == "" || m.Name != textutil.Plain(m.Name):
		return fmt.Errorf("name %q of the machine, want letters, digits, points, _ and -", m.Name)
	case m.Hosts < 1 || m.Hosts > 1<<20:
		return fmt.Errorf("%d hosts, want 1 to %d", m.Hosts, 1<<20)
	case m.Cores < 1:
		return fmt.Errorf("%d cores, want at least 1", m.Cores)
	}
	return nil
}

// Cables carry the messages in a platform: two cables between any two hosts, by a
// switch, and a loopback in each host. Bandwidths are in byte/s, latencies in seconds.
type Cables struct {
	Bandwidth float64 // of one message between two hosts; 0: there is one host
	Latency   float64 // of both cables together
	Capacity  float64 // of a cable, for all messages together; at least Bandwidth, 0 if it is that
	OneWay    bool    // both directions share a cable
	Loopback  *Loopback
}

// Loopback carries the messages within a host.
type Loopback struct {
	Bandwidth float64 // of one message
	Latency   float64
	Capacity  float64 // of all messages together; at least Bandwidth; 0: they share nothing
}

// cables returns the part of the report that a platform has.
func (r *NetworkReport) cables() Cables {
	// Without timings between hosts the route is that within one, and there are no cables.
	var c Cables
	within := r.Route
	if r.Between == Nodes {
		c.Bandwidth, c.Latency = r.Bandwidth, r.Latency
		if s := r.sharingOf(Nodes); s != nil {
			c.OneWay = !s.Duplex
			c.Capacity = s.Capacity
		}
		if r.Within == nil {
			return c
		}
		within = r.Within.Route
	}
	c.Loopback = &Loopback{Bandwidth: within.Bandwidth, Latency: within.Latency}
	if s := r.sharingOf(Cores); s != nil {
		c.Loopback.Capacity = s.Capacity
	}
	return c
}

// MostHosts returns how many hosts a platform of the report can have: 0 for no bound.
func (r *NetworkReport) MostHosts() int {
	switch c := r.cables(); {
	case c.Bandwidth == 0:
		return 1
	case c.Loopback != nil && c.Loopback.Capacity > 0:
		return mostInZone
	}
	return 0
}

// WriteXML writes a platform: a cluster on one switch, two links between any two hosts, with the
// properties. It needs timings of a ping-pong, from which bandwidth and latency are.
func (r *NetworkReport) WriteXML(w io.Writer, m Machine) error {
	if len(r.Transfers) == 0 {
		return fmt.Errorf("%w: no timings of a ping-pong: a platform needs bandwidth and latency", ErrMeaningless)
	}
	return WritePlatform(w, m, r.cables(), r.Properties)
}

// WritePlatform writes a platform of the cables, with the properties: a cluster, or, where messages within a host share
// something, which clusters do not know, or there is but one host, a zone of hosts with routes.
func WritePlatform(w io.Writer, m Machine, c Cables, properties []Property) error {
	if err := m.Validate(); err != nil {
		return err
	}
	numbers := []float64{c.Bandwidth, c.Latency, c.Capacity}
	if l := c.Loopback; l != nil {
		numbers = append(numbers, l.Bandwidth, l.Latency, l.Capacity)
	}
	for _, x := range numbers {
		if !(x >= 0) || math.IsInf(x, 1) || c.Bandwidth == 0 && c.Loopback == nil {
			return fmt.Errorf("bandwidth %g byte/s and latency %g s, want more than 0, and 0 or more", c.Bandwidth, c.Latency)
		}
	}
	if c.Bandwidth == 0 && m.Hosts > 1 {
		return fmt.Errorf("%w: no ping-pongs between hosts: %d hosts need bandwidth and latency between them", ErrMeaningless,
			m.Hosts)
	}
	// The text is gathered first, so that nothing is written of a platform that is refused.
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n  <config id=\"General\">\n")
	for _, p := range properties {
		fmt.Fprintf(&b, "    <prop id=\"%s\" value=\"%s\"/>\n", html.EscapeString(p.Name), html.EscapeString(p.Value))
	}
	b.WriteString("  </config>\n")
	switch {
	case c.Bandwidth > 0 && (c.Loopback == nil || c.Loopback.Capacity == 0):
		// A flat cluster. One message that cannot fill a cable is bound by a backbone that limits each message alone.
		fmt.Fprintf(&b, "  <cluster id=%q prefix=%q suffix=\"\" radical=\"0-%d\" speed=\"%s\" core=\"%d\"\n", m.Name,
			m.Name+"-", m.Hosts-1, html.EscapeString(m.Speed), m.Cores)
		fmt.Fprintf(&b, "           bw=\"%sBps\" lat=\"%ss\"", short(max(c.Capacity, c.Bandwidth)), short(c.Latency/2))
		if c.OneWay {
			b.WriteString(" sharing_policy=\"SHARED\"")
		}
		if c.Capacity > c.Bandwidth {
			fmt.Fprintf(&b, "\n           bb_bw=\"%sBps\" bb_lat=\"0s\" bb_sharing_policy=\"FATPIPE\"", short(c.Bandwidth))
		}
		if l := c.Loopback; l != nil {
			fmt.Fprintf(&b, "\n           loopback_bw=\"%sBps\" loopback_lat=\"%ss\"", short(l.Bandwidth), short(l.Latency))
		}
		b.WriteString("/>\n")
	case m.Hosts > mostInZone:
		return fmt.Errorf("%d hosts whose loopbacks are shared, want at most %d", m.Hosts, mostInZone)
	default:
		c.writeZone(&b, m)
	}
	b.WriteString("</platform>\n")
	return textutil.Write(w, b.String())
}

// mostInZone is how many hosts a zone of routes can have: the tables of paths have 2^24 entries.
const mostInZone = 1<<12 - 1

// writeZone writes a zone with a route from each host to itself and, of several hosts, to and from a switch. As in a
// cluster, a link that is wider than one message is followed by one that limits each message alone.
func (c *Cables) writeZone(b *strings.Builder, m Machine) {
	// Each host has these links, of which the cable leads to the switch.
	type wire struct {
		name, limit, policy string
		one, all, latency   float64 // bandwidth of one message, and of all together
	}
	var wires []wire
	routing, policy, up, down := "Full", "SHARED", "", ""
	if !c.OneWay {
		policy, up, down = "SPLITDUPLEX", " direction=\"UP\"", " direction=\"DOWN\""
	}
	if c.Bandwidth > 0 {
		routing = "Floyd"
		wires = append(wires, wire{"cable", "message", policy, c.Bandwidth, c.Capacity, c.Latency / 2})
	}
	if l := c.Loopback; l != nil {
		policy := "SHARED"
		if l.Capacity == 0 {
			policy = "FATPIPE"
		}
		wires = append(wires, wire{"loopback", "copy", policy, l.Bandwidth, l.Capacity, l.Latency})
	}
	fmt.Fprintf(b, "  <zone id=%q routing=%q>\n", m.Name, routing)
	for i := range m.Hosts {
		fmt.Fprintf(b, "    <host id=\"%s-%d\" speed=\"%s\" core=\"%d\"/>\n", m.Name, i, html.EscapeString(m.Speed), m.Cores)
	}
	if c.Bandwidth > 0 {
		fmt.Fprintf(b, "    <router id=\"%s-switch\"/>\n", m.Name)
	}
	// All links come before the routes, which refer to them.
	for i := range m.Hosts {
		link := func(name string, bandwidth, latency float64, policy string) {
			fmt.Fprintf(b, "    <link id=\"%s-%d-%s\" bandwidth=\"%sBps\" latency=\"%ss\" sharing_policy=\"%s\"/>\n", m.Name, i,
				name, short(bandwidth), short(latency), policy)
		}
		for _, w := range wires {
			link(w.name, max(w.all, w.one), w.latency, w.policy)
			if w.all > w.one {
				link(w.limit, w.one, 0, "FATPIPE")
			}
		}
	}
	for i := range m.Hosts {
		host := fmt.Sprintf("%s-%d", m.Name, i)
		// A route crosses one link of the host and the limit of each message. Both directions are
		// written, as they use the cable the other way round, on which the limit counts once.
		route := func(src, dst string, w wire, direction string, limited bool) {
			fmt.Fprintf(b, "    <route src=%q dst=%q symmetrical=\"NO\"><link_ctn id=\"%s-%s\"%s/>", src, dst, host, w.name,
				direction)
			if limited && w.all > w.one {
				fmt.Fprintf(b, "<link_ctn id=\"%s-%s\"/>", host, w.limit)
			}
			b.WriteString("</route>\n")
		}
		for _, w := range wires {
			if w.name == "loopback" {
				route(host, host, w, "", true)
				continue
			}
			route(host, m.Name+"-switch", w, up, true)
			route(m.Name+"-switch", host, w, down, false)
		}
	}
	b.WriteString("  </zone>\n")
}
