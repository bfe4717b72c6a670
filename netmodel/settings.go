package netmodel

import (
	"fmt"

	"reprise/platforms"
)

// Settings returns all options that have an effect, by SimGrid's names where there
// are any, with their values in a form in which equal values have equal texts.
func (o *Options) Settings() []platforms.Prop {
	var list []platforms.Prop
	for _, s := range []struct {
		name  string
		value any
	}{
		{"network/model", nameOf(int(o.Model), "SMPI", "LV08", "CM02")},
		{"smpi/bw-factor", o.BandwidthFactors},
		{"smpi/lat-factor", o.LatencyFactors},
		{"network/bandwidth-factor", o.BandwidthFactor},
		{"network/latency-factor", o.LatencyFactor},
		{"network/crosstraffic", o.CrossTraffic},
		{"network/TCP-gamma", o.TCPGamma},
		{"network/weight-S", o.WeightS},
		{"network/loopback-bw", o.LoopbackBandwidth},
		{"network/loopback-lat", o.LoopbackLatency},
		{"reprise/loopback-bw-factor", o.LoopbackBandwidthFactors},
		{"reprise/loopback-lat-factor", o.LoopbackLatencyFactors},
		{"surf/precision", o.TimePrecision},
		{"maxmin/precision", o.SharePrecision},
		{"reprise/bw-factor", nameOf(int(o.FactorRule), "progress", "bound")},
		{"reprise/solver", nameOf(int(o.Solver), "local", "reference")},
		{"reprise/contention", o.Contention},
		{"smpi/os", o.SendOverhead},
		{"smpi/ois", o.IsendOverhead},
		{"smpi/or", o.RecvOverhead},
		{"smpi/async-small-thresh", o.EagerBelow},
		{"smpi/send-is-detached-thresh", o.DetachedBelow},
		{"smpi/test", o.TestCost},
		{"smpi/iprobe", o.IprobeCost},
		{"smpi/iprobe-cpu-usage", o.IprobeCPUUsage},
		{"smpi/grow-injected-times", o.GrowInjectedTimes},
		{"smpi/simulate-computation", o.SimulateComputation},
		{"smpi/init", o.InitTime},
		{"smpi/finalization-barrier", o.FinalizationBarrier},
		{"smpi/coll-selector", o.CollSelector},
		{"algorithms of collective operations", o.CollAlgorithms},
		{"reprise/poll", nameOf(int(o.Poll), "posted", "arrived")},
	} {
		list = append(list, platforms.Prop{Name: s.name, Value: fmt.Sprint(s.value)})
	}
	return list
}

// nameOf returns the name of one of several choices.
func nameOf(choice int, names ...string) string {
	if choice < len(names) {
		return names[choice]
	}
	return fmt.Sprint(choice)
}
