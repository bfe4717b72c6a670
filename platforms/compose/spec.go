// Package compose describes machines from a few words, as SimGrid XML.
//
//	tree, err := compose.ParseFatTree("leaf=16 up=8x200Gbps", nic)
//	...
//	spec := compose.DefaultSpec(64)
//	spec.Topology = tree
//	err = spec.Write(w)
//
// A [Spec] is hosts of one kind, node-0, node-1, ..., and a [Topology] that joins them: [Flat],
// a [FatTree], a [Torus] or a [Dragonfly]. What is written is read by package platforms and by
// SimGrid 3.32, with the same routes, and grows with the number of switches and the links
// between them, not with pairs of hosts (of listed routes with the pairs of a switch and a host).
//
// # Form
//
// A flat network and a torus are a <cluster>. A fat tree is zones: each leaf switch is a flat cluster, and the cables
// of a switch upwards are one link of their sum. Flows share that as they do where routing is adaptive; a flow by
// itself gets no more than a cable. If static routing is asked for (D-mod-K), a tree of full switches whose cables are
// all like those of the hosts is SimGrid's FAT_TREE, which has one speed for all levels; of others a route is listed
// from each leaf switch to each node. A dragonfly is zones as well, with minimal routes, or if its routing is adaptive with
// links of sums.
//
// # Units
//
// Bandwidths are in byte/s, latencies in seconds, speeds in flop/s of a core. Texts have units
// as platforms have them: 100Gbps is 12.5e9 byte/s.
//
// # Errors
//
// An error says which word of a topology, or which number, is not possible, and what is.
//
// # Source
//
// Fat trees: C. Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", 1985. Dragonflies: J.
// Kim, W. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", 2008.
package compose

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"reprise/internal/bounds"
	"reprise/internal/textutil"
	"reprise/platforms"
)

// A Spec says which machine to describe. Start from DefaultSpec.
type Spec struct {
	Nodes    int
	Cores    int     // of a node
	Speed    float64 // of a core
	NIC      Cable   // between a node and its switch
	Loopback Cable   // within a node
	Topology Topology
	// Slow has the nodes of a pattern compute at a factor of Speed; of several for a node the last counts.
	Slow []Slow
	// Settings replace the options of the simulator that the description has otherwise; Properties are of each node.
	Settings, Properties []Setting
	// Watts are those of a node: idle, if given with a load that goes to 0, and with all cores; nil: not known.
	Watts []float64
}

// A Setting is an option or a property.
type Setting struct{ Name, Value string }

// A Cable is one connection, the same both ways.
type Cable struct{ Bandwidth, Latency float64 }

// Slow is a speed of some nodes.
type Slow struct {
	Pattern string // of names, as the key host of a kernel file
	Factor  float64
}

// A Topology joins the nodes.
type Topology interface {
	// check says what the topology cannot be, with so many nodes.
	check(s *Spec) error
	// words says what it is, a sentence each.
	words(s *Spec) []string
	// body writes its zones and clusters.
	body(b *xmlBuilder, s *Spec)
}

// DefaultSpec returns so many nodes of a core of 32 Gflop/s on one switch, with cables of 100
// Gb/s and 0.5 us and a loopback of 20 GB/s and 0.1 us.
func DefaultSpec(nodes int) *Spec {
	return &Spec{
		Nodes: nodes, Cores: 1, Speed: 32e9, NIC: Cable{12.5e9, 0.5 * 1e-6}, Loopback: Cable{20e9, 0.1 * 1e-6},
		Topology: Flat{},
	}
}

// maxCores is the number of cores that platforms allow for a host.
const maxCores = 1 << 20

// Check says what is not possible.
func (s *Spec) Check() error {
	switch {
	case s.Nodes < 1 || s.Nodes > platforms.MaxHosts:
		return fmt.Errorf("%d nodes, want 1 to %d", s.Nodes, platforms.MaxHosts)
	case s.Cores < 1 || s.Cores > maxCores:
		return fmt.Errorf("%d cores, want 1 to %d", s.Cores, maxCores)
	}
	if err := bounds.Speed.Check("speed", s.Speed); err != nil {
		return err
	}
	for _, c := range []struct {
		what string
		Cable
	}{{"NIC", s.NIC}, {"loopback", s.Loopback}} {
		if err := c.check(); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	if _, err := s.factors(); err != nil {
		return err
	}
	if s.Watts != nil {
		if _, err := platforms.ParseHostWatts(s.watts()); err != nil {
			return fmt.Errorf("watts: %w", err)
		}
	}
	return s.Topology.check(s)
}

func (c Cable) check() error {
	return cmp.Or(bounds.Bandwidth.Check("bandwidth", c.Bandwidth), bounds.Latency.Check("latency", c.Latency))
}

// like reports whether two cables are alike, but for the rounding of their units.
func (c Cable) like(d Cable) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*b }
	return near(c.Bandwidth, d.Bandwidth) && near(c.Latency, d.Latency)
}

// factors returns the factor of each node's speed; nil if all are 1.
func (s *Spec) factors() ([]float64, error) {
	var list []float64
	for _, slow := range s.Slow {
		if list == nil {
			list = slices.Repeat([]float64{1}, s.Nodes)
		}
		pattern, err := textutil.ParsePattern(slow.Pattern)
		err = cmp.Or(err, bounds.Factor.Check("factor", slow.Factor), bounds.Speed.Check("speed", s.Speed*slow.Factor))
		if err != nil {
			return nil, fmt.Errorf("slow nodes: %w", err)
		}
		found := false
		for i := range list {
			if pattern.Match(nodeName(i)) {
				list[i], found = slow.Factor, true
			}
		}
		if !found {
			return nil, fmt.Errorf("slow nodes: no node matches %q: they are %s to %s", slow.Pattern, nodeName(0),
				nodeName(s.Nodes-1))
		}
	}
	return list, nil
}

func nodeName(i int) string { return fmt.Sprintf("%s%d", nodePrefix, i) }

const nodePrefix = "node-"

// Words says what the machine is, a sentence each, how many nodes share which cables included.
func (s *Spec) Words() []string {
	list := []string{fmt.Sprintf("%s, %s to %s, of %s of %s", count(s.Nodes, "node"), nodeName(0), nodeName(s.Nodes-1),
		count(s.Cores, "core"), fmt.Sprintf("%.4g Gflop/s", s.Speed/1e9))}
	list = append(list, s.Topology.words(s)...)
	list = append(list, "within a node "+s.Loopback.String())
	if s.Watts != nil {
		list = append(list, fmt.Sprintf("a node draws %s W idle, %s W with all cores", exact(s.Watts[0]), exact(s.Watts[len(s.Watts)-1])))
	}
	for _, slow := range s.Slow {
		list = append(list, fmt.Sprintf("%s at %g of the speed", slow.Pattern, slow.Factor))
	}
	return list
}

// watts writes the powers of a node as wattage_per_state has them.
func (s *Spec) watts() string { return strings.Join(textutil.Texts(s.Watts, exact), ":") }

// StateNetwork adds a property of the nodes that says in words what joins them, for pages that describe the machine.
func (s *Spec) StateNetwork() {
	s.Properties = append(s.Properties, Setting{"network", strings.Join(s.Topology.words(s), "; ")})
}

// Write writes the description, if it is possible.
func (s *Spec) Write(w io.Writer) error {
	if err := s.Check(); err != nil {
		return err
	}
	factors, _ := s.factors() // whose error Check has
	b := &xmlBuilder{}
	b.line(0, `<?xml version="1.0"?>`)
	b.line(0, `<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">`)
	b.WriteString("<!-- " + strings.ReplaceAll(strings.Join(s.Words(), ".\n     "), "--", "- -") + ". -->\n")
	b.line(0, `<platform version="4.1">`)
	if s.Settings == nil {
		b.WriteString(config)
	} else {
		b.line(1, `<config id="General">`)
		b.props(2, s.Settings)
		b.line(1, `</config>`)
	}
	s.Topology.body(b, s)
	for i, f := range factors { // a node with a factor has its speed times that, from the beginning on
		if f != 1 {
			b.line(1, `<trace id="slow-%d" periodicity="-1">0 %s</trace><trace_connect kind="SPEED" trace="slow-%d" element="%s"/>`,
				i, exact(f), i, nodeName(i))
		}
	}
	b.line(0, `</platform>`)
	return textutil.Write(w, b.String())
}

// config is round numbers of the right order, as the built-in machine "default" has them.
const config = `  <!-- What messages and polls cost: round numbers, to be replaced by measured ones. -->
  <config id="General">
    <!-- A message gets the bandwidth and the latency of its links, whatever its size. -->
    <prop id="smpi/bw-factor" value="0:1"/>
    <prop id="smpi/lat-factor" value="0:1"/>
    <!-- Processor time of send, isend and recv: 0.5 us. -->
    <prop id="smpi/os" value="0:5e-7:0"/>
    <prop id="smpi/ois" value="0:5e-7:0"/>
    <prop id="smpi/or" value="0:5e-7:0"/>
    <!-- Below 64 KiB a send does not wait for its receive. -->
    <prop id="smpi/async-small-thresh" value="65536"/>
    <prop id="smpi/send-is-detached-thresh" value="65536"/>
    <!-- A probe and a test: 0.2 us, each time the same. -->
    <prop id="smpi/iprobe" value="2e-7"/>
    <prop id="smpi/test" value="2e-7"/>
    <prop id="smpi/grow-injected-times" value="no"/>
  </config>
`

// String is what the cable can do.
func (c Cable) String() string { return fmt.Sprintf("%s, %.4g us", rate(c.Bandwidth), c.Latency*1e6) }

// rate writes a bandwidth in Gbps.
func rate(bandwidth float64) string { return fmt.Sprintf("%.4g Gbps", bandwidth*8/1e9) }

func count(n int, noun string) string { return textutil.Count(n, noun) }

// sharing says what so many cables below have above them: "16 hosts of 100 Gbps share 8
// uplinks of 200 Gbps: no oversubscription".
func sharing(below int, what string, cable Cable, above int, link string, up Cable) string {
	ratio := float64(below) * cable.Bandwidth / (float64(above) * up.Bandwidth)
	verb := "share"
	if below == 1 {
		verb = "has"
	}
	text := fmt.Sprintf("%s of %s %s %s of %s: ", count(below, what), rate(cable.Bandwidth), verb, count(above, link),
		rate(up.Bandwidth))
	if ratio <= 1 {
		return text + "no oversubscription"
	}
	return text + fmt.Sprintf("oversubscribed %.3g to 1", ratio)
}
