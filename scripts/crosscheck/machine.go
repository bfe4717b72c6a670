package main

import (
	"fmt"
	"strings"
)

// machine is a random platform.
type machine struct {
	body  string   // XML inside <platform>
	hosts []string // names, in the order of the file
	self  bool     // a host has a route to itself
	old   bool     // to be spelled as version 4
}

// machineKinds are the kinds of platforms, by name.
var machineKinds = []struct {
	name string
	draw func(dice) *machine
}{
	{"star", drawStar},
	{"fattree", drawFatTree},
	{"torus", drawTorus},
	{"dragonfly", drawDragonfly},
	{"full", drawFull},
	{"tree", drawTree},
	{"mesh", drawMesh},
	{"zones", drawZones},
	{"nested", drawNested},
	{"zonemesh", drawZoneMesh},
	{"cabinet", drawCabinets},
	{"crowd", drawCrowd},
	{"composed", drawComposed},
}

// olden spells a document of version 4.1 as one of version 4.
var olden = strings.NewReplacer(`version="4.1"`, `version="4"`, "<zone ", "<AS ", "</zone>", "</AS>",
	"<zoneRoute ", "<ASroute ", "</zoneRoute>", "</ASroute>", "<bypassZoneRoute ", "<bypassASroute ", "</bypassZoneRoute>", "</bypassASroute>")

// document returns the platform file, with options in it.
func (m *machine) document(options []string) string {
	var b strings.Builder
	b.WriteString("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n")
	if len(options) > 0 {
		b.WriteString("  <config id=\"General\">\n")
		for _, o := range options {
			name, value, _ := strings.Cut(o, ":")
			fmt.Fprintf(&b, "    <prop id=%q value=%q/>\n", name, value)
		}
		b.WriteString("  </config>\n")
	}
	b.WriteString(m.body)
	b.WriteString("</platform>\n")
	if m.old {
		return olden.Replace(b.String())
	}
	return b.String()
}

// bandwidth draws a bandwidth in some spelling.
func bandwidth(d dice) string {
	return pick(d, "125MBps", "1Gbps", "12.5GBps", "10Gbps", "250MBps", "40MBps", "56Gbps", "100MiBps", "1e8Bps", "7.5e7",
		fmt.Sprintf("%.4gMBps", d.logarithmic(20, 5000)))
}

// latency draws a latency in some spelling; zero is rare.
func latency(d dice) string {
	if d.chance(0.06) {
		return "0"
	}
	return pick(d, "50us", "0.10us", "1us", "20us", "0.05ms", "1e-4", "1ms", "300ns", fmt.Sprintf("%.4gus", d.logarithmic(0.1, 2000)))
}

func speed(d dice) string { return pick(d, "1Gf", "2.5Gf", "1000Mf", "0.7Gf", "3e9") }

// speeds draws the attributes of a host's speed: one, or several to pick from.
func speeds(d dice) string {
	if d.chance(0.85) {
		return fmt.Sprintf("speed=%q", speed(d))
	}
	return fmt.Sprintf("speed=\"%s,%s,%s\" pstate=\"%d\"", speed(d), speed(d), speed(d), d.IntN(3))
}

// cluster draws a cluster of n hosts; topology is empty or its attributes. The
// names of hosts begin with id.
func cluster(d dice, id string, n int, topology string) (xml string, hosts []string) {
	radical, numbers := radical(d, n)
	var b strings.Builder
	fmt.Fprintf(&b, "  <cluster id=%q prefix=%q suffix=%q radical=%q speed=%q bw=%q lat=%q%s",
		id, id+"-", pick(d, "", ".site"), radical, speed(d), bandwidth(d), latency(d), topology)
	suffix := ""
	if strings.Contains(b.String(), `suffix=".site"`) {
		suffix = ".site"
	}
	for _, k := range numbers {
		hosts = append(hosts, fmt.Sprintf("%s-%d%s", id, k, suffix))
	}
	if d.chance(0.3) {
		fmt.Fprintf(&b, " core=\"%d\"", d.between(1, 4))
	}
	if d.chance(0.3) {
		fmt.Fprintf(&b, " sharing_policy=%q", pick(d, "SHARED", "SPLITDUPLEX", "FATPIPE"))
	}
	return b.String(), hosts
}

// radical draws the numbers of n hosts.
func radical(d dice, n int) (text string, numbers []int) {
	if d.chance(0.7) || n < 3 {
		first := pick(d, 0, 0, 0, 1, 7)
		for i := range n {
			numbers = append(numbers, first+i)
		}
		return fmt.Sprintf("%d-%d", first, first+n-1), numbers
	}
	cut, gap := d.between(1, n-1), d.between(1, 5)
	for i := range n {
		if i < cut {
			numbers = append(numbers, i)
		} else {
			numbers = append(numbers, i+gap)
		}
	}
	if cut == 1 {
		return fmt.Sprintf("0,%d-%d", cut+gap, n-1+gap), numbers
	}
	return fmt.Sprintf("0-%d,%d-%d", cut-1, cut+gap, n-1+gap), numbers
}

// loopback adds the loopback of each host, with probability p.
func (m *machine) loopback(d dice, b *strings.Builder, p float64) {
	if d.chance(p) {
		fmt.Fprintf(b, " loopback_bw=%q loopback_lat=%q", bandwidth(d), pick(d, "0.5us", "100ns", "0", "1us"))
		m.self = true
	}
}

// limiter adds a limiter to each host, with probability p.
func limiter(d dice, b *strings.Builder, p float64) {
	if d.chance(p) {
		fmt.Fprintf(b, " limiter_link=%q", bandwidth(d))
	}
}

// properties closes the element, with overheads of its hosts now and then.
func properties(d dice, b *strings.Builder, element string) {
	if d.chance(0.9) {
		b.WriteString("/>\n")
		return
	}
	b.WriteString(">\n")
	for _, name := range []string{"smpi/os", "smpi/ois", "smpi/or"} {
		if d.chance(0.7) {
			fmt.Fprintf(b, "    <prop id=%q value=%q/>\n", name, overheads(d, thresholds(d, 2)))
		}
	}
	fmt.Fprintf(b, "  </%s>\n", element)
}
