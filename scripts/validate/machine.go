package main

import (
	"fmt"
	"strconv"
	"strings"
)

// network is a calibrated network of the published data.
type network struct {
	Bandwidth         float64           `json:"link_bandwidth_bytes_per_s"`
	Latency           float64           `json:"link_latency_s"`
	LoopbackBandwidth float64           `json:"loopback_bandwidth_bytes_per_s"` // 0: none declared
	LoopbackLatency   float64           `json:"loopback_latency_s"`
	Send              []segment         `json:"os"`
	Recv              []segment         `json:"recv_overhead_or"`
	ISend             []segment         `json:"isend_overhead_ois"`
	BandwidthFactor   []segment         `json:"bandwidth_factor"`
	LatencyFactor     []segment         `json:"latency_factor"`
	LoopbackBwFactor  []segment         `json:"loopback_bandwidth_factor"`
	LoopbackLatFactor []segment         `json:"loopback_latency_factor"`
	Async             float64           `json:"async_small_threshold_bytes"`
	Detached          float64           `json:"detached_threshold_bytes"`
	Probe             float64           `json:"iprobe_s"`
	Test              float64           `json:"test_s"`
	Options           map[string]string `json:"explicit_simulator_options"`
}

// segment holds for messages of more than Above bytes: seconds and seconds per byte
// of an overhead, or a factor.
type segment struct {
	Above     float64 `json:"above_bytes"`
	Intercept float64 `json:"intercept_s"`
	Slope     float64 `json:"slope_s_per_byte"`
	Factor    float64 `json:"factor"`
}

// cluster is a machine with a network: hosts node-FIRST to node-LAST.
type cluster struct {
	first, last int    // numbers of the hosts
	cores       int    // of a host
	fatTree     string // parameters of its topology; "": one switch
	halfDuplex  bool   // both directions of a link share it
}

// firstCables returns the parameters of a fat tree with one cable in the place of
// parallel ones: the simulator of 2017 to 2020 routed everything over the first of
// them. (Its routes took the port "destination mod parents", that of today takes
// "destination mod parents times cables".)
func firstCables(parameters string) string {
	at := strings.LastIndexByte(parameters, ';') + 1
	cables := strings.Split(parameters[at:], ",")
	for i := range cables {
		cables[i] = "1"
	}
	return parameters[:at] + strings.Join(cables, ",")
}

// xml describes a cluster with network n to SimGrid and to us.
func (n *network) xml(c cluster) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<platform version=\"4.1\">\n  <config id=\"General\">\n")
	for _, o := range n.options() {
		fmt.Fprintf(&b, "    <prop id=%q value=%q/>\n", o.name, o.value)
	}
	fmt.Fprintf(&b, "  </config>\n  <cluster id=\"machine\" prefix=\"node-\" suffix=\"\" radical=\"%d-%d\" speed=\"1Gf\" core=\"%d\" bw=\"%sBps\" lat=\"%ss\"",
		c.first, c.last, c.cores, exact(n.Bandwidth), exact(n.Latency))
	if n.LoopbackBandwidth > 0 {
		fmt.Fprintf(&b, " loopback_bw=\"%sBps\" loopback_lat=\"%ss\"", exact(n.LoopbackBandwidth), exact(n.LoopbackLatency))
	}
	if c.fatTree != "" {
		fmt.Fprintf(&b, " topology=\"FAT_TREE\" topo_parameters=%q", firstCables(c.fatTree))
	}
	if c.halfDuplex {
		b.WriteString(" sharing_policy=\"SHARED\"")
	}
	b.WriteString("/>\n</platform>\n")
	return b.String()
}

type option struct{ name, value string }

// options are those of SimGrid that the calibration sets.
func (n *network) options() []option {
	list := []option{
		{"reprise/bw-factor", "bound"}, // as in the simulator from 2017 to 2021
		{"smpi/os", overheads(n.Send)}, {"smpi/or", overheads(n.Recv)}, {"smpi/ois", overheads(n.ISend)},
		{"smpi/bw-factor", factors(n.BandwidthFactor)}, {"smpi/lat-factor", factors(n.LatencyFactor)},
		{"reprise/loopback-bw-factor", factors(n.LoopbackBwFactor)}, {"reprise/loopback-lat-factor", factors(n.LoopbackLatFactor)},
	}
	for _, o := range []struct {
		name  string
		value float64
		write func(float64) string
	}{
		{"smpi/async-small-thresh", n.Async, digits}, {"smpi/send-is-detached-thresh", n.Detached, digits}, {"smpi/iprobe", n.Probe, exact}, {"smpi/test", n.Test, exact},
	} {
		if o.value != 0 {
			list = append(list, option{o.name, o.write(o.value)})
		}
	}
	for _, name := range []string{"network/weight-S", "network/crosstraffic", "maxmin/precision", "surf/precision"} {
		if value := n.Options[name]; value != "" {
			list = append(list, option{name, value})
		}
	}
	kept := list[:0]
	for _, o := range list {
		if o.value != "" {
			kept = append(kept, o)
		}
	}
	return kept
}

// overheads writes segments as SimGrid's options os, or and ois.
func overheads(list []segment) string {
	return join(list, func(s segment) string { return digits(s.Above) + ":" + exact(s.Intercept) + ":" + exact(s.Slope) })
}

// factors writes segments as SimGrid's factors by size.
func factors(list []segment) string {
	return join(list, func(s segment) string { return digits(s.Above) + ":" + exact(s.Factor) })
}

func join(list []segment, write func(segment) string) string {
	var texts []string
	for _, s := range list {
		texts = append(texts, write(s))
	}
	return strings.Join(texts, ";")
}

// digits writes a size, of which SimGrid would not read an exponent.
func digits(bytes float64) string { return strconv.FormatFloat(bytes, 'f', -1, 64) }

// exact writes a number with all the digits that it takes to read it back.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
