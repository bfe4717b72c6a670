// Package sheet makes a machine from its data sheet, for replay --machine, without a measurement.
//
//	s, warnings, err := sheet.Parse(file, "sheet.yaml")
//	err = sheet.Make("planned", s, text)
//
// A [Sheet] is what a vendor says of a machine: processors, memory, network. [Make] writes the directory that calibrate
// machine makes of a measured one: platform.xml, kernels.yaml and machine.md, and the sheet itself.
//
//   - sheet.go reads and checks a sheet, and gives what is left out a stated default;
//   - constants.go has the few constants that are no facts of the machine, with their sources;
//   - kernels.go makes models of kernels from flop, bytes and who shares them;
//   - network.go makes the platform;
//   - make.go writes the directory.
//
// # Units
//
// Speeds are in flop/s, bandwidths in byte/s, clocks in Hz, sizes in bytes, times in seconds.
//
// # Errors
//
// Errors and warnings of a sheet begin with file:line and name the key, what was found and what is possible.
//
// # Source
//
// The form of the models comes from measurements of the clusters Dahu and Paravance (T. Cornebize, PhD thesis,
// Université Grenoble Alpes, 2021); docs/calibrate.md says how the constants were fitted.
package sheet

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/portable"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/platforms"
	"reprise/platforms/compose"
	"reprise/trace/warning"
)

// Sheet is the data sheet of a machine. Figures are of a node unless they say otherwise.
type Sheet struct {
	Name            string
	Nodes           int
	Sockets         int
	Cores           int     // of a socket
	Clock           float64 // Hz
	ClockKind       string  // load or nominal
	FlopPerCycle    float64 // of a core, in double precision
	L3              float64 // of a socket
	Memory          float64
	MemoryBandwidth float64 // of a socket, peak
	Network         float64 // of the port of a node, each way
	NetworkKind     string  // rdma, ethernet or cloud
	Latency         float64 // of a message without content between two nodes
	Topology        compose.Topology
	RanksPerHost    int
	Software        string    // typical or tuned; "": either
	Efficiency      float64   // of matrix products against the peak of the sheet; 0: not said
	Watts           []float64 // idle, all cores busy; nil: not said
	GPU             gpus      // Count 0: there are none

	Assumed    []string // what the sheet leaves out, and what is taken for it
	FromMemory []string // keys whose values nobody has looked up
	topology   string   // as the sheet says it
}

// Peak returns the flop/s of a core by the sheet.
func (s *Sheet) Peak() float64 { return s.Clock * s.FlopPerCycle }

// coresOfNode returns the number of cores of a node.
func (s *Sheet) coresOfNode() int { return s.Sockets * s.Cores }

// Threads returns the number of cores of each rank.
func (s *Sheet) Threads() int { return max(1, s.coresOfNode()/s.RanksPerHost) }

// keys are all that a sheet may say.
var keys = []string{"name", "description", "source", "nodes", "sockets", "cores", "clock", "clock_kind", "flop_per_cycle",
	"l3", "memory", "memory_bandwidth", "network", "network_kind", "latency", "topology", "switch_ports", "ranks_per_host",
	"software", "efficiency", "watts", "from_memory", "gpus", "gpu_peak", "gpu_memory", "gpu_memory_bandwidth", "host_link", "gpu_fabric", "nics"}

// The kinds of networks. The words in a sheet are more: each is one of these.
const (
	rdma     = "rdma"
	ethernet = "ethernet"
	cloud    = "cloud"
)

var networkKinds = map[string]string{
	rdma: rdma, "infiniband": rdma, "omni-path": rdma, "slingshot": rdma, "aries": rdma, "tofu": rdma, "myrinet": rdma,
	"roce": rdma, ethernet: ethernet, "tcp": ethernet, cloud: cloud, "virtual": cloud,
}

// Largest numbers that a sheet may say: beyond what is built, so that a larger one is a slip.
const (
	maxSockets = 16
	maxCores   = 512
	maxPorts   = 4096
)

// reader reads a sheet. The first error ends the reading (textutil.Stop).
type reader struct {
	yamlfile.Document
	fields   map[string]ast.Node
	warnings warning.List
}

// Parse reads a data sheet. Errors and warnings call it name. A value that is possible but unusual is a warning.
func Parse(text io.Reader, name string) (s *Sheet, warnings []warning.Warning, err error) {
	defer textutil.Stopped(&err)
	r := &reader{Document: yamlfile.Document{File: name}, fields: map[string]ast.Node{}}
	root := textutil.Must(r.Read(text))
	for _, e := range r.Entries(root, "data sheet") {
		switch known := slices.Contains(keys, e.Key); {
		case !known && textutil.Nearest(e.Key, keys) != "":
			r.Stop(e.Node, "unknown key %s: is it %s?", textutil.Quote(e.Key), textutil.Nearest(e.Key, keys))
		case !known:
			r.warn(e.Node, "unknown key %s has no effect: known are %s", textutil.Quote(e.Key), strings.Join(keys, ", "))
		}
		r.fields[e.Key] = e.Value
	}
	s = &Sheet{}
	s.Name = r.word("name", "", nil)
	r.processors(root, s)
	r.memory(root, s)
	r.devices(root, s)
	r.use(s)
	r.network(s)
	return s, r.warnings.All(), nil
}

func (r *reader) warn(n ast.Node, format string, args ...any) {
	r.warnings.Add(warning.At(r.File, n.GetToken().Position.Line, format, args...))
}

// need refuses a sheet without a key.
func (r *reader) need(root ast.Node, key, example string) {
	if r.fields[key] == nil {
		r.Stop(root, "no key %s: a machine without it cannot be predicted; say it, as %s: %s", key, key, example)
	}
}

// whole reads a number of things, 1 to most; without the key it is def.
func (r *reader) whole(key string, def, most int) int {
	if n := r.fields[key]; n != nil {
		return r.Integer(n, key, 1, most)
	}
	return def
}

// word reads one of some words, or, if there are none, a text.
func (r *reader) word(key, def string, words []string) string {
	n := r.fields[key]
	if n == nil {
		return def
	}
	text := r.Text(n, key)
	if words != nil && !slices.Contains(words, text) {
		r.Stop(n, "%s: %s, want %s", key, textutil.Quote(text), strings.Join(words, " or "))
	}
	return text
}

// A unit is what a value must end with, and what it is in the package's own units.
type unit struct {
	name  string
	scale float64
}

var (
	hertz      = []unit{{"GHz", 1e9}, {"MHz", 1e6}}
	amounts    = []unit{{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}
	flows      = []unit{{"MBps", 1e6}, {"GBps", 1e9}, {"TBps", 1e12}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}
	bits       = []unit{{"Mbps", 1e6 / 8}, {"Gbps", 1e9 / 8}, {"Tbps", 1e12 / 8}, {"Mb/s", 1e6 / 8}, {"Gb/s", 1e9 / 8}, {"Tb/s", 1e12 / 8}}
	times      = []unit{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}}
	quantities = []struct {
		units []unit
		name  string
	}{{hertz, "a clock"}, {amounts, "an amount of memory"}, {flows, "a bandwidth in bytes"}, {bits, "a bandwidth in bits"}, {times, "a time"}, {speeds, "a speed"}}
)

// value reads a number with a unit, between two limits; 0 if the key is not there. A unit of another quantity is told
// as such: memory_bandwidth: 205GB lacks the time.
func (r *reader) value(key, example string, units []unit, low, high float64) float64 {
	n := r.fields[key]
	if n == nil {
		return 0
	}
	return r.quantity(n, key, example, units, low, high)
}

// quantity reads a number with a unit, between two limits, which is called key.
func (r *reader) quantity(n ast.Node, key, example string, units []unit, low, high float64) float64 {
	text := r.Text(n, key)
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/ ")
	name := strings.TrimSpace(text[len(number):])
	i := slices.IndexFunc(units, func(u unit) bool { return u.name == name })
	if i < 0 {
		found := "no unit of it"
		if name == "" {
			found = "a number without a unit"
		}
		for _, q := range quantities {
			if slices.ContainsFunc(q.units, func(u unit) bool { return u.name == name }) {
				found = q.name
			}
		}
		r.Stop(n, "%s: %s is %s, want a value such as %s", key, textutil.Quote(text), found, example)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v*units[i].scale >= low && v*units[i].scale <= high) {
		r.Stop(n, "%s: %s is not possible, want %.4g to %.4g%s", key, textutil.Quote(text), low/units[i].scale,
			high/units[i].scale, units[i].name)
	}
	return v * units[i].scale
}

// assume notes a default.
func (s *Sheet) assume(format string, args ...any) {
	s.Assumed = append(s.Assumed, fmt.Sprintf(format, args...))
}

// processors reads how many cores there are, and what they can do.
func (r *reader) processors(root ast.Node, s *Sheet) {
	for _, key := range []string{"nodes", "cores"} {
		r.need(root, key, "32")
	}
	r.need(root, "clock", "2.45GHz")
	r.need(root, "flop_per_cycle", "16 (peak is clock x flop_per_cycle)")
	s.Nodes = r.whole("nodes", 0, platforms.MaxHosts)
	s.Cores = r.whole("cores", 0, maxCores)
	s.Sockets = r.whole("sockets", 1, maxSockets)
	if r.fields["sockets"] == nil {
		s.assume("sockets: 1")
	}
	s.Clock = r.value("clock", "2.45GHz", hertz, 20e6, 10e9)
	s.ClockKind = r.word("clock_kind", "load", []string{"load", "nominal"})
	n := r.fields["flop_per_cycle"]
	s.FlopPerCycle = r.Number(n, "flop_per_cycle")
	if s.FlopPerCycle < 0.25 || s.FlopPerCycle > 128 {
		r.Stop(n, "flop_per_cycle: %g is not possible, want 0.25 to 128, of a core in double precision", s.FlopPerCycle)
	}
	if n := r.fields["efficiency"]; n != nil {
		e, err := textutil.ParsePercent(r.Text(n, "efficiency"), "of peak", false)
		if err != nil || e > 1 {
			r.Stop(n, "efficiency: %s, want a part of the peak of at most 1, or 100%%", yamlfile.Describe(n))
		}
		s.Efficiency = e
	}
	if s.L3 = r.value("l3", "32MB", amounts, 1e3, 1e11); s.L3 == 0 {
		s.L3 = assumedL3 * float64(s.Cores)
		s.assume("l3: %.4gMB, %.4gMB a core", s.L3/1e6, assumedL3/1e6)
	}
}

// memory reads how much there is and how quick it is.
func (r *reader) memory(root ast.Node, s *Sheet) {
	r.need(root, "memory", "256GB")
	s.Memory = r.value("memory", "256GB", amounts, 1e7, 1e14)
	peak := s.Peak() * float64(s.Cores)
	if s.MemoryBandwidth = r.value("memory_bandwidth", "205GBps", flows, 1e7, 2e13); s.MemoryBandwidth == 0 {
		s.MemoryBandwidth = assumedBandwidth(peak)
		s.assume("memory_bandwidth: %.3gGBps a socket, as of processors of its peak", s.MemoryBandwidth/1e9)
	} else if b := s.MemoryBandwidth / peak; b < 0.01 || b > 8 {
		r.warn(r.fields["memory_bandwidth"], "memory_bandwidth: %.3g byte/flop of the socket's peak of %.4g Gflop/s, where "+
			"processors have 0.03 to 2: it is that of a socket, in bytes", b, peak/1e9)
	}
}

// network reads how nodes are joined.
func (r *reader) network(s *Sheet) {
	// A word behind the bandwidth names the kind, as in network: 100Gbps infiniband.
	kind := r.word("network_kind", "", nil)
	if n := r.fields["network"]; n != nil {
		text := r.Text(n, "network")
		if value, rest, ok := strings.Cut(text, " "); ok && kind == "" && networkKinds[strings.ToLower(rest)] != "" {
			if n, ok := n.(*ast.StringNode); ok {
				kind, n.Value = rest, value
			}
		}
	}
	if kind != "" {
		if s.NetworkKind = networkKinds[strings.ToLower(kind)]; s.NetworkKind == "" {
			words := slices.Sorted(maps.Keys(networkKinds))
			r.Stop(r.fields["network_kind"], "network_kind: %s, want %s", textutil.Quote(kind), strings.Join(words, ", "))
		}
	}
	s.Network = r.value("network", "100Gbps", slices.Concat(bits, flows), 1e5, 1e12)
	s.Latency = r.value("latency", "1.3us", times, 1e-8, 1e-2)
	if s.Network == 0 {
		s.Network = assumedNetwork(s.Peak()*float64(s.coresOfNode()), s.NetworkKind)
		s.assume("network: %.4gGbps, as of nodes of its peak", s.Network*8/1e9)
	}
	// TCP takes tens of microseconds, and ports of less than 40 Gb/s mostly speak it.
	if s.NetworkKind == "" {
		s.NetworkKind = rdma
		if s.Latency >= 5e-6 || s.Latency == 0 && s.Network < 4.9e9 {
			s.NetworkKind = ethernet
		}
		s.assume("network_kind: %s, by bandwidth and latency", s.NetworkKind)
	}
	if s.Latency == 0 {
		s.Latency = classes[s.NetworkKind].latency
		s.assume("latency: %.3gus", s.Latency*1e6)
	}
	s.topology = "switch"
	if n := r.fields["topology"]; n != nil {
		s.topology = r.Text(n, "topology")
	} else if s.Nodes > 1 {
		s.assume("topology: switch, no link between switches limits messages")
	}
	s.Topology = compose.Flat{}
	name, rest, _ := strings.Cut(s.topology, " ")
	var err error
	switch name {
	case "switch", "flat":
		if err = nil; strings.TrimSpace(rest) != "" && !strings.HasPrefix(rest, "routing=") {
			err = fmt.Errorf("%s behind %s", textutil.Quote(rest), name)
		}
	case "fat-tree":
		s.Topology, err = compose.ParseFatTree(rest, s.cable())
	case "torus":
		s.Topology, err = compose.ParseTorus(rest)
	case "dragonfly":
		if !strings.Contains(rest, "routing=") {
			rest += " routing=adaptive"
			s.assume("topology: routing=adaptive")
		}
		s.Topology, err = compose.ParseDragonfly(rest, s.cable())
	default:
		err = fmt.Errorf("%s, want switch, fat-tree leaf=24 up=12, torus 4x4x4 or dragonfly and its groups", textutil.Quote(name))
	}
	if err == nil {
		err = s.spec().Check()
	}
	if tree, ok := s.Topology.(compose.FatTree); ok && err == nil && r.fields["switch_ports"] != nil {
		ports := r.whole("switch_ports", 0, maxPorts)
		for _, l := range tree.Levels {
			if n := l.Children + l.Up; n > ports {
				err = fmt.Errorf("%d down and %d up need %d ports, a switch has %d (switch_ports), enough for leaf=%d up=%d", l.Children,
					l.Up, n, ports, ports-ports/2, ports/2)
			}
		}
	} else if r.fields["switch_ports"] != nil && err == nil {
		r.Stop(r.fields["switch_ports"], "switch_ports: is of a fat tree, topology is %s", textutil.Quote(name))
	}
	if err != nil {
		r.Stop(cmp.Or(r.fields["topology"], r.fields["nodes"]), "topology: %w", err)
	}
}

// use reads how the machine is used.
func (r *reader) use(s *Sheet) {
	s.RanksPerHost = r.whole("ranks_per_host", cmp.Or(s.GPU.Count, s.coresOfNode()), maxSockets*maxCores)
	if n := s.GPU.Count; n > 0 && s.RanksPerHost > n {
		r.Stop(r.fields["ranks_per_host"], "ranks_per_host: %d ranks for %d GPUs, want one for each at most", s.RanksPerHost, n)
	}
	if s.RanksPerHost > s.coresOfNode() {
		r.warn(cmp.Or(r.fields["ranks_per_host"], r.fields["gpus"]), "ranks_per_host: %d ranks on %d cores: they take turns", s.RanksPerHost,
			s.coresOfNode())
	}
	if s.Software = r.word("software", "", []string{"typical", "tuned"}); s.Software == "" {
		s.assume("software: typical, with an interval that covers tuned")
	}
	if n := r.fields["watts"]; n != nil {
		f := r.Fields(n, "watts", "idle!", "full!")
		for _, key := range []string{"idle", "full"} {
			w := r.Number(f[key], "watts: "+key)
			if w < 0 || w > 1e5 || len(s.Watts) > 0 && w < s.Watts[0] {
				r.Stop(f[key], "watts: %s: %g, want watts of a node, 0 to 1e5, full at least idle", key, w)
			}
			s.Watts = append(s.Watts, w)
		}
	}
	if n := r.fields["from_memory"]; n != nil {
		for _, item := range r.Items(n, "from_memory") {
			key := r.Text(item, "from_memory")
			if r.fields[key] == nil {
				r.Stop(item, "from_memory: %s is no key of this sheet", textutil.Quote(key))
			}
			s.FromMemory = append(s.FromMemory, key)
		}
	}
}

// power returns x^y of a positive x, the same bits everywhere.
func power(x, y float64) float64 { return portable.Exp(float64(y * portable.Log(x))) }
