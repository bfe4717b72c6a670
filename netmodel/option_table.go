package netmodel

import (
	"errors"
	"fmt"
	"strings"

	"reprise/internal/bounds"
	"reprise/smpi/option"
)

// OptionTable lists the options by SimGrid's names, or names of reprise/ where SimGrid has
// none. It is what all that reads, shows or checks options goes by.
func OptionTable() option.Table[Options] { return optionTable }

var optionTable = option.Table[Options]{
	hostModel(),
	number("maxmin/precision", "tolerance of the reference solver, byte/s; rounding of what remains",
		bounds.Range{High: 1e9, Unit: "byte/s"}, func(o *Options) *float64 { return &o.SharePrecision }),
	option.Signed("network/TCP-gamma",
		"TCP window in bytes; 0 or less: none. Where it and not a link limits a route between hosts in use, a replay warns, and `replay platform --route` says so",
		func(v float64) error {
			return bounds.Range{Low: -bounds.Bytes.High, High: bounds.Bytes.High, Unit: bounds.Bytes.Unit}.Check("value", v)
		}, func(o *Options) *float64 { return &o.TCPGamma }),
	orTable(bounds.Factor, func(o *Options) *Factors { return &o.BandwidthFactors },
		tracked(explicitBandwidthFactor, number("network/bandwidth-factor",
			"f of the models LV08 (0.97) and CM02 (1). With `reprise/bw-factor:bound` in model SMPI the part of its bandwidth that a link carries, 0.97 by default, as in SimGrid from July 2017 on (1 before)",
			bounds.Factor, func(o *Options) *float64 { return &o.BandwidthFactor }))),
	option.YesNo("network/crosstraffic", "the way back is loaded with 0.05",
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
		"what f of model SMPI does. `progress`: as above. `bound`: the share is at most f times the smallest bandwidth on the route and progresses as it is, so that several flows fill a link whatever f, up to `network/bandwidth-factor` of its bandwidth, and a larger f has no effect. The latter is the rule of SimGrid until May 2021, with which most published calibrations and predictions were made",
		[]string{"progress", "bound"}, func(o *Options) *FactorRule { return &o.FactorRule }), (*Options).setModelDefaults),
	option.YesNo("reprise/contention",
		"no: every flow is alone on its route, whatever the others do (`--network contention-free`)", func(o *Options) *bool { return &o.Contention }),
	factors("reprise/loopback-bw-factor", "f of messages from a host to itself, in model SMPI; empty: that of all others",
		bounds.Factor, func(o *Options) *Factors { return &o.LoopbackBandwidthFactors }),
	factors("reprise/loopback-lat-factor", "g of messages from a host to itself, in model SMPI; empty: that of all others",
		bounds.Factor.OrZero(), func(o *Options) *Factors { return &o.LoopbackLatencyFactors }),
	option.Choice("reprise/solver",
		"who shares bandwidth: `local` looks at what a change reaches, `reference` at all flows anew; they agree to rounding",
		[]string{"local", "reference"}, func(o *Options) *Solver { return &o.Solver }),
	option.Bytes("smpi/async-small-thresh", "smaller messages are eager, section 1; bytes",
		func(o *Options) *int64 { return &o.EagerBelow }),
	factors("smpi/bw-factor", "f of model SMPI by message size, SimGrid's table by default; a single number is a factor for every size", bounds.Factor, func(o *Options) *Factors { return &o.BandwidthFactors }),
	factors("smpi/lat-factor", "g of model SMPI, likewise", bounds.Factor.OrZero(),
		func(o *Options) *Factors { return &o.LatencyFactors }),
	overheads("smpi/ois", "overhead of a nonblocking send in seconds by message size, section 1",
		func(o *Options) *Overheads { return &o.IsendOverhead }),
	overheads("smpi/or", "overhead of a receive whose send was detached, section 1",
		func(o *Options) *Overheads { return &o.RecvOverhead }),
	overheads("smpi/os", "overhead of a blocking detached send, section 1",
		func(o *Options) *Overheads { return &o.SendOverhead }),
	option.Bytes("smpi/send-is-detached-thresh", "smaller messages are detached, section 1; bytes",
		func(o *Options) *int64 { return &o.DetachedBelow }),
	number("surf/precision", "events that are so many seconds apart happen together. With coarser values times agree with SimGrid's only loosely: what it rounds depends on the order of its events",
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

// orTable is a factor that is also, as in SimGrid 4, a table by sizes of messages: that of
// the model SMPI.
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

// networkModel is the choice of the network model. Under host/model:default it is only
// remembered.
func networkModel() option.Option[Options] {
	field := func(o *Options) *Model {
		if o.hostDefault {
			return &o.chosenModel
		}
		return &o.Model
	}
	opt := option.Choice("network/model",
		"SMPI, LV08 or CM02; sets the defaults of `network/weight-S`, `network/bandwidth-factor` and `network/latency-factor`, which depend on it",
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
		Doc: "compound; `default` means `network/model:LV08`, whatever that says, as in SimGrid"}, (*Options).setModelDefaults)
}
