package sheet

import (
	"fmt"
	"math"

	"reprise/platforms/compose"
)

// This file makes the platform: nodes, their ports, and what messages cost.

// cable is the cable of a node. The latency of the sheet is that of a message between two nodes of a switch, two cables,
// with the overheads of sender and receiver.
func (s *Sheet) cable() compose.Cable {
	c := classes[s.NetworkKind]
	return compose.Cable{
		Bandwidth: s.Network * float64(max(1, s.GPU.Ports)),
		Latency:   rounded(max(0.1*s.Latency, s.Latency-2*s.overhead(c.overhead)) / 2),
	}
}

// overhead returns a processor time, of which slow cores need more.
func (s *Sheet) overhead(seconds float64) float64 {
	return seconds * min(20, max(1, refClock/s.Peak()))
}

// rounded returns a number of three digits.
func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow10(2 - int(math.Floor(math.Log10(v))))
	return math.Round(v*scale) / scale
}

// microseconds writes a time as platforms have it.
func microseconds(v float64) string { return fmt.Sprintf("%gus", v*1e6) }

// spec describes the platform.
func (s *Sheet) spec() *compose.Spec {
	c := classes[s.NetworkKind]
	spec := compose.DefaultSpec(s.Nodes)
	spec.Cores = s.RanksPerHost
	spec.Speed = s.Peak() * float64(s.Threads())
	spec.NIC, spec.Topology = s.cable(), s.Topology
	// Messages within a node: a FATPIPE, in which each has what a rank has of the memory.
	within := s.rates().panel / copiesWithin
	if s.GPU.Count > 0 {
		within = linkPart * s.GPU.Fabric
	}
	spec.Loopback = compose.Cable{Bandwidth: rounded(within), Latency: latencyWithin}
	o, perByte := rounded(s.overhead(c.overhead)), rounded(s.overhead(c.perByte))
	table := fmt.Sprintf("0:%g:%g", o, perByte)
	spec.Settings = []compose.Setting{
		{Name: "smpi/bw-factor", Value: fmt.Sprintf("0:%g", c.bandwidth)},
		{Name: "smpi/lat-factor", Value: "0:1"},
		{Name: "smpi/os", Value: table},
		{Name: "smpi/ois", Value: table},
		{Name: "smpi/or", Value: table},
		{Name: "smpi/async-small-thresh", Value: "65536"},
		{Name: "smpi/send-is-detached-thresh", Value: "65536"},
		{Name: "smpi/iprobe", Value: fmt.Sprint(rounded(s.overhead(c.poll)))},
		{Name: "smpi/test", Value: fmt.Sprint(rounded(s.overhead(c.poll)))},
		{Name: "smpi/grow-injected-times", Value: "no"},
		{Name: "network/crosstraffic", Value: "no"},
		{Name: "network/TCP-gamma", Value: "0"},
	}
	cores := float64(s.coresOfNode())
	spec.Properties = []compose.Setting{{Name: "memory", Value: fmt.Sprintf("%.0f", s.Memory)},
		{Name: "peak", Value: fmt.Sprintf("%.6gGf", s.Peak()*cores/1e9)},
		{Name: "processors", Value: fmt.Sprintf("%d x %d cores at %.4g GHz, %g flop a cycle", s.Sockets, s.Cores, s.Clock/1e9, s.FlopPerCycle)}}
	if g := s.GPU; g.Count > 0 {
		spec.Properties = append(spec.Properties, compose.Setting{Name: "device_launch", Value: microseconds(gpuLaunch)},
			compose.Setting{Name: "device_latency", Value: microseconds(gpuHandOver)})
		spec.Properties[0].Value = fmt.Sprintf("%.0f", g.Memory*float64(g.Count))
		spec.Properties[1].Value = fmt.Sprintf("%.6gGf", g.Peak["fp64"]*float64(g.Count)/1e9)
	}
	spec.StateNetwork()
	if s.Watts != nil {
		spec.Properties = append(spec.Properties, compose.Setting{Name: "wattage_per_state",
			Value: fmt.Sprintf("%g:%g:%g", s.Watts[0], s.Watts[0], s.Watts[1])})
	}
	return spec
}
