package calibrate

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"

	"reprise/internal/wording"
)

// Machine is the cluster around the network, for WriteXML.
type Machine struct {
	Name  string // prefix of the hosts, NAME-0, NAME-1, ...
	Hosts int
	Cores int
	Speed string // of a core, as 1Gf
}

// Validate reports what is wrong with the machine, but for the speed, which only
// readers of platforms understand.
func (m *Machine) Validate() error {
	switch {
	case m.Name == "" || m.Name != wording.Plain(m.Name):
		return fmt.Errorf("name %q of the machine, want letters, digits, points, _ and -", m.Name)
	case m.Hosts < 1 || m.Hosts > 1<<20:
		return fmt.Errorf("%d hosts, want 1 to %d", m.Hosts, 1<<20)
	case m.Cores < 1:
		return fmt.Errorf("%d cores, want at least 1", m.Cores)
	}
	return nil
}

// Cables are what carries messages in a platform: two cables between any two hosts, by a switch, and
// a loopback in each host. Bandwidths are in byte/s, latencies in seconds.
type Cables struct {
	Bandwidth float64 // of one message between two hosts; 0: there is one host
	Latency   float64 // of both cables together
	Capacity  float64 // of a cable, for all messages together; at least Bandwidth, 0 if it is that
	OneWay    bool    // both directions share a cable
	Loopback  *Loopback
}

// Loopback is what carries messages within a host.
type Loopback struct {
	Bandwidth float64 // of one message
	Latency   float64
	Capacity  float64 // of all messages together; at least Bandwidth; 0: they share nothing
}

// check reports what is wrong with the cables.
func (c *Cables) check(m Machine) error {
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
		return fmt.Errorf("%w: no ping-pongs between hosts: %d hosts need bandwidth and latency between them", ErrMeaningless, m.Hosts)
	}
	return nil
}

// cables returns what a platform has of the report.
func (r *NetworkReport) cables() Cables {
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

// WriteXML writes a platform: a cluster on one switch, two links between any two
// hosts, with the properties. It needs timings of a ping-pong, from which bandwidth and latency are.
func (r *NetworkReport) WriteXML(w io.Writer, m Machine) error {
	if len(r.Transfers) == 0 {
		return fmt.Errorf("%w: no timings of a ping-pong: a platform needs bandwidth and latency", ErrMeaningless)
	}
	return WritePlatform(w, m, r.cables(), r.Properties)
}

// WritePlatform writes a platform of the cables, with the properties: a cluster, or, where messages within a host
// share something, which clusters do not know, or there is but one host, a zone of hosts with routes.
func WritePlatform(w io.Writer, m Machine, c Cables, properties []Property) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if err := c.check(m); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n  <config id=\"General\">\n")
	for _, p := range properties {
		fmt.Fprintf(&b, "    <prop id=\"%s\" value=\"%s\"/>\n", escaped(p.Name), escaped(p.Value))
	}
	b.WriteString("  </config>\n")
	if c.Bandwidth > 0 && (c.Loopback == nil || c.Loopback.Capacity == 0) {
		c.writeCluster(&b, m)
	} else if err := c.writeZone(&b, m); err != nil {
		return err
	}
	b.WriteString("</platform>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// wider returns whether all messages together have more than one of them.
func (c *Cables) wider() bool { return c.Capacity > c.Bandwidth }

func (c *Cables) policy() string {
	if c.OneWay {
		return "SHARED"
	}
	return "SPLITDUPLEX"
}

// writeCluster writes a flat cluster. One message that cannot fill a cable is bound by a backbone that
// limits each message alone.
func (c *Cables) writeCluster(b *strings.Builder, m Machine) {
	fmt.Fprintf(b, "  <cluster id=%q prefix=%q suffix=\"\" radical=\"0-%d\" speed=\"%s\" core=\"%d\"\n", m.Name, m.Name+"-", m.Hosts-1, escaped(m.Speed), m.Cores)
	fmt.Fprintf(b, "           bw=\"%sBps\" lat=\"%ss\"", short(max(c.Capacity, c.Bandwidth)), short(c.Latency/2))
	if c.OneWay {
		b.WriteString(" sharing_policy=\"SHARED\"")
	}
	if c.wider() {
		fmt.Fprintf(b, "\n           bb_bw=\"%sBps\" bb_lat=\"0s\" bb_sharing_policy=\"FATPIPE\"", short(c.Bandwidth))
	}
	if l := c.Loopback; l != nil {
		fmt.Fprintf(b, "\n           loopback_bw=\"%sBps\" loopback_lat=\"%ss\"", short(l.Bandwidth), short(l.Latency))
	}
	b.WriteString("/>\n")
}

// mostInZone is how many hosts a zone of routes can have: the tables of paths have 2^24 entries.
const mostInZone = 1<<12 - 1

// writeZone writes a zone with a route from each host to itself and, of several hosts, to and from a switch.
func (c *Cables) writeZone(b *strings.Builder, m Machine) error {
	if m.Hosts > mostInZone {
		return fmt.Errorf("%d hosts whose loopbacks are shared, want at most %d", m.Hosts, mostInZone)
	}
	routing := "Full"
	if c.Bandwidth > 0 {
		routing = "Floyd"
	}
	fmt.Fprintf(b, "  <zone id=%q routing=%q>\n", m.Name, routing)
	for i := range m.Hosts {
		fmt.Fprintf(b, "    <host id=\"%s-%d\" speed=\"%s\" core=\"%d\"/>\n", m.Name, i, escaped(m.Speed), m.Cores)
	}
	if c.Bandwidth > 0 {
		fmt.Fprintf(b, "    <router id=\"%s-switch\"/>\n", m.Name)
	}
	for i := range m.Hosts {
		c.writeLinks(b, fmt.Sprintf("%s-%d", m.Name, i))
	}
	for i := range m.Hosts {
		c.writeRoutes(b, fmt.Sprintf("%s-%d", m.Name, i), m.Name+"-switch")
	}
	b.WriteString("  </zone>\n")
	return nil
}

func (c *Cables) writeLinks(b *strings.Builder, host string) {
	link := func(what string, bandwidth, latency float64, policy string) {
		fmt.Fprintf(b, "    <link id=\"%s-%s\" bandwidth=\"%sBps\" latency=\"%ss\" sharing_policy=\"%s\"/>\n", host, what, short(bandwidth), short(latency), policy)
	}
	if c.Bandwidth > 0 {
		link("cable", max(c.Capacity, c.Bandwidth), c.Latency/2, c.policy())
		if c.wider() {
			link("message", c.Bandwidth, 0, "FATPIPE")
		}
	}
	switch l := c.Loopback; {
	case l == nil:
	case l.Capacity == 0:
		link("loopback", l.Bandwidth, l.Latency, "FATPIPE")
	case l.Capacity > l.Bandwidth:
		link("loopback", l.Capacity, l.Latency, "SHARED")
		link("copy", l.Bandwidth, 0, "FATPIPE")
	default:
		link("loopback", l.Bandwidth, l.Latency, "SHARED")
	}
}

func (c *Cables) writeRoutes(b *strings.Builder, host, center string) {
	route := func(src, dst string, links ...string) {
		fmt.Fprintf(b, "    <route src=%q dst=%q symmetrical=\"NO\">", src, dst)
		for _, l := range links {
			id, direction, _ := strings.Cut(l, " ")
			if direction != "" && !c.OneWay {
				direction = fmt.Sprintf(" direction=%q", direction)
			} else {
				direction = ""
			}
			fmt.Fprintf(b, "<link_ctn id=\"%s-%s\"%s/>", host, id, direction)
		}
		b.WriteString("</route>\n")
	}
	if c.Bandwidth > 0 {
		up := []string{"cable UP"}
		if c.wider() {
			up = append(up, "message")
		}
		route(host, center, up...)
		route(center, host, "cable DOWN")
	}
	if l := c.Loopback; l != nil {
		self := []string{"loopback"}
		if l.Capacity > l.Bandwidth {
			self = append(self, "copy")
		}
		route(host, host, self...)
	}
}

// escaped returns the text as XML has it between quotes.
func escaped(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic("calibrate: no room for a text: " + err.Error())
	}
	return b.String()
}
