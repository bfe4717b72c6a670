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
	first, last int
	cores       int    // of a host
	fatTree     string // parameters of its topology; "": one switch
	halfDuplex  bool   // both directions of a link share it
}

// xml describes a cluster with network n to SimGrid and to replay. A fat tree has one cable in
// the place of parallel ones: the simulator of 2017 to 2020 routed everything over the first.
func (n *network) xml(c cluster) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<platform version=\"4.1\">\n  <config id=\"General\">\n")
	for _, o := range [][2]string{
		{"reprise/bw-factor", "bound"}, // the rule of the simulator from 2017 to 2021
		{"smpi/os", overheads(n.Send)}, {"smpi/or", overheads(n.Recv)}, {"smpi/ois", overheads(n.ISend)},
		{"smpi/bw-factor", bySize(n.BandwidthFactor)}, {"smpi/lat-factor", bySize(n.LatencyFactor)},
		{"reprise/loopback-bw-factor", bySize(n.LoopbackBwFactor)}, {"reprise/loopback-lat-factor", bySize(n.LoopbackLatFactor)},
		{"smpi/async-small-thresh", given(digits, n.Async)}, {"smpi/send-is-detached-thresh", given(digits, n.Detached)},
		{"smpi/iprobe", given(exact, n.Probe)}, {"smpi/test", given(exact, n.Test)},
		{"network/weight-S", n.Options["network/weight-S"]}, {"network/crosstraffic", n.Options["network/crosstraffic"]},
		{"maxmin/precision", n.Options["maxmin/precision"]}, {"surf/precision", n.Options["surf/precision"]},
	} {
		if o[1] != "" {
			fmt.Fprintf(&b, "    <prop id=%q value=%q/>\n", o[0], o[1])
		}
	}
	fmt.Fprintf(&b, "  </config>\n  <cluster id=\"machine\" prefix=\"node-\" suffix=\"\" radical=\"%d-%d\" speed=\"1Gf\" core=\"%d\" bw=\"%sBps\" lat=\"%ss\"",
		c.first, c.last, c.cores, exact(n.Bandwidth), exact(n.Latency))
	if n.LoopbackBandwidth > 0 {
		fmt.Fprintf(&b, " loopback_bw=\"%sBps\" loopback_lat=\"%ss\"", exact(n.LoopbackBandwidth), exact(n.LoopbackLatency))
	}
	if c.fatTree != "" {
		at := strings.LastIndexByte(c.fatTree, ';') + 1
		cables := "1" + strings.Repeat(",1", strings.Count(c.fatTree[at:], ","))
		fmt.Fprintf(&b, " topology=\"FAT_TREE\" topo_parameters=%q", c.fatTree[:at]+cables)
	}
	if c.halfDuplex {
		b.WriteString(" sharing_policy=\"SHARED\"")
	}
	b.WriteString("/>\n</platform>\n")
	return b.String()
}

// overheads writes segments as SimGrid's options os, or and ois.
func overheads(list []segment) string {
	var texts []string
	for _, s := range list {
		texts = append(texts, digits(s.Above)+":"+exact(s.Intercept)+":"+exact(s.Slope))
	}
	return strings.Join(texts, ";")
}

// bySize writes segments as SimGrid's factors by size.
func bySize(list []segment) string {
	var texts []string
	for _, s := range list {
		texts = append(texts, digits(s.Above)+":"+exact(s.Factor))
	}
	return strings.Join(texts, ";")
}

// digits writes a size, of which SimGrid would not read an exponent.
func digits(bytes float64) string { return strconv.FormatFloat(bytes, 'f', -1, 64) }

// given writes a number that the calibration gives, and nothing for 0.
func given(write func(float64) string, x float64) string {
	if x == 0 {
		return ""
	}
	return write(x)
}

// exact writes a number with all the digits that it takes to read it back.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// noiseRange is the published noise of an overhead for sizes from From on.
type noiseRange struct {
	From  int         `json:"from_bytes"`
	Slope float64     `json:"slope_s_per_byte"`
	Modes []noiseMode `json:"intercept_modes"`
}

// noiseMode is a mode of a mixture, in seconds.
type noiseMode struct {
	Mean   float64 `json:"mean_s"`
	SD     float64 `json:"sd_s"`
	Weight float64
}

// rendezvous is the size in bytes from which on latencies are noisy and overheads are 0.
const rendezvous = 64000

// linkNoise returns Dahu's noise of the network as a file for replay.
func (d *data) linkNoise() string {
	var file struct {
		OS      []noiseRange `json:"send_os"`
		OR      []noiseRange `json:"recv_or"`
		OIS     []noiseRange `json:"isend_ois"`
		Latency []noiseMode  `json:"transfer_latency_modes"`
	}
	d.document("dahu/stochastic_network.json", &file)
	none := noiseRange{From: rendezvous}
	var b strings.Builder
	b.WriteString("version: 1\nunit: s\n")
	for _, kind := range []struct {
		name   string
		ranges []noiseRange
	}{
		{"os", append(file.OS, none)}, {"or", append(file.OR, none)}, {"ois", file.OIS},
		{"latency", []noiseRange{{From: rendezvous, Modes: file.Latency}}},
	} {
		fmt.Fprintf(&b, "%s:\n", kind.name)
		for _, r := range kind.ranges {
			b.WriteString("  - {")
			if r.From > 0 {
				fmt.Fprintf(&b, "above: %d, ", r.From-1)
			}
			b.WriteString("fixed: 0")
			if r.Slope != 0 {
				b.WriteString(", per_byte: " + exact(r.Slope))
			}
			var modes []string
			for _, m := range r.Modes {
				modes = append(modes, fmt.Sprintf("{weight: %s, mean: %s, sd: %s}", exact(m.Weight), exact(m.Mean), exact(m.SD)))
			}
			noise := "none"
			if modes != nil {
				noise = "{half-normal: [" + strings.Join(modes, ", ") + "]}"
			}
			b.WriteString(", noise: " + noise + "}\n")
		}
	}
	return b.String()
}
