package calibrate

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"reprise/internal/wording"
)

// setProperties fills in the options of the simulator.
func (r *NetworkReport) setProperties(o NetworkOptions) {
	add := func(name, value string) {
		if value != "" {
			r.Properties = append(r.Properties, Property{name, value})
		}
	}
	add("smpi/os", r.overheads(Send, o))
	add("smpi/ois", r.overheads(Isend, o))
	add("smpi/or", r.overheads(Recv, o))
	add("smpi/bw-factor", r.factors(func(p NetworkPiece) float64 { return p.BandwidthFactor }))
	add("smpi/lat-factor", r.factors(func(p NetworkPiece) float64 { return p.LatencyFactor }))
	r.Properties = append(r.Properties, o.Thresholds()...)
}

// Thresholds returns the properties that follow from the options alone.
func (o *NetworkOptions) Thresholds() (list []Property) {
	if o.Eager > 0 {
		list = append(list, Property{"smpi/async-small-thresh", short(o.Eager)})
	}
	if o.Detached > 0 {
		list = append(list, Property{"smpi/send-is-detached-thresh", short(o.Detached)})
	}
	return list
}

// overheads returns "from:intercept:slope;..." of an operation, "" if it was not timed.
func (r *NetworkReport) overheads(op Operation, o NetworkOptions) string {
	fit, last := r.fitOf(op), o.lastWithOverhead(op)
	if fit == nil {
		return ""
	}
	var list []string
	for _, p := range networkPieces(fit) {
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

// factors returns "from:factor;..." of the transfers. The network looks them up by what
// it carries, which is a message and its envelope.
func (r *NetworkReport) factors(value func(NetworkPiece) float64) string {
	var list []string
	for _, p := range r.Transfers {
		from := p.From
		if from > 0 {
			from += envelope
		}
		list = append(list, short(from)+":"+short(value(p)))
	}
	return strings.Join(list, ";")
}

// envelope is what SMPI adds to each message, in bytes.
const envelope = 16

// short returns the shortest text that reads as x.
func short(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

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

// WriteXML writes a platform: a cluster on one switch, two links between any two
// hosts, with the properties. It needs timings of a ping-pong, from which bandwidth and latency are.
func (r *NetworkReport) WriteXML(w io.Writer, m Machine) error {
	if len(r.Transfers) == 0 {
		return fmt.Errorf("%w: no timings of a ping-pong: a platform needs bandwidth and latency", ErrMeaningless)
	}
	return WritePlatform(w, m, r.Bandwidth, r.Latency, r.Properties)
}

// WritePlatform writes a cluster on one switch, two links between any two hosts,
// whose routes have this bandwidth (byte/s) and latency (seconds), with the properties.
func WritePlatform(w io.Writer, m Machine, bandwidth, latency float64, properties []Property) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if !(bandwidth > 0 && latency >= 0) || math.IsInf(bandwidth, 1) || math.IsInf(latency, 1) {
		return fmt.Errorf("bandwidth %g byte/s and latency %g s, want more than 0, and 0 or more", bandwidth, latency)
	}
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n  <config id=\"General\">\n")
	for _, p := range properties {
		fmt.Fprintf(&b, "    <prop id=\"%s\" value=\"%s\"/>\n", escaped(p.Name), escaped(p.Value))
	}
	b.WriteString("  </config>\n")
	fmt.Fprintf(&b, "  <cluster id=%q prefix=%q suffix=\"\" radical=\"0-%d\" speed=\"%s\" core=\"%d\"\n", m.Name, m.Name+"-", m.Hosts-1, escaped(m.Speed), m.Cores)
	fmt.Fprintf(&b, "           bw=\"%sBps\" lat=\"%ss\"/>\n</platform>\n", short(bandwidth), short(latency/2))
	_, err := io.WriteString(w, b.String())
	return err
}

// escaped returns the text as XML has it between quotes.
func escaped(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic("calibrate: no room for a text: " + err.Error())
	}
	return b.String()
}
