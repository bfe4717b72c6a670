package netmodel

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"reprise/internal/bounds"
	"reprise/platforms"
	"reprise/smpi/option"
	"reprise/trace/warning"
)

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

// The solvers; they agree to rounding.
const (
	// SolverLocal touches only the flows that a change reaches, and leaves crowds to SolverClocks.
	SolverLocal Solver = iota
	// SolverReference solves the whole system anew at every change, as the
	// textbook does. It is slow and meant for comparison.
	SolverReference
	// SolverClocks takes the flows from one host to another together from the first on, where the options and the
	// platform allow it.
	SolverClocks
)

// Options holds the options of the network and of the protocol of messages. Field
// comments name the option of [OptionTable] that maps to the field; those that begin with
// "reprise/" exist here only, the others are SimGrid's. Times are in seconds, sizes in
// bytes, bandwidths in byte/s.
//
// Use [DefaultOptions], not the zero value; package smpi has these options and the rest of SMPI's, by name.
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

// oldLinkFactor is the default of network/bandwidth-factor of model SMPI with FactorBound, where it is the part of its
// bandwidth that a link carries.
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
	// FactorProgress: a share of v byte/s progresses at f*v; the flow takes v from its links. The rule of SimGrid 3.32.
	FactorProgress FactorRule = iota
	// FactorBound: the share is at most f times the smallest bandwidth on the route, and progresses as it is, so that
	// several flows together fill a link whatever f. A link carries Options.BandwidthFactor of its bandwidth at most.
	// The rule of SimGrid until May 2021 (revision 46e8495798 replaced it).
	FactorBound
)

// boundsShares reports whether FactorBound is in force.
func (o *Options) boundsShares() bool { return o.FactorRule == FactorBound && o.Model == ModelSMPI }

// capacity returns the byte/s that a link of a bandwidth carries.
func (o *Options) capacity(bandwidth float64) float64 {
	if o.boundsShares() {
		return o.BandwidthFactor * bandwidth
	}
	return bandwidth
}

// penalty returns the part of a link of a bandwidth in the penalty of a flow; 0 for a link without bandwidth.
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

// EnvelopeFactor returns the latency factor of an empty message, within a host or between two.
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
	bandwidth, latency, policy = p.LinkFigures(i)
	if i == platforms.LoopbackLink {
		b, l := p.LinkFactors(i)
		bandwidth, latency = o.LoopbackBandwidth*b, o.LoopbackLatency*l
	}
	return bandwidth, latency, policy
}

// Window returns the byte/s to which the TCP window limits the share of a flow on a route
// of that latency in seconds, +Inf where it does not.
func (o *Options) Window(latency float64) float64 {
	if latency > 0 && o.TCPGamma > 0 {
		return o.TCPGamma / (2 * latency)
	}
	return math.Inf(1)
}

// fewHosts is up to how many hosts Windowed looks at all routes between them.
const fewHosts = 32

// Windowed warns if the TCP window, and not a link, limits a route between two of the hosts that ranks run on, and
// names the route that loses most. If there are many hosts it looks at two routes of each, to the next one and to the
// one half of them later, and for some also at those to hosts that come 2, 4 and so on places later, so that near and
// far ones are among them.
func Windowed(p *platforms.Platform, o *Options, hosts []int32) []warning.Warning {
	var used []int // each host once, in the order of their first ranks
	met := map[int32]bool{}
	for _, h := range hosts {
		if !met[h] {
			met[h] = true
			used = append(used, int(h))
		}
	}
	var (
		n, half = len(used), len(used) / 2
		route   []int32
		found   []warning.Warning
		least   = 1.0 // part of its links' bandwidth that the worst route has
	)
	for i, src := range used {
		for d := 1; d < n; {
			dst := used[(i+d)%n]
			switch { // which distance is looked at next
			case n <= fewHosts:
				d++
			case i%(n/fewHosts) == 0:
				d *= 2
			case d < half:
				d = half
			default:
				d = n
			}
			var err error
			if route, err = p.AppendRoute(route[:0], src, dst); err != nil || len(route) == 0 {
				continue
			}
			narrow, latency := math.Inf(1), 0.0
			for _, l := range route {
				bandwidth, seconds, _ := o.link(p, l)
				narrow, latency = min(narrow, bandwidth), latency+seconds
			}
			latency += p.Distance(src, dst)
			if window := o.Window(latency); window < least*narrow {
				least = window / narrow
				found = []warning.Warning{warning.New("messages from host %s to %s get %.4g of the %.4g byte/s of their links, as the TCP window limits them: latency %.4g s, network/TCP-gamma %.10g, of which 0 is no window",
					p.Host(src).Name, p.Host(dst).Name, window, narrow, latency, o.TCPGamma)}
			}
		}
	}
	return found
}

// OptionTable lists the options by SimGrid's names, or names of reprise/ where SimGrid has none. All code that reads,
// shows or checks options uses it.
func OptionTable() option.Table[Options] { return optionTable }

var optionTable = option.Table[Options]{
	hostModel(),
	number("maxmin/precision", "tolerances of the reference solver, in byte/s of a flow and as a part of a capacity; and rounding of remaining bytes",
		bounds.Range{High: 1e9, Unit: "byte/s"}, func(o *Options) *float64 { return &o.SharePrecision }),
	option.Signed("network/TCP-gamma",
		"TCP window in bytes; 0 or less: none. A warning, and `replay platform --route`, tell where the window and not a link limits a route",
		func(v float64) error {
			return bounds.Range{Low: -bounds.Bytes.High, High: bounds.Bytes.High, Unit: bounds.Bytes.Unit}.Check("value", v)
		}, func(o *Options) *float64 { return &o.TCPGamma }),
	orTable(bounds.Factor, func(o *Options) *Factors { return &o.BandwidthFactors },
		tracked(explicitBandwidthFactor, number("network/bandwidth-factor",
			"f of the models LV08 (0.97) and CM02 (1). In model SMPI with `reprise/bw-factor:bound`: the part of its bandwidth that a link carries (0.97)",
			bounds.Factor, func(o *Options) *float64 { return &o.BandwidthFactor }))),
	option.YesNo("network/crosstraffic", "yes: a flow also loads the way back, with weight 0.05",
		func(o *Options) *bool { return &o.CrossTraffic }),
	orTable(bounds.Factor.OrZero(), func(o *Options) *Factors { return &o.LatencyFactors },
		tracked(explicitLatencyFactor, number("network/latency-factor", "g of the models LV08 (13.01) and CM02 (1)",
			bounds.Factor.OrZero(), func(o *Options) *float64 { return &o.LatencyFactor }))),
	number("network/loopback-bw", "byte/s of the global loopback link", bounds.Bandwidth,
		func(o *Options) *float64 { return &o.LoopbackBandwidth }),
	number("network/loopback-lat", "seconds of latency of the global loopback link", bounds.Latency,
		func(o *Options) *float64 { return &o.LoopbackLatency }),
	networkModel(),
	tracked(explicitWeightS, number("network/weight-S", "S in the penalty, bytes: SMPI 8775, LV08 20537, CM02 0",
		bounds.Bytes, func(o *Options) *float64 { return &o.WeightS })),
	option.Then(option.Choice("reprise/bw-factor",
		"effect of f in model SMPI. `progress`: section 2. `bound`, the rule of SimGrid until May 2021 and of most published calibrations and predictions: a flow progresses at its share, which is at most f times the smallest bandwidth on the route, so that several flows fill a link up to `network/bandwidth-factor` of its bandwidth",
		[]string{"progress", "bound"}, func(o *Options) *FactorRule { return &o.FactorRule }), (*Options).setModelDefaults),
	option.YesNo("reprise/contention",
		"no: flows do not slow each other (`--network contention-free`)", func(o *Options) *bool { return &o.Contention }),
	factors("reprise/loopback-bw-factor", "f of messages within a host, in model SMPI; empty: that of all others",
		bounds.Factor, func(o *Options) *Factors { return &o.LoopbackBandwidthFactors }),
	factors("reprise/loopback-lat-factor", "g of messages within a host, in model SMPI; empty: that of all others",
		bounds.Factor.OrZero(), func(o *Options) *Factors { return &o.LoopbackLatencyFactors }),
	option.Choice("reprise/solver",
		"[solver](#5-the-solvers) of shares: `local`, which goes over to `clocks` in a crowd; `clocks` from the start (with links that change and with `reprise/bw-factor:bound` this is `local`); `reference`, all flows anew; all agree to rounding",
		[]string{"local", "reference", "clocks"}, func(o *Options) *Solver { return &o.Solver }),
	option.Bytes("smpi/async-small-thresh", "bytes; smaller messages are eager, section 1",
		func(o *Options) *int64 { return &o.EagerBelow }),
	factors("smpi/bw-factor", "f of model SMPI by message size; a single number is a factor for every size", bounds.Factor, func(o *Options) *Factors { return &o.BandwidthFactors }),
	factors("smpi/lat-factor", "g of model SMPI by message size; a single number is a factor for every size", bounds.Factor.OrZero(),
		func(o *Options) *Factors { return &o.LatencyFactors }),
	overheads("smpi/ois", "overhead of a nonblocking send in seconds by message size, section 1",
		func(o *Options) *Overheads { return &o.IsendOverhead }),
	overheads("smpi/or", "overhead of a receive whose send was detached, section 1",
		func(o *Options) *Overheads { return &o.RecvOverhead }),
	overheads("smpi/os", "overhead of a blocking detached send, section 1",
		func(o *Options) *Overheads { return &o.SendOverhead }),
	option.Bytes("smpi/send-is-detached-thresh", "bytes; smaller messages are detached, section 1",
		func(o *Options) *int64 { return &o.DetachedBelow }),
	number("surf/precision", "seconds; events at most so far apart happen together. With coarser values times agree only loosely with SimGrid's, whose rounding depends on the order of its events",
		bounds.Seconds, func(o *Options) *float64 { return &o.TimePrecision }),
}

// Validate reports all the fields whose values make no sense, joined.
func (o *Options) Validate() error {
	err := optionTable.Validate(o)
	if o.EagerBelow < 0 || o.EagerBelow > o.DetachedBelow {
		err = errors.Join(err, fmt.Errorf("smpi/async-small-thresh: %d, want 0 to smpi/send-is-detached-thresh, which is %d",
			o.EagerBelow, o.DetachedBelow))
	}
	return err
}

// number is an option that is a number of a range.
func number(name, doc string, allowed bounds.Range, field func(*Options) *float64) option.Option[Options] {
	return option.Number(name, doc, func(v float64) error { return allowed.Check("value", v) }, field)
}

// orTable is a factor that is also, as in SimGrid 4, a table by sizes of messages: that of the model SMPI.
func orTable(allowed bounds.Range, table func(*Options) *Factors, opt option.Option[Options]) option.Option[Options] {
	set := opt.Set
	opt.Set = func(o *Options, value string) error {
		if !strings.Contains(value, ":") {
			return set(o, value)
		}
		t, err := ParseFactors(value)
		if err == nil {
			err = t.validate(allowed)
		}
		if err == nil {
			*table(o) = t
		}
		return err
	}
	return opt
}

// tracked is an option that is remembered as set by name.
func tracked(bit uint8, opt option.Option[Options]) option.Option[Options] {
	return option.Then(opt, func(o *Options) { o.explicit |= bit })
}

func factors(name, doc string, allowed bounds.Range, field func(*Options) *Factors) option.Option[Options] {
	opt := option.Parsed(name, doc, ParseFactors, field)
	opt.Check = func(o *Options) error { return field(o).validate(allowed) }
	return opt
}

func overheads(name, doc string, field func(*Options) *Overheads) option.Option[Options] {
	opt := option.Parsed(name, doc, ParseOverheads, field)
	opt.Check = func(o *Options) error { return field(o).validate() }
	return opt
}

// networkModel is the choice of the network model. Under host/model:default it is only remembered.
func networkModel() option.Option[Options] {
	field := func(o *Options) *Model {
		if o.hostDefault {
			return &o.chosenModel
		}
		return &o.Model
	}
	opt := option.Choice("network/model",
		"SMPI, LV08 or CM02; sets the defaults of `network/weight-S`, `network/bandwidth-factor` and `network/latency-factor`",
		modelNames, field)
	inForce := option.Choice("", "", modelNames, func(o *Options) *Model { return &o.Model })
	opt.Get, opt.Check = inForce.Get, inForce.Check
	return option.Then(opt, (*Options).setModelDefaults)
}

// hostModel: SimGrid's default model of hosts brings LV08, whatever network/model says,
// and compound the network model that is chosen by itself.
func hostModel() option.Option[Options] {
	set := func(o *Options, value string) error {
		if o.hostDefault {
			o.Model, o.hostDefault = o.chosenModel, false
		}
		switch strings.TrimSpace(value) {
		case "compound":
		case "default":
			o.chosenModel, o.Model, o.hostDefault = o.Model, ModelLV08, true
		default:
			return fmt.Errorf("%q, want compound, or default, which means network/model:LV08: no other is modelled", value)
		}
		return nil
	}
	return option.Then(option.Option[Options]{Name: "host/model", Set: set,
		Doc: "compound; `default` means LV08, whatever `network/model` says, as in SimGrid"}, (*Options).setModelDefaults)
}
