package netmodel

import "reprise/platforms"

// Model selects how latency and bandwidth are derived from a route.
type Model uint8

// The network models of SimGrid that are understood here.
const (
	// ModelSMPI takes factors that depend on the message size.
	ModelSMPI Model = iota
	// ModelLV08 takes the constant factors of Velho and Legrand (2009).
	ModelLV08
	// ModelCM02 takes latencies and bandwidths as they are (Casanova and
	// Marchal, 2002), and penalties without the bandwidth term.
	ModelCM02
)

// modelNames are the values of network/model.
var modelNames = []string{ModelSMPI: "SMPI", ModelLV08: "LV08", ModelCM02: "CM02"}

// String returns the model as network/model has it.
func (m Model) String() string { return modelNames[m] }

// Solver selects the algorithm that computes the shares.
type Solver uint8

// The two solvers; they agree to rounding.
const (
	// SolverLocal touches only the flows that a change reaches.
	SolverLocal Solver = iota
	// SolverReference solves the whole system anew at every change, as the
	// textbook does. It is slow and meant for comparison.
	SolverReference
)

// Options holds the options of the network and of the protocol of messages. Field
// comments name the option of [OptionTable] that maps to the field; those that begin with
// "reprise/" exist here only, the others are SimGrid's. Times are in seconds, sizes in
// bytes, bandwidths in byte/s.
//
// Use [DefaultOptions], not the zero value; package smpi has these options and the rest of
// SMPI's, by name.
type Options struct {
	// Network.

	Model            Model   // network/model
	BandwidthFactors Factors // smpi/bw-factor: f(z) of ModelSMPI
	LatencyFactors   Factors // smpi/lat-factor: g(z) of ModelSMPI
	// network/bandwidth-factor: f of the other models; with FactorBound, what a link carries of its bandwidth
	BandwidthFactor          float64
	LatencyFactor            float64    // network/latency-factor: g of the other models
	CrossTraffic             bool       // network/crosstraffic: acknowledgements load the way back
	TCPGamma                 float64    // network/TCP-gamma: window in bytes; v <= gamma/(2L); 0 or less: no window
	WeightS                  float64    // network/weight-S: S in the penalty L + sum of S/bw
	LoopbackBandwidth        float64    // network/loopback-bw: of the global loopback link
	LoopbackLatency          float64    // network/loopback-lat
	LoopbackBandwidthFactors Factors    // reprise/loopback-bw-factor: f(z) within a host; empty: that of all
	LoopbackLatencyFactors   Factors    // reprise/loopback-lat-factor: g(z) likewise
	FactorRule               FactorRule // reprise/bw-factor: what f(z) of ModelSMPI does
	TimePrecision            float64    // surf/precision: events this close happen together
	SharePrecision           float64    // maxmin/precision: tolerance of the reference filling
	Solver                   Solver     // reprise/solver
	Contention               bool       // reprise/contention: no = every flow has its route alone

	// Protocol, see Protocol.

	SendOverhead  Overheads // smpi/os: of a blocking detached send
	IsendOverhead Overheads // smpi/ois: of any nonblocking send
	RecvOverhead  Overheads // smpi/or: of a receive whose send was detached
	EagerBelow    int64     // smpi/async-small-thresh: smaller messages are eager
	DetachedBelow int64     // smpi/send-is-detached-thresh: smaller ones are detached

	explicit    uint8 // which of the fields with model-dependent defaults were set
	hostDefault bool  // host/model:default, which means LV08 whatever network/model says:
	chosenModel Model // what that says then
}

// Fields whose defaults depend on the model, as bits of Options.explicit.
const (
	explicitWeightS uint8 = 1 << iota
	explicitBandwidthFactor
	explicitLatencyFactor
)

// DefaultOptions returns the defaults of smpirun: model SMPI with its factors,
// no overheads, nothing eager, detached below 64 KiB.
func DefaultOptions() Options {
	return Options{
		Model: ModelSMPI,
		BandwidthFactors: Factors{
			{0, 0.812084}, {257, 0.338112}, {732, 0.341987}, {1426, 0.608902},
			{3484, 0.77493}, {5776, 1.08739}, {9376, 0.58729}, {15424, 0.697866},
			{65472, 0.940694},
		},
		LatencyFactors: Factors{
			{0, 2.01467}, {257, 1.95341}, {732, 1.9503}, {1426, 1.61075},
			{3484, 1.88101}, {5776, 2.18796}, {9376, 2.59299}, {15424, 3.48845},
			{65472, 11.6436},
		},
		BandwidthFactor:   1,
		LatencyFactor:     1,
		CrossTraffic:      true,
		TCPGamma:          4194304,
		WeightS:           8775,
		LoopbackBandwidth: 10e9,
		TimePrecision:     1e-9,
		SharePrecision:    1e-5,
		Contention:        true,
		DetachedBelow:     65536,
	}
}

// oldLinkFactor is network/bandwidth-factor of model SMPI while it was the part of
// its bandwidth that a link carries.
const oldLinkFactor = 0.97

// setModelDefaults sets the fields whose defaults depend on the model and the rule
// of factors, but for those that were set by name before.
func (o *Options) setModelDefaults() {
	s, bw, lat := 8775.0, 1.0, 1.0
	switch {
	case o.Model == ModelLV08:
		s, bw, lat = 20537, 0.97, 13.01
	case o.Model == ModelCM02:
		s = 0
	case o.FactorRule == FactorBound:
		bw = oldLinkFactor
	}
	if o.explicit&explicitWeightS == 0 {
		o.WeightS = s
	}
	if o.explicit&explicitBandwidthFactor == 0 {
		o.BandwidthFactor = bw
	}
	if o.explicit&explicitLatencyFactor == 0 {
		o.LatencyFactor = lat
	}
}

// FactorRule says what the bandwidth factor f(z) does to a flow.
type FactorRule uint8

const (
	// FactorProgress: a share of v byte/s progresses at f*v; the flow takes v from
	// its links. The rule of SimGrid 3.32.
	FactorProgress FactorRule = iota
	// FactorBound: the share is at most f times the smallest bandwidth on the route,
	// and progresses as it is, so that several flows together fill a link whatever f.
	// A link carries Options.BandwidthFactor of its bandwidth at most. The rule of
	// SimGrid until May 2021 (revision 46e8495798 replaced it).
	FactorBound
)

// boundsShares reports whether FactorBound is in force.
func (o *Options) boundsShares() bool {
	return o.FactorRule == FactorBound && o.Model == ModelSMPI
}

// capacity returns the byte/s that a link of a bandwidth carries.
func (o *Options) capacity(bandwidth float64) float64 {
	if o.boundsShares() {
		return o.BandwidthFactor * bandwidth
	}
	return bandwidth
}

// penalty returns what a link of a bandwidth adds to the penalty of a flow. One that stands
// still has none.
func (o *Options) penalty(bandwidth float64) float64 {
	if bandwidth == 0 {
		return 0
	}
	return o.WeightS / bandwidth
}

// factors returns f(z) and g(z), the bandwidth and latency factors of a message
// of z bytes, envelope included; within a host or between two.
func (o *Options) factors(z float64, within bool) (f, g float64) {
	if o.Model != ModelSMPI {
		return o.BandwidthFactor, o.LatencyFactor
	}
	bandwidth, latency := o.BandwidthFactors, o.LatencyFactors
	if within && len(o.LoopbackBandwidthFactors) > 0 {
		bandwidth = o.LoopbackBandwidthFactors
	}
	if within && len(o.LoopbackLatencyFactors) > 0 {
		latency = o.LoopbackLatencyFactors
	}
	return bandwidth.At(z), latency.At(z)
}

// EnvelopeFactor returns the latency factor of an empty message, within a host or
// between two.
func (o *Options) EnvelopeFactor(within bool) float64 {
	_, g := o.factors(envelope, within)
	return g
}

// LinkCapacity returns the byte/s that link i of a platform carries.
func (o *Options) LinkCapacity(p *platforms.Platform, i int32) float64 {
	bandwidth, _, _ := o.link(p, i)
	return o.capacity(bandwidth)
}

// link returns the bandwidth, the latency and the policy of link i of a platform: the options
// say those of the global loopback.
func (o *Options) link(p *platforms.Platform, i int32) (bandwidth, latency float64, policy platforms.Policy) {
	bandwidth, latency, policy = p.LinkCapacity(i)
	if i == platforms.LoopbackLink {
		b, l := p.LinkFactors(i)
		bandwidth, latency = o.LoopbackBandwidth*b, o.LoopbackLatency*l
	}
	return bandwidth, latency, policy
}
